/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Swift-Start: four packets back to back, a share of the capacity that their ACKs show as the next
 * window, paced over a round trip; slow start from there.
 *
 *     startup --first flight acknowledged--> startup, paced --a round trip--> startup
 *     any --cwnd reached ssthresh, loss, mark, timeout--> done --undone--> back
 *
 * Source:   [PRAKS02]. Reconstructed from its abstract and from descriptions: the median, and the
 *           default share.
 */
#ifndef RAMP_SWIFTSTART_H
#define RAMP_SWIFTSTART_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_SWIFTSTART_PARAMETERS(P, N)                                       \
	P(N, initial_window, "packets", 4, 2, 1000, "[PRAKS02], RFC 3390",     \
	  "packets to begin with, back to back")                               \
	P(N, share, "percent", 50, 1, 100, "reconstructed",                    \
	  "of the capacity that the gaps show, what the next window is worth") \
	P(N, longest_gap, "us", 30000, 1, 10000000, "reconstructed",           \
	  "a longer gap is a receiver's timer, and does not count")

RAMP_PARAMETERS(SWIFTSTART)

#define SWIFTSTART_GAPS 3u
#define SWIFTSTART_RATE_MAX ((ramp_u64)1 << 40)

struct ramp_swiftstart {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 share_percent;
	ramp_u64 longest_gap_ns;
	ramp_u64 previous_ns; /* 0: no ACK yet */
	ramp_u64 previous_bytes;
	ramp_u64 first_flight_bytes;
	ramp_u64 rates[SWIFTSTART_GAPS]; /* B/s, ascending; 0 first while there are fewer */
	ramp_u64 paced_bytes_per_s;      /* 0: not paced */
	ramp_u64 paced_from_bytes;       /* sent before the paced window */
	ramp_u32 gaps;
	ramp_u32 decided;
};

RAMP_FN void ramp_swiftstart_init(struct ramp_swiftstart *s, const struct ramp_config *c,
				  struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	ramp_hold(ramp_mul(ramp_parameter(c, SWIFTSTART, initial_window), c->mss_bytes),
		  c->mss_bytes, d);
	s->first_flight_bytes = d->cwnd_bytes;
	s->share_percent = ramp_parameter(c, SWIFTSTART, share);
	s->longest_gap_ns = ramp_parameter(c, SWIFTSTART, longest_gap) * 1000;
	d->pacing_bytes_per_s = RAMP_BACK_TO_BACK;
}

/* Bytes are counted, so that a receiver which acknowledges every second packet does no harm. */
RAMP_FN void ramp_swiftstart_measure(struct ramp_swiftstart *s, const struct ramp_ack *a)
{
	ramp_u64 gap_ns = ramp_sub(a->now_ns, s->previous_ns), rate, other;
	ramp_u64 bytes = ramp_sub(a->delivered_bytes, s->previous_bytes);
	ramp_u32 i;

	if (s->previous_ns && (!gap_ns || !bytes))
		return;
	if (s->previous_ns && gap_ns <= s->longest_gap_ns && s->gaps < SWIFTSTART_GAPS) {
		rate = ramp_min(ramp_mul_div(bytes, 1000000000, gap_ns), SWIFTSTART_RATE_MAX);
		for (i = 0; i < SWIFTSTART_GAPS; i++) { /* largest last, smallest drops out */
			other = s->rates[SWIFTSTART_GAPS - 1 - i];
			s->rates[SWIFTSTART_GAPS - 1 - i] = ramp_max(rate, other);
			rate = ramp_min(rate, other);
		}
		s->gaps++;
	}
	s->previous_ns = a->now_ns;
	s->previous_bytes = a->delivered_bytes;
}

/* The median gap's rate; of two the slower. */
RAMP_FN ramp_u64 ramp_swiftstart_rate(const struct ramp_swiftstart *s)
{
	return s->gaps == 1 ? s->rates[SWIFTSTART_GAPS - 1] : s->rates[SWIFTSTART_GAPS - 2];
}

/* cwnd = share x rate x RTT, sent over one RTT. */
RAMP_FN void ramp_swiftstart_jump(struct ramp_swiftstart *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	ramp_u64 rate = ramp_swiftstart_rate(s) * s->share_percent / 100;
	ramp_u64 window = ramp_mul(rate, s->growth.least_rtt_us) / 1000000;

	s->decided = 1;
	d->pacing_bytes_per_s = RAMP_AS_HOST_LIKES;
	window = ramp_min(window, d->ssthresh_bytes);
	if (!s->gaps || window <= d->cwnd_bytes)
		return;
	ramp_hold(window, a->mss_bytes, d);
	s->paced_bytes_per_s = ramp_max(
		ramp_mul_div(d->cwnd_bytes, 1000000, s->growth.least_rtt_us), 1);
	s->paced_from_bytes = a->sent_bytes;
	d->pacing_bytes_per_s = s->paced_bytes_per_s;
}

RAMP_FN void ramp_swiftstart_on_ack(struct ramp_swiftstart *s, const struct ramp_ack *a,
				    struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	if (s->paced_bytes_per_s) {
		/* The window of this round trip is decided; a round trip later it is sent. */
		if (a->newest_acked_bytes <= s->paced_from_bytes)
			return;
		s->paced_bytes_per_s = 0;
		ramp_pace_no_more(d);
	}
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	if (!s->decided) {
		ramp_swiftstart_measure(s, a);
		if (s->gaps == SWIFTSTART_GAPS || a->newest_acked_bytes >= s->first_flight_bytes)
			ramp_swiftstart_jump(s, a, d);
	}
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_swiftstart_on_event(struct ramp_swiftstart *s, const struct ramp_event *e,
				      struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase != RAMP_DONE) /* undone */
		d->pacing_bytes_per_s = s->decided ? s->paced_bytes_per_s : RAMP_BACK_TO_BACK;
}

#endif
