/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * picoquic's HyStart: leave slow start when even the smallest of the last seven RTT samples, taken
 * a millisecond apart, is a quarter above the smallest window of samples so far; then take back
 * what the window has grown since.
 *
 *     startup --seven excesses, half of the window--> done
 *        `----more than 15 % of the packets lost, mark, timeout--> done --undone--> startup
 *
 * Single losses do not end it: the host repairs them without a smaller window.
 *
 * Source:   picoquic cc_common.c, cubic.c [PQ].
 * Deviates: the loss rate is counted in packets of the ACKs' totals, not by packet numbers, and is
 *           looked at with the ACK after the loss.
 * Deviates: the RTT is smoothed here, by 1/8; picoquic has QUIC's.
 * Deviates: after it has left, losses of packets sent before reduce the window as the host does;
 *           picoquic ignores them for a round trip. Nor does the host's CUBIC begin at its plateau.
 * Deviates: pacing is the host's; picoquic always paces.
 */
#ifndef RAMP_HYSTART_PQ_H
#define RAMP_HYSTART_PQ_H

#include "losses.h"
#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_HYSTART_PQ_PARAMETERS(P, N)                                                      \
	P(N, samples, "count", 7, 1, 8, "[PQ] PICOQUIC_MIN_MAX_RTT_SCOPE",                    \
	  "RTT samples in the window, and excesses that end start-up")                        \
	P(N, spacing_us, "us", 1000, 0, 1000000, "[PQ] picoquic_cc_hystart_test",             \
	  "least time between two samples")                                                   \
	P(N, rise_divisor, "count", 4, 1, 1024, "[PQ] picoquic_cc_hystart_test",              \
	  "the rise that counts is the filtered minimum over this")                           \
	P(N, loss_threshold, "1/1000", 150, 0, 1000, "[PQ] PICOQUIC_SMOOTHED_LOSS_THRESHOLD", \
	  "smoothed loss rate above which it leaves")                                         \
	P(N, short_rtt_us, "us", 100000, 1, 10000000, "[PQ] PICOQUIC_TARGET_RENO_RTT",        \
	  "filtered minimum RTT up to which the window is halved")                            \
	P(N, long_rtt_us, "us", 610000, 1, 10000000, "[PQ] PICOQUIC_TARGET_SATELLITE_RTT",    \
	  "filtered minimum RTT above which this RTT counts as the short one")                \
	P(N, back, "choice:by RTT|half", 0, 0, 1, "[PQ] cubic.c; half: issues 1692, 1694",    \
	  "what of the window is taken back beyond the short RTT")

RAMP_PARAMETERS(HYSTART_PQ)

#define HYSTART_PQ_SAMPLES 8u
#define HYSTART_PQ_RATE_MAX ((ramp_u64)1 << 40)
#define HYSTART_PQ_RTT_MAX ((ramp_u64)1 << 23) /* us: no product of both wraps */

struct ramp_hystart_pq {
	struct ramp_growth growth;
	struct ramp_losses losses;
	ramp_u64 last_sample_ns;
	ramp_u64 peak_bytes_per_s;
	ramp_u64 spacing_ns;
	ramp_u64 rise_divisor;
	ramp_u64 short_rtt_us;
	ramp_u64 long_rtt_us;
	ramp_u32 sample_us[HYSTART_PQ_SAMPLES];
	ramp_u32 samples;
	ramp_u32 next;             /* sample to be replaced */
	ramp_u32 full;             /* all are there */
	ramp_u32 filtered_min_us;  /* 0: none yet */
	ramp_u32 excesses;
	ramp_u32 smoothed_rtt_us;  /* 0: none yet */
	ramp_u32 loss_limit;
	ramp_u32 half;
};

RAMP_FN void ramp_hystart_pq_init(struct ramp_hystart_pq *s, const struct ramp_config *c,
				  struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->samples = (ramp_u32)ramp_parameter(c, HYSTART_PQ, samples);
	s->spacing_ns = ramp_parameter(c, HYSTART_PQ, spacing_us) * 1000;
	s->rise_divisor = ramp_parameter(c, HYSTART_PQ, rise_divisor);
	s->short_rtt_us = ramp_parameter(c, HYSTART_PQ, short_rtt_us);
	s->long_rtt_us = ramp_parameter(c, HYSTART_PQ, long_rtt_us);
	s->loss_limit = (ramp_u32)((ramp_parameter(c, HYSTART_PQ, loss_threshold) << 24) / 1000);
	s->half = (ramp_u32)ramp_parameter(c, HYSTART_PQ, back);
}

/* picoquic_cc_filter_rtt_min_max: the smallest of the samples; 0 before all are there. */
RAMP_FN ramp_u32 ramp_hystart_pq_filter(struct ramp_hystart_pq *s, ramp_u32 rtt_us)
{
	ramp_u64 valid, below = 0, most = 0, all = ~(ramp_u32)0;
	ramp_u32 i;

	s->sample_us[ramp_index(s->next, HYSTART_PQ_SAMPLES)] = rtt_us;
	if (++s->next >= s->samples) {
		s->next = 0;
		s->full = 1;
	}
	if (!s->full)
		return 0;
	for (i = 0; i < HYSTART_PQ_SAMPLES; i++) { /* without a branch, for the kernel's verifier */
		valid = ramp_less_mask(i, s->samples);
		most = ramp_max_flat(most, s->sample_us[i] & valid);
		below = ramp_max_flat(below, (all - s->sample_us[i]) & valid);
	}
	if (!s->filtered_min_us || s->filtered_min_us > most)
		s->filtered_min_us = (ramp_u32)most;
	return (ramp_u32)(all - below);
}

/* picoquic_cc_hystart_test: 1 if the RTT has risen for long enough. */
RAMP_FN ramp_u32 ramp_hystart_pq_test(struct ramp_hystart_pq *s, const struct ramp_ack *a,
				      struct ramp_decision *d)
{
	ramp_u64 limit, least, rate, rise;

	if (a->now_ns <= ramp_add(s->last_sample_ns, s->spacing_ns))
		return 0;
	s->last_sample_ns = a->now_ns;
	least = ramp_hystart_pq_filter(s, a->rtt_us);
	if (!least)
		return 0;
	if (least <= s->filtered_min_us) {
		s->excesses = 0;
		return 0;
	}
	limit = s->filtered_min_us + s->filtered_min_us / s->rise_divisor;
	rate = ramp_min(a->pacing_bytes_per_s, ~(ramp_u32)0);
	rise = least - s->filtered_min_us;
	/* Nor is a packet's time at the host's rate a rise. */
	if (least <= limit || (rate && rise * rate <= (ramp_u64)a->mss_bytes * 1000000))
		return 0;
	if (++s->excesses < s->samples)
		return 0;
	d->evidence = least;
	d->limit = limit;
	return 1;
}

/* During a repair the host's window is what the repair may send; ssthresh is what it repairs. */
RAMP_FN ramp_u64 ramp_hystart_pq_window(const struct ramp_hystart_pq *s,
					const struct ramp_decision *d)
{
	return s->losses.repairing ? ramp_min(d->ssthresh_bytes, RAMP_CWND_MAX_BYTES)
				   : d->cwnd_bytes;
}

/* The deciding sample is from before the window's last doubling. */
RAMP_FN void ramp_hystart_pq_leave(struct ramp_hystart_pq *s, const struct ramp_ack *a,
				   struct ramp_decision *d)
{
	ramp_u64 base = s->filtered_min_us, window = ramp_hystart_pq_window(s, d), kept = 0;

	if (base > s->short_rtt_us && !s->half)
		kept = ramp_min(window, RAMP_CWND_MAX_BYTES) *
			(base > s->long_rtt_us ? s->long_rtt_us : s->short_rtt_us) / base;
	kept = ramp_min(kept, window);
	ramp_hold(window - (window - kept) / 2, a->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(RAMP_EXIT_DELAY, d);
}

/* At least half of what the best rate so far brings in an RTT. */
RAMP_FN void ramp_hystart_pq_catch_up(struct ramp_hystart_pq *s, const struct ramp_ack *a,
				      struct ramp_decision *d)
{
	ramp_u64 least;

	if (a->rtt_us && !s->smoothed_rtt_us)
		s->smoothed_rtt_us = a->rtt_us;
	else if (a->rtt_us)
		s->smoothed_rtt_us = (ramp_u32)((7 * (ramp_u64)s->smoothed_rtt_us + a->rtt_us) / 8);
	s->peak_bytes_per_s = ramp_min(ramp_max(s->peak_bytes_per_s, a->delivery_bytes_per_s),
				       HYSTART_PQ_RATE_MAX);
	least = s->peak_bytes_per_s * ramp_min(s->smoothed_rtt_us, HYSTART_PQ_RTT_MAX) / 2000000;
	if (d->cwnd_bytes < least)
		ramp_grow(least - d->cwnd_bytes, a->mss_bytes, d);
}

RAMP_FN void ramp_hystart_pq_on_ack(struct ramp_hystart_pq *s, const struct ramp_ack *a,
				    struct ramp_decision *d)
{
	ramp_u64 ssthresh = s->losses.repairing ? s->losses.ssthresh_bytes : d->ssthresh_bytes;

	if (d->phase == RAMP_DONE)
		return;
	if (ramp_losses_count(&s->losses, a) && s->losses.rate > s->loss_limit) {
		/* cubic_enter_recovery: the window the packets were lost from, by its beta twice, since
		 * its fast convergence takes the first loss for a later one. */
		ramp_hold(ramp_hystart_pq_window(s, d) / 64 * 49, a->mss_bytes, d);
		d->ssthresh_bytes = d->cwnd_bytes;
		d->evidence = a->lost_bytes;
		d->limit = 0;
		ramp_leave(RAMP_EXIT_LOSS, d);
		return;
	}
	/* As long as ssthresh has not been set. */
	if (a->rtt_us && ssthresh > RAMP_CWND_MAX_BYTES && ramp_hystart_pq_test(s, a, d)) {
		ramp_hystart_pq_leave(s, a, d);
		return;
	}
	if (s->losses.repairing) {
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
		return;
	}
	ramp_hystart_pq_catch_up(s, a, d);
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

/* A loss is repaired with the window as it is; only many of them, a mark or a timeout end start-up. */
RAMP_FN void ramp_hystart_pq_on_event(struct ramp_hystart_pq *s, const struct ramp_event *e,
				      struct ramp_decision *d)
{
	if (!ramp_losses_outlast(&s->losses, e, d))
		ramp_leave_on_event(&s->growth, e, d);
}

#endif
