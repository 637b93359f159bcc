/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One start-up algorithm as a congestion control of the Linux kernel.
 *
 *     init --storage--> start-up --RAMP_DONE--> the kernel's CUBIC
 *       `---no storage, or attached late------>'
 *
 * Compiled once per row of the registry with -DALGORITHM=<id> and the row's -DTRAITS=<bits>: what a
 * row has no use for is left out, such as the two callbacks that spacing packets takes, which cost
 * every transmission something.
 *
 * The core decides during start-up; congestion avoidance, recovery (PRR) and undo are the kernel's
 * own throughout. Where the kernel leaves out init, the first ACK stands for it.
 *
 * A connection without storage is marked as plain, and every callback then does what CUBIC's would.
 * So are those whose round trip is shorter than the host wants steered.
 */
#include "kernel.h"

/*
 * The long division becomes a function that the verifier looks at once, instead of 64 branches at
 * every place that divides. Global, since it follows each call of a static function anew.
 */
#include <ramp/platform.h>
#define ramp_mul_div ramp_mul_div_inline
#include <ramp/math.h>
#undef ramp_mul_div
__noinline ramp_u64 ramp_mul_div(ramp_u64 a, ramp_u64 b, ramp_u64 c)
{
	return ramp_mul_div_inline(a, b, c);
}

#include <ramp/registry.h>

#include "events.h"

#define TRAITS_ARE_THE_ROWS(id, NAME, traits, name, source, idea) TRAITS_OF_##id = traits,
enum { RAMP_ALGORITHMS(TRAITS_ARE_THE_ROWS) };

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define RAMP_ID PASTE(ramp_, ALGORITHM)
_Static_assert(TRAITS == PASTE(TRAITS_OF_, ALGORITHM), "built with traits not the registry's");
#define NS_PER_US 1000
#define NS_PER_MS 1000000

char licence[] SEC("license") = "GPL";

const volatile struct ramp_settings settings SEC(".rodata.settings") = {};
struct ramp_counters counters SEC(".bss.counters");

#include "flow.h"
#include "record.h"
#include "onlooker.h"
#include "memory.h"
#include "host.h"

/* The flow of a connection that is to be steered, or none. */
static __noinline struct flow *admit(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	_Bool fresh = tp->bytes_sent <= tp->mss_cache;
	__u32 rtt_us = tp->rtt_min.s[0].v; /* all ones: not known */
	struct flow *f;

	set_marks(sk, MARK_PLAIN);
	if (with_cubic())
		cubictcp_init(sk);
	if (!fresh && tp->snd_ssthresh < TCP_INFINITE_SSTHRESH) {
		count(&counters.late);
		return 0;
	}
	if (rtt_us < settings.least_rtt_us) {
		count(&counters.short_rtt);
		return 0;
	}
	f = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!f) {
		count(&counters.without_storage);
		return 0;
	}
	recall(sk, f);
	return f;
}

static __noinline void obey_first(struct sock *sk, struct flow *f)
{
	obey(sk, f);
}

/* In functions of their own: seldom called where ACKs are handled, they should not be among their code. */
static __always_inline void begin(struct sock *sk)
{
	struct flow *f = admit(sk);

	if (!f)
		return;
	open_flow(sk, f);
	obey_first(sk, f);
}

SEC("struct_ops/init")
void BPF_PROG(startup_init, struct sock *sk)
{
	if (!settings.from_first_ack)
		begin(sk);
}

/*
 * An ACK of a connection that was not announced. During the handshake init is still to come;
 * after it the kernel has left it out, as busy virtual machines have been seen to.
 */
static __always_inline void look_at(struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	if (state == TCP_SYN_SENT || state == TCP_SYN_RECV)
		return;
	count(&counters.left_out);
	begin(sk);
}

SEC("struct_ops/release")
void BPF_PROG(startup_release, struct sock *sk)
{
	struct flow *f;

	if (!(marks(sk) & MARK_OURS))
		return;
	f = flow_of(sk);
	if (!f)
		return;
	if (settings.record >= RAMP_RECORD_FLOWS)
		record_flow(sk, f, RAMP_RECORD_CLOSE);
	pace_no_more(sk, f);
	judge_end(tcp_sk(sk), f, tcp_sk(sk)->snd_cwnd, 0);
	observe(sk, f, 1);
	count(&counters.closed);
	set_marks(sk, 0);
	bpf_sk_storage_delete(&flows, sk);
}

SEC("struct_ops/pkts_acked")
void BPF_PROG(startup_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	__u64 m = marks(sk);
	_Bool starting = m & MARK_STARTING;

	if (!m) {
		look_at(sk);
		return;
	}
	if (starting)
		acknowledge(sk, sample->rtt_us);
	if (with_cubic() && (!starting || cubic_heeds(sk, sample)))
		cubictcp_acked(sk, sample);
}

SEC("struct_ops/cong_avoid")
void BPF_PROG(startup_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	__u64 m = marks(sk);

	if (m & (MARK_STARTING | MARK_LEAVING)) { /* pkts_acked has seen this ACK */
		if (m & MARK_LEAVING)
			set_marks(sk, m & ~MARK_LEAVING);
		if (m & MARK_RESUMED)
			take_up(sk);
		return;
	}
	if (m & MARK_UNDONE)
		bound_slow_start(sk);
	if (with_cubic())
		cubictcp_cong_avoid(sk, ack, acked);
	else
		tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/ssthresh")
__u32 BPF_PROG(startup_ssthresh, struct sock *sk)
{
	struct flow *f = marks(sk) & MARK_OURS ? flow_of(sk) : 0;
	__u32 own = 0;

	if (f)
		own = reduce(sk, f);
	/* Called even when overruled: CUBIC remembers the window from which it was reduced. */
	if (with_cubic()) {
		__u32 cubic = cubictcp_recalc_ssthresh(sk);

		return own ? own : cubic;
	}
	return own ? own : tcp_reno_ssthresh(sk);
}

SEC("struct_ops/set_state")
void BPF_PROG(startup_set_state, struct sock *sk, __u8 state)
{
	struct flow *f;

	if (with_cubic())
		cubictcp_state(sk, state);
	if (!(marks(sk) & MARK_OURS))
		return;
	disarm_hystart(sk); /* TCP_CA_Loss re-arms it */
	if (state == TCP_CA_Open && tcp_ca_state(sk) == TCP_CA_Loss && marks(sk) & MARK_REPAIR)
		recover(sk);
	if (state != TCP_CA_Loss)
		return;
	f = flow_of(sk);
	if (f)
		time_out(sk, f);
}

SEC("struct_ops/undo_cwnd")
__u32 BPF_PROG(startup_undo_cwnd, struct sock *sk)
{
	struct flow *f = marks(sk) & MARK_OURS ? flow_of(sk) : 0;

	if (f)
		take_back(sk, f);
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops/cwnd_event")
void BPF_PROG(startup_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
#if TRAITS & RAMP_PACES
	if (event == CA_EVENT_TX_START && marks(sk) & MARK_PACING)
		open_window(sk);
#endif
	if (event == CA_EVENT_CWND_RESTART && marks(sk) & MARK_OURS)
		restart(sk);
	if (event == CA_EVENT_COMPLETE_CWR && marks(sk) & MARK_REPAIR)
		recover(sk);
	if (with_cubic())
		cubictcp_cwnd_event(sk, event);
}

#if TRAITS & RAMP_PACES

/* The last call before packets leave, after the kernel has set its own pacing rate. */
SEC("struct_ops/min_tso_segs")
__u32 BPF_PROG(startup_min_tso_segs, struct sock *sk)
{
	__u64 m = marks(sk);
	struct flow *f = m & (MARK_SHARE | MARK_PACING) ? flow_of(sk) : 0;

	if (m & MARK_AT_ONCE) {
		sk->sk_pacing_rate = sk->sk_max_pacing_rate;
	} else if (m & MARK_SHARE) {
		if (f)
			keep_share(sk, f);
	} else if (m & MARK_PACING) {
		if (f && tcp_ca_state(sk) <= TCP_CA_Disorder)
			return release_some(sk, f);
		if (f) /* the window is recovery's, and packets leave in the kernel's batches */
			set_rate(sk, f->decision.pacing_bytes_per_s);
	}
	return sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_min_tso_segs;
}

SEC("struct_ops/sndbuf_expand")
__u32 BPF_PROG(startup_sndbuf_expand, struct sock *sk)
{
	struct flow *f = marks(sk) & (MARK_PACING | MARK_STARTING) ? flow_of(sk) : 0;
	__u32 counted = tcp_sk(sk)->snd_cwnd, factor = 2, packets;

	if (!f)
		return factor;
	packets = servable(sk, f);
	/* Linux asks for factor x max(cwnd, 10), and cwnd may be held down to space a train. */
	if (counted < 10)
		counted = 10;
	if (marks(sk) & MARK_PACING && packets > counted)
		factor = 2 * ((packets + counted - 1) / counted);
	if (tcp_sk(sk)->bytes_acked == f->acked_base && factor > UNKNOWN_PEER)
		factor = UNKNOWN_PEER;
	return factor;
}

#endif

/* A connection in start-up, for the reader. */
static __always_inline void show(struct seq_file *seq, struct tcp_sock *tp, const struct flow *f)
{
	struct ramp_flow_row row = {};

	if (!tp || !f || !(marks((struct sock *)tp) & MARK_STARTING))
		return;
	fill_row(tp, f, &row);
	bpf_seq_write(seq, &row, sizeof(row));
}

/* Every connection, wherever it is. */
SEC("iter/bpf_sk_storage_map")
int startup_table(struct bpf_iter__bpf_sk_storage_map *context)
{
	struct sock *sk = context->sk;

	show(context->meta->seq, sk ? bpf_skc_to_tcp_sock(sk) : 0, context->value);
	return 0;
}

/* The connections of the reader's network namespace, for kernels that refuse the first. */
SEC("iter/tcp")
int startup_table_here(struct bpf_iter__tcp *context)
{
	struct sock_common *common = context->sk_common;
	struct tcp_sock *tp = common ? bpf_skc_to_tcp_sock(common) : 0;

	if (tp)
		show(context->meta->seq, tp, bpf_sk_storage_get(&flows, tp, 0, 0));
	return 0;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops startup = {
	.init = (void *)startup_init,
	.release = (void *)startup_release,
	.ssthresh = (void *)startup_ssthresh,
	.cong_avoid = (void *)startup_cong_avoid,
	.set_state = (void *)startup_set_state,
	.cwnd_event = (void *)startup_cwnd_event,
	.pkts_acked = (void *)startup_pkts_acked,
	.undo_cwnd = (void *)startup_undo_cwnd,
#if TRAITS & RAMP_PACES
	.min_tso_segs = (void *)startup_min_tso_segs,
	.sndbuf_expand = (void *)startup_sndbuf_expand,
#endif
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = TEXT(RAMP_ID),
};
