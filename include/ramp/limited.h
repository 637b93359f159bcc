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

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_LIMITED_PARAMETERS(P, N)                                 \
	P(N, max_ssthresh, "packets", 100, 2, 1000000, "RFC 3742 §2", \
	  "window up to which slow start is not limited")

RAMP_PARAMETERS(LIMITED)

struct ramp_limited {
	struct ramp_growth growth;
	ramp_u64 max_ssthresh_packets;
	ramp_u64 divisor;        /* K */
	ramp_u64 divisor_from;   /* K holds for windows of [divisor_from, divisor_to) bytes */
	ramp_u64 divisor_to;
	ramp_u64 reciprocal;     /* 2^32 / K */
};

RAMP_FN void ramp_limited_init(struct ramp_limited *s, const struct ramp_config *c,
			       struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->max_ssthresh_packets = ramp_parameter(c, LIMITED, max_ssthresh);
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
	credit = ramp_min(ramp_credit(a, s->growth.abc_limit_packets), 0x7fffffffu);
	if (d->cwnd_bytes > ramp_mul(s->max_ssthresh_packets, a->mss_bytes)) {
		if (d->cwnd_bytes < s->divisor_from || d->cwnd_bytes >= s->divisor_to)
			ramp_limited_divide(s, a, d);
		ramp_grow_fine(&s->growth, (credit * s->reciprocal) >> 16, d);
		credit = 0;
	}
	ramp_grow(credit, a->mss_bytes, d);
	ramp_leave_at_ssthresh(d);
}

/* After a timeout slow start runs again, under the same limit (RFC 3742 §2). */
RAMP_FN void ramp_limited_on_event(struct ramp_limited *s, const struct ramp_event *e,
				   struct ramp_decision *d)
{
	if (e->kind == RAMP_TIMEOUT) {
		ramp_begin_again(&s->growth, d);
		return;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
