/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's side of the contract in ramp/interface.h: what the kernel knows, told in the core's
 * terms, and what the core decides, done in the kernel's.
 *
 *   contract             from the kernel
 *   now                  tcp_clock_cache: when this ACK was handled, in ns
 *   newest_sent          first_tx_mstamp, which rate sampling keeps for the newest delivered
 *                        packet in send order; whole us
 *   sent                 bytes_sent
 *   newest_acked         the newest acknowledged sequence number (SND.UNA, or RACK's with SACKs)
 *                        plus the bytes retransmitted so far. Exact without retransmissions;
 *                        otherwise off by what was retransmitted after that packet left
 *   delivered, acked     cumulatively acknowledged plus SACKed packets x MSS, never going back. A
 *                        short SACKed segment counts as a full one until it is acknowledged
 *   in flight            packets x MSS after this ACK, plus what it acknowledged
 *   lost                 packets found lost x MSS
 *   receive window       snd_wnd
 *   delivery rate        the sample before this ACK's own, which comes after the decision; for rows
 *                        that read it (RAMP_READS_RATE)
 *   app-limited          the kernel's bubble of packets sent with nothing more to send is not yet
 *                        acknowledged. Not that of 1, the handshake: until the first ACK has been
 *                        decided on, the kernel takes it for one
 *   pacing rate, paced   sk_pacing_rate, which the kernel keeps for every connection;
 *                        sk_pacing_status
 *   rtt                  as CUBIC gets it: the newest acknowledged packet's, if sent once
 *   tsval                rcv_tsval, which stays 0 on a connection without timestamps: of this ACK
 *                        or, in init, of what established the connection; a congestion control that
 *                        is set later gets none there
 *   recovering           TCP_CA_Recovery and TCP_CA_CWR, in which PRR keeps the window
 *   handshake RTT        the smallest RTT when the connection begins: there is no other yet
 *   size                 what the application has written by then; a server has written nothing
 *   recovered            CA_EVENT_COMPLETE_CWR, and TCP_CA_Open after a timeout
 *   idle restart         CA_EVENT_CWND_RESTART
 *   window-limited       tcp_is_cwnd_limited; for rows that pace the same rule, over the window that
 *                        was decided, since what spacing holds snd_cwnd down to is always full
 */
#ifndef RAMP_LINUX_HOST_H
#define RAMP_LINUX_HOST_H

/* The one place where bytes become packets: rounded down, at least one. */
static __always_inline __u32 packets(__u64 bytes, __u32 mss_bytes)
{
	__u32 mss = mss_bytes ? mss_bytes : 1;
	__u64 packets;

	/* Half the time of a 64-bit division. */
	packets = bytes >> 32 ? bytes / mss : (__u32)bytes / mss;
	if (packets > TCP_INFINITE_SSTHRESH)
		packets = TCP_INFINITE_SSTHRESH;
	return packets ? packets : 1;
}

/* packets(), spared the division where the window grew by a few packets, as it does with each ACK. */
static __always_inline __u32 window_packets(const struct flow *f, __u32 mss_bytes)
{
	__u64 more = f->decision.cwnd_bytes - (__u64)f->window_packets * mss_bytes;
	__u32 grown = f->window_packets;

	if (grown && more < 3 * (__u64)mss_bytes) /* a smaller window wraps to a large number */
		return grown + (more >= mss_bytes) + (more >= 2 * (__u64)mss_bytes);
	return packets(f->decision.cwnd_bytes, mss_bytes);
}

static __always_inline void write_cwnd(struct tcp_sock *tp, struct flow *f, __u32 packets)
{
	if (packets > tp->snd_cwnd_clamp)
		packets = tp->snd_cwnd_clamp;
	f->cwnd_packets = packets;
	tp->snd_cwnd = packets;
}

/* What recovery, timeouts, idle restarts or path MTU changes did to the windows. */
static __always_inline void notice(const struct tcp_sock *tp, struct flow *f)
{
	__u32 cwnd = tp->snd_cwnd, ssthresh = tp->snd_ssthresh;

	if (cwnd != f->cwnd_packets) {
		f->decision.cwnd_bytes = (__u64)cwnd * tp->mss_cache;
		f->cwnd_packets = cwnd;
	}
	if (ssthresh != f->ssthresh_packets) {
		f->decision.ssthresh_bytes = ssthresh >= TCP_INFINITE_SSTHRESH
			? RAMP_UNSET
			: (__u64)ssthresh * tp->mss_cache;
		f->ssthresh_bytes = f->decision.ssthresh_bytes;
		f->ssthresh_packets = ssthresh;
	}
}

/*
 * 1 for an end that is the algorithm's own choice, and no answer to a loss, a mark or a timeout.
 * Without a branch: the verifier would follow each reason through all that comes after.
 */
static __always_inline __u32 chosen(__u32 reason)
{
	const __u64 answers = 1ull << RAMP_EXIT_LOSS | 1ull << RAMP_EXIT_TIMEOUT | 1ull << RAMP_EXIT_ECN;

	return ~(answers >> ramp_index(reason, 64)) & 1;
}

/*
 * Whether the algorithm chose the end of its start-up well, by what came of it: congestion before two
 * windows were acknowledged, or a window that grew far beyond without any.
 */
static __always_inline void judge_end(struct tcp_sock *tp, struct flow *f, __u32 now, _Bool lost)
{
	__u64 since = tp->bytes_acked - f->acked_base - f->acked_bytes;
	__u32 window = f->left_packets;

	f->left_packets = 0;
	if (!window)
		return;
	if (lost && since < 2 * (__u64)window * tp->mss_cache)
		count(&counters.too_late);
	else if (now > 2 * window)
		count(&counters.too_early);
}

static __always_inline void leave(struct sock *sk, struct flow *f)
{
	__u32 reason = f->decision.exit_reason;

	set_marks(sk, marks(sk) & ~(__u64)MARK_STARTING);
	f->exited_ns = bpf_ktime_get_ns();
	f->exits++;
	f->left_packets = f->window_packets * chosen(reason);
	count(&counters.exits[ramp_index(reason, RAMP_EXIT_SLOTS)]);
	count_duration(f->exited_ns - f->opened_ns);
	observe(sk, f, 0);
	keep_exit(sk, f);
	if (settings.record >= RAMP_RECORD_EXITS)
		record_flow(sk, f, RAMP_RECORD_EXIT);
}

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

/* Before somebody else has the connection. */
static __always_inline void pace_no_more(struct sock *sk, struct flow *f)
{
	if (marks(sk) & (MARK_PACING | MARK_SHARE) && sk->sk_pacing_status != SK_PACING_FQ)
		sk->sk_pacing_status = f->pacing_status;
}

#else

static __always_inline void pace(struct sock *sk, struct flow *f)
{
}

static __always_inline void pace_no_more(struct sock *sk, struct flow *f)
{
}

#endif

static __always_inline void obey_ssthresh(struct tcp_sock *tp, struct flow *f)
{
	__u64 ssthresh_bytes = f->decision.ssthresh_bytes;

	if (ssthresh_bytes == f->ssthresh_bytes)
		return;
	f->ssthresh_bytes = ssthresh_bytes;
	f->ssthresh_packets = TCP_INFINITE_SSTHRESH;
	if (ssthresh_bytes != RAMP_UNSET) {
		f->ssthresh_packets = packets(ssthresh_bytes, tp->mss_cache);
		if (f->ssthresh_packets < 2)
			f->ssthresh_packets = 2;
	}
	tp->snd_ssthresh = f->ssthresh_packets;
}

static __always_inline void obey_phase(struct sock *sk, struct flow *f)
{
	if (f->decision.phase == RAMP_DONE && marks(sk) & MARK_STARTING)
		leave(sk, f);
}

/* What the decision says within the host's own bound, which the core is not told of. */
static __always_inline __u32 allowed_packets(const struct tcp_sock *tp, struct flow *f)
{
	__u64 most = f->usage.most_in_flight_bytes * settings.window_bound;

	most += (__u64)f->first_window_packets * tp->mss_cache;
	if (!settings.window_bound || f->decision.cwnd_bytes <= most)
		return window_packets(f, tp->mss_cache);
	if (!f->bounded)
		count(&counters.bounded);
	f->bounded = 1;
	return packets(most, tp->mss_cache);
}

/* Does what the decision says. */
static __always_inline void obey(struct sock *sk, struct flow *f)
{
	struct tcp_sock *tp = tcp_sk(sk);

	pace(sk, f);
	f->window_packets = allowed_packets(tp, f);
	write_cwnd(tp, f, f->window_packets);
	obey_ssthresh(tp, f);
	obey_phase(sk, f);
}

#if TRAITS & RAMP_PACES

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
	if (tp->snd_cwnd == f->cwnd_packets) /* else somebody else's since the last ACK */
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

#endif

/* State arrives zeroed from the socket storage. */
/* Its configuration leaves the stack before obey() needs more of it. */
static __noinline void open_flow(struct sock *sk, struct flow *f)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ramp_config config = settings.config;
	__u32 window = settings.initial_window_packets, least_rtt_us = tp->rtt_min.s[0].v;

	f->id = __sync_fetch_and_add(&counters.opened, 1) + 1;
	f->opened_ns = bpf_ktime_get_ns();
	f->sent_base = tp->bytes_sent;
	f->acked_base = tp->bytes_acked;
	f->retransmitted_base = tp->bytes_retrans;
	f->lost_base = tp->lost;
	f->lost_packets = tp->lost;
	f->marked_packets = tp->delivered_ce;
	/* Left behind by another congestion control, unless the application asked for a rate. */
	if (sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0ul)
		sk->sk_pacing_status = SK_PACING_NONE;
	f->pacing_status = sk->sk_pacing_status;
	f->first_window_packets = window ? window : tp->snd_cwnd;

	config.mss_bytes = tp->mss_cache ? tp->mss_cache : 536;
	config.initial_window_bytes = (__u64)f->first_window_packets * config.mss_bytes;
	config.size_bytes = tp->write_seq - tp->snd_una;
	config.receive_window_bytes = tp->snd_wnd;
	config.handshake_rtt_us = least_rtt_us == ~0u ? 0 : least_rtt_us;
	config.now_ns = tp->tcp_clock_cache;
	if (f->opened_ns - tp->tcp_clock_cache < NS_PER_MS) /* it has just come */
		config.tsval = tp->rx_opt.rcv_tsval;
#if TRAITS & RAMP_NEEDS_HISTORY
	f->initial_window_bytes = config.initial_window_bytes;
	config.hint = f->hint;
#endif
	PASTE(RAMP_ID, _init)(&f->state, &config, &f->decision);

	disarm_hystart(sk);
	set_marks(sk, MARK_OURS | MARK_STARTING);
	/* ssthresh_bytes is 0 yet: what the metrics of earlier connections left is overwritten. */
	if (settings.record >= RAMP_RECORD_ALL)
		record_open(sk, f, &config);
}

/*
 * Linux tcp_cwnd_validate and tcp_is_cwnd_limited, for the window that was decided. The most is out just
 * before an ACK, so that one look at each ACK, at what it has found, sees what the kernel sees at each
 * packet that leaves. Global: the verifier looks at it once, and its branches are not among the others'.
 */
__noinline __u32 judge_usage(struct usage *u)
{
	__u32 full, left, over;
	__u64 out;

	if (!u)
		return 0;
	full = u->in_flight_bytes + u->mss_bytes > u->window_bytes;
	left = u->next_bytes != u->last_bytes;
	over = u->acked_bytes >= u->until_bytes;
	out = u->next_bytes - u->acked_bytes;
	u->last_bytes = u->next_bytes;
	if (u->in_flight_bytes > u->most_in_flight_bytes)
		u->most_in_flight_bytes = u->in_flight_bytes;
	if (full || (left && (over || (!u->full && out > u->most_out_bytes)))) {
		u->full = full;
		u->most_out_bytes = out;
		u->until_bytes = u->next_bytes;
	}
	return u->full || u->window_bytes < 2 * u->most_out_bytes;
}

/* Whether the window holds the connection back. `acked`: cumulatively, with this ACK; f has what it was. */
static __always_inline _Bool window_limited(const struct tcp_sock *tp, struct flow *f, __u64 acked,
					    __u64 in_flight_bytes)
{
	struct usage *u = &f->usage;
	__u32 window = f->window_packets, cwnd = tp->snd_cwnd, limited;

	barrier_var(window); /* the verifier takes no load through either of two pointers */
	if (cwnd != f->cwnd_packets) /* somebody else has written another */
		window = cwnd;
	u->mss_bytes = tp->mss_cache;
	u->window_bytes = (__u64)window * u->mss_bytes;
	u->in_flight_bytes = in_flight_bytes;
	u->acked_bytes = f->acked_bytes;
	u->next_bytes = acked + (tp->snd_nxt - tp->snd_una);
	limited = judge_usage(u);
#if !(TRAITS & RAMP_PACES)
	limited = tcp_is_cwnd_limited(tp);
#endif
	return limited;
}

static __always_inline void translate(struct sock *sk, struct flow *f, __s32 rtt_us,
				      struct ramp_ack *a)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 mss = tp->mss_cache, sacked = tp->sacked_out;
	__u64 acked = tp->bytes_acked - f->acked_base;
	__u64 delivered = acked + (__u64)sacked * mss;
	__u64 newest = acked + (tp->bytes_retrans - f->retransmitted_base);
	__u32 state = tcp_ca_state(sk);
	_Bool advanced = acked != f->acked_bytes;

	if (delivered < f->delivered_bytes)
		delivered = f->delivered_bytes;
	if (sacked && (__s32)(tp->rack.end_seq - tp->snd_una) > 0)
		newest += tp->rack.end_seq - tp->snd_una;
	a->sent_bytes = tp->bytes_sent - f->sent_base;
	if (newest > a->sent_bytes)
		newest = a->sent_bytes;
	if (newest < f->newest_acked_bytes)
		newest = f->newest_acked_bytes;
	a->now_ns = tp->tcp_clock_cache;
	a->newest_sent_ns = tp->first_tx_mstamp * NS_PER_US;
	a->newest_acked_bytes = newest;
	a->delivered_bytes = delivered;
	a->acked_bytes = delivered - f->delivered_bytes;
	a->in_flight_bytes = (__u64)tcp_packets_in_flight(tp) * mss + a->acked_bytes;
	a->lost_bytes = (__u64)(tp->lost - f->lost_base) * mss;
	a->receive_window_bytes = tp->snd_wnd;
	a->delivery_bytes_per_s = 0;
	a->pacing_bytes_per_s = sk->sk_pacing_rate;
	a->rtt_us = rtt_us > 0 ? rtt_us : 0;
	a->mss_bytes = mss;
	a->flags = 0;
	a->tsval = tp->rx_opt.rcv_tsval;
	/* Duplicate ACKs never enlarge the window (RFC 5681), though the algorithm sees them. */
	if (window_limited(tp, f, acked, a->in_flight_bytes) && advanced)
		a->flags |= RAMP_CWND_LIMITED;
	if (tp->app_limited >> 1) /* more than 1; compared, it would cost the verifier */
		a->flags |= RAMP_APP_LIMITED;
	if (tp->delivered_ce != f->marked_packets)
		a->flags |= RAMP_ECE;
	if (sk->sk_pacing_status != SK_PACING_NONE && !(marks(sk) & MARK_AT_ONCE))
		a->flags |= RAMP_PACED; /* fq sets it with the first packet */
	if (state == TCP_CA_CWR || state == TCP_CA_Recovery)
		a->flags |= RAMP_RECOVERING;
#if TRAITS & RAMP_READS_RATE
	if (tp->rate_interval_us) {
		a->delivery_bytes_per_s =
			(__u64)tp->rate_delivered * mss * 1000000 / tp->rate_interval_us;
		if (BPF_CORE_READ_BITFIELD(tp, rate_app_limited))
			a->flags |= RAMP_RATE_APP_LIMITED;
	}
#endif
	f->acked_bytes = acked;
	f->delivered_bytes = delivered;
	f->newest_acked_bytes = newest;
	f->marked_packets = tp->delivered_ce;
}

static __always_inline void acknowledge(struct sock *sk, __s32 rtt_us)
{
	struct flow *f = flow_of(sk);
	struct ramp_ack ack;
	__u64 cwnd_bytes, ssthresh_bytes;

	if (!f)
		return;
	translate(sk, f, rtt_us, &ack);
	if (!ack.acked_bytes)
		return;
	notice(tcp_sk(sk), f);
	cwnd_bytes = f->decision.cwnd_bytes;
	ssthresh_bytes = f->decision.ssthresh_bytes;
	if (settings.record >= RAMP_RECORD_ALL)
		f->before = f->decision;
	PASTE(RAMP_ID, _on_ack)(&f->state, &ack, &f->decision);
	if (settings.record >= RAMP_RECORD_ALL)
		record_ack(f, &ack);
	if (ack.flags & RAMP_RECOVERING) { /* PRR keeps the window, and reduces it to ssthresh */
		f->decision.cwnd_bytes = cwnd_bytes;
		if (f->decision.ssthresh_bytes == RAMP_UNSET)
			f->decision.ssthresh_bytes = ssthresh_bytes;
		pace(sk, f);
		obey_ssthresh(tcp_sk(sk), f);
		obey_phase(sk, f);
	} else {
		obey(sk, f);
	}
	if (!(marks(sk) & MARK_STARTING))
		set_marks(sk, marks(sk) | MARK_LEAVING);
}

static __always_inline void report(struct sock *sk, struct flow *f, __u32 kind)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ramp_event event = {
		.now_ns = tp->tcp_clock_cache,
		.lost_bytes = (__u64)(tp->lost - f->lost_packets) * tp->mss_cache,
		.in_flight_bytes = (__u64)(tp->packets_out - tp->sacked_out) * tp->mss_cache,
		.kind = kind,
		.mss_bytes = tp->mss_cache,
	};

	notice(tp, f);
	f->before = f->decision;
	PASTE(RAMP_ID, _on_event)(&f->state, &event, &f->decision);
	f->lost_packets = tp->lost;
	if (settings.record >= RAMP_RECORD_ALL)
		record_event(f, &event);
}

/* The ACK with which start-up went on: a train's last, perhaps, with nothing on its way behind it. */
static __always_inline void take_up(struct sock *sk)
{
	if (marks(sk) & MARK_STARTING)
		acknowledge(sk, 0);
	set_marks(sk, marks(sk) & ~(__u64)(MARK_RESUMED | MARK_LEAVING));
}

/*
 * The kernel reduces, in a moment, from snd_cwnd. Returns the core's own threshold, or 0: the
 * kernel's rule.
 *
 * Which of three ways led here is not told. The retransmission timer clears icsk_pending before it
 * acts, and nothing else leads here without a timer set; marks without a loss are ECN's.
 */
static __always_inline __u32 reduce(struct sock *sk, struct flow *f)
{
	__u64 before, starting = marks(sk) & MARK_STARTING;
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 kind = RAMP_LOSS, window, kept;

	if (!inet_csk(sk)->icsk_pending)
		kind = RAMP_TIMEOUT;
	else if (!tp->lost_out && tp->lost == f->lost_packets && tp->delivered_ce)
		kind = RAMP_MARK;
	f->timeout_told = kind == RAMP_TIMEOUT;
	doubt(sk, f);
	if (marks(sk) & MARK_PACING && tp->snd_cwnd == f->cwnd_packets)
		write_cwnd(tp, f, f->window_packets); /* not what pacing held it down to */
	notice(tp, f);
	before = f->decision.ssthresh_bytes;
	window = tp->snd_cwnd;
	report(sk, f, kind);
	set_marks(sk, marks(sk) | MARK_REPAIR);
	if (marks(sk) & MARK_STARTING)
		obey(sk, f);
	judge_end(tp, f, window, 1);
	/* After start-up nothing overrides the kernel's rule. A timeout may begin start-up again. */
	if (!starting && (kind != RAMP_TIMEOUT || f->decision.phase == RAMP_DONE))
		return 0;
	if (f->decision.ssthresh_bytes == before || f->decision.ssthresh_bytes == RAMP_UNSET)
		return 0;
	kept = packets(f->decision.ssthresh_bytes, tp->mss_cache);
	return kept < window ? kept : window; /* a reduction opens nothing */
}

/*
 * A timeout, or an undone reduction, may begin start-up again. The ACK behind it has passed
 * pkts_acked unseen.
 */
static __always_inline void resume(struct sock *sk, struct flow *f)
{
	if (f->decision.phase == RAMP_DONE)
		return;
	f->left_packets = 0;
	set_marks(sk, (marks(sk) | MARK_STARTING | MARK_RESUMED) & ~(__u64)MARK_LEAVING);
}

/* The kernel restores the windows, in a moment, whatever the core makes of them. */
static __always_inline void take_back(struct sock *sk, struct flow *f)
{
	__u64 cwnd_bytes, ssthresh_bytes;

	notice(tcp_sk(sk), f);
	cwnd_bytes = f->decision.cwnd_bytes;
	ssthresh_bytes = f->decision.ssthresh_bytes;
	report(sk, f, RAMP_UNDONE);
	f->decision.cwnd_bytes = cwnd_bytes;
	f->decision.ssthresh_bytes = ssthresh_bytes;
	obey_phase(sk, f);
	set_marks(sk, marks(sk) & ~(__u64)MARK_REPAIR);
	resume(sk, f);
	if (!(marks(sk) & MARK_STARTING))
		set_marks(sk, marks(sk) | MARK_UNDONE);
}

/*
 * Without a threshold slow start would now go on, and nobody would end it. Undoing, the kernel writes
 * its threshold after it has asked for the window, so that it can be mended with the next growth.
 */
static __always_inline void bound_slow_start(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	set_marks(sk, marks(sk) & ~(__u64)MARK_UNDONE);
	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		tp->snd_ssthresh = tp->snd_cwnd < 2 ? 2 : tp->snd_cwnd;
}

/*
 * A timeout that followed fast recovery has not been told yet. With a timer set it is none (see
 * reduce): the path's MTU has shrunk, and the kernel sends again what is too long for it. It reduces
 * nothing then, and neither does the core. Nor is it told again when what the last one sent again is
 * still missing.
 */
static __always_inline void time_out(struct sock *sk, struct flow *f)
{
	__u64 ssthresh_bytes;

	if (!f->timeout_told) {
		if (inet_csk(sk)->icsk_pending || tcp_ca_state(sk) == TCP_CA_Loss)
			return;
		notice(tcp_sk(sk), f);
		ssthresh_bytes = f->decision.ssthresh_bytes;
		report(sk, f, RAMP_TIMEOUT);
		if (f->decision.ssthresh_bytes == RAMP_UNSET ||
		    (!(marks(sk) & MARK_STARTING) && f->decision.phase == RAMP_DONE))
			f->decision.ssthresh_bytes = ssthresh_bytes;
		obey_ssthresh(tcp_sk(sk), f);
		obey_phase(sk, f);
	}
	f->timeout_told = 0;
	set_marks(sk, marks(sk) | MARK_REPAIR);
	resume(sk, f);
}

/* The kernel has left recovery, and the window is where it left it. */
static __always_inline void recover(struct sock *sk)
{
	struct flow *f = flow_of(sk);

	set_marks(sk, marks(sk) & ~(__u64)MARK_REPAIR);
	if (!f)
		return;
	report(sk, f, RAMP_RECOVERED);
	if (marks(sk) & MARK_STARTING)
		obey(sk, f);
}

/* The kernel cuts the window, in a moment. */
static __always_inline void restart(struct sock *sk)
{
	struct flow *f = flow_of(sk);

	if (!f)
		return;
	report(sk, f, RAMP_IDLE_RESTART);
	obey_phase(sk, f);
}

#endif
