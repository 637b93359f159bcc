/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A sketch of Careful Resume, to try the contract: half of a remembered window at once, paced over
 * one round trip, if the handshake's RTT is like the remembered one.
 *
 *     startup --initial window acked--> jump --its first packet acked--> validating
 *        ^                                                                  |
 *        +<-------------------- its last packet acked ----------------------+
 *     jump, validating --loss--> leaving: half of what was acked is kept --repaired--> done
 */
#ifndef RAMP_CAREFUL_H
#define RAMP_CAREFUL_H

#define RAMP_WRITTEN_FOR 2
#include <ramp/window.h>

#define RAMP_CAREFUL_PARAMETERS(P, N) \
	P(N, share, "percent", 50, 1, 100, "a sketch", "of the remembered window that it jumps to")

RAMP_PARAMETERS(CAREFUL)

enum { CAREFUL_PLAIN,
       CAREFUL_WAITING,
       CAREFUL_JUMP,
       CAREFUL_VALIDATING,
       CAREFUL_RETREAT };

struct ramp_careful {
	struct ramp_growth growth;
	ramp_u64 target_bytes;
	ramp_u64 initial_bytes;
	ramp_u64 first_bytes; /* sent before the jump */
	ramp_u64 last_bytes;  /* and with it */
	ramp_u64 pipe_bytes;  /* acknowledged since it began */
	ramp_u32 step;
	ramp_u32 handshake_rtt_us;
};

RAMP_FN void ramp_careful_init(struct ramp_careful *s, const struct ramp_config *c,
			       struct ramp_decision *d)
{
	const struct ramp_hint *h = &c->hint;

	ramp_begin(&s->growth, c, d);
	s->initial_bytes = d->cwnd_bytes;
	s->handshake_rtt_us = c->handshake_rtt_us;
	s->target_bytes = ramp_mul_div(h->window_bytes, ramp_parameter(c, CAREFUL, share), 100);
	if (h->source == RAMP_HINT_HISTORY && c->handshake_rtt_us >= h->rtt_us / 2 &&
	    c->handshake_rtt_us / 10 <= h->rtt_us && s->target_bytes > s->initial_bytes)
		s->step = CAREFUL_WAITING;
}

RAMP_FN void ramp_careful_jump(struct ramp_careful *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	ramp_u64 window = ramp_min(s->target_bytes, a->receive_window_bytes);

	s->step = CAREFUL_PLAIN;
	if (a->lost_bytes || window <= d->cwnd_bytes)
		return;
	s->step = CAREFUL_JUMP;
	s->first_bytes = a->sent_bytes;
	s->pipe_bytes = 0;
	ramp_hold(window, a->mss_bytes, d);
	d->pacing_bytes_per_s = ramp_mul_div(window, 1000000, s->handshake_rtt_us);
}

RAMP_FN void ramp_careful_on_ack(struct ramp_careful *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	s->pipe_bytes = ramp_add(s->pipe_bytes, a->acked_bytes);
	if (s->step == CAREFUL_RETREAT) { /* the host repairs: it lands where this says */
		d->evidence = a->lost_bytes;
		if (a->flags & RAMP_RECOVERING)
			d->ssthresh_bytes = ramp_max(s->pipe_bytes / 2, s->initial_bytes);
		return;
	}
	if (s->step == CAREFUL_JUMP && a->newest_acked_bytes > s->first_bytes) {
		s->step = CAREFUL_VALIDATING;
		s->last_bytes = a->sent_bytes;
		ramp_pace_no_more(d);
		ramp_hold(ramp_max(a->in_flight_bytes, s->initial_bytes), a->mss_bytes, d);
	}
	if (s->step == CAREFUL_VALIDATING && a->newest_acked_bytes >= s->last_bytes)
		s->step = CAREFUL_PLAIN;
	if (s->step != CAREFUL_JUMP)
		ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	if (s->step == CAREFUL_WAITING && a->delivered_bytes >= s->initial_bytes)
		ramp_careful_jump(s, a, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_careful_on_event(struct ramp_careful *s, const struct ramp_event *e,
				   struct ramp_decision *d)
{
	if (e->kind == RAMP_LOSS && (s->step == CAREFUL_JUMP || s->step == CAREFUL_VALIDATING)) {
		s->step = CAREFUL_RETREAT;
		ramp_pace_no_more(d);
		d->ssthresh_bytes = ramp_max(s->pipe_bytes / 2, s->initial_bytes);
		d->evidence = e->lost_bytes;
		d->phase = RAMP_LEAVING;
		d->exit_reason = RAMP_EXIT_LOSS;
	} else if (s->step == CAREFUL_RETREAT && d->phase == RAMP_LEAVING &&
		   (e->kind == RAMP_RECOVERED || e->kind == RAMP_UNDONE)) {
		ramp_leave(d->exit_reason, d);
	} else {
		ramp_leave_on_event(&s->growth, e, d);
	}
}

#endif
