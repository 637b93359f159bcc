/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counting round trips in send order.
 *
 * The marker is what had been sent when the round began. The round is over when something sent
 * after the marker is acknowledged, so newest_acked > end; with >= every boundary falls a little
 * before the true one, and the error doubles each round (RFC 9406 §4.2, Linux tcp_cubic.c).
 *
 * Invariant: end starts at 0, before the first byte, so the first ACK opens the first round.
 */
#ifndef RAMP_ROUND_H
#define RAMP_ROUND_H

#include "interface.h"

struct ramp_round {
	ramp_u64 end_bytes;
};

RAMP_FN void ramp_round_start(struct ramp_round *r, const struct ramp_ack *a)
{
	r->end_bytes = a->sent_bytes;
}

RAMP_FN ramp_u32 ramp_round_over(const struct ramp_round *r, const struct ramp_ack *a)
{
	return a->newest_acked_bytes > r->end_bytes;
}

/* 1 on the first ACK of a round, which it starts. */
RAMP_FN ramp_u32 ramp_round_advance(struct ramp_round *r, const struct ramp_ack *a)
{
	if (!ramp_round_over(r, a))
		return 0;
	ramp_round_start(r, a);
	return 1;
}

#endif
