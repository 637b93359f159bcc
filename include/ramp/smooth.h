/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Smooth-Start: slow start that slows down in steps on its way to ssthresh.
 *
 *     startup --cwnd reached ratio x ssthresh--> conservative
 *     either --cwnd reached ssthresh, loss, mark, timeout--> done --undone--> back
 *
 * Source:   [WXRS00], first in [WW98]. Reconstructed from descriptions; the paper was not at hand.
 * Deviates: ssthresh begins at 64 packets where it is not set; with an infinite one this is slow
 *           start.
 * Deviates: growth is proportional to the bytes acknowledged, within the connection's ABC limit;
 *           the paper counts ACKs. With one ACK per packet both are the same.
 */
#ifndef RAMP_SMOOTH_H
#define RAMP_SMOOTH_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_SMOOTH_PARAMETERS(P, N)                                                            \
	P(N, initial_ssthresh, "packets", 64, 0, 1000000, "our choice",                         \
	  "ssthresh to begin with where the connection has none; 0: none, which is slow start") \
	P(N, ratio, "percent", 50, 1, 100, "[WXRS00], reconstructed",                           \
	  "of ssthresh, where growth begins to slow down")                                      \
	P(N, depth, "count", 2, 1, 16, "[WXRS00], reconstructed",                               \
	  "steps: one packet per 2, 3, ... depth + 1 acknowledged, a step a round trip")

RAMP_PARAMETERS(SMOOTH)

struct ramp_smooth {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 ratio_percent;
	ramp_u64 depth;
	ramp_u64 per; /* packets acknowledged for one of growth */
};

RAMP_FN void ramp_smooth_init(struct ramp_smooth *s, const struct ramp_config *c,
			      struct ramp_decision *d)
{
	ramp_u64 initial = ramp_parameter(c, SMOOTH, initial_ssthresh);

	ramp_begin(&s->growth, c, d);
	if (initial && d->ssthresh_bytes > RAMP_CWND_MAX_BYTES) /* none: RAMP_UNSET */
		d->ssthresh_bytes = ramp_mul(initial, c->mss_bytes ? c->mss_bytes : 1);
	s->ratio_percent = ramp_parameter(c, SMOOTH, ratio);
	s->depth = ramp_parameter(c, SMOOTH, depth);
	s->per = 1;
}

RAMP_FN void ramp_smooth_on_ack(struct ramp_smooth *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 credit;

	if (d->phase == RAMP_DONE)
		return;
	credit = ramp_min(ramp_credit(a, s->growth.abc_limit_packets), 0xffffffffu) << 16;
	if (d->phase == RAMP_STARTUP &&
	    ramp_mul(d->cwnd_bytes, 100) >= ramp_mul(d->ssthresh_bytes, s->ratio_percent)) {
		d->phase = RAMP_CONSERVATIVE;
		s->per = 2;
		ramp_round_start(&s->round, a);
	} else if (d->phase == RAMP_CONSERVATIVE && ramp_round_advance(&s->round, a) &&
		   s->per <= s->depth) {
		s->per++;
	}
	ramp_grow_fine(&s->growth, d->phase == RAMP_STARTUP ? credit : credit / s->per, d);
	ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_smooth_on_event(struct ramp_smooth *s, const struct ramp_event *e,
				  struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
