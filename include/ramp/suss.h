/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SUSS: where HyStart would still let a round trip later double the window, quadruple it now.
 *
 * The packets that the ACKs of a round trip release as ever are its blue ones. When their own train
 * of ACKs has come, its length foretells the next trains. If those are short enough, as many red
 * packets again, and again as many, follow, paced over the rest of the round trip. HyStart ends it.
 *
 *     startup: doubling <--new round, train too long, RTT up-- quadrupling
 *                 `---blue train short, RTT at its minimum, round 2, 3 or 4---^
 *     startup --ACK train, or RTT above the minimum, at cwnd >= 16--> done --timeout--> startup
 *        `----loss, mark--> done --undone--> startup
 *
 * Source:   the authors' patch of Linux 6.8, tcp_cubic.c [SUSS24].
 * Deviates: red packets follow the blue train at once; the patch waits for half the time that their
 *           share of the round trip leaves, for which there is no timer.
 * Deviates: the window opens to what the red packets need at once, and the rate holds them back; the
 *           patch opens it by two packets with each that leaves.
 * Deviates: a train without a length, or whose ACKs all came at once, foretells nothing, and the
 *           round doubles; the patch divides by zero.
 * Deviates: the first window is the connection's own; the patch takes it for 10 packets.
 * Deviates: it quadruples only where the window is what limits the sender, whatever port it serves
 *           and whatever pacing its host prefers.
 * Deviates: after a timeout HyStart runs alone; the patch goes on with windows of 40 packets and
 *           more.
 */
#ifndef RAMP_SUSS_H
#define RAMP_SUSS_H

#include "hystart.h"
#include "round.h"
#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_SUSS_PARAMETERS(P, N)                                                \
	P(N, suss_max, "count", 3, 0, 16, "[SUSS24] suss_max",                    \
	  "rounds, from the second, that may quadruple")                          \
	P(N, min_rtt_us, "us", 10000, 0, 10000000, "[SUSS24]",                    \
	  "minimum RTT up to which it never quadruples")                          \
	P(N, train_shift, "count", 2, 0, 31, "[SUSS24]",                          \
	  "the first train must be shorter than the minimum RTT over 2 to this")  \
	P(N, rise_shift, "count", 3, 0, 31, "[SUSS24]",                           \
	  "how far the RTT may be up, over 2 to this and shared out over rounds") \
	P(N, low_window, "packets", 16, 0, 100000, "Linux hystart_low_window",    \
	  "window below which HyStart decides nothing")                           \
	P(N, samples, "count", 8, 1, 1000, "Linux HYSTART_MIN_SAMPLES",           \
	  "RTT samples a round needs before its delay is judged")                 \
	P(N, spacing_us, "us", 2000, 0, 1000000, "Linux hystart_ack_delta_us",    \
	  "largest gap between two ACKs of one train")

RAMP_PARAMETERS(SUSS)

#define SUSS_CLOCKED 0u  /* ACKs release packets, back to back */
#define SUSS_PACING 1u   /* red packets leave */
#define SUSS_OFF 2u      /* HyStart alone */

#define SUSS_RED_ACKS 0u  /* of packets that were red when they were sent */
#define SUSS_BLUE_ACKS 1u
#define SUSS_BLUE_ENDED 2u /* with the last ACK */

#define SUSS_ROUNDS_MAX 24u

struct ramp_suss { /* times in us */
	struct ramp_hystart hystart;
	struct ramp_usage usage;
	ramp_u64 first_window_bytes;
	ramp_u64 blue_end_bytes;   /* the blue train is over when this is acknowledged */
	ramp_u64 blue_acked_bytes; /* in this round, but for its last ACK */
	ramp_u64 last_whole;       /* the last round's train, extrapolated, 1/1000 us; 0: none yet */
	ramp_u64 cap_bytes;        /* the window at which HyStart's train ends start-up; 0: none */
	ramp_u64 cap_evidence;
	ramp_u64 cap_limit;
	ramp_u64 rate;             /* of red packets */
	ramp_u64 burst_until_bytes;
	ramp_u32 suss_max;
	ramp_u32 train_shift;
	ramp_u32 rise_shift;
	ramp_u32 least_rtt_us;     /* that it works from */
	ramp_u32 round;            /* 1 before the first ACK */
	ramp_u32 min_rtt_round;    /* in which the minimum RTT last fell */
	ramp_u32 mode;
	ramp_u32 colour;
	ramp_u32 jumps;
	ramp_u32 gave_up;          /* never quadruples again */
	ramp_u32 opened;           /* by this ACK: a round */
	ramp_u32 reserved;
};

RAMP_FN void ramp_suss_pace(const struct ramp_suss *s, struct ramp_decision *d)
{
	ramp_pace_no_more(d);
	if (s->mode == SUSS_CLOCKED)
		d->pacing_bytes_per_s = RAMP_BACK_TO_BACK;
	if (s->mode != SUSS_PACING)
		return;
	d->pacing_bytes_per_s = s->rate;
	d->burst_until_bytes = s->burst_until_bytes;
}

RAMP_FN void ramp_suss_init(struct ramp_suss *s, const struct ramp_config *c,
			    struct ramp_decision *d)
{
	ramp_begin(&s->hystart.growth, c, d);
	s->hystart.version = HYSTART_VERSION_6_14;
	s->hystart.detect = HYSTART_DETECT_TRAIN | HYSTART_DETECT_DELAY;
	s->hystart.low_window_packets = ramp_parameter(c, SUSS, low_window);
	s->hystart.samples = ramp_parameter(c, SUSS, samples);
	s->hystart.spacing = ramp_parameter(c, SUSS, spacing_us);
	s->hystart.eta_shift = 3;
	s->hystart.eta_min = 4000;
	s->hystart.eta_max = 16000;
	s->hystart.ack_delay_max = 1000;
	s->hystart.ack_delay_bytes_us = (ramp_u64)65536 * 4000000;
	s->hystart.tick_ns = 1000;
	s->suss_max = (ramp_u32)ramp_parameter(c, SUSS, suss_max);
	s->train_shift = (ramp_u32)ramp_parameter(c, SUSS, train_shift);
	s->rise_shift = (ramp_u32)ramp_parameter(c, SUSS, rise_shift);
	s->least_rtt_us = (ramp_u32)ramp_parameter(c, SUSS, min_rtt_us);
	s->first_window_bytes = d->cwnd_bytes;
	s->blue_end_bytes = d->cwnd_bytes;
	s->round = 1;
	ramp_suss_pace(s, d);
}

RAMP_FN void ramp_suss_turn_off(struct ramp_suss *s, struct ramp_decision *d)
{
	s->mode = SUSS_OFF;
	ramp_suss_pace(s, d);
}

RAMP_FN ramp_u64 ramp_suss_shift(ramp_u64 value, ramp_u32 bits)
{
	return ramp_mul(value, (ramp_u64)1 << ramp_min(bits, 32));
}

/*
 * suss_speedup: would HyStart's two tests still pass one round later? `train` is the length of the
 * blue train, all of it, in 1/1000 us. 1: quadruple.
 */
RAMP_FN ramp_u32 ramp_suss_foresees(struct ramp_suss *s, ramp_u64 train, struct ramp_decision *d)
{
	ramp_u64 min_rtt = ramp_mul(s->hystart.min_rtt, 1000), rounds, whole;

	if (s->round == 2) {
		if (s->suss_max && s->hystart.min_rtt > s->least_rtt_us &&
		    train < min_rtt >> s->train_shift)
			return 1;
		ramp_suss_turn_off(s, d);
		return 0;
	}
	if (s->round >= s->suss_max + 2)
		return 0;
	/* The train grows as it did since the last: whole^2 / last, a round ahead. */
	whole = ramp_suss_shift(train, s->round - 2);
	if (ramp_mul(whole, whole) > ramp_mul(min_rtt, s->last_whole))
		return 0;
	/* The RTT goes on rising as it did since its minimum. */
	rounds = s->round - s->min_rtt_round;
	if (!s->hystart.round_rtt)
		return 0;
	return ramp_mul(s->hystart.round_rtt, rounds + 1) <=
		ramp_add(ramp_mul(s->hystart.min_rtt, rounds + 1),
			 ramp_mul(s->hystart.min_rtt, rounds) >> s->rise_shift);
}

/* The window and the rate for the red packets. */
RAMP_FN void ramp_suss_jump(struct ramp_suss *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 blue = ramp_suss_shift(s->first_window_bytes, s->round - 1);
	ramp_u64 red = ramp_sub(ramp_suss_shift(blue, s->round - 1), blue);
	ramp_u64 red_acked = ramp_sub(ramp_suss_shift(blue / 2, s->round - 2), blue / 2);
	ramp_u64 min_rtt = ramp_mul(s->hystart.min_rtt, 1000);
	ramp_u64 share = min_rtt >> ramp_min(s->round - 1, 63);

	s->mode = SUSS_PACING;
	s->jumps++;
	s->rate = ramp_max(ramp_min(ramp_mul_div(red, 1000000000, ramp_max(min_rtt - share, 1)),
				    RAMP_BACK_TO_BACK - 1),
			   1);
	/* What this ACK itself releases is still blue. */
	s->burst_until_bytes = ramp_add(a->sent_bytes, ramp_mul(a->acked_bytes, 2));
	ramp_suss_pace(s, d);
	ramp_grow(ramp_sub(ramp_add(red, a->acked_bytes), red_acked), a->mss_bytes, d);
}

RAMP_FN void ramp_suss_open_round(struct ramp_suss *s, struct ramp_decision *d)
{
	s->colour = SUSS_BLUE_ACKS;
	s->blue_acked_bytes = 0;
	s->round = (ramp_u32)ramp_min(s->round + 1, SUSS_ROUNDS_MAX);
	s->mode = SUSS_CLOCKED;
	ramp_suss_pace(s, d);
}

/* All packets that were blue when they were sent are acknowledged. */
RAMP_FN void ramp_suss_end_blue(struct ramp_suss *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 blue = ramp_suss_shift(s->first_window_bytes, s->round - 1);
	ramp_u64 length = ramp_sub(a->now_ns / 1000, s->hystart.round_start), train;
	ramp_u64 window = ramp_sub(d->cwnd_bytes, s->blue_acked_bytes), used;
	ramp_u32 foreseen = 0;

	s->colour = SUSS_BLUE_ENDED;
	s->blue_end_bytes = ramp_add(s->hystart.round.end_bytes, blue);
	if (s->gave_up || !s->blue_acked_bytes || !length)
		return;
	/* The gap before the first ACK is missing: as much longer as its bytes are. */
	train = ramp_mul_div(ramp_mul(length, 1000), blue / 2, s->blue_acked_bytes);
	if (s->round == 2 || s->last_whole) {
		foreseen = ramp_suss_foresees(s, train, d);
		s->gave_up = !foreseen;
	}
	s->last_whole = ramp_suss_shift(train, s->round - 2);
	/* The window that this round began with was full, but for a packet or what came at once. */
	used = ramp_add(s->usage.flight_bytes, ramp_add(a->acked_bytes, a->mss_bytes));
	/* The blue train must leave some of its share of the round trip. */
	if (foreseen && (a->flags & RAMP_CWND_LIMITED) && used >= window &&
	    train < ramp_mul(s->hystart.min_rtt, 1000) >> ramp_min(s->round - 1, 63))
		ramp_suss_jump(s, a, d);
}

/* suss_measurements: 1 if the ACK must not enlarge the window any more. */
RAMP_ONCE ramp_u32 ramp_suss_measure(struct ramp_suss *s, const struct ramp_ack *a,
				     struct ramp_decision *d)
{
	if (!s || !a || !d)
		return 0;
	if (s->colour == SUSS_BLUE_ENDED)
		s->colour = SUSS_RED_ACKS;
	if (s->opened)
		ramp_suss_open_round(s, d);
	if (a->newest_acked_bytes >= s->blue_end_bytes)
		ramp_suss_end_blue(s, a, d);
	if (s->colour != SUSS_RED_ACKS)
		s->blue_acked_bytes = ramp_add(s->blue_acked_bytes, a->acked_bytes);
	return s->mode == SUSS_PACING;
}

/*
 * suss_cap: HyStart's ACK train, of blue ACKs alone, each of which stands for 2^jumps. It ends
 * start-up when the rest of the train has had its growth.
 */
RAMP_FN void ramp_suss_test_train(struct ramp_suss *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 now = a->now_ns / 1000, train, limit;

	if (s->cap_bytes) {
		if (d->cwnd_bytes <= s->cap_bytes)
			return;
		d->evidence = s->cap_evidence;
		d->limit = s->cap_limit;
		ramp_leave(RAMP_EXIT_ACK_TRAIN, d);
		return;
	}
	if (s->colour == SUSS_RED_ACKS || ramp_sub(now, s->hystart.last_ack) > s->hystart.spacing)
		return;
	s->hystart.last_ack = now;
	limit = (s->hystart.min_rtt + ramp_hystart_ack_delay(&s->hystart, a)) >> 1;
	train = ramp_suss_shift(ramp_sub(now, s->hystart.round_start), s->jumps);
	if (train <= limit)
		return;
	s->cap_evidence = train;
	s->cap_limit = limit;
	s->cap_bytes = ramp_add(d->cwnd_bytes,
				ramp_sub(ramp_suss_shift(s->blue_acked_bytes, s->jumps),
					 s->blue_acked_bytes));
}

/* hystart_update, with the train's test as SUSS has it. */
RAMP_FN void ramp_suss_update(struct ramp_suss *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	if (d->cwnd_bytes < ramp_mul(s->hystart.low_window_packets, a->mss_bytes))
		return;
	if (s->mode == SUSS_OFF)
		ramp_hystart_test_train(&s->hystart, a, d);
	else
		ramp_suss_test_train(s, a, d);
	ramp_hystart_test_delay(&s->hystart, a->rtt_us, d);
	if (d->phase != RAMP_DONE)
		return;
	/* After two jumps the window is ahead of what has left. */
	if (s->mode != SUSS_OFF && s->jumps > 1)
		ramp_hold(ramp_sub(a->in_flight_bytes, a->acked_bytes), a->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
}

RAMP_FN void ramp_suss_on_ack(struct ramp_suss *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	ramp_u64 credit;

	if (d->phase == RAMP_DONE)
		return;
	if (d->cwnd_bytes >= d->ssthresh_bytes) {
		ramp_leave_at_ssthresh(d);
		return;
	}
	if (a->rtt_us && (!s->hystart.min_rtt || a->rtt_us < s->hystart.min_rtt)) {
		s->hystart.min_rtt = a->rtt_us;
		s->min_rtt_round = s->round;
	}
	s->opened = ramp_round_advance(&s->hystart.round, a);
	if (s->opened)
		ramp_hystart_start_round(&s->hystart, a->now_ns / 1000);
	credit = ramp_used_credit(&s->hystart.growth, &s->usage, a, d);
	if (a->rtt_us)
		ramp_suss_update(s, a, d);
	if (d->phase == RAMP_DONE)
		return;
	if (s->mode == SUSS_OFF || s->cap_bytes || !ramp_suss_measure(s, a, d))
		ramp_grow(credit, a->mss_bytes, d);
	else
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_suss_on_event(struct ramp_suss *s, const struct ramp_event *e,
				struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (e->kind == RAMP_TIMEOUT) {
		ramp_hystart_reset(&s->hystart);
		ramp_begin_again(&s->hystart.growth, d);
		s->cap_bytes = 0;
		ramp_suss_turn_off(s, d);
		return;
	}
	ramp_leave_on_event(&s->hystart.growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP) /* undone */
		ramp_suss_pace(s, d);
}

#endif
