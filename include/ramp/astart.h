/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Adaptive Start (Agile Probing): while start-up lasts, raise ssthresh to the eligible rate times
 * the RTT; double below it, grow linearly at it.
 *
 *     startup <--ssthresh raised above cwnd-- conservative
 *        `-----------cwnd reached ssthresh------^
 *     either --loss, mark, timeout--> done --undone--> back
 *
 * The eligible rate estimate (ERE) is a low-pass filter over samples of the ACKs' rate. Sampling
 * interval and filter adapt: an interval of one ACK while the path takes all that is sent, up to an
 * RTT as it does not; a slower filter as samples differ more from one another.
 *
 * Source:   [WPY04], [WVSG02]. Reconstructed: the rules from descriptions of both papers, not from
 *           their text or code.
 * Deviates: ssthresh begins at 32 packets where it is not set; an infinite one is never below the
 *           estimate, and the rule then does nothing.
 * Deviates: an interval begins at one of 64 marks per RTT, the last before it, not at any ACK.
 * Deviates: ACKs at one instant are one sample, of all that they deliver.
 * Deviates: a pause of twice the filter's time constant makes the estimate the sample after it. The
 *           papers' filter would go below zero.
 * Deviates: on a loss ssthresh is at most the window, so that the host does not raise the window
 *           then.
 * Deviates: growth is proportional to the bytes acknowledged, within the connection's ABC limit;
 *           the paper counts ACKs. With one ACK per packet both are the same.
 */
#ifndef RAMP_ASTART_H
#define RAMP_ASTART_H

#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_ASTART_PARAMETERS(P, N)                                                            \
	P(N, initial_ssthresh, "packets", 32, 0, 1000000, "our choice",                         \
	  "ssthresh to begin with where the connection has none; 0: none, which is slow start") \
	P(N, noise_gain, "", 10, 0, 1000, "[WVSG02]",                                           \
	  "the filter's time constant grows up to this many RTTs beyond one, as samples differ")

RAMP_PARAMETERS(ASTART)

/* Products of rates with 16 bits stay within 64. */
#define ASTART_RATE_MAX ((ramp_u64)1 << 40)
#define ASTART_SAMPLE_MAX_BYTES ((ramp_u64)1 << 34)
#define ASTART_MARKS 128u          /* two RTTs of them */
#define ASTART_MARKS_PER_RTT_LOG 6
#define ASTART_INSTABILITIES 10u   /* [WVSG02] */

struct ramp_astart {
	struct ramp_growth growth;
	ramp_u64 rate;       /* ERE, B/s */
	ramp_u64 throughput; /* Th, B/s */
	ramp_u64 sample;     /* the last one, B/s */
	ramp_u64 instability; /* U, B/s */
	ramp_u64 noise_gain;
	ramp_u64 previous_ns; /* 0: no ACK yet */
	ramp_u64 previous_bytes;
	ramp_u32 rtt_us;
	ramp_u32 marks; /* ever set */
	ramp_u64 instabilities[ASTART_INSTABILITIES]; /* newest first */
	ramp_u64 mark_ns[ASTART_MARKS];
	ramp_u64 mark_bytes[ASTART_MARKS];
};

RAMP_FN void ramp_astart_init(struct ramp_astart *s, const struct ramp_config *c,
			      struct ramp_decision *d)
{
	ramp_u64 initial = ramp_parameter(c, ASTART, initial_ssthresh);

	ramp_begin(&s->growth, c, d);
	s->noise_gain = ramp_parameter(c, ASTART, noise_gain);
	if (initial && d->ssthresh_bytes > RAMP_CWND_MAX_BYTES) /* none: RAMP_UNSET */
		d->ssthresh_bytes = ramp_mul(initial, c->mss_bytes ? c->mss_bytes : 1);
}

RAMP_FN ramp_u64 ramp_astart_rate(ramp_u64 bytes, ramp_u64 interval_ns)
{
	return ramp_min(ramp_min(bytes, ASTART_SAMPLE_MAX_BYTES) * 1000000000u / interval_ns,
			ASTART_RATE_MAX);
}

/* What a rate delivers in the smallest RTT. */
RAMP_FN ramp_u64 ramp_astart_window(const struct ramp_astart *s, ramp_u64 rate)
{
	return ramp_mul(rate, s->growth.least_rtt_us) / 1000000;
}

RAMP_FN void ramp_astart_mark(struct ramp_astart *s, const struct ramp_ack *a)
{
	ramp_u32 last = ramp_index(s->marks + ASTART_MARKS - 1, ASTART_MARKS);
	ramp_u32 next = ramp_index(s->marks, ASTART_MARKS);
	ramp_u64 apart_ns = ((ramp_u64)s->rtt_us * 1000) >> ASTART_MARKS_PER_RTT_LOG;

	if (s->marks && ramp_sub(a->now_ns, s->mark_ns[last]) < apart_ns)
		return;
	s->mark_ns[next] = a->now_ns;
	s->mark_bytes[next] = a->delivered_bytes;
	s->marks++;
}

/* The rate since the newest mark that is at least interval_ns old, or since the oldest mark. */
RAMP_FN ramp_u64 ramp_astart_rate_over(const struct ramp_astart *s, const struct ramp_ack *a,
				       ramp_u64 interval_ns)
{
	ramp_u64 since_ns = ramp_sub(a->now_ns, interval_ns), younger, apart_ns;
	ramp_u32 held = s->marks < ASTART_MARKS ? s->marks : ASTART_MARKS;
	ramp_u32 back = 0, step, at; /* marks that are younger than since_ns */

	for (step = ASTART_MARKS / 2; step; step >>= 1) {
		at = ramp_index(s->marks + ASTART_MARKS - back - step, ASTART_MARKS);
		younger = ramp_less_mask(back + step, held) & ramp_less_mask(since_ns, s->mark_ns[at]);
		back += step & (ramp_u32)younger;
	}
	at = ramp_index(s->marks + ASTART_MARKS - back - 1, ASTART_MARKS);
	apart_ns = ramp_sub(a->now_ns, s->mark_ns[at]);
	if (!apart_ns)
		return s->sample;
	return ramp_astart_rate(ramp_sub(a->delivered_bytes, s->mark_bytes[at]), apart_ns);
}

/*
 * [WVSG02]: T = RTT (cwnd - Th RTTmin) / cwnd. The backlog shrinks the share of the window that the
 * path takes in an RTT, and the interval grows with what is left.
 */
RAMP_FN ramp_u64 ramp_astart_interval_ns(const struct ramp_astart *s,
					 const struct ramp_decision *d)
{
	ramp_u64 taken = ramp_astart_window(s, s->throughput);

	return ramp_mul_div((ramp_u64)s->rtt_us * 1000, ramp_sub(d->cwnd_bytes, taken),
			    d->cwnd_bytes);
}

/* U / its largest of the last ten, in 1/65536; 0 where nothing differs. */
RAMP_FN ramp_u64 ramp_astart_noise(struct ramp_astart *s, ramp_u64 sample)
{
	ramp_u64 change = sample > s->sample ? sample - s->sample : s->sample - sample;
	ramp_u64 largest;
	ramp_u32 i;

	s->instability = (s->instability * 6 + change * 4) / 10;
	largest = s->instability;
	for (i = ASTART_INSTABILITIES - 1; i; i--) {
		s->instabilities[i] = s->instabilities[i - 1];
		largest = ramp_max_flat(largest, s->instabilities[i]);
	}
	s->instabilities[0] = s->instability;
	if (largest == s->instability)
		return largest ? 65536 : 0;
	return (s->instability << 16) / largest;
}

/* ERE = a ERE + (1 - a) sample with a = (2 tau - dt) / (2 tau + dt). */
RAMP_FN void ramp_astart_filter(struct ramp_astart *s, ramp_u64 sample, ramp_u64 interval_ns)
{
	ramp_u64 rtt_ns = (ramp_u64)s->rtt_us * 1000;
	ramp_u64 noise = ramp_astart_noise(s, sample);
	ramp_u64 tau_ns = ramp_add(rtt_ns, ramp_mul(rtt_ns, s->noise_gain * noise) >> 16);
	ramp_u64 whole = ramp_add(ramp_mul(tau_ns, 2), interval_ns);
	ramp_u64 change = sample > s->rate ? sample - s->rate : s->rate - sample;

	change = ramp_mul_div(change, ramp_min(ramp_mul(interval_ns, 2), whole), whole);
	s->rate = sample > s->rate ? s->rate + change : s->rate - change;
	s->sample = sample;
}

RAMP_FN void ramp_astart_measure(struct ramp_astart *s, const struct ramp_ack *a,
				 const struct ramp_decision *d)
{
	ramp_u64 interval_ns = ramp_sub(a->now_ns, s->previous_ns), wanted_ns, sample;
	ramp_u64 bytes = ramp_sub(a->delivered_bytes, s->previous_bytes);

	if (!s->previous_ns) {
		s->previous_ns = a->now_ns;
		s->previous_bytes = a->delivered_bytes;
		ramp_astart_mark(s, a);
		return;
	}
	if (!interval_ns || !bytes)
		return;
	sample = ramp_astart_rate(bytes, interval_ns);
	s->throughput = (s->throughput * 6 + sample * 4) / 10;
	wanted_ns = ramp_astart_interval_ns(s, d);
	if (wanted_ns > interval_ns)
		sample = ramp_astart_rate_over(s, a, wanted_ns);
	ramp_astart_filter(s, sample, interval_ns);
	s->previous_ns = a->now_ns;
	s->previous_bytes = a->delivered_bytes;
	ramp_astart_mark(s, a);
}

RAMP_FN void ramp_astart_on_ack(struct ramp_astart *s, const struct ramp_ack *a,
				struct ramp_decision *d)
{
	ramp_u64 credit, most;

	if (d->phase == RAMP_DONE)
		return;
	ramp_sample_rtt(&s->growth, a);
	if (a->rtt_us)
		s->rtt_us = a->rtt_us;
	if (s->rtt_us)
		ramp_astart_measure(s, a, d);
	most = ramp_min(ramp_astart_window(s, s->rate), RAMP_CWND_MAX_BYTES);
	d->ssthresh_bytes = ramp_max(d->ssthresh_bytes, most);
	credit = ramp_credit(a, s->growth.abc_limit_packets);
	if (d->cwnd_bytes < d->ssthresh_bytes) {
		ramp_grow(credit, a->mss_bytes, d);
	} else {
		credit = ramp_add(ramp_mul_div(ramp_min(credit, 0xffffffffu) << 16, a->mss_bytes,
					       d->cwnd_bytes),
				  s->growth.fraction);
		s->growth.fraction = (ramp_u32)(credit & 0xffffu);
		ramp_hold(ramp_add(d->cwnd_bytes, credit >> 16), a->mss_bytes, d);
	}
	d->phase = d->cwnd_bytes < d->ssthresh_bytes ? RAMP_STARTUP : RAMP_CONSERVATIVE;
}

/* The window after a loss is the eligible rate times the smallest RTT. */
RAMP_FN void ramp_astart_on_event(struct ramp_astart *s, const struct ramp_event *e,
				  struct ramp_decision *d)
{
	ramp_u64 window;

	if (d->phase != RAMP_DONE && ramp_is_congestion(e) && s->rate && s->growth.least_rtt_us) {
		window = ramp_clamp(ramp_astart_window(s, s->rate), ramp_mul(e->mss_bytes, 2),
				    ramp_max(d->cwnd_bytes, ramp_mul(e->mss_bytes, 2)));
		/* Left as it was, ssthresh would be the host's to choose. */
		d->ssthresh_bytes = window == d->ssthresh_bytes ? window - 1 : window;
	}
	ramp_leave_on_event(&s->growth, e, d);
}

#endif
