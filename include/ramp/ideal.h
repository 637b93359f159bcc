/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The yardstick: told the path's bandwidth-delay product, it sends that much at once, paced at the
 * path's rate.
 *
 *     leaving --first ACK--> done          (path unknown: slow start)
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

RAMP_FN void ramp_ideal_on_ack(struct ramp_ideal *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_LEAVING) { /* one round trip later the ACKs themselves keep the rate */
		ramp_leave(d->exit_reason, d);
		return;
	}
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_ideal_on_event(struct ramp_ideal *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
