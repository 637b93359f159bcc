/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hoe's packet pair: the gap between two early ACKs is the path's rate, and slow start ends at that
 * rate times the round-trip time.
 *
 *     startup --a pair: ssthresh = RTT x rate--> startup --cwnd reached ssthresh--> done
 *        `----loss, mark, timeout--> done --undone--> startup
 *
 * Source:   [HOE96]; ns-2 tcp-newreno.cc, newreno_changes_ = 1, which the papers ran.
 * Deviates: the pair is the first two ACKs in a row for equally many bytes that left together: no
 *           farther apart than half of the ACKs' gap (pair). ns-2 takes the first two ACKs, which a
 *           receiver that delays them may send a round trip apart.
 * Deviates: without a valid round-trip time of the handshake, the smallest so far counts.
 * Deviates: ssthresh is two packets or more; ns-2 would also set 0 and 1.
 * Deviates: two ACKs at one instant are no pair; ns-2 divides by zero.
 * Deviates: ns-2's switch also sends a new packet for every second duplicate ACK; recovery is the
 *           host's here.
 */
#ifndef RAMP_HOE_H
#define RAMP_HOE_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_HOE_PARAMETERS(P, N)                                                          \
	P(N, pair, "choice:same-size|first", 0, 0, 1, "ns-2 tcp-newreno.cc for \"first\"", \
	  "which two ACKs: equally large ones whose packets left together, or the first two")

/* Values that depend on the environment: X(environment, value, id, parameter, reason). */
#define RAMP_HOE_OVERRIDES(X) \
	X(PAPERS, 1, hoe, pair, "the papers ran ns-2, which takes the first two ACKs for the pair")

RAMP_PARAMETERS(HOE)

#define HOE_PAIR_FIRST 1u
#define HOE_SSTHRESH_MIN_PACKETS 2u

struct ramp_hoe {
	struct ramp_growth growth;
	ramp_u64 previous_ns;
	ramp_u64 previous_bytes;
	ramp_u64 previous_sent_ns; /* when its newest packet left */
	ramp_u32 base_rtt_us;
	ramp_u32 pair;
	ramp_u32 acks;             /* 0: none yet; 1: the previous one is known */
	ramp_u32 tried;            /* there will be no other pair */
	ramp_u32 estimated;        /* ssthresh is the algorithm's own */
	ramp_u32 reserved;
};

RAMP_FN void ramp_hoe_init(struct ramp_hoe *s, const struct ramp_config *c, struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->base_rtt_us = c->handshake_rtt_us;
	s->pair = (ramp_u32)ramp_parameter(c, HOE, pair);
}

/* ns-2 counts whole packets, and lets the estimate only lower ssthresh. */
RAMP_FN void ramp_hoe_estimate(struct ramp_hoe *s, const struct ramp_ack *a, ramp_u64 bytes,
			       struct ramp_decision *d)
{
	ramp_u64 rtt_us = s->base_rtt_us ? s->base_rtt_us : s->growth.least_rtt_us;
	ramp_u64 window = ramp_mul_div(bytes, rtt_us * 1000, ramp_sub(a->now_ns, s->previous_ns));
	ramp_u64 packets = ramp_max(ramp_div(window, a->mss_bytes), HOE_SSTHRESH_MIN_PACKETS);
	ramp_u64 ssthresh = ramp_mul(packets, a->mss_bytes);

	s->tried = 1;
	if (!rtt_us || ssthresh >= d->ssthresh_bytes)
		return;
	d->ssthresh_bytes = ssthresh;
	s->estimated = 1;
}

RAMP_FN void ramp_hoe_look(struct ramp_hoe *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 gap_ns = ramp_sub(a->now_ns, s->previous_ns);
	ramp_u64 sent_gap_ns = ramp_sub(a->newest_sent_ns, s->previous_sent_ns);
	ramp_u32 first = s->pair == HOE_PAIR_FIRST;
	ramp_u32 alike = a->acked_bytes == s->previous_bytes && a->acked_bytes >= a->mss_bytes &&
		sent_gap_ns <= gap_ns / 2;

	if (s->acks && gap_ns && (first || alike))
		ramp_hoe_estimate(s, a, first ? a->mss_bytes : a->acked_bytes, d);
	if (s->acks && first)
		s->tried = 1;
	s->acks = 1;
	s->previous_ns = a->now_ns;
	s->previous_bytes = a->acked_bytes;
	s->previous_sent_ns = a->newest_sent_ns;
}

RAMP_FN void ramp_hoe_on_ack(struct ramp_hoe *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	if (!s->tried)
		ramp_hoe_look(s, a, d);
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
	if (d->phase == RAMP_DONE && s->estimated)
		d->exit_reason = RAMP_EXIT_BANDWIDTH;
}

RAMP_FN void ramp_hoe_on_event(struct ramp_hoe *s, const struct ramp_event *e,
			       struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
