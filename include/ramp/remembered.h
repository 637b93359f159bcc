/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What an earlier connection to the same place has left behind (ramp_hint), and whether to use it. */
#ifndef RAMP_REMEMBERED_H
#define RAMP_REMEMBERED_H

#include "interface.h"
#include "math.h"

RAMP_FN ramp_u32 ramp_remembers(const struct ramp_config *c, ramp_u64 lifetime_s)
{
	return c->hint.source == RAMP_HINT_HISTORY && c->hint.age_s <= lifetime_s;
}

/*
 * Whether a path is the remembered one, by its RTT (RFC 9959 section 3.2): half of the remembered one
 * is too fast for the remembered window, and ten times (section 4.2.1) too slow. Without both it is not.
 */
RAMP_FN ramp_u32 ramp_same_path(ramp_u64 remembered_rtt_us, ramp_u64 rtt_us)
{
	return rtt_us * 2 > remembered_rtt_us && rtt_us <= remembered_rtt_us * 10;
}

/* What the path held: as it was seen, or its rate times its round-trip time; 0: unknown. */
RAMP_FN ramp_u64 ramp_remembered_window(const struct ramp_hint *h)
{
	if (h->window_bytes)
		return h->window_bytes;
	return ramp_mul_div(h->bytes_per_s, h->rtt_us, 1000000);
}

/* What it delivered: as it was seen, or its window over its round-trip time; 0: unknown. */
RAMP_FN ramp_u64 ramp_remembered_rate(const struct ramp_hint *h)
{
	if (h->bytes_per_s || !h->rtt_us)
		return h->bytes_per_s;
	return ramp_mul_div(h->window_bytes, 1000000, h->rtt_us);
}

/* No rate of ours is taken for RAMP_BACK_TO_BACK. */
#define RAMP_RATE_MAX_BYTES_PER_S ((ramp_u64)1 << 62)

/* A window spaced over a round trip, as a rate; RAMP_AS_HOST_LIKES if no round trip is known. */
RAMP_FN ramp_u64 ramp_spaced(ramp_u64 window_bytes, ramp_u64 rtt_us)
{
	if (!rtt_us)
		return RAMP_AS_HOST_LIKES;
	return ramp_clamp(ramp_mul_div(window_bytes, 1000000, rtt_us), 1, RAMP_RATE_MAX_BYTES_PER_S);
}

#endif
