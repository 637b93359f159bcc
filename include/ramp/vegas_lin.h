/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Slow start of Linux's Vegas: double every round trip, and leave when a round's smallest RTT says
 * that more than gamma packets are queued.
 *
 *     startup --cwnd (RTT / base - 1) > gamma--> cwnd = cwnd x base / RTT + 1 packet, done
 *        `----ssthresh, loss, mark--> done --undone, timeout--> startup
 *
 * Source:   Linux tcp_vegas.c at 6.12.
 * Deviates: the window grows only while it is the limit; Linux's Vegas grows it for every ACK.
 * Deviates: Linux judges no round in which packets arrive out of order; the core does not know of
 *           that.
 * Deviates: when nothing is in flight after an ACK the measurement begins anew; Linux does so when
 *           the next packet leaves, which is the same moment for the window.
 */
#ifndef RAMP_VEGAS_LIN_H
#define RAMP_VEGAS_LIN_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_VEGAS_LIN_PARAMETERS(P, N)                                     \
	P(N, gamma, "packets", 1, 1, 100000, "Linux tcp_vegas.c gamma",     \
	  "whole packets of backlog that start-up tolerates")               \
	P(N, n_rtt_sample, "count", 3, 1, 1000, "Linux tcp_vegas.c cntRTT", \
	  "RTT samples a round needs before it is judged")

RAMP_PARAMETERS(VEGAS_LIN)

#define VEGAS_LIN_CWND_MIN_PACKETS 2u

struct ramp_vegas_lin {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 gamma_packets;
	ramp_u64 n_rtt_sample;
	ramp_u64 base_rtt_us;  /* RAMP_UNSET: none yet */
	ramp_u64 round_rtt_us; /* RAMP_UNSET: none yet */
	ramp_u32 rtt_count;
	ramp_u32 off;          /* a timeout is being repaired: plain slow start */
	ramp_u32 fresh;        /* the next ACK begins a round */
	ramp_u32 reserved;
};

/* Linux vegas_enable. */
RAMP_FN void ramp_vegas_lin_enable(struct ramp_vegas_lin *s)
{
	s->rtt_count = 0;
	s->round_rtt_us = RAMP_UNSET;
}

RAMP_FN void ramp_vegas_lin_init(struct ramp_vegas_lin *s, const struct ramp_config *c,
				 struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->gamma_packets = ramp_parameter(c, VEGAS_LIN, gamma);
	s->n_rtt_sample = ramp_parameter(c, VEGAS_LIN, n_rtt_sample);
	s->base_rtt_us = RAMP_UNSET;
	ramp_vegas_lin_enable(s);
}

RAMP_FN void ramp_vegas_lin_sample(struct ramp_vegas_lin *s, const struct ramp_ack *a)
{
	ramp_u64 rtt_us = (ramp_u64)a->rtt_us + 1; /* Linux: never 0 */

	if (!a->rtt_us)
		return;
	s->base_rtt_us = ramp_min(s->base_rtt_us, rtt_us);
	s->round_rtt_us = ramp_min(s->round_rtt_us, rtt_us);
	s->rtt_count += s->rtt_count < ~(ramp_u32)0;
}

/* In Linux's whole packets, cwnd x (RTT - base) / base > gamma. */
RAMP_FN void ramp_vegas_lin_judge(struct ramp_vegas_lin *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 bound = ramp_mul(ramp_mul(s->gamma_packets + 1, a->mss_bytes), s->base_rtt_us);
	ramp_u64 target;

	if (s->rtt_count < s->n_rtt_sample || s->round_rtt_us == RAMP_UNSET ||
	    ramp_mul(d->cwnd_bytes, s->round_rtt_us - s->base_rtt_us) < bound)
		return;
	d->evidence = s->round_rtt_us;
	d->limit = ramp_add(s->base_rtt_us, ramp_div(bound, d->cwnd_bytes));
	target = ramp_mul_div(d->cwnd_bytes, s->base_rtt_us, s->round_rtt_us);
	target = ramp_mul(ramp_add(ramp_div(target, a->mss_bytes), 1), a->mss_bytes);
	ramp_hold(ramp_max(ramp_min(target, d->cwnd_bytes),
			   (ramp_u64)VEGAS_LIN_CWND_MIN_PACKETS * a->mss_bytes),
		  a->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(RAMP_EXIT_DELAY, d);
}

RAMP_FN void ramp_vegas_lin_on_ack(struct ramp_vegas_lin *s, const struct ramp_ack *a,
				   struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (s->fresh) {
		s->fresh = 0;
		ramp_round_start(&s->round, a);
		ramp_vegas_lin_enable(s);
	}
	ramp_vegas_lin_sample(s, a);
	if (!s->off && ramp_round_advance(&s->round, a)) {
		ramp_vegas_lin_judge(s, a, d);
		ramp_vegas_lin_enable(s);
		if (d->phase == RAMP_DONE)
			return;
	}
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	if (a->in_flight_bytes <= a->acked_bytes) { /* Linux CA_EVENT_TX_START */
		ramp_vegas_lin_enable(s);
		s->base_rtt_us = RAMP_UNSET;
		ramp_round_start(&s->round, a);
	}
	ramp_leave_at_ssthresh(d);
}

/* Linux tcp_vegas_state: off while a timeout is repaired, then on again. */
RAMP_FN void ramp_vegas_lin_on_event(struct ramp_vegas_lin *s, const struct ramp_event *e,
				     struct ramp_decision *d)
{
	if (e->kind == RAMP_TIMEOUT) {
		ramp_begin_again(&s->growth, d);
		s->off = 1;
		return;
	}
	if (e->kind == RAMP_RECOVERED && s->off) {
		s->off = 0;
		s->fresh = 1;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
