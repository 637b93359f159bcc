/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a host remembers of its connections to one place, for algorithms that begin with it
 * (RAMP_NEEDS_HISTORY): the rule, for hosts of every kind. Where entries are kept, and what counts
 * as one place, is the host's; it bounds their number.
 *
 * A connection is looked at when it leaves start-up and when it closes, as RFC 9959 observes:
 *   - what the path has delivered in a smallest round trip is remembered, not the congestion window,
 *     which overshoots before a loss and follows the flight after it;
 *   - less than four initial windows are not worth it: slow start is there in two rounds;
 *   - where the application held the rate down, as the end of its data does at close, the sample
 *     says at least how much: it only raises;
 *   - an entry is forgotten after a while: Linux keeps its own metrics for an hour (tcp_metrics.c).
 */
#ifndef RAMP_HISTORY_H
#define RAMP_HISTORY_H

#include "interface.h"
#include "math.h"

#define RAMP_MEMORY_LIFETIME_NS (3600u * (ramp_u64)1000000000)
#define RAMP_MEMORY_LEAST_WINDOWS 4u

struct ramp_seen {
	ramp_u64 now_ns;
	ramp_u64 initial_window_bytes;
	ramp_u64 bytes_per_s;          /* the host's last rate sample; 0: none */
	ramp_u32 rtt_us;               /* the smallest so far; 0: none */
	ramp_u32 flags;                /* RAMP_RATE_APP_LIMITED; at close always */
};

struct ramp_memory { /* all zero: nothing */
	ramp_u64 window_bytes;
	ramp_u64 bytes_per_s;
	ramp_u64 seen_ns; /* of the clock that is told to both functions */
	ramp_u32 rtt_us;
	ramp_u32 reserved;
};

/* Whether there is something, and it is not too old. */
RAMP_FN ramp_u32 ramp_is_fresh(const struct ramp_memory *m, ramp_u64 now_ns)
{
	return m->seen_ns && ramp_sub(now_ns, m->seen_ns) < RAMP_MEMORY_LIFETIME_NS;
}

/* Returns whether what is remembered has changed. */
RAMP_FN ramp_u32 ramp_observe(struct ramp_memory *m, const struct ramp_seen *s)
{
	ramp_u64 window;

	if (!s->rtt_us || !s->bytes_per_s)
		return 0;
	window = ramp_mul_div(s->bytes_per_s, s->rtt_us, 1000000);
	if (window < ramp_mul(s->initial_window_bytes, RAMP_MEMORY_LEAST_WINDOWS))
		return 0;
	if (s->flags & RAMP_RATE_APP_LIMITED && window <= m->window_bytes &&
	    ramp_is_fresh(m, s->now_ns))
		return 0;
	m->window_bytes = window;
	m->bytes_per_s = s->bytes_per_s;
	m->seen_ns = s->now_ns;
	m->rtt_us = s->rtt_us;
	return 1;
}

/* Returns whether there is something; the hint is untouched otherwise. */
RAMP_FN ramp_u32 ramp_recall(const struct ramp_memory *m, ramp_u64 now_ns, struct ramp_hint *hint)
{
	if (!ramp_is_fresh(m, now_ns))
		return 0;
	hint->window_bytes = m->window_bytes;
	hint->bytes_per_s = m->bytes_per_s;
	hint->rtt_us = m->rtt_us;
	hint->age_s = (ramp_u32)(ramp_sub(now_ns, m->seen_ns) / 1000000000u);
	hint->source = RAMP_HINT_HISTORY;
	hint->reserved = 0;
	return 1;
}

#endif
