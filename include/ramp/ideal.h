/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The yardstick: given the path's bandwidth-delay product, it has that window at once, and fills it at
 * the path's rate.
 *
 *     leaving --BDP in flight, or a round trip without other limits--> done
 *                                                          (path unknown: slow start)
 *
 * Until then packets are paced: a receiver that opens its window late, or an application that pauses,
 * would else let the rest go in one burst, which a small buffer does not hold. Afterwards the ACKs
 * keep the rate. The round trip is for hosts whose timers are late: pacing alone never fills the path
 * there. While receiver or application are the limit, it stays paced and loses nothing by it.
 *
 * No real sender can do this. It is what every other start-up is measured against.
 *
 * Source: none; it needs no rule.
 */
#ifndef RAMP_IDEAL_H
#define RAMP_IDEAL_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_IDEAL_PARAMETERS(P, N)                                          \
	P(N, bdp_percent, "percent", 100, 1, 1000, "none: exactly the path", \
	  "window as a share of the path's bandwidth-delay product")

RAMP_PARAMETERS(IDEAL)

struct ramp_ideal {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 open_bytes; /* sent_bytes since when nothing but the pace is the limit; 0: something is */
};

RAMP_FN void ramp_ideal_init(struct ramp_ideal *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_u64 mss = c->mss_bytes ? c->mss_bytes : 1, window;

	ramp_begin(&s->growth, c, d);
	if (c->hint.source != RAMP_HINT_PATH || !c->hint.window_bytes)
		return;
	window = ramp_mul_div(c->hint.window_bytes, ramp_parameter(c, IDEAL, bdp_percent), 100);
	/*
	 * Whole packets, since half a packet cannot fill a pipe; two, so that a delayed ACK does
	 * not stop it.
	 */
	window = ramp_max(ramp_min(window, RAMP_CWND_MAX_BYTES) + mss - 1, 2 * mss) / mss * mss;
	ramp_hold(window, c->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	d->pacing_bytes_per_s = c->hint.bytes_per_s;
	d->evidence = d->cwnd_bytes;
	d->limit = c->hint.window_bytes;
	d->phase = RAMP_LEAVING;
	d->exit_reason = RAMP_EXIT_KNOWN;
}

RAMP_FN void ramp_ideal_fill(struct ramp_ideal *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 full = ramp_min(d->cwnd_bytes, d->limit);

	/* Two packets less than full: what a delayed ACK keeps back, and half a packet. */
	if (ramp_add(a->in_flight_bytes, 2 * (ramp_u64)a->mss_bytes) >= full) {
		ramp_leave(d->exit_reason, d);
		return;
	}
	if (a->receive_window_bytes < full || a->flags & RAMP_APP_LIMITED)
		s->open_bytes = 0;
	else if (!s->open_bytes)
		s->open_bytes = a->sent_bytes;
	else if (a->newest_acked_bytes > s->open_bytes)
		ramp_leave(d->exit_reason, d);
}

RAMP_FN void ramp_ideal_on_ack(struct ramp_ideal *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_LEAVING) {
		ramp_ideal_fill(s, a, d);
		return;
	}
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_ideal_on_event(struct ramp_ideal *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
