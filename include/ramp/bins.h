/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SEARCH's time: bins, ten of which make a window. A window lasts a multiple of the first
 * round-trip time.
 *
 * An algorithm keeps running totals, in a ring by the bins' index. The first ACK after a bin's end
 * brings its total; a bin without an ACK has the total of the one before. What came in a window is
 * the difference of two totals.
 *
 * Invariant: only totals kept since the bins began are read.
 */
#ifndef RAMP_BINS_H
#define RAMP_BINS_H

#include "interface.h"
#include "math.h"

#define RAMP_BINS_PER_WINDOW 10u

struct ramp_bins {
	ramp_u64 duration_ns; /* 0: not known yet */
	ramp_u64 end_ns;      /* of the current bin */
	ramp_u64 index;       /* of the last bin whose total is known */
	ramp_u32 started;
	ramp_u32 first_rtt_us;
};

/* The window's length is in tenths of the first RTT, which is that of this ACK. */
RAMP_FN void ramp_bins_begin(struct ramp_bins *b, const struct ramp_ack *a, ramp_u64 window_tenths)
{
	if (!b->duration_ns) {
		b->duration_ns = a->rtt_us * window_tenths * 100 / RAMP_BINS_PER_WINDOW;
		b->first_rtt_us = a->rtt_us;
	}
	b->end_ns = ramp_add(a->now_ns, b->duration_ns);
	b->index = 0;
	b->started = 1;
}

/* How many bins are over; the caller knows that the current one is. */
RAMP_FN ramp_u64 ramp_bins_passed(const struct ramp_bins *b, ramp_u64 now_ns)
{
	return ramp_add(ramp_div(ramp_sub(now_ns, b->end_ns), b->duration_ns), 1);
}

RAMP_FN void ramp_bins_advance(struct ramp_bins *b, ramp_u64 passed)
{
	b->end_ns = ramp_add(b->end_ns, ramp_mul(passed, b->duration_ns));
	b->index = ramp_add(b->index, passed);
}

/* Whole bins in an RTT; the rest in percent of a bin. */
RAMP_FN ramp_u64 ramp_bins_in(const struct ramp_bins *b, ramp_u32 rtt_us, ramp_u64 *fraction)
{
	ramp_u64 rtt_ns = (ramp_u64)rtt_us * 1000, whole = ramp_div(rtt_ns, b->duration_ns);

	*fraction = ramp_div((rtt_ns - ramp_mul(whole, b->duration_ns)) * 100, b->duration_ns);
	return whole;
}

#endif
