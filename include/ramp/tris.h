/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tri-S as a start-up: leave when a larger window no longer buys throughput, and take back the last
 * doubling.
 *
 *     startup --throughput per packet of window < share x that of the first packet--> last window, done
 *        `----ssthresh, loss, mark--> done --undone, timeout--> startup
 *
 * One packet of each round trip is timed. Its throughput is what was in flight when it left, over
 * its round-trip time.
 *
 * Source:   [WC91] as [BP95] §3 describes it.
 * Deviates: windows are compared a round apart while they double, not a packet apart while they grow
 *           by one: the gain of one packet drowns in the noise of the RTT.
 * Deviates: the throughput of one packet in flight is that at the smallest RTT, since the window
 *           begins with several.
 */
#ifndef RAMP_TRIS_H
#define RAMP_TRIS_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_TRIS_PARAMETERS(P, N)                                  \
	P(N, share, "percent", 50, 1, 100, "[WC91] in [BP95] §3.1", \
	  "least gain of throughput, of that of the first packet")

RAMP_PARAMETERS(TRIS)

struct ramp_tris {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 share_percent;
	ramp_u64 out_bytes;       /* in flight when the timed packet left */
	ramp_u64 last_bytes;      /* the same of the comparison's other side; 0: none yet */
	ramp_u64 last_bytes_per_s;
};

RAMP_FN void ramp_tris_init(struct ramp_tris *s, const struct ramp_config *c,
			    struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->share_percent = ramp_parameter(c, TRIS, share);
	s->growth.least_rtt_us = c->handshake_rtt_us;
}

/* The timed packet has arrived. */
RAMP_FN void ramp_tris_judge(struct ramp_tris *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 rate = ramp_mul_div(s->out_bytes, 1000000, a->rtt_us);
	ramp_u64 more = ramp_sub(s->out_bytes, s->last_bytes);
	ramp_u64 gain = ramp_sub(rate, s->last_bytes_per_s);
	ramp_u64 first = ramp_mul_div(more, 1000000, s->growth.least_rtt_us);

	if (s->last_bytes && !more)
		return;
	if (s->last_bytes && ramp_mul(gain, 100) < ramp_mul(first, s->share_percent)) {
		d->evidence = d->cwnd_bytes;
		d->limit = ramp_mul_div(rate, s->growth.least_rtt_us, 1000000);
		ramp_hold(ramp_min(d->cwnd_bytes, s->last_bytes), a->mss_bytes, d);
		d->ssthresh_bytes = d->cwnd_bytes;
		ramp_leave(RAMP_EXIT_BANDWIDTH, d);
		return;
	}
	s->last_bytes = s->out_bytes;
	s->last_bytes_per_s = rate;
}

RAMP_FN void ramp_tris_on_ack(struct ramp_tris *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u32 opens_round;

	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	opens_round = ramp_round_advance(&s->round, a);
	if (opens_round && s->out_bytes && a->rtt_us) {
		ramp_tris_judge(s, a, d);
		if (d->phase == RAMP_DONE)
			return;
	}
	if (opens_round) /* the next packet to leave is timed */
		s->out_bytes = ramp_add(ramp_sub(a->in_flight_bytes, a->acked_bytes), a->mss_bytes);
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

/* [BP95]: after a timeout Tri-S begins anew. */
RAMP_FN void ramp_tris_on_event(struct ramp_tris *s, const struct ramp_event *e,
				struct ramp_decision *d)
{
	if (e->kind == RAMP_TIMEOUT) {
		s->out_bytes = 0;
		s->last_bytes = 0;
		s->last_bytes_per_s = 0;
		ramp_begin_again(&s->growth, d);
		return;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
