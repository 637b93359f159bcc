/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Standard slow start: grow by what was acknowledged until ssthresh or loss.
 *
 *     startup --cwnd reached ssthresh, loss, mark, timeout--> done --undone--> startup
 *
 * Source: RFC 5681 §3.1; RFC 3465 §2.2 (limit L); RFC 6928 (initial window).
 */
#ifndef RAMP_SLOW_START_H
#define RAMP_SLOW_START_H

#include "window.h"

#define RAMP_SLOW_START_PARAMETERS(P)                                     \
	P(initial_window, "packets", 0, 0, 100000, "RFC 6928 §2",         \
	  "window before the first ACK; 0: the connection's")             \
	P(initial_ssthresh, "packets", 0, 0, 1000000000, "RFC 5681 §3.1", \
	  "where slow start ends without a loss; 0: the connection's")    \
	P(abc_limit, "packets", 0, 0, 1000000000, "RFC 3465 §2.2",        \
	  "most growth per ACK (L): 1 counts packets, 2 is the RFC's; 0: the connection's")

#define RAMP_SLOW_START_INDEX(name, unit, initial, low, high, source, meaning) \
	RAMP_SLOW_START_##name,
enum { RAMP_SLOW_START_PARAMETERS(RAMP_SLOW_START_INDEX) RAMP_SLOW_START_COUNT };

struct ramp_slow_start {
	ramp_u64 abc_limit_packets;
	struct ramp_undo undo;
};

RAMP_FN void ramp_slow_start_init(struct ramp_slow_start *s, const struct ramp_config *c,
				  struct ramp_decision *d)
{
	ramp_u64 window = c->parameter[RAMP_SLOW_START_initial_window];
	ramp_u64 ssthresh = c->parameter[RAMP_SLOW_START_initial_ssthresh];
	ramp_u64 limit = c->parameter[RAMP_SLOW_START_abc_limit];

	ramp_begin(c, d);
	ramp_undo_nothing(&s->undo);
	if (window)
		ramp_hold(ramp_mul(window, c->mss_bytes), c->mss_bytes, d);
	if (ssthresh)
		d->ssthresh_bytes = ramp_mul(ssthresh, c->mss_bytes);
	s->abc_limit_packets = limit ? limit : c->abc_limit_packets;
}

RAMP_FN void ramp_slow_start_on_ack(struct ramp_slow_start *s, const struct ramp_ack *a,
				    struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_grow(ramp_credit(a, s->abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_slow_start_on_congestion(struct ramp_slow_start *s,
					   const struct ramp_congestion *c,
					   struct ramp_decision *d)
{
	ramp_leave_on_congestion(&s->undo, c, d);
}

#endif
