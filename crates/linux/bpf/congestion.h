/* SPDX-License-Identifier: GPL-2.0-only */
/* Losses, timeouts, marks, what undoes them, and pauses: what the core hears besides ACKs. host.h includes it. */
#ifndef RAMP_LINUX_CONGESTION_H
#define RAMP_LINUX_CONGESTION_H

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
 * Which of three ways led here is not reported. The retransmission timer clears icsk_pending before it
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
 * Without a threshold slow start would now go on, and nothing would end it. Undoing, the kernel writes
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
 * A timeout that followed fast recovery has not been reported yet. With a timer set it is none (see
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
