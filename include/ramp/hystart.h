/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * HyStart as Linux's CUBIC ships it: ACK trains against half the connection's minimum RTT, and each
 * round's RTT against that minimum.
 *
 *     startup --ACK train, or RTT above the minimum, at cwnd >= 16--> done --timeout--> startup
 *        `----loss, mark--> done --undone--> startup
 *
 *   version   clock     train   RTT rise that counts   minimum over    new round
 *   2.6.29    jiffies   >=      min/16 in [2, 16] j    first 8         after the ACK, cwnd-limited
 *   5.10      us        >       min/8 in [4, 16] ms    round so far    after the ACK, cwnd-limited
 *   6.14      us        >       min/8 in [4, 16] ms    round so far    before the ACK, at any cwnd
 *
 * Source:   Linux net/ipv4/tcp_cubic.c at those versions; [HR11].
 * Deviates: 2.6.29 drops all samples in the first second of a CUBIC epoch, and for five minutes
 *           after boot; here none are dropped.
 * Deviates: an exit by loss is final until a timeout; in Linux the detectors stay armed after it, and
 *           may end a slow start that follows a pause.
 */
#ifndef RAMP_HYSTART_H
#define RAMP_HYSTART_H

#define RAMP_WRITTEN_FOR 2
#include "round.h"
#include "window.h"

#define RAMP_HYSTART_PARAMETERS(P, N)                                                              \
	P(N, version, "choice:2.6.29|5.10|6.14", 2, 0, 2, "Linux tcp_cubic.c", "whose rules hold") \
	P(N, detect, "choice:neither|train|delay|both", 3, 0, 3, "Linux hystart_detect",           \
	  "which detectors run")                                                                   \
	P(N, low_window, "packets", 16, 0, 100000, "Linux hystart_low_window",                     \
	  "window below which nothing is decided")                                                 \
	P(N, samples, "count", 8, 1, 1000, "Linux HYSTART_MIN_SAMPLES",                            \
	  "RTT samples a round needs before its delay is judged")                                  \
	P(N, spacing_us, "us", 2000, 0, 1000000, "Linux hystart_ack_delta_us",                     \
	  "largest gap between two ACKs of one train")                                             \
	P(N, eta_shift, "count", 0, 0, 31, "Linux HYSTART_DELAY_THRESH",                           \
	  "the RTT rise that counts is min RTT / 2^this; 0: the version's (4, then 3)")            \
	P(N, eta_min_us, "us", 0, 0, 10000000, "Linux HYSTART_DELAY_MIN",                          \
	  "smallest RTT rise that counts; 0: the version's (2 jiffies, then 4000)")                \
	P(N, eta_max_us, "us", 0, 0, 10000000, "Linux HYSTART_DELAY_MAX",                          \
	  "largest RTT rise needed; 0: the version's (16 jiffies, then 16000)")                    \
	P(N, ack_delay_max_us, "us", 1000, 0, 1000000, "Linux 5.6 hystart_ack_delay",              \
	  "most that batching by the host adds to the train bound")                                \
	P(N, gso_max_bytes, "bytes", 65536, 0, 1048576, "Linux sk_gso_max_size",                   \
	  "largest batch; four of them at the host's rate are the added delay")                    \
	P(N, hz, "hz", 1000, 100, 1000, "Linux CONFIG_HZ",                                         \
	  "ticks per second of version 2.6.29's clock")

RAMP_PARAMETERS(HYSTART)

#define HYSTART_VERSION_2_6_29 0u
#define HYSTART_VERSION_6_14 2u
#define HYSTART_DETECT_TRAIN 1u
#define HYSTART_DETECT_DELAY 2u

struct ramp_hystart { /* times in ticks; RTTs in ticks, in 1/8 tick for 2.6.29 (Linux delay_min) */
	struct ramp_growth growth;
	struct ramp_round round;
	ramp_u64 round_start;
	ramp_u64 last_ack;
	ramp_u64 min_rtt;   /* 0: none yet */
	ramp_u64 round_rtt; /* 0: none yet */
	ramp_u64 tick_ns;
	ramp_u64 low_window_packets;
	ramp_u64 samples;
	ramp_u64 spacing;
	ramp_u64 eta_min;
	ramp_u64 eta_max;
	ramp_u64 ack_delay_max;
	ramp_u64 ack_delay_bytes_us; /* batch bytes x 1e6: over the pacing rate, us */
	ramp_u32 sample_count;
	ramp_u32 eta_shift;
	ramp_u32 version;
	ramp_u32 detect;
	ramp_u32 reserved;
};

RAMP_FN void ramp_hystart_reset(struct ramp_hystart *s)
{
	s->round.end_bytes = 0;
	s->round_start = 0;
	s->last_ack = 0;
	s->min_rtt = 0;
	s->round_rtt = 0;
	s->sample_count = 0;
}

/* Linux rounds times up to jiffies (msecs_to_jiffies, usecs_to_jiffies). */
RAMP_FN ramp_u64 ramp_hystart_jiffies(const struct ramp_hystart *s, ramp_u64 us)
{
	return (ramp_mul(us, 1000) + s->tick_ns - 1) / s->tick_ns;
}

RAMP_FN void ramp_hystart_init(struct ramp_hystart *s, const struct ramp_config *c,
			       struct ramp_decision *d)
{
	ramp_u64 eta_min = ramp_parameter(c, HYSTART, eta_min_us);
	ramp_u64 eta_max = ramp_parameter(c, HYSTART, eta_max_us);

	ramp_begin(&s->growth, c, d);
	s->version = (ramp_u32)ramp_parameter(c, HYSTART, version);
	s->detect = (ramp_u32)ramp_parameter(c, HYSTART, detect);
	s->low_window_packets = ramp_parameter(c, HYSTART, low_window);
	s->samples = ramp_parameter(c, HYSTART, samples);
	s->spacing = ramp_parameter(c, HYSTART, spacing_us);
	s->eta_shift = (ramp_u32)ramp_parameter(c, HYSTART, eta_shift);
	s->ack_delay_max = ramp_parameter(c, HYSTART, ack_delay_max_us);
	s->ack_delay_bytes_us =
		ramp_mul(ramp_parameter(c, HYSTART, gso_max_bytes), 4000000);
	s->tick_ns = 1000;
	s->eta_min = eta_min ? eta_min : 4000;
	s->eta_max = eta_max ? eta_max : 16000;
	if (s->version == HYSTART_VERSION_2_6_29) {
		s->tick_ns = 1000000000u / ramp_parameter(c, HYSTART, hz);
		s->spacing = ramp_hystart_jiffies(s, s->spacing);
		s->eta_min = 8 * (eta_min ? ramp_hystart_jiffies(s, eta_min) : 2);
		s->eta_max = 8 * (eta_max ? ramp_hystart_jiffies(s, eta_max) : 16);
	}
	if (!s->eta_shift)
		s->eta_shift = s->version == HYSTART_VERSION_2_6_29 ? 4 : 3;
	ramp_hystart_reset(s);
}

RAMP_FN void ramp_hystart_start_round(struct ramp_hystart *s, ramp_u64 now)
{
	s->round_start = now;
	s->last_ack = now;
	s->round_rtt = 0;
	s->sample_count = 0;
}

/*
 * Linux 5.6 hystart_ack_delay: batches at the host's nominal rate (sk_pacing_rate) hold back the
 * ACKs of a train, whether the host paces or not.
 */
RAMP_FN ramp_u64 ramp_hystart_ack_delay(const struct ramp_hystart *s, const struct ramp_ack *a)
{
	if (!a->pacing_bytes_per_s)
		return 0;
	if (ramp_mul(a->pacing_bytes_per_s, s->ack_delay_max) <= s->ack_delay_bytes_us)
		return s->ack_delay_max;
	return s->ack_delay_bytes_us / a->pacing_bytes_per_s;
}

RAMP_FN void ramp_hystart_test_train(struct ramp_hystart *s, const struct ramp_ack *a,
				     struct ramp_decision *d)
{
	ramp_u64 now = a->now_ns / s->tick_ns, train = ramp_sub(now, s->round_start), limit;

	if (!(s->detect & HYSTART_DETECT_TRAIN) || ramp_sub(now, s->last_ack) > s->spacing)
		return;
	s->last_ack = now;
	if (s->version == HYSTART_VERSION_2_6_29) {
		limit = s->min_rtt >> 4;
		if (train < limit)
			return;
	} else {
		limit = s->min_rtt + ramp_hystart_ack_delay(s, a);
		if (!(a->flags & RAMP_PACED)) /* Linux asks sk_pacing_status on every ACK */
			limit >>= 1;
		if (train <= limit)
			return;
	}
	d->evidence = ramp_mul(train, s->tick_ns) / 1000;
	d->limit = ramp_mul(limit, s->tick_ns) / 1000;
	ramp_leave(RAMP_EXIT_ACK_TRAIN, d);
}

RAMP_FN void ramp_hystart_test_delay(struct ramp_hystart *s, ramp_u64 rtt, struct ramp_decision *d)
{
	ramp_u64 limit, shorter = !s->round_rtt || rtt < s->round_rtt;

	if (!(s->detect & HYSTART_DETECT_DELAY))
		return;
	if (shorter && (s->sample_count < s->samples || s->version != HYSTART_VERSION_2_6_29))
		s->round_rtt = rtt;
	if (s->sample_count < s->samples) {
		s->sample_count++;
		return;
	}
	limit = s->min_rtt + ramp_clamp(s->min_rtt >> s->eta_shift, s->eta_min, s->eta_max);
	if (d->phase == RAMP_DONE || s->round_rtt <= limit)
		return;
	d->evidence = s->round_rtt;
	d->limit = limit;
	if (s->version == HYSTART_VERSION_2_6_29) {
		d->evidence = ramp_mul(s->round_rtt, s->tick_ns) / 8000;
		d->limit = ramp_mul(limit, s->tick_ns) / 8000;
	}
	ramp_leave(RAMP_EXIT_DELAY, d);
}

/* Linux hystart_update, called for ACKs with an RTT sample. */
RAMP_FN void ramp_hystart_update(struct ramp_hystart *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	ramp_u64 rtt = a->rtt_us;

	if (s->version == HYSTART_VERSION_2_6_29)
		rtt = 8 * ramp_hystart_jiffies(s, rtt);
	if (!s->min_rtt || rtt < s->min_rtt)
		s->min_rtt = rtt;
	if (s->version == HYSTART_VERSION_6_14 && ramp_round_advance(&s->round, a))
		ramp_hystart_start_round(s, a->now_ns / s->tick_ns);
	if (d->cwnd_bytes < ramp_mul(s->low_window_packets, a->mss_bytes))
		return;
	ramp_hystart_test_train(s, a, d);
	ramp_hystart_test_delay(s, rtt, d);
	if (d->phase == RAMP_DONE)
		d->ssthresh_bytes = d->cwnd_bytes;
}

RAMP_FN void ramp_hystart_on_ack(struct ramp_hystart *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	ramp_u32 at_equality = s->version == HYSTART_VERSION_2_6_29;

	if (d->phase == RAMP_DONE)
		return;
	if (d->cwnd_bytes > d->ssthresh_bytes ||
	    (!at_equality && d->cwnd_bytes == d->ssthresh_bytes)) {
		ramp_leave_at_ssthresh(d);
		return;
	}
	if (a->rtt_us)
		ramp_hystart_update(s, a, d);
	if (s->version != HYSTART_VERSION_6_14 && (a->flags & RAMP_CWND_LIMITED) &&
	    ramp_round_advance(&s->round, a))
		ramp_hystart_start_round(s, a->now_ns / s->tick_ns);
	if (at_equality) /* cwnd <= ssthresh: the deciding ACK still counts */
		ramp_hold(ramp_add(d->cwnd_bytes, ramp_credit(a, s->growth.abc_limit_packets)),
			  a->mss_bytes, d);
	else if (d->phase != RAMP_DONE)
		ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	if (d->phase != RAMP_DONE && d->cwnd_bytes >= ramp_add(d->ssthresh_bytes, at_equality))
		ramp_leave_at_ssthresh(d);
}

/*
 * Linux: loss leaves the detectors alone; TCP_CA_Loss, a timeout, resets them and slow start runs
 * again.
 */
RAMP_FN void ramp_hystart_on_event(struct ramp_hystart *s, const struct ramp_event *e,
				   struct ramp_decision *d)
{
	if (e->kind == RAMP_TIMEOUT) {
		ramp_hystart_reset(s);
		ramp_begin_again(&s->growth, d);
		return;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
