/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The largest value of the last few rounds, of bytes or bytes/s up to 2^40: one slot for each round.
 *
 * Invariant: value is the largest of the slots that the last ramp_recent_advance asked for, and of
 * what was added since.
 */
#ifndef RAMP_RECENT_H
#define RAMP_RECENT_H

#include "math.h"

#define RECENT_ROUNDS 16u
#define RECENT_MAX ((ramp_u64)1 << 40)

struct ramp_recent {
	ramp_u64 largest[RECENT_ROUNDS];
	ramp_u64 value;
	ramp_u32 now; /* the slot of this round */
	ramp_u32 reserved;
};

RAMP_FN void ramp_recent_add(struct ramp_recent *r, ramp_u64 value)
{
	ramp_u32 now = ramp_index(r->now, RECENT_ROUNDS);

	value = ramp_min(value, RECENT_MAX);
	r->largest[now] = ramp_max(r->largest[now], value);
	r->value = ramp_max(r->value, value);
}

/* A round begins. What is older than so many rounds before it, at most 15, is forgotten. */
RAMP_FN void ramp_recent_advance(struct ramp_recent *r, ramp_u32 rounds)
{
	ramp_u32 i;

	r->now = ramp_index(r->now + 1, RECENT_ROUNDS);
	r->largest[ramp_index(r->now, RECENT_ROUNDS)] = 0;
	r->value = 0;
	for (i = 0; i < RECENT_ROUNDS; i++)
		if (i <= rounds)
			r->value = ramp_max_flat(
				r->value, r->largest[ramp_index(r->now + RECENT_ROUNDS - i, RECENT_ROUNDS)]);
}

#endif
