/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SEARCH 4.0: leave slow start when a window delivers clearly less than was sent in the window one
 * round-trip time before; then drain the queue that this took.
 *
 *     startup --delivered <= 74 % of what was sent--> leaving --window at its target--> done
 *        |                                            (a packet for three acknowledged)   |
 *        +---loss, mark---> done <---loss, mark, timeout undone---------------------------+
 *        ^                    |
 *        +-- timeout, undone -+
 *
 * Windows, bins and look back are those of search.h. The drain's target is what arrived in the last
 * bins that cover the first RTT: the path without a queue.
 *
 * Source:   the authors' tcp_cubic_search4_0.c for Linux and cc_newreno_search.c 4.0 for FreeBSD
 *           [SE25], whose draft is draft-chung-ccwg-search-09; neqo's search.rs. Version
 *           10 of the draft has not been compared.
 * Deviates: totals are whole bytes, and times nanoseconds; the modules keep totals in 16 bits with a
 *           common shift, and times in microseconds.
 * Deviates: bytes delivered include those reported by SACK; the modules count bytes_acked.
 * Deviates: the drain counts bytes; the Linux module counts packets.
 * Deviates: a measurement that begins anew counts what is in flight as sent in its first bin; the
 *           modules count all that the connection ever sent, and may leave at the first test for
 *           that.
 */
#ifndef RAMP_SEARCH4_H
#define RAMP_SEARCH4_H

#define RAMP_WRITTEN_FOR 2
#include "bins.h"
#include "window.h"

#define RAMP_SEARCH4_PARAMETERS(P, N)                                                     \
	P(N, window, "1/10", 35, 10, 100, "[SE25] search_window_duration_factor",         \
	  "length of a window in first RTTs")                                             \
	P(N, thresh, "percent", 26, 1, 99, "[SE25] FreeBSD, neqo; Linux 4.0: 35",         \
	  "how far below the bytes sent an RTT before the bytes delivered must fall")     \
	P(N, extra_bins, "count", 40, 2, 50, "[SE25] SEARCH_EXTRA_SENT_BINS; neqo: 15",   \
	  "nothing is decided at an RTT of these many bins, less one")                    \
	P(N, missed_bins, "count", 0, 0, 1000000, "[SE25]; neqo: 10",                     \
	  "bins without an ACK beyond which it measures anew; 0: any")                    \
	P(N, drain, "choice:off|on", 1, 0, 1, "[SE25]; neqo: off",                        \
	  "shrink the window to what the path holds before it leaves")                    \
	P(N, drain_packets, "packets", 3, 1, 1000, "[SE25] SEARCH_DRAIN_ACKEDSEG_THRESH", \
	  "packets acknowledged for each one sent during the drain")                      \
	P(N, look_back, "choice:newest|first", 0, 0, 1, "[SE25]; first: our choice",      \
	  "the RTT at whose distance the earlier window ended")

RAMP_PARAMETERS(SEARCH4)

#define SEARCH4_SENT 64u      /* 10 of a window, 50 of a look back, 1 to interpolate */
#define SEARCH4_DELIVERED 16u /* 10 of a window */
#define SEARCH4_LEAST_PACKETS 10u

struct ramp_search4 {
	struct ramp_growth growth;
	struct ramp_bins bins;
	ramp_u64 sent[SEARCH4_SENT]; /* bytes by the end of a bin */
	ramp_u64 sent_before; /* the first bin */
	ramp_u64 delivered[SEARCH4_DELIVERED];
	ramp_u64 window_tenths;
	ramp_u64 keep_percent;  /* 100 - THRESH */
	ramp_u64 look_back_end; /* whole bins from which on an RTT is too long */
	ramp_u64 missed_limit;  /* bins; 0: none */
	ramp_u64 rtt_bins;      /* that cover the first RTT */
	ramp_u64 target_bytes;  /* of the drain */
	ramp_u64 drain_packets;
	ramp_u64 drained_bytes; /* acknowledged in the drain and not yet answered by a packet */
	ramp_u32 drain;
	ramp_u32 by_first_rtt;
};

RAMP_FN void ramp_search4_init(struct ramp_search4 *s, const struct ramp_config *c,
			       struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->window_tenths = ramp_parameter(c, SEARCH4, window);
	s->keep_percent = 100 - ramp_parameter(c, SEARCH4, thresh);
	s->look_back_end = ramp_parameter(c, SEARCH4, extra_bins) - 1;
	s->missed_limit = ramp_parameter(c, SEARCH4, missed_bins);
	/* A bin is window_tenths / 100 first RTTs. */
	s->rtt_bins = (100 + s->window_tenths - 1) / s->window_tenths;
	s->drain_packets = ramp_parameter(c, SEARCH4, drain_packets);
	s->drain = (ramp_u32)ramp_parameter(c, SEARCH4, drain);
	s->by_first_rtt = (ramp_u32)ramp_parameter(c, SEARCH4, look_back);
}

RAMP_FN void ramp_search4_begin(struct ramp_search4 *s, const struct ramp_ack *a)
{
	ramp_bins_begin(&s->bins, a, s->window_tenths);
	s->sent_before = ramp_sub(a->sent_bytes, a->in_flight_bytes);
	s->sent[0] = a->sent_bytes;
	s->delivered[0] = a->delivered_bytes;
}

RAMP_FN ramp_u64 ramp_search4_sent(const struct ramp_search4 *s, ramp_u64 index)
{
	return s->sent[ramp_index((ramp_u32)(index & (SEARCH4_SENT - 1)), SEARCH4_SENT)];
}

RAMP_FN ramp_u64 ramp_search4_delivered(const struct ramp_search4 *s, ramp_u64 index)
{
	return s->delivered[ramp_index((ramp_u32)(index & (SEARCH4_DELIVERED - 1)),
				       SEARCH4_DELIVERED)];
}

RAMP_FN void ramp_search4_keep(struct ramp_search4 *s, ramp_u64 passed, const struct ramp_ack *a)
{
	ramp_u32 at = (ramp_u32)(s->bins.index & (SEARCH4_SENT - 1)), i;
	ramp_u64 sent = ramp_search4_sent(s, at), delivered = ramp_search4_delivered(s, at);

	for (i = 1; i < SEARCH4_SENT; i++) {
		if (i >= passed)
			break;
		s->sent[ramp_index(at + i, SEARCH4_SENT)] = sent;
		s->delivered[ramp_index(at + i, SEARCH4_DELIVERED)] = delivered;
	}
	ramp_bins_advance(&s->bins, passed);
	at = (ramp_u32)(s->bins.index & (SEARCH4_SENT - 1));
	s->sent[ramp_index(at, SEARCH4_SENT)] = a->sent_bytes;
	s->delivered[ramp_index(at, SEARCH4_DELIVERED)] = a->delivered_bytes;
}

/* search_update_bins: 0 if it measures anew. */
RAMP_FN ramp_u32 ramp_search4_update(struct ramp_search4 *s, const struct ramp_ack *a)
{
	ramp_u64 passed = ramp_bins_passed(&s->bins, a->now_ns);

	if (a->flags & RAMP_RATE_APP_LIMITED) { /* rate_app_limited; 3.1 asks app_limited */
		ramp_search4_begin(s, a);
		return 0;
	}
	if (s->missed_limit && passed > s->missed_limit) {
		s->bins.started = 0;
		s->bins.duration_ns = 0;
		return 0;
	}
	ramp_search4_keep(s, passed, a);
	return 1;
}

/*
 * What was sent in the window that ended a fraction of a bin before the end of bin `right`: a part
 * of its first bin, the bins between, a part of its last. Each part is rounded, as in the source.
 */
RAMP_FN ramp_u64 ramp_search4_window(const struct ramp_search4 *s, ramp_u64 right,
				     ramp_u64 fraction)
{
	ramp_u64 left = ramp_sub(right, RAMP_BINS_PER_WINDOW);
	ramp_u64 first = ramp_search4_sent(s, left), last = ramp_search4_sent(s, right);
	ramp_u64 before_first = left ? ramp_search4_sent(s, left - 1) : s->sent_before;
	ramp_u64 before_last = ramp_search4_sent(s, right - 1);
	ramp_u64 bytes = ramp_sub(before_last, first);

	bytes = ramp_add(bytes, ramp_mul(ramp_sub(first, before_first), fraction) / 100);
	return ramp_add(bytes, ramp_mul(ramp_sub(last, before_last), 100 - fraction) / 100);
}

RAMP_FN ramp_u64 ramp_search4_arrived(const struct ramp_search4 *s, ramp_u64 bins)
{
	ramp_u64 index = s->bins.index;

	return ramp_sub(ramp_search4_delivered(s, index),
			ramp_search4_delivered(s, ramp_sub(index, bins)));
}

RAMP_FN void ramp_search4_test(struct ramp_search4 *s, const struct ramp_ack *a,
			       struct ramp_decision *d)
{
	ramp_u32 rtt_us = s->by_first_rtt ? s->bins.first_rtt_us : a->rtt_us;
	ramp_u64 fraction, back = ramp_bins_in(&s->bins, rtt_us, &fraction);
	ramp_u64 right = ramp_sub(s->bins.index, back), sent, arrived, limit;

	if (right < RAMP_BINS_PER_WINDOW || back >= s->look_back_end)
		return;
	sent = ramp_search4_window(s, right, fraction);
	arrived = ramp_search4_arrived(s, RAMP_BINS_PER_WINDOW);
	limit = ramp_mul(sent, s->keep_percent) / 100;
	/* norm_diff = (sent - arrived) / sent >= THRESH, multiplied out. */
	if (!sent || arrived > limit)
		return;
	d->evidence = arrived;
	d->limit = limit;
	if (!s->drain) {
		d->ssthresh_bytes = d->cwnd_bytes;
		ramp_leave(RAMP_EXIT_DELIVERY, d);
		return;
	}
	s->target_bytes = ramp_clamp(ramp_search4_arrived(s, s->rtt_bins),
				     ramp_mul(SEARCH4_LEAST_PACKETS, a->mss_bytes),
				     RAMP_CWND_MAX_BYTES);
	s->drained_bytes = 0;
	d->phase = RAMP_LEAVING;
	d->exit_reason = RAMP_EXIT_DELIVERY;
}

/* One packet for three acknowledged, until no more is in flight than the target. */
RAMP_FN void ramp_search4_drain(struct ramp_search4 *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 cost = ramp_max(ramp_mul(s->drain_packets, a->mss_bytes), 1), packets = 0;
	ramp_u64 window;

	s->drained_bytes = ramp_add(s->drained_bytes, a->acked_bytes);
	if (s->drained_bytes >= cost) {
		packets = s->drained_bytes / cost;
		s->drained_bytes -= packets * cost;
	}
	window = ramp_add(ramp_sub(a->in_flight_bytes, a->acked_bytes),
			  ramp_mul(packets, a->mss_bytes));
	ramp_hold(ramp_max(window, s->target_bytes), a->mss_bytes, d);
	if (window > s->target_bytes)
		return;
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(d->exit_reason, d);
}

RAMP_FN void ramp_search4_on_ack(struct ramp_search4 *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_LEAVING) {
		ramp_search4_drain(s, a, d);
		return;
	}
	if (a->rtt_us && d->cwnd_bytes < d->ssthresh_bytes) {
		if (!s->bins.started)
			ramp_search4_begin(s, a);
		else if (a->now_ns >= s->bins.end_ns && ramp_search4_update(s, a))
			ramp_search4_test(s, a, d);
	}
	if (d->phase != RAMP_STARTUP)
		return;
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

/* A timeout and a restart after a pause measure anew; the first also starts slow start again. */
RAMP_FN void ramp_search4_on_event(struct ramp_search4 *s, const struct ramp_event *e,
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
