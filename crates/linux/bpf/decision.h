/* SPDX-License-Identifier: GPL-2.0-only */
/* What the core has decided, done: windows, spacing, the end of start-up. host.h includes it. */
#ifndef RAMP_LINUX_DECISION_H
#define RAMP_LINUX_DECISION_H

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

static __always_inline void obey_phase(struct sock *sk, struct flow *f)
{
	if (f->decision.phase == RAMP_DONE && marks(sk) & MARK_STARTING)
		leave(sk, f);
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

#endif
