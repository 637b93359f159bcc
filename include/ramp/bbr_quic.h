/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * BBRv2's Startup as QUIC stacks have it: pace at 2.885 times the delivery rate with a window of twice
 * the BDP until three rounds have not raised the rate by a quarter, a round without such growth has
 * lost too much, or, as an option, kept a queue throughout; then drain.
 *
 *     startup --three rounds without a quarter more;----> leaving (drain) --in flight <= BDP--> done
 *               one without it that lost over 2 % in eight
 *               events, or as many as asked with a queue
 *
 * Source:   google/quiche quic/core/congestion_control/bbr2_startup.cc, bbr2_misc.cc, bbr2_sender.cc,
 *           bbr2_drain.cc [GQ]; cloudflare/quiche recovery/gcongestion/bbr2 [CQ] has the same rules.
 * Deviates: a round's losses are compared with what was in flight when the round before began; the
 *           source takes what was when the newest packet left, which is the same round's first.
 * Deviates: loss events are ACKs that find losses, and count with the next ACK.
 * Deviates: a round's end without a rate sample is not judged.
 * Deviates: while a loss is repaired the window is the host's (interface.h); the source has no repair.
 * Deviates: while draining the window has no allowance for ACKs that come in batches.
 * Deviates: it ends with the window at what Drain stops at; the source goes on to PROBE_BW.
 * Deviates: connection options other than those in the table are not offered, nor Cloudflare's
 *           detector of RTTs that jump.
 */
#ifndef RAMP_BBR_QUIC_H
#define RAMP_BBR_QUIC_H

#define RAMP_WRITTEN_FOR 2
#include "model.h"
#include "round.h"

#define RAMP_BBR_QUIC_PARAMETERS(P, N)                                                               \
	P(N, pacing_gain, "1/1000", 2885, 1010, 16000, "[GQ] kInitialPacingGain; BBQ1: 2773",        \
	  "packets leave at this times the delivery rate")                                           \
	P(N, cwnd_gain, "1/1000", 2000, 1010, 16000, "[GQ] kDerivedDefaultCwndGain; BBQ2: 2885",     \
	  "the window is at most this times the delivery rate times the smallest RTT")               \
	P(N, full_bw_thresh, "percent", 125, 101, 1000, "[GQ] full_bw_threshold",                    \
	  "the best rate must reach this share of what it was to count as growth")                   \
	P(N, full_bw_rounds, "count", 3, 1, 100, "[GQ] startup_full_bw_rounds; 1RTT: 1, 2RTT: 2",    \
	  "rounds without growth after which the pipe is full")                                      \
	P(N, loss_thresh, "1/1000", 20, 0, 1000, "[GQ] quic_bbr2_default_loss_threshold",            \
	  "a round without growth that loses more than this share ends start-up")                    \
	P(N, full_loss_count, "count", 8, 1, 1000, "[GQ] quic_bbr2_default_startup_full_loss_count", \
	  "if losses were found this often in it")                                                   \
	P(N, queue_rounds, "count", 0, 0, 100, "[GQ] max_startup_queue_rounds: 0",                   \
	  "rounds without growth that end it if they kept a queue; 0: any")                          \
	P(N, queue_gain, "1/1000", 1750, 1000, 16000, "[CQ] check_persistent_queue(1.75)",           \
	  "a queue is what never lets less be in flight than this times the BDP")                    \
	P(N, initial_rtt_us, "us", 100000, 1, 10000000, "[GQ] kInitialRttMs",                        \
	  "the round-trip time as long as none is known")

RAMP_PARAMETERS(BBR_QUIC)

/* [GQ] QueueingThresholdExtraBytes */
#define BBR_QUIC_EXTRA_PACKETS 2u

struct ramp_bbr_quic {
	struct ramp_growth growth;
	struct ramp_round round;
	struct ramp_model model;
	ramp_u64 max_bytes_per_s;
	ramp_u64 full_bytes_per_s;   /* the best rate when it last grew */
	ramp_u64 lost_bytes;         /* ever, as of the last ACK */
	ramp_u64 round_lost_bytes;   /* ever, when the round began */
	ramp_u64 round_flight_bytes; /* in flight then */
	ramp_u64 least_flight_bytes; /* in this round; 0: no ACK yet */
	ramp_u64 loss_parts;
	ramp_u32 loss_events;        /* in this round */
	ramp_u32 loss_events_needed;
	ramp_u32 full_rounds;
	ramp_u32 full_rounds_needed;
	ramp_u32 queue_rounds;
	ramp_u32 queue_rounds_needed;
	ramp_u32 thresh_percent;
	ramp_u32 pacing_gain;
	ramp_u32 cwnd_gain;
	ramp_u32 drain_gain;
	ramp_u32 queue_gain;
	ramp_u32 acked;              /* an ACK has come */
};

RAMP_FN void ramp_bbr_quic_init(struct ramp_bbr_quic *s, const struct ramp_config *c,
				struct ramp_decision *d)
{
	ramp_u64 gain = ramp_parameter(c, BBR_QUIC, pacing_gain);

	ramp_model_begin(&s->model, c, &s->growth, d);
	s->pacing_gain = ramp_model_gain(gain, 1000);
	s->drain_gain = (ramp_u32)((ramp_u64)MODEL_ONE * 1000 / gain);
	s->cwnd_gain = ramp_model_gain(ramp_parameter(c, BBR_QUIC, cwnd_gain), 1000);
	s->queue_gain = ramp_model_gain(ramp_parameter(c, BBR_QUIC, queue_gain), 1000);
	s->thresh_percent = (ramp_u32)ramp_parameter(c, BBR_QUIC, full_bw_thresh);
	s->full_rounds_needed = (ramp_u32)ramp_parameter(c, BBR_QUIC, full_bw_rounds);
	s->loss_parts = ramp_parameter(c, BBR_QUIC, loss_thresh);
	s->loss_events_needed = (ramp_u32)ramp_parameter(c, BBR_QUIC, full_loss_count);
	s->queue_rounds_needed = (ramp_u32)ramp_parameter(c, BBR_QUIC, queue_rounds);
	if (!s->growth.least_rtt_us)
		s->growth.least_rtt_us = (ramp_u32)ramp_parameter(c, BBR_QUIC, initial_rtt_us);
	d->pacing_bytes_per_s =
		ramp_model_rate(ramp_model_first_rate(d->cwnd_bytes, s->growth.least_rtt_us),
				s->pacing_gain);
}

RAMP_FN ramp_u64 ramp_bbr_quic_window(const struct ramp_bbr_quic *s, ramp_u32 gain,
				      ramp_u32 mss_bytes)
{
	return ramp_max(ramp_model_window(&s->model, s->max_bytes_per_s, s->growth.least_rtt_us,
					  gain),
			MODEL_LEAST_PACKETS * (ramp_u64)mss_bytes);
}

RAMP_FN void ramp_bbr_quic_full(ramp_u32 reason, ramp_u64 evidence, ramp_u64 limit,
				struct ramp_decision *d)
{
	d->evidence = evidence;
	d->limit = limit;
	d->exit_reason = reason;
	d->phase = RAMP_LEAVING;
}

/* HasBandwidthGrowth; the pipe is not found full by a sample that holds a pause. */
RAMP_FN ramp_u32 ramp_bbr_quic_grows(struct ramp_bbr_quic *s, ramp_u32 paused,
				     struct ramp_decision *d)
{
	ramp_u64 needed = s->full_bytes_per_s * s->thresh_percent / 100;

	if (s->max_bytes_per_s >= needed) {
		s->full_bytes_per_s = s->max_bytes_per_s;
		s->full_rounds = 0;
		return 1;
	}
	if (s->full_rounds < s->full_rounds_needed)
		s->full_rounds++;
	if (s->full_rounds >= s->full_rounds_needed && !paused)
		ramp_bbr_quic_full(RAMP_EXIT_PLATEAU, s->max_bytes_per_s, needed, d);
	return 0;
}

/* CheckPersistentQueue */
RAMP_FN void ramp_bbr_quic_queue(struct ramp_bbr_quic *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	ramp_u32 rtt_us = s->growth.least_rtt_us;
	ramp_u64 bdp = ramp_model_window(&s->model, s->max_bytes_per_s, rtt_us, MODEL_ONE);
	ramp_u64 extra = BBR_QUIC_EXTRA_PACKETS * (ramp_u64)a->mss_bytes;
	ramp_u64 limit = ramp_max(ramp_model_window(&s->model, s->max_bytes_per_s, rtt_us,
						    s->queue_gain),
				  ramp_add(bdp, extra));

	if (s->least_flight_bytes < limit) {
		s->queue_rounds = 0;
		return;
	}
	if (++s->queue_rounds >= s->queue_rounds_needed)
		ramp_bbr_quic_full(RAMP_EXIT_BANDWIDTH, s->least_flight_bytes, limit, d);
}

/* CheckExcessiveLosses */
RAMP_FN void ramp_bbr_quic_losses(const struct ramp_bbr_quic *s, struct ramp_decision *d)
{
	ramp_u64 lost = ramp_sub(s->lost_bytes, s->round_lost_bytes);
	ramp_u64 limit = ramp_mul(s->round_flight_bytes, s->loss_parts) / 1000;

	if (s->loss_events >= s->loss_events_needed && s->round_flight_bytes && lost > limit)
		ramp_bbr_quic_full(RAMP_EXIT_LOSS, lost, limit, d);
}

/* Bbr2StartupMode::OnCongestionEvent at the end of a round. */
RAMP_FN void ramp_bbr_quic_judge(struct ramp_bbr_quic *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	ramp_u32 paused = a->flags & RAMP_RATE_APP_LIMITED;

	if (ramp_bbr_quic_grows(s, paused, d))
		return;
	if (d->phase == RAMP_STARTUP && s->queue_rounds_needed)
		ramp_bbr_quic_queue(s, a, d);
	if (d->phase == RAMP_STARTUP && !paused)
		ramp_bbr_quic_losses(s, d);
}

RAMP_FN void ramp_bbr_quic_update(struct ramp_bbr_quic *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 flight = ramp_max(ramp_sub(a->in_flight_bytes, a->acked_bytes), 1);
	ramp_u64 rate = ramp_min(a->delivery_bytes_per_s, MODEL_RATE_MAX);

	ramp_sample_rtt(&s->growth, a);
	if (a->rtt_us && !s->model.timed) {
		s->growth.least_rtt_us = a->rtt_us;
		s->model.timed = 1;
	}
	s->max_bytes_per_s = ramp_max(s->max_bytes_per_s, rate);
	s->loss_events += a->lost_bytes > s->lost_bytes;
	s->lost_bytes = ramp_max(s->lost_bytes, a->lost_bytes);
	if (!s->least_flight_bytes || flight < s->least_flight_bytes)
		s->least_flight_bytes = flight;
	if (!ramp_round_advance(&s->round, a))
		return;
	if (d->phase == RAMP_STARTUP && rate)
		ramp_bbr_quic_judge(s, a, d);
	s->round_lost_bytes = s->lost_bytes; /* OnNewRound */
	s->round_flight_bytes = a->in_flight_bytes;
	s->least_flight_bytes = 0;
	s->loss_events = 0;
}

/* UpdatePacingRate: after the first ACK the window in a round trip; then it only rises. */
RAMP_FN void ramp_bbr_quic_pace(struct ramp_bbr_quic *s, struct ramp_decision *d)
{
	ramp_u32 draining = d->phase == RAMP_LEAVING;
	ramp_u64 rate;

	if (!s->max_bytes_per_s)
		return;
	if (!s->acked) {
		s->acked = 1;
		d->pacing_bytes_per_s = ramp_max(
			ramp_model_first_rate(d->cwnd_bytes, s->growth.least_rtt_us), 1);
		return;
	}
	rate = ramp_model_rate(s->max_bytes_per_s, draining ? s->drain_gain : s->pacing_gain);
	d->pacing_bytes_per_s = draining ? rate : ramp_max(rate, d->pacing_bytes_per_s);
}

/* UpdateCongestionWindow */
RAMP_FN void ramp_bbr_quic_open(struct ramp_bbr_quic *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 target = ramp_bbr_quic_window(s, s->cwnd_gain, a->mss_bytes), cwnd;

	if (s->model.paused)
		ramp_model_restore(&s->model, a->mss_bytes, d);
	cwnd = d->cwnd_bytes;
	if (d->phase == RAMP_LEAVING)
		cwnd = ramp_min(ramp_add(cwnd, a->acked_bytes), target);
	else if (cwnd < target || cwnd < ramp_mul(s->model.initial_window_bytes, 2))
		cwnd = ramp_add(cwnd, a->acked_bytes);
	ramp_hold(ramp_max(cwnd, MODEL_LEAST_PACKETS * (ramp_u64)a->mss_bytes), a->mss_bytes, d);
}

RAMP_FN void ramp_bbr_quic_on_ack(struct ramp_bbr_quic *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 target;

	if (d->phase == RAMP_DONE)
		return;
	ramp_bbr_quic_update(s, a, d);
	if (d->phase == RAMP_LEAVING) {
		target = ramp_bbr_quic_window(s, MODEL_ONE, a->mss_bytes);
		if (ramp_sub(a->in_flight_bytes, a->acked_bytes) <= target) {
			ramp_model_hand_over(target, a->mss_bytes, d);
			return;
		}
	}
	ramp_bbr_quic_pace(s, d);
	ramp_bbr_quic_open(s, a, d);
}

RAMP_FN void ramp_bbr_quic_on_event(struct ramp_bbr_quic *s, const struct ramp_event *e,
				    struct ramp_decision *d)
{
	if (d->phase != RAMP_DONE)
		ramp_model_on_event(&s->model, e, d);
}

#endif
