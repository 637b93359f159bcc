/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Quick-Start: the routers on the path grant a rate in the handshake; the first window is sent at
 * it, and limited slow start goes on from there.
 *
 *     startup, paced at the granted rate --first ACK--> startup, limited
 *        `----a packet of the granted window lost or marked--> leaving --repaired--> done
 *     startup, limited --cwnd reached ssthresh, loss, mark, timeout--> done
 *     any --undone--> back            (no grant: limited slow start from the initial window)
 *
 * Source:   RFC 4782 §4.4, §4.6; RFC 3742. Written from knowledge of the RFC and excerpts of it.
 * Deviates: the window goes back to the initial one when the repair of the granted window is over,
 *           since recovery is the host's; then the host's own slow start goes on.
 * Deviates: limited slow start bounds the growth after the grant; RFC 4782 asks for no more than the
 *           default congestion control.
 */
#ifndef RAMP_QUICKSTART_H
#define RAMP_QUICKSTART_H

#include "limited.h"
#define RAMP_WRITTEN_FOR 2
#include "window.h"

#define RAMP_QUICKSTART_PARAMETERS(P, N)                              \
	P(N, max_ssthresh, "packets", 100, 2, 1000000, "RFC 3742 §2", \
	  "window up to which slow start is not limited")             \
	P(N, header, "bytes", 40, 0, 200, "RFC 4782 §4.4",            \
	  "headers that the granted rate includes: of an IP and TCP packet without options")

RAMP_PARAMETERS(QUICKSTART)

/* A packet is lost once three that were sent after it have arrived. */
#define QUICKSTART_REORDERING 3u

#define QUICKSTART_NONE 0u    /* no grant, or it has been used and nothing of it was lost */
#define QUICKSTART_PACED 1u   /* Quick-Start mode */
#define QUICKSTART_UNPROVEN 2u /* over, but its packets are still under way */
#define QUICKSTART_RETREAT 3u /* one of them was lost */

struct ramp_quickstart {
	struct ramp_limited limited; /* its growth is this row's */
	ramp_u64 initial_bytes;      /* the window without a grant */
	ramp_u64 granted_end_bytes;  /* sent by the end of Quick-Start mode: its packets */
	ramp_u64 sent_bytes;         /* at the last ACK */
	ramp_u64 lost_bytes;
	ramp_u64 rate; /* of payload, B/s */
	ramp_u32 step;
	ramp_u32 before; /* the step that a loss interrupted */
};

/* Of R bytes a second with headers of H, R x MSS / (MSS + H) are payload; times the RTT. */
RAMP_FN void ramp_quickstart_init(struct ramp_quickstart *s, const struct ramp_config *c,
				  struct ramp_decision *d)
{
	ramp_u64 header = ramp_parameter(c, QUICKSTART, header), window;

	ramp_begin(&s->limited.growth, c, d);
	s->limited.max_ssthresh_packets = ramp_parameter(c, QUICKSTART, max_ssthresh);
	s->initial_bytes = d->cwnd_bytes;
	if (c->hint.source != RAMP_HINT_ROUTER || !c->handshake_rtt_us)
		return;
	s->rate = ramp_mul_div(c->hint.bytes_per_s, c->mss_bytes, c->mss_bytes + header);
	window = ramp_min(ramp_mul(s->rate, c->handshake_rtt_us) / 1000000, RAMP_CWND_MAX_BYTES);
	if (window <= d->cwnd_bytes || !s->rate)
		return;
	ramp_hold(window, c->mss_bytes, d);
	d->pacing_bytes_per_s = s->rate;
	s->step = QUICKSTART_PACED;
}

/*
 * The first ACK of a packet sent at the granted rate ends that. A window that was not used shrinks
 * to what was: the handshake's RTT may have been longer than the path's.
 */
RAMP_FN void ramp_quickstart_end_mode(struct ramp_quickstart *s, const struct ramp_ack *a,
				      struct ramp_decision *d)
{
	ramp_pace_no_more(d);
	s->step = QUICKSTART_UNPROVEN;
	s->granted_end_bytes = a->sent_bytes;
	if (ramp_add(a->in_flight_bytes, a->mss_bytes) <= d->cwnd_bytes)
		ramp_hold(ramp_max(a->in_flight_bytes, s->initial_bytes), a->mss_bytes, d);
}

RAMP_FN void ramp_quickstart_on_ack(struct ramp_quickstart *s, const struct ramp_ack *a,
				    struct ramp_decision *d)
{
	ramp_u64 proven = ramp_add(s->granted_end_bytes,
				   ramp_mul(a->mss_bytes, QUICKSTART_REORDERING));

	if (d->phase == RAMP_DONE)
		return;
	s->sent_bytes = a->sent_bytes;
	s->lost_bytes = a->lost_bytes;
	if (d->phase == RAMP_LEAVING)
		return;
	if (s->step == QUICKSTART_PACED)
		ramp_quickstart_end_mode(s, a, d);
	else if (s->step == QUICKSTART_UNPROVEN && a->newest_acked_bytes > proven)
		s->step = QUICKSTART_NONE;
	ramp_limited_on_ack(&s->limited, a, d);
}

/* Half of what was granted, sent and not lost (RFC 4782 §4.6). */
RAMP_FN ramp_u64 ramp_quickstart_half(const struct ramp_quickstart *s, ramp_u32 mss_bytes)
{
	ramp_u64 sent = s->granted_end_bytes ? s->granted_end_bytes : s->sent_bytes;

	return ramp_max(ramp_sub(sent, s->lost_bytes) / 2, ramp_mul(mss_bytes, 2));
}

/* What the host reduces to during the repair: another value than before, or it takes its own. */
RAMP_FN void ramp_quickstart_retreat(struct ramp_quickstart *s, const struct ramp_event *e,
				     struct ramp_decision *d)
{
	ramp_u64 window = ramp_max(s->initial_bytes, ramp_mul(e->mss_bytes, 2));

	s->before = s->step;
	s->step = QUICKSTART_RETREAT;
	ramp_pace_no_more(d);
	d->ssthresh_bytes = window == d->ssthresh_bytes ? window - 1 : window;
	d->evidence = e->kind == RAMP_MARK ? 0 : e->lost_bytes;
	d->limit = 0;
	d->phase = RAMP_LEAVING;
	d->exit_reason = ramp_exit_by(e->kind);
}

RAMP_FN void ramp_quickstart_leaving(struct ramp_quickstart *s, const struct ramp_event *e,
				     struct ramp_decision *d)
{
	if (e->kind == RAMP_UNDONE) {
		s->step = s->before;
		s->before = QUICKSTART_NONE;
		ramp_arm(d);
		ramp_hold(d->cwnd_bytes, e->mss_bytes, d);
		if (s->step == QUICKSTART_PACED)
			d->pacing_bytes_per_s = s->rate;
	} else if (e->kind == RAMP_RECOVERED || ramp_is_congestion(e)) {
		d->ssthresh_bytes = ramp_quickstart_half(s, e->mss_bytes);
		ramp_hold(s->initial_bytes, e->mss_bytes, d);
		ramp_leave(d->exit_reason, d);
	}
}

RAMP_FN void ramp_quickstart_on_event(struct ramp_quickstart *s, const struct ramp_event *e,
				      struct ramp_decision *d)
{
	ramp_u32 phase = d->phase;
	ramp_u32 granted = s->step == QUICKSTART_PACED || s->step == QUICKSTART_UNPROVEN;

	if (phase == RAMP_LEAVING) {
		ramp_quickstart_leaving(s, e, d);
		return;
	}
	if (phase == RAMP_STARTUP && granted) {
		if (e->kind == RAMP_LOSS || e->kind == RAMP_MARK) {
			ramp_quickstart_retreat(s, e, d);
			return;
		}
		if (e->kind == RAMP_TIMEOUT)
			d->ssthresh_bytes = ramp_quickstart_half(s, e->mss_bytes);
	}
	ramp_leave_on_event(&s->limited.growth, e, d);
	if (phase == RAMP_DONE && d->phase == RAMP_STARTUP && s->step == QUICKSTART_PACED)
		d->pacing_bytes_per_s = s->rate; /* undone */
}

#endif
