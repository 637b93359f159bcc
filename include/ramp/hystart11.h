/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * HyStart as published: leave slow start when a train of closely spaced ACKs lasts half the minimum
 * RTT, or when the RTT at the head of a round exceeds that of the round before.
 *
 *     startup --ACK train, or RTT rose, at cwnd >= 16--> done --timeout--> startup
 *        `----loss, mark--> done --undone--> startup
 *
 * Source:   [HR11] §4, Algorithm 1.
 * Deviates: RTTs begin as infinite, and the delay test waits for a second round; Algorithm 1 gives
 *           no initial values.
 * Deviates: a detection below low_window is none. Algorithm 1 read literally would disable itself
 *           for good by it.
 * Deviates: a timeout clears all of it, the RTTs and the round too; Algorithm 1 resets dMin and found
 *           alone, so that its delay test judges a round sooner.
 */
#ifndef RAMP_HYSTART11_H
#define RAMP_HYSTART11_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_HYSTART11_PARAMETERS(P, N)                                               \
	P(N, low_window, "packets", 16, 0, 100000, "[HR11] Algorithm 1 low_ssthresh", \
	  "window below which nothing is decided")                                    \
	P(N, samples, "count", 8, 1, 1000, "[HR11] Algorithm 1 nSampling",            \
	  "RTT samples of a round whose minimum is judged")                           \
	P(N, spacing_us, "us", 2000, 0, 1000000, "[HR11] Algorithm 1",                \
	  "largest gap between two ACKs of one train")                                \
	P(N, eta_divisor, "count", 16, 1, 1024, "[HR11] Algorithm 1",                 \
	  "the RTT rise that counts is the last round's RTT over this")               \
	P(N, eta_min_us, "us", 2000, 0, 10000000, "[HR11] Algorithm 1",               \
	  "smallest RTT rise that counts")                                            \
	P(N, eta_max_us, "us", 8000, 0, 10000000, "[HR11] Algorithm 1",               \
	  "largest RTT rise needed")                                                  \
	P(N, clock_us, "us", 1000, 1, 1000000, "[HR11] §5: Linux 2.6.23, HZ 1000",    \
	  "resolution of the clock: times round down, RTTs up")

RAMP_PARAMETERS(HYSTART11)

#define HYSTART11_INFINITE (~(ramp_u32)0)

struct ramp_hystart11 { /* times in ticks of the clock */
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 round_start;
	ramp_u64 last_ack;
	ramp_u64 tick_ns;
	ramp_u64 low_window_packets;
	ramp_u64 low_window_bytes;
	ramp_u64 samples;
	ramp_u64 spacing;
	ramp_u64 eta_divisor;
	ramp_u64 eta_min;
	ramp_u64 eta_max;
	ramp_u64 eta;                 /* for last_round_rtt */
	ramp_u32 min_rtt;
	ramp_u32 round_rtt;
	ramp_u32 last_round_rtt;
	ramp_u32 sample_count;
	ramp_u32 tick_us;
};

RAMP_FN void ramp_hystart11_reset(struct ramp_hystart11 *s)
{
	s->round.end_bytes = 0;
	s->round_start = 0;
	s->last_ack = 0;
	s->eta = 0;
	s->min_rtt = HYSTART11_INFINITE;
	s->round_rtt = HYSTART11_INFINITE;
	s->last_round_rtt = HYSTART11_INFINITE;
	s->sample_count = 0;
}

RAMP_FN void ramp_hystart11_init(struct ramp_hystart11 *s, const struct ramp_config *c,
				 struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->tick_us = (ramp_u32)ramp_parameter(c, HYSTART11, clock_us);
	s->tick_ns = (ramp_u64)s->tick_us * 1000;
	s->low_window_packets = ramp_parameter(c, HYSTART11, low_window);
	s->samples = ramp_parameter(c, HYSTART11, samples);
	s->spacing = ramp_parameter(c, HYSTART11, spacing_us) / s->tick_us;
	s->eta_divisor = ramp_parameter(c, HYSTART11, eta_divisor);
	s->eta_min = ramp_parameter(c, HYSTART11, eta_min_us) / s->tick_us;
	s->eta_max = ramp_parameter(c, HYSTART11, eta_max_us) / s->tick_us;
	ramp_hystart11_reset(s);
}

RAMP_FN void ramp_hystart11_start_round(struct ramp_hystart11 *s, ramp_u64 now)
{
	s->round_start = now;
	s->last_ack = now;
	s->last_round_rtt = s->round_rtt;
	s->round_rtt = HYSTART11_INFINITE;
	s->sample_count = 0;
	/* Algorithm 1: clamp(ceil(lastRTT / 16), 2, 8). */
	s->eta = ramp_clamp((s->last_round_rtt + s->eta_divisor - 1) / s->eta_divisor, s->eta_min,
			    s->eta_max);
}

/* Below low_window both detectors listen and decide nothing. */
RAMP_FN ramp_u32 ramp_hystart11_decides(const struct ramp_hystart11 *s,
					const struct ramp_decision *d)
{
	return d->phase != RAMP_DONE && d->cwnd_bytes >= s->low_window_bytes;
}

/*
 * Algorithm 1, first half. A gap beyond the spacing leaves last_ack behind: the train is dead until
 * the next round.
 */
RAMP_FN void ramp_hystart11_test_train(struct ramp_hystart11 *s, ramp_u64 now,
				       struct ramp_decision *d)
{
	ramp_u64 train = ramp_sub(now, s->round_start);

	if (ramp_sub(now, s->last_ack) > s->spacing)
		return;
	s->last_ack = now;
	if (!ramp_hystart11_decides(s, d) || ramp_mul(train, 2) < s->min_rtt)
		return;
	d->evidence = ramp_mul(train, s->tick_us);
	d->limit = (ramp_u64)s->min_rtt * s->tick_us / 2;
	ramp_leave(RAMP_EXIT_ACK_TRAIN, d);
}

/* Algorithm 1, second half. */
RAMP_FN void ramp_hystart11_test_delay(struct ramp_hystart11 *s, ramp_u32 rtt,
				       struct ramp_decision *d)
{
	if (s->sample_count < s->samples) {
		s->sample_count++;
		s->round_rtt = rtt < s->round_rtt ? rtt : s->round_rtt;
	}
	if (s->sample_count < s->samples || s->last_round_rtt == HYSTART11_INFINITE)
		return;
	if (!ramp_hystart11_decides(s, d) || s->round_rtt < s->last_round_rtt + s->eta)
		return;
	d->evidence = (ramp_u64)s->round_rtt * s->tick_us;
	d->limit = (s->last_round_rtt + s->eta) * s->tick_us;
	ramp_leave(RAMP_EXIT_DELAY, d);
}

RAMP_FN void ramp_hystart11_on_ack(struct ramp_hystart11 *s, const struct ramp_ack *a,
				   struct ramp_decision *d)
{
	ramp_u64 now, credit;
	ramp_u32 rtt;

	if (d->phase == RAMP_DONE)
		return;
	now = a->now_ns / s->tick_ns;
	if (ramp_round_advance(&s->round, a))
		ramp_hystart11_start_round(s, now);
	credit = ramp_credit(a, s->growth.abc_limit_packets);
	/* Algorithm 1 tests cwnd <= ssthresh, where RFC 5681 leaves the choice. */
	if (d->cwnd_bytes > d->ssthresh_bytes) {
		ramp_leave_at_ssthresh(d);
		return;
	}
	if (a->rtt_us) {
		rtt = (ramp_u32)(((ramp_u64)a->rtt_us + s->tick_us - 1) / s->tick_us);
		s->min_rtt = rtt < s->min_rtt ? rtt : s->min_rtt;
		s->low_window_bytes = ramp_mul(s->low_window_packets, a->mss_bytes);
		ramp_hystart11_test_train(s, now, d);
		ramp_hystart11_test_delay(s, rtt, d);
	}
	if (d->phase == RAMP_DONE)
		d->ssthresh_bytes = d->cwnd_bytes;
	/* Not clipped: with <= the window passes ssthresh by one more ACK. */
	ramp_hold(ramp_add(d->cwnd_bytes, credit), a->mss_bytes, d);
	if (d->phase != RAMP_DONE && d->cwnd_bytes > d->ssthresh_bytes)
		ramp_leave_at_ssthresh(d);
}

/* [HR11] §4: loss is slow start's own exit; a timeout begins afresh, detectors armed. */
RAMP_FN void ramp_hystart11_on_event(struct ramp_hystart11 *s, const struct ramp_event *e,
				     struct ramp_decision *d)
{
	if (e->kind == RAMP_TIMEOUT) {
		ramp_hystart11_reset(s);
		ramp_begin_again(&s->growth, d);
		return;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
