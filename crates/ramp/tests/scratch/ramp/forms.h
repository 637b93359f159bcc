/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Says what its parameters say, to try each form of a decision by itself.
 *
 *     startup --so much delivered--> done
 *
 * A loss does not end it. While the host repairs, it says how much of the window is to stay; after
 * that ssthresh is none again and the window grows on.
 */
#ifndef RAMP_FORMS_H
#define RAMP_FORMS_H

#define RAMP_WRITTEN_FOR 2
#include <ramp/window.h>

#define RAMP_FORMS_PARAMETERS(P, N)                                                              \
	P(N, window, "packets", 0, 0, 100000, "a test", "held from the beginning; 0: it grows")  \
	P(N, rate, "bytes/s", 0, 0, 10000000000, "a test", "1: back to back")                    \
	P(N, burst, "packets", 0, 0, 100000, "a test", "unspaced from `after` on")               \
	P(N, together, "packets", 0, 0, 1000, "a test", "leave at once")                         \
	P(N, percent, "percent", 0, 0, 1000, "a test", "of cwnd / RTT")                          \
	P(N, chirp, "packets", 0, 0, 1000, "a test", "in chirps at `rate`, first gap twice its") \
	P(N, after, "packets", 0, 0, 100000, "a test", "delivered when it begins to say so")     \
	P(N, leave, "packets", 100000, 0, 100000, "a test", "delivered when it leaves")          \
	P(N, keep, "percent", 0, 0, 100, "a test",                                               \
	  "of what a loss finds in flight; 0: the host's rule")                                  \
	P(N, expired, "packets", 0, 0, 100000, "a test",                                         \
	  "ssthresh that it sets when the timer expires, and goes on")                           \
	P(N, undone, "packets", 0, 0, 100000, "a test", "both windows as UNDONE has them")

RAMP_PARAMETERS(FORMS)

struct ramp_forms {
	struct ramp_growth growth;
	ramp_u64 window;
	ramp_u64 rate;
	ramp_u64 burst;
	ramp_u64 together;
	ramp_u64 percent;
	ramp_u64 chirp;
	ramp_u64 after;
	ramp_u64 leave;
	ramp_u64 keep;
	ramp_u64 expired;
	ramp_u64 undone;
	ramp_u64 goal_bytes;
	ramp_u32 said;
	ramp_u32 reserved;
};

RAMP_FN void ramp_forms_say(struct ramp_forms *s, ramp_u64 sent_bytes, ramp_u32 mss_bytes,
			    struct ramp_decision *d)
{
	s->said = 1;
	if (s->window)
		ramp_hold(s->window * mss_bytes, mss_bytes, d);
	d->pacing_bytes_per_s = s->rate == 1 ? RAMP_BACK_TO_BACK : s->rate;
	if (s->burst)
		d->burst_until_bytes = sent_bytes + s->burst * mss_bytes;
	d->pacing_burst_bytes = (ramp_u32)s->together * mss_bytes;
	d->pacing_percent = (ramp_u32)s->percent;
	if (s->chirp) { /* gaps from twice the mean down to none, and a mean one after them */
		d->chirp_packets = (ramp_u32)s->chirp;
		d->chirp_pause_ns = (ramp_u32)(mss_bytes * (ramp_u64)1000000000 / s->rate);
		d->chirp_gap_ns = 2 * d->chirp_pause_ns;
		d->chirp_step_ns = d->chirp_gap_ns / (ramp_u32)(s->chirp - 2);
	}
}

RAMP_FN void ramp_forms_leave(struct ramp_decision *d)
{
	d->ssthresh_bytes = d->cwnd_bytes;
	d->evidence = d->cwnd_bytes;
	d->limit = d->cwnd_bytes;
	ramp_leave(RAMP_EXIT_KNOWN, d);
}

RAMP_FN void ramp_forms_init(struct ramp_forms *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->window = ramp_parameter(c, FORMS, window);
	s->rate = ramp_parameter(c, FORMS, rate);
	s->burst = ramp_parameter(c, FORMS, burst);
	s->together = ramp_parameter(c, FORMS, together);
	s->percent = ramp_parameter(c, FORMS, percent);
	s->chirp = ramp_parameter(c, FORMS, chirp);
	s->after = ramp_parameter(c, FORMS, after);
	s->leave = ramp_parameter(c, FORMS, leave);
	s->keep = ramp_parameter(c, FORMS, keep);
	s->expired = ramp_parameter(c, FORMS, expired);
	s->undone = ramp_parameter(c, FORMS, undone);
	if (!s->after)
		ramp_forms_say(s, 0, c->mss_bytes, d);
	if (!s->leave)
		ramp_forms_leave(d);
}

RAMP_FN void ramp_forms_on_ack(struct ramp_forms *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (a->flags & RAMP_RECOVERING) {
		if (s->goal_bytes)
			d->ssthresh_bytes = s->goal_bytes;
		d->cwnd_bytes = RAMP_CWND_MAX_BYTES; /* which no host heeds now */
		return;
	}
	if (!s->said && a->delivered_bytes >= s->after * a->mss_bytes)
		ramp_forms_say(s, a->sent_bytes, a->mss_bytes, d);
	if (!s->window || !s->said)
		ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	if (a->delivered_bytes >= s->leave * a->mss_bytes)
		ramp_forms_leave(d);
}

RAMP_FN void ramp_forms_on_event(struct ramp_forms *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	if (e->kind == RAMP_UNDONE && s->undone) {
		d->cwnd_bytes = s->undone * e->mss_bytes;
		d->ssthresh_bytes = d->cwnd_bytes;
	}
	if (d->phase == RAMP_DONE)
		return;
	if (e->kind == RAMP_TIMEOUT && s->expired) {
		d->ssthresh_bytes = s->expired * e->mss_bytes;
	} else if (e->kind == RAMP_LOSS && s->keep) {
		s->goal_bytes = ramp_mul_div(e->in_flight_bytes, s->keep, 100);
	} else if (e->kind == RAMP_RECOVERED && s->keep) {
		d->ssthresh_bytes = RAMP_UNSET;
	} else {
		ramp_leave_on_event(&s->growth, e, d);
	}
}

#endif
