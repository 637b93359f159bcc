/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * BEST: the median of a round's per-ACK bandwidth samples, times the RTT, is where slow start ends.
 *
 *     startup --a round's median > threshold--> ssthresh = median x RTT --cwnd reached it--> done
 *        `----loss, mark, timeout--> done --undone--> startup
 *
 * Source:   [AK23] "BEST Algorithm", Figure 10.
 * Deviates: the median comes from a histogram and may be off by 1.6 % (median.h); the paper keeps
 *           every sample.
 * Deviates: samples are cleared after every round; Figure 10 clears them only when no ssthresh is
 *           set.
 * Deviates: ssthresh is set once (track); Figure 10 sets it at the end of every round.
 * Deviates: what ACKs at one instant deliver counts with the next sample; Figure 10 forgets it.
 * Deviates: the threshold is 1 MB/s as in the paper's text and results; Figure 10 prints 0.
 */
#ifndef RAMP_BEST_H
#define RAMP_BEST_H

#define RAMP_WRITTEN_FOR 2
#include "median.h"
#include "round.h"
#include "window.h"

#define RAMP_BEST_PARAMETERS(P, N)                                                  \
	P(N, threshold, "bytes/s", 1000000, 0, 1000000000000, "[AK23] Conclusion",  \
	  "a round's median must exceed this to count")                             \
	P(N, track, "choice:once|every-round", 0, 0, 1, "[AK23] Figure 10",         \
	  "whether later rounds correct ssthresh")                                  \
	P(N, rtt, "choice:min|smoothed", 0, 0, 1, "[AK23] BEST Algorithm: the RTT", \
	  "which RTT turns the rate into a window")

RAMP_PARAMETERS(BEST)

/* A sample beyond 16 GiB is nonsense; the cap keeps bytes x 1e9 within 64 bits. */
#define BEST_SAMPLE_MAX_BYTES ((ramp_u64)1 << 34)

struct ramp_best {
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 previous_ns; /* 0: no ACK yet */
	ramp_u64 previous_bytes;
	ramp_u64 threshold_bytes_per_s;
	ramp_u32 smoothed_rtt_eighth_us;
	ramp_u32 track;
	ramp_u32 smoothed;
	ramp_u32 estimated;             /* ssthresh is the algorithm's own */
	struct ramp_median bandwidth;   /* B/s */
};

RAMP_FN void ramp_best_init(struct ramp_best *s, const struct ramp_config *c,
			    struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->threshold_bytes_per_s = ramp_parameter(c, BEST, threshold);
	s->track = ramp_parameter(c, BEST, track) != 0;
	s->smoothed = ramp_parameter(c, BEST, rtt) != 0;
}

/* RFC 6298 §2.3 with alpha 1/8, in eighths. An RTT beyond 2^29 us (9 min) counts as that. */
RAMP_FN void ramp_best_smooth_rtt(struct ramp_best *s, ramp_u32 rtt_us)
{
	ramp_u32 rtt = rtt_us > 0x1fffffffu ? 0x1fffffffu : rtt_us;

	if (!rtt)
		return;
	if (!s->smoothed_rtt_eighth_us)
		s->smoothed_rtt_eighth_us = rtt * 8;
	else
		s->smoothed_rtt_eighth_us =
			s->smoothed_rtt_eighth_us - s->smoothed_rtt_eighth_us / 8 + rtt;
}

/*
 * Figure 10: two ACKs at one instant, or one that delivers nothing, give no sample. A link that
 * hands over batches makes one sample of each: all of its bytes over the time since the last.
 */
RAMP_FN void ramp_best_sample_bandwidth(struct ramp_best *s, const struct ramp_ack *a)
{
	ramp_u64 interval = ramp_sub(a->now_ns, s->previous_ns);
	ramp_u64 bytes = ramp_sub(a->delivered_bytes, s->previous_bytes);

	if (s->previous_ns && !interval)
		return;
	if (s->previous_ns && bytes)
		ramp_median_add(&s->bandwidth,
				ramp_min(bytes, BEST_SAMPLE_MAX_BYTES) * 1000000000u / interval);
	s->previous_ns = a->now_ns;
	s->previous_bytes = a->delivered_bytes;
}

RAMP_FN void ramp_best_end_round(struct ramp_best *s, struct ramp_decision *d)
{
	ramp_u64 rate = ramp_median_value(&s->bandwidth);
	ramp_u64 rtt_us = s->smoothed ? s->smoothed_rtt_eighth_us / 8 : s->growth.least_rtt_us;

	ramp_median_clear(&s->bandwidth);
	if (rate <= s->threshold_bytes_per_s || !rtt_us)
		return;
	d->ssthresh_bytes = ramp_mul_div(rate, rtt_us, 1000000);
	s->estimated = 1;
}

RAMP_FN void ramp_best_on_ack(struct ramp_best *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	ramp_best_smooth_rtt(s, a->rtt_us);
	if (!s->estimated || s->track) {
		ramp_best_sample_bandwidth(s, a);
		if (ramp_round_advance(&s->round, a))
			ramp_best_end_round(s, d);
	}
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
	if (d->phase == RAMP_DONE && s->estimated)
		d->exit_reason = RAMP_EXIT_BANDWIDTH;
}

RAMP_FN void ramp_best_on_event(struct ramp_best *s, const struct ramp_event *e,
				struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
