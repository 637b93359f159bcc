/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * BBR's Startup, version 3: pace at 2.77 times the delivery rate with a window of twice the BDP until
 * three rounds have not raised the rate by a quarter, or a round has lost too much; then drain.
 *
 *     startup --three rounds without a quarter more,----> leaving (drain) --in flight <= BDP,--> done
 *        ^      a round of repair with over 2 % lost          |              three rounds
 *        `--------------- undone, if by loss -----------------+
 *
 * Source:   draft-ietf-ccwg-bbr-06 §5.3.1, §5.3.2, §5.5, §5.6.
 * Deviates: lost ranges are counted as ACKs that find losses, as Linux's BBRv3 counts them; the
 *           contract tells bytes.
 * Deviates: a round's losses are compared with what was in flight when the round began; the draft
 *           takes the newest packet's.
 * Deviates: without SACK the same rule holds; the draft leaves on any loss then.
 * Deviates: a round's first ACK without a rate sample does not count as a round.
 * Deviates: there is no ProbeRTT within start-up, so the smallest round-trip time never expires.
 * Deviates: while a loss is repaired the window is the host's (interface.h), and losses while
 *           draining do not lower the model (the draft's short-term bounds).
 * Deviates: after a pause the interval of ACK aggregation begins with the first ACK, not with the
 *           first packet.
 * Deviates: it ends with the window at what Drain stops at; the draft goes on to ProbeBW_DOWN with
 *           twice the BDP, which only a paced sender can have without a burst.
 */
#ifndef RAMP_BBR3_H
#define RAMP_BBR3_H

#define RAMP_WRITTEN_FOR 2
#include "model.h"
#include "recent.h"
#include "round.h"

#define RAMP_BBR3_PARAMETERS(P, N)                                                             \
	P(N, pacing_gain, "1/100", 277, 101, 1600, "draft §5.3.1.1 StartupPacingGain, 4 ln 2", \
	  "packets leave at this times the delivery rate")                                     \
	P(N, cwnd_gain, "1/100", 200, 101, 1600, "draft §5.3.1.1 DefaultCwndGain",             \
	  "the window is at most this times the delivery rate times the smallest RTT")         \
	P(N, drain_gain, "1/100", 50, 1, 100, "draft §5.3.2 DrainPacingGain",                  \
	  "pacing once the pipe is full")                                                      \
	P(N, full_bw_thresh, "percent", 125, 101, 1000, "draft §5.3.1.2",                      \
	  "a round's rate must reach this share of the last best to count as growth")          \
	P(N, full_bw_cnt, "count", 3, 1, 100, "draft §5.3.1.2",                                \
	  "rounds without growth after which the pipe is full")                                \
	P(N, loss_thresh, "percent", 2, 0, 100, "draft §5.3.1.3 LossThresh",                   \
	  "a round that loses more than this share may end start-up")                          \
	P(N, full_loss_cnt, "count", 6, 1, 1000, "draft §5.3.1.3 BBRStartupFullLossCnt",       \
	  "and only if losses were found this often in it")                                    \
	P(N, drain_rounds, "count", 3, 1, 100, "draft §5.3.2",                                 \
	  "rounds after which draining ends in any case")

RAMP_PARAMETERS(BBR3)

/* Draft §5.5.9: rounds that ACK aggregation is remembered, while starting up and after. */
#define BBR3_EXTRA_STARTING 1u
#define BBR3_EXTRA_ROUNDS 10u
/* Draft §5.6.3 */
#define BBR3_QUANTUM_MAX 65536u

struct ramp_bbr3 {
	struct ramp_growth growth;
	struct ramp_round round;
	struct ramp_round loss_round;
	struct ramp_model model;
	struct ramp_recent extra;    /* bytes acknowledged beyond what was expected */
	ramp_u64 max_bytes_per_s;
	ramp_u64 bytes_per_s;        /* the model's, as of the last ACK */
	ramp_u64 full_bytes_per_s;
	ramp_u64 extra_since_ns;
	ramp_u64 extra_delivered_bytes;
	ramp_u64 lost_bytes;         /* ever, as of the last ACK */
	ramp_u64 round_lost_bytes;   /* ever, when the loss round began */
	ramp_u64 round_flight_bytes; /* in flight then */
	ramp_u32 loss_in_round;
	ramp_u32 loss_events;
	ramp_u32 rounds;
	ramp_u32 drain_round;
	ramp_u32 full_rounds;
	ramp_u32 pacing_gain;
	ramp_u32 cwnd_gain;
	ramp_u32 drain_gain;
	ramp_u32 thresh_percent;
	ramp_u32 full_rounds_needed;
	ramp_u32 loss_percent;
	ramp_u32 loss_events_needed;
	ramp_u32 drain_rounds;
	ramp_u32 reserved;
};

/* SetSendQuantum: a millisecond at the pacing rate leaves at once, two packets at least. */
RAMP_FN void ramp_bbr3_space(ramp_u64 rate, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_u64 quantum = ramp_max(ramp_min(rate / 1000, BBR3_QUANTUM_MAX),
				    2 * (ramp_u64)mss_bytes);

	d->pacing_bytes_per_s = rate;
	d->pacing_burst_bytes = (ramp_u32)ramp_min(quantum, 0xffffffffu);
}

/* InitPacingRate */
RAMP_FN ramp_u64 ramp_bbr3_first_rate(const struct ramp_bbr3 *s, ramp_u64 cwnd_bytes,
				      ramp_u32 rtt_us)
{
	return ramp_model_rate(ramp_model_first_rate(cwnd_bytes, rtt_us), s->pacing_gain);
}

RAMP_FN void ramp_bbr3_init(struct ramp_bbr3 *s, const struct ramp_config *c,
			    struct ramp_decision *d)
{
	ramp_model_begin(&s->model, c, &s->growth, d);
	s->pacing_gain = ramp_model_gain(ramp_parameter(c, BBR3, pacing_gain), 100);
	s->cwnd_gain = ramp_model_gain(ramp_parameter(c, BBR3, cwnd_gain), 100);
	s->drain_gain = ramp_model_gain(ramp_parameter(c, BBR3, drain_gain), 100);
	s->thresh_percent = (ramp_u32)ramp_parameter(c, BBR3, full_bw_thresh);
	s->full_rounds_needed = (ramp_u32)ramp_parameter(c, BBR3, full_bw_cnt);
	s->loss_percent = (ramp_u32)ramp_parameter(c, BBR3, loss_thresh);
	s->loss_events_needed = (ramp_u32)ramp_parameter(c, BBR3, full_loss_cnt);
	s->drain_rounds = (ramp_u32)ramp_parameter(c, BBR3, drain_rounds);
	ramp_bbr3_space(ramp_bbr3_first_rate(s, d->cwnd_bytes, c->handshake_rtt_us), c->mss_bytes,
			d);
}

/* QuantizationBudget */
RAMP_FN ramp_u64 ramp_bbr3_budget(ramp_u64 window, ramp_u32 mss_bytes, const struct ramp_decision *d)
{
	window = ramp_max(window, 3 * (ramp_u64)d->pacing_burst_bytes);
	return ramp_max(window, MODEL_LEAST_PACKETS * (ramp_u64)mss_bytes);
}

RAMP_FN ramp_u64 ramp_bbr3_window(const struct ramp_bbr3 *s, ramp_u32 gain)
{
	return ramp_model_window(&s->model, s->bytes_per_s, s->growth.least_rtt_us, gain);
}

RAMP_FN void ramp_bbr3_drain(struct ramp_bbr3 *s, ramp_u32 reason, struct ramp_decision *d)
{
	s->drain_round = s->rounds;
	d->exit_reason = reason;
	d->phase = RAMP_LEAVING;
}

/* NoteLoss: the first loss of a round begins the round over which losses are counted. */
RAMP_FN void ramp_bbr3_note_loss(struct ramp_bbr3 *s, const struct ramp_ack *a,
				 const struct ramp_decision *d)
{
	if (!s->loss_in_round) {
		ramp_round_start(&s->loss_round, a);
		s->loss_in_round = 1;
		s->round_lost_bytes = s->lost_bytes;
		s->round_flight_bytes = a->in_flight_bytes;
		if (d->phase != RAMP_STARTUP)
			s->growth.undo = 0; /* SaveStateUponLoss */
	}
	s->loss_events++;
	s->lost_bytes = a->lost_bytes;
}

/* CheckStartupHighLoss, at the end of a round with losses. */
RAMP_FN void ramp_bbr3_judge_loss(struct ramp_bbr3 *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 lost = s->lost_bytes - s->round_lost_bytes;
	ramp_u64 limit = ramp_mul(s->round_flight_bytes, s->loss_percent) / 100;

	if (d->phase != RAMP_STARTUP || !(a->flags & RAMP_RECOVERING) ||
	    s->loss_events < s->loss_events_needed || lost <= limit)
		return;
	s->growth.undo = RAMP_STARTUP + 1;
	d->evidence = lost;
	d->limit = limit;
	ramp_bbr3_drain(s, RAMP_EXIT_LOSS, d);
}

/* UpdateLatestDeliverySignals, as far as losses go. Returns 1 if a loss round is over. */
RAMP_FN ramp_u32 ramp_bbr3_watch_loss(struct ramp_bbr3 *s, const struct ramp_ack *a,
				      const struct ramp_decision *d)
{
	if (a->lost_bytes > s->lost_bytes)
		ramp_bbr3_note_loss(s, a, d);
	return ramp_round_advance(&s->loss_round, a);
}

/* CheckFullBWReached */
RAMP_FN void ramp_bbr3_end_round(struct ramp_bbr3 *s, ramp_u64 rate, struct ramp_decision *d)
{
	ramp_u64 needed = s->full_bytes_per_s * s->thresh_percent / 100;

	if (rate >= needed) {
		s->full_bytes_per_s = rate;
		s->full_rounds = 0;
		return;
	}
	if (++s->full_rounds < s->full_rounds_needed)
		return;
	d->evidence = rate;
	d->limit = needed;
	ramp_bbr3_drain(s, RAMP_EXIT_PLATEAU, d);
}

/* UpdateACKAggregation */
RAMP_FN void ramp_bbr3_aggregate(struct ramp_bbr3 *s, const struct ramp_ack *a,
				 const struct ramp_decision *d)
{
	ramp_u64 us = ramp_sub(a->now_ns, s->extra_since_ns) / 1000;
	ramp_u64 expected = ramp_mul(s->bytes_per_s, us) / 1000000;

	if (s->extra_delivered_bytes <= expected) {
		s->extra_delivered_bytes = 0;
		s->extra_since_ns = a->now_ns;
		expected = 0;
	}
	s->extra_delivered_bytes = ramp_add(s->extra_delivered_bytes, a->acked_bytes);
	ramp_recent_add(&s->extra,
			ramp_min(s->extra_delivered_bytes - expected, d->cwnd_bytes));
}

/* SetPacingRate: as long as the pipe is not full the rate only rises. */
RAMP_FN void ramp_bbr3_pace(struct ramp_bbr3 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u32 draining = d->phase == RAMP_LEAVING;
	ramp_u64 before = d->pacing_bytes_per_s;
	ramp_u32 gain = draining ? s->drain_gain : s->pacing_gain;
	ramp_u64 rate = ramp_model_below(ramp_model_rate(s->bytes_per_s, gain));

	if (!s->model.timed && a->rtt_us) {
		s->model.timed = 1;
		before = ramp_bbr3_first_rate(s, d->cwnd_bytes, a->rtt_us);
	}
	ramp_bbr3_space(draining ? rate : ramp_max(rate, before), a->mss_bytes, d);
}

/* SetCwnd */
RAMP_FN void ramp_bbr3_open(struct ramp_bbr3 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 cwnd, most = ramp_add(ramp_bbr3_window(s, s->cwnd_gain), s->extra.value);

	if (s->model.paused)
		ramp_model_restore(&s->model, a->mss_bytes, d);
	cwnd = d->cwnd_bytes;
	most = ramp_bbr3_budget(most, a->mss_bytes, d);
	if (d->phase == RAMP_LEAVING)
		cwnd = ramp_min(ramp_add(cwnd, a->acked_bytes), most);
	else if (cwnd < most || a->delivered_bytes < s->model.initial_window_bytes)
		cwnd = ramp_add(cwnd, a->acked_bytes);
	cwnd = ramp_max(cwnd, MODEL_LEAST_PACKETS * (ramp_u64)a->mss_bytes);
	ramp_hold(cwnd, a->mss_bytes, d);
}

/* UpdateModelAndState up to CheckStartupDone. */
RAMP_FN void ramp_bbr3_update(struct ramp_bbr3 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 rate = ramp_min(a->delivery_bytes_per_s, MODEL_RATE_MAX);
	ramp_u32 paused = a->flags & RAMP_RATE_APP_LIMITED;
	ramp_u32 loss_round = ramp_bbr3_watch_loss(s, a, d);
	ramp_u32 begins = ramp_round_advance(&s->round, a);

	if (begins) {
		s->rounds++;
		ramp_recent_advance(&s->extra, d->phase == RAMP_STARTUP ? BBR3_EXTRA_STARTING : BBR3_EXTRA_ROUNDS);
	}
	/* One below the maximum says nothing, limited by the application or not. */
	s->max_bytes_per_s = ramp_max(s->max_bytes_per_s, rate);
	ramp_bbr3_aggregate(s, a, d);
	if (begins && rate && !paused && d->phase == RAMP_STARTUP)
		ramp_bbr3_end_round(s, rate, d);
	if (loss_round) {
		ramp_bbr3_judge_loss(s, a, d);
		s->loss_in_round = 0;
		s->loss_events = 0;
		s->round_lost_bytes = s->lost_bytes;
		s->round_flight_bytes = a->in_flight_bytes;
	}
}

RAMP_FN void ramp_bbr3_on_ack(struct ramp_bbr3 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 target;

	if (d->phase == RAMP_DONE)
		return;
	ramp_bbr3_update(s, a, d);
	if (d->phase == RAMP_LEAVING) { /* CheckDrainDone */
		target = ramp_bbr3_budget(ramp_bbr3_window(s, MODEL_ONE), a->mss_bytes, d);
		if (ramp_sub(a->in_flight_bytes, a->acked_bytes) <= target ||
		    s->rounds > s->drain_round + s->drain_rounds) {
			ramp_model_hand_over(target, a->mss_bytes, d);
			return;
		}
	}
	ramp_sample_rtt(&s->growth, a); /* UpdateMinRTT */
	s->bytes_per_s = s->max_bytes_per_s; /* BoundBWForModel */
	ramp_bbr3_pace(s, a, d);
	ramp_bbr3_open(s, a, d);
}

/* HandleSpuriousLossDetection: back to where losses ended start-up. */
RAMP_FN void ramp_bbr3_undo(struct ramp_bbr3 *s, const struct ramp_event *e, struct ramp_decision *d)
{
	s->full_bytes_per_s = 0;
	s->full_rounds = 0;
	if (!s->growth.undo)
		return;
	s->growth.undo = 0;
	ramp_arm(d);
	ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
	ramp_bbr3_space(ramp_model_below(ramp_model_rate(s->bytes_per_s, s->pacing_gain)),
			e->mss_bytes, d);
}

RAMP_FN void ramp_bbr3_on_event(struct ramp_bbr3 *s, const struct ramp_event *e,
				struct ramp_decision *d)
{
	if (d->phase != RAMP_DONE || (e->kind == RAMP_UNDONE && s->growth.undo))
		ramp_model_on_event(&s->model, e, d);
	if (e->kind == RAMP_UNDONE)
		ramp_bbr3_undo(s, e, d);
	else if (ramp_is_congestion(e))
		s->growth.undo = 0;
}

#endif
