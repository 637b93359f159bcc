/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rapid Start: triple every round trip until a queue builds up, then double; after the first loss
 * land on a share of what was delivered, not of the window.
 *
 *     startup: twice the initial window, spaced --first ACK--> threefold or twofold growth
 *     startup --loss, mark--> leaving: less with every byte acked or lost --repaired--> done
 *     startup --timeout--> done --undone--> startup
 *
 * Source:   draft-kazuho-ccwg-rapid-start-02.
 * Deviates: a host that reduces gradually (PRR) reaches the window of each moment during recovery; the
 *           draft stops sending until the flight is no larger.
 * Deviates: a loss that proves to be none takes the landing back; the draft does not say.
 */
#ifndef RAMP_RAPID_H
#define RAMP_RAPID_H

#define RAMP_WRITTEN_FOR 2
#include "remembered.h"
#include "round.h"
#include "window.h"

#define RAMP_RAPID_PARAMETERS(P, N)                                                              \
	P(N, first_window, "percent", 200, 100, 1000, "draft-kazuho-ccwg-rapid-start-02 §3.1",   \
	  "of the host's initial window that the first flight is, if it can be spaced")          \
	P(N, queue_us, "us", 4000, 0, 10000000, "draft-kazuho-ccwg-rapid-start-02 §3.2",         \
	  "rise of the RTT that is a queue: this much")                                          \
	P(N, queue_percent, "percent", 10, 0, 1000, "draft-kazuho-ccwg-rapid-start-02 §3.2",     \
	  "or this share of the smallest RTT, if that is less")                                  \
	P(N, beta, "percent", 70, 50, 99, "draft-kazuho-ccwg-rapid-start-02 §3.3.1: as CUBIC's", \
	  "of what a loss leaves that the window is after it")                                   \
	P(N, ce_beta, "percent", 0, 0, 99,                                                       \
	  "draft-kazuho-ccwg-rapid-start-02; quicly with QUICLY_USE_ABE: 85 (RFC 8511)",         \
	  "the same after a congestion mark; 0: as after a loss")

RAMP_PARAMETERS(RAPID)

struct ramp_rapid {
	struct ramp_growth growth;
	struct ramp_usage usage;
	struct ramp_round round;
	ramp_u64 initial_bytes;
	ramp_u64 rate;         /* B/s until the first ACK, then 0 */
	ramp_u64 queue_us;
	ramp_u64 queue_percent;
	ramp_u64 loss_beta;
	ramp_u64 ce_beta;
	ramp_u64 beta;         /* the one in force */
	ramp_u64 before_bytes; /* the window that congestion found */
	ramp_u64 acked_bytes;  /* since then */
	ramp_u64 lost_before;  /* ever lost, before congestion was found */
	ramp_u64 sent_before;  /* and sent: what left later is not of that window */
	ramp_u32 floor_us;     /* the round's smallest RTT; 0: no sample yet */
	ramp_u32 reserved;
};

RAMP_FN void ramp_rapid_init(struct ramp_rapid *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->growth.least_rtt_us = c->handshake_rtt_us;
	s->initial_bytes = d->cwnd_bytes;
	s->queue_us = ramp_parameter(c, RAPID, queue_us);
	s->queue_percent = ramp_parameter(c, RAPID, queue_percent);
	s->loss_beta = ramp_parameter(c, RAPID, beta);
	s->ce_beta = ramp_parameter(c, RAPID, ce_beta);
	if (!s->ce_beta)
		s->ce_beta = s->loss_beta;
	if (!c->handshake_rtt_us)
		return;
	ramp_hold(ramp_mul_div(d->cwnd_bytes, ramp_parameter(c, RAPID, first_window), 100),
		  c->mss_bytes, d);
	s->rate = ramp_spaced(d->cwnd_bytes, c->handshake_rtt_us);
	d->pacing_bytes_per_s = s->rate;
}

/* §3.2: the path builds no queue if the round's smallest RTT is hardly above the smallest of all. */
RAMP_FN ramp_u32 ramp_rapid_is_empty(const struct ramp_rapid *s)
{
	ramp_u64 least = s->growth.least_rtt_us, rise = ramp_sub(s->floor_us, least);

	return s->floor_us && rise <= s->queue_us && rise * 100 <= least * s->queue_percent;
}

/* §3.3 with K = 2/3: silence and loss factor (200 + beta) / 300, ACK factor 2 (100 - beta) / 300. */
RAMP_FN ramp_u64 ramp_rapid_landing(const struct ramp_rapid *s, ramp_u64 lost_bytes,
				    ramp_u32 mss_bytes)
{
	ramp_u64 kept = ramp_mul(ramp_sub(s->before_bytes, lost_bytes), 200 + s->beta);
	ramp_u64 window = ramp_sub(kept, ramp_mul(s->acked_bytes, 2 * (100 - s->beta))) / 300;
	ramp_u64 least = ramp_max(s->before_bytes / 3, s->initial_bytes);

	return ramp_max(ramp_max(window, ramp_mul_div(least, s->beta, 100)),
			ramp_mul(mss_bytes, 2));
}

RAMP_FN void ramp_rapid_on_ack(struct ramp_rapid *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	ramp_u64 credit;

	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_LEAVING) {
		if (a->newest_acked_bytes <= s->sent_before)
			s->acked_bytes = ramp_add(s->acked_bytes, a->acked_bytes);
		d->ssthresh_bytes = ramp_rapid_landing(
			s, ramp_sub(a->lost_bytes, s->lost_before), a->mss_bytes);
		return;
	}
	s->rate = 0;
	ramp_pace_no_more(d);
	s->lost_before = a->lost_bytes;
	s->sent_before = a->sent_bytes;
	ramp_sample_rtt(&s->growth, a);
	if (ramp_round_advance(&s->round, a))
		s->floor_us = 0;
	if (a->rtt_us && (!s->floor_us || a->rtt_us < s->floor_us))
		s->floor_us = a->rtt_us;
	credit = ramp_used_credit(&s->growth, &s->usage, a, d);
	if (ramp_rapid_is_empty(s))
		credit = ramp_mul(credit, 2);
	ramp_grow(credit, a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_rapid_on_event(struct ramp_rapid *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (phase == RAMP_STARTUP && (e->kind == RAMP_LOSS || e->kind == RAMP_MARK)) {
		s->before_bytes = ramp_min(d->cwnd_bytes, RAMP_CWND_MAX_BYTES);
		s->acked_bytes = 0;
		s->beta = e->kind == RAMP_MARK ? s->ce_beta : s->loss_beta;
		ramp_pace_no_more(d);
		d->ssthresh_bytes = ramp_rapid_landing(s, e->lost_bytes, e->mss_bytes);
		d->evidence = e->kind == RAMP_MARK ? 0 : e->lost_bytes;
		d->phase = RAMP_LEAVING;
		d->exit_reason = ramp_exit_by(e->kind);
		return;
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_UNDONE) {
		s->before_bytes = 0;
		s->acked_bytes = 0;
		s->beta = 0;
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
		d->pacing_bytes_per_s = s->rate;
		return;
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_RECOVERED) {
		ramp_leave(d->exit_reason, d);
		return;
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->rate;
}

#endif
