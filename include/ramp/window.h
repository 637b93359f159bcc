/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What all start-ups do to the decision: begin, grow, leave.
 *
 * Invariant: while start-up lasts, one MSS <= cwnd <= RAMP_CWND_MAX_BYTES after every call, so that
 * products with a window cannot wrap; exit_reason is set if and only if the exit is decided.
 */
#ifndef RAMP_WINDOW_H
#define RAMP_WINDOW_H

#include "interface.h"
#include "math.h"

/* 1 TiB: 10 Tbit/s for almost a second. */
#define RAMP_CWND_MAX_BYTES ((ramp_u64)1 << 40)

RAMP_FN void ramp_hold(ramp_u64 cwnd_bytes, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	d->cwnd_bytes = ramp_clamp(cwnd_bytes, mss_bytes ? mss_bytes : 1, RAMP_CWND_MAX_BYTES);
}

RAMP_FN void ramp_arm(struct ramp_decision *d)
{
	d->pacing_bytes_per_s = 0;
	d->evidence = 0;
	d->limit = 0;
	d->phase = RAMP_STARTUP;
	d->exit_reason = RAMP_EXIT_NONE;
}

/* What an undone reduction gives back. */
struct ramp_undo {
	ramp_u32 phase; /* before the congestion that ended start-up; RAMP_DONE: nothing to give back */
	ramp_u32 reserved;
};

RAMP_FN void ramp_undo_nothing(struct ramp_undo *u)
{
	u->phase = RAMP_DONE;
	u->reserved = 0;
}

RAMP_FN void ramp_begin(const struct ramp_config *c, struct ramp_decision *d)
{
	ramp_arm(d);
	ramp_hold(c->initial_window_bytes, c->mss_bytes, d);
	d->ssthresh_bytes = c->initial_ssthresh_bytes;
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

/* Linux >= 3.13: slow start does not carry the window past ssthresh. */
RAMP_FN void ramp_grow(ramp_u64 bytes, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_u64 cwnd = d->cwnd_bytes;

	if (cwnd < d->ssthresh_bytes)
		cwnd = ramp_min(ramp_add(cwnd, bytes), d->ssthresh_bytes);
	ramp_hold(cwnd, mss_bytes, d);
}

/* Growth in 1/65536 byte; the part below one byte stays in *fraction. */
RAMP_FN void ramp_grow_fine(ramp_u64 fine, ramp_u32 *fraction, struct ramp_decision *d)
{
	ramp_u64 sum = ramp_add(fine, *fraction);

	*fraction = (ramp_u32)(sum & 0xffffu);
	if (d->cwnd_bytes < d->ssthresh_bytes)
		d->cwnd_bytes = ramp_min(ramp_add(d->cwnd_bytes, sum >> 16), d->ssthresh_bytes);
}

/* The caller sets evidence and limit first. */
RAMP_FN void ramp_leave(ramp_u32 exit_reason, struct ramp_decision *d)
{
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

/*
 * The end of start-up by congestion, and its return if that was none. An exit decided before
 * (RAMP_FILLING) keeps its reason. Further congestion makes an exit final.
 */
RAMP_FN void ramp_leave_on_congestion(struct ramp_undo *u, const struct ramp_congestion *c,
				      struct ramp_decision *d)
{
	ramp_u32 phase = u->phase;

	if (c->kind == RAMP_SPURIOUS && phase == RAMP_DONE)
		return;
	ramp_undo_nothing(u);
	if (c->kind == RAMP_SPURIOUS) {
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, c->mss_bytes, d);
		d->phase = phase;
		return;
	}
	if (d->phase == RAMP_DONE)
		return;
	d->pacing_bytes_per_s = 0;
	if (d->exit_reason != RAMP_EXIT_NONE) {
		d->phase = RAMP_DONE;
		return;
	}
	u->phase = d->phase;
	d->evidence = c->kind == RAMP_CE_MARK ? 0 : c->lost_bytes;
	d->limit = 0;
	ramp_leave(c->kind == RAMP_RTO ? RAMP_EXIT_RTO : c->kind == RAMP_CE_MARK ? RAMP_EXIT_ECN
										 : RAMP_EXIT_LOSS,
		   d);
}

#endif
