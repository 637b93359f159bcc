/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * TCP Fast Start: begin with the window that an earlier connection had, spaced over its round trip,
 * and go back to slow start at once if a packet of that is lost.
 *
 *     startup: remembered window --all of it sent--> unspaced --all of it acked--> done
 *     startup --loss--> leaving: slow start from the initial window --repaired--> done
 *     startup --mark, timeout--> done --undone--> startup
 *
 * Source:   [PK98], from its abstract; the rules after the first window are reconstructed.
 * Deviates: packets of the first window are not marked to be dropped first, which is what the paper's
 *           safety rests on: no path asks for that.
 * Deviates: only a connection begins so; after a pause the window is the host's.
 * Deviates: where the handshake's round trip is not like the remembered one, by the test of RFC 9959,
 *           it is slow start.
 * Deviates: what is remembered has no ssthresh, so congestion avoidance follows a window that was
 *           right.
 */
#ifndef RAMP_FAST_START_H
#define RAMP_FAST_START_H

#define RAMP_WRITTEN_FOR 2
#include "remembered.h"
#include "window.h"

#define RAMP_FAST_START_PARAMETERS(P, N)                                   \
	P(N, lifetime, "s", 600, 0, 1000000000, "our choice: ten minutes", \
	  "age up to which what is remembered counts")

RAMP_PARAMETERS(FAST_START)

struct ramp_fast_start {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 window_bytes; /* remembered; 0: slow start */
	ramp_u64 initial_bytes;
	ramp_u64 rate;         /* B/s until that has left, then 0 */
	ramp_u64 landing_bytes; /* slow start's window after a loss; 0: there was none */
};

RAMP_FN void ramp_fast_start_init(struct ramp_fast_start *s, const struct ramp_config *c,
				  struct ramp_decision *d)
{
	ramp_u64 window = ramp_remembered_window(&c->hint);

	ramp_begin(&s->growth, c, d);
	s->initial_bytes = d->cwnd_bytes;
	if (!ramp_remembers(c, ramp_parameter(c, FAST_START, lifetime)) ||
	    !ramp_same_path(c->hint.rtt_us, c->handshake_rtt_us) || window <= d->cwnd_bytes)
		return;
	ramp_hold(window, c->mss_bytes, d);
	s->window_bytes = d->cwnd_bytes;
	s->rate = ramp_spaced(s->window_bytes, c->hint.rtt_us);
	d->ssthresh_bytes = d->cwnd_bytes;
	d->pacing_bytes_per_s = s->rate;
}

/* Slow start's window after a loss: up to half of the remembered one. */
RAMP_FN ramp_u64 ramp_fast_start_landing(const struct ramp_fast_start *s, ramp_u32 mss_bytes)
{
	return ramp_max(ramp_min(s->landing_bytes, s->window_bytes / 2), ramp_mul(mss_bytes, 2));
}

RAMP_FN void ramp_fast_start_on_ack(struct ramp_fast_start *s, const struct ramp_ack *a,
				    struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_LEAVING) { /* slow start again, while the host repairs */
		s->landing_bytes = ramp_add(s->landing_bytes, a->acked_bytes);
		d->ssthresh_bytes = ramp_fast_start_landing(s, a->mss_bytes);
		return;
	}
	if (s->window_bytes) {
		if (a->sent_bytes >= s->window_bytes || a->flags & RAMP_APP_LIMITED) {
			s->rate = 0;
			ramp_pace_no_more(d);
		}
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
		if (a->delivered_bytes < s->window_bytes)
			return;
	}
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_fast_start_on_event(struct ramp_fast_start *s, const struct ramp_event *e,
				      struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (phase == RAMP_STARTUP && s->window_bytes && e->kind == RAMP_LOSS) {
		ramp_pace_no_more(d);
		s->landing_bytes = s->initial_bytes;
		d->ssthresh_bytes = ramp_fast_start_landing(s, e->mss_bytes);
		d->evidence = e->lost_bytes;
		d->phase = RAMP_LEAVING;
		d->exit_reason = RAMP_EXIT_LOSS;
		return;
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_UNDONE) {
		s->landing_bytes = 0;
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
		d->pacing_bytes_per_s = s->rate;
		return;
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_RECOVERED) {
		s->landing_bytes = s->window_bytes;
		d->ssthresh_bytes = ramp_fast_start_landing(s, e->mss_bytes);
		ramp_leave(d->exit_reason, d);
		return;
	}
	if (phase == RAMP_STARTUP && s->window_bytes && e->kind == RAMP_IDLE_RESTART) {
		s->window_bytes = 0; /* slow start from the host's window to ssthresh */
		s->rate = 0;
		ramp_pace_no_more(d);
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->rate;
}

#endif
