/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Enhanced Start: grow exponentially while Vegas' backlog estimate is small, linearly while it is
 * not, and halve the exponential step with every crossing.
 *
 *     startup --backlog >= beta: step halves--> conservative
 *        ^                                        |
 *        +------------backlog < beta--------------+
 *     either --ssthresh, loss, mark, timeout--> done --undone--> back
 *
 * Without either it stays in start-up: its linear steps are congestion avoidance, as in the paper.
 *
 * Source:   [LU] §IV-A, Algorithm 1; ns-2 tcp-vegas.cc.
 * Deviates: the RTT behind the backlog is the mean of a round. The paper takes that "of a tagged
 *           packet", the word of ns-2's Vegas, which averages from one tagged packet to the next.
 * Deviates: growth is proportional to the bytes acknowledged, within the connection's ABC limit;
 *           the paper counts ACKs. With one ACK per packet both are the same.
 */
#ifndef RAMP_ENHANCED_H
#define RAMP_ENHANCED_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_ENHANCED_PARAMETERS(P, N)                                                                   \
	P(N, beta, "packets", 3, 1, 100000, "[LU] §V-A",                                                 \
	  "backlog at which growth turns linear")                                                        \
	P(N, rtt_source, "choice:every-ack|tagged|round-mean", 2, 0, 2, "[LU] §IV-A, ns-2 tcp-vegas.cc", \
	  "which RTT the backlog is computed from")                                                      \
	P(N, rtt_tick_us, "us", 0, 0, 1000000, "ns-2 tcpTick_ (10 ms)",                                  \
	  "RTTs are rounded to this; 0: not at all. ns-2's default is 10000")

RAMP_PARAMETERS(ENHANCED)

#define ENHANCED_RTT_TAGGED 1u
#define ENHANCED_RTT_ROUND_MEAN 2u
/* 2^-62 of an ACK is no growth at all. */
#define ENHANCED_EVENTS_MAX 62u

struct ramp_enhanced {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 rtt_us; /* 0: none yet */
	ramp_u64 base_rtt_us;
	ramp_u64 rtt_sum_us;
	ramp_u64 rtt_tick_us;
	ramp_u64 beta_packets;
	ramp_u32 rtt_count;
	ramp_u32 rtt_source;
	ramp_u32 congestion_event_no;
	ramp_u32 reserved;
};

RAMP_FN void ramp_enhanced_init(struct ramp_enhanced *s, const struct ramp_config *c,
				struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->rtt_tick_us = ramp_parameter(c, ENHANCED, rtt_tick_us);
	s->beta_packets = ramp_parameter(c, ENHANCED, beta);
	s->rtt_source = (ramp_u32)ramp_parameter(c, ENHANCED, rtt_source);
}

RAMP_FN void ramp_enhanced_sample_rtt(struct ramp_enhanced *s, const struct ramp_ack *a)
{
	ramp_u32 opens_round = ramp_round_advance(&s->round, a);
	ramp_u64 rtt = a->rtt_us, mean;

	if (rtt) {
		if (s->rtt_tick_us) /* ns-2: to the nearest tick */
			rtt = ramp_max((rtt + s->rtt_tick_us / 2) / s->rtt_tick_us, 1) *
				s->rtt_tick_us;
		if (!s->base_rtt_us || rtt < s->base_rtt_us)
			s->base_rtt_us = rtt;
	}
	if (s->rtt_source == ENHANCED_RTT_ROUND_MEAN) {
		mean = opens_round && s->rtt_count ? s->rtt_sum_us / s->rtt_count : 0;
		if (opens_round) {
			s->rtt_sum_us = 0;
			s->rtt_count = 0;
		}
		if (rtt) { /* as in ns-2, the tagged packet's own sample is the next round's first */
			s->rtt_sum_us = ramp_add(s->rtt_sum_us, rtt);
			s->rtt_count += s->rtt_count < ~(ramp_u32)0;
		}
		rtt = mean;
	} else if (s->rtt_source == ENHANCED_RTT_TAGGED && !opens_round) {
		rtt = 0;
	}
	if (rtt)
		s->rtt_us = rtt;
}

/* N = cwnd (1 - BaseRTT / RTT) >= beta, without the division. */
RAMP_FN ramp_u32 ramp_enhanced_congested(const struct ramp_enhanced *s, const struct ramp_ack *a,
					 const struct ramp_decision *d)
{
	ramp_u64 beta_bytes = ramp_mul(s->beta_packets, a->mss_bytes);
	ramp_u64 queueing_us = ramp_sub(s->rtt_us, s->base_rtt_us);

	return s->rtt_us &&
		ramp_mul(d->cwnd_bytes, queueing_us) >= ramp_mul(beta_bytes, s->rtt_us);
}

RAMP_FN void ramp_enhanced_on_ack(struct ramp_enhanced *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 credit, step;

	if (d->phase == RAMP_DONE)
		return;
	ramp_enhanced_sample_rtt(s, a);
	credit = ramp_min(ramp_credit(a, s->growth.abc_limit_packets), 0xffffffffu) << 16;
	step = s->congestion_event_no;
	if (ramp_enhanced_congested(s, a, d)) {
		if (d->phase == RAMP_STARTUP && s->congestion_event_no < ENHANCED_EVENTS_MAX)
			s->congestion_event_no++;
		d->phase = RAMP_CONSERVATIVE;
		step = ENHANCED_EVENTS_MAX;
	} else {
		d->phase = RAMP_STARTUP;
	}
	/*
	 * The larger of 1/cwnd and 2^-n per packet; the first only while the backlog is large.
	 * cwnd <= mss 2^n, where the product could wrap.
	 */
	if (step && (d->cwnd_bytes - 1) >> step < a->mss_bytes)
		credit = ramp_mul_div(credit, a->mss_bytes, d->cwnd_bytes);
	else
		credit >>= step;
	ramp_grow_fine(&s->growth, credit, d);
	ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_enhanced_on_event(struct ramp_enhanced *s, const struct ramp_event *e,
				    struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
