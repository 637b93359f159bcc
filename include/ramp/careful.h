/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Careful Resume: once the initial window has arrived, send half of what an earlier connection saw,
 * spaced over one round trip; keep it if it arrives, and retreat to what arrived if it does not.
 *
 *     startup: reconnaissance --initial window acked, path like the remembered one--> unvalidated
 *              unvalidated --all sent, a round trip over, or its first packet acked--> validating
 *              validating --its last packet acked--> normal --cwnd reached ssthresh--> done
 *     unvalidated, validating --loss, mark--> leaving: safe retreat --repaired--> done
 *     any other --loss, mark, timeout--> done --undone--> back
 *
 * PipeSize is the flight before the jump and all that was acknowledged since: the window that slow
 * start would have reached.
 *
 * Source:   RFC 9959; its phases are the steps here. Normal congestion control is slow start.
 * Deviates: a host that reduces gradually (PRR) reaches PipeSize / 2 during recovery; §3.5 wants it
 *           at once.
 * Deviates: a retreat ends with recovery, not with the last unvalidated packet (§3.5): until then
 *           the window is the host's.
 * Deviates: a loss that proves to be none takes a retreat back; the RFC does not say.
 * Deviates: that a round trip is over is seen at the next ACK.
 */
#ifndef RAMP_CAREFUL_H
#define RAMP_CAREFUL_H

#define RAMP_WRITTEN_FOR 2
#include "remembered.h"
#include "window.h"

#define RAMP_CAREFUL_PARAMETERS(P, N)                                                           \
	P(N, jump, "percent", 50, 1, 100, "RFC 9959 §3.3: at most half",                        \
	  "of the remembered window that it jumps to")                                          \
	P(N, max_jump, "packets", 0, 0, 1000000, "RFC 9959 §4.3.2 max_jump: the host's choice", \
	  "most that it jumps to; 0: no limit")                                                 \
	P(N, lifetime, "s", 3600, 0, 1000000000, "RFC 9959 §4.3.1: minutes to hours",           \
	  "age up to which what is remembered counts")                                          \
	P(N, beta, "percent", 50, 50, 100, "RFC 9959 §3.5 Beta",                                \
	  "of PipeSize that ssthresh is after a retreat")

RAMP_PARAMETERS(CAREFUL)

enum { CAREFUL_NORMAL,
       CAREFUL_RECONNAISSANCE,
       CAREFUL_UNVALIDATED,
       CAREFUL_VALIDATING,
       CAREFUL_RETREAT };

struct ramp_careful {
	struct ramp_growth growth;
	struct ramp_usage usage;
	ramp_u64 jump_bytes;     /* jump_cwnd */
	ramp_u64 initial_bytes;  /* IW */
	ramp_u64 rate;           /* of the jump, B/s */
	ramp_u64 entered_ns;
	ramp_u64 first_bytes;    /* sent before the jump; what left later is unvalidated */
	ramp_u64 last_bytes;     /* sent before the jump was over */
	ramp_u64 pipe_bytes;     /* PipeSize */
	ramp_u64 beta;
	ramp_u32 saved_rtt_us;
	ramp_u32 jump_rtt_us;
	ramp_u32 step;
	ramp_u32 retreated_from; /* what an undone reduction goes back to */
	ramp_u32 counted;        /* the last unvalidated packet has arrived: PipeSize is complete */
	ramp_u32 reserved;
};

RAMP_FN void ramp_careful_init(struct ramp_careful *s, const struct ramp_config *c,
			       struct ramp_decision *d)
{
	const struct ramp_hint *h = &c->hint;
	ramp_u64 most = ramp_mul(ramp_parameter(c, CAREFUL, max_jump), c->mss_bytes);
	ramp_u64 saved = ramp_remembered_window(h);

	ramp_begin(&s->growth, c, d);
	s->growth.least_rtt_us = c->handshake_rtt_us;
	s->beta = ramp_parameter(c, CAREFUL, beta);
	if (!ramp_remembers(c, ramp_parameter(c, CAREFUL, lifetime)) || !saved || !h->rtt_us)
		return;
	s->step = CAREFUL_RECONNAISSANCE;
	s->initial_bytes = d->cwnd_bytes;
	s->saved_rtt_us = h->rtt_us;
	s->jump_bytes = ramp_mul_div(saved, ramp_parameter(c, CAREFUL, jump), 100);
	if (most)
		s->jump_bytes = ramp_min(s->jump_bytes, most);
	s->jump_bytes = ramp_min(s->jump_bytes, RAMP_CWND_MAX_BYTES);
}

/* A share of PipeSize, but the two packets that every congestion control keeps (RFC 5681 §3.1). */
RAMP_FN ramp_u64 ramp_careful_share(const struct ramp_careful *s, ramp_u64 percent,
				    ramp_u32 mss_bytes)
{
	return ramp_max(ramp_mul_div(s->pipe_bytes, percent, 100), ramp_mul(mss_bytes, 2));
}

/* All initial data is acknowledged. */
RAMP_FN void ramp_careful_resume(struct ramp_careful *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	s->step = CAREFUL_NORMAL;
	if (a->lost_bytes || s->jump_bytes <= d->cwnd_bytes ||
	    !ramp_same_path(s->saved_rtt_us, s->growth.least_rtt_us))
		return;
	s->step = CAREFUL_UNVALIDATED;
	s->first_bytes = a->sent_bytes;
	s->last_bytes = a->sent_bytes;
	s->entered_ns = a->now_ns;
	s->jump_rtt_us = a->rtt_us ? a->rtt_us : s->growth.least_rtt_us;
	s->pipe_bytes = ramp_sub(a->in_flight_bytes, a->acked_bytes);
	s->rate = ramp_spaced(s->jump_bytes, s->jump_rtt_us);
	ramp_hold(s->jump_bytes, a->mss_bytes, d);
	d->pacing_bytes_per_s = s->rate;
}

/*
 * §3.3. 1 while the phase lasts. The three events that end it are judged together; the first, the
 * flight that fills the window, happened when the last packet left, before this ACK.
 */
RAMP_FN ramp_u32 ramp_careful_unvalidated(struct ramp_careful *s, const struct ramp_ack *a,
					  struct ramp_decision *d)
{
	ramp_u32 filled = ramp_add(a->in_flight_bytes, a->mss_bytes) > d->cwnd_bytes;
	ramp_u64 flight = a->in_flight_bytes;

	s->last_bytes = a->sent_bytes;
	if (!filled) {
		s->pipe_bytes = ramp_add(s->pipe_bytes, a->acked_bytes);
		flight = ramp_sub(flight, a->acked_bytes);
		if (a->rtt_us && (ramp_u64)a->rtt_us * 2 <= s->saved_rtt_us) { /* another path */
			s->step = CAREFUL_RETREAT;
			ramp_pace_no_more(d);
			ramp_hold(ramp_careful_share(s, 50, a->mss_bytes), a->mss_bytes, d);
			return 1;
		}
		if (a->newest_acked_bytes <= s->first_bytes &&
		    ramp_sub(a->now_ns, s->entered_ns) <= (ramp_u64)s->jump_rtt_us * 1000)
			return 1;
	}
	ramp_pace_no_more(d);
	if (flight < s->initial_bytes || flight <= s->pipe_bytes) {
		s->step = CAREFUL_NORMAL; /* the jump was not used */
		ramp_hold(ramp_max(s->pipe_bytes, s->initial_bytes), a->mss_bytes, d);
	} else {
		s->step = CAREFUL_VALIDATING;
		ramp_hold(flight, a->mss_bytes, d);
	}
	return !filled;
}

/* §3.5: PipeSize counts until the last unvalidated packet, or a later one, has arrived. */
RAMP_FN void ramp_careful_retreat(struct ramp_careful *s, const struct ramp_ack *a,
				  struct ramp_decision *d)
{
	if (!s->counted)
		s->pipe_bytes = ramp_add(s->pipe_bytes, a->acked_bytes);
	if (a->newest_acked_bytes >= s->last_bytes)
		s->counted = 1;
	if (d->phase != RAMP_STARTUP || !s->counted)
		return;
	s->step = CAREFUL_NORMAL; /* no congestion: the path has changed, and nothing is repaired */
	d->ssthresh_bytes =
		ramp_min(d->ssthresh_bytes, ramp_careful_share(s, s->beta, a->mss_bytes));
}

RAMP_FN void ramp_careful_on_ack(struct ramp_careful *s, const struct ramp_ack *a,
				 struct ramp_decision *d)
{
	if (d->phase == RAMP_DONE)
		return;
	if (d->phase == RAMP_STARTUP) /* an MSS at least, also if that has grown */
		ramp_hold(d->cwnd_bytes, a->mss_bytes, d);
	ramp_sample_rtt(&s->growth, a);
	if (s->step == CAREFUL_RETREAT) {
		ramp_careful_retreat(s, a, d);
		return;
	}
	if (s->step == CAREFUL_UNVALIDATED && ramp_careful_unvalidated(s, a, d))
		return;
	ramp_grow(ramp_used_credit(&s->growth, &s->usage, a, d), a->mss_bytes, d);
	if (s->step == CAREFUL_VALIDATING) {
		s->pipe_bytes = ramp_add(s->pipe_bytes, a->acked_bytes);
		if (a->newest_acked_bytes < s->last_bytes)
			return;
		s->step = CAREFUL_NORMAL;
	}
	ramp_leave_at_ssthresh(d);
	if (d->phase == RAMP_STARTUP && s->step == CAREFUL_RECONNAISSANCE &&
	    a->delivered_bytes >= s->initial_bytes && a->flags & RAMP_CWND_LIMITED &&
	    !(a->flags & RAMP_APP_LIMITED))
		ramp_careful_resume(s, a, d);
}

/* What ends or takes back a retreat. */
RAMP_FN void ramp_careful_leaving(struct ramp_careful *s, const struct ramp_event *e,
				  struct ramp_decision *d)
{
	if (e->kind == RAMP_UNDONE) {
		s->step = s->retreated_from;
		s->retreated_from = 0;
		s->counted = 0;
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
		if (s->step == CAREFUL_UNVALIDATED)
			d->pacing_bytes_per_s = s->rate;
	} else if (e->kind == RAMP_RECOVERED) {
		d->ssthresh_bytes = ramp_careful_share(s, s->beta, e->mss_bytes);
		ramp_leave(d->exit_reason, d);
	} else if (ramp_is_congestion(e)) {
		ramp_leave(d->exit_reason, d);
	}
}

RAMP_FN void ramp_careful_on_event(struct ramp_careful *s, const struct ramp_event *e,
				   struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;

	if (phase == RAMP_LEAVING) {
		ramp_careful_leaving(s, e, d);
		return;
	}
	if (phase == RAMP_STARTUP && s->step >= CAREFUL_UNVALIDATED) {
		if (e->kind == RAMP_LOSS || e->kind == RAMP_MARK) {
			s->retreated_from = s->step;
			s->step = CAREFUL_RETREAT;
			ramp_pace_no_more(d);
			d->ssthresh_bytes = ramp_careful_share(s, 50, e->mss_bytes);
			d->evidence = e->kind == RAMP_MARK ? 0 : e->lost_bytes;
			d->phase = RAMP_LEAVING;
			d->exit_reason = ramp_exit_by(e->kind);
			return;
		}
		if (e->kind == RAMP_IDLE_RESTART) { /* the pause has ended the trial */
			s->step = CAREFUL_NORMAL;
			ramp_pace_no_more(d);
		}
	}
	ramp_leave_on_event(&s->growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP && s->step == CAREFUL_UNVALIDATED)
		d->pacing_bytes_per_s = s->rate;
}

#endif
