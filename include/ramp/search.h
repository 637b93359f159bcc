/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SEARCH 3.1: leave slow start when the bytes delivered in a window no longer double those
 * delivered in the window one round-trip time before.
 *
 *     startup --delivered <= 65 % of twice the earlier, loss, mark--> done
 *        ^                                                              |
 *        +----------------------- timeout, undone ----------------------+
 *
 * The window is 3.5 times the first RTT, so that the variation of wireless RTTs averages out. It
 * moves in steps of a bin, a tenth of it. The earlier window ended one RTT ago, by the newest RTT.
 *
 * Source:   the authors' tcp_cubic_search3.1.c for Linux [SE25], which
 *           draft-chung-ccwg-search-00 describes.
 * Deviates: totals are whole bytes, and times nanoseconds; the module keeps totals in 16 bits with a
 *           common shift, so that they fit into Linux's private area, and times in microseconds.
 * Deviates: bytes delivered include those reported by SACK; the module counts bytes_acked.
 * Deviates: the rollback takes off the bytes that it finds; the module forgets the totals' shift and
 *           takes off a fraction of them once a connection has brought 64 kB.
 * Deviates: a measurement that begins anew counts from there; the module takes all that the
 *           connection ever brought for the content of the first bin, and may leave at the first
 *           test for that.
 */
#ifndef RAMP_SEARCH_H
#define RAMP_SEARCH_H

#define RAMP_WRITTEN_FOR 2
#include "bins.h"
#include "window.h"

#define RAMP_SEARCH_PARAMETERS(P, N)                                                    \
	P(N, window, "1/10", 35, 10, 100, "[SE25] search_window_duration_factor",       \
	  "length of a window in first RTTs")                                           \
	P(N, thresh, "percent", 35, 1, 99, "[SE25] search_thresh",                      \
	  "how far below twice the earlier window's bytes this one's must fall")        \
	P(N, extra_bins, "count", 15, 2, 20, "[SE25] SEARCH_EXTRA_BINS",                \
	  "nothing is decided at an RTT of these many bins, less one")                  \
	P(N, alpha, "count", 65535, 1, 65535, "[SE25] search_alpha",                    \
	  "first RTTs without an ACK after which it measures anew")                     \
	P(N, rollback, "choice:off|on", 0, 0, 1, "[SE25] cwnd_rollback",                \
	  "take back what two first RTTs brought when it leaves; not below 10 packets") \
	P(N, look_back, "choice:newest|first", 0, 0, 1, "[SE25]; first: our choice",    \
	  "the RTT at whose distance the earlier window ended")

RAMP_PARAMETERS(SEARCH)

#define SEARCH_TOTALS 32u /* 10 of a window, 20 of a look back, 1 to interpolate */
#define SEARCH_LEAST_PACKETS 10u

struct ramp_search {
	struct ramp_growth growth;
	struct ramp_bins bins;
	ramp_u64 total[SEARCH_TOTALS]; /* bytes delivered by the end of a bin */
	ramp_u64 total_before; /* the first bin */
	ramp_u64 window_tenths;
	ramp_u64 keep_percent;  /* 100 - THRESH */
	ramp_u64 look_back_end; /* whole bins from which on an RTT is too long */
	ramp_u64 missed_limit;  /* bins */
	ramp_u64 rollback_bins; /* 0: no rollback */
	ramp_u32 by_first_rtt;
	ramp_u32 reserved;
};

RAMP_FN void ramp_search_init(struct ramp_search *s, const struct ramp_config *c,
			      struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->window_tenths = ramp_parameter(c, SEARCH, window);
	s->keep_percent = 100 - ramp_parameter(c, SEARCH, thresh);
	s->look_back_end = ramp_parameter(c, SEARCH, extra_bins) - 1;
	/* A bin is window_tenths / 100 first RTTs. */
	s->missed_limit = ramp_parameter(c, SEARCH, alpha) * (100 / s->window_tenths);
	if (ramp_parameter(c, SEARCH, rollback))
		s->rollback_bins = 200 / s->window_tenths;
	s->by_first_rtt = (ramp_u32)ramp_parameter(c, SEARCH, look_back);
}

RAMP_FN void ramp_search_begin(struct ramp_search *s, const struct ramp_ack *a)
{
	ramp_bins_begin(&s->bins, a, s->window_tenths);
	s->total_before = ramp_sub(a->delivered_bytes, a->acked_bytes);
	s->total[0] = a->delivered_bytes;
}

RAMP_FN ramp_u64 ramp_search_total(const struct ramp_search *s, ramp_u64 index)
{
	return s->total[ramp_index((ramp_u32)(index & (SEARCH_TOTALS - 1)), SEARCH_TOTALS)];
}

RAMP_FN void ramp_search_keep(struct ramp_search *s, ramp_u64 passed, ramp_u64 total)
{
	ramp_u32 at = (ramp_u32)(s->bins.index & (SEARCH_TOTALS - 1)), i;
	ramp_u64 last = s->total[ramp_index(at, SEARCH_TOTALS)];

	for (i = 1; i < SEARCH_TOTALS; i++) {
		if (i >= passed)
			break;
		s->total[ramp_index(at + i, SEARCH_TOTALS)] = last;
	}
	ramp_bins_advance(&s->bins, passed);
	at = (ramp_u32)(s->bins.index & (SEARCH_TOTALS - 1));
	s->total[ramp_index(at, SEARCH_TOTALS)] = total;
}

/* search_update_bins: 0 if it measures anew. */
RAMP_FN ramp_u32 ramp_search_update(struct ramp_search *s, const struct ramp_ack *a)
{
	ramp_u64 passed = ramp_bins_passed(&s->bins, a->now_ns);

	if (a->flags & RAMP_APP_LIMITED) {
		ramp_search_begin(s, a);
		return 0;
	}
	if (passed > s->missed_limit) {
		if (passed > RAMP_BINS_PER_WINDOW)
			s->bins.duration_ns = 0;
		ramp_search_begin(s, a);
		return 0;
	}
	ramp_search_keep(s, passed, a->delivered_bytes);
	return 1;
}

/*
 * What arrived in the window that ended a fraction of a bin before the end of bin `right`: a part
 * of its first bin, the bins between, a part of its last. Each part is rounded, as in the source.
 */
RAMP_FN ramp_u64 ramp_search_window(const struct ramp_search *s, ramp_u64 right, ramp_u64 fraction)
{
	ramp_u64 left = ramp_sub(right, RAMP_BINS_PER_WINDOW);
	ramp_u64 first = ramp_search_total(s, left), last = ramp_search_total(s, right);
	ramp_u64 before_first = left ? ramp_search_total(s, left - 1) : s->total_before;
	ramp_u64 before_last = ramp_search_total(s, right - 1);
	ramp_u64 bytes = ramp_sub(before_last, first);

	bytes = ramp_add(bytes, ramp_mul(ramp_sub(first, before_first), fraction) / 100);
	return ramp_add(bytes, ramp_mul(ramp_sub(last, before_last), 100 - fraction) / 100);
}

/* cwnd_rollback: the chokepoint was about two RTTs ago. */
RAMP_FN void ramp_search_roll_back(struct ramp_search *s, const struct ramp_ack *a,
				   struct ramp_decision *d)
{
	ramp_u64 from = ramp_sub(s->bins.index, s->rollback_bins);
	ramp_u64 overshoot =
		ramp_sub(ramp_search_total(s, s->bins.index), ramp_search_total(s, from));

	ramp_hold(ramp_max(ramp_sub(d->cwnd_bytes, overshoot),
			   ramp_mul(SEARCH_LEAST_PACKETS, a->mss_bytes)),
		  a->mss_bytes, d);
}

RAMP_FN void ramp_search_test(struct ramp_search *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	ramp_u32 rtt_us = s->by_first_rtt ? s->bins.first_rtt_us : a->rtt_us;
	ramp_u64 fraction, back = ramp_bins_in(&s->bins, rtt_us, &fraction);
	ramp_u64 index = s->bins.index, expected, delivered, limit;

	if (ramp_sub(index, back) < RAMP_BINS_PER_WINDOW || back >= s->look_back_end)
		return;
	expected = ramp_mul(ramp_search_window(s, index - back, fraction), 2);
	delivered = ramp_search_window(s, index, 0);
	limit = ramp_mul(expected, s->keep_percent) / 100;
	/* norm_diff = (expected - delivered) / expected >= THRESH, multiplied out. */
	if (!expected || delivered > limit)
		return;
	d->evidence = delivered;
	d->limit = limit;
	if (s->rollback_bins)
		ramp_search_roll_back(s, a, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(RAMP_EXIT_DELIVERY, d);
}

RAMP_FN void ramp_search_on_ack(struct ramp_search *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (a->rtt_us && d->cwnd_bytes < d->ssthresh_bytes) {
		if (!s->bins.started)
			ramp_search_begin(s, a);
		else if (a->now_ns > s->bins.end_ns && ramp_search_update(s, a))
			ramp_search_test(s, a, d);
	}
	if (d->phase == RAMP_DONE)
		return;
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

/* A timeout and a restart after a pause measure anew; the first also starts slow start again. */
RAMP_FN void ramp_search_on_event(struct ramp_search *s, const struct ramp_event *e,
				  struct ramp_decision *d)
{
	if (e->kind == RAMP_TIMEOUT || e->kind == RAMP_IDLE_RESTART) {
		s->bins.started = 0;
		s->bins.duration_ns = 0;
	}
	if (e->kind == RAMP_TIMEOUT) {
		ramp_begin_again(&s->growth, d);
		return;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
