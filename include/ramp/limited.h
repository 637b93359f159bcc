/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Limited slow start: beyond max_ssthresh, grow by at most half of max_ssthresh per round trip.
 *
 *     startup --cwnd reached ssthresh, loss, mark--> done --timeout, undone--> startup
 *
 * Source:   RFC 3742 §2.
 * Deviates: growth is proportional to the bytes acknowledged, within the connection's ABC limit;
 *           the RFC counts ACKs. With one ACK per packet both are the same.
 * Deviates: fractions of a byte are carried over; the RFC's int(MSS/K) drops them.
 */
#ifndef RAMP_LIMITED_H
#define RAMP_LIMITED_H

#include "window.h"

#define RAMP_LIMITED_PARAMETERS(P)                                 \
	P(max_ssthresh, "packets", 100, 2, 1000000, "RFC 3742 §2", \
	  "window up to which slow start is not limited")

#define RAMP_LIMITED_INDEX(name, unit, initial, low, high, source, meaning) RAMP_LIMITED_##name,
enum { RAMP_LIMITED_PARAMETERS(RAMP_LIMITED_INDEX) RAMP_LIMITED_COUNT };

struct ramp_limited {
	ramp_u64 max_ssthresh_packets;
	ramp_u64 divisor;        /* K */
	ramp_u64 divisor_from;   /* K holds for windows of [divisor_from, divisor_to) bytes */
	ramp_u64 divisor_to;
	ramp_u64 reciprocal;     /* 2^32 / K */
	ramp_u32 abc_limit_packets;
	ramp_u32 fraction;       /* of a byte, 1/65536 */
	struct ramp_undo undo;
};

RAMP_FN void ramp_limited_init(struct ramp_limited *s, const struct ramp_config *c,
			       struct ramp_decision *d)
{
	ramp_begin(c, d);
	ramp_undo_nothing(&s->undo);
	s->max_ssthresh_packets = ramp_clamp(c->parameter[RAMP_LIMITED_max_ssthresh], 2, 1000000);
	s->divisor = 0;
	s->divisor_from = 0;
	s->divisor_to = 0;
	s->reciprocal = 0;
	s->abc_limit_packets = c->abc_limit_packets;
	s->fraction = 0;
}

/* RFC 3742 §2: K = int(cwnd / (0.5 max_ssthresh)). It changes once in many ACKs, so it is kept. */
RAMP_FN void ramp_limited_divide(struct ramp_limited *s, const struct ramp_ack *a,
				 const struct ramp_decision *d)
{
	ramp_u64 max_ssthresh = ramp_max(ramp_mul(s->max_ssthresh_packets, a->mss_bytes), 2);

	s->divisor = ramp_max(ramp_div(ramp_mul(d->cwnd_bytes, 2), max_ssthresh), 1);
	s->divisor_from = ramp_mul(s->divisor, max_ssthresh) / 2;
	s->divisor_to = ramp_mul(s->divisor + 1, max_ssthresh) / 2;
	s->reciprocal = ((ramp_u64)1 << 32) / s->divisor;
}

RAMP_FN void ramp_limited_on_ack(struct ramp_limited *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	ramp_u64 credit;

	if (d->phase == RAMP_DONE)
		return;
	credit = ramp_min(ramp_credit(a, s->abc_limit_packets), 0x7fffffffu);
	if (d->cwnd_bytes > ramp_mul(s->max_ssthresh_packets, a->mss_bytes)) {
		if (d->cwnd_bytes < s->divisor_from || d->cwnd_bytes >= s->divisor_to)
			ramp_limited_divide(s, a, d);
		ramp_grow_fine((credit * s->reciprocal) >> 16, &s->fraction, d);
		credit = 0;
	}
	ramp_grow(credit, a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

/* After a timeout slow start runs again, under the same limit (RFC 3742 §2). */
RAMP_FN void ramp_limited_on_congestion(struct ramp_limited *s, const struct ramp_congestion *c,
					struct ramp_decision *d)
{
	if (c->kind == RAMP_RTO) {
		s->fraction = 0;
		ramp_undo_nothing(&s->undo);
		ramp_arm(d);
		return;
	}
	ramp_leave_on_congestion(&s->undo, c, d);
}

#endif
