/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stateful-TCP: no slow start. The first window is the rate that an earlier connection found times
 * its smallest round-trip time, and leaves at that rate; then congestion avoidance follows.
 *
 *     startup: remembered rate --an ACK, the window sent--> done
 *     startup --loss, mark, timeout--> done --undone--> startup          (nothing remembered: slow start)
 *
 * Source:   draft-lee-tcpm-stateful-tcp-00 and [GL20], from its abstract and descriptions of the papers before
 *           it; what is not in them is reconstructed.
 * Deviates: where the receiver's window holds the first one back, the rate goes on until all of it has
 *           left; the draft speaks of one round trip, after which the rest would leave at once.
 * Deviates: where the handshake's round trip is not like the remembered one, by the test of RFC 9959,
 *           it is slow start.
 * Deviates: the window is two packets at least, so that a delayed ACK does not stop it.
 */
#ifndef RAMP_STATEFUL_H
#define RAMP_STATEFUL_H

#define RAMP_WRITTEN_FOR 2
#include "remembered.h"
#include "window.h"

#define RAMP_STATEFUL_PARAMETERS(P, N)                                     \
	P(N, lifetime, "s", 600, 0, 1000000000, "our choice: ten minutes", \
	  "age up to which what is remembered counts")

RAMP_PARAMETERS(STATEFUL)

struct ramp_stateful {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 rate; /* remembered, B/s, until the first window has left; 0: slow start */
	ramp_u64 window_bytes;
};

RAMP_FN void ramp_stateful_init(struct ramp_stateful *s, const struct ramp_config *c,
				struct ramp_decision *d)
{
	const struct ramp_hint *h = &c->hint;
	ramp_u64 rate = ramp_min(ramp_remembered_rate(h), RAMP_RATE_MAX_BYTES_PER_S);

	ramp_begin(&s->growth, c, d);
	if (!ramp_remembers(c, ramp_parameter(c, STATEFUL, lifetime)) || !rate ||
	    !ramp_same_path(h->rtt_us, c->handshake_rtt_us))
		return;
	s->rate = rate;
	ramp_hold(ramp_max(ramp_mul_div(rate, h->rtt_us, 1000000), ramp_mul(c->mss_bytes, 2)),
		  c->mss_bytes, d);
	s->window_bytes = d->cwnd_bytes;
	d->ssthresh_bytes = d->cwnd_bytes;
	d->pacing_bytes_per_s = rate;
}

RAMP_FN void ramp_stateful_on_ack(struct ramp_stateful *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (s->rate) {
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
		if (a->sent_bytes < s->window_bytes && !(a->flags & RAMP_APP_LIMITED))
			return;
		s->rate = 0;
		ramp_pace_no_more(d);
	}
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_stateful_on_event(struct ramp_stateful *s, const struct ramp_event *e,
				    struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->rate;
}

#endif
