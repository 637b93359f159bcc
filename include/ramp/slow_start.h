/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Standard slow start: grow by what was acknowledged until ssthresh or loss.
 *
 * Source: RFC 5681 §3.1, RFC 3465 (limit L), RFC 6928 (initial window).
 */
#ifndef RAMP_SLOW_START_H
#define RAMP_SLOW_START_H

#include "interface.h"

struct ramp_slow_start {
	ramp_u64 abc_limit_packets;
};

#define RAMP_SLOW_START_PARAMETERS(P)

RAMP_FN void ramp_slow_start_init(struct ramp_slow_start *s, const struct ramp_config *c,
				  struct ramp_decision *d)
{
	s->abc_limit_packets = c->abc_limit_packets;
	d->cwnd_bytes = c->initial_window_bytes;
	d->ssthresh_bytes = c->initial_ssthresh_bytes;
	d->pacing_bytes_per_s = 0;
	d->evidence = 0;
	d->limit = 0;
	d->phase = RAMP_STARTUP;
	d->exit_reason = RAMP_EXIT_NONE;
}

RAMP_FN void ramp_slow_start_on_ack(struct ramp_slow_start *s, const struct ramp_ack *a,
				    struct ramp_decision *d)
{
	ramp_u64 grow = a->acked_bytes;

	if (d->phase == RAMP_DONE)
		return;
	if (s->abc_limit_packets && grow > s->abc_limit_packets * a->mss_bytes)
		grow = s->abc_limit_packets * a->mss_bytes;
	if (a->flags & RAMP_CWND_LIMITED)
		d->cwnd_bytes += grow;
	if (d->cwnd_bytes >= d->ssthresh_bytes) {
		d->phase = RAMP_DONE;
		d->exit_reason = RAMP_EXIT_SSTHRESH;
		d->evidence = d->cwnd_bytes;
		d->limit = d->ssthresh_bytes;
	}
}

RAMP_FN void ramp_slow_start_on_congestion(struct ramp_slow_start *s,
					   const struct ramp_congestion *c,
					   struct ramp_decision *d)
{
	(void)s;
	if (d->phase == RAMP_DONE || c->kind == RAMP_SPURIOUS)
		return;
	d->phase = RAMP_DONE;
	d->exit_reason = c->kind == RAMP_RTO ? RAMP_EXIT_RTO :
			 c->kind == RAMP_CE_MARK ? RAMP_EXIT_ECN : RAMP_EXIT_LOSS;
	d->evidence = c->lost_bytes;
	d->limit = 0;
}

#endif
