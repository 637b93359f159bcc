/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a host remembers of its connections to one place, for algorithms that begin with it
 * (RAMP_NEEDS_HISTORY): the rule, for hosts of every kind. Where entries are kept, and what counts
 * as one place, is the host's; it bounds their number.
 *
 * A connection is looked at when it leaves start-up and when it closes, as RFC 9959 observes:
 *   - what the path has delivered in a smallest round trip is remembered, not the congestion window,
 *     which overshoots before a loss and follows the flight after it;
 *   - less than four initial windows are not worth it: slow start is there in two rounds. A path that
 *     has delivered as much as is remembered, and no more than that in a round trip, has become small:
 *     what is remembered is forgotten;
 *   - where the application held the rate down, as the end of its data does at close, the sample
 *     says at least how much: it only raises;
 *   - where congestion met a connection that had begun with what is remembered, before as much was
 *     delivered, it is forgotten (RFC 9959 section 3.5), and what the path delivered taken instead;
 *   - a window has a bound: a first flight is as large as what an earlier peer has made the host send;
 *   - one connection at a time gets it, for as long as that one lasts, or for ten seconds (our choice):
 *     two would send twice as much as the path has been seen to carry;
 *   - an entry is forgotten after a while: Linux keeps its own metrics for an hour (tcp_metrics.c).
 */
#ifndef RAMP_HISTORY_H
#define RAMP_HISTORY_H

#include "interface.h"
#include "math.h"

#define RAMP_MEMORY_LIFETIME_NS (3600u * (ramp_u64)1000000000)
#define RAMP_MEMORY_LEAST_WINDOWS 4u
#define RAMP_MEMORY_MOST_BYTES ((ramp_u64)16 << 20) /* our choice: 200 Mbit/s by satellite, 600 ms */
#define RAMP_MEMORY_TAKEN_NS (10u * (ramp_u64)1000000000)

/* Of ramp_seen, besides RAMP_RATE_APP_LIMITED, which is set at close always. */
#define RAMP_SEEN_TOLD (1u << 16)      /* the connection began with what is remembered */
#define RAMP_SEEN_CONGESTED (1u << 17) /* and met congestion before as much was delivered */
#define RAMP_SEEN_CLOSING (1u << 18)

struct ramp_seen {
	ramp_u64 now_ns;
	ramp_u64 initial_window_bytes;
	ramp_u64 bytes_per_s;          /* the host's last rate sample; 0: none */
	ramp_u64 delivered_bytes;      /* in all */
	ramp_u32 rtt_us;               /* the smallest so far; 0: none */
	ramp_u32 flags;
};

struct ramp_memory { /* all zero: nothing */
	ramp_u64 window_bytes;
	ramp_u64 bytes_per_s;
	ramp_u64 seen_ns;  /* of the clock that both functions get; 0: nothing is remembered */
	ramp_u64 taken_ns; /* when a connection got it that has not closed; 0: none */
	ramp_u32 rtt_us;
	ramp_u32 reserved;
};

/* Whether there is something, and it is not too old. */
RAMP_FN ramp_u32 ramp_is_fresh(const struct ramp_memory *m, ramp_u64 now_ns)
{
	return m->seen_ns && ramp_sub(now_ns, m->seen_ns) < RAMP_MEMORY_LIFETIME_NS;
}

RAMP_FN void ramp_forget(struct ramp_memory *m)
{
	m->window_bytes = 0;
	m->bytes_per_s = 0;
	m->seen_ns = 0;
	m->rtt_us = 0;
}

/* Whether congestion that a connection met says that this was too much, by what it had delivered. */
RAMP_FN ramp_u32 ramp_is_unvalidated(ramp_u64 told_bytes, ramp_u64 initial_window_bytes,
				     ramp_u64 delivered_bytes)
{
	return told_bytes && delivered_bytes <= ramp_add(told_bytes, initial_window_bytes);
}

/* Returns whether what is remembered has changed. */
RAMP_FN ramp_u32 ramp_observe(struct ramp_memory *m, const struct ramp_seen *s)
{
	ramp_u64 window, rate = s->bytes_per_s;
	ramp_u32 changed = 0;

	if (s->flags & RAMP_SEEN_TOLD && s->flags & RAMP_SEEN_CLOSING && m->taken_ns) {
		m->taken_ns = 0;
		changed = 1;
	}
	if (s->flags & RAMP_SEEN_CONGESTED && m->seen_ns) {
		ramp_forget(m);
		changed = 1;
	}
	if (!s->rtt_us || !rate)
		return changed;
	window = ramp_mul_div(rate, s->rtt_us, 1000000);
	if (window < ramp_mul(s->initial_window_bytes, RAMP_MEMORY_LEAST_WINDOWS)) {
		if (s->flags & RAMP_RATE_APP_LIMITED || !m->seen_ns ||
		    s->delivered_bytes < m->window_bytes)
			return changed;
		ramp_forget(m);
		return 1;
	}
	if (window > RAMP_MEMORY_MOST_BYTES) {
		window = RAMP_MEMORY_MOST_BYTES;
		rate = ramp_mul_div(window, 1000000, s->rtt_us);
	}
	if (s->flags & RAMP_RATE_APP_LIMITED && window <= m->window_bytes &&
	    ramp_is_fresh(m, s->now_ns))
		return changed;
	m->window_bytes = window;
	m->bytes_per_s = rate;
	m->seen_ns = s->now_ns;
	m->rtt_us = s->rtt_us;
	return 1;
}

/* Returns whether there is something, and no one else has it; the hint is untouched otherwise. */
RAMP_FN ramp_u32 ramp_recall(struct ramp_memory *m, ramp_u64 now_ns, struct ramp_hint *hint)
{
	if (!ramp_is_fresh(m, now_ns))
		return 0;
	if (m->taken_ns && ramp_sub(now_ns, m->taken_ns) < RAMP_MEMORY_TAKEN_NS)
		return 0;
	m->taken_ns = now_ns;
	hint->window_bytes = m->window_bytes;
	hint->bytes_per_s = m->bytes_per_s;
	hint->rtt_us = m->rtt_us;
	hint->age_s = (ramp_u32)(ramp_sub(now_ns, m->seen_ns) / 1000000000u);
	hint->source = RAMP_HINT_HISTORY;
	hint->reserved = 0;
	return 1;
}

#endif
