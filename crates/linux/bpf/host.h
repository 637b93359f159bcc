/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's side of the contract in ramp/interface.h: what the kernel knows, in the core's
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

#include "windows.h"
#include "spacing.h"
#include "decision.h"

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
	if (cwnd != f->cwnd_packets) /* another program has written another */
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

#include "congestion.h"

#endif
