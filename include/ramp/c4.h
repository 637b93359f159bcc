/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The initial phase of C4: pace at twice the best delivery rate, and grow an eighth as fast with
 * each era, a round trip, that does not bring a quarter more; after three of those leave with half
 * of the window.
 *
 *     startup --three eras without growth; RTT up after two--> leaving --an era at 15/16--> done
 *        |----too much lost----------------------------------^             of the rate
 *        `----mark, timeout--> done --undone--> startup
 *
 * Single losses do not end it: the host repairs them without a smaller window.
 *
 * Source:   picoquic c4.c [PQ].
 * Deviates: what was delivered since a packet was sent is the rate sample times the RTT.
 * Deviates: it grows only where the window is the limit; during a repair, where half of what it would be
 *           afterwards is in flight.
 * Deviates: a mark and a timeout end it, as TCP answers them; C4 weighs marks, and has no timeout
 *           but the probe's.
 * Deviates: the loss rate is counted in packets of the ACKs' totals, not by packet numbers.
 * Deviates: it paces at twice its own best rate; C4 paces at the mean of that and picoquic's peak
 *           estimate, where the peak is higher.
 * Deviates: nor does that estimate hold up the window, which C4 keeps at half of it times the
 *           smoothed RTT or more.
 * Deviates: a loss during the era at 15/16 ends it; C4 does not heed losses of what it sent before.
 * Deviates: after the era at 15/16 the host's congestion avoidance takes over; C4 cruises and
 *           probes, and may enter its initial phase once more after jitter.
 * Deviates: nothing is remembered of earlier connections; C4 may begin with a seed.
 */
#ifndef RAMP_C4_H
#define RAMP_C4_H

#include "losses.h"
#include "round.h"
#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_C4_PARAMETERS(P, N)                                                     \
	P(N, eras, "count", 3, 1, 16, "[PQ] c4_initial_handle_ack",                  \
	  "eras without growth after which it leaves")                               \
	P(N, growth_shift, "count", 3, 0, 8, "[PQ] c4_initial_handle_ack",           \
	  "each era without growth divides the window's growth by 2 to this")        \
	P(N, growth, "percent", 125, 100, 400, "[PQ] c4_growth_evaluate",            \
	  "of the last era's rate, what counts as growth")                           \
	P(N, least_rate, "bytes/s", 131072, 1, 1000000000, "[PQ] C4_INITIAL_PACING", \
	  "pacing rate below which it never goes")                                   \
	P(N, packets, "count", 20, 0, 1000000, "[PQ] C4_NB_PACKETS_BEFORE_LOSS",     \
	  "ACKs before which no loss rate ends it")                                  \
	P(N, recover, "1/1024", 960, 512, 1024, "[PQ] C4_ALPHA_RECOVER_1024",        \
	  "share of the rate in the last era")                                       \
	P(N, delay_max_us, "us", 25000, 0, 10000000, "[PQ] C4_DELAY_THRESHOLD_MAX",  \
	  "largest RTT rise needed")

RAMP_PARAMETERS(C4)

#define C4_LEAST_RTT_US 1000u    /* C4_MAX_RTT_MIN */
#define C4_MARGIN_US 15000u      /* C4_RTT_MARGIN_DELAY */
#define C4_RATE_MAX ((ramp_u64)1 << 40)
#define C4_RTT_MAX ((ramp_u64)1 << 22) /* us: no product of both wraps */

struct ramp_c4 {
	struct ramp_growth growth;
	struct ramp_usage usage;
	struct ramp_losses losses;
	struct ramp_round era;
	ramp_u64 rate;        /* best so far, bytes/s: C4's nominal rate */
	ramp_u64 old_rate;    /* at the end of the last era */
	ramp_u64 window_bytes;
	ramp_u64 pacing;      /* bytes/s; 0 before the first ACK */
	ramp_u64 least_rate;
	ramp_u64 growth_percent;
	ramp_u64 packets;
	ramp_u64 acks;
	ramp_u64 recover;
	ramp_u64 delay_max_us;
	ramp_u32 max_rtt_us;  /* C4's nominal maximum RTT; 0: no sample yet */
	ramp_u32 idle_eras;   /* without growth, one after the other */
	ramp_u32 eras;
	ramp_u32 growth_shift;
	ramp_u32 not_limited; /* in this era the path was the limit, not the application */
	ramp_u32 reserved;
};

RAMP_FN void ramp_c4_init(struct ramp_c4 *s, const struct ramp_config *c, struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->window_bytes = d->cwnd_bytes;
	s->eras = (ramp_u32)ramp_parameter(c, C4, eras);
	s->growth_shift = (ramp_u32)ramp_parameter(c, C4, growth_shift);
	s->growth_percent = ramp_parameter(c, C4, growth);
	s->least_rate = ramp_parameter(c, C4, least_rate);
	s->packets = ramp_parameter(c, C4, packets);
	s->recover = ramp_parameter(c, C4, recover);
	s->delay_max_us = ramp_parameter(c, C4, delay_max_us);
}

/* c4_sensitivity_1024: how much a flow of this rate heeds congestion, of 1024. */
RAMP_FN ramp_u64 ramp_c4_sensitivity(const struct ramp_c4 *s)
{
	if (s->rate < 50000)
		return 0;
	if (s->rate > 10000000)
		return 1024;
	if (s->rate < 1000000)
		return (s->rate - 50000) * 963 / 950000;
	return 963 + (s->rate - 1000000) * 61 / 9000000;
}

/* c4_delay_threshold: a sixteenth to a quarter of the maximum RTT. */
RAMP_FN ramp_u64 ramp_c4_delay(const struct ramp_c4 *s)
{
	ramp_u64 share = 64 + ((1024 - ramp_c4_sensitivity(s)) * 196 >> 10);

	return ramp_min(share * s->max_rtt_us >> 10, s->delay_max_us);
}

/* c4_loss_threshold: 2 % and half of what it lacks in sensitivity. */
RAMP_FN ramp_u64 ramp_c4_loss_limit(const struct ramp_c4 *s)
{
	return (ramp_u64)RAMP_LOSSES_ONE / 50 +
		(RAMP_LOSSES_ONE / 2048) * (1024 - ramp_c4_sensitivity(s));
}

RAMP_FN void ramp_c4_pace(const struct ramp_c4 *s, struct ramp_decision *d, ramp_u32 mss_bytes)
{
	ramp_u64 quantum = ramp_clamp(s->pacing >> 8, (ramp_u64)mss_bytes * 2, 65536);

	d->pacing_bytes_per_s = s->pacing;
	d->pacing_burst_bytes = s->pacing ? (ramp_u32)quantum : 0;
}

/* c4_apply_rate_and_cwin, after the best rate has risen. */
RAMP_FN void ramp_c4_apply(struct ramp_c4 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 twice = s->rate * 2;

	s->window_bytes = ramp_max(s->window_bytes, twice * s->max_rtt_us / 1000000);
	s->pacing = ramp_max(twice, s->least_rate);
	ramp_c4_pace(s, d, a->mss_bytes);
}

/* c4_handle_ack, its first half: the rate sample. */
RAMP_FN void ramp_c4_measure(struct ramp_c4 *s, const struct ramp_ack *a)
{
	ramp_u64 sample = ramp_min(a->delivery_bytes_per_s, C4_RATE_MAX);

	if (!sample || !a->rtt_us)
		return;
	if (sample > s->rate) {
		s->rate = sample;
		s->not_limited = 1;
	} else if (sample * ramp_min(a->rtt_us, C4_RTT_MAX) >
		   s->rate * ramp_min(s->growth.least_rtt_us, C4_RTT_MAX)) {
		s->not_limited = 1;
	}
}

/* c4_exit_initial. The caller sets evidence and limit. */
RAMP_FN void ramp_c4_land(struct ramp_c4 *s, const struct ramp_ack *a, ramp_u32 reason,
			  struct ramp_decision *d)
{
	ramp_u64 half = s->window_bytes / 2, least = s->rate * C4_LEAST_RTT_US / 1000000;
	ramp_u64 margin = ramp_min(half / 4, s->rate * C4_MARGIN_US / 1000000);

	s->window_bytes = ramp_max(half, least);
	s->pacing = ramp_max(s->rate * s->recover >> 10, 1);
	ramp_hold((s->window_bytes + margin) * s->recover >> 10, a->mss_bytes, d);
	if (s->losses.repairing) /* the window is the host's: the repair now ends there */
		d->ssthresh_bytes = d->cwnd_bytes;
	ramp_c4_pace(s, d, a->mss_bytes);
	ramp_round_start(&s->era, a);
	d->phase = RAMP_LEAVING;
	d->exit_reason = reason;
}

/* c4_handle_rtt_excess */
RAMP_FN ramp_u32 ramp_c4_delayed(struct ramp_c4 *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	ramp_u64 limit = s->max_rtt_us + ramp_c4_delay(s);

	if (!s->rate || a->rtt_us <= limit)
		return 0;
	d->evidence = a->rtt_us;
	d->limit = limit;
	ramp_c4_land(s, a, RAMP_EXIT_DELAY, d);
	return 1;
}

/* c4_growth_evaluate and c4_growth_reset, at the end of an era. */
RAMP_FN void ramp_c4_end_era(struct ramp_c4 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 target = s->old_rate * s->growth_percent / 100;

	if (s->rate >= target)
		s->idle_eras = 0;
	else
		s->idle_eras += s->not_limited;
	if (s->idle_eras >= s->eras) {
		d->evidence = s->rate;
		d->limit = target;
		ramp_c4_land(s, a, RAMP_EXIT_PLATEAU, d);
		return;
	}
	s->not_limited = 0;
	s->old_rate = s->rate;
}

/* The last era: then the window is what the best rate brings in the RTT it stands for. */
RAMP_FN void ramp_c4_last_era(struct ramp_c4 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	if (!ramp_round_over(&s->era, a))
		return;
	ramp_hold(s->window_bytes, a->mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(d->exit_reason, d);
}

RAMP_FN void ramp_c4_on_ack(struct ramp_c4 *s, const struct ramp_ack *a, struct ramp_decision *d)
{
	ramp_u64 before = s->rate, credit;

	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_LEAVING) {
		ramp_c4_last_era(s, a, d);
		return;
	}
	s->acks = ramp_add(s->acks, 1);
	ramp_sample_rtt(&s->growth, a);
	if (a->rtt_us && !s->max_rtt_us)
		s->max_rtt_us = (ramp_u32)ramp_clamp(a->rtt_us, C4_LEAST_RTT_US, C4_RTT_MAX);
	if (ramp_losses_count(&s->losses, a) && s->losses.rate > ramp_c4_loss_limit(s) &&
	    s->acks > s->packets && s->rate) {
		d->evidence = a->lost_bytes;
		d->limit = 0;
		ramp_c4_land(s, a, RAMP_EXIT_LOSS, d);
		return;
	}
	if (s->idle_eras > 1 && s->old_rate >= s->rate && ramp_c4_delayed(s, a, d))
		return;
	ramp_c4_measure(s, a);
	credit = ramp_used_credit(&s->growth, &s->usage, a, d) >>
		ramp_min(s->growth_shift * s->idle_eras, 63);
	if (ramp_mul(s->usage.flight_bytes, 2) >= s->window_bytes) /* larger than d's during a repair */
		s->window_bytes = ramp_min(ramp_add(s->window_bytes, credit), RAMP_CWND_MAX_BYTES);
	if (ramp_round_advance(&s->era, a))
		ramp_c4_end_era(s, a, d);
	if (d->phase != RAMP_STARTUP)
		return;
	if (s->rate > before || !s->pacing)
		ramp_c4_apply(s, a, d);
	if (s->losses.repairing) {
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
		return;
	}
	ramp_grow(ramp_sub(s->window_bytes, d->cwnd_bytes), a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_c4_on_event(struct ramp_c4 *s, const struct ramp_event *e,
			      struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (ramp_losses_outlast(&s->losses, e, d))
		return;
	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP) /* undone */
		ramp_c4_pace(s, d, e->mss_bytes);
}

#endif
