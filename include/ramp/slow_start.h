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

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_SLOW_START_PARAMETERS(P, N)                                     \
	P(N, initial_window, "packets", 0, 0, 100000, "RFC 6928 §2",         \
	  "window before the first ACK; 0: the connection's")                \
	P(N, initial_ssthresh, "packets", 0, 0, 1000000000, "RFC 5681 §3.1", \
	  "where slow start ends without a loss; 0: the connection's")       \
	P(N, abc_limit, "packets", 0, 0, 1000000000, "RFC 3465 §2.2",        \
	  "most growth per ACK (L): 1 counts packets, 2 is the RFC's; 0: the connection's")

RAMP_PARAMETERS(SLOW_START)

struct ramp_slow_start {
	struct ramp_growth growth;
};

RAMP_FN void ramp_slow_start_init(struct ramp_slow_start *s, const struct ramp_config *c,
				  struct ramp_decision *d)
{
	ramp_u64 window = ramp_parameter(c, SLOW_START, initial_window);
	ramp_u64 ssthresh = ramp_parameter(c, SLOW_START, initial_ssthresh);
	ramp_u64 limit = ramp_parameter(c, SLOW_START, abc_limit);

	ramp_begin(&s->growth, c, d);
	if (window)
		ramp_hold(ramp_mul(window, c->mss_bytes), c->mss_bytes, d);
	if (ssthresh)
		d->ssthresh_bytes = ramp_mul(ssthresh, c->mss_bytes);
	if (limit)
		s->growth.abc_limit_packets = (ramp_u32)limit;
}

RAMP_FN void ramp_slow_start_on_ack(struct ramp_slow_start *s, const struct ramp_ack *a,
				    struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_slow_start_on_event(struct ramp_slow_start *s, const struct ramp_event *e,
				      struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
