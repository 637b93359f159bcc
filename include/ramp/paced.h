/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Paced Start: one paced train per round trip, twice as long each time, searching for the packet
 * gap that the path can sustain; then cwnd = RTT / gap at once.
 *
 * gs is the gap between the packets of a train as they left, gd as their ACKs came back; too fast:
 * gd > gs.
 *
 *     pair, back to back: gB = gd
 *     `- gs = 2 gB --ok--------> gs = 4/3 gB --ok------> g = 8/7 gB  (case 1)
 *        |                       `-too fast------------> g = gd      (case 2)
 *        `-too fast, p = gd--> gs = 2 p --ok-----------> g = p       (case 3)
 *                              `-too fast, p = gd--> gs = 2 p --ok-> g = p    (case 4)
 *                                                    `-too fast----> g = 2 gd (case 5)
 *     then: leaving, cwnd packets paced at g --first of their ACKs--> done
 *
 * Nothing of the next train leaves before all of this one is acknowledged: on each ACK the window
 * is what is in flight and what the train has not yet sent.
 *
 * Source:   [HS03] §3, Figure 5, Table 2.
 * Deviates: gs is measured on the acknowledged packets, not assumed, since hosts pace imprecisely.
 * Deviates: too fast means beyond a tolerance of 5 %; the paper compares exactly.
 * Deviates: a train whose ACKs came closer together than its packets left (compression), or without
 *           usable gaps, decides nothing and is sent again twice as long. Such ACKs were queued or
 *           released together on the way back; taken at their word they lead to windows far beyond
 *           the path. The paper takes gs >= gd as not too fast, however much.
 * Deviates: nor does a train one of whose ACK gaps stands out (longest_gap), or during which more
 *           was sent than it holds: its last ACK was late, or a tail probe's. The paper averages.
 * Deviates: trains that decide nothing have no end: each is twice as long as the last.
 * Deviates: behind a receiver that delays ACKs, an ACK that covers less than one of its train before
 *           it spoils its gaps too. In the paper's day receivers answered every second packet; those
 *           that wait for eight send any fewer by their timer.
 * Deviates: where ACKs cover more than two packets, so it is whatever the host knows of the receiver,
 *           since links thin ACKs out too. The paper's paths did not.
 * Deviates: a first train whose packets left over more than half of the time in which their ACKs came
 *           had no pair: the application paused (TLS), and the gap is its own. The paper's had all.
 * Deviates: max_overshoot can bound the window by the longest train; off by default, as in the
 *           paper.
 * Deviates: the first train is four packets where the receiver may delay ACKs, which would answer a
 *           pair with one, and as many as the host cannot space where these are more: after a
 *           shorter one would come a train that is not spaced.
 */
#ifndef RAMP_PACED_H
#define RAMP_PACED_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_PACED_PARAMETERS(P, N)                                                               \
	P(N, initial_train, "packets", 0, 0, 1000, "[HS03] §3.1",                                 \
	  "first train, sent back to back; 0: 2, or 4 where the receiver may delay ACKs, and at " \
	  "least what the host cannot space")                                                     \
	P(N, tolerance, "1/1000", 50, 0, 1000, "IGI/PTR practice; our choice",                    \
	  "how much gd may exceed gs before the train counts as too fast")                        \
	P(N, compression, "1/1000", 250, 0, 1000, "our choice",                                   \
	  "how far gd may fall below gs before the ACKs count as bunched; 1000: any")             \
	P(N, longest_gap, "1/1000", 250, 0, 1000, "our choice",                                   \
	  "how far one of three or more ACK gaps may exceed their mean, of their sum; 1000: any") \
	P(N, short_train_gaps, "count", 4, 1, 1000, "our choice",                                 \
	  "usable gaps that make up for a train cut short by the application")                    \
	P(N, max_overshoot, "count", 0, 0, 1000000, "our choice",                                 \
	  "the window at exit is at most this many times the longest train; 0: no bound")

#define RAMP_PACED_OVERRIDES(X)                                                                  \
	X(LINUX_SERVER, 256, paced, max_overshoot,                                               \
	  "a wrong estimate must not open a live host's window beyond anything that the path "   \
	  "has shown; a geostationary path of 150 Mbit/s needs 200 times a train of 40 packets") \
	X(PAPERS, 1000, paced, compression,                                                      \
	  "the paper believes every train whose ACKs came no farther apart than its packets")    \
	X(PAPERS, 1000, paced, longest_gap,                                                      \
	  "the paper averages the gaps of a train, whatever they are")

RAMP_PARAMETERS(PACED)

/* Which train of Figure 5 is under way. */
#define PACED_PAIR 0u
#define PACED_HALF 1u           /* gs = 2 gB */
#define PACED_THREE_QUARTERS 2u /* gs = 4/3 gB */
#define PACED_SLOWER 3u         /* gs = 2 p, after gs = 2 gB was too fast */
#define PACED_SLOWEST 4u        /* gs = 2 p, after that was too fast as well */

struct ramp_paced_gaps { /* sums over the usable gaps of a train */
	ramp_u64 ack_ns;
	ramp_u64 longest_ns;
	ramp_u64 source_ns;
	ramp_u64 bytes;
	ramp_u64 count;
};

struct ramp_paced { /* gaps: 1/256 ns per MSS */
	struct ramp_growth growth;
	ramp_u64 gap;           /* of the running train; 0: back to back */
	ramp_u64 bottleneck_gap; /* gB */
	ramp_u64 previous_gap;   /* p */
	ramp_u64 train_bytes;
	ramp_u64 train_start_bytes; /* sent_bytes before its first packet */
	ramp_u64 train_end_bytes;   /* and after its last */
	ramp_u64 longest_bytes;
	ramp_u64 most_acked_bytes; /* by one ACK of this train */
	ramp_u64 last_ack_ns; /* 0: no ACK in this train yet */
	ramp_u64 last_sent_ns;
	ramp_u64 tolerance;
	ramp_u64 compression;
	ramp_u64 longest_gap;
	ramp_u64 short_train_gaps;
	ramp_u64 max_overshoot;
	struct ramp_paced_gaps single; /* until an ACK covers several packets */
	struct ramp_paced_gaps several; /* between ACKs that each cover several */
	ramp_u32 step;
	ramp_u32 delayed_acks;
	ramp_u32 several_seen; /* an ACK of this train covered several packets */
	ramp_u32 last_several; /* the last one did */
};

RAMP_FN void ramp_paced_clear(struct ramp_paced_gaps *g)
{
	g->ack_ns = 0;
	g->longest_ns = 0;
	g->source_ns = 0;
	g->bytes = 0;
	g->count = 0;
}

RAMP_FN void ramp_paced_start_train(struct ramp_paced *s, ramp_u64 sent_bytes)
{
	s->train_start_bytes = sent_bytes;
	s->train_end_bytes = ramp_add(sent_bytes, s->train_bytes);
	s->most_acked_bytes = 0;
	s->last_ack_ns = 0;
	s->last_sent_ns = 0;
	s->several_seen = 0;
	s->last_several = 0;
	ramp_paced_clear(&s->single);
	ramp_paced_clear(&s->several);
}

RAMP_FN void ramp_paced_init(struct ramp_paced *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_u64 packets = ramp_parameter(c, PACED, initial_train);

	ramp_begin(&s->growth, c, d);
	s->delayed_acks = c->flags & RAMP_DELAYED_ACKS;
	if (!packets)
		packets = ramp_max(s->delayed_acks ? 4 : 2, c->unpaced_packets);
	ramp_hold(ramp_mul(ramp_max(packets, 2), c->mss_bytes), c->mss_bytes, d);
	s->train_bytes = d->cwnd_bytes;
	d->pacing_bytes_per_s = RAMP_BACK_TO_BACK;
	s->tolerance = ramp_parameter(c, PACED, tolerance);
	s->compression = ramp_parameter(c, PACED, compression);
	s->longest_gap = ramp_parameter(c, PACED, longest_gap);
	s->short_train_gaps = ramp_parameter(c, PACED, short_train_gaps);
	s->max_overshoot = ramp_parameter(c, PACED, max_overshoot);
	ramp_paced_start_train(s, 0);
}

RAMP_FN void ramp_paced_add(struct ramp_paced_gaps *g, ramp_u64 ack_ns, ramp_u64 bytes)
{
	g->ack_ns = ramp_add(g->ack_ns, ack_ns);
	g->longest_ns = ramp_max(g->longest_ns, ack_ns);
	g->bytes = ramp_add(g->bytes, bytes);
	g->count++;
}

/*
 * [HS03] §3: behind a receiver that delays ACKs, one that covers a single packet was sent by a
 * timer and spoils the gaps on both sides. While no ACK of a train has covered more, the receiver
 * answers every packet. Where receivers wait for more than two packets, so was one that covers less
 * than an ACK of the train before it.
 */
RAMP_FN void ramp_paced_measure(struct ramp_paced *s, const struct ramp_ack *a)
{
	ramp_u64 most_bytes = ramp_max(s->most_acked_bytes, a->acked_bytes);
	ramp_u32 delayed = s->delayed_acks || most_bytes > ramp_mul(a->mss_bytes, 2);
	ramp_u32 several = delayed && a->acked_bytes > a->mss_bytes && a->acked_bytes == most_bytes;
	ramp_u64 ack_ns = ramp_sub(a->now_ns, s->last_ack_ns);
	ramp_u64 source_ns = ramp_sub(a->newest_sent_ns, s->last_sent_ns);
	ramp_u32 counts;

	s->several_seen |= several;
	s->most_acked_bytes = most_bytes;
	if (!a->newest_sent_ns || !s->last_sent_ns) /* the host does not know: as planned */
		source_ns = ramp_mul_div(s->gap, a->acked_bytes, ramp_mul(a->mss_bytes, 256));
	counts = s->last_ack_ns && (s->step != PACED_PAIR || ramp_mul(source_ns, 2) <= ack_ns);
	if (counts && several && s->last_several) {
		ramp_paced_add(&s->several, ack_ns, a->acked_bytes);
		s->several.source_ns = ramp_add(s->several.source_ns, source_ns);
	} else if (counts && !s->several_seen) {
		ramp_paced_add(&s->single, ack_ns, a->acked_bytes);
		s->single.source_ns = ramp_add(s->single.source_ns, source_ns);
	}
	s->last_ack_ns = a->now_ns;
	s->last_sent_ns = a->newest_sent_ns;
	s->last_several = several;
}

RAMP_FN ramp_u64 ramp_paced_rate(ramp_u64 gap, ramp_u32 mss_bytes)
{
	if (!gap)
		return RAMP_BACK_TO_BACK;
	return ramp_max(ramp_mul_div((ramp_u64)mss_bytes << 8, 1000000000, gap), 1);
}

/*
 * [HS03] §3.1: cwnd = RTT / g, the RTT being the smallest seen, so that a train's own queue does
 * not count twice.
 */
RAMP_FN void ramp_paced_fill(struct ramp_paced *s, const struct ramp_ack *a,
			     struct ramp_decision *d)
{
	ramp_u64 rtt_ns = (ramp_u64)s->growth.least_rtt_us * 1000;
	ramp_u64 least = ramp_mul(a->mss_bytes, 2), most = d->ssthresh_bytes, window;

	if (!rtt_ns)
		rtt_ns = ramp_sub(a->now_ns, a->newest_sent_ns);
	if (s->max_overshoot)
		most = ramp_min(most, ramp_mul(s->max_overshoot, s->longest_bytes));
	window = ramp_mul_div(ramp_mul(rtt_ns, 256), a->mss_bytes, s->gap);
	ramp_hold(ramp_clamp(window, least, most),
		  a->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	d->pacing_bytes_per_s = ramp_paced_rate(s->gap, a->mss_bytes);
	d->phase = RAMP_LEAVING;
	d->exit_reason = RAMP_EXIT_GAP;
	s->train_start_bytes = a->sent_bytes;
}

/* Figure 5. Returns 1 when the gap is found. */
RAMP_FN ramp_u32 ramp_paced_decide(struct ramp_paced *s, ramp_u64 ack_gap, ramp_u32 too_fast)
{
	ramp_u32 step = s->step;

	if (step == PACED_PAIR) {
		s->bottleneck_gap = ack_gap;
		s->gap = ramp_mul(ack_gap, 2);
		s->step = PACED_HALF;
		return 0;
	}
	if (step == PACED_HALF && !too_fast) {
		s->gap = ramp_mul_div(s->bottleneck_gap, 4, 3);
		s->step = PACED_THREE_QUARTERS;
		return 0;
	}
	if (step == PACED_THREE_QUARTERS) {
		s->gap = too_fast ? ack_gap : ramp_mul_div(s->bottleneck_gap, 8, 7);
		return 1;
	}
	if (!too_fast) { /* the gap before, though this one was fine: at most twice too fast */
		s->gap = s->previous_gap;
		return 1;
	}
	s->gap = ramp_mul(ack_gap, 2);
	s->previous_gap = ack_gap;
	s->step = step == PACED_HALF ? PACED_SLOWER : PACED_SLOWEST;
	return step == PACED_SLOWEST;
}

/* Whether the ACKs of a train tell the path's gap and not how late one of them was. */
RAMP_FN ramp_u32 ramp_paced_usable(const struct ramp_paced *s, const struct ramp_paced_gaps *g,
				   ramp_u64 source_ns)
{
	ramp_u64 excess;

	if (!g->count || !g->bytes || !g->ack_ns)
		return 0;
	excess = g->longest_ns - g->ack_ns / g->count;
	if (g->count >= 3 && ramp_mul(excess, 1000) > ramp_mul(g->ack_ns, s->longest_gap))
		return 0;
	return ramp_mul(g->ack_ns, 1000) >= ramp_mul(source_ns, 1000 - s->compression);
}

/* All of a train is acknowledged, or all that the application had. */
RAMP_FN void ramp_paced_end_train(struct ramp_paced *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	const struct ramp_paced_gaps *g = s->several.count ? &s->several : &s->single;
	ramp_u32 cut_short = ramp_add(a->sent_bytes, a->mss_bytes) <= s->train_end_bytes;
	ramp_u64 source_ns = s->step == PACED_PAIR ? 0 : g->source_ns;
	ramp_u64 ack_gap;

	s->longest_bytes =
		ramp_max(s->longest_bytes, ramp_sub(a->sent_bytes, s->train_start_bytes));
	if (ramp_paced_usable(s, g, source_ns) && a->sent_bytes <= s->train_end_bytes &&
	    (!cut_short || g->count >= s->short_train_gaps)) {
		ack_gap = ramp_mul_div(ramp_mul(g->ack_ns, 256), a->mss_bytes, g->bytes);
		d->evidence = ack_gap >> 8;
		d->limit = ramp_mul_div(source_ns, a->mss_bytes, g->bytes);
		if (ramp_paced_decide(s, ack_gap,
				      ramp_mul(g->ack_ns, 1000) >
					      ramp_mul(source_ns, 1000 + s->tolerance))) {
			ramp_paced_fill(s, a, d);
			return;
		}
		d->evidence = 0;
		d->limit = 0;
	}
	if (!cut_short)
		s->train_bytes = ramp_min(ramp_mul(s->train_bytes, 2), RAMP_CWND_MAX_BYTES);
	ramp_paced_start_train(s, a->sent_bytes);
	d->pacing_bytes_per_s = ramp_paced_rate(s->gap, a->mss_bytes);
}

RAMP_FN void ramp_paced_on_ack(struct ramp_paced *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	ramp_u64 in_flight = ramp_sub(a->in_flight_bytes, a->acked_bytes);
	ramp_u64 unsent;

	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	if (d->phase == RAMP_LEAVING) {
		if (a->newest_acked_bytes <= s->train_start_bytes)
			return;
		ramp_leave(d->exit_reason, d);
		return;
	}
	ramp_paced_measure(s, a);
	unsent = ramp_sub(s->train_end_bytes, a->sent_bytes);
	if (!in_flight && (unsent < a->mss_bytes || a->flags & RAMP_APP_LIMITED)) {
		ramp_paced_end_train(s, a, d);
		if (d->phase == RAMP_LEAVING)
			return;
		unsent = s->train_bytes;
	}
	ramp_hold(ramp_add(in_flight, unsent), a->mss_bytes, d);
	if (d->cwnd_bytes > d->ssthresh_bytes) {
		ramp_hold(d->ssthresh_bytes, a->mss_bytes, d);
		ramp_leave_at_ssthresh(d);
	}
}

/*
 * [HS03] §3.2.2. The window goes back from what the train has left to send to its full length, from
 * which the host reduces as after slow start; a timeout refills to half the train. If that is
 * undone the search goes on, with a train of its own once everything is acknowledged: by then more
 * was sent than the last one holds.
 */
RAMP_FN void ramp_paced_on_event(struct ramp_paced *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (phase == RAMP_STARTUP && ramp_is_congestion(e)) {
		ramp_hold(s->train_bytes, e->mss_bytes, d);
		if (e->kind == RAMP_TIMEOUT)
			d->ssthresh_bytes =
				ramp_max(s->train_bytes / 2, ramp_mul(e->mss_bytes, 2));
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP) /* undone */
		d->pacing_bytes_per_s = ramp_paced_rate(s->gap, e->mss_bytes);
}

#endif
