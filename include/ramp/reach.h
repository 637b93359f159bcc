/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reach: open the window to what each flight has proved that the path carries, by a few times what
 * has come back at most; where a proof is clear, try a share of its rate, then fill the path, and land.
 *
 *     search --a flight is back: it proves a bound--> search, the window opened to that
 *     search --its proof is clear--> trial --unslowed--> a larger trial, or fill --> done
 *     trial --slowed: others are there--> done, at what came back
 *     search --clear, and the flight held all that the path holds--> done
 *     any --loss, mark--> done, at what is proved, and no more than beta, ce_beta of the window
 *     any --timeout--> done
 *
 * A flight's proof: all between its first and last ACK was served within the time between them plus
 * what the first had waited beyond the base RTT. Bunched ACKs make that rate smaller, not larger, as
 * long as the base RTT is not too high; for the first flight the handshake guards that. Where the
 * receiver's clock is known (RFC 7323), ACKs count from when it says that they left. A flight that did
 * not fill the window proves and opens nothing (RFC 7661).
 *
 * Source: ramp's own.
 * Limits: without timestamps, where a return link spaces ACKs evenly and is slower than the path, it
 *         lands on that link's rate.
 */
#ifndef RAMP_REACH_H
#define RAMP_REACH_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_REACH_PARAMETERS(P, N)                                                                 \
	P(N, cap, "count", 3, 2, 65535, "our choice",                                               \
	  "most growth of the window in a round trip, where that is short")                         \
	P(N, far, "count", 32, 2, 65535, "our choice",                                              \
	  "the same where it is long, or the receiver's clock has shown that ACKs are held")        \
	P(N, trial, "percent", 70, 1, 100, "our choice",                                            \
	  "of a clear proof's rate, sent until it comes back unslowed, before the fill")            \
	P(N, beta, "percent", 70, 1, 100, "RFC 9438 §4.6", "of the window, the most a loss leaves") \
	P(N, ce_beta, "percent", 85, 1, 100, "RFC 8511", "of the window, the most a mark leaves")   \
	P(N, tick, "us", 1000, 0, 65535, "our choice",                                              \
	  "of the receiver's clock, by which ACKs that were held count; 0: as they come")

RAMP_PARAMETERS(REACH)

#define REACH_MARKS 2u
#define REACH_UNIT_NS 64u      /* 32 bits of them are 275 s */
#define REACH_GROWTH_US 25000u /* of base RTT: beyond cap, growth is one for each, up to far */
#define REACH_PROBE 32u        /* in one part in so many of the base RTT an unclear proof's flight leaves */
#define REACH_QUEUE 8u         /* a flight that waits for more than one part in so many of it is slowed */
#define REACH_FILL 105u        /* percent of the rate */
#define REACH_UNKNOWN 0xffffffffu

enum { REACH_SEARCH,
       REACH_TRIAL,
       REACH_LAST }; /* last: the fill */
enum { REACH_NO_CLOCK,
       REACH_CLOCK,
       REACH_SURE_CLOCK }; /* the receiver's; sure: seen to tick */

enum { REACH_OPENED,
       REACH_GROWING,
       REACH_WAITING }; /* for the end of a flight that has shown that the window holds enough */

struct ramp_reach {
	struct ramp_growth growth; /* least_rtt_us: the base RTT */
	ramp_u64 start_bytes, end_bytes; /* what was sent between them is the flight; end 0: what its
					    first ACK finds sent */
	ramp_u64 first_ns, first_sent_ns, first_delivered_bytes, first_newest_bytes; /* its first ACK;
											0: not yet */
	ramp_u64 last_ns, last_sent_ns, last_delivered_bytes, last_newest_bytes; /* its last so far */
	ramp_u64 rate;     /* proved, B/s; 0: none */
	ramp_u64 pace;     /* decided, B/s; 0: none */
	ramp_u64 clock_ns; /* ours less the receiver's, and 2^60, by the quickest ACK */
	ramp_u32 mark_units[REACH_MARKS]; /* since the first ACK, when ... */
	ramp_u32 mark_bytes[REACH_MARKS]; /* ... so much had come */
	ramp_u32 first_rtt_us, noise_us; /* noise: what later flights took off the smallest RTT */
	ramp_u32 handshake_us; /* REACH_UNKNOWN; 0: a flight that filled the window is over */
	ramp_u32 initial_bytes; /* the initial window */
	ramp_u16 cap, far, tick;
	ramp_u8 trial, beta, ce_beta;
	ramp_u8 step, marks, clock;
	ramp_u8 held;    /* the clock has shown an ACK that was held */
	ramp_u8 growing; /* REACH_GROWING: with every ACK, as slow start does */
	ramp_u8 full;    /* the flight filled the window */
	ramp_u8 blurred; /* the application paused, or one ACK was for more than a third */
};

struct ramp_reach_proof {
	ramp_u64 rate, middle; /* B/s: at least; over the span alone. 0: none */
	ramp_u64 span, noise;  /* ns; noise: of the span, what may not be the rate */
	ramp_u32 clear;        /* nothing blurs it */
	ramp_u32 stretched;    /* it came back slower than it left */
	ramp_u32 slowed;       /* the same, against half of the fill's excess */
	ramp_u32 over;         /* all of the flight is back */
};

RAMP_FN void ramp_reach_start(struct ramp_reach *s, ramp_u64 start_bytes, ramp_u64 end_bytes)
{
	s->start_bytes = start_bytes;
	s->end_bytes = end_bytes;
	s->first_ns = 0;
	s->marks = 0;
	s->blurred = 0;
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
	s->initial_bytes = (ramp_u32)ramp_min(d->cwnd_bytes, 0xffffffffu);
	s->handshake_us = c->handshake_rtt_us ? c->handshake_rtt_us : REACH_UNKNOWN;
	s->cap = (ramp_u16)ramp_parameter(c, REACH, cap);
	s->far = (ramp_u16)ramp_parameter(c, REACH, far);
	s->trial = (ramp_u8)ramp_parameter(c, REACH, trial);
	s->beta = (ramp_u8)ramp_parameter(c, REACH, beta);
	s->ce_beta = (ramp_u8)ramp_parameter(c, REACH, ce_beta);
	s->tick = (ramp_u16)ramp_parameter(c, REACH, tick);
	s->clock_ns = ramp_reach_apart(s, c->now_ns, c->tsval);
	s->clock = s->tick && c->tsval ? REACH_CLOCK : REACH_NO_CLOCK;
	s->growing = REACH_GROWING;
}

/* What the path holds at this rate, with as much time for waiting ACKs. */
RAMP_FN ramp_u64 ramp_reach_pipe(const struct ramp_reach *s, ramp_u64 rate, ramp_u32 more_us)
{
	return ramp_mul_div(rate, (ramp_u64)s->growth.least_rtt_us + more_us, 1000000);
}

/* By how many times a window may exceed what has come back in a round trip. */
RAMP_FN ramp_u64 ramp_reach_most(const struct ramp_reach *s, ramp_u64 flight)
{
	ramp_u64 times = s->growth.least_rtt_us / REACH_GROWTH_US;

	return ramp_mul(flight, s->held ? s->far : ramp_clamp(times, s->cap, s->far));
}

/* How unevenly the thirds came: twice the largest distance from a steady stream, ns. */
RAMP_FN ramp_u64 ramp_reach_uneven(const struct ramp_reach *s, ramp_u64 span)
{
	ramp_u64 done = ramp_sub(s->last_newest_bytes, s->first_newest_bytes), most = 0, steady, ns;
	ramp_u32 i;

	for (i = 0; i < REACH_MARKS; i++) {
		if (i >= s->marks)
			break;
		steady = ramp_mul_div(span, s->mark_bytes[i], done);
		ns = (ramp_u64)s->mark_units[i] * REACH_UNIT_NS;
		most = ramp_max(most, ns > steady ? ns - steady : steady - ns);
	}
	return ramp_mul(most, 2);
}

/* What the flight has proved by its last ACK so far. All of *p is zero before. */
RAMP_ONCE ramp_u32 ramp_reach_prove(const struct ramp_reach *s, struct ramp_reach_proof *p)
{
	ramp_u64 sent, bytes, wait, base_us, grown, least, tick = 0;

	if (!s || !p)
		return 0;
	p->span = ramp_sub(s->last_ns, s->first_ns);
	p->over = s->last_newest_bytes >= s->end_bytes;
	sent = ramp_sub(s->last_sent_ns, s->first_sent_ns);
	bytes = ramp_sub(s->last_delivered_bytes, s->first_delivered_bytes);
	if (s->held) /* what left in one tick seems to have left at once */
		tick = (ramp_u64)s->tick * 1000;
	least = ramp_max(p->span, tick);
	if (!s->first_ns || !bytes || !least || s->last_newest_bytes <= s->first_newest_bytes)
		return 0;
	base_us = s->growth.least_rtt_us;
	if (s->handshake_us && s->handshake_us != REACH_UNKNOWN) /* data also take their service */
		base_us = ramp_min(base_us, s->handshake_us + p->span / 2000);
	wait = ramp_sub(s->first_rtt_us, base_us) * 1000;
	p->noise = ramp_max((ramp_u64)s->noise_us * 1000, tick);
	p->rate = ramp_mul_div(bytes, 1000000000, ramp_max(ramp_add(p->span, wait), p->noise));
	p->middle = ramp_mul_div(bytes, 1000000000, least);
	p->noise = ramp_max(ramp_reach_uneven(s, p->span), p->noise);
	p->clear = !s->blurred && s->marks > 1 && ramp_mul(ramp_max(p->noise, wait), 2) <= p->span;
	grown = ramp_min(sent / 4, base_us * 1000 / REACH_QUEUE);
	p->stretched = p->span > ramp_add(ramp_add(sent, grown), p->noise);
	p->slowed = p->span > ramp_add(ramp_mul_div(sent, 100 + REACH_FILL, 200), p->noise);
	return 1;
}

/* A window that leaves at this rate; what it lets out now is the next flight. */
RAMP_FN void ramp_reach_launch(struct ramp_reach *s, const struct ramp_ack *a, ramp_u64 window,
			       ramp_u64 pace, struct ramp_decision *d)
{
	ramp_u64 mss = a->mss_bytes ? a->mss_bytes : 1, space;

	ramp_hold(ramp_min(ramp_max(window, s->initial_bytes), d->ssthresh_bytes), a->mss_bytes, d);
	space = ramp_sub(ramp_add(d->cwnd_bytes, a->acked_bytes), a->in_flight_bytes);
	ramp_reach_start(s, a->sent_bytes,
			 ramp_add(a->sent_bytes, ramp_max(space / mss, 1) * mss));
	s->growing = REACH_OPENED;
	s->pace = pace;
	d->pacing_bytes_per_s = pace;
}

/* As slow start does. The next flight is what leaves, or has left, while the window doubles. */
RAMP_FN void ramp_reach_go_on(struct ramp_reach *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	/* Twice what the window will be, in each round trip. */
	s->pace = s->full ? ramp_mul_div(d->cwnd_bytes, 4000000, s->growth.least_rtt_us) : 0;
	d->pacing_bytes_per_s = s->pace;
	ramp_reach_start(s, s->growing && s->full ? s->end_bytes : a->sent_bytes, 0);
	s->step = REACH_SEARCH;
	s->growing = REACH_GROWING;
}

RAMP_FN void ramp_reach_finish(struct ramp_reach *s, ramp_u32 exit_reason, ramp_u64 rate,
			       struct ramp_decision *d)
{
	ramp_u64 window = ramp_max(ramp_reach_pipe(s, rate, s->noise_us), s->initial_bytes);

	d->limit = ramp_reach_pipe(s, rate, 0);
	d->evidence = ramp_sub(window, d->limit);
	ramp_hold(ramp_min(window, d->ssthresh_bytes), 1, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(exit_reason, d);
}

/* The window that a flight of the search has earned, and the rate at which the next one leaves. */
RAMP_ONCE ramp_u32 ramp_reach_open(struct ramp_reach *s, const struct ramp_ack *a,
				   const struct ramp_reach_proof *p, struct ramp_decision *d)
{
	ramp_u64 flight, most, next, pace, holds;

	if (!s || !a || !p || !d)
		return 0;
	flight = ramp_sub(ramp_min(s->last_newest_bytes, s->end_bytes), s->start_bytes);
	most = ramp_reach_most(s, p->over && !s->growing ? d->cwnd_bytes : flight);
	holds = ramp_reach_pipe(s, p->rate, 0);
	if (p->clear && p->stretched) {
		pace = ramp_mul_div(p->rate, s->trial, 100);
		next = ramp_reach_pipe(s, pace, s->noise_us);
		if (next <= d->cwnd_bytes && s->growing)
			s->growing = REACH_WAITING;
		if (!p->over && (next <= d->cwnd_bytes || next > most))
			return 0; /* more of the flight tells more, and will allow more */
		s->rate = p->rate;
		s->handshake_us = 0;
		s->step = REACH_TRIAL;
		if (next > d->cwnd_bytes)
			ramp_reach_launch(s, a, ramp_max(ramp_min(next, most), d->cwnd_bytes), pace, d);
		else
			ramp_reach_finish(s, RAMP_EXIT_PROOF, p->middle, d);
		return 0;
	}
	if (!p->over)
		return 0;
	s->handshake_us = 0;
	next = ramp_min(holds, most);
	s->rate = ramp_max(s->rate, ramp_mul_div(next, 1000000, s->growth.least_rtt_us));
	if (!s->growing) /* no ACK has doubled it */
		next = ramp_max(next, ramp_mul(d->cwnd_bytes, 2));
	if (next <= d->cwnd_bytes) {
		ramp_reach_go_on(s, a, d);
		return 0;
	}
	pace = ramp_mul_div(next, REACH_PROBE * 1000000, s->growth.least_rtt_us);
	if (p->clear) /* not slowed down: twice as fast shows whether the path is */
		pace = ramp_min(pace, ramp_mul(p->rate, 2));
	ramp_reach_launch(s, a, next, pace, d);
	return 0;
}

/* A trial is back, or the fill. */
RAMP_ONCE ramp_u32 ramp_reach_tried(struct ramp_reach *s, const struct ramp_ack *a,
				    const struct ramp_reach_proof *p, struct ramp_decision *d)
{
	ramp_u64 came, next, pace, most, share;

	if (!s || !a || !p || !d || !p->over)
		return 0;
	came = ramp_min(p->middle, d->pacing_bytes_per_s); /* nothing comes faster than it left */
	most = ramp_reach_most(s, d->cwnd_bytes);
	share = ramp_min(p->middle, s->rate);
	if (s->step == REACH_TRIAL && p->slowed) /* what came back is the share */
		s->rate = share;
	pace = ramp_mul_div(s->rate, s->trial, 100);
	next = ramp_reach_pipe(s, pace, s->noise_us);
	if (!p->rate) { /* one ACK, which proves nothing */
		ramp_reach_go_on(s, a, d);
	} else if (s->step == REACH_TRIAL && p->slowed && ramp_reach_pipe(s, share, 0) <= most) {
		ramp_reach_finish(s, RAMP_EXIT_SHARE, share, d);
	} else if (s->step == REACH_TRIAL && d->cwnd_bytes < ramp_min(next, d->ssthresh_bytes)) {
		ramp_reach_launch(s, a, ramp_min(next, most), pace, d);
	} else if (s->step == REACH_TRIAL) {
		s->step = REACH_LAST;
		pace = ramp_mul_div(s->rate, REACH_FILL, 100);
		ramp_reach_launch(s, a, ramp_reach_pipe(s, pace, s->noise_us), pace, d);
	} else if (p->clear && ramp_mul(came, 400) > ramp_mul(s->rate, 100 + 3 * REACH_FILL)) {
		/* The fill came as fast as it left, or nearly: the path is faster than it seemed. */
		s->rate = came;
		pace = ramp_add(came, came / 4);
		ramp_reach_launch(s, a, ramp_reach_pipe(s, pace, s->noise_us), pace, d);
	} else {
		ramp_reach_finish(s, RAMP_EXIT_PROOF, p->clear ? ramp_max(came, s->rate) : s->rate, d);
	}
	return 0;
}

RAMP_FN void ramp_reach_first(struct ramp_reach *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	s->first_ns = s->last_ns;
	s->first_sent_ns = a->newest_sent_ns;
	s->first_delivered_bytes = a->delivered_bytes;
	s->first_newest_bytes = a->newest_acked_bytes;
	if (!s->end_bytes || s->end_bytes > a->sent_bytes)
		s->end_bytes = a->sent_bytes;
	if (!s->full || s->end_bytes <= s->first_newest_bytes) /* one ACK proves nothing */
		ramp_reach_go_on(s, a, d);
}

RAMP_FN void ramp_reach_measure(struct ramp_reach *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	struct ramp_reach_proof p = {0, 0, 0, 0, 0, 0, 0, 0};
	ramp_u64 done, flight;
	ramp_u32 i, before = s->marks;

	s->last_sent_ns = ramp_max(a->newest_sent_ns, s->last_sent_ns);
	s->last_delivered_bytes = a->delivered_bytes;
	s->last_newest_bytes = ramp_max(a->newest_acked_bytes, s->last_newest_bytes);
	if (a->flags & RAMP_APP_LIMITED)
		s->blurred = 1;
	if (!s->first_ns) {
		if (a->newest_acked_bytes > s->start_bytes)
			ramp_reach_first(s, a, d);
		return;
	}
	done = ramp_sub(a->newest_acked_bytes, s->first_newest_bytes);
	flight = ramp_sub(s->end_bytes, s->first_newest_bytes);
	if (ramp_mul(done, 3) < ramp_mul(flight, s->marks + 1u))
		return;
	for (i = 0; i < REACH_MARKS; i++) {
		if (i != s->marks || ramp_mul(done, 3) < ramp_mul(flight, i + 1))
			continue;
		s->mark_units[i] = (ramp_u32)(ramp_sub(s->last_ns, s->first_ns) / REACH_UNIT_NS);
		s->mark_bytes[i] = (ramp_u32)ramp_min(done, 0xffffffffu);
		s->marks++;
	}
	if (s->marks > before + 1u)
		s->blurred = 1;
	ramp_reach_prove(s, &p);
	if (s->step == REACH_SEARCH)
		ramp_reach_open(s, a, &p, d);
	else
		ramp_reach_tried(s, a, &p, d);
}

/*
 * For how long an ACK was held on its way, longer than the quickest one, by the receiver's clock, ns;
 * the tick that it may have left before its next is not counted. A clock that ticks half as often, or
 * less, shows an ACK late by half of its RTT, since that is later than the handshake. And no ACK is
 * held for longer than its RTT has grown.
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
	ramp_u64 held, in_flight = a->in_flight_bytes, credit = 0;
	ramp_u32 rtt_us = a->rtt_us, before = s->growth.least_rtt_us;

	if (d->phase == RAMP_DONE)
		return;
	if (!s->first_ns && a->newest_acked_bytes > s->start_bytes) /* or half of one that was opened */
		s->full = ramp_add(in_flight, a->mss_bytes) > d->cwnd_bytes ||
			(d->cwnd_bytes > s->initial_bytes &&
			 ramp_mul(in_flight, 2) >= d->cwnd_bytes);
	if (s->growing == REACH_GROWING && s->full && !(a->flags & RAMP_RECOVERING))
		credit = ramp_credit(a, s->growth.abc_limit_packets);
	ramp_grow(credit, a->mss_bytes, d);
	if (a->flags & RAMP_RECOVERING)
		return;
	held = ramp_reach_held(s, a);
	if (held) {
		s->held = 1;
		rtt_us = (ramp_u32)ramp_max(ramp_sub(rtt_us, held / 1000), 1);
	}
	if (rtt_us && (!before || rtt_us < before))
		s->growth.least_rtt_us = rtt_us;
	if (!s->handshake_us && before > (ramp_u64)s->growth.least_rtt_us + s->noise_us)
		s->noise_us = before - s->growth.least_rtt_us;
	if (!s->first_ns)
		s->first_rtt_us = rtt_us ? rtt_us : s->growth.least_rtt_us;
	if (s->growth.least_rtt_us && a->newest_sent_ns) {
		s->last_ns = ramp_sub(a->now_ns, held);
		ramp_reach_measure(s, a, d);
	}
	if (d->phase == RAMP_STARTUP)
		ramp_leave_at_ssthresh(d);
}

/* What a loss or mark lands at. The flight may not have been judged yet: a judgement's bounds hold. */
RAMP_FN ramp_u64 ramp_reach_so_far(const struct ramp_reach *s)
{
	struct ramp_reach_proof p = {0, 0, 0, 0, 0, 0, 0, 0};
	ramp_u64 most = ramp_reach_most(s, ramp_sub(s->end_bytes, s->start_bytes));

	ramp_reach_prove(s, &p);
	if (s->step != REACH_SEARCH && p.rate)
		return ramp_min(p.middle, s->rate);
	most = ramp_mul_div(most, 1000000, s->growth.least_rtt_us);
	return ramp_max(s->rate, ramp_min(p.rate, most));
}

RAMP_FN void ramp_reach_on_event(struct ramp_reach *s, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_u64 rate = 0, least, most;
	ramp_u32 phase = d->phase;

	if (phase != RAMP_DONE && ramp_is_congestion(e)) {
		rate = ramp_reach_so_far(s);
		most = ramp_mul_div(d->cwnd_bytes, e->kind == RAMP_MARK ? s->ce_beta : s->beta, 100);
		least = ramp_max(ramp_reach_pipe(s, rate, s->noise_us), s->initial_bytes);
		if (rate && e->kind != RAMP_TIMEOUT) {
			ramp_hold(ramp_min(least, most), e->mss_bytes, d);
			d->ssthresh_bytes = d->cwnd_bytes;
		}
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (rate)
		d->limit = ramp_reach_pipe(s, rate, 0);
	if (e->kind == RAMP_IDLE_RESTART) { /* measure what comes after it, an undone end too */
		s->step = REACH_SEARCH;
		s->growing = REACH_GROWING;
		s->rate = 0;
		s->pace = 0;
		if (s->clock == REACH_SURE_CLOCK) /* else its start is what it has to be held against */
			s->clock_ns = ~(ramp_u64)0;
		ramp_reach_start(s, s->last_newest_bytes, 0);
		s->blurred = 1;
		ramp_pace_no_more(d);
	}
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->pace;
}

#endif
