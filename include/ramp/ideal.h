/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The yardstick: told the path's bandwidth-delay product, it sends that much at once, paced at the
 * path's rate.
 *
 *     filling --first ACK--> done          (path unknown: slow start)
 *
 * No real sender can do this. It is what every other start-up is measured against.
 *
 * Source: none; it needs no rule.
 */
#ifndef RAMP_IDEAL_H
#define RAMP_IDEAL_H

#include "window.h"

#define RAMP_IDEAL_PARAMETERS(P)                                          \
	P(bdp_percent, "percent", 100, 1, 1000, "none: exactly the path", \
	  "window as a share of the path's bandwidth-delay product")

#define RAMP_IDEAL_INDEX(name, unit, initial, low, high, source, meaning) RAMP_IDEAL_##name,
enum { RAMP_IDEAL_PARAMETERS(RAMP_IDEAL_INDEX) RAMP_IDEAL_COUNT };

struct ramp_ideal {
	ramp_u64 abc_limit_packets;
	struct ramp_undo undo;
};

RAMP_FN void ramp_ideal_init(struct ramp_ideal *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_u64 mss = c->mss_bytes ? c->mss_bytes : 1, window;

	ramp_begin(c, d);
	ramp_undo_nothing(&s->undo);
	s->abc_limit_packets = c->abc_limit_packets;
	if (!c->path_bdp_bytes)
		return;
	window = ramp_mul_div(c->path_bdp_bytes, c->parameter[RAMP_IDEAL_bdp_percent], 100);
	/*
	 * Whole packets, since half a packet cannot fill a pipe; two, so that a delayed ACK does
	 * not stop it.
	 */
	window = ramp_max(ramp_min(window, RAMP_CWND_MAX_BYTES) + mss - 1, 2 * mss) / mss * mss;
	ramp_hold(window, c->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	d->pacing_bytes_per_s = c->path_bytes_per_s;
	d->evidence = d->cwnd_bytes;
	d->limit = c->path_bdp_bytes;
	d->phase = RAMP_FILLING;
	d->exit_reason = RAMP_EXIT_KNOWN;
}

RAMP_FN void ramp_ideal_on_ack(struct ramp_ideal *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_FILLING) { /* one round trip later the ACKs themselves keep the rate */
		d->pacing_bytes_per_s = 0;
		d->phase = RAMP_DONE;
		return;
	}
	ramp_grow(ramp_credit(a, s->abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_ideal_on_congestion(struct ramp_ideal *s, const struct ramp_congestion *c,
				      struct ramp_decision *d)
{
	ramp_leave_on_congestion(&s->undo, c, d);
}

#endif
