/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * HyStart++: leave slow start when the round-trip time begins to grow, and take it back if that was
 * noise.
 *
 * The smallest RTT of each round is compared with the round before. A clear rise leads to
 * conservative slow start (CSS), which grows a quarter as fast; five such rounds without relief end
 * start-up.
 *
 *     startup --RTT rose--> conservative --5 rounds--> done
 *        ^                       |
 *        +----RTT fell again-----+        either --loss, mark, timeout--> done --undone--> back
 *
 * Source:   RFC 9406.
 * Deviates: the connection's own ABC limit applies in addition to L (§4.3), so that packet counting stays
 *           possible.
 */
#ifndef RAMP_HYSTARTPP_H
#define RAMP_HYSTARTPP_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_HYSTARTPP_PARAMETERS(P, N)                                                   \
	P(N, min_rtt_thresh_us, "us", 4000, 0, 10000000, "RFC 9406 §4.3 MIN_RTT_THRESH",  \
	  "smallest RTT rise that counts")                                                \
	P(N, max_rtt_thresh_us, "us", 16000, 0, 10000000, "RFC 9406 §4.3 MAX_RTT_THRESH", \
	  "largest RTT rise needed")                                                      \
	P(N, min_rtt_divisor, "count", 8, 1, 1024, "RFC 9406 §4.3 MIN_RTT_DIVISOR",       \
	  "between the two, the rise that counts is the last round's RTT over this")      \
	P(N, n_rtt_sample, "count", 8, 1, 1000, "RFC 9406 §4.3 N_RTT_SAMPLE",             \
	  "RTT samples a round needs before it is judged")                                \
	P(N, css_growth_divisor, "count", 4, 2, 1024, "RFC 9406 §4.3 CSS_GROWTH_DIVISOR", \
	  "growth in conservative slow start is slow start's over this")                  \
	P(N, css_rounds, "count", 5, 1, 1000, "RFC 9406 §4.3 CSS_ROUNDS",                 \
	  "conservative rounds before start-up ends")                                     \
	P(N, limit, "packets", 8, 0, 1000000, "RFC 9406 §4.3 L",                          \
	  "most growth per ACK where the host does not pace; 0: no limit")

RAMP_PARAMETERS(HYSTARTPP)

#define HYSTARTPP_INFINITE (~(ramp_u32)0)

struct ramp_hystartpp {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 rtt_thresh_us; /* last_round_min_rtt_us + RttThresh */
	ramp_u64 entry_limit_us; /* the two sides of the comparison that led into CSS */
	ramp_u64 min_rtt_thresh_us;
	ramp_u64 max_rtt_thresh_us;
	ramp_u64 min_rtt_divisor;
	ramp_u64 n_rtt_sample;
	ramp_u64 css_rounds;
	ramp_u64 css_reciprocal; /* 2^16 / CSS_GROWTH_DIVISOR */
	ramp_u64 limit_packets; /* of a host that does not pace */
	ramp_u32 last_round_min_rtt_us;
	ramp_u32 current_round_min_rtt_us;
	ramp_u32 css_baseline_min_rtt_us;
	ramp_u32 rtt_sample_count;
	ramp_u32 css_round_count;
	ramp_u32 entry_rtt_us;
};

RAMP_FN void ramp_hystartpp_init(struct ramp_hystartpp *s, const struct ramp_config *c,
				 struct ramp_decision *d)
{
	ramp_u64 limit = ramp_parameter(c, HYSTARTPP, limit);

	ramp_begin(&s->growth, c, d);
	s->min_rtt_thresh_us =
		ramp_parameter(c, HYSTARTPP, min_rtt_thresh_us);
	s->max_rtt_thresh_us =
		ramp_parameter(c, HYSTARTPP, max_rtt_thresh_us);
	s->min_rtt_divisor = ramp_parameter(c, HYSTARTPP, min_rtt_divisor);
	s->n_rtt_sample = ramp_parameter(c, HYSTARTPP, n_rtt_sample);
	s->css_rounds = ramp_parameter(c, HYSTARTPP, css_rounds);
	s->css_reciprocal =
		65536 / ramp_parameter(c, HYSTARTPP, css_growth_divisor);
	if (!limit)
		limit = c->abc_limit_packets;
	else if (c->abc_limit_packets)
		limit = ramp_min(limit, c->abc_limit_packets);
	s->limit_packets = limit;
	s->last_round_min_rtt_us = HYSTARTPP_INFINITE;
	s->current_round_min_rtt_us = HYSTARTPP_INFINITE;
	s->css_baseline_min_rtt_us = HYSTARTPP_INFINITE;
}

/* RFC 9406 §4.2, and its RttThresh computed once a round. */
RAMP_FN void ramp_hystartpp_start_round(struct ramp_hystartpp *s)
{
	s->last_round_min_rtt_us = s->current_round_min_rtt_us;
	s->current_round_min_rtt_us = HYSTARTPP_INFINITE;
	s->rtt_sample_count = 0;
	s->rtt_thresh_us = s->last_round_min_rtt_us +
		ramp_max(s->min_rtt_thresh_us,
			 ramp_min(s->last_round_min_rtt_us / s->min_rtt_divisor,
				  s->max_rtt_thresh_us));
}

/* 1 if that was the last conservative round. A round entered in its middle counts. */
RAMP_FN ramp_u32 ramp_hystartpp_end_round(struct ramp_hystartpp *s, struct ramp_decision *d)
{
	if (d->phase == RAMP_CONSERVATIVE && ++s->css_round_count >= s->css_rounds) {
		d->ssthresh_bytes = d->cwnd_bytes;
		d->evidence = s->entry_rtt_us;
		d->limit = s->entry_limit_us;
		ramp_leave(RAMP_EXIT_DELAY, d);
		return 1;
	}
	ramp_hystartpp_start_round(s);
	return 0;
}

RAMP_FN void ramp_hystartpp_test(struct ramp_hystartpp *s, struct ramp_decision *d)
{
	ramp_u32 current = s->current_round_min_rtt_us;

	if (s->rtt_sample_count < s->n_rtt_sample)
		return;
	if (d->phase == RAMP_CONSERVATIVE) {
		if (current < s->css_baseline_min_rtt_us) {
			s->css_baseline_min_rtt_us = HYSTARTPP_INFINITE;
			d->phase = RAMP_STARTUP;
		}
		return;
	}
	if (current == HYSTARTPP_INFINITE || s->last_round_min_rtt_us == HYSTARTPP_INFINITE ||
	    current < s->rtt_thresh_us)
		return;
	s->css_baseline_min_rtt_us = current;
	s->css_round_count = 0;
	s->entry_rtt_us = current;
	s->entry_limit_us = s->rtt_thresh_us;
	d->phase = RAMP_CONSERVATIVE;
}

RAMP_FN void ramp_hystartpp_on_ack(struct ramp_hystartpp *s, const struct ramp_ack *a,
				   struct ramp_decision *d)
{
	ramp_u64 credit;

	if (d->phase == RAMP_DONE)
		return;
	if (ramp_round_advance(&s->round, a) && ramp_hystartpp_end_round(s, d))
		return;
	/* RFC 9406 §4.3: L is infinite for a paced sender. */
	credit = ramp_credit(a, a->flags & RAMP_PACED ? s->growth.abc_limit_packets : s->limit_packets);
	if (d->phase == RAMP_CONSERVATIVE) {
		ramp_grow_fine(&s->growth, ramp_mul(credit, s->css_reciprocal), d);
		credit = 0;
	}
	ramp_grow(credit, a->mss_bytes, d);
	if (a->rtt_us) {
		if (a->rtt_us < s->current_round_min_rtt_us)
			s->current_round_min_rtt_us = a->rtt_us;
		s->rtt_sample_count += s->rtt_sample_count < HYSTARTPP_INFINITE;
		ramp_hystartpp_test(s, d);
	}
	ramp_leave_at_ssthresh(d);
}

/* RFC 9406 §4.3: for the initial slow start only, so a timeout does not arm it again. */
RAMP_FN void ramp_hystartpp_on_event(struct ramp_hystartpp *s, const struct ramp_event *e,
				     struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
