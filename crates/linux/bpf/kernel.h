/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel types and functions that the start-ups touch.
 *
 * Only members in use are declared; where they lie is found at load time from the running kernel's
 * BTF (CO-RE), so order and gaps mean nothing here and one object serves many kernels.
 */
#ifndef RAMP_LINUX_KERNEL_H
#define RAMP_LINUX_KERNEL_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define AF_INET6 10
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1
#define SK_PACING_FQ 2
#define ICSK_CA_PRIV_WORDS 13
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_CA_NAME_MAX 16
#define UNPACED_SEGMENTS 10 /* tcp_update_skb_after_send() */
/*
 * Factor of the send buffer before data is acknowledged (Linux: 2): a peer that acknowledges nothing
 * costs at most twice what it costs with the kernel's own rows, whatever was remembered of its path.
 */
#define UNKNOWN_PEER 4
#define SEGMENT_COST 2304   /* of a full one in a send buffer, bytes: tcp_sndbuf_expand() */
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3

enum { TCP_CA_Open,
       TCP_CA_Disorder,
       TCP_CA_CWR,
       TCP_CA_Recovery,
       TCP_CA_Loss };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	__u8 in6_u[16];
};

struct netns_ipv4 {
	__u8 sysctl_tcp_min_tso_segs;
};

struct net {
	__u64 net_cookie; /* of one namespace alone, ever */
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	volatile unsigned char skc_state;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	unsigned short skc_family;
	int skc_bound_dev_if;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u32 sk_pacing_status;
	int sk_sndbuf;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_sock {
	__be16 inet_sport;
};

struct tcp_congestion_ops;

struct inet_connection_sock {
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_ca_state : 5;
	__u8 icsk_ca_setsockopt : 1;
	__u8 icsk_pending;
	__u64 icsk_ca_priv[ICSK_CA_PRIV_WORDS];
};

struct tcp_rack {
	__u32 end_seq;
};

struct tcp_options_received {
	__u32 rcv_tsval;
};

struct minmax_sample {
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 mss_cache;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 max_packets_out;
	__u32 app_limited;
	__u32 delivered_ce;
	__u32 lost;
	__u32 srtt_us;
	__u32 write_seq;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u32 data_segs_out;
	__u32 chrono_start;
	__u32 chrono_stat[3];
	__u32 snd_wnd;
	__u8 is_cwnd_limited : 1;
	__u8 rate_app_limited : 1;
	__u8 chrono_type : 2;
	__u64 bytes_sent;
	__u64 bytes_acked;
	__u64 bytes_retrans;
	__u64 first_tx_mstamp;
	__u64 delivered_mstamp;
	__u64 tcp_clock_cache;
	__u64 tcp_wstamp_ns;
	struct tcp_rack rack;
	struct minmax rtt_min;
	struct tcp_options_received rx_opt;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
};

enum tcp_ca_event { CA_EVENT_TX_START,
		    CA_EVENT_CWND_RESTART,
		    CA_EVENT_COMPLETE_CWR };

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	void *value;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
	__u32 uid;
};

struct bictcp {
	__u32 delay_min; /* us */
	__u32 curr_rtt;  /* of the round, us */
	__u8 sample_cnt; /* of the round */
	__u8 found;
};

struct tcp_congestion_ops {
	char name[TCP_CA_NAME_MAX]; /* these two first: the loader sets them */
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 (*sndbuf_expand)(struct sock *sk);
};

#pragma clang attribute pop

/* Weak: a kernel without CUBIC still loads an object that is set to use Reno. */
extern void cubictcp_init(struct sock *sk) __ksym __weak;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym __weak;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym __weak;
extern void cubictcp_state(struct sock *sk, __u8 state) __ksym __weak;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym __weak;
extern __u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *inet_csk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static __always_inline __u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

static __always_inline __u32 tcp_ca_state(struct sock *sk)
{
	return BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
}

/* Linux tcp_is_cwnd_limited: in slow start, using half the window is enough to let it double. */
static __always_inline _Bool tcp_is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

#endif
