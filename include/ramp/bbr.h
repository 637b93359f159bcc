/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * BBR's Startup, version 1: pace at 2.89 times the delivery rate until three rounds have not raised
 * it by a quarter, then drain the queue.
 *
 *     startup --three rounds without a quarter more--> leaving (drain) --in flight <= BDP--> done
 *
 * A loss, mark or timeout ends nothing: the host repairs, and the window is then what it was.
 *
 * Source:   Linux tcp_bbr.c (6.12); draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2, §4.3.3.
 * Deviates: the largest rate of 10 rounds is exact; Linux keeps three of its samples.
 * Deviates: there is no PROBE_RTT within start-up, so the smallest round-trip time never expires.
 * Deviates: a policed rate is not looked for (Linux lt_bw; the draft has none).
 * Deviates: while a loss is repaired the window is the host's (interface.h). Linux conserves packets
 *           for a round, then sends up to twice what is delivered.
 * Deviates: the window is not rounded up to an even number of packets, and while draining not
 *           raised by what ACKs aggregate.
 * Deviates: Drain ends when what is in flight, as it is, is no more than BDP and three quanta (the
 *           draft); Linux takes off what will be delivered before the next packet leaves.
 * Deviates: it ends with the window at what Drain stops at. Linux goes on to PROBE_BW with twice the
 *           BDP, which only a paced sender can have without a burst.
 */
#ifndef RAMP_BBR_H
#define RAMP_BBR_H

#define RAMP_WRITTEN_FOR 2
#include "model.h"
#include "recent.h"
#include "round.h"

#define RAMP_BBR_PARAMETERS(P, N)                                                      \
	P(N, pacing_gain, "1/256", 739, 257, 4096, "Linux bbr_high_gain, 2/ln 2",      \
	  "packets leave at this times the delivery rate")                             \
	P(N, cwnd_gain, "1/256", 739, 257, 4096, "Linux bbr_high_gain",                \
	  "the window is at most this times the delivery rate times the smallest RTT") \
	P(N, drain_gain, "1/256", 88, 1, 256, "Linux bbr_drain_gain, ln 2/2",          \
	  "pacing once the pipe is full")                                              \
	P(N, full_bw_thresh, "percent", 125, 101, 1000, "Linux bbr_full_bw_thresh",    \
	  "a round's rate must reach this share of the last best to count as growth")  \
	P(N, full_bw_cnt, "count", 3, 1, 100, "Linux bbr_full_bw_cnt",                 \
	  "rounds without growth after which the pipe is full")

RAMP_PARAMETERS(BBR)

/* Linux bbr_bw_rtts, CYCLE_LEN + 2: what is older counts no more. */
#define BBR_RATE_ROUNDS 10u
/* Below 1.2 Mbit/s packets leave one by one (Linux bbr_min_tso_rate). */
#define BBR_SINGLY_BELOW 150000u
/* Linux bbr_tso_segs_goal: GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER. */
#define BBR_QUANTUM_MAX 65215u

struct ramp_bbr {
	struct ramp_growth growth;
	struct ramp_round round;
	struct ramp_model model;
	struct ramp_recent rate; /* B/s, of the last rounds */
	ramp_u64 full_bytes_per_s;
	ramp_u64 sent_bytes; /* when something was last delivered; 0: a repair has ended since */
	ramp_u32 full_rounds;
	ramp_u32 pacing_gain;
	ramp_u32 cwnd_gain;
	ramp_u32 drain_gain;
	ramp_u32 thresh_percent;
	ramp_u32 full_rounds_needed;
};

/* bbr_tso_segs_generic: 1/1024 s at the pacing rate leaves at once, two packets at least. */
RAMP_FN void ramp_bbr_space(ramp_u64 rate, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_u64 least = rate < BBR_SINGLY_BELOW ? mss_bytes : 2 * (ramp_u64)mss_bytes;

	d->pacing_bytes_per_s = rate;
	d->pacing_burst_bytes = (ramp_u32)ramp_min(
		ramp_max(ramp_min(rate >> 10, BBR_QUANTUM_MAX), least), 0xffffffffu);
}

/* bbr_init_pacing_rate_from_rtt */
RAMP_FN ramp_u64 ramp_bbr_first_rate(const struct ramp_bbr *s, ramp_u64 cwnd_bytes, ramp_u32 rtt_us)
{
	ramp_u64 rate = ramp_model_first_rate(cwnd_bytes, rtt_us);

	return ramp_model_below(ramp_model_rate(rate, s->pacing_gain));
}

RAMP_FN void ramp_bbr_init(struct ramp_bbr *s, const struct ramp_config *c, struct ramp_decision *d)
{
	ramp_model_begin(&s->model, c, &s->growth, d);
	s->pacing_gain = ramp_model_gain(ramp_parameter(c, BBR, pacing_gain), 256);
	s->cwnd_gain = ramp_model_gain(ramp_parameter(c, BBR, cwnd_gain), 256);
	s->drain_gain = ramp_model_gain(ramp_parameter(c, BBR, drain_gain), 256);
	s->thresh_percent = (ramp_u32)ramp_parameter(c, BBR, full_bw_thresh);
	s->full_rounds_needed = (ramp_u32)ramp_parameter(c, BBR, full_bw_cnt);
	ramp_bbr_space(ramp_bbr_first_rate(s, d->cwnd_bytes, c->handshake_rtt_us), c->mss_bytes, d);
}

/* BDP and three quanta: of the sender's queue, of its segmentation, and of delayed ACKs. */
RAMP_FN ramp_u64 ramp_bbr_inflight(const struct ramp_bbr *s, ramp_u32 gain,
				   const struct ramp_decision *d)
{
	ramp_u64 window = ramp_model_window(&s->model, s->rate.value, s->growth.least_rtt_us, gain);

	return window + 3 * (ramp_u64)d->pacing_burst_bytes;
}

/* bbr_check_full_bw_reached: at the first ACK of a round whose rate is the path's. */
RAMP_FN void ramp_bbr_end_round(struct ramp_bbr *s, struct ramp_decision *d)
{
	ramp_u64 needed = s->full_bytes_per_s * s->thresh_percent / 100;

	if (s->rate.value >= needed) {
		s->full_bytes_per_s = s->rate.value;
		s->full_rounds = 0;
		return;
	}
	if (++s->full_rounds < s->full_rounds_needed)
		return;
	d->evidence = s->rate.value;
	d->limit = needed;
	d->exit_reason = RAMP_EXIT_PLATEAU;
	d->phase = RAMP_LEAVING;
}

/* bbr_update_bw. Without a rate there is no round either. */
RAMP_FN void ramp_bbr_sample(struct ramp_bbr *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 rate = ramp_min(a->delivery_bytes_per_s, MODEL_RATE_MAX);
	ramp_u32 paused = a->flags & RAMP_RATE_APP_LIMITED, begins;

	if (!rate)
		return;
	begins = ramp_round_advance(&s->round, a);
	if (begins)
		ramp_recent_advance(&s->rate, BBR_RATE_ROUNDS);
	if (!paused || rate >= s->rate.value)
		ramp_recent_add(&s->rate, rate);
	if (begins && !paused && d->phase == RAMP_STARTUP)
		ramp_bbr_end_round(s, d);
}

/* bbr_set_pacing_rate: as long as the pipe is not full the rate only rises. */
RAMP_FN void ramp_bbr_pace(struct ramp_bbr *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u32 draining = d->phase == RAMP_LEAVING;
	ramp_u64 before = d->pacing_bytes_per_s;
	ramp_u32 gain = draining ? s->drain_gain : s->pacing_gain;
	ramp_u64 rate = ramp_model_below(ramp_model_rate(s->rate.value, gain));

	if (!s->model.timed && a->rtt_us) {
		s->model.timed = 1;
		before = ramp_bbr_first_rate(s, d->cwnd_bytes, a->rtt_us);
	}
	ramp_bbr_space(draining ? rate : ramp_max(rate, before), a->mss_bytes, d);
}

RAMP_FN void ramp_bbr_on_ack(struct ramp_bbr *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 cwnd, target;

	if (d->phase == RAMP_DONE)
		return;
	if (a->acked_bytes)
		s->sent_bytes = a->sent_bytes;
	ramp_sample_rtt(&s->growth, a);
	ramp_bbr_sample(s, a, d);
	if (d->phase == RAMP_LEAVING) {
		target = ramp_bbr_inflight(s, MODEL_ONE, d);
		if (ramp_sub(a->in_flight_bytes, a->acked_bytes) <= target) {
			ramp_model_hand_over(target, a->mss_bytes, d);
			return;
		}
	}
	ramp_bbr_pace(s, a, d);
	if (s->model.paused)
		ramp_model_restore(&s->model, a->mss_bytes, d);
	cwnd = d->cwnd_bytes;
	target = ramp_bbr_inflight(s, s->cwnd_gain, d);
	if (d->phase == RAMP_LEAVING)
		cwnd = ramp_min(ramp_add(cwnd, a->acked_bytes), target);
	else if (cwnd < target || a->delivered_bytes < s->model.initial_window_bytes)
		cwnd = ramp_add(cwnd, a->acked_bytes);
	cwnd = ramp_max(cwnd, MODEL_LEAST_PACKETS * (ramp_u64)a->mss_bytes);
	ramp_hold(cwnd, a->mss_bytes, d);
}

/*
 * bbr_set_cwnd_to_recover_or_restore: a repair begins a round, but one that follows another with the
 * same ACK goes unnoticed. bbr_set_state, bbr_undo_cwnd: after a timeout or a needless reduction the
 * pipe is judged anew.
 */
RAMP_FN void ramp_bbr_on_event(struct ramp_bbr *s, const struct ramp_event *e,
			       struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_model_on_event(&s->model, e, d);
	if (e->kind == RAMP_LOSS && s->sent_bytes)
		s->round.end_bytes = s->sent_bytes;
	if (e->kind == RAMP_RECOVERED)
		s->sent_bytes = 0;
	if (e->kind == RAMP_TIMEOUT || e->kind == RAMP_UNDONE)
		s->full_bytes_per_s = 0;
	if (e->kind == RAMP_UNDONE)
		s->full_rounds = 0;
}

#endif
