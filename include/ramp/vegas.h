/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Vegas' slow start: double every other round trip, and in the rounds between leave if more than
 * gamma packets seem to be queued.
 *
 *     startup --hold a round, then: backlog > gamma--> cwnd - cwnd/8, done
 *        |  `--hold a round, then: double--> startup
 *        `----ssthresh, loss, mark--> done --undone, timeout--> startup
 *
 * The backlog is what was sent in the round beyond what the path would carry at the smallest RTT.
 * The RTT is the mean of a round, so that the queue of a burst counts too.
 *
 * Source:   [BP95] §3.4; ns-2 tcp-vegas.cc.
 * Deviates: growth is proportional to the bytes acknowledged, within the connection's ABC limit;
 *           ns-2 counts ACKs. With one ACK per packet both are the same.
 * Deviates: the window grows only while it is the limit. ns-2's own test for that counts what is in
 *           flight after the ACK, so that an ACK for four packets would stop it; here it is counted
 *           before.
 * Deviates: ssthresh ends at cwnd, not at two packets; congestion avoidance follows either way.
 * Deviates: after a timeout the first round is not judged; ns-2 judges it by what it counted before.
 * Deviates: any loss ends it; in ns-2 a loss leaves ssthresh alone while fewer than four ACKs
 *           repeat.
 */
#ifndef RAMP_VEGAS_H
#define RAMP_VEGAS_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_VEGAS_PARAMETERS(P, N)                                        \
	P(N, gamma, "packets", 1, 1, 100000, "[BP95] §3.4, ns-2 v_gamma_", \
	  "backlog that start-up tolerates; it is rounded to whole packets")

RAMP_PARAMETERS(VEGAS)

#define VEGAS_CWND_MIN_PACKETS 2u
#define VEGAS_ROOM_PACKETS 2u /* unused room in the window that still counts as none */

struct ramp_vegas {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 rtt_sum_us;
	ramp_u64 base_rtt_us; /* 0: none yet */
	ramp_u64 gamma_packets;
	ramp_u32 rtt_count;
	ramp_u32 grows;       /* the running round doubles */
	ramp_u32 stale;       /* the running round began before a timeout */
	ramp_u32 reserved;
};

/* ns-2 counts the SYN as the first packet: its round is over, and the next one doubles. */
RAMP_FN void ramp_vegas_init(struct ramp_vegas *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->gamma_packets = ramp_parameter(c, VEGAS, gamma);
	s->base_rtt_us = c->handshake_rtt_us;
	s->rtt_sum_us = c->handshake_rtt_us;
	s->rtt_count = c->handshake_rtt_us != 0;
}

/* backlog = out - sent x base / rtt, all doubled so that gamma + 1/2 is whole. */
RAMP_FN void ramp_vegas_judge(struct ramp_vegas *s, ramp_u64 rtt_us, ramp_u64 sent_bytes,
			      const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 out = ramp_mul(ramp_add(ramp_sub(a->in_flight_bytes, a->acked_bytes), a->mss_bytes), 2);
	ramp_u64 bound = ramp_mul(2 * s->gamma_packets + 1, a->mss_bytes);
	ramp_u64 sent = ramp_mul(sent_bytes, 2);

	if (ramp_sub(ramp_mul(out, rtt_us), ramp_mul(sent, s->base_rtt_us)) < ramp_mul(bound, rtt_us))
		return;
	d->evidence = rtt_us;
	d->limit = ramp_mul_div(sent, s->base_rtt_us, ramp_sub(out, bound));
	ramp_hold(ramp_max(d->cwnd_bytes - d->cwnd_bytes / 8,
			   (ramp_u64)VEGAS_CWND_MIN_PACKETS * a->mss_bytes),
		  a->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(RAMP_EXIT_DELAY, d);
}

RAMP_FN void ramp_vegas_end_round(struct ramp_vegas *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 rtt_us = s->rtt_count ? s->rtt_sum_us / s->rtt_count : a->rtt_us;
	ramp_u64 sent = ramp_sub(a->sent_bytes, s->round.end_bytes);
	ramp_u32 stale = s->stale;

	ramp_round_start(&s->round, a);
	s->rtt_sum_us = 0;
	s->rtt_count = 0;
	s->stale = 0;
	if (!rtt_us)
		return;
	if (!stale && (!s->base_rtt_us || rtt_us < s->base_rtt_us || sent <= a->mss_bytes))
		s->base_rtt_us = rtt_us;
	s->grows = !s->grows;
	if (s->grows && !stale)
		ramp_vegas_judge(s, rtt_us, sent, a, d);
}

RAMP_FN void ramp_vegas_on_ack(struct ramp_vegas *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (ramp_round_over(&s->round, a)) {
		ramp_vegas_end_round(s, a, d);
		if (d->phase == RAMP_DONE)
			return;
	}
	if (s->grows &&
	    ramp_sub(d->cwnd_bytes, a->in_flight_bytes) <= (ramp_u64)VEGAS_ROOM_PACKETS * a->mss_bytes)
		ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	if (a->rtt_us) {
		s->rtt_sum_us = ramp_add(s->rtt_sum_us, a->rtt_us);
		s->rtt_count += s->rtt_count < ~(ramp_u32)0;
		if (!s->base_rtt_us || a->rtt_us < s->base_rtt_us)
			s->base_rtt_us = a->rtt_us;
	}
	ramp_leave_at_ssthresh(d);
}

/* ns-2: after a timeout slow start runs again, and its test with it. */
RAMP_FN void ramp_vegas_on_event(struct ramp_vegas *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	if (e->kind == RAMP_TIMEOUT) {
		s->rtt_sum_us = 0;
		s->rtt_count = 0;
		s->grows = 0;
		s->stale = 1;
		ramp_begin_again(&s->growth, d);
		return;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
