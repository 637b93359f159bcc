/* SPDX-License-Identifier: GPL-2.0-only */
/* How packets are spaced, by TCP itself or by fq. host.h includes it. */
#ifndef RAMP_LINUX_SPACING_H
#define RAMP_LINUX_SPACING_H

#if TRAITS & RAMP_PACES

/* Which of the marks says how the decision wants packets spaced; 0: as the kernel likes. */
static __always_inline __u64 spacing(const struct ramp_decision *d)
{
	if (d->pacing_bytes_per_s == RAMP_BACK_TO_BACK)
		return MARK_AT_ONCE;
	if (d->pacing_bytes_per_s)
		return MARK_PACING;
	return d->pacing_percent ? MARK_SHARE : 0;
}

/*
 * sk_pacing_status NEEDED is TCP's own pacing, which works under every queueing discipline. fq sets
 * FQ with a connection's first packet, and from Linux 6.7 on with every one: what it has taken it keeps.
 */
static __always_inline void pace(struct sock *sk, struct flow *f)
{
	const __u64 spaced = MARK_PACING | MARK_SHARE;
	__u64 wanted = spacing(&f->decision), m = marks(sk);

	if (wanted == (m & (spaced | MARK_AT_ONCE)))
		return;
	if (wanted & spaced && !(m & spaced)) {
		f->pacing_status = sk->sk_pacing_status;
		if (sk->sk_pacing_status != SK_PACING_FQ)
			sk->sk_pacing_status = SK_PACING_NEEDED;
	} else if (!(wanted & spaced) && m & spaced && sk->sk_pacing_status != SK_PACING_FQ) {
		sk->sk_pacing_status = f->pacing_status;
	}
	set_marks(sk, (m & ~(spaced | MARK_AT_ONCE)) | wanted);
}

/* Before another control has the connection. */
static __always_inline void pace_no_more(struct sock *sk, struct flow *f)
{
	if (marks(sk) & (MARK_PACING | MARK_SHARE) && sk->sk_pacing_status != SK_PACING_FQ)
		sk->sk_pacing_status = f->pacing_status;
}

static __always_inline void set_rate(struct sock *sk, __u64 rate)
{
	sk->sk_pacing_rate = rate > sk->sk_max_pacing_rate ? sk->sk_max_pacing_rate : rate;
}

/* So fast that the next packet is due at once, yet by the pacing timer, which asks again. */
#define BURST_BYTES_PER_S 65536000000ull /* a full segment of 64 KiB in a microsecond */

/*
 * Whether the kernel refused, though it was due, the room that it was shown at the last call. It does
 * not split a large write while an ACK that makes more room is less than a millisecond away, or half a
 * round trip before Linux 6.16 (tcp_tso_should_defer): behind a steady stream of ACKs it would let go
 * a packet per millisecond. A whole batch it lets go, and paces what follows.
 */
static __always_inline _Bool refused(const struct tcp_sock *tp, struct flow *f, __u32 room)
{
	_Bool due = tp->tcp_wstamp_ns <= tp->tcp_clock_cache && tp->data_segs_out >= UNPACED_SEGMENTS;
	__u32 before = f->offered_segments;

	f->offered_segments = due && room ? tp->data_segs_out : 0;
	return due && before == tp->data_segs_out;
}

/* Packets of the window that the receiver's leaves room for: no buffer serves more. */
static __always_inline __u32 servable(struct sock *sk, const struct flow *f)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 room = tp->snd_wnd / (tp->mss_cache ? tp->mss_cache : 536) + 1;

	return f->window_packets < room ? f->window_packets : room;
}

/*
 * Whether the send buffer holds less than the window, and nothing leaves before the pacing timer
 * calls: then the window may be shown as wide as it is, which lets the buffer grow with this ACK.
 * While the buffer is what the connection began with, a packet that leaves is no reason against it:
 * the next ACK may be far behind, and the gap to the next packet is the kernel's, once.
 */
static __always_inline _Bool wants_buffer(struct sock *sk, const struct flow *f)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 held = sk->sk_sndbuf, first = f->first_window_packets;
	_Bool unknown = held <= UNKNOWN_PEER * (first > 10 ? first : 10) * SEGMENT_COST;

	return held < servable(sk, f) * 2 * SEGMENT_COST &&
		sk->sk_pacing_status == SK_PACING_NEEDED &&
		tp->data_segs_out >= UNPACED_SEGMENTS &&
		(unknown || tp->tcp_wstamp_ns > tp->tcp_clock_cache);
}

/*
 * Lets a packet go, or as many as the decision lets leave at once, at the core's rate. The kernel
 * paces batches: only a window with room for no more makes every gap exact, and its timer calls
 * again for the next. A burst's last packet is the first of the spaced ones, since without the timer
 * nothing would call for what follows it. Returns how many.
 *
 * Where fq spaces, no timer of TCP's calls for what a narrow window left behind. So the window is shown
 * as it is, and fq spaces it at the core's rate, a burst too, in the kernel's batches of a millisecond.
 */
static __always_inline __u32 release_some(struct sock *sk, struct flow *f)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 sent = tp->bytes_sent - f->sent_base, rate = f->decision.pacing_bytes_per_s;
	__u32 mss = tp->mss_cache, some = 1, room, window, in_flight = tcp_packets_in_flight(tp);

	if (sk->sk_pacing_status == SK_PACING_FQ) {
		set_rate(sk, rate);
		if (tp->snd_cwnd == f->cwnd_packets)
			write_cwnd(tp, f, f->window_packets);
		return some;
	}
	if (sent + mss < f->decision.burst_until_bytes) {
		some = packets(f->decision.burst_until_bytes - sent - mss, mss);
		rate = BURST_BYTES_PER_S;
	} else if (f->decision.pacing_burst_bytes) {
		some = packets(f->decision.pacing_burst_bytes, mss);
	}
	set_rate(sk, rate);
	room = some;
	/* The kernel sets no timer after these. */
	if (tp->data_segs_out + some < UNPACED_SEGMENTS)
		room = UNPACED_SEGMENTS - tp->data_segs_out;
	window = in_flight + room;
	if (refused(tp, f, f->window_packets > in_flight) || window > f->window_packets ||
	    wants_buffer(sk, f))
		window = f->window_packets;
	if (tp->snd_cwnd == f->cwnd_packets) /* else another's since the last ACK */
		write_cwnd(tp, f, window);
	return some;
}

/* The core's share of the window in each smoothed round trip. */
static __always_inline void keep_share(struct sock *sk, const struct flow *f)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 bytes = (__u64)tp->snd_cwnd * tp->mss_cache, eighth_us = tp->srtt_us;

	if (eighth_us)
		set_rate(sk, bytes * f->decision.pacing_percent * 80000 / eighth_us);
}

/*
 * The first packet after everything was acknowledged, a train's first, is leaving. Linux lets the
 * send buffer grow only with an ACK behind which the window is not full, which one held down to what
 * is in flight always is; a train would then be cut to what the buffer holds. So the window is shown
 * as wide as it is until the next packet is due. Nothing follows before: the pacing timer is set by
 * this packet, except among a connection's first ten.
 */
static __always_inline void open_window(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct flow *f = flow_of(sk);

	if (f && tp->data_segs_out >= UNPACED_SEGMENTS && tp->snd_cwnd == f->cwnd_packets)
		write_cwnd(tp, f, f->window_packets);
}

#else

static __always_inline void pace(struct sock *sk, struct flow *f)
{
}

static __always_inline void pace_no_more(struct sock *sk, struct flow *f)
{
}

#endif

#endif
