/* SPDX-License-Identifier: GPL-2.0-only */
/* What is kept for a connection: its state in socket storage, marks besides CUBIC's. */
#ifndef RAMP_LINUX_FLOW_H
#define RAMP_LINUX_FLOW_H

/* How the window that was decided is used, as the kernel keeps it for the one in force. */
struct usage {
	__u64 window_bytes;
	__u64 in_flight_bytes;      /* before this ACK */
	__u64 acked_bytes;          /* cumulatively, by then */
	__u64 next_bytes;           /* snd_nxt, less the first sequence number, and at the ACK before: */
	__u64 last_bytes;
	__u64 until_bytes;          /* cwnd_usage_seq, less the same */
	__u64 most_out_bytes;       /* max_packets_out */
	__u64 most_in_flight_bytes; /* since the connection opened */
	__u32 mss_bytes;
	__u32 full;                 /* is_cwnd_limited */
};

struct flow { /* what every ACK needs lies together: state may be long, its beginning is busiest */
	struct ramp_decision decision;
	__u64 id;
	__u64 opened_ns;
	__u64 exited_ns;
	__u64 sent_base;             /* the kernel's counts when the flow was opened */
	__u64 acked_base;
	__u64 retransmitted_base;
	__u64 delivered_bytes;
	__u64 newest_acked_bytes;
	__u64 acked_bytes;           /* cumulatively */
	struct usage usage;
	__u64 ssthresh_bytes;  /* as last obeyed */
#if TRAITS & RAMP_NEEDS_HISTORY
	struct ramp_hint hint; /* here and not on the stack, which holds no more besides the rest */
	__u64 initial_window_bytes;
	__u32 told;      /* the connection began with what is remembered ... */
	__u32 congested; /* ... and met congestion before as much was delivered */
#endif
	__u32 cwnd_packets;          /* as last written to the kernel, to see who changed them since */
	__u32 ssthresh_packets;
	__u32 window_packets;        /* what the decision allows; cwnd_packets is less while pacing */
	__u32 lost_packets;          /* by the last event */
	__u32 lost_base;
	__u32 marked_packets;
	__u32 pacing_status;         /* the kernel's, while ours is in force */
	__u32 offered_segments;      /* data_segs_out when room was last shown that was due; 0: was not */
	__u32 timeout_told;
	__u32 first_window_packets;  /* the kernel's, before the core's first decision */
	__u32 bounded;
	__u32 left_packets;          /* the window that the algorithm left with; 0: judged already */
	__u32 events;
	__u32 exits;
	struct RAMP_ID state;
	struct ramp_decision before; /* the call under way; for records, and not on the stack either */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

#define MARK_OURS 1u     /* has storage */
#define MARK_STARTING 2u /* the core decides */
#define MARK_LEAVING 4u  /* it stopped with this ACK */
#define MARK_PACING 8u   /* packets leave one by one at the core's rate */
#define MARK_PLAIN 16u   /* the kernel's alone; without any mark it has not been looked at */
#define MARK_AT_ONCE 32u /* packets leave unspaced, whatever the kernel would do */
#define MARK_SHARE 64u   /* packets leave at the core's share of cwnd / RTT */
#define MARK_REPAIR 128u /* a repair is under way whose end is to be reported */
#define MARK_RESUMED 512u /* start-up has begun again with this ACK */
#define MARK_UNDONE 256u /* the kernel has restored a window that start-up does not take up again */

/*
 * The last word of the kernel's private area, which CUBIC leaves free and the kernel clears before
 * init. It spares every ACK after start-up the look into storage.
 */
#define MARK_WORD (ICSK_CA_PRIV_WORDS - 1)

static __always_inline __u64 marks(struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_priv[MARK_WORD];
}

static __always_inline void set_marks(struct sock *sk, __u64 marks)
{
	inet_csk(sk)->icsk_ca_priv[MARK_WORD] = marks;
}

static __always_inline struct flow *flow_of(struct sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, 0, 0);
}

static __always_inline _Bool with_cubic(void)
{
	return settings.avoidance == RAMP_CUBIC;
}

/* As if it had fired already: the kernel's HyStart leaves this connection alone. */
static __always_inline void disarm_hystart(struct sock *sk)
{
	if (with_cubic())
		((struct bictcp *)inet_csk(sk)->icsk_ca_priv)->found = 1;
}

/*
 * Whether CUBIC would do anything with this sample: with its HyStart off it only keeps the least
 * RTT, and that is seldom a new one.
 */
static __always_inline _Bool cubic_heeds(struct sock *sk, const struct ack_sample *sample)
{
	__u32 least = ((struct bictcp *)inet_csk(sk)->icsk_ca_priv)->delay_min;

	return !least || (__u32)sample->rtt_us < least;
}

static __always_inline void count(ramp_u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

#endif
