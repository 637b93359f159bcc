/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What anybody may look at while it happens, as often as they like and without taking it from others:
 * the connections in start-up, the last ends of start-ups, and how long start-ups last.
 */
#ifndef RAMP_LINUX_ONLOOKER_H
#define RAMP_LINUX_ONLOOKER_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RAMP_EXITS_KEPT);
	__type(key, __u32);
	__type(value, struct ramp_kept_exit);
} exits SEC(".maps");

static __always_inline void keep_exit(struct sock *sk, struct flow *f)
{
	__u64 number = __sync_fetch_and_add(&counters.logged, 1) + 1;
	__u32 slot = (number - 1) & (RAMP_EXITS_KEPT - 1);
	struct ramp_kept_exit *kept = bpf_map_lookup_elem(&exits, &slot);

	if (!kept)
		return;
	/* Atomic exchanges order what lies between them on every processor. */
	__sync_lock_test_and_set(&kept->begun, number);
	fill_flow(sk, f, &kept->flow);
	kept->flow.head.time_ns = f->exited_ns;
	kept->flow.head.flow = f->id;
	kept->flow.head.kind = RAMP_RECORD_EXIT;
	kept->flow.head.index = f->events;
	__sync_lock_test_and_set(&kept->ended, number);
}

static __always_inline void count_duration(__u64 duration_ns)
{
	__u64 us = duration_ns / NS_PER_US;
	__u32 i;

	for (i = 0; i < RAMP_DURATIONS - 1; i++)
		if (us <= 1000ull << i)
			break;
	__sync_fetch_and_add(&counters.startup_us, us);
	count(&counters.durations[i]);
}

static __always_inline void fill_row(struct tcp_sock *tp, const struct flow *f,
				     struct ramp_flow_row *row)
{
	struct sock *sk = (struct sock *)tp;
	__u32 interval_us = tp->rate_interval_us;

	row->time_ns = bpf_ktime_get_ns();
	row->flow = f->id;
	record_tuple(sk, &row->tuple);
	row->decision = f->decision;
	row->opened_ns = f->opened_ns;
	row->sent_bytes = tp->bytes_sent - f->sent_base;
	row->acked_bytes = tp->bytes_acked - f->acked_base;
	row->retransmitted_bytes = tp->bytes_retrans - f->retransmitted_base;
	row->mss_bytes = tp->mss_cache;
	if (interval_us)
		row->delivery_bytes_per_s =
			(__u64)tp->rate_delivered * row->mss_bytes * 1000000 / interval_us;
	if (sk->sk_pacing_status != SK_PACING_NONE)
		row->pacing_bytes_per_s = sk->sk_pacing_rate;
	row->cwnd_packets = tp->snd_cwnd;
	row->ssthresh_packets = tp->snd_ssthresh;
	row->in_flight_packets = tcp_packets_in_flight(tp);
	row->srtt_us = tp->srtt_us >> 3;
	row->min_rtt_us = tp->rtt_min.s[0].v;
}

#endif
