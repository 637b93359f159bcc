/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Jump Start: no start-up at all. All that the receiver takes or the application has leaves in the
 * first round trip, evenly spaced.
 *
 *     startup: jump --first ACK--> unspaced --all of it acked--> done
 *     startup --loss--> leaving: half of what was not lost --repaired--> done
 *     startup --mark, timeout--> done --undone--> startup
 *
 * Source:   [LAJW07], from its abstract and descriptions by others; the window after a loss is
 *           reconstructed.
 * Deviates: while the jump is under way the window does not grow; congestion avoidance would add a
 *           packet.
 * Deviates: it jumps to 46 packets at most, what a receive window without scaling holds: a peer may
 *           say that it takes a gigabyte. The paper sets no limit, but lets the sender choose less.
 * Deviates: where neither the receiver nor the application sets a limit, no round-trip time is known
 *           or the initial window holds everything, it is slow start.
 */
#ifndef RAMP_JUMP_H
#define RAMP_JUMP_H

#define RAMP_WRITTEN_FOR 2
#include "remembered.h"
#include "window.h"

#define RAMP_JUMP_PARAMETERS(P, N)                                         \
	P(N, max_jump, "packets", 46, 0, 1000000,                          \
	  "our choice: 64 kB, the largest receive window without scaling", \
	  "most that it jumps to; 0: no limit, for study")

#define RAMP_JUMP_OVERRIDES(X) \
	X(PAPERS, 0, jump, max_jump, "the paper's sender takes all that the receiver allows")

RAMP_PARAMETERS(JUMP)

struct ramp_jump {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 jump_bytes; /* D; 0: slow start */
	ramp_u64 rate;       /* B/s until the first ACK, then 0 */
	ramp_u64 sent_bytes; /* of the jump, as far as it is known */
};

RAMP_FN void ramp_jump_init(struct ramp_jump *s, const struct ramp_config *c,
			    struct ramp_decision *d)
{
	ramp_u64 most = ramp_mul(ramp_parameter(c, JUMP, max_jump), c->mss_bytes);
	ramp_u64 jump = c->receive_window_bytes;

	ramp_begin(&s->growth, c, d);
	if (c->size_bytes)
		jump = ramp_min(jump, c->size_bytes);
	if (most)
		jump = ramp_min(jump, most);
	if (jump > RAMP_CWND_MAX_BYTES || jump <= d->cwnd_bytes || !c->handshake_rtt_us)
		return;
	ramp_hold(jump, c->mss_bytes, d);
	s->jump_bytes = d->cwnd_bytes;
	s->rate = ramp_spaced(s->jump_bytes, c->handshake_rtt_us);
	d->pacing_bytes_per_s = s->rate;
}

/* (D - R) / 2, with R what was lost of the jump. */
RAMP_FN ramp_u64 ramp_jump_landing(const struct ramp_jump *s, ramp_u64 lost_bytes,
				   ramp_u32 mss_bytes)
{
	ramp_u64 arrived = ramp_sub(ramp_min(s->jump_bytes, s->sent_bytes), lost_bytes);

	return ramp_max(arrived / 2, ramp_mul(mss_bytes, 2));
}

RAMP_FN void ramp_jump_on_ack(struct ramp_jump *s, const struct ramp_ack *a,
			      struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_LEAVING) {
		d->ssthresh_bytes = ramp_jump_landing(s, a->lost_bytes, a->mss_bytes);
		return;
	}
	if (s->jump_bytes) {
		s->sent_bytes = a->sent_bytes;
		s->rate = 0;
		ramp_pace_no_more(d);
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
		if (a->delivered_bytes < s->jump_bytes)
			return;
		d->ssthresh_bytes = ramp_min(d->ssthresh_bytes, d->cwnd_bytes);
	} else {
		ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	}
	ramp_leave_at_ssthresh(d);
}

RAMP_FN void ramp_jump_on_event(struct ramp_jump *s, const struct ramp_event *e,
				struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (phase == RAMP_STARTUP && s->jump_bytes && e->kind == RAMP_LOSS) {
		ramp_pace_no_more(d);
		d->ssthresh_bytes = ramp_jump_landing(s, e->lost_bytes, e->mss_bytes);
		d->evidence = e->lost_bytes;
		d->phase = RAMP_LEAVING;
		d->exit_reason = RAMP_EXIT_LOSS;
		return;
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_UNDONE) {
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
		d->pacing_bytes_per_s = s->rate;
		return;
	}
	if (phase == RAMP_LEAVING && e->kind == RAMP_RECOVERED) {
		ramp_leave(d->exit_reason, d);
		return;
	}
	if (phase == RAMP_STARTUP && e->kind == RAMP_IDLE_RESTART && s->jump_bytes) {
		s->jump_bytes = 0; /* the window is the host's again, and slow start goes on from it */
		s->rate = 0;
		ramp_pace_no_more(d);
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP)
		d->pacing_bytes_per_s = s->rate;
}

#endif
