/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives each new connection of a control group a congestion control drawn at random, and tells what
 * became of it.
 *
 * The draw is at the end of the handshake, the one moment that suits both kinds of open: the MSS and
 * the initial window are known, no congestion control has been initialised, and no data has left but
 * what TCP Fast Open carries. (At TCP_CONNECT_CB a control would be initialised with the MSS of 536
 * that every socket begins with.) A control that negotiates ECN in the handshake would come too late.
 *
 * A connection whose application, or another BPF program, has chosen its congestion control keeps it,
 * and so does one on a route that locks it (`congctl lock`).
 *
 * To the kernel what another of these programs has given a connection is a choice like any other. The
 * programs of a control group run before those of the groups around it, on one context, whose reply
 * no one reads at these two calls: it tells the outer ones.
 *
 * Slow start counts as over once the threshold is set and the window has reached it, or something
 * was lost: the same question to every congestion control, looked at with every RTT sample until then.
 */
#include "kernel.h"

#include "events.h"

#include "assign.h"

#define SOL_TCP 6
#define TCP_CONGESTION 13
#define NS_PER_US 1000

char licence[] SEC("license") = "GPL";

const volatile struct assign_settings settings SEC(".rodata.settings") = {};
struct assign_counters counters SEC(".bss.counters");
/* No more connections are assigned; those that are go on being followed. */
__u32 over SEC(".bss.over");

struct connection {
	__u64 id;
	__u64 opened_ns;
	__u64 startup_ns;
	__u64 startup_bytes;
	__u64 sent_base;
	__u64 acked_base;
	__u64 retransmitted_base;
	__u32 startup_cwnd_packets;
	__u32 arm;
	__u32 flags;
	__u32 told;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} events SEC(".maps");

#include "tuple.h"

static __always_inline void count(ramp_u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

static __always_inline __u32 draw(void)
{
	__u32 lot = bpf_get_prandom_u32() % ASSIGN_WHOLE, arm;

	for (arm = 0; arm < ASSIGN_ARMS_MAX - 1; arm++)
		if (arm + 1 >= settings.count || lot < settings.arms[arm].upto)
			break;
	return arm;
}

static __always_inline void tell_open(const struct connection *c)
{
	struct assign_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		count(&counters.lost_events);
		return;
	}
	e->time_ns = c->opened_ns;
	e->id = c->id;
	e->kind = ASSIGN_EVENT_OPEN;
	e->arm = c->arm;
	bpf_ringbuf_submit(e, 0);
}

/* Linux tcp_get_info_chrono_stats. */
static __always_inline void tell_busy(struct tcp_sock *tp, struct assign_event_done *e)
{
	__u32 kind = BPF_CORE_READ_BITFIELD(tp, chrono_type);
	__u32 now = (__u32)bpf_jiffies64(), running = now - tp->chrono_start;
	__u32 busy = tp->chrono_stat[0], rwnd = tp->chrono_stat[1], sndbuf = tp->chrono_stat[2];

	if (kind == 1)
		busy += running;
	else if (kind == 2)
		rwnd += running;
	else if (kind == 3)
		sndbuf += running;
	e->busy_jiffies = busy + rwnd + sndbuf;
	e->rwnd_jiffies = rwnd;
	e->sndbuf_jiffies = sndbuf;
}

static __always_inline void tell_done(struct tcp_sock *tp, struct connection *c)
{
	struct assign_event_done *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	c->told = 1;
	if (!e) {
		count(&counters.lost_events);
		return;
	}
	e->event.time_ns = bpf_ktime_get_ns();
	e->event.id = c->id;
	e->event.kind = ASSIGN_EVENT_DONE;
	e->event.arm = c->arm;
	record_tuple((struct sock *)tp, &e->tuple);
	e->opened_ns = c->opened_ns;
	e->delivered_ns = tp->delivered_mstamp * NS_PER_US;
	e->startup_ns = c->startup_ns;
	e->startup_bytes = c->startup_bytes;
	e->sent_bytes = tp->bytes_sent - c->sent_base;
	e->acked_bytes = tp->bytes_acked - c->acked_base;
	e->retransmitted_bytes = tp->bytes_retrans - c->retransmitted_base;
	e->startup_cwnd_packets = c->startup_cwnd_packets;
	tell_busy(tp, e);
	e->lost_packets = tp->lost;
	e->srtt_us = tp->srtt_us >> 3;
	e->min_rtt_us = tp->rtt_min.s[0].v;
	e->mss_bytes = tp->mss_cache;
	e->flags = c->flags;
	if (tp->snd_una == tp->write_seq)
		e->flags |= ASSIGN_DELIVERED;
	e->reserved = 0;
	bpf_ringbuf_submit(e, 0);
}

static __always_inline void listen_for(struct bpf_sock_ops *ops, __u32 add, __u32 less)
{
	bpf_sock_ops_cb_flags_set(ops, (ops->bpf_sock_ops_cb_flags | add) & ~less);
}

static __always_inline void follow(struct bpf_sock_ops *ops, struct bpf_sock *sk,
				   struct tcp_sock *tp, __u32 arm)
{
	struct connection *c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!c) {
		count(&counters.without_storage);
		return;
	}
	c->id = bpf_get_socket_cookie(ops);
	c->opened_ns = bpf_ktime_get_ns();
	c->sent_base = tp->bytes_sent;
	c->acked_base = tp->bytes_acked;
	c->retransmitted_base = tp->bytes_retrans;
	c->arm = arm;
	c->flags = ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB ? ASSIGN_PASSIVE : 0;
	listen_for(ops, BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_RTT_CB_FLAG, 0);
	tell_open(c);
}

static __always_inline void assign(struct bpf_sock_ops *ops)
{
	char name[TCP_CA_NAME_MAX];
	struct bpf_sock *sk = ops->sk;
	struct tcp_sock *tp;
	__u32 arm, i;

	if (over || !sk)
		return;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return;
	if (!(settings.flags & ASSIGN_ALL) && ops->reply == ASSIGN_TAKEN) {
		count(&counters.nested);
		return;
	}
	if (!(settings.flags & ASSIGN_ALL) &&
	    BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)tp, icsk_ca_setsockopt)) {
		count(&counters.chosen);
		return;
	}
	arm = draw() & (ASSIGN_ARMS_MAX - 1);
	for (i = 0; i < TCP_CA_NAME_MAX; i++)
		name[i] = settings.arms[arm].name[i];
	if (bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, name, sizeof(name))) {
		count(&counters.refused[arm]);
		return;
	}
	count(&counters.assigned[arm]);
	ops->reply = ASSIGN_TAKEN;
	if (settings.flags & ASSIGN_RECORD)
		follow(ops, sk, tp, arm);
}

/* Whether slow start is over. */
static __always_inline void look(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct connection *c = sk ? bpf_sk_storage_get(&connections, sk, 0, 0) : 0;
	struct tcp_sock *tp = c ? bpf_skc_to_tcp_sock(sk) : 0;

	if (!tp || tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh && !tp->lost)
		return;
	c->startup_ns = bpf_ktime_get_ns();
	c->startup_bytes = tp->bytes_acked - c->acked_base;
	c->startup_cwnd_packets = tp->snd_cwnd;
	listen_for(ops, 0, BPF_SOCK_OPS_RTT_CB_FLAG);
}

/*
 * A connection is done once this end has closed and all is acknowledged, or when it is gone. What
 * follows (the other end's data, lingering states) is not start-up's to shorten.
 */
static __always_inline void change(struct bpf_sock_ops *ops, __u32 state)
{
	struct bpf_sock *sk = ops->sk;
	struct connection *c = sk ? bpf_sk_storage_get(&connections, sk, 0, 0) : 0;
	struct tcp_sock *tp = c ? bpf_skc_to_tcp_sock(sk) : 0;

	if (!tp || c->told)
		return;
	switch (state) {
	case BPF_TCP_FIN_WAIT1:
	case BPF_TCP_LAST_ACK:
		if (tp->snd_una != tp->write_seq)
			return;
		break;
	case BPF_TCP_FIN_WAIT2:
	case BPF_TCP_TIME_WAIT:
	case BPF_TCP_CLOSE:
		break;
	default:
		return;
	}
	tell_done(tp, c);
	listen_for(ops, 0, BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_STATE_CB_FLAG);
}

static __always_inline int handle(struct bpf_sock_ops *ops)
{
	switch (ops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		assign(ops);
		break;
	case BPF_SOCK_OPS_RTT_CB:
		look(ops);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		change(ops, ops->args[1]);
		break;
	}
	return 1;
}

/* One of them is loaded: the kernel's list of programs then tells a trial from an attachment. */
SEC("sockops")
int assign_program(struct bpf_sock_ops *ops)
{
	return handle(ops);
}

SEC("sockops")
int trial_program(struct bpf_sock_ops *ops)
{
	return handle(ops);
}
