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
	P(N, cap, "count", 3, 2, 255, "our choice",                                                 \
	  "most growth of the window in a round trip, where that is short")                         \
	P(N, far, "count", 32, 2, 255, "our choice",                                                \
	  "the same where it is long, or a quarter as long and ACKs are held")                      \
	P(N, trial, "percent", 70, 1, 100, "our choice",                                            \
	  "of a clear proof's rate, sent until it comes back unslowed, before the fill")            \
	P(N, beta, "percent", 70, 1, 100, "RFC 9438 §4.6", "of the window, the most a loss leaves") \
	P(N, ce_beta, "percent", 85, 1, 100, "RFC 8511", "of the window, the most a mark leaves")   \
	P(N, tick, "us", 1000, 0, 65535, "our choice",                                              \
	  "of the receiver's clock, by which ACKs that were held count; 0: as they come")

RAMP_PARAMETERS(REACH)

#define REACH_UNIT_NS 64u      /* 32 bits of them are 275 s */
#define REACH_GROWTH_US 25000u /* of base RTT: beyond cap, growth is one for each, up to far */
#define REACH_HELD_STEPS 4u    /* of growth for each of those, where ACKs are held */
#define REACH_PROBE 32u        /* in one part in so many of the base RTT an unclear proof's flight leaves */
#define REACH_FILL 105u        /* percent of the rate */
#define REACH_NO_END (~(ramp_u64)0)

/* step */
enum { REACH_DOUBLING, /* search: with every ACK, as slow start does */
       REACH_OPENED,   /* search: a flight is out that was let out at once */
       REACH_TRIAL,
       REACH_FILLING };
/* clock, the receiver's: seen to tick; has shown an ACK that was held */
enum { REACH_NO_CLOCK,
       REACH_CLOCK,
       REACH_TICKS,
       REACH_HELD };

struct ramp_reach_point {
	ramp_u64 ns, sent_ns, delivered_bytes, newest_bytes;
};

struct ramp_reach {
	struct ramp_growth growth;           /* least_rtt_us: the base RTT */
	ramp_u64 start_bytes, end_bytes;     /* what was sent between them is the flight */
	struct ramp_reach_point first, last; /* its first ACK, ns 0: not yet; its last so far */
	ramp_u64 rate;                       /* proved, B/s; 0: none */
	ramp_u64 clock_ns;                   /* ours less the receiver's, and 2^60, by the quickest ACK */
	ramp_u64 pace;                       /* decided, B/s; 0: none */
	ramp_u32 half_units, half_bytes;     /* after its first ACK, when so much was back; 0: not half of it */
	ramp_u32 first_rtt_us, noise_us;     /* noise: what later flights took off the smallest RTT */
	ramp_u32 handshake_us;               /* 0: unknown, or a flight that filled the window is over */
	ramp_u32 initial_bytes;              /* the initial window */
	ramp_u16 tick;
	ramp_u8 cap, far, trial, beta, ce_beta, step, clock;
	ramp_u8 full;    /* the flight filled the window */
	ramp_u8 blurred; /* the application paused */
};

struct ramp_reach_proof {
	ramp_u64 rate, middle; /* B/s: at least; over the span alone. 0: none */
	ramp_u32 clear;        /* nothing blurs it, and it came evenly */
	ramp_u32 slowed;       /* it came back slower than it left, by half of the fill's excess */
};

/* A flight begins; one without an end has what its first ACK finds sent. */
RAMP_FN void ramp_reach_start(struct ramp_reach *s, ramp_u64 start_bytes, ramp_u64 end_bytes, ramp_u8 step)
{
	s->start_bytes = start_bytes;
	s->end_bytes = end_bytes;
	s->first.ns = 0;
	s->half_units = s->half_bytes = 0;
	s->blurred = 0;
	s->step = step;
}

/* Our clock less the receiver's: their offset, and how long the segment took. */
RAMP_FN ramp_u64 ramp_reach_apart(const struct ramp_reach *s, ramp_u64 now_ns, ramp_u32 tsval)
{
	ramp_u64 ahead = (ramp_u64)1 << 60; /* more than any TSval says */

	return ramp_sub(ramp_add(now_ns, ahead), (ramp_u64)tsval * s->tick * 1000);
}

RAMP_FN void ramp_reach_init(struct ramp_reach *s, const struct ramp_config *c, struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	ramp_reach_start(s, 0, REACH_NO_END, REACH_DOUBLING);
	s->initial_bytes = (ramp_u32)ramp_min(d->cwnd_bytes, 0xffffffffu);
	s->handshake_us = c->handshake_rtt_us;
	s->cap = (ramp_u8)ramp_parameter(c, REACH, cap);
	s->far = (ramp_u8)ramp_parameter(c, REACH, far);
	s->trial = (ramp_u8)ramp_parameter(c, REACH, trial);
	s->beta = (ramp_u8)ramp_parameter(c, REACH, beta);
	s->ce_beta = (ramp_u8)ramp_parameter(c, REACH, ce_beta);
	s->tick = (ramp_u16)ramp_parameter(c, REACH, tick);
	s->clock_ns = ramp_reach_apart(s, c->now_ns, c->tsval);
	s->clock = s->tick && c->tsval ? REACH_CLOCK : REACH_NO_CLOCK;
}

/* What the path holds at this rate, with as much time for waiting ACKs. */
RAMP_FN ramp_u64 ramp_reach_pipe(const struct ramp_reach *s, ramp_u64 rate, ramp_u32 more_us)
{
	return ramp_mul_div(rate, (ramp_u64)s->growth.least_rtt_us + more_us, 1000000);
}

/* The rate of so much in a base RTT. */
RAMP_FN ramp_u64 ramp_reach_rate(const struct ramp_reach *s, ramp_u64 bytes)
{
	return ramp_mul_div(bytes, 1000000, s->growth.least_rtt_us);
}

/* By how many times a window may exceed what has come back in a round trip. */
RAMP_FN ramp_u64 ramp_reach_most(const struct ramp_reach *s, ramp_u64 flight)
{
	ramp_u64 steps = s->clock == REACH_HELD ? REACH_HELD_STEPS : 1;
	ramp_u64 times = ramp_mul(s->growth.least_rtt_us, steps) / REACH_GROWTH_US;

	return ramp_mul(flight, ramp_clamp(times, s->cap, s->far));
}

/* What the flight has proved by its last ACK so far. All of *p is zero before. */
RAMP_ONCE ramp_u32 ramp_reach_prove(const struct ramp_reach *s, struct ramp_reach_proof *p)
{
	ramp_u64 sent, came, bytes, span, noise, wait, base_us, half, steady, tick = 0;

	if (!s || !p)
		return 0;
	span = ramp_sub(s->last.ns, s->first.ns);
	sent = ramp_sub(s->last.sent_ns, s->first.sent_ns);
	came = ramp_sub(s->last.newest_bytes, s->first.newest_bytes);
	bytes = ramp_sub(s->last.delivered_bytes, s->first.delivered_bytes);
	if (s->clock == REACH_HELD) /* what left in one tick seems to have left at once */
		tick = (ramp_u64)s->tick * 1000;
	if (!s->first.ns || !bytes || !came || !(span | tick))
		return 0;
	base_us = s->growth.least_rtt_us;
	if (s->handshake_us) /* data also take their service */
		base_us = ramp_min(base_us, s->handshake_us + span / 2000);
	wait = ramp_sub(s->first_rtt_us, base_us) * 1000;
	noise = ramp_max((ramp_u64)s->noise_us * 1000, tick);
	p->rate = ramp_mul_div(bytes, 1000000000, ramp_max(ramp_add(span, wait), noise));
	p->middle = ramp_mul_div(bytes, 1000000000, ramp_max(span, tick));
	half = (ramp_u64)s->half_units * REACH_UNIT_NS;
	steady = ramp_mul_div(span, s->half_bytes, came);
	noise = ramp_max(noise, 2 * (half > steady ? half - steady : steady - half));
	p->clear = s->half_bytes && !s->blurred && ramp_mul(ramp_max(noise, wait), 2) <= span;
	p->slowed = span > ramp_add(ramp_mul_div(sent, 100 + REACH_FILL, 200), noise);
	return 1;
}

/* A window that leaves at this rate; what it lets out now is the next flight. */
RAMP_FN void ramp_reach_launch(struct ramp_reach *s, const struct ramp_ack *a, ramp_u64 window,
			       ramp_u64 pace, ramp_u8 step, struct ramp_decision *d)
{
	ramp_u64 mss = a->mss_bytes ? a->mss_bytes : 1, space;

	ramp_hold(ramp_min(ramp_max(window, s->initial_bytes), d->ssthresh_bytes), a->mss_bytes, d);
	space = ramp_sub(ramp_add(d->cwnd_bytes, a->acked_bytes), a->in_flight_bytes);
	space = ramp_max(space / mss, 1) * mss;
	ramp_reach_start(s, a->sent_bytes, ramp_add(a->sent_bytes, space), step);
	s->pace = pace;
	d->pacing_bytes_per_s = pace;
}

/* As slow start does. The next flight is what leaves, or has left, while the window doubles. */
RAMP_FN void ramp_reach_go_on(struct ramp_reach *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 start = s->step < REACH_OPENED && s->full ? s->end_bytes : a->sent_bytes;

	/* Twice what the window will be, in each round trip. */
	s->pace = s->full ? ramp_mul(ramp_reach_rate(s, d->cwnd_bytes), 4) : 0;
	d->pacing_bytes_per_s = s->pace;
	ramp_reach_start(s, start, REACH_NO_END, REACH_DOUBLING);
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
	ramp_u64 most, next, pace;

	if (!s || !a || !p || !d)
		return 0;
	s->handshake_us = 0;
	most = s->step == REACH_OPENED ? d->cwnd_bytes : ramp_sub(s->end_bytes, s->start_bytes);
	most = ramp_reach_most(s, most);
	if (p->clear && p->slowed) {
		s->rate = p->rate;
		pace = ramp_mul_div(p->rate, s->trial, 100);
		next = ramp_reach_pipe(s, pace, s->noise_us);
		if (next <= d->cwnd_bytes)
			ramp_reach_finish(s, RAMP_EXIT_PROOF, p->middle, d);
		else
			ramp_reach_launch(s, a, ramp_max(ramp_min(next, most), d->cwnd_bytes), pace,
					  REACH_TRIAL, d);
		return 0;
	}
	next = ramp_min(ramp_reach_pipe(s, p->rate, 0), most);
	s->rate = ramp_max(s->rate, ramp_reach_rate(s, next));
	if (s->step == REACH_OPENED) /* no ACK has doubled it */
		next = ramp_max(next, ramp_mul(d->cwnd_bytes, 2));
	pace = ramp_mul(ramp_reach_rate(s, next), REACH_PROBE);
	if (next <= d->cwnd_bytes)
		ramp_reach_go_on(s, a, d);
	else
		ramp_reach_launch(s, a, next, pace, REACH_OPENED, d);
	return 0;
}

/* A trial is back, or the fill. */
RAMP_ONCE ramp_u32 ramp_reach_tried(struct ramp_reach *s, const struct ramp_ack *a,
				    const struct ramp_reach_proof *p, struct ramp_decision *d)
{
	ramp_u64 came, next, pace, most, share;
	ramp_u32 trial;

	if (!s || !a || !p || !d)
		return 0;
	trial = s->step == REACH_TRIAL;
	came = ramp_min(p->middle, d->pacing_bytes_per_s); /* nothing comes faster than it left */
	most = ramp_reach_most(s, d->cwnd_bytes);
	share = ramp_min(p->middle, s->rate);
	if (trial && p->slowed) /* what came back is the share */
		s->rate = share;
	pace = ramp_mul_div(s->rate, s->trial, 100);
	next = ramp_reach_pipe(s, pace, s->noise_us);
	if (!p->rate) { /* one ACK, which proves nothing */
		ramp_reach_go_on(s, a, d);
	} else if (trial && p->slowed && ramp_reach_pipe(s, share, 0) <= most) {
		ramp_reach_finish(s, RAMP_EXIT_SHARE, share, d);
	} else if (trial && d->cwnd_bytes < ramp_min(next, d->ssthresh_bytes)) {
		ramp_reach_launch(s, a, ramp_min(next, most), pace, REACH_TRIAL, d);
	} else if (trial) {
		pace = ramp_mul_div(s->rate, REACH_FILL, 100);
		ramp_reach_launch(s, a, ramp_reach_pipe(s, pace, s->noise_us), pace, REACH_FILLING, d);
	} else if (p->clear && ramp_mul(came, 400) > ramp_mul(s->rate, 100 + 3 * REACH_FILL)) {
		/* The fill came as fast as it left, or nearly: the path is faster than it seemed. */
		s->rate = came;
		pace = ramp_add(came, came / 4);
		ramp_reach_launch(s, a, ramp_reach_pipe(s, pace, s->noise_us), pace, REACH_FILLING, d);
	} else {
		ramp_reach_finish(s, RAMP_EXIT_PROOF, p->clear ? ramp_max(came, s->rate) : s->rate, d);
	}
	return 0;
}

RAMP_FN void ramp_reach_measure(struct ramp_reach *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	struct ramp_reach_proof p = {0, 0, 0, 0};
	ramp_u64 came, flight;

	s->last.sent_ns = ramp_max(a->newest_sent_ns, s->last.sent_ns);
	s->last.delivered_bytes = a->delivered_bytes;
	s->last.newest_bytes = ramp_max(a->newest_acked_bytes, s->last.newest_bytes);
	if (a->flags & RAMP_APP_LIMITED)
		s->blurred = 1;
	if (!s->first.ns) {
		if (a->newest_acked_bytes <= s->start_bytes)
			return;
		s->first = s->last;
		s->end_bytes = ramp_min(s->end_bytes, a->sent_bytes);
		if (!s->full || s->end_bytes <= s->first.newest_bytes) /* one ACK proves nothing */
			ramp_reach_go_on(s, a, d);
		return;
	}
	came = ramp_sub(s->last.newest_bytes, s->first.newest_bytes);
	flight = ramp_sub(s->end_bytes, s->first.newest_bytes);
	if (came < flight) {
		if (!s->half_bytes && ramp_mul(came, 2) >= flight) {
			s->half_units = (ramp_u32)(ramp_sub(s->last.ns, s->first.ns) / REACH_UNIT_NS);
			s->half_bytes = (ramp_u32)ramp_min(came, 0xffffffffu);
		}
		return;
	}
	ramp_reach_prove(s, &p);
	if (s->step < REACH_TRIAL)
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
	if (s->clock == REACH_CLOCK && (rtt < ramp_mul(tick, 12) || ramp_mul(held, 3) > rtt))
		return 0;
	if (s->handshake_us && (!least_us || s->handshake_us < least_us))
		least_us = s->handshake_us;
	grown = ramp_sub(a->rtt_us, least_us) * 1000;
	if (held > ramp_add(grown, tick)) {
		s->clock = REACH_NO_CLOCK;
		return 0;
	}
	held = ramp_min(held, grown);
	if (s->clock != REACH_HELD)
		s->clock = held ? REACH_HELD : REACH_TICKS;
	return held;
}

RAMP_FN void ramp_reach_on_ack(struct ramp_reach *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 held, in_flight = a->in_flight_bytes, credit = 0;
	ramp_u32 rtt_us = a->rtt_us, before = s->growth.least_rtt_us;

	if (d->phase == RAMP_DONE)
		return;
	if (!s->first.ns && a->newest_acked_bytes > s->start_bytes) /* or two thirds of one that was opened */
		s->full = ramp_add(in_flight, a->mss_bytes) > d->cwnd_bytes ||
			(d->cwnd_bytes > s->initial_bytes && in_flight >= d->cwnd_bytes - d->cwnd_bytes / 3);
	if (s->step == REACH_DOUBLING && s->full && !(a->flags & RAMP_RECOVERING))
		credit = ramp_credit(a, s->growth.abc_limit_packets);
	ramp_grow(credit, a->mss_bytes, d);
	if (a->flags & RAMP_RECOVERING)
		return;
	held = ramp_reach_held(s, a);
	if (held)
		rtt_us = (ramp_u32)ramp_max(ramp_sub(rtt_us, held / 1000), 1);
	if (rtt_us && (!before || rtt_us < before))
		s->growth.least_rtt_us = rtt_us;
	if (!s->handshake_us && before > (ramp_u64)s->growth.least_rtt_us + s->noise_us)
		s->noise_us = before - s->growth.least_rtt_us;
	if (!s->first.ns)
		s->first_rtt_us = rtt_us ? rtt_us : s->growth.least_rtt_us;
	if (s->growth.least_rtt_us && a->newest_sent_ns) {
		s->last.ns = ramp_sub(a->now_ns, held);
		ramp_reach_measure(s, a, d);
	}
	if (d->phase == RAMP_STARTUP)
		ramp_leave_at_ssthresh(d);
}

/* What a loss or mark lands at. The flight may not have been judged yet: a judgement's bounds hold. */
RAMP_FN ramp_u64 ramp_reach_so_far(const struct ramp_reach *s)
{
	struct ramp_reach_proof p = {0, 0, 0, 0};
	ramp_u64 most = ramp_reach_most(s, ramp_sub(s->end_bytes, s->start_bytes));

	ramp_reach_prove(s, &p);
	if (s->step >= REACH_TRIAL && p.rate)
		return ramp_min(p.middle, s->rate);
	return ramp_max(s->rate, ramp_min(p.rate, ramp_reach_rate(s, most)));
}

RAMP_FN void ramp_reach_on_event(struct ramp_reach *s, const struct ramp_event *e, struct ramp_decision *d)
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
		s->rate = 0;
		s->pace = 0;
		if (s->clock >= REACH_TICKS) /* else its start is what it has to be held against */
			s->clock_ns = ~(ramp_u64)0;
		ramp_reach_start(s, s->last.newest_bytes, REACH_NO_END, REACH_DOUBLING);
		s->blurred = 1;
		ramp_pace_no_more(d);
	}
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->pace;
}

#endif
