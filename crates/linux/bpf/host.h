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
 *   delivery rate        none: rate samples come after the decision
 *   app-limited          the kernel's bubble of packets sent with nothing more to send is not yet
 *                        acknowledged
 *   pacing rate, paced   sk_pacing_rate, which the kernel keeps for every connection;
 *                        sk_pacing_status
 *   rtt                  as CUBIC gets it: the newest acknowledged packet's, if sent once
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

static __always_inline void leave(struct sock *sk, struct flow *f)
{
	__u32 reason = f->decision.exit_reason;

	set_marks(sk, marks(sk) & ~(__u64)MARK_STARTING);
	f->exited_ns = bpf_ktime_get_ns();
	f->exits++;
	count(&counters.exits[reason & 15]);
	count_duration(f->exited_ns - f->opened_ns);
	keep_exit(sk, f);
	if (settings.record >= RAMP_RECORD_EXITS)
		record_flow(sk, f, RAMP_EVENT_EXIT);
}

/* sk_pacing_status NEEDED is TCP's own pacing, which works under every queueing discipline. */
static __always_inline void pace(struct sock *sk, struct flow *f)
{
	_Bool wanted = f->decision.pacing_bytes_per_s != 0, paced = marks(sk) & MARK_PACING;

	if (wanted == paced)
		return;
	if (wanted) {
		f->pacing_status = sk->sk_pacing_status;
		sk->sk_pacing_status = SK_PACING_NEEDED;
		set_marks(sk, marks(sk) | MARK_PACING);
	} else {
		sk->sk_pacing_status = f->pacing_status;
		set_marks(sk, marks(sk) & ~(__u64)MARK_PACING);
	}
}

/* Does what the decision says. */
static __always_inline void obey(struct sock *sk, struct flow *f)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 ssthresh_bytes = f->decision.ssthresh_bytes;

	pace(sk, f);
	f->window_packets = window_packets(f, tp->mss_cache);
	write_cwnd(tp, f, f->window_packets);
	if (ssthresh_bytes != f->ssthresh_bytes) {
		f->ssthresh_bytes = ssthresh_bytes;
		f->ssthresh_packets = TCP_INFINITE_SSTHRESH;
		if (ssthresh_bytes != RAMP_UNSET) {
			f->ssthresh_packets = packets(ssthresh_bytes, tp->mss_cache);
			if (f->ssthresh_packets < 2)
				f->ssthresh_packets = 2;
		}
		tp->snd_ssthresh = f->ssthresh_packets;
	}
	if (f->decision.phase == RAMP_DONE && marks(sk) & MARK_STARTING)
		leave(sk, f);
}

/*
 * Lets one packet go, at the core's rate. The kernel paces batches: only a window with room for a
 * single packet makes every gap exact, and its timer calls again for the next.
 */
static __always_inline void release_one(struct sock *sk, struct flow *f)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 rate = f->decision.pacing_bytes_per_s;
	__u32 window = tcp_packets_in_flight(tp) + 1;

	if (rate > sk->sk_max_pacing_rate)
		rate = sk->sk_max_pacing_rate;
	sk->sk_pacing_rate = rate;
	if (tp->snd_cwnd == f->cwnd_packets) /* else somebody else's since the last ACK */
		write_cwnd(tp, f, window < f->window_packets ? window : f->window_packets);
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

static __always_inline void open_flow(struct sock *sk, struct flow *f)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ramp_config config = settings.config;
	__u32 window = settings.initial_window_packets;

	f->id = __sync_fetch_and_add(&counters.opened, 1) + 1;
	f->opened_ns = bpf_ktime_get_ns();
	f->exited_ns = 0;
	f->window_packets = 0;
	f->sent_base = tp->bytes_sent;
	f->acked_base = tp->bytes_acked;
	f->retransmitted_base = tp->bytes_retrans;
	f->delivered_bytes = 0;
	f->newest_acked_bytes = 0;
	f->acked_bytes = 0;
	f->lost_packets = tp->lost;
	f->marked_packets = tp->delivered_ce;
	f->timeout_told = 0;
	f->events = 0;
	f->exits = 0;
	f->reserved = 0;
	/* Left behind by another congestion control, unless the application asked for a rate. */
	if (sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0ul)
		sk->sk_pacing_status = SK_PACING_NONE;
	f->pacing_status = sk->sk_pacing_status;

	config.mss_bytes = tp->mss_cache ? tp->mss_cache : 536;
	config.initial_window_bytes = (__u64)(window ? window : tp->snd_cwnd) * config.mss_bytes;
	PASTE(RAMP_ID, _init)(&f->state, &config, &f->decision);

	disarm_hystart(sk);
	set_marks(sk, MARK_OURS | MARK_STARTING);
	f->ssthresh_bytes = 0; /* so that whatever the metrics of earlier connections left is overwritten */
	if (settings.record >= RAMP_RECORD_ALL)
		record_open(sk, f, &config);
	obey(sk, f);
}

static __always_inline void translate(struct sock *sk, struct flow *f,
				      const struct ack_sample *sample, struct ramp_ack *a)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 mss = tp->mss_cache, sacked = tp->sacked_out, rtt = sample->rtt_us;
	__u64 acked = tp->bytes_acked - f->acked_base;
	__u64 delivered = acked + (__u64)sacked * mss;
	__u64 newest = acked + (tp->bytes_retrans - f->retransmitted_base);
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
	a->delivery_bytes_per_s = 0;
	a->pacing_bytes_per_s = sk->sk_pacing_rate;
	a->rtt_us = (__s32)rtt > 0 ? rtt : 0;
	a->mss_bytes = mss;
	a->flags = 0;
	a->reserved = 0;
	/* Duplicate ACKs never enlarge the window (RFC 5681), though the algorithm sees them. */
	if (advanced && tcp_is_cwnd_limited(tp))
		a->flags |= RAMP_CWND_LIMITED;
	if (tp->app_limited)
		a->flags |= RAMP_APP_LIMITED;
	if (tp->delivered_ce != f->marked_packets)
		a->flags |= RAMP_ECE;
	if (sk->sk_pacing_status != SK_PACING_NONE) /* fq sets it with the first packet */
		a->flags |= RAMP_PACED;
	f->acked_bytes = acked;
	f->delivered_bytes = delivered;
	f->newest_acked_bytes = newest;
	f->marked_packets = tp->delivered_ce;
}

static __always_inline void acknowledge(struct sock *sk, const struct ack_sample *sample)
{
	struct flow *f = flow_of(sk);
	struct ramp_decision before;
	struct ramp_ack ack;
	__u32 state = tcp_ca_state(sk);
	__u64 cwnd_bytes;

	if (!f)
		return;
	translate(sk, f, sample, &ack);
	if (!ack.acked_bytes)
		return;
	notice(tcp_sk(sk), f);
	cwnd_bytes = f->decision.cwnd_bytes;
	if (settings.record >= RAMP_RECORD_ALL)
		before = f->decision;
	PASTE(RAMP_ID, _on_ack)(&f->state, &ack, &f->decision);
	if (settings.record >= RAMP_RECORD_ALL)
		record_ack(f, &ack, &before);
	if (state == TCP_CA_CWR || state == TCP_CA_Recovery) /* the window is recovery's */
		f->decision.cwnd_bytes = cwnd_bytes;
	else
		obey(sk, f);
	if (!(marks(sk) & MARK_STARTING))
		set_marks(sk, marks(sk) | MARK_LEAVING);
}

static __always_inline void congest(struct sock *sk, struct flow *f, __u32 kind)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ramp_congestion congestion = {
		.now_ns = tp->tcp_clock_cache,
		.lost_bytes = (__u64)(tp->lost - f->lost_packets) * tp->mss_cache,
		.in_flight_bytes = (__u64)(tp->packets_out - tp->sacked_out) * tp->mss_cache,
		.kind = kind,
		.mss_bytes = tp->mss_cache,
	};
	struct ramp_decision before;

	notice(tp, f);
	before = f->decision;
	PASTE(RAMP_ID, _on_congestion)(&f->state, &congestion, &f->decision);
	f->lost_packets = tp->lost;
	if (settings.record >= RAMP_RECORD_ALL)
		record_congestion(f, &congestion, &before);
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
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 kind = RAMP_LOSS;
	__u64 before;

	if (!inet_csk(sk)->icsk_pending)
		kind = RAMP_RTO;
	else if (!tp->lost_out && tp->lost == f->lost_packets && tp->delivered_ce)
		kind = RAMP_CE_MARK;
	f->timeout_told = kind == RAMP_RTO;
	if (marks(sk) & MARK_PACING && tp->snd_cwnd == f->cwnd_packets)
		write_cwnd(tp, f, f->window_packets); /* not what pacing held it down to */
	notice(tp, f);
	before = f->decision.ssthresh_bytes;
	congest(sk, f, kind);
	if (marks(sk) & MARK_STARTING)
		obey(sk, f);
	if (f->decision.ssthresh_bytes == before || f->decision.ssthresh_bytes == RAMP_UNSET)
		return 0;
	return packets(f->decision.ssthresh_bytes, tp->mss_cache);
}

/* A timeout, or an undone reduction, may begin start-up again. */
static __always_inline void resume(struct sock *sk, const struct flow *f)
{
	if (f->decision.phase != RAMP_DONE)
		set_marks(sk, (marks(sk) | MARK_STARTING) & ~(__u64)MARK_LEAVING);
}

/* The kernel restores the windows, in a moment. */
static __always_inline void take_back(struct sock *sk, struct flow *f)
{
	congest(sk, f, RAMP_SPURIOUS);
	resume(sk, f);
}

/* A timeout that followed fast recovery has not been told yet. */
static __always_inline void time_out(struct sock *sk, struct flow *f)
{
	if (!f->timeout_told)
		congest(sk, f, RAMP_RTO);
	f->timeout_told = 0;
	resume(sk, f);
}

#endif
