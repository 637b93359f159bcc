/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Aron and Druschel's start-up: slow start paced over the round trip, and ended at the rate of many
 * packet pairs times the round-trip time.
 *
 *     startup --a pair: ssthresh = RTT x median rate--> startup --cwnd reached ssthresh--> done
 *        `----loss, mark, timeout--> done --undone--> startup
 *
 * Source:   [AD98]; reconstructed from its abstract and from what others say of it.
 * Deviates: what a pair is, how many count and their median are ours: the last eight pairs of the
 *           first three rounds with two packets or more, four pairs at least.
 * Deviates: packets leave in pairs (fours if the receiver may delay ACKs), not one by one: a paced
 *           sender would send no pairs. Others speak of pairs of four packets; two are what the
 *           word says, and four give a pair of ACKs where each answers two.
 * Deviates: the report's timers are the host's.
 */
#ifndef RAMP_ARON_H
#define RAMP_ARON_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_ARON_PARAMETERS(P, N)                                                       \
	P(N, rounds, "count", 3, 1, 1000, "our choice", "round trips whose pairs count") \
	P(N, pairs, "count", 4, 1, 8, "our choice", "pairs before the estimate is used, of eight kept")

RAMP_PARAMETERS(ARON)

#define ARON_PAIRS 8u
#define ARON_SHIFT 16u /* of the reciprocal RTT */

struct ramp_aron {
	struct ramp_growth growth;
	struct ramp_usage usage;
	struct ramp_round round;
	ramp_u64 previous_ns;
	ramp_u64 previous_sent_ns;
	ramp_u64 host_ssthresh_bytes; /* what the host began with */
	ramp_u64 least_bytes;         /* ssthresh is never less: two initial windows */
	ramp_u64 per_s;               /* 2^16 / RTT in seconds */
	ramp_u64 gap_ns[ARON_PAIRS];  /* per packet, the newest pairs' */
	ramp_u64 rounds_max;
	ramp_u64 pairs_min;
	ramp_u32 pairs;
	ramp_u32 rounds;
	ramp_u32 estimated;           /* ssthresh is the algorithm's own */
	ramp_u32 paced_rtt_us;        /* of per_s */
	ramp_u32 burst_bytes;
	ramp_u32 reserved;
};

RAMP_FN void ramp_aron_pace(struct ramp_aron *s, ramp_u32 rtt_us, struct ramp_decision *d)
{
	if (!rtt_us)
		return;
	if (rtt_us != s->paced_rtt_us) {
		s->paced_rtt_us = rtt_us;
		s->per_s = ((ramp_u64)1000000 << ARON_SHIFT) / rtt_us;
	}
	d->pacing_bytes_per_s = ramp_max(ramp_mul(d->cwnd_bytes, s->per_s) >> ARON_SHIFT, 1);
	d->pacing_burst_bytes = s->burst_bytes;
}

RAMP_FN void ramp_aron_init(struct ramp_aron *s, const struct ramp_config *c,
			    struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->rounds_max = ramp_parameter(c, ARON, rounds);
	s->pairs_min = ramp_parameter(c, ARON, pairs);
	s->host_ssthresh_bytes = d->ssthresh_bytes;
	s->least_bytes = ramp_mul(d->cwnd_bytes, 2);
	s->growth.least_rtt_us = c->handshake_rtt_us;
	s->burst_bytes = (ramp_u32)ramp_min(
		ramp_mul(c->mss_bytes, c->flags & RAMP_DELAYED_ACKS ? 4 : 2), ~(ramp_u32)0);
	ramp_aron_pace(s, s->growth.least_rtt_us, d);
}

/* The lower middle of the gaps kept: the upper middle of their rates. */
RAMP_FN ramp_u64 ramp_aron_median(const struct ramp_aron *s)
{
	ramp_u32 count = s->pairs < ARON_PAIRS ? s->pairs : ARON_PAIRS;
	ramp_u64 middle = (ramp_max(count, 1) - 1) / 2, median = 0, below, is_median;
	ramp_u32 i, j;

	for (i = 0; i < ARON_PAIRS; i++) {
		below = 0;
		for (j = 0; j < ARON_PAIRS; j++)
			below += 1 & ramp_less_mask(j, count) &
				ramp_less_mask(s->gap_ns[ramp_index(j, ARON_PAIRS)],
					       s->gap_ns[ramp_index(i, ARON_PAIRS)] + (j < i));
		is_median = ramp_less_mask(i, count) & ramp_less_mask(below, middle + 1) &
			ramp_less_mask(middle, below + 1);
		median |= s->gap_ns[i] & is_median;
	}
	return median;
}

/* Two ACKs in a row whose packets left no farther apart than half of the ACKs' gap are a pair. */
RAMP_FN void ramp_aron_look(struct ramp_aron *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 gap_ns = ramp_sub(a->now_ns, s->previous_ns);
	ramp_u64 sent_gap_ns = ramp_sub(a->newest_sent_ns, s->previous_sent_ns);
	ramp_u32 is_pair = s->previous_ns && gap_ns && a->acked_bytes >= a->mss_bytes &&
		sent_gap_ns <= gap_ns / 2;
	ramp_u64 window;

	s->previous_ns = a->now_ns;
	s->previous_sent_ns = a->newest_sent_ns;
	if (!is_pair || s->rounds > s->rounds_max)
		return;
	if (a->acked_bytes != a->mss_bytes)
		gap_ns = ramp_mul_div(gap_ns, a->mss_bytes, a->acked_bytes);
	s->gap_ns[s->pairs & (ARON_PAIRS - 1)] = ramp_clamp(gap_ns, 1, (ramp_u64)1 << 62);
	s->pairs = s->pairs == 2 * ARON_PAIRS - 1 ? ARON_PAIRS : s->pairs + 1;
	if (s->pairs < s->pairs_min || !s->growth.least_rtt_us)
		return;
	window = ramp_mul_div((ramp_u64)s->growth.least_rtt_us * 1000, a->mss_bytes, ramp_aron_median(s));
	d->ssthresh_bytes = ramp_min(ramp_max(window, s->least_bytes), s->host_ssthresh_bytes);
	s->estimated = d->ssthresh_bytes < s->host_ssthresh_bytes;
}

RAMP_FN void ramp_aron_on_ack(struct ramp_aron *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	if (s->rounds <= s->rounds_max) {
		/* A window of one packet sends no pair. */
		s->rounds += ramp_round_advance(&s->round, a) &&
			d->cwnd_bytes / 2 >= a->mss_bytes;
		ramp_aron_look(s, a, d);
	}
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	ramp_aron_pace(s, s->growth.least_rtt_us, d);
	ramp_leave_at_ssthresh(d);
	if (d->phase == RAMP_DONE && s->estimated)
		d->exit_reason = RAMP_EXIT_BANDWIDTH;
}

RAMP_FN void ramp_aron_on_event(struct ramp_aron *s, const struct ramp_event *e,
				struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
	if (d->phase != RAMP_DONE)
		ramp_aron_pace(s, s->growth.least_rtt_us, d);
}

#endif
