/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reach: open the window to what each flight has proved that the path carries; when the proof is
 * clear, fill the path, and land on the rate proved. Where anything but its own packets moved an
 * RTT, try half of the rate for a round trip before.
 *
 *     startup: search --a flight proves a bound--> search, window opened to it, at least doubled
 *              search --its proof is clear and far above the flight--> (trial -->) fill --> done
 *              fill --it comes back as fast as it left--> fill, at more than that
 *              search --its proof is clear, near the flight, and the next agrees--> done
 *     startup --loss, mark--> done, at what is proved, and no more than beta of the window
 *     startup --timeout--> done
 *
 * A flight's proof: all between its first and last ACK was served within the time between them plus
 * what the first had waited beyond the base RTT. Bunched ACKs make that rate smaller, not larger,
 * as long as the base RTT is not too high, and the handshake guards that. Where the receiver's clock
 * is known (RFC 7323), ACKs count from when it says that they left. Without it, ACKs that a return
 * link spaces evenly make the rate smaller, and it still looks clear: hence two of them where it is
 * low.
 *
 * Source: ramp's own, tuned on the public half of the league.
 * Limits: without timestamps, where a return link spaces ACKs evenly and is slower than the path, it
 *         lands on that link's rate.
 */
#ifndef RAMP_REACH_H
#define RAMP_REACH_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_REACH_PARAMETERS(P, N)                                                                 \
	P(N, cap, "count", 32, 2, 4096, "our choice",                                               \
	  "most growth from one flight to the next by a proof that is not clear")                   \
	P(N, trust, "count", 4096, 2, 65535, "our choice",                                          \
	  "a clear proof of more than so many flights counts as not clear")                         \
	P(N, probe, "count", 32, 1, 1024, "our choice",                                             \
	  "a flight of the search leaves in one part in so many of the base RTT")                   \
	P(N, clear, "count", 2, 1, 1024, "our choice",                                              \
	  "clear: noise and wait are at most one part in so many of the flight's span")             \
	P(N, near, "count", 2, 0, 1024, "our choice",                                               \
	  "a clear proof of no more than so many flights is not believed at once")                  \
	P(N, trial, "percent", 50, 1, 100, "our choice",                                            \
	  "of the rate, sent until it comes back unslowed, before the fill; 100: no trial")         \
	P(N, quiet, "count", 24, 1, 65535, "our choice",                                            \
	  "no trial where noise is at most one part in so many of the flight's span")               \
	P(N, fill, "percent", 105, 101, 400, "our choice", "of the rate, that the fill is sent at") \
	P(N, room, "percent", 125, 100, 400, "our choice",                                          \
	  "of rate x (RTT + noise), the window that start-up ends at where others may be")          \
	P(N, beta, "percent", 100, 1, 100, "our choice; RFC 9438 §4.6: 70",                         \
	  "of the window, the most that a loss or mark leaves")                                     \
	P(N, tick, "us", 1000, 0, 65535, "our choice",                                              \
	  "of the receiver's clock, by which ACKs that were held count; 0: as they come")

RAMP_PARAMETERS(REACH)

#define REACH_QUARTERS 3u
#define REACH_UNIT_NS 64u /* 32 bits of them are 275 s */

enum {
	REACH_SEARCH,
	REACH_TRIAL,
	REACH_FILL,
	REACH_REFILL, /* the fill was no faster than the path */
};

enum { /* the receiver's */
       REACH_NO_CLOCK,
       REACH_CLOCK,
       REACH_SURE_CLOCK, /* it has been seen to tick */
};

struct ramp_reach {
	struct ramp_growth growth; /* least_rtt_us: the base RTT */
	ramp_u64 start_bytes; /* the flight was sent after this ... */
	ramp_u64 end_bytes;   /* ... and up to this; 0: up to what its first ACK finds sent */
	ramp_u64 first_ns;    /* its first ACK; 0: not yet */
	ramp_u64 first_sent_ns;
	ramp_u64 first_delivered_bytes;
	ramp_u64 first_newest_bytes;
	ramp_u64 last_ns;     /* its last so far */
	ramp_u64 last_sent_ns;
	ramp_u64 last_delivered_bytes;
	ramp_u64 last_newest_bytes;
	ramp_u32 quarter_units[REACH_QUARTERS]; /* since the first, when ... */
	ramp_u32 quarter_bytes[REACH_QUARTERS]; /* ... so much had come */
	ramp_u64 rate;         /* proved, or estimated from a clear proof, B/s; 0: none */
	ramp_u64 near_bytes;   /* a clear proof's BDP that the next has to confirm; 0: none */
	ramp_u64 pace;         /* the rate that was decided, B/s; 0: none */
	ramp_u64 floor_bytes;
	ramp_u64 clock_ns;     /* ours less the receiver's, and 2^60, by the quickest ACK */
	ramp_u32 first_rtt_us;
	ramp_u32 noise_us;     /* how far the path has been seen to move an RTT by itself */
	ramp_u32 handshake_us; /* 0: unknown, or compared already */
	ramp_u8 quarters;      /* of this flight that have come */
	ramp_u8 step;
	ramp_u8 clock;
	ramp_u8 alone;         /* nobody else was seen in the clear proof */
	ramp_u8 growing;       /* with every ACK */
	ramp_u8 paused;        /* the application had nothing to send in the flight */
	ramp_u8 trial, beta;
	ramp_u16 off;          /* by how much the estimate may be off, 1/65536 */
	ramp_u16 cap, trust, probe, clear, near, quiet, fill, room, tick;
};

struct ramp_reach_proof {
	ramp_u64 rate;      /* B/s, at least; 0: none */
	ramp_u64 middle;    /* B/s, over the span alone */
	ramp_u32 rate_off;  /* by how much it may be off, 1/65536 */
	ramp_u32 middle_off;
	ramp_u32 even;      /* nothing but a wait may blur it */
	ramp_u32 clear;
	ramp_u32 quiet;     /* nobody else has been seen */
	ramp_u32 stretched; /* it came back slower than it left */
	ramp_u32 slowed;    /* the same, against half of the fill's excess */
	ramp_u32 queued;    /* one and a half RTTs of the path's time: its own queue stands */
};

RAMP_FN void ramp_reach_start(struct ramp_reach *s, ramp_u64 start_bytes)
{
	s->start_bytes = start_bytes;
	s->end_bytes = 0;
	s->first_ns = 0;
	s->quarters = 0;
	s->paused = 0;
}

/* Our clock less the receiver's: their offset, and how long the segment took. */
RAMP_FN ramp_u64 ramp_reach_apart(const struct ramp_reach *s, ramp_u64 now_ns, ramp_u32 tsval)
{
	ramp_u64 ahead = (ramp_u64)1 << 60; /* more than any TSval says */

	return ramp_sub(ramp_add(now_ns, ahead), (ramp_u64)tsval * s->tick * 1000);
}

RAMP_FN void ramp_reach_init(struct ramp_reach *s, const struct ramp_config *c,
			     struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->floor_bytes = d->cwnd_bytes;
	s->handshake_us = c->handshake_rtt_us;
	s->cap = (ramp_u16)ramp_parameter(c, REACH, cap);
	s->trust = (ramp_u16)ramp_parameter(c, REACH, trust);
	s->probe = (ramp_u16)ramp_parameter(c, REACH, probe);
	s->clear = (ramp_u16)ramp_parameter(c, REACH, clear);
	s->near = (ramp_u16)ramp_parameter(c, REACH, near);
	s->trial = (ramp_u8)ramp_parameter(c, REACH, trial);
	s->quiet = (ramp_u16)ramp_parameter(c, REACH, quiet);
	s->fill = (ramp_u16)ramp_parameter(c, REACH, fill);
	s->room = (ramp_u16)ramp_parameter(c, REACH, room);
	s->beta = (ramp_u8)ramp_parameter(c, REACH, beta);
	s->tick = (ramp_u16)ramp_parameter(c, REACH, tick);
	s->clock_ns = ramp_reach_apart(s, c->now_ns, c->tsval);
	s->clock = s->tick && c->tsval ? REACH_CLOCK : REACH_NO_CLOCK;
}

RAMP_FN ramp_u64 ramp_reach_bdp(const struct ramp_reach *s, ramp_u64 rate)
{
	return ramp_mul_div(rate, s->growth.least_rtt_us, 1000000);
}

/* What keeps the pipe full when ACKs wait for as long as they have been seen to. */
RAMP_FN ramp_u64 ramp_reach_roomy(const struct ramp_reach *s, ramp_u64 rate)
{
	return ramp_mul_div(rate, (ramp_u64)s->growth.least_rtt_us + s->noise_us, 1000000);
}

/* By how much a later sample lowers the smallest RTT, the former one had waited: noise. */
RAMP_FN void ramp_reach_sample_rtt(struct ramp_reach *s, ramp_u32 rtt_us)
{
	ramp_u32 before = s->growth.least_rtt_us;

	if (rtt_us && (!before || rtt_us < before))
		s->growth.least_rtt_us = rtt_us;
	s->noise_us = (ramp_u32)ramp_max(s->noise_us, ramp_sub(before, s->growth.least_rtt_us));
	if (!s->first_ns)
		s->first_rtt_us = rtt_us ? rtt_us : s->growth.least_rtt_us;
}

/*
 * The handshake bounds the base RTT before there are enough samples: the service of what the first
 * ACK covers is all that data may add to it, a packet's, or two where ACKs are delayed (RFC 5681,
 * section 4.2). What they add beyond is noise, and so is what they lack.
 */
RAMP_FN void ramp_reach_compare(struct ramp_reach *s, ramp_u32 mss_bytes)
{
	ramp_u64 span_ns = ramp_sub(s->last_ns, s->first_ns), mss = mss_bytes;
	ramp_u64 bytes = ramp_sub(s->last_delivered_bytes, s->first_delivered_bytes);
	ramp_u64 covered = ramp_max(ramp_min(s->first_newest_bytes, 2 * mss), mss);
	ramp_u64 service_us = ramp_mul_div(span_ns, covered, ramp_max(bytes, 1)) / 1000;
	ramp_u64 most_us = ramp_add(service_us, s->handshake_us), least_us = s->growth.least_rtt_us;
	ramp_u64 noise_us;

	most_us = ramp_add(most_us, service_us / 4 + 2); /* a clock's tick on either side */
	if (!s->handshake_us)
		return;
	noise_us = least_us > most_us ? least_us - most_us
				      : ramp_sub(most_us, ramp_add(least_us, service_us) + 4);
	s->noise_us = (ramp_u32)ramp_max(s->noise_us, ramp_min(noise_us, 0xffffffffu));
	s->growth.least_rtt_us = (ramp_u32)ramp_min(least_us, most_us);
	s->handshake_us = 0;
}

/* How unevenly the quarters came: twice the largest distance from a steady stream, ns. */
RAMP_FN ramp_u64 ramp_reach_uneven(const struct ramp_reach *s)
{
	ramp_u64 span = ramp_sub(s->last_ns, s->first_ns), most = 0, steady, ns;
	ramp_u64 done = ramp_sub(s->last_newest_bytes, s->first_newest_bytes);
	ramp_u32 i;

	for (i = 0; i < REACH_QUARTERS; i++) {
		if (i >= s->quarters)
			break;
		steady = ramp_mul_div(span, s->quarter_bytes[i], done);
		ns = (ramp_u64)s->quarter_units[i] * REACH_UNIT_NS;
		most = ramp_max(most, ns > steady ? ns - steady : steady - ns);
	}
	return ramp_mul(most, 2);
}

RAMP_FN void ramp_reach_forget(struct ramp_reach_proof *p)
{
	p->rate = 0;
	p->middle = 0;
	p->rate_off = 0;
	p->middle_off = 0;
	p->even = 0;
	p->clear = 0;
	p->quiet = 0;
	p->stretched = 0;
	p->slowed = 0;
	p->queued = 0;
}

/* In 1/65536, and less than all. */
RAMP_FN ramp_u32 ramp_reach_part(ramp_u64 part_ns, ramp_u64 span_ns)
{
	return (ramp_u32)ramp_min(ramp_div(ramp_mul(part_ns, 65536), span_ns), 65535);
}

/* What the flight has proved by its last ACK so far. */
RAMP_ONCE ramp_u32 ramp_reach_prove(const struct ramp_reach *s, struct ramp_reach_proof *p)
{
	ramp_u64 span, sent, bytes, wait, moved, noise, excess;

	if (!s || !p)
		return 0;
	span = ramp_sub(s->last_ns, s->first_ns);
	sent = ramp_sub(s->last_sent_ns, s->first_sent_ns);
	bytes = ramp_sub(s->last_delivered_bytes, s->first_delivered_bytes);
	wait = ramp_sub(s->first_rtt_us, s->growth.least_rtt_us) * 1000;
	moved = (ramp_u64)s->noise_us * 1000;
	ramp_reach_forget(p);
	if (!s->first_ns || !bytes || !span || s->last_newest_bytes <= s->first_newest_bytes)
		return 0;
	noise = ramp_max(ramp_reach_uneven(s), moved);
	excess = ramp_mul_div(sent, s->fill - 100u, 200);
	p->rate = ramp_mul_div(bytes, 1000000000, ramp_max(ramp_add(span, wait), moved));
	p->middle = ramp_mul_div(bytes, 1000000000, span);
	p->rate_off = ramp_reach_part(ramp_add(noise, wait), span);
	p->middle_off = ramp_reach_part(noise, span);
	p->even = !s->paused && s->quarters >= 2 && ramp_mul(noise, s->clear) <= span;
	p->clear = p->even && ramp_mul(wait, s->clear) <= span;
	p->quiet = ramp_mul(noise, s->quiet) <= span;
	p->stretched = span > ramp_add(ramp_add(sent, sent / 4), noise);
	p->slowed = span > ramp_add(ramp_add(sent, excess), noise);
	p->queued = ramp_mul(span, 2) >= (ramp_u64)s->growth.least_rtt_us * 3000;
	return 1;
}

/* The next flight is what the window lets out now, at this rate. */
RAMP_FN void ramp_reach_launch(struct ramp_reach *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	ramp_u64 mss = a->mss_bytes ? a->mss_bytes : 1;
	ramp_u64 space = ramp_sub(ramp_add(d->cwnd_bytes, a->acked_bytes), a->in_flight_bytes);

	d->pacing_bytes_per_s = s->pace;
	ramp_reach_start(s, a->sent_bytes);
	s->end_bytes = ramp_add(a->sent_bytes, ramp_max(space / mss, 1) * mss);
}

RAMP_FN void ramp_reach_settle(struct ramp_reach *s, ramp_u64 rate, struct ramp_decision *d)
{
	ramp_u64 window = ramp_reach_roomy(s, rate);

	if (!s->alone)
		window = ramp_mul_div(window, s->room, 100);
	window = ramp_max(window, s->floor_bytes);
	ramp_hold(ramp_min(window, d->ssthresh_bytes), 1, d);
	d->ssthresh_bytes = d->cwnd_bytes;
}

RAMP_FN void ramp_reach_finish(struct ramp_reach *s, ramp_u32 exit_reason, ramp_u64 rate,
			       struct ramp_decision *d)
{
	ramp_u64 bdp = ramp_reach_bdp(s, rate), base_off = ramp_sub(ramp_reach_roomy(s, rate), bdp);

	d->evidence = ramp_add(ramp_mul_div(bdp, s->off, 65536), base_off);
	d->limit = bdp;
	ramp_reach_settle(s, rate, d);
	ramp_leave(exit_reason, d);
}

RAMP_FN ramp_u32 ramp_reach_share(const struct ramp_reach *s)
{
	return s->step == REACH_REFILL ? s->room : s->fill;
}

/* Send at this share of the rate for a round trip. */
RAMP_FN void ramp_reach_send(struct ramp_reach *s, const struct ramp_ack *a,
			     struct ramp_decision *d)
{
	ramp_u32 percent = s->step == REACH_TRIAL ? s->trial : ramp_reach_share(s);
	ramp_u64 least = s->step == REACH_TRIAL ? d->cwnd_bytes : s->floor_bytes;

	s->pace = ramp_mul_div(s->rate, percent, 100);
	least = ramp_max(ramp_reach_roomy(s, s->pace), least);
	ramp_hold(ramp_min(least, d->ssthresh_bytes), a->mss_bytes, d);
	ramp_reach_launch(s, a, d);
}

/*
 * Whether a flight confirms the proof before it: the same rate to a quarter, and the path's rate, not
 * the sender's. What it has waited does not count: at that rate the queue is its own, and in a deep
 * buffer it only grows.
 */
RAMP_FN ramp_u32 ramp_reach_agrees(const struct ramp_reach *s, const struct ramp_reach_proof *p)
{
	ramp_u64 before = s->near_bytes, now = ramp_reach_bdp(s, p->middle), off;

	off = now > before ? now - before : before - now;
	return before && p->even && (p->stretched || p->queued) && ramp_mul(off, 4) <= before;
}

/* As slow start does. The next flight is what leaves, or has left, while the window doubles. */
RAMP_FN void ramp_reach_go_on(struct ramp_reach *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	ramp_pace_no_more(d);
	s->pace = 0;
	ramp_reach_start(s, s->growing || !s->start_bytes ? s->end_bytes : a->sent_bytes);
	s->growing = 1;
}

/* The window that a flight has earned, and the rate at which the next one leaves. */
RAMP_ONCE ramp_u32 ramp_reach_open(struct ramp_reach *s, const struct ramp_ack *a,
				   const struct ramp_reach_proof *p, struct ramp_decision *d)
{
	ramp_u64 flight, cap, proven, next;
	ramp_u32 trusted;

	if (!s || !a || !p || !d)
		return 0;
	flight = ramp_sub(s->end_bytes, s->start_bytes);
	proven = ramp_reach_bdp(s, p->rate);
	trusted = p->clear && p->stretched && proven <= ramp_mul(flight, s->trust);
	if (trusted && proven > ramp_mul(flight, s->near)) {
		s->rate = p->rate;
		s->off = (ramp_u16)p->rate_off;
		s->alone = p->quiet ? 1 : 0;
		s->step = REACH_FILL;
		if (s->trial < 100 && !s->alone && proven > d->cwnd_bytes)
			s->step = REACH_TRIAL;
		ramp_reach_send(s, a, d);
		return 0;
	}
	if (a->newest_acked_bytes < s->end_bytes)
		return 0;
	if (ramp_reach_agrees(s, p)) {
		s->rate = p->middle;
		s->off = (ramp_u16)p->middle_off;
		s->alone = p->quiet ? 1 : 0;
		ramp_reach_finish(s, RAMP_EXIT_AGREEMENT, s->rate, d);
		return 0;
	}
	s->near_bytes = trusted ? ramp_reach_bdp(s, p->middle) : 0;
	if (s->near_bytes) {
		s->rate = ramp_max(s->rate, p->rate);
		ramp_reach_go_on(s, a, d);
		return 0;
	}
	cap = ramp_mul(flight, s->cap);
	proven = ramp_min(proven, cap);
	if (proven > ramp_reach_bdp(s, s->rate))
		s->rate = ramp_mul_div(proven, 1000000, s->growth.least_rtt_us);
	next = ramp_min(ramp_max(proven, ramp_reach_bdp(s, s->rate)), cap);
	if ((!s->growing || !s->start_bytes) && (a->flags & RAMP_CWND_LIMITED) &&
	    ramp_mul(flight, 2) >= d->cwnd_bytes) /* not on the host's word alone */
		next = ramp_max(next, ramp_mul(d->cwnd_bytes, 2));
	next = ramp_min(next, d->ssthresh_bytes);
	s->pace = 0;
	if (next <= d->cwnd_bytes) {
		ramp_reach_go_on(s, a, d);
		return 0;
	}
	s->pace = ramp_mul_div(ramp_mul(next, s->probe), 1000000, s->growth.least_rtt_us);
	if (p->clear) /* not slowed down: twice as fast shows whether the path is */
		s->pace = ramp_min(s->pace, ramp_mul(p->rate, 2));
	s->growing = 0;
	ramp_hold(next, a->mss_bytes, d);
	ramp_reach_launch(s, a, d);
	return 1;
}

/*
 * The fill is back. If it came as fast as it left, three quarters of the excess and more, the path is
 * faster than estimated: return links and receivers that delay ACKs make the first flights look slow.
 */
RAMP_ONCE ramp_u32 ramp_reach_filled(struct ramp_reach *s, const struct ramp_ack *a,
				     const struct ramp_reach_proof *p, struct ramp_decision *d)
{
	ramp_u64 before, came, flight;

	if (!s || !a || !p || !d)
		return 0;
	before = s->rate;
	came = ramp_min(p->middle, s->pace); /* nothing comes faster than it left */
	flight = ramp_sub(s->end_bytes, s->start_bytes);
	if (p->clear && came > before && ramp_reach_bdp(s, came) <= ramp_mul(flight, s->trust)) {
		s->rate = came;
		s->off = (ramp_u16)p->middle_off;
		if (ramp_mul(came, 400) > ramp_mul(before, 100 + 3 * ramp_reach_share(s))) {
			s->step = REACH_REFILL;
			ramp_reach_send(s, a, d);
			return 1;
		}
	}
	ramp_reach_finish(s, RAMP_EXIT_PROOF, s->rate, d);
	return 0;
}

/* A quarter of a flight has come, or all of it. */
RAMP_FN void ramp_reach_judge(struct ramp_reach *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	struct ramp_reach_proof p;

	if (s->step == REACH_SEARCH && s->quarters < 2)
		return;
	if (s->step >= REACH_FILL && a->newest_acked_bytes < s->end_bytes)
		return;
	if (s->step == REACH_SEARCH && !s->start_bytes)
		ramp_reach_compare(s, a->mss_bytes);
	ramp_reach_forget(&p); /* all of it is set before a BPF function gets it */
	ramp_reach_prove(s, &p);
	if (s->step == REACH_SEARCH) {
		ramp_reach_open(s, a, &p, d);
		return;
	}
	if (s->step >= REACH_FILL) {
		ramp_reach_filled(s, a, &p, d);
		return;
	}
	if (p.slowed) { /* somebody else is there: what came back is the share */
		s->off = (ramp_u16)p.middle_off;
		ramp_reach_finish(s, RAMP_EXIT_SHARE, ramp_min(p.middle, s->rate), d);
		return;
	}
	s->step = REACH_FILL;
	ramp_reach_send(s, a, d);
}

RAMP_FN void ramp_reach_first(struct ramp_reach *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	if (a->newest_acked_bytes <= s->start_bytes)
		return;
	s->first_ns = s->last_ns;
	s->first_sent_ns = a->newest_sent_ns;
	s->first_delivered_bytes = a->delivered_bytes;
	s->first_newest_bytes = a->newest_acked_bytes;
	if (!s->end_bytes || s->end_bytes > a->sent_bytes)
		s->end_bytes = a->sent_bytes;
	if (s->end_bytes > s->first_newest_bytes)
		return;
	if (s->step == REACH_SEARCH) /* a flight of one ACK proves nothing */
		ramp_reach_go_on(s, a, d);
	else
		ramp_reach_start(s, s->end_bytes);
}

RAMP_FN void ramp_reach_measure(struct ramp_reach *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 done, flight;
	ramp_u32 i;

	s->last_sent_ns = ramp_max(a->newest_sent_ns, s->last_sent_ns);
	s->last_delivered_bytes = a->delivered_bytes;
	s->last_newest_bytes = ramp_max(a->newest_acked_bytes, s->last_newest_bytes);
	if (a->flags & RAMP_APP_LIMITED)
		s->paused = 1;
	if (!s->first_ns) {
		ramp_reach_first(s, a, d);
		return;
	}
	done = ramp_sub(a->newest_acked_bytes, s->first_newest_bytes);
	flight = ramp_sub(s->end_bytes, s->first_newest_bytes);
	if (ramp_mul(done, 4) < ramp_mul(flight, s->quarters + 1u))
		return;
	for (i = 0; i < REACH_QUARTERS; i++) {
		if (i != s->quarters || ramp_mul(done, 4) < ramp_mul(flight, i + 1))
			continue;
		s->quarter_units[i] =
			(ramp_u32)(ramp_sub(s->last_ns, s->first_ns) / REACH_UNIT_NS);
		s->quarter_bytes[i] = (ramp_u32)ramp_min(done, 0xffffffffu);
		s->quarters++;
	}
	ramp_reach_judge(s, a, d);
}

/*
 * For how long an ACK was held on its way, longer than the quickest one, by the receiver's clock, ns; the
 * tick that it may have left before its next is not counted. A clock that ticks half as often, or
 * less, shows an ACK late by half of its RTT, since that is later than the handshake. And no ACK is held
 * for longer than its RTT has grown.
 */
RAMP_FN ramp_u64 ramp_reach_held(struct ramp_reach *s, const struct ramp_ack *a)
{
	ramp_u64 apart = ramp_reach_apart(s, a->now_ns, a->tsval), tick = (ramp_u64)s->tick * 1000;
	ramp_u64 held, grown, rtt = (ramp_u64)a->rtt_us * 1000, least_us = s->growth.least_rtt_us;

	if (s->clock == REACH_NO_CLOCK || !a->tsval || !a->rtt_us)
		return 0;
	s->clock_ns = ramp_min(s->clock_ns, apart);
	held = ramp_sub(apart - s->clock_ns, tick);
	if (s->clock == REACH_CLOCK) {
		if (rtt < ramp_mul(tick, 12) || ramp_mul(held, 3) > rtt)
			return 0;
		s->clock = REACH_SURE_CLOCK;
	}
	if (s->handshake_us && (!least_us || s->handshake_us < least_us))
		least_us = s->handshake_us;
	grown = ramp_sub(a->rtt_us, least_us) * 1000;
	if (held > ramp_add(grown, tick))
		s->clock = REACH_NO_CLOCK;
	return s->clock == REACH_NO_CLOCK ? 0 : ramp_min(held, grown);
}

RAMP_FN void ramp_reach_on_ack(struct ramp_reach *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	ramp_u64 credit = 0, held;
	ramp_u32 rtt_us = a->rtt_us;

	if (d->phase == RAMP_DONE)
		return;
	if (s->step == REACH_SEARCH && (s->growing || !s->start_bytes))
		credit = ramp_used_credit(&s->growth, a, d);
	/* If the proof near the flight is right, this is twice what the path holds. */
	if (s->near_bytes && d->cwnd_bytes >= ramp_mul(s->near_bytes, 2))
		credit = 0;
	ramp_grow(a->flags & RAMP_RECOVERING ? 0 : credit, a->mss_bytes, d);
	if (a->flags & RAMP_RECOVERING)
		return;
	held = ramp_reach_held(s, a);
	if (held)
		rtt_us = (ramp_u32)ramp_max(ramp_sub(rtt_us, held / 1000), 1);
	ramp_reach_sample_rtt(s, rtt_us);
	if (s->growth.least_rtt_us && a->newest_sent_ns) {
		s->last_ns = ramp_sub(a->now_ns, held);
		ramp_reach_measure(s, a, d);
	}
	if (d->phase == RAMP_STARTUP)
		ramp_leave_at_ssthresh(d);
}

/* What a loss lands at. The flight may not have been judged yet: a judgement's bounds hold. */
RAMP_FN ramp_u64 ramp_reach_so_far(const struct ramp_reach *s)
{
	ramp_u64 flight = ramp_sub(s->end_bytes, s->start_bytes), most;
	struct ramp_reach_proof p;

	ramp_reach_forget(&p); /* all of it is set before a BPF function gets it */
	ramp_reach_prove(s, &p);
	if (p.clear && p.stretched && ramp_reach_bdp(s, p.rate) <= ramp_mul(flight, s->trust))
		return p.middle;
	most = ramp_mul_div(ramp_mul(flight, s->cap), 1000000, s->growth.least_rtt_us);
	return ramp_max(s->rate, ramp_min(p.rate, most));
}

RAMP_FN void ramp_reach_on_event(struct ramp_reach *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;
	ramp_u64 rate = 0, cwnd = d->cwnd_bytes, most;

	if (phase != RAMP_DONE && ramp_is_congestion(e)) {
		rate = ramp_reach_so_far(s);
		if (rate && e->kind != RAMP_TIMEOUT) {
			ramp_reach_settle(s, rate, d);
			most = ramp_mul_div(cwnd, s->beta, 100);
			ramp_hold(ramp_min(d->cwnd_bytes, most), e->mss_bytes, d);
			d->ssthresh_bytes = d->cwnd_bytes;
		}
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (rate)
		d->limit = ramp_reach_bdp(s, rate);
	if (e->kind == RAMP_IDLE_RESTART) { /* measure what comes after it, an undone end too */
		s->step = REACH_SEARCH;
		s->rate = 0;
		s->pace = 0;
		s->near_bytes = 0;
		if (s->clock == REACH_SURE_CLOCK) /* else its start is what it has to be held against */
			s->clock_ns = ~(ramp_u64)0;
		s->alone = 0;
		ramp_pace_no_more(d);
		ramp_reach_start(s, s->last_newest_bytes);
	}
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->pace;
}

#endif
