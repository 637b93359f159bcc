/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * FreeBSD's in-flight limiter: slow start goes on, but no more is sent than the measured bandwidth
 * times the RTT, and two segments.
 *
 *     startup --slow start's own window reached ssthresh, loss, mark, timeout--> done
 *             <--undone--
 *
 * The bandwidth is an average over samples, one per clock tick in which an ACK came. A tick without
 * one is no sample, but makes the next one smaller.
 *
 * Source:   FreeBSD 6 and 7, tcp_subr.c tcp_xmit_bandwidth_limit, tcp_input.c tcp_xmit_timer.
 * Deviates: the limit ends with start-up; FreeBSD's holds as long as the connection.
 * Deviates: progress is what was delivered, in order or not; FreeBSD's is what was acknowledged in
 *           order.
 * Deviates: the first ACK only begins the measurement.
 * Deviates: slow start's window does not grow while neither it nor the limit holds the sender back.
 */
#ifndef RAMP_INFLIGHT_H
#define RAMP_INFLIGHT_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_INFLIGHT_PARAMETERS(P, N)                                                       \
	P(N, hz, "1/s", 1000, 10, 1000000, "FreeBSD kern.hz", "clock ticks a second")        \
	P(N, stab, "tenths of a segment", 20, 0, 1000, "FreeBSD net.inet.tcp.inflight.stab", \
	  "added to the window, against its own underestimate")                              \
	P(N, min, "bytes", 6144, 0, 1000000000, "FreeBSD net.inet.tcp.inflight.min",         \
	  "the limit is never less")                                                         \
	P(N, rttthresh, "ms", 10, 0, 60000, "FreeBSD net.inet.tcp.inflight.rttthresh",       \
	  "no limit while the smallest RTT is below this")

RAMP_PARAMETERS(INFLIGHT)

#define INFLIGHT_RATE_MAX ((ramp_u64)1 << 40)
#define INFLIGHT_SAMPLE_MAX_BYTES ((ramp_u64)1 << 34)
#define INFLIGHT_TICKS_MAX ((ramp_u64)1 << 40)

struct ramp_inflight { /* ticks: 1/hz; the last three in fractions of them, as FreeBSD has them */
	struct ramp_growth growth;
	ramp_u64 window;        /* slow start's own */
	ramp_u64 written;       /* as last set here; another value is the host's */
	ramp_u64 limit;         /* RAMP_CWND_MAX_BYTES: none */
	ramp_u64 bandwidth;     /* B/s */
	ramp_u64 hz;
	ramp_u64 tick_ns;
	ramp_u64 stab_tenths;
	ramp_u64 min_bytes;
	ramp_u64 rttthresh_us;
	ramp_u64 sampled_tick;  /* t_bw_rtttime; 0: never */
	ramp_u64 sampled_bytes; /* t_bw_rtseq */
	ramp_u64 next_tick_ns;  /* when the tick after sampled_tick begins */
	ramp_u64 srtt_32nds;    /* t_srtt; 0: no sample yet */
	ramp_u64 rttvar_sixteenths;  /* t_rttvar */
	ramp_u64 rttbest_32nds; /* t_rttbest */
};

RAMP_FN void ramp_inflight_init(struct ramp_inflight *s, const struct ramp_config *c,
				struct ramp_decision *d)
{
	ramp_begin(&s->growth, c, d);
	s->window = d->cwnd_bytes;
	s->written = d->cwnd_bytes;
	s->limit = RAMP_CWND_MAX_BYTES;
	s->hz = ramp_parameter(c, INFLIGHT, hz);
	s->tick_ns = 1000000000 / s->hz;
	s->stab_tenths = ramp_parameter(c, INFLIGHT, stab);
	s->min_bytes = ramp_parameter(c, INFLIGHT, min);
	s->rttthresh_us = ramp_parameter(c, INFLIGHT, rttthresh) * 1000;
}

/*
 * tcp_xmit_timer. It gets whole ticks plus one, and takes the one off but for the first sample.
 * That FreeBSD adds 32nds and sixteenths for the best RTT is FreeBSD's.
 */
RAMP_FN void ramp_inflight_sample_rtt(struct ramp_inflight *s, const struct ramp_ack *a)
{
	ramp_u64 ticks, old, change;

	ramp_sample_rtt(&s->growth, a);
	if (!a->rtt_us)
		return;
	ticks = (ramp_u64)a->rtt_us * s->hz / 1000000;
	if (!s->srtt_32nds) {
		s->srtt_32nds = (ticks + 1) << 5;
		s->rttvar_sixteenths = (ticks + 1) << 3;
		s->rttbest_32nds = s->srtt_32nds + s->rttvar_sixteenths;
		return;
	}
	old = s->srtt_32nds >> 3;
	change = ticks << 2 > old ? (ticks << 2) - old : old - (ticks << 2);
	s->srtt_32nds = ramp_max(s->srtt_32nds - old + (ticks << 2), 1);
	s->rttvar_sixteenths = ramp_max(s->rttvar_sixteenths - (s->rttvar_sixteenths >> 2) + change, 1);
	s->rttbest_32nds = ramp_min(s->rttbest_32nds, s->srtt_32nds + s->rttvar_sixteenths);
}

/* tcp_xmit_bandwidth_limit */
RAMP_FN void ramp_inflight_limit(struct ramp_inflight *s, const struct ramp_ack *a)
{
	ramp_u64 tick, ticks, bandwidth, bytes;

	if (s->growth.least_rtt_us < s->rttthresh_us) {
		s->limit = RAMP_CWND_MAX_BYTES;
		s->bandwidth = 0;
		return;
	}
	if (a->now_ns < s->next_tick_ns)
		return;
	tick = a->now_ns / s->tick_ns;
	ticks = ramp_min(ramp_sub(tick, s->sampled_tick), INFLIGHT_TICKS_MAX);
	bytes = ramp_min(ramp_sub(a->delivered_bytes, s->sampled_bytes), INFLIGHT_SAMPLE_MAX_BYTES);
	s->next_tick_ns = ramp_mul(tick + 1, s->tick_ns);
	s->sampled_bytes = a->delivered_bytes;
	if (!s->sampled_tick || !ticks) {
		s->sampled_tick = tick;
		return;
	}
	s->sampled_tick = tick;
	bandwidth = ramp_min(bytes * s->hz / ticks, INFLIGHT_RATE_MAX);
	s->bandwidth = (s->bandwidth * 15 + bandwidth) >> 4;
	s->limit = ramp_mul_div(s->bandwidth, (s->srtt_32nds + s->rttbest_32nds) / 2, s->hz << 5);
	s->limit = ramp_add(s->limit, s->stab_tenths * a->mss_bytes / 10);
	s->limit = ramp_max(ramp_max(s->limit, s->min_bytes), ramp_mul(a->mss_bytes, 2));
}

RAMP_FN void ramp_inflight_on_ack(struct ramp_inflight *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->cwnd_bytes != s->written)
		s->window = d->cwnd_bytes;
	ramp_inflight_sample_rtt(s, a);
	if (s->srtt_32nds)
		ramp_inflight_limit(s, a);
	d->cwnd_bytes = s->window;
	ramp_grow(ramp_credit(a, s->growth.abc_limit_packets), a->mss_bytes, d);
	s->window = d->cwnd_bytes;
	ramp_leave_at_ssthresh(d);
	ramp_hold(ramp_min(s->window, s->limit), a->mss_bytes, d);
	s->written = d->cwnd_bytes;
}

RAMP_FN void ramp_inflight_on_event(struct ramp_inflight *s, const struct ramp_event *e,
				    struct ramp_decision *d)
{
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
