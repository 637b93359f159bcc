/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What BBR's start-ups share: rates and windows from a model of the path, and what becomes of the
 * window when the host repairs a loss.
 *
 * The model is a rate and the smallest round-trip time. Gains are in 1/65536. Nothing divides but
 * by constants, except once per connection.
 *
 * Source: Linux tcp_bbr.c; draft-ietf-ccwg-bbr-06 §5.5 and §5.6.
 */
#define RAMP_WRITTEN_FOR 2
#include "window.h"

#ifndef RAMP_MODEL_H
#define RAMP_MODEL_H

#define MODEL_ONE 65536u
#define MODEL_GAIN_MAX 16u
/* 8.8 Tbit/s: a rate times a gain stays within 64 bits. */
#define MODEL_RATE_MAX ((ramp_u64)1 << 40)
#define MODEL_LEAST_PACKETS 4u /* Linux bbr_cwnd_min_target, the draft's MinPipeCwnd */
#define MODEL_MARGIN_PERCENT 1u /* pacing stays this far below the model's rate */

struct ramp_model {
	ramp_u64 initial_window_bytes;
	ramp_u64 prior_cwnd_bytes; /* the window before a repair or a pause */
	ramp_u32 repairing;        /* from a loss, mark or timeout until RAMP_RECOVERED or _UNDONE */
	ramp_u32 paused;           /* the host has cut the window after a pause */
	ramp_u32 timed;            /* the first rate was made of a measured round trip */
	ramp_u32 reserved;
};

/* A parameter in 1/whole as a gain. */
RAMP_FN ramp_u32 ramp_model_gain(ramp_u64 parts, ramp_u32 whole)
{
	return (ramp_u32)(parts * MODEL_ONE / whole);
}

RAMP_FN ramp_u64 ramp_model_rate(ramp_u64 bytes_per_s, ramp_u32 gain)
{
	return ramp_max((ramp_min(bytes_per_s, MODEL_RATE_MAX) * gain) >> 16, 1);
}

RAMP_FN ramp_u64 ramp_model_below(ramp_u64 bytes_per_s)
{
	return ramp_max(bytes_per_s * (100 - MODEL_MARGIN_PERCENT) / 100, 1);
}

/* What a gain makes of rate x RTT; without an RTT it is the first window. */
RAMP_FN ramp_u64 ramp_model_window(const struct ramp_model *m, ramp_u64 bytes_per_s, ramp_u32 rtt_us,
				   ramp_u32 gain)
{
	ramp_u64 bdp = ramp_mul(ramp_min(bytes_per_s, MODEL_RATE_MAX), rtt_us) / 1000000;

	if (!rtt_us)
		return m->initial_window_bytes;
	return (ramp_min(bdp, RAMP_CWND_MAX_BYTES) * gain) >> 16;
}

/* The first window within a round trip, or within a millisecond as long as none is known. */
RAMP_FN ramp_u64 ramp_model_first_rate(ramp_u64 window_bytes, ramp_u32 rtt_us)
{
	return ramp_min(window_bytes, RAMP_CWND_MAX_BYTES) * 1000000 / (rtt_us ? rtt_us : 1000);
}

/* A start-up by rate knows no threshold: the connection's initial one is left aside. */
RAMP_FN void ramp_model_begin(struct ramp_model *m, const struct ramp_config *c,
			      struct ramp_growth *g, struct ramp_decision *d)
{
	ramp_begin(g, c, d);
	d->ssthresh_bytes = RAMP_UNSET;
	m->initial_window_bytes = d->cwnd_bytes;
	g->least_rtt_us = c->handshake_rtt_us;
	m->timed = c->handshake_rtt_us != 0;
}

/* The start-up is over: what the model holds to be in flight on a full pipe without a queue. */
RAMP_FN void ramp_model_hand_over(ramp_u64 window_bytes, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_hold(window_bytes, mss_bytes, d);
	d->ssthresh_bytes = d->cwnd_bytes;
	ramp_leave(d->exit_reason, d);
}

/*
 * A host that repairs reduces to ssthresh: the window as it was, so that it sends what is delivered
 * and grows back. One byte more where that is no change, since a host takes its own rule then.
 */
RAMP_FN void ramp_model_keep(struct ramp_model *m, struct ramp_decision *d)
{
	m->prior_cwnd_bytes = m->repairing ? ramp_max(m->prior_cwnd_bytes, d->cwnd_bytes)
					   : d->cwnd_bytes;
	m->repairing = 1;
	d->ssthresh_bytes = m->prior_cwnd_bytes + (d->ssthresh_bytes == m->prior_cwnd_bytes);
}

RAMP_FN void ramp_model_restore(struct ramp_model *m, ramp_u32 mss_bytes, struct ramp_decision *d)
{
	ramp_hold(ramp_max(d->cwnd_bytes, m->prior_cwnd_bytes), mss_bytes, d);
	m->prior_cwnd_bytes = 0;
	m->repairing = 0;
	m->paused = 0;
}

/* What a loss, its end and a pause do to the window while start-up lasts. */
RAMP_FN void ramp_model_on_event(struct ramp_model *m, const struct ramp_event *e,
				 struct ramp_decision *d)
{
	if (ramp_is_congestion(e)) {
		ramp_model_keep(m, d);
	} else if (e->kind == RAMP_RECOVERED) {
		ramp_model_restore(m, e->mss_bytes, d);
		d->ssthresh_bytes = RAMP_UNSET;
	} else if (e->kind == RAMP_UNDONE) { /* the host has restored the windows */
		m->prior_cwnd_bytes = 0;
		m->repairing = 0;
	} else if (e->kind == RAMP_IDLE_RESTART && !m->repairing) {
		m->prior_cwnd_bytes = d->cwnd_bytes;
		m->paused = 1;
	}
}

#endif
