/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * AFStart over ImTCP's measurement: search for the available bandwidth with one stream of paced
 * packets a round trip, then climb to that rate times the round-trip time in a few smooth steps.
 *
 *     startup --first flight: range 0 to its rate--> startup, a stream a round
 *        |       `--window reached the range's upper end--> leaving
 *        |----range narrow--> startup, half of what is missing a round --cwnd = ssthresh--> leaving
 *        |                                                               --a round paced--> done
 *        `----loss, mark, timeout--> done --undone--> startup
 *
 * Source:   [ZAWY12] on [MHM06]; reconstructed from abstracts: streams of about ten packets at rates within a
 *           search range, and the steps of the window.
 * Deviates: how the range shrinks (halving), when it is narrow, what counts as rising, and the slow
 *           start meanwhile are ours.
 * Deviates: a stream is judged over its ACKs, not packet by packet, so that a receiver that delays
 *           them does no harm. One that covers less than an ACK before it was sent by a timer, and one
 *           that reaches beyond the stream waited for what left later: neither counts.
 */
#ifndef RAMP_AFSTART_H
#define RAMP_AFSTART_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_AFSTART_PARAMETERS(P, N)                                                     \
	P(N, stream, "packets", 10, 4, 1000, "[MHM06], reconstructed", "a stream's")      \
	P(N, tolerance, "1/1000", 50, 0, 1000, "our choice",                              \
	  "how much longer a stream may arrive than it left before its rate is too high") \
	P(N, narrow, "1/1000", 125, 1, 1000, "our choice",                                \
	  "width of the range, of its upper end, at which the middle is the estimate")    \
	P(N, streams, "count", 8, 1, 1000, "our choice", "after which it is, anyway")

RAMP_PARAMETERS(AFSTART)

#define AFSTART_RATE_MAX ((ramp_u64)1 << 40)

enum { AFSTART_PAIRS,
       AFSTART_STREAMS,
       AFSTART_CLIMB };

struct ramp_afstart {
	struct ramp_growth growth;
	struct ramp_usage usage;
	struct ramp_round round;
	ramp_u64 low, high;         /* bytes/s: the available bandwidth is between them */
	ramp_u64 from_bytes;        /* of the flight or stream under test, in what is sent */
	ramp_u64 until_bytes;       /* 0: none under way */
	ramp_u64 first_ns;          /* its first ACK; 0: not yet */
	ramp_u64 first_sent_ns;
	ramp_u64 first_acked_bytes;
	ramp_u64 last_ns;           /* its last ACK that counts */
	ramp_u64 last_sent_ns;
	ramp_u64 last_acked_bytes;
	ramp_u64 most_acked_bytes;  /* by one ACK of it */
	ramp_u64 host_ssthresh_bytes;
	ramp_u64 pacing; /* as decided last, for an undone exit */
	ramp_u64 stream_packets;
	ramp_u64 tolerance;
	ramp_u64 narrow;
	ramp_u32 streams_max;
	ramp_u32 streams;
	ramp_u32 mode;
	ramp_u32 delayed_acks;
};

RAMP_FN void ramp_afstart_init(struct ramp_afstart *s, const struct ramp_config *c,
			       struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->delayed_acks = c->flags & RAMP_DELAYED_ACKS;
	s->growth.least_rtt_us = c->handshake_rtt_us;
	s->host_ssthresh_bytes = d->ssthresh_bytes;
	s->stream_packets = ramp_parameter(c, AFSTART, stream);
	s->tolerance = ramp_parameter(c, AFSTART, tolerance);
	s->narrow = ramp_parameter(c, AFSTART, narrow);
	s->streams_max = (ramp_u32)ramp_parameter(c, AFSTART, streams);
	s->until_bytes = d->cwnd_bytes;
	d->pacing_bytes_per_s = RAMP_BACK_TO_BACK;
	s->pacing = d->pacing_bytes_per_s;
}

/* A rate over the smallest round trip, as threshold; never more than what the host began with. */
RAMP_FN void ramp_afstart_aim(struct ramp_afstart *s, ramp_u64 rate, ramp_u32 mss_bytes,
			      struct ramp_decision *d)
{
	ramp_u64 window = ramp_mul_div(rate, s->growth.least_rtt_us, 1000000);

	d->ssthresh_bytes = ramp_min(ramp_max(window, ramp_mul(mss_bytes, 2)),
				     s->host_ssthresh_bytes);
}

/* The window is decided; it is sent at the estimated rate. */
RAMP_FN void ramp_afstart_land(struct ramp_afstart *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	d->evidence = d->cwnd_bytes;
	d->limit = d->ssthresh_bytes;
	d->phase = RAMP_LEAVING;
	d->exit_reason = RAMP_EXIT_BANDWIDTH;
	d->pacing_bytes_per_s = ramp_max((s->low + s->high) / 2, 1);
	ramp_round_start(&s->round, a);
}

/* min(ssthresh, max(2 cwnd, (cwnd + ssthresh) / 2)), paced over a round trip. */
RAMP_FN void ramp_afstart_climb(struct ramp_afstart *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 cwnd = d->cwnd_bytes, goal = ramp_min(d->ssthresh_bytes, RAMP_CWND_MAX_BYTES);

	ramp_hold(ramp_min(goal, ramp_max(2 * cwnd, (cwnd + goal) / 2)), a->mss_bytes, d);
	if (d->cwnd_bytes >= goal) {
		ramp_afstart_land(s, a, d);
		return;
	}
	d->pacing_bytes_per_s =
		ramp_max(ramp_mul_div(d->cwnd_bytes, 1000000, s->growth.least_rtt_us), 1);
}

/* Begins to test what is sent from now on; a stream leaves at the middle of the range. */
RAMP_FN void ramp_afstart_begin(struct ramp_afstart *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	s->first_ns = 0;
	s->most_acked_bytes = 0;
	s->from_bytes = a->sent_bytes;
	if (s->mode == AFSTART_PAIRS) {
		s->until_bytes = ramp_add(a->sent_bytes, d->cwnd_bytes);
		d->pacing_bytes_per_s = RAMP_BACK_TO_BACK;
		return;
	}
	s->until_bytes = ramp_add(a->sent_bytes, ramp_mul(s->stream_packets, a->mss_bytes));
	d->pacing_bytes_per_s = ramp_max((s->low + s->high) / 2, 1);
}

/* The first flight: its ACKs' rate is the most that there can be. */
RAMP_FN void ramp_afstart_limit(struct ramp_afstart *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 span_ns = ramp_sub(s->last_ns, s->first_ns);
	ramp_u64 bytes = ramp_sub(s->last_acked_bytes, s->first_acked_bytes);

	if (!span_ns || !bytes || !s->growth.least_rtt_us)
		return;
	s->high = ramp_clamp(ramp_mul_div(bytes, 1000000000, span_ns), 1, AFSTART_RATE_MAX);
	s->mode = AFSTART_STREAMS;
	ramp_afstart_aim(s, s->high, a->mss_bytes, d);
}

/* A stream that arrives over longer than it left was too fast. */
RAMP_FN void ramp_afstart_judge(struct ramp_afstart *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 arrived_ns = ramp_sub(s->last_ns, s->first_ns);
	ramp_u64 left_ns = ramp_sub(s->last_sent_ns, s->first_sent_ns);
	ramp_u64 bytes = ramp_sub(s->last_acked_bytes, s->first_acked_bytes), rate;

	if (!bytes || !left_ns)
		return;
	rate = ramp_clamp(ramp_mul_div(bytes, 1000000000, left_ns), 1, s->high);
	if (ramp_mul(arrived_ns, 1000) > ramp_mul(left_ns, 1000 + s->tolerance))
		s->high = rate;
	else
		s->low = ramp_max(s->low, rate);
	s->low = ramp_min(s->low, s->high);
	s->streams++;
	ramp_afstart_aim(s, s->high, a->mss_bytes, d);
	if (s->streams < s->streams_max &&
	    ramp_mul(s->high - s->low, 1000) > ramp_mul(s->high, s->narrow))
		return;
	s->mode = AFSTART_CLIMB;
	ramp_afstart_aim(s, (s->low + s->high) / 2, a->mss_bytes, d);
	ramp_round_start(&s->round, a);
	ramp_afstart_climb(s, a, d);
}

/* The ends of what is judged. */
RAMP_FN void ramp_afstart_note(struct ramp_afstart *s, const struct ramp_ack *a)
{
	if (!s->first_ns) {
		s->first_ns = a->now_ns;
		s->first_sent_ns = a->newest_sent_ns;
		s->first_acked_bytes = a->newest_acked_bytes;
	} else if (s->delayed_acks && (a->acked_bytes < s->most_acked_bytes || a->newest_acked_bytes > s->until_bytes)) {
		return;
	}
	s->most_acked_bytes = a->acked_bytes;
	s->last_ns = a->now_ns;
	s->last_sent_ns = a->newest_sent_ns;
	s->last_acked_bytes = a->newest_acked_bytes;
}

/* Listens to the flight or stream under way; at its end it counts. */
RAMP_FN void ramp_afstart_listen(struct ramp_afstart *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	if (!s->until_bytes || a->newest_acked_bytes <= s->from_bytes)
		return;
	if (a->flags & RAMP_APP_LIMITED) { /* the application's pauses are not the path's */
		s->until_bytes = 0;
		return;
	}
	ramp_afstart_note(s, a);
	if (a->newest_acked_bytes < s->until_bytes)
		return;
	s->until_bytes = 0;
	if (s->mode == AFSTART_PAIRS)
		ramp_afstart_limit(s, a, d);
	else
		ramp_afstart_judge(s, a, d);
}

RAMP_FN void ramp_afstart_go_on(struct ramp_afstart *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u32 opened;

	ramp_sample_rtt(&s->growth, a);
	ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	opened = ramp_round_advance(&s->round, a);
	if (d->phase == RAMP_LEAVING) {
		if (opened)
			ramp_leave(d->exit_reason, d);
		return;
	}
	if (s->mode == AFSTART_CLIMB) {
		if (opened)
			ramp_afstart_climb(s, a, d);
		return;
	}
	ramp_afstart_listen(s, a, d);
	if (s->mode == AFSTART_CLIMB)
		return;
	if (s->until_bytes && a->sent_bytes >= s->until_bytes)
		d->pacing_bytes_per_s = RAMP_AS_HOST_LIKES; /* the stream has left */
	if (!s->until_bytes)
		ramp_afstart_begin(s, a, d);
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	if (d->cwnd_bytes >= d->ssthresh_bytes && s->mode == AFSTART_STREAMS)
		ramp_afstart_land(s, a, d);
	else
		ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_afstart_on_ack(struct ramp_afstart *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_afstart_go_on(s, a, d);
	s->pacing = d->pacing_bytes_per_s;
}

RAMP_FN void ramp_afstart_on_event(struct ramp_afstart *s, const struct ramp_event *e,
				   struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase != RAMP_DONE) /* undone */
		d->pacing_bytes_per_s = s->pacing;
}

#endif
