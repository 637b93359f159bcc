/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * StopEG: leave when more of the packets in flight are on the way there than a path without a queue
 * would hold.
 *
 *     startup --a round's share of packets on the way there > share--> ssthresh = cwnd, done
 *        `----ssthresh, loss, mark, timeout--> done --undone--> startup
 *
 * What is in flight at a moment and acknowledged within half of the smallest RTT was on its way back
 * then; the rest was on its way there, or in the bottleneck's queue.
 *
 * Source:   [STOPEG]; reconstructed from its abstract.
 * Deviates: how the share is measured is ours: at up to 64 moments a round trip, summed over a round,
 *           with 16 packets in flight or more.
 * Deviates: the share is 60 %; the abstract's 56.8 % is below what a window that doubles has on an
 *           empty path, 1 / (1 + 2^-1/2) = 58.6 %.
 * Deviates: the published host is BBR; here packets leave at a share of cwnd / RTT (pacing) that lets
 *           a smooth sender double: 2 ln 2.
 */
#ifndef RAMP_STOPEG_H
#define RAMP_STOPEG_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_STOPEG_PARAMETERS(P, N)                                                              \
	P(N, share, "permille", 600, 501, 1000, "[STOPEG] abstract: 568, on BBR",                 \
	  "of what is in flight, on its way there; more stops growth")                            \
	P(N, packets, "packets", 16, 1, 100000, "our choice", "least in flight that is measured") \
	P(N, pacing, "percent", 139, 0, 1000, "our choice: 2 ln 2", "of cwnd / RTT; 0: the host's own pacing")

RAMP_PARAMETERS(STOPEG)

#define STOPEG_MOMENTS 64u /* a power of two */
#define STOPEG_MOST ((ramp_u64)1 << 62) /* bytes that are counted, for arithmetic without branches */
#define STOPEG_AT_ONCE 16u  /* moments settled by an ACK, which adds one at most */

struct ramp_stopeg_moment {
	ramp_u64 at_ns;
	ramp_u64 delivered_bytes; /* before the ACK at that moment */
	ramp_u64 in_flight_bytes;
};

struct ramp_stopeg {
	struct ramp_growth growth;
	struct ramp_usage usage;
	struct ramp_round round;
	ramp_u64 share_permille;
	ramp_u64 packets_min;
	ramp_u64 there_bytes;  /* sums over the round's moments */
	ramp_u64 in_flight_bytes;
	ramp_u64 last_ns;      /* of the newest moment kept */
	ramp_u32 oldest;       /* moment that waits; places are modulo STOPEG_MOMENTS */
	ramp_u32 waiting;
	ramp_u32 moments;      /* in the sums */
	ramp_u32 pacing_percent;
	struct ramp_stopeg_moment moment[STOPEG_MOMENTS];
};

RAMP_FN void ramp_stopeg_init(struct ramp_stopeg *s, const struct ramp_config *c,
			      struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->share_permille = ramp_parameter(c, STOPEG, share);
	s->packets_min = ramp_parameter(c, STOPEG, packets);
	s->growth.least_rtt_us = c->handshake_rtt_us;
	s->pacing_percent = (ramp_u32)ramp_parameter(c, STOPEG, pacing);
	d->pacing_percent = s->pacing_percent;
}

/* Half of the smallest RTT after a moment, what had been on its way back then has arrived. */
RAMP_FN void ramp_stopeg_settle(struct ramp_stopeg *s, const struct ramp_ack *a)
{
	ramp_u64 half_ns = (ramp_u64)s->growth.least_rtt_us * 500;
	ramp_u64 delivered = ramp_min(ramp_sub(a->delivered_bytes, a->acked_bytes), STOPEG_MOST);
	ramp_u64 least = ramp_min(ramp_mul(s->packets_min, a->mss_bytes), STOPEG_MOST);
	ramp_u64 counts, back;
	const struct ramp_stopeg_moment *m;
	ramp_u32 i;

	for (i = 0; i < STOPEG_AT_ONCE; i++) {
		m = &s->moment[s->oldest & (STOPEG_MOMENTS - 1)];
		if (!s->waiting || ramp_add(m->at_ns, half_ns) > a->now_ns)
			return;
		counts = ~ramp_less_mask(m->in_flight_bytes, least);
		back = ramp_sub_flat(delivered, m->delivered_bytes);
		s->there_bytes += ramp_sub_flat(m->in_flight_bytes, back) & counts;
		s->in_flight_bytes += m->in_flight_bytes & counts;
		s->moments += (ramp_u32)counts & 1u;
		s->oldest = (s->oldest + 1) & (STOPEG_MOMENTS - 1);
		s->waiting--;
	}
}

RAMP_FN void ramp_stopeg_keep(struct ramp_stopeg *s, const struct ramp_ack *a)
{
	ramp_u64 apart_ns = (ramp_u64)s->growth.least_rtt_us * 1000 / STOPEG_MOMENTS;
	struct ramp_stopeg_moment *m;

	if (s->last_ns && a->now_ns < ramp_add(s->last_ns, apart_ns))
		return;
	if (s->waiting == STOPEG_MOMENTS) { /* the newest counts */
		s->oldest = (s->oldest + 1) & (STOPEG_MOMENTS - 1);
		s->waiting--;
	}
	m = &s->moment[(s->oldest + s->waiting) & (STOPEG_MOMENTS - 1)];
	m->at_ns = a->now_ns;
	m->delivered_bytes = ramp_min(ramp_sub(a->delivered_bytes, a->acked_bytes), STOPEG_MOST);
	m->in_flight_bytes = ramp_min(a->in_flight_bytes, STOPEG_MOST);
	s->waiting++;
	s->last_ns = a->now_ns;
}

RAMP_FN void ramp_stopeg_judge(struct ramp_stopeg *s, struct ramp_decision *d)
{
	ramp_u64 bound = ramp_mul_div(s->in_flight_bytes, s->share_permille, 1000);

	if (s->there_bytes > bound) { /* in the words of what came back */
		d->evidence = ramp_sub(s->in_flight_bytes, s->there_bytes) / s->moments;
		d->limit = ramp_sub(s->in_flight_bytes, bound) / s->moments;
		d->ssthresh_bytes = d->cwnd_bytes;
		d->pacing_percent = 0;
		ramp_leave(RAMP_EXIT_DELIVERY, d);
	}
	s->there_bytes = 0;
	s->in_flight_bytes = 0;
	s->moments = 0;
}

RAMP_FN void ramp_stopeg_on_ack(struct ramp_stopeg *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	ramp_stopeg_settle(s, a);
	ramp_stopeg_keep(s, a);
	if (ramp_round_advance(&s->round, a) && s->moments) {
		ramp_stopeg_judge(s, d);
		if (d->phase == RAMP_DONE)
			return;
	}
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
	if (d->phase == RAMP_DONE)
		d->pacing_percent = 0;
}

RAMP_FN void ramp_stopeg_on_event(struct ramp_stopeg *s, const struct ramp_event *e,
				  struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
	d->pacing_percent = d->phase == RAMP_DONE ? 0 : s->pacing_percent;
}

#endif
