/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own CUBIC with its HyStart off, for the connections that choose it.
 *
 * Every call is handed on; HyStart is marked as having fired. The kernel's switch for it is a module
 * parameter, which holds for every connection of the machine.
 */
#include "kernel.h"

char licence[] SEC("license") = "GPL";

/* A timeout clears the mark. */
static __always_inline void disarm(struct sock *sk)
{
	((struct bictcp *)inet_csk(sk)->icsk_ca_priv)->found = 1;
}

SEC("struct_ops/init")
void BPF_PROG(cubic_init, struct sock *sk)
{
	cubictcp_init(sk);
	disarm(sk);
}

SEC("struct_ops/set_state")
void BPF_PROG(cubic_set_state, struct sock *sk, __u8 state)
{
	cubictcp_state(sk, state);
	disarm(sk);
}

SEC("struct_ops/ssthresh")
__u32 BPF_PROG(cubic_ssthresh, struct sock *sk)
{
	return cubictcp_recalc_ssthresh(sk);
}

SEC("struct_ops/cong_avoid")
void BPF_PROG(cubic_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	cubictcp_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/pkts_acked")
void BPF_PROG(cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	disarm(sk); /* the kernel may have left out init */
	cubictcp_acked(sk, sample);
}

SEC("struct_ops/cwnd_event")
void BPF_PROG(cubic_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	cubictcp_cwnd_event(sk, event);
}

SEC("struct_ops/undo_cwnd")
__u32 BPF_PROG(cubic_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops cubic = {
	.init = (void *)cubic_init,
	.set_state = (void *)cubic_set_state,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)cubic_cong_avoid,
	.pkts_acked = (void *)cubic_pkts_acked,
	.cwnd_event = (void *)cubic_cwnd_event,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "cubic_ss",
};
