/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the assigning program and its loader share. src/assign/ mirrors every field; no structure has
 * hidden padding.
 */
#ifndef RAMP_HOST_ASSIGN_H
#define RAMP_HOST_ASSIGN_H

#define ASSIGN_ARMS_MAX 8
/* Shares are out of this many. */
#define ASSIGN_WHOLE 10000

/* assign_settings.flags */
#define ASSIGN_ALL 1u    /* also connections whose application has chosen by itself */
#define ASSIGN_RECORD 2u /* an event for each connection's beginning and end */

/* bpf_sock_ops.reply, once one of these programs has given the connection its control */
#define ASSIGN_TAKEN 0x72616d70u

struct assign_arm {
	char name[16];     /* of the congestion control */
	ramp_u32 upto;     /* shares of this arm and those before it */
	ramp_u32 reserved;
};

struct assign_settings {
	struct assign_arm arms[ASSIGN_ARMS_MAX];
	ramp_u32 count;
	ramp_u32 flags;
};

struct assign_counters {
	ramp_u64 assigned[ASSIGN_ARMS_MAX];
	ramp_u64 refused[ASSIGN_ARMS_MAX]; /* the kernel would not have this control here */
	ramp_u64 chosen;                   /* left alone: the application's choice */
	ramp_u64 without_storage;          /* assigned, and no more known of them */
	ramp_u64 lost_events;
	ramp_u64 nested; /* left alone: a control group further inside had given it one */
};

/* assign_event.kind */
#define ASSIGN_EVENT_OPEN 1u
#define ASSIGN_EVENT_DONE 2u

/* assign_event_done.flags */
#define ASSIGN_PASSIVE 1u   /* the other end opened it */
#define ASSIGN_DELIVERED 2u /* all that was written has been acknowledged */

struct assign_event {
	ramp_u64 time_ns; /* CLOCK_MONOTONIC */
	ramp_u64 id;      /* the socket's cookie */
	ramp_u32 kind;
	ramp_u32 arm;
};

struct assign_event_done {
	struct assign_event event;
	struct ramp_tuple tuple;
	ramp_u64 opened_ns;    /* the handshake's end */
	ramp_u64 delivered_ns; /* the last ACK of anything new; 0: none */
	ramp_u64 startup_ns;   /* when slow start was seen to be over; 0: it was not */
	ramp_u64 startup_bytes; /* acknowledged by then */
	ramp_u64 sent_bytes;
	ramp_u64 acked_bytes;
	ramp_u64 retransmitted_bytes;
	ramp_u32 startup_cwnd_packets;
	ramp_u32 busy_jiffies; /* with data on its way; in two of these cases held up by others */
	ramp_u32 rwnd_jiffies;
	ramp_u32 sndbuf_jiffies;
	ramp_u32 lost_packets;
	ramp_u32 srtt_us;
	ramp_u32 min_rtt_us;
	ramp_u32 mss_bytes;
	ramp_u32 flags;
	ramp_u32 reserved;
};

#endif
