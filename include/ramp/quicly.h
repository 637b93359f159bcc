/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * quicly's jumpstart: the first time that the window is full it jumps, spaced over one round trip,
 * to what an earlier connection saw, or without one to a fixed window; then slow start goes on from
 * what is in flight.
 *
 *     startup: waiting --window full--> jump --its first packet acked--> slow start
 *     startup --loss, mark of the jump--> leaving: what arrived of it --repaired--> done
 *     startup --any other loss or mark, timeout, cwnd reached ssthresh--> done --undone--> startup
 *
 * Source:   quicly lib/cc-pico.c, include/quicly/cc.h and lib/quicly.c of 2026.
 * Deviates: it is on. In quicly both sizes are 0, which switches it off.
 * Deviates: where the round trip is shorter than half of the remembered one, or longer than ten times
 *           (RFC 9959), it jumps as without history; quicly scales the window down, however short it is.
 * Deviates: a loss counts as the jump's until three packets sent after it have been acknowledged;
 *           quicly knows which packet was lost.
 * Deviates: a host that reduces gradually (PRR) reaches the window during recovery; quicly sets it at
 *           once.
 * Deviates: where a loss is found before any packet of the jump is acknowledged, the window lands at
 *           half of the initial one; quicly goes on counting ACKs of the jump up to the packet lost.
 * Deviates: a loss that was none gives back the whole window; quicly gives back half of a jump.
 */
#ifndef RAMP_QUICLY_H
#define RAMP_QUICLY_H

#define RAMP_WRITTEN_FOR 2
#include "remembered.h"
#include "window.h"

#define RAMP_QUICLY_PARAMETERS(P, N)                                                        \
	P(N, default_jump, "packets", 20, 0, 1000000,                                       \
	  "our choice: twice the initial window; quicly default_jumpstart_cwnd_packets: 0", \
	  "window to which it jumps without history; 0: it does not")                       \
	P(N, max_jump, "packets", 0, 0, 1000000,                                            \
	  "quicly max_jumpstart_cwnd_packets; there 0 is none at all",                      \
	  "most that it jumps to with history; 0: no limit")                                \
	P(N, lifetime, "s", 3600, 0, 1000000000, "our choice: an hour",                     \
	  "age up to which what is remembered counts")

RAMP_PARAMETERS(QUICLY)

enum { QUICLY_WAITING,
       QUICLY_JUMP,
       QUICLY_AFTER,
       QUICLY_NONE };

struct ramp_quicly {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 remembered_bytes; /* 0: nothing */
	ramp_u64 default_bytes;
	ramp_u64 most_bytes;       /* 0: no limit */
	ramp_u64 initial_bytes;
	ramp_u64 rate;             /* of the jump, B/s */
	ramp_u64 enter_bytes;      /* sent before the jump */
	ramp_u64 exit_bytes;       /* and before its first packet was acknowledged */
	ramp_u64 arrived_bytes;    /* of the jump */
	ramp_u64 newest_bytes;     /* the newest packet that was acknowledged */
	ramp_u32 previous_rtt_us;
	ramp_u32 step;
};

/* quicly derive_jumpstart_cwnd: never faster than last time. */
RAMP_FN ramp_u64 ramp_quicly_target(const struct ramp_quicly *s, ramp_u32 rtt_us)
{
	ramp_u64 target = s->remembered_bytes;

	if (!target || (ramp_u64)rtt_us * 2 < s->previous_rtt_us ||
	    rtt_us > (ramp_u64)s->previous_rtt_us * 10)
		return s->default_bytes;
	if (rtt_us < s->previous_rtt_us)
		target = ramp_mul_div(target, rtt_us, s->previous_rtt_us);
	return s->most_bytes ? ramp_min(target, s->most_bytes) : target;
}

/* The window is full and an RTT known. It jumps if a round trip could not take as much without. */
RAMP_FN void ramp_quicly_try(struct ramp_quicly *s, ramp_u64 in_flight_bytes,
			     struct ramp_decision *d)
{
	ramp_u64 target =
		ramp_min(ramp_quicly_target(s, s->growth.least_rtt_us), RAMP_CWND_MAX_BYTES);

	s->step = QUICLY_NONE;
	if (target <= ramp_add(d->cwnd_bytes, in_flight_bytes))
		return;
	s->step = QUICLY_JUMP;
	s->rate = ramp_spaced(target, s->growth.least_rtt_us);
	d->cwnd_bytes = target;
	d->pacing_bytes_per_s = s->rate;
}

RAMP_FN void ramp_quicly_init(struct ramp_quicly *s, const struct ramp_config *c,
			      struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->growth.least_rtt_us = c->handshake_rtt_us;
	s->initial_bytes = d->cwnd_bytes;
	s->default_bytes = ramp_mul(ramp_parameter(c, QUICLY, default_jump), c->mss_bytes);
	s->most_bytes = ramp_mul(ramp_parameter(c, QUICLY, max_jump), c->mss_bytes);
	if (ramp_remembers(c, ramp_parameter(c, QUICLY, lifetime)) && c->hint.rtt_us) {
		s->remembered_bytes =
			ramp_mul_div(ramp_remembered_rate(&c->hint), c->hint.rtt_us, 1000000);
		s->previous_rtt_us = c->hint.rtt_us;
	}
	if (c->handshake_rtt_us && c->size_bytes > d->cwnd_bytes)
		ramp_quicly_try(s, 0, d);
}

/* quicly_cc_jumpstart_on_acked; the window is not the core's while a loss is repaired. */
RAMP_FN void ramp_quicly_jumped(struct ramp_quicly *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 landing;

	if (a->newest_acked_bytes <= s->enter_bytes)
		return;
	if (s->step == QUICLY_JUMP || a->newest_acked_bytes <= s->exit_bytes)
		s->arrived_bytes = ramp_add(s->arrived_bytes, a->acked_bytes);
	if (d->phase == RAMP_LEAVING) {
		landing = ramp_mul_div(s->arrived_bytes, 7, 10);
		if (a->newest_acked_bytes <= s->exit_bytes && d->ssthresh_bytes < landing)
			d->ssthresh_bytes = landing;
	} else if (s->step == QUICLY_JUMP) {
		s->step = QUICLY_AFTER;
		s->exit_bytes = a->sent_bytes;
		ramp_pace_no_more(d);
		ramp_hold(a->in_flight_bytes, a->mss_bytes, d);
	}
}

RAMP_FN void ramp_quicly_on_ack(struct ramp_quicly *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	s->newest_bytes = ramp_max(s->newest_bytes, a->newest_acked_bytes);
	if (s->step == QUICLY_JUMP || s->step == QUICLY_AFTER)
		ramp_quicly_jumped(s, a, d);
	if (d->phase == RAMP_LEAVING)
		return;
	if (s->step == QUICLY_JUMP) {
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
		return;
	}
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
	if (d->phase == RAMP_STARTUP && s->step == QUICLY_WAITING &&
	    a->flags & RAMP_CWND_LIMITED && s->growth.least_rtt_us &&
	    ramp_used_enough(&s->usage, a, d)) {
		s->enter_bytes = a->sent_bytes;
		ramp_quicly_try(s, ramp_sub(a->in_flight_bytes, a->acked_bytes), d);
	}
}

/* Whether a loss found now is one of the jump's packets, or of one before it. */
RAMP_FN ramp_u32 ramp_quicly_of_jump(const struct ramp_quicly *s, const struct ramp_event *e)
{
	if (s->step == QUICLY_AFTER)
		return s->newest_bytes <= ramp_add(s->exit_bytes, ramp_mul(e->mss_bytes, 3));
	return s->step == QUICLY_JUMP;
}

RAMP_FN void ramp_quicly_on_event(struct ramp_quicly *s, const struct ramp_event *e,
				  struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (phase == RAMP_STARTUP && (e->kind == RAMP_LOSS || e->kind == RAMP_MARK) &&
	    ramp_quicly_of_jump(s, e)) {
		ramp_pace_no_more(d);
		/* quicly's first reduction halves, whatever follows */
		d->ssthresh_bytes = ramp_max(ramp_max(s->arrived_bytes, s->initial_bytes) / 2,
					     ramp_mul(e->mss_bytes, 2));
		d->evidence = e->kind == RAMP_MARK ? 0 : e->lost_bytes;
		d->phase = RAMP_LEAVING;
		d->exit_reason = ramp_exit_by(e->kind);
		return;
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_RECOVERED) {
		ramp_leave(d->exit_reason, d);
		return;
	}
	if (phase == RAMP_STARTUP && e->kind == RAMP_IDLE_RESTART && s->step == QUICLY_JUMP) {
		s->step = QUICLY_NONE;
		ramp_pace_no_more(d);
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_UNDONE) {
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
	} else {
		ramp_leave_on_event(&s->growth, e, d);
	}
	if (phase >= RAMP_LEAVING && d->phase == RAMP_STARTUP && s->step == QUICLY_JUMP)
		d->pacing_bytes_per_s = s->rate;
}

#endif
