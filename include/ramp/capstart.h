/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * CapStart: limited slow start where the path has a link slower than the sender's own, and standard
 * slow start where it has none.
 *
 *     startup --two rounds: slow gap, cwnd > max_ssthresh--> conservative
 *     either --cwnd reached ssthresh, loss, mark, timeout--> done --undone--> back
 *
 * Without a slow gap, or where the interface's rate is unknown, it is slow start.
 *
 * Source:   [CKTOG10] as [HR11] §3.4 describes it. Reconstructed: which gaps count, how many, and
 *           when it decides.
 * Deviates: growth beyond max_ssthresh is as limited.h has it.
 */
#ifndef RAMP_CAPSTART_H
#define RAMP_CAPSTART_H

#include "limited.h"
#include "round.h"
#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_CAPSTART_PARAMETERS(P, N)                                                \
	P(N, max_ssthresh, "packets", 100, 2, 1000000, "RFC 3742 §2",                 \
	  "window up to which slow start is not limited")                             \
	P(N, local_rate, "bytes/s", 0, 0, 1000000000000, "our choice",                \
	  "rate of the sender's own interface; 0: as the host tells it")              \
	P(N, share, "percent", 90, 1, 100, "[HR11] §3.4",                             \
	  "a path below this share of the interface's rate has a slower link")        \
	P(N, gaps, "count", 8, 1, 1000, "reconstructed", "gaps to look at")           \
	P(N, longest_gap, "us", 10000, 1, 10000000, "reconstructed",                  \
	  "a longer gap is a receiver's timer or the next round, and does not count") \
	P(N, header, "bytes", 52, 0, 200, "IP and TCP with time stamps",              \
	  "what the link carries of a packet in addition to its payload")

RAMP_PARAMETERS(CAPSTART)

#define CAPSTART_DECIDES_AFTER_ROUNDS 2u

struct ramp_capstart {
	struct ramp_limited limited; /* its growth is this row's */
	struct ramp_round round;
	ramp_u64 local_bytes_per_s; /* 0: unknown */
	ramp_u64 share_percent;
	ramp_u64 longest_gap_ns;
	ramp_u64 header_bytes;
	ramp_u64 gaps_left;
	ramp_u64 previous_ns; /* 0: no ACK yet */
	ramp_u64 previous_sent_ns;
	ramp_u64 previous_acked_bytes;
	ramp_u64 slowest_gap_ns; /* 0: none yet */
	ramp_u64 slowest_bytes;  /* on the wire, in that gap */
	ramp_u32 rounds;
	ramp_u32 slower; /* the path has a link slower than the interface */
};

RAMP_FN void ramp_capstart_init(struct ramp_capstart *s, const struct ramp_config *c,
				struct ramp_decision *d)
{
	ramp_begin(&s->limited.growth, c, d);
	s->limited.max_ssthresh_packets = ramp_parameter(c, CAPSTART, max_ssthresh);
	s->local_bytes_per_s = ramp_parameter(c, CAPSTART, local_rate);
	if (!s->local_bytes_per_s && c->hint.source == RAMP_HINT_INTERFACE)
		s->local_bytes_per_s = c->hint.bytes_per_s;
	s->share_percent = ramp_parameter(c, CAPSTART, share);
	s->longest_gap_ns = ramp_parameter(c, CAPSTART, longest_gap) * 1000;
	s->header_bytes = ramp_parameter(c, CAPSTART, header);
	s->gaps_left = ramp_parameter(c, CAPSTART, gaps);
}

/*
 * A gap between two ACKs that each cover as many bytes, of packets that left closer together than
 * their ACKs came: something on the path has spread them. The slowest counts.
 */
RAMP_FN void ramp_capstart_measure(struct ramp_capstart *s, const struct ramp_ack *a)
{
	ramp_u64 gap_ns = ramp_sub(a->now_ns, s->previous_ns);
	ramp_u64 apart_ns = ramp_sub(a->newest_sent_ns, s->previous_sent_ns);
	ramp_u64 headers = ramp_mul(ramp_div(a->acked_bytes, a->mss_bytes ? a->mss_bytes : 1),
				    s->header_bytes);
	ramp_u32 alike = a->acked_bytes == s->previous_acked_bytes &&
		a->acked_bytes >= a->mss_bytes;
	ramp_u32 usable = s->previous_ns && alike && gap_ns && gap_ns <= s->longest_gap_ns &&
		a->newest_sent_ns && s->previous_sent_ns && apart_ns < gap_ns / 2;
	ramp_u64 bytes = ramp_add(a->acked_bytes, headers);

	s->previous_ns = a->now_ns;
	s->previous_sent_ns = a->newest_sent_ns;
	s->previous_acked_bytes = a->acked_bytes;
	if (!usable)
		return;
	s->gaps_left--;
	if (s->slowest_gap_ns &&
	    ramp_mul(gap_ns, s->slowest_bytes) <= ramp_mul(s->slowest_gap_ns, bytes))
		return;
	s->slowest_gap_ns = gap_ns;
	s->slowest_bytes = bytes;
}

/* bytes / gap < share x local rate. */
RAMP_FN ramp_u32 ramp_capstart_slower(const struct ramp_capstart *s)
{
	ramp_u64 in_gap = ramp_mul_div(s->local_bytes_per_s, s->slowest_gap_ns, 1000000000);

	return s->slowest_gap_ns &&
		ramp_mul(s->slowest_bytes, 100) < ramp_mul(in_gap, s->share_percent);
}

RAMP_FN void ramp_capstart_on_ack(struct ramp_capstart *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (s->local_bytes_per_s && s->rounds <= CAPSTART_DECIDES_AFTER_ROUNDS) {
		s->rounds += ramp_round_advance(&s->round, a);
		if (s->rounds > CAPSTART_DECIDES_AFTER_ROUNDS)
			s->slower = ramp_capstart_slower(s);
		else if (s->gaps_left)
			ramp_capstart_measure(s, a);
	}
	if (!s->slower) {
		ramp_grow(ramp_credit(a, s->limited.growth.abc_limit_packets), a->mss_bytes, d);
		ramp_leave_at_ssthresh(d);
		return;
	}
	ramp_limited_on_ack(&s->limited, a, d);
	if (d->phase != RAMP_DONE &&
	    d->cwnd_bytes > ramp_mul(s->limited.max_ssthresh_packets, a->mss_bytes))
		d->phase = RAMP_CONSERVATIVE;
}

RAMP_FN void ramp_capstart_on_event(struct ramp_capstart *s, const struct ramp_event *e,
				    struct ramp_decision *d)
{
	ramp_leave_on_event(&s->limited.growth, e, d);
}

#endif
