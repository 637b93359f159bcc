/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Early slow start exit: the first ACKs of a flight come as far apart as the bottleneck sends their
 * packets, and slow start ends at that rate times the round-trip time.
 *
 *     startup --a flight's first ACKs: ssthresh = RTT x rate--> startup --cwnd reached it--> done
 *        `----loss, mark, timeout--> done --undone--> startup
 *
 * Source:   [ESSE]; reconstructed from its abstract.
 * Deviates: how many ACKs count, and that the smaller of the first two flights' estimates does, is
 *           ours.
 * Deviates: ACKs count by their bytes, so that a receiver may delay them.
 */
#ifndef RAMP_ESSE_H
#define RAMP_ESSE_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_ESSE_PARAMETERS(P, N)                                                                                          \
	P(N, acks, "count", 4, 2, 1000, "our choice", "ACKs of a flight that count, or the initial window if that is less") \
	P(N, flights, "count", 2, 1, 1000, "our choice", "flights that are measured")

RAMP_PARAMETERS(ESSE)

#define ESSE_SSTHRESH_MIN_PACKETS 2u

struct ramp_esse {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 first_ns; /* of the flight's first ACK */
	ramp_u64 last_ns;
	ramp_u64 bytes;    /* acknowledged after it */
	ramp_u64 acks_max;
	ramp_u64 flights_max;
	ramp_u32 acks;     /* of the flight */
	ramp_u32 flights;
	ramp_u32 estimated; /* ssthresh is the algorithm's own */
	ramp_u32 reserved;
};

RAMP_FN void ramp_esse_init(struct ramp_esse *s, const struct ramp_config *c,
			    struct ramp_decision *d)
{
	ramp_u64 window = ramp_div(c->initial_window_bytes, c->mss_bytes);

	ramp_begin(&s->growth, c, d);
	s->acks_max = ramp_max(ramp_min(ramp_parameter(c, ESSE, acks), window), 2);
	s->flights_max = ramp_parameter(c, ESSE, flights);
	s->growth.least_rtt_us = c->handshake_rtt_us;
}

RAMP_FN void ramp_esse_estimate(struct ramp_esse *s, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_u64 span_ns = ramp_sub(s->last_ns, s->first_ns);
	ramp_u64 window;

	s->acks = ~(ramp_u32)0; /* not again in this flight */
	if (!span_ns || !s->growth.least_rtt_us)
		return;
	window = ramp_mul_div(s->bytes, (ramp_u64)s->growth.least_rtt_us * 1000, span_ns);
	window = ramp_max(window, (ramp_u64)ESSE_SSTHRESH_MIN_PACKETS * mss_bytes);
	if (window >= d->ssthresh_bytes)
		return;
	d->ssthresh_bytes = window;
	s->estimated = 1;
}

RAMP_FN void ramp_esse_look(struct ramp_esse *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	if (ramp_round_advance(&s->round, a)) {
		if (s->acks >= 2 && s->acks < s->acks_max)
			ramp_esse_estimate(s, a->mss_bytes, d);
		if (++s->flights > s->flights_max)
			return;
		s->acks = 1;
		s->bytes = 0;
		s->first_ns = a->now_ns;
		return;
	}
	if (!s->flights || s->acks >= s->acks_max)
		return;
	s->acks++;
	s->bytes = ramp_add(s->bytes, a->acked_bytes);
	s->last_ns = a->now_ns;
	if (s->acks >= s->acks_max)
		ramp_esse_estimate(s, a->mss_bytes, d);
}

RAMP_FN void ramp_esse_on_ack(struct ramp_esse *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	if (s->flights <= s->flights_max)
		ramp_esse_look(s, a, d);
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
	if (d->phase == RAMP_DONE && s->estimated)
		d->exit_reason = RAMP_EXIT_BANDWIDTH;
}

RAMP_FN void ramp_esse_on_event(struct ramp_esse *s, const struct ramp_event *e,
				struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
