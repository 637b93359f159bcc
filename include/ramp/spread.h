/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Initial spreading: slow start whose first window leaves evenly over the handshake's round trip.
 *
 *     startup: spaced --first ACK--> slow start --cwnd reached ssthresh--> done
 *     startup --loss, mark, timeout--> done --undone--> startup
 *
 * Source:   draft-irtf-iccrg-sallantin-initial-spreading, from descriptions of it.
 */
#ifndef RAMP_SPREAD_H
#define RAMP_SPREAD_H

#define RAMP_WRITTEN_FOR 2
#include "remembered.h"
#include "window.h"

#define RAMP_SPREAD_PARAMETERS(P, N)                                             \
	P(N, initial_window, "packets", 0, 0, 1000000, "our choice: the host's", \
	  "window that is spread; 0: the host's initial window")

RAMP_PARAMETERS(SPREAD)

struct ramp_spread {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 rate; /* B/s until the first ACK, then 0 */
};

RAMP_FN void ramp_spread_init(struct ramp_spread *s, const struct ramp_config *c,
			      struct ramp_decision *d)
{
	ramp_u64 window = ramp_mul(ramp_parameter(c, SPREAD, initial_window), c->mss_bytes);

	ramp_begin(&s->growth, c, d);
	if (window)
		ramp_hold(window, c->mss_bytes, d);
	s->rate = ramp_spaced(d->cwnd_bytes, c->handshake_rtt_us);
	d->pacing_bytes_per_s = s->rate;
}

RAMP_FN void ramp_spread_on_ack(struct ramp_spread *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	s->rate = 0;
	ramp_pace_no_more(d);
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_spread_on_event(struct ramp_spread *s, const struct ramp_event *e,
				  struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->rate;
}

#endif
