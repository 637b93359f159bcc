/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What all start-ups share: parameters, and what they do to the decision: begin, grow, leave.
 *
 * Every algorithm's header defines RAMP_WRITTEN_FOR before it includes this one. The question is
 * outside of the guard, so that each is asked.
 *
 * Invariant: while start-up lasts, one MSS <= cwnd <= RAMP_CWND_MAX_BYTES after every call, so that
 * products with a window cannot wrap; exit_reason is set if and only if the exit is decided.
 */
#include "interface.h"

/* The number is the one of RAMP_CONTRACT: the preprocessor puts no value into an error. */
#ifndef RAMP_WRITTEN_FOR
#error "this algorithm does not define RAMP_WRITTEN_FOR, so it is written for version 1 of ramp's contract; this ramp supports version 2"
#elif RAMP_WRITTEN_FOR != RAMP_CONTRACT
#error "this algorithm is written for another version of ramp's contract (RAMP_WRITTEN_FOR); this ramp supports version 2"
#endif
#undef RAMP_WRITTEN_FOR

#ifndef RAMP_WINDOW_H
#define RAMP_WINDOW_H

#include "math.h"

/* 1 TiB: 10 Tbit/s for almost a second. */
#define RAMP_CWND_MAX_BYTES ((ramp_u64)1 << 40)

/*
 * The places of an algorithm's parameters and their values, from its table RAMP_<NAME>_PARAMETERS,
 * whose rows are P(N, name, unit, initial, low, high, source, meaning).
 */
#define RAMP_PARAMETERS(NAME)                                                           \
	enum { RAMP_##NAME##_PARAMETERS(RAMP_PLACE, NAME) RAMP_##NAME##_COUNT };        \
	RAMP_FN ramp_u64 ramp_value_##NAME(const struct ramp_config *c, ramp_u32 place) \
	{                                                                               \
		RAMP_##NAME##_PARAMETERS(RAMP_WITHIN, NAME) return 0;                   \
	}
#define RAMP_PLACE(NAME, name, unit, initial, low, high, source, meaning) RAMP_##NAME##_##name,
#define RAMP_WITHIN(NAME, name, unit, initial, low, high, source, meaning) \
	if (place == RAMP_##NAME##_##name)                                 \
		return ramp_clamp(c->parameter[RAMP_##NAME##_##name], low, high);

/* A parameter's value, within its range whatever the host has written. */
#define ramp_parameter(c, NAME, name) ramp_value_##NAME(c, RAMP_##NAME##_##name)

RAMP_FN void ramp_hold(ramp_u64 cwnd_bytes, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	d->cwnd_bytes = ramp_clamp(cwnd_bytes, mss_bytes ? mss_bytes : 1, RAMP_CWND_MAX_BYTES);
}

/* Nothing of an algorithm's own spacing; pacing_percent stays. */
RAMP_FN void ramp_pace_no_more(struct ramp_decision *d)
{
	d->pacing_bytes_per_s = RAMP_AS_HOST_LIKES;
	d->burst_until_bytes = 0;
	d->pacing_burst_bytes = 0;
	d->chirp_packets = 0;
	d->chirp_gap_ns = 0;
	d->chirp_step_ns = 0;
	d->chirp_pause_ns = 0;
}

RAMP_FN void ramp_arm(struct ramp_decision *d)
{
	ramp_pace_no_more(d);
	d->evidence = 0;
	d->limit = 0;
	d->phase = RAMP_STARTUP;
	d->exit_reason = RAMP_EXIT_NONE;
}

/* What nearly every algorithm keeps. */
struct ramp_growth {
	ramp_u32 abc_limit_packets; /* the connection's (RFC 3465 L); 0: none */
	ramp_u32 fraction;          /* of a byte, 1/65536 */
	ramp_u32 undo;              /* what an undone reduction gives back: phase + 1; 0: nothing */
	ramp_u32 least_rtt_us;      /* 0: no sample yet */
};

/* What rows keep that ask how much of the window was used. */
struct ramp_usage {
	ramp_u64 flight_bytes;     /* the most in flight before an ACK of this flight ... */
	ramp_u64 flight_end_bytes; /* ... which ends here */
};

RAMP_FN void ramp_begin(struct ramp_growth *g, const struct ramp_config *c, struct ramp_decision *d)
{
	ramp_arm(d);
	d->pacing_percent = 0;
	ramp_hold(c->initial_window_bytes, c->mss_bytes, d);
	d->ssthresh_bytes = c->initial_ssthresh_bytes;
	g->abc_limit_packets = c->abc_limit_packets;
}

/* Start-up begins again, as a timeout makes some begin. */
RAMP_FN void ramp_begin_again(struct ramp_growth *g, struct ramp_decision *d)
{
	g->fraction = 0;
	g->undo = 0;
	ramp_arm(d);
}

RAMP_FN void ramp_sample_rtt(struct ramp_growth *g, const struct ramp_ack *a)
{
	if (a->rtt_us && (!g->least_rtt_us || a->rtt_us < g->least_rtt_us))
		g->least_rtt_us = a->rtt_us;
}

/* What this ACK counts for in slow start: at most limit packets (RFC 3465 L), 0: no limit. */
RAMP_FN ramp_u64 ramp_credit(const struct ramp_ack *a, ramp_u64 limit_packets)
{
	if (!(a->flags & RAMP_CWND_LIMITED))
		return 0;
	if (!limit_packets)
		return a->acked_bytes;
	return ramp_min(a->acked_bytes, ramp_mul(limit_packets, a->mss_bytes));
}

/*
 * Whether half of the window has been in flight, in the flight that this ACK belongs to: Linux's measure
 * in slow start (tcp_is_cwnd_limited), taken from the ACKs. RAMP_CWND_LIMITED is the host's word, and a
 * host that spaces packets by holding its window down always finds that window full. Rows that pace, or
 * that grow by more than was in flight, ask this too: once for each ACK, before they grow.
 */
RAMP_FN ramp_u32 ramp_used_enough(struct ramp_usage *u, const struct ramp_ack *a,
				  const struct ramp_decision *d)
{
	if (a->in_flight_bytes > u->flight_bytes || a->newest_acked_bytes >= u->flight_end_bytes) {
		u->flight_bytes = a->in_flight_bytes;
		u->flight_end_bytes = a->sent_bytes;
	}
	return ramp_mul(u->flight_bytes, 2) >= d->cwnd_bytes;
}

/* ramp_credit() for such a row. */
RAMP_FN ramp_u64 ramp_used_credit(const struct ramp_growth *g, struct ramp_usage *u,
				  const struct ramp_ack *a, const struct ramp_decision *d)
{
	return ramp_used_enough(u, a, d) ? ramp_credit(a, g->abc_limit_packets) : 0;
}

/* Linux >= 3.13: slow start does not carry the window past ssthresh. */
RAMP_FN void ramp_grow(ramp_u64 bytes, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_u64 cwnd = d->cwnd_bytes;

	if (cwnd < d->ssthresh_bytes)
		cwnd = ramp_min(ramp_add(cwnd, bytes), d->ssthresh_bytes);
	ramp_hold(cwnd, mss_bytes, d);
}

/* Growth in 1/65536 byte; the part below one byte is kept. */
RAMP_FN void ramp_grow_fine(struct ramp_growth *g, ramp_u64 fine, struct ramp_decision *d)
{
	ramp_u64 sum = ramp_add(fine, g->fraction);

	g->fraction = (ramp_u32)(sum & 0xffffu);
	if (d->cwnd_bytes < d->ssthresh_bytes)
		d->cwnd_bytes = ramp_min(ramp_add(d->cwnd_bytes, sum >> 16), d->ssthresh_bytes);
}

/* The caller sets evidence and limit first. */
RAMP_FN void ramp_leave(ramp_u32 exit_reason, struct ramp_decision *d)
{
	ramp_pace_no_more(d);
	d->phase = RAMP_DONE;
	d->exit_reason = exit_reason;
}

RAMP_FN void ramp_leave_at_ssthresh(struct ramp_decision *d)
{
	if (d->cwnd_bytes < d->ssthresh_bytes)
		return;
	d->evidence = d->cwnd_bytes;
	d->limit = d->ssthresh_bytes;
	ramp_leave(RAMP_EXIT_SSTHRESH, d);
}

RAMP_FN ramp_u32 ramp_is_congestion(const struct ramp_event *e)
{
	return e->kind == RAMP_LOSS || e->kind == RAMP_MARK || e->kind == RAMP_TIMEOUT;
}

RAMP_FN ramp_u32 ramp_exit_by(ramp_u32 kind)
{
	if (kind == RAMP_TIMEOUT)
		return RAMP_EXIT_TIMEOUT;
	return kind == RAMP_MARK ? RAMP_EXIT_ECN : RAMP_EXIT_LOSS;
}

/*
 * The end of start-up by congestion, and its return if that was none. An exit decided before
 * (RAMP_LEAVING) keeps its reason. Further congestion makes an exit final.
 */
RAMP_FN void ramp_leave_on_event(struct ramp_growth *g, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	ramp_u32 undo = g->undo;

	if (e->kind == RAMP_UNDONE && undo) {
		g->undo = 0;
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
		d->phase = undo - 1;
	}
	if (!ramp_is_congestion(e))
		return;
	g->undo = 0;
	if (d->phase == RAMP_DONE)
		return;
	if (d->exit_reason != RAMP_EXIT_NONE) {
		ramp_leave(d->exit_reason, d);
		return;
	}
	g->undo = d->phase + 1;
	d->evidence = e->kind == RAMP_MARK ? 0 : e->lost_bytes;
	d->limit = 0;
	ramp_leave(ramp_exit_by(e->kind), d);
}

#endif
