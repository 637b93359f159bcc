// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start-ups of the kernel's own congestion controls, seen from outside, on the whole machine.
 *
 * Slow start lasts while the window is below ssthresh, which is infinite at first (tcp_init_sock) unless the
 * kernel remembers the destination (tcp_init_metrics). So start-up ends when ssthresh becomes finite, or, where
 * one was remembered, when the window reaches it. Recovery, a timeout and a mark set it before they
 * enter their state (tcp_enter_recovery, tcp_enter_loss, tcp_enter_cwr), so the change of state tells the reason.
 * A congestion control that sets it by itself does so while an ACK is handled; the next segment shows it.
 */
#include "kernel.h"

#include "starts.h"

#include "tuple.h"

char LICENSE[] SEC("license") = "GPL";

#define TCP_ESTABLISHED 1
/* net/ipv4/tcp_cubic.c */
#define HYSTART_MIN_SAMPLES 8
#define HYSTART_DELAY_MIN 4000u
#define HYSTART_DELAY_MAX 16000u

/* What is known of a connection. Freed with it, or with this program. */
struct start {
	__u64 opened_ns;
	__u64 number;
	__u8 before; /* it was open before anybody looked */
	__u8 free;   /* ssthresh has been seen infinite */
	__u8 ended;
	__u8 reserved[5];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct start);
} starts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} exits SEC(".maps");

struct ramp_start_counters counters SEC(".bss.counters");

static __always_inline __u64 number(void)
{
	return __sync_fetch_and_add(&counters.connections, 1) + 1;
}

/* ramp's own rows tell more of themselves. */
static __always_inline _Bool read_control(struct tcp_sock *tp, char (*control)[16])
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)tp;
	const char *name = *control;

	if (BPF_CORE_READ_STR_INTO(control, icsk, icsk_ca_ops, name) <= 0)
		return 0;
	return !(name[0] == 'r' && name[1] == 'a' && name[2] == 'm' && name[3] == 'p' && name[4] == '_');
}

static __always_inline void fill(struct tcp_sock *tp, const struct start *s,
				 struct ramp_start_record *e)
{
	/* Of the wider type, whose members the verifier knows. */
	struct sock *sk = (struct sock *)tp;
	__u32 interval_us = tp->rate_interval_us;

	e->time_ns = bpf_ktime_get_ns();
	e->opened_ns = s ? s->opened_ns : 0;
	e->number = s ? s->number : 0;
	e->flags = !s || s->before ? RAMP_START_BEFORE : 0;
	record_tuple(sk, &e->tuple);
	e->sent_bytes = tp->bytes_sent;
	e->acked_bytes = tp->bytes_acked;
	e->retransmitted_bytes = tp->bytes_retrans;
	e->mss_bytes = tp->mss_cache;
	e->delivery_bytes_per_s = interval_us ? (__u64)tp->rate_delivered * e->mss_bytes * 1000000 / interval_us : 0;
	e->pacing_bytes_per_s = sk->sk_pacing_status != SK_PACING_NONE ? sk->sk_pacing_rate : 0;
	e->cwnd_packets = tp->snd_cwnd;
	e->ssthresh_packets = tp->snd_ssthresh;
	e->in_flight_packets = tcp_packets_in_flight(tp);
	e->lost_packets = tp->lost;
	e->srtt_us = tp->srtt_us >> 3;
	e->min_rtt_us = tp->rtt_min.s[0].v;
	e->reserved = 0;
}

/*
 * What CUBIC's HyStart found. It keeps the round as it was then: once `found` is set it looks no more. The
 * delay test leaves the two sides of its comparison; where they do not show it, the ACK train it was.
 */
static __always_inline _Bool hystart(struct tcp_sock *tp, struct ramp_start_record *e)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)tp;
	struct bictcp *ca = (struct bictcp *)icsk->icsk_ca_priv;
	const char *name = e->control;
	__u32 smallest = 0, now = 0, bound;
	__u8 found = 0, samples = 0;

	if (name[0] != 'c' || name[1] != 'u' || name[2] != 'b' || name[3] != 'i' || name[4] != 'c' || name[5])
		return 0;
	if (!bpf_core_type_exists(struct bictcp))
		return 0;
	bpf_core_read(&found, sizeof(found), &ca->found);
	bpf_core_read(&smallest, sizeof(smallest), &ca->delay_min);
	bpf_core_read(&now, sizeof(now), &ca->curr_rtt);
	bpf_core_read(&samples, sizeof(samples), &ca->sample_cnt);
	if (!found)
		return 0;
	bound = smallest >> 3;
	if (bound < HYSTART_DELAY_MIN)
		bound = HYSTART_DELAY_MIN;
	if (bound > HYSTART_DELAY_MAX)
		bound = HYSTART_DELAY_MAX;
	bound += smallest;
	e->exit_reason = RAMP_EXIT_ACK_TRAIN;
	if (samples >= HYSTART_MIN_SAMPLES && now > bound) {
		e->exit_reason = RAMP_EXIT_DELAY;
		e->evidence = now;
		e->limit = bound;
	}
	return 1;
}

/* reason: RAMP_EXIT_NONE if the congestion control has set ssthresh by itself. */
static __always_inline void end(struct tcp_sock *tp, struct start *s, __u32 reason)
{
	struct ramp_start_record *e;

	s->ended = 1;
	e = bpf_ringbuf_reserve(&exits, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&counters.lost, 1);
		return;
	}
	__builtin_memset(e->control, 0, sizeof(e->control));
	if (!read_control(tp, &e->control)) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return;
	}
	fill(tp, s, e);
	e->evidence = 0;
	e->limit = 0;
	e->exit_reason = reason;
	if (reason == RAMP_EXIT_NONE && !hystart(tp, e)) {
		e->exit_reason = RAMP_EXIT_SSTHRESH;
		e->evidence = (__u64)e->cwnd_packets * e->mss_bytes;
		e->limit = (__u64)e->ssthresh_packets * e->mss_bytes;
	}
	__sync_fetch_and_add(&counters.exits, 1);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* Of a connection that sends, noticed now if not before. */
static __always_inline struct start *start_of(struct sock *sk, const struct tcp_sock *tp)
{
	struct start *s = bpf_sk_storage_get(&starts, sk, 0, 0);

	if (s || !tp->bytes_sent)
		return s;
	s = bpf_sk_storage_get(&starts, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (s) {
		s->opened_ns = bpf_ktime_get_ns();
		s->number = number();
		s->before = 1;
	}
	return s;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(starts_open, struct sock *sk, int old, int new)
{
	struct start *s;

	if (new != TCP_ESTABLISHED || !bpf_skc_to_tcp_sock(sk))
		return 0;
	s = bpf_sk_storage_get(&starts, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (s) {
		s->opened_ns = bpf_ktime_get_ns();
		s->number = number();
	}
	return 0;
}

/* A segment has come; the one before it has been handled. */
SEC("tp_btf/tcp_probe")
int BPF_PROG(starts_segment, struct sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct start *s;

	if (!tp || !tp->bytes_sent)
		return 0;
	s = start_of(sk, tp);
	if (!s)
		return 0;
	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH) {
		s->free = 1;
		s->ended = 0; /* a loss that was none has been undone */
	} else if (s->ended) {
		return 0;
	} else if (s->free) {
		end(tp, s, RAMP_EXIT_NONE);
	} else if (s->before) {
		s->ended = 1; /* before anybody looked */
	} else if (tp->snd_cwnd >= tp->snd_ssthresh) {
		end(tp, s, RAMP_EXIT_NONE);
	}
	return 0;
}

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(starts_trouble, struct sock *sk, __u8 state)
{
	struct tcp_sock *tp;
	struct start *s;
	__u32 reason = RAMP_EXIT_LOSS;

	if (state < TCP_CA_CWR)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	/* Who keeps no ssthresh, such as BBR, leaves start-up otherwise. */
	if (!tp || tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		return 0;
	s = start_of(sk, tp);
	if (!s || s->ended)
		return 0;
	if (s->before && !s->free) {
		s->ended = 1;
		return 0;
	}
	if (state == TCP_CA_Loss)
		reason = RAMP_EXIT_TIMEOUT;
	else if (state == TCP_CA_CWR && tp->delivered_ce)
		reason = RAMP_EXIT_ECN;
	end(tp, s, reason);
	return 0;
}

/* The connections in start-up of the reader's network namespace. */
SEC("iter/tcp")
int starts_table(struct bpf_iter__tcp *context)
{
	struct sock_common *common = context->sk_common;
	struct tcp_sock *tp = common ? bpf_skc_to_tcp_sock(common) : 0;
	struct ramp_start_record row = {};

	if (!tp || !tp->bytes_sent || tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		return 0;
	if (!read_control(tp, &row.control))
		return 0;
	fill(tp, bpf_sk_storage_get(&starts, tp, 0, 0), &row);
	bpf_seq_write(context->meta->seq, &row, sizeof(row));
	return 0;
}
