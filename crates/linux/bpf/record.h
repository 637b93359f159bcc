/* SPDX-License-Identifier: GPL-2.0-only */
/* Events to the ring buffer. One that finds no room is counted, never waited for. */
#ifndef RAMP_LINUX_RECORD_H
#define RAMP_LINUX_RECORD_H

#include "tuple.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} events SEC(".maps");

#define record_begin(f, event_kind, type)                                       \
	({                                                                      \
		struct type *e_ = bpf_ringbuf_reserve(&events, sizeof(*e_), 0); \
		__u32 index_ = (f)->events++;                                   \
                                                                                \
		if (e_) {                                                       \
			e_->head.time_ns = bpf_ktime_get_ns();                  \
			e_->head.flow = (f)->id;                                \
			e_->head.kind = event_kind;                             \
			e_->head.index = index_;                                \
		} else {                                                        \
			count(&counters.lost_events);                           \
		}                                                               \
		e_;                                                             \
	})

static __always_inline void record_open(struct sock *sk, struct flow *f,
					const struct ramp_config *config)
{
	struct ramp_record_open *e = record_begin(f, RAMP_RECORD_OPEN, ramp_record_open);

	if (!e)
		return;
	record_tuple(sk, &e->tuple);
	e->config = *config;
	e->decision = f->decision;
	bpf_ringbuf_submit(e, 0);
}

/* The reader wakes by itself: a wake-up per ACK would cost more than the decision. */
static __always_inline void record_ack(struct flow *f, const struct ramp_ack *ack)
{
	struct ramp_record_ack *e = record_begin(f, RAMP_RECORD_ACK, ramp_record_ack);

	if (!e)
		return;
	e->ack = *ack;
	e->before = f->before;
	e->after = f->decision;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

static __always_inline void record_event(struct flow *f, const struct ramp_event *event)
{
	struct ramp_record_event *e = record_begin(f, RAMP_RECORD_EVENT, ramp_record_event);

	if (!e)
		return;
	e->event = *event;
	e->before = f->before;
	e->after = f->decision;
	bpf_ringbuf_submit(e, 0);
}

static __always_inline void fill_flow(struct sock *sk, const struct flow *f,
				      struct ramp_record_flow *e)
{
	struct tcp_sock *tp = tcp_sk(sk);

	record_tuple(sk, &e->tuple);
	e->decision = f->decision;
	e->opened_ns = f->opened_ns;
	e->exited_ns = f->exited_ns;
	e->sent_bytes = tp->bytes_sent - f->sent_base;
	e->acked_bytes = tp->bytes_acked - f->acked_base;
	e->retransmitted_bytes = tp->bytes_retrans - f->retransmitted_base;
	e->lost_packets = tp->lost;
	e->cwnd_packets = tp->snd_cwnd;
	e->ssthresh_packets = tp->snd_ssthresh;
	e->srtt_us = tp->srtt_us >> 3;
	e->mss_bytes = tp->mss_cache;
	e->exits = f->exits;
}

static __always_inline void record_flow(struct sock *sk, struct flow *f, __u32 kind)
{
	struct ramp_record_flow *e = record_begin(f, kind, ramp_record_flow);

	if (!e)
		return;
	fill_flow(sk, f, e);
	bpf_ringbuf_submit(e, 0);
}

#endif
