/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Paced Chirping: packets leave in chirps, whose gaps shrink. Where in a chirp the queueing delay
 * begins to grow says how far apart the path serves packets; between chirps there is as much pause
 * as the load allows, and the load follows what the chirps say.
 *
 *     startup --load gap down to the service gap, or 30 ms of queue--> done
 *        |----gap too short to keep, 200 chirps--> startup, as slow start --ssthresh--> done
 *        `----loss, mark, timeout--> done --undone--> startup, as slow start
 *
 * Source:   [MB19], paced_chirping.c of 2020.
 * Deviates: an ACK of several packets is one sample that counts for all of them; the source takes
 *           all but the first for packets that arrived together.
 * Deviates: a chirp is as the last ACK before it left things; the source decides when it begins.
 * Deviates: packets in flight are counted once a chirp for the weight of a received gap.
 * Deviates: a mark ends it; the source leaves marks unanswered while it chirps.
 * Deviates: a sender with less to send than a chirp goes on with slow start; the source chirps again later.
 * Deviates: the window is at most three times what was in flight; the source does not look whether its window
 *           is used.
 * Deviates: a load gap below 20 us is too short, the source's bound under fq; where TCP's own timer
 *           spaces packets its bound is 40 us (lowest_internal_pacing_gap).
 * Deviates: it gives up after 200 chirps; the source numbers them from 1 and gives up at 200, a chirp sooner.
 * Deviates: what other ends of the path say of time (receiver's time stamps) and what earlier
 *           connections knew are not used, which is the source's default.
 */
#ifndef RAMP_CHIRP_H
#define RAMP_CHIRP_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_CHIRP_PARAMETERS(P, N)                                                            \
	P(N, gap_packets, "packets", 64, 1, 65536, "[MB19] gap_pkts_shift",                    \
	  "first chirp's mean gap: an RTT over these")                                         \
	P(N, load_packets, "packets", 16, 1, 65536, "[MB19] load_gap_pkts_shift",              \
	  "first mean gap over chirps and pauses: an RTT over these")                          \
	P(N, longest_gap, "us", 1000, 1, 1000000, "[MB19] maximum_initial_gap",                \
	  "of the first chirp, on average")                                                    \
	P(N, excursion, "packets", 5, 1, 64, "[MB19] L",                                       \
	  "fewer in a row with a growing delay are chance")                                    \
	P(N, overload, "us", 30000, 1, 10000000, "[MB19] overload_exit_queueing_delay_thresh", \
	  "smoothed queueing delay at which it leaves")                                        \
	P(N, persistent, "1/1024", 205, 0, 1024, "[MB19] service_time_queueing_delay_percent", \
	  "of the smallest RTT; where a chirp saw no less delay, its gaps say nothing")        \
	P(N, shortest_gap, "ns", 20000, 1, 1000000000, "[MB19] lowest_FQ_pacing_gap",          \
	  "a load gap below it is left to slow start")                                         \
	P(N, chirps, "count", 200, 1, 60000, "[MB19] maximum_num_chirps",                      \
	  "after which slow start takes over")

RAMP_PARAMETERS(CHIRP)

#define CHIRP_FIRST 5u   /* packets of the first two chirps */
#define CHIRP_SECOND 8u  /* and of the next two */
#define CHIRP_LEAST 16u
#define CHIRP_MOST 64u
#define CHIRP_GAP_NS 120000u /* without an RTT */
#define CHIRP_LOAD_NS 2400000u
#define CHIRP_ESTIMATE_MAX_NS 100000000u
#define CHIRP_GAP_MAX_NS ((ramp_u64)1 << 40)
#define CHIRP_JUMPY_US 10000u  /* a path that serves in lumps may queue so much */
#define CHIRP_LUMP 2u          /* packets served together from which it does */
#define CHIRP_SIZES 8u
#define CHIRP_AT_ONCE 8u
#define CHIRP_FLIGHTS 3u /* of the most in flight: no larger window is opened */
#define CHIRP_MARK (~(ramp_u32)0)

/* Chirps from this place in the stream on have so many packets. */
struct ramp_chirp_size {
	ramp_u64 from_bytes;
	ramp_u32 packets;
	ramp_u32 reserved;
};

/* One chirp, as its ACKs come in. */
struct ramp_chirp_heard {
	ramp_u64 from_bytes;
	ramp_u64 until_bytes;
	ramp_u64 counted_ns;   /* gaps that count, summed */
	ramp_u64 pending_ns;   /* of the excursion under way */
	ramp_u64 sample_ns;    /* what every other packet counts with */
	ramp_u64 last_gap_ns;
	ramp_u32 packets;      /* heard of */
	ramp_u32 uncounted;
	ramp_u32 pending;
	ramp_u32 excursion;    /* its length */
	ramp_u32 in_excursion;
	ramp_u32 start_us;     /* delays */
	ramp_u32 most_us;
	ramp_u32 last_us;
	ramp_u32 least_us;
	ramp_u32 jumps;
	ramp_u32 together;
	ramp_u32 reserved;
};

struct ramp_chirp {
	struct ramp_growth growth;
	struct ramp_usage usage;
	struct ramp_chirp_heard heard;
	struct ramp_chirp_size size[CHIRP_SIZES]; /* newest last, in a ring */
	ramp_u64 next_bytes;   /* where in the stream the next chirp begins */
	ramp_u64 seen_bytes;   /* newest acknowledged so far */
	ramp_u64 seen_ns;      /* its ACK; 0: none yet */
	ramp_u64 seen_sent_ns;
	ramp_u64 gap_ns;       /* that the path serves, as estimated */
	ramp_u64 load_ns;      /* mean gap of what is sent */
	ramp_u64 received_ns;  /* mean gap of ACKs */
	ramp_u64 smoothed_us;  /* RTT, eightfold */
	ramp_u64 longest_ns;
	ramp_u64 overload_us;
	ramp_u64 persistent;
	ramp_u64 shortest_ns;
	ramp_u32 chirps_max;
	ramp_u32 excursion_min;
	ramp_u32 first_size;   /* of the ring, in force for the chirp that is heard */
	ramp_u32 sizes;
	ramp_u32 begun;        /* chirps */
	ramp_u32 heard_of;
	ramp_u32 packets;      /* per chirp */
	ramp_u32 geometry;     /* first gap over the mean, 1/1024 */
	ramp_u32 lump;         /* packets that the path serves together, 1/64 */
	ramp_u32 weight_shift; /* of a received gap */
	ramp_u32 said;         /* packets of the chirps that begin */
	ramp_u32 slow;         /* it is slow start now */
};

RAMP_FN ramp_u64 ramp_chirp_smooth(ramp_u64 mean, ramp_u64 sample, ramp_u32 shift)
{
	return mean - (mean >> shift) + (sample >> shift);
}

RAMP_FN ramp_u32 ramp_chirp_jumpy(const struct ramp_chirp *s)
{
	return s->lump >> 6 > CHIRP_LUMP;
}

/* What the next chirp is to look like. */
RAMP_FN void ramp_chirp_say(struct ramp_chirp *s, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_u64 mean = ramp_min(s->gap_ns, s->load_ns), geometry = s->geometry, most = ~(ramp_u32)0;
	ramp_u64 packets = s->packets, first, step, average, pause;

	if (s->begun < 2)
		packets = CHIRP_FIRST;
	else if (s->begun < 4)
		packets = CHIRP_SECOND;
	if (s->sizes == CHIRP_SIZES) /* no room to remember another */
		packets = s->said;
	if (ramp_chirp_jumpy(s)) {
		mean -= mean >> 2;
		geometry = ramp_min(geometry, 1536);
	}
	first = mean * geometry >> 10;
	step = (mean * ((geometry - 1024) << 1) + packets - 2) / (packets - 1) >> 10;
	average = ramp_sub(first, step * (packets - 2) >> 1);
	pause = mean;
	if (s->load_ns > average)
		pause = s->load_ns + (packets - 1) * (s->load_ns - average);
	s->said = (ramp_u32)packets;
	d->chirp_packets = s->said;
	d->chirp_gap_ns = (ramp_u32)ramp_min(first, most);
	d->chirp_step_ns = (ramp_u32)ramp_min(step, most);
	d->chirp_pause_ns = (ramp_u32)ramp_min(pause, most);
	d->pacing_bytes_per_s = ramp_max((ramp_u64)mss_bytes * 1000000000 / s->load_ns, 1);
}

RAMP_FN void ramp_chirp_init(struct ramp_chirp *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_u64 rtt_ns = (ramp_u64)c->handshake_rtt_us * 1000;

	ramp_begin(&s->growth, c, d);
	s->longest_ns = ramp_parameter(c, CHIRP, longest_gap) * 1000;
	s->excursion_min = (ramp_u32)ramp_parameter(c, CHIRP, excursion);
	s->overload_us = ramp_parameter(c, CHIRP, overload);
	s->persistent = ramp_parameter(c, CHIRP, persistent);
	s->shortest_ns = ramp_parameter(c, CHIRP, shortest_gap);
	s->chirps_max = (ramp_u32)ramp_parameter(c, CHIRP, chirps);
	s->gap_ns = CHIRP_GAP_NS;
	s->load_ns = CHIRP_LOAD_NS;
	if (rtt_ns) {
		s->gap_ns = ramp_max(rtt_ns / ramp_parameter(c, CHIRP, gap_packets), 1);
		s->load_ns = ramp_max(rtt_ns / ramp_parameter(c, CHIRP, load_packets), 1);
	}
	s->load_ns = ramp_min(s->load_ns, ~(ramp_u32)0);
	s->gap_ns = ramp_min(s->gap_ns, s->longest_ns);
	s->received_ns = s->load_ns;
	s->growth.least_rtt_us = c->handshake_rtt_us;
	s->smoothed_us = (ramp_u64)c->handshake_rtt_us * 8;
	s->packets = CHIRP_LEAST;
	s->geometry = 2048;
	s->lump = 1 << 6;
	s->weight_shift = 4;
	s->heard.least_us = CHIRP_MARK;
	ramp_chirp_say(s, c->mss_bytes, d);
}

/* Which chirps have begun since the last ACK: all of them as the decision has been since. */
RAMP_FN void ramp_chirp_count(struct ramp_chirp *s, const struct ramp_ack *a)
{
	ramp_u64 length = (ramp_u64)s->said * a->mss_bytes, begun = 1;
	ramp_u64 ahead = ramp_sub(a->sent_bytes, s->next_bytes);
	struct ramp_chirp_size *newest;

	if (!ahead || !length)
		return;
	newest = &s->size[(s->first_size + s->sizes + CHIRP_SIZES - 1) & (CHIRP_SIZES - 1)];
	if (!s->sizes || (newest->packets != s->said && s->sizes < CHIRP_SIZES)) {
		newest = &s->size[(s->first_size + s->sizes) & (CHIRP_SIZES - 1)];
		newest->from_bytes = s->next_bytes;
		newest->packets = s->said;
		s->sizes++;
		if (s->sizes == 1)
			s->heard.until_bytes = ramp_add(s->next_bytes, length);
	}
	if (ahead > length)
		begun = (ahead - 1) / length + 1;
	s->next_bytes = ramp_add(s->next_bytes, ramp_mul(begun, length));
	s->begun = (ramp_u32)ramp_min(s->begun + begun, 60001);
}

/* The chirp after the one that was heard. */
RAMP_FN void ramp_chirp_turn(struct ramp_chirp *s, ramp_u32 mss_bytes)
{
	struct ramp_chirp_heard *h = &s->heard;
	ramp_u64 from = h->until_bytes;
	ramp_u32 second = (s->first_size + 1) & (CHIRP_SIZES - 1);

	if (s->sizes > 1 && s->size[second].from_bytes <= from) {
		s->first_size = second;
		s->sizes--;
	}
	h->from_bytes = from;
	h->until_bytes = ramp_add(from, ramp_mul(s->size[s->first_size & (CHIRP_SIZES - 1)].packets, mss_bytes));
	h->counted_ns = 0;
	h->pending_ns = 0;
	h->sample_ns = 0;
	h->packets = 0;
	h->uncounted = 0;
	h->pending = 0;
	h->excursion = 0;
	h->in_excursion = 0;
	h->most_us = 0;
	h->least_us = CHIRP_MARK;
	h->jumps = 0;
	h->together = 0;
	s->heard_of += s->heard_of < CHIRP_MARK;
}

/* An excursion of the delay begins with the packet before this one. */
RAMP_FN void ramp_chirp_rise(struct ramp_chirp_heard *h, ramp_u64 gap_ns, ramp_u32 length)
{
	h->start_us = h->last_us;
	h->excursion = length;
	h->sample_ns = gap_ns;
	h->most_us = 0;
	h->in_excursion = 1;
}

/* A sample of so many packets with this gap before each; the last of a chirp ends no excursion. */
RAMP_FN void ramp_chirp_sample(const struct ramp_chirp *s, struct ramp_chirp_heard *h,
			       ramp_u64 gap_ns, ramp_u32 delay_us, ramp_u32 packets)
{
	ramp_u32 last = s->seen_bytes >= h->until_bytes, rises = h->last_us < delay_us && !last;
	ramp_u32 above;

	h->uncounted += packets;
	if (!h->in_excursion && rises)
		ramp_chirp_rise(h, gap_ns, 0);
	if (h->in_excursion) {
		above = (ramp_u32)ramp_sub(h->last_us, h->start_us);
		if (above >= (h->most_us >> 1) + (h->most_us >> 3)) {
			h->most_us = (ramp_u32)ramp_max(h->most_us, above);
			h->excursion += packets;
			h->pending_ns += rises ? gap_ns * packets : 0;
			h->pending += rises ? packets : 0;
		} else {
			if (h->excursion >= s->excursion_min) {
				h->counted_ns += h->pending_ns;
				h->uncounted -= h->pending;
			}
			h->pending_ns = 0;
			h->pending = 0;
			h->in_excursion = 0;
			if (rises) {
				ramp_chirp_rise(h, gap_ns, packets);
				h->pending_ns = gap_ns * packets;
				h->pending = packets;
			}
		}
	}
	if (!last)
		h->last_us = delay_us;
}

/* The packets in flight that the rate served would have; at most what is, of a path without lumps. */
RAMP_FN ramp_u64 ramp_chirp_fitting(const struct ramp_chirp *s, ramp_u64 in_flight_bytes,
				    ramp_u32 mss_bytes)
{
	ramp_u64 packets = (ramp_u64)s->growth.least_rtt_us * 1000 / ramp_max(s->gap_ns, 1);
	ramp_u64 bytes = in_flight_bytes;

	if (!ramp_chirp_jumpy(s))
		bytes = ramp_min(bytes, ramp_mul(packets, mss_bytes));
	return ramp_max(bytes, (ramp_u64)mss_bytes * 2);
}

RAMP_FN void ramp_chirp_leave(struct ramp_chirp *s, const struct ramp_ack *a, ramp_u32 reason,
			      struct ramp_decision *d)
{
	ramp_hold(ramp_chirp_fitting(s, ramp_sub(a->in_flight_bytes, a->acked_bytes), a->mss_bytes),
		  a->mss_bytes, d);
	d->ssthresh_bytes = ramp_min(d->ssthresh_bytes, d->cwnd_bytes);
	ramp_leave(reason, d);
}

/* What cannot be spaced any more, or does not converge, slow start ends. */
RAMP_FN void ramp_chirp_give_up(struct ramp_chirp *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	s->slow = 1;
	ramp_pace_no_more(d);
	ramp_hold(ramp_chirp_fitting(s, ramp_sub(a->in_flight_bytes, a->acked_bytes), a->mss_bytes),
		  a->mss_bytes, d);
}

/* The mean gap that a chirp, now heard, stands for; 0: none. */
RAMP_FN ramp_u64 ramp_chirp_mean(struct ramp_chirp_heard *h)
{
	if (!h->in_excursion)
		h->sample_ns = h->last_gap_ns;
	h->counted_ns += h->uncounted * h->sample_ns;
	return h->packets > 1 ? h->counted_ns / (h->packets - 1) : 0;
}

/* Packets that the path serves together, chirps that cover four such lumps, and their slope. */
RAMP_FN void ramp_chirp_shape(struct ramp_chirp *s, ramp_u32 shift)
{
	const struct ramp_chirp_heard *h = &s->heard;
	ramp_u64 lump = 1, least;

	if (h->jumps && h->together)
		lump = (h->together + h->jumps) / h->jumps;
	s->lump = (ramp_u32)ramp_chirp_smooth(s->lump, lump << 6, shift);
	s->packets = (ramp_u32)ramp_clamp((ramp_u64)s->lump * 4 >> 6, CHIRP_LEAST, CHIRP_MOST);
	least = 1024 + ((ramp_u64)(s->packets - 1) << 20) / (s->gap_ns + 1);
	s->geometry = (ramp_u32)ramp_clamp((s->load_ns << 10) / (s->gap_ns + 1), least, 2048);
}

/* A chirp has been heard: what it says of the path. */
RAMP_FN void ramp_chirp_learn(struct ramp_chirp *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	const struct ramp_chirp_heard *h = &s->heard;
	ramp_u64 gap_ns = ramp_chirp_mean(&s->heard), served_ns = s->received_ns, allowed_us;
	ramp_u64 in_flight = a->in_flight_bytes / ramp_max(a->mss_bytes, 1), window, most;
	ramp_u32 flight_log = ramp_log2(in_flight + 1), chirp_log = ramp_log2(h->packets + 1);
	ramp_u32 shift = flight_log > chirp_log ? flight_log - chirp_log : 1;

	s->weight_shift = (ramp_u32)ramp_max(4, ramp_log2(in_flight + 2));
	allowed_us = s->growth.least_rtt_us * s->persistent >> 10;
	if (ramp_chirp_jumpy(s))
		allowed_us = ramp_max(allowed_us, CHIRP_JUMPY_US);
	if (h->least_us != CHIRP_MARK && h->least_us > allowed_us) {
		if (a->delivery_bytes_per_s)
			served_ns = ramp_min(served_ns, (ramp_u64)a->mss_bytes * 1000000000 / a->delivery_bytes_per_s);
		gap_ns = served_ns;
		shift = 1;
	}
	if (!gap_ns || gap_ns > CHIRP_ESTIMATE_MAX_NS)
		gap_ns = s->gap_ns;
	s->gap_ns = ramp_max(ramp_chirp_smooth(s->gap_ns, gap_ns, shift), 1);
	if (s->gap_ns < s->load_ns)
		s->load_ns = ramp_max(ramp_chirp_smooth(s->load_ns, s->gap_ns, shift + 1), 1);
	ramp_chirp_shape(s, shift);
	if (s->load_ns <= s->gap_ns) {
		d->evidence = s->gap_ns;
		d->limit = s->load_ns;
		ramp_chirp_leave(s, a, RAMP_EXIT_GAP, d);
	} else if (s->load_ns < s->shortest_ns) {
		ramp_chirp_give_up(s, a, d);
	} else {
		window = ramp_mul((s->smoothed_us >> 3) * 1000 / s->load_ns, a->mss_bytes);
		most = ramp_max(d->cwnd_bytes, ramp_mul(s->usage.flight_bytes, CHIRP_FLIGHTS));
		ramp_hold(ramp_min(ramp_min(window, most), d->ssthresh_bytes), a->mss_bytes, d);
	}
}

/* Counts packets that came together, and pauses, other than those between chirps. */
RAMP_FN void ramp_chirp_pauses(struct ramp_chirp *s, ramp_u64 gap_ns, ramp_u64 sent_gap_ns)
{
	struct ramp_chirp_heard *h = &s->heard;

	h->together += gap_ns < s->gap_ns >> 1;
	h->jumps += gap_ns > sent_gap_ns && gap_ns > s->gap_ns << 1 && h->packets > 1;
	s->received_ns = ramp_chirp_smooth(s->received_ns, gap_ns, s->weight_shift);
}

/* The newest packet of an ACK: its gap from the one before, and how long it queued. */
RAMP_FN void ramp_chirp_hear(struct ramp_chirp *s, const struct ramp_ack *a,
			     struct ramp_decision *d)
{
	struct ramp_chirp_heard *h = &s->heard;
	ramp_u64 bytes = ramp_sub(a->newest_acked_bytes, s->seen_bytes), mss = ramp_max(a->mss_bytes, 1);
	ramp_u64 gap_ns = ramp_min(ramp_sub(a->now_ns, s->seen_ns), CHIRP_GAP_MAX_NS), packets = 1;
	ramp_u64 sent_gap_ns = ramp_min(ramp_sub(a->newest_sent_ns, s->seen_sent_ns), CHIRP_GAP_MAX_NS);
	ramp_u32 delay_us = a->rtt_us - s->growth.least_rtt_us, heard = s->seen_ns != 0, i;

	if (bytes > mss) {
		packets = ramp_min(bytes / mss, CHIRP_MOST);
		gap_ns /= packets;
		sent_gap_ns /= packets;
	}
	s->seen_bytes = a->newest_acked_bytes;
	s->seen_ns = a->now_ns;
	s->seen_sent_ns = a->newest_sent_ns;
	if (a->newest_acked_bytes > h->until_bytes && h->packets > 1)
		ramp_chirp_learn(s, a, d);
	if (d->phase == RAMP_DONE || s->slow)
		return;
	for (i = 0; i < CHIRP_AT_ONCE && a->newest_acked_bytes > h->until_bytes; i++)
		ramp_chirp_turn(s, a->mss_bytes);
	h->least_us = (ramp_u32)ramp_min(h->least_us, delay_us);
	if (packets > 1) /* of this chirp */
		packets = ramp_clamp(ramp_sub(ramp_sub(a->newest_acked_bytes, h->from_bytes) / mss,
					      h->packets),
				     1, packets);
	h->packets += (ramp_u32)packets;
	if (heard)
		ramp_chirp_pauses(s, gap_ns, sent_gap_ns);
	if (h->packets == packets) { /* the first of a chirp follows a pause */
		h->last_us = delay_us;
		h->uncounted = (ramp_u32)packets - 1;
	} else {
		h->last_gap_ns = sent_gap_ns;
		ramp_chirp_sample(s, h, sent_gap_ns, delay_us, (ramp_u32)packets);
	}
	if (a->newest_acked_bytes < h->until_bytes)
		return;
	ramp_chirp_learn(s, a, d);
	if (d->phase != RAMP_DONE && !s->slow)
		ramp_chirp_turn(s, a->mss_bytes);
}

RAMP_FN void ramp_chirp_on_ack(struct ramp_chirp *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	ramp_u64 queued_us, credit;

	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	if (a->rtt_us)
		s->smoothed_us = s->smoothed_us ? s->smoothed_us - (s->smoothed_us >> 3) + a->rtt_us
						: (ramp_u64)a->rtt_us * 8;
	ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	credit = ramp_used_credit(&s->growth, &s->usage, a, d);
	if (s->slow) {
		ramp_grow(credit, a->mss_bytes, d);
		ramp_leave_at_ssthresh(d);
		return;
	}
	ramp_chirp_count(s, a);
	queued_us = ramp_sub(s->smoothed_us >> 3, s->growth.least_rtt_us);
	/* What was sent while a loss was believed was in no chirp, nor is what waited for the application. */
	if (a->lost_bytes || a->flags & RAMP_APP_LIMITED || s->heard_of >= s->chirps_max) {
		ramp_chirp_give_up(s, a, d);
		return;
	}
	if (queued_us >= s->overload_us) {
		d->evidence = s->smoothed_us >> 3;
		d->limit = s->growth.least_rtt_us + s->overload_us;
		ramp_chirp_leave(s, a, RAMP_EXIT_DELAY, d);
		return;
	}
	if (a->rtt_us && a->newest_sent_ns && a->newest_acked_bytes > s->seen_bytes)
		ramp_chirp_hear(s, a, d);
	if (d->phase == RAMP_DONE || s->slow)
		return;
	ramp_leave_at_ssthresh(d);
	if (d->phase != RAMP_DONE)
		ramp_chirp_say(s, a->mss_bytes, d);
}

/* A loss leaves half of what fits; if it was none, the next ACK leads to slow start. */
RAMP_FN void ramp_chirp_on_event(struct ramp_chirp *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (ramp_is_congestion(e) && phase != RAMP_DONE && !s->slow) {
		d->ssthresh_bytes = ramp_chirp_fitting(s, e->in_flight_bytes, e->mss_bytes) / 2;
		d->ssthresh_bytes = ramp_max(d->ssthresh_bytes, (ramp_u64)e->mss_bytes * 2);
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase != RAMP_DONE && !s->slow) /* undone */
		ramp_chirp_say(s, e->mss_bytes, d);
}

#endif
