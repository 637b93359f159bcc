/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * picoquic's smoothed loss rate, for start-ups that single losses do not end: a packet counts for a
 * sixteenth, and each takes a sixteenth off what those before it had left. A packet that is lost does
 * both, so that the rate does not rise above 16/31. Meanwhile the host repairs what is lost with the
 * window as it is.
 *
 * Source: picoquic cc_common.c, picoquic_cc_hystart_loss_test [PQ].
 */
#define RAMP_WRITTEN_FOR 2
#include "window.h"

#ifndef RAMP_LOSSES_H
#define RAMP_LOSSES_H

#define RAMP_LOSSES_ONE ((ramp_u32)1 << 24)
#define RAMP_LOSSES_SCOPE 32u /* PICOQUIC_SMOOTHED_LOSS_SCOPE */

struct ramp_losses {
	ramp_u64 counted_bytes;  /* of those lost so far */
	ramp_u64 ssthresh_bytes; /* before the repair */
	ramp_u32 rate;           /* 1 / RAMP_LOSSES_ONE */
	ramp_u32 repairing;
};

/* All ones for packet i of so many bytes; without a branch, which the kernel's verifier would follow. */
RAMP_FN ramp_u32 ramp_losses_mask(ramp_u32 i, ramp_u64 mss, ramp_u64 bytes)
{
	return (ramp_u32)ramp_less_mask(i * mss + mss - 1, bytes);
}

/* What this ACK says; 1 if packets have been lost since the last. */
RAMP_FN ramp_u32 ramp_losses_count(struct ramp_losses *l, const struct ramp_ack *a)
{
	ramp_u64 mss = ramp_max(a->mss_bytes, 1), most = mss * RAMP_LOSSES_SCOPE;
	ramp_u64 lost = ramp_min(ramp_sub(a->lost_bytes, l->counted_bytes), most);
	ramp_u64 acked = ramp_min(a->acked_bytes, most);
	ramp_u32 i;

	if (!l->rate && lost < mss)
		return 0;
	for (i = 0; i < RAMP_LOSSES_SCOPE; i++)
		l->rate -= (l->rate >> 4) & ramp_losses_mask(i, mss, acked);
	if (lost < mss)
		return 0;
	l->counted_bytes = a->lost_bytes;
	for (i = 0; i < RAMP_LOSSES_SCOPE; i++) {
		l->rate -= (l->rate >> 4) & ramp_losses_mask(i, mss, lost);
		l->rate += ((RAMP_LOSSES_ONE - l->rate) >> 4) & ramp_losses_mask(i, mss, lost);
	}
	return 1;
}

/* 1 if the event is a loss that start-up outlasts, or the end of its repair. */
RAMP_FN ramp_u32 ramp_losses_outlast(struct ramp_losses *l, const struct ramp_event *e,
				     struct ramp_decision *d)
{
	/* What ends start-up is followed by no RAMP_RECOVERED if it is undone. */
	if (d->phase != RAMP_STARTUP || e->kind == RAMP_MARK || e->kind == RAMP_TIMEOUT) {
		l->repairing = 0;
		return 0;
	}
	if (e->kind == RAMP_LOSS) {
		if (!l->repairing)
			l->ssthresh_bytes = d->ssthresh_bytes;
		l->repairing = 1;
		d->ssthresh_bytes = d->cwnd_bytes;
		return 1;
	}
	if (!l->repairing || (e->kind != RAMP_RECOVERED && e->kind != RAMP_UNDONE))
		return 0;
	l->repairing = 0;
	if (e->kind == RAMP_RECOVERED) /* the host takes back the other */
		d->ssthresh_bytes = l->ssthresh_bytes;
	return 1;
}

#endif
