/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs and the loader share: settings on the way in, events and counters on the
 * way out. src/event.rs and src/options.rs mirror every field; no structure has hidden padding.
 */
#ifndef RAMP_LINUX_EVENTS_H
#define RAMP_LINUX_EVENTS_H

#include <ramp/interface.h>

/* ramp_settings.record */
#define RAMP_RECORD_NOTHING 0u /* no one reads */
#define RAMP_RECORD_EXITS 1u   /* the end of every start-up */
#define RAMP_RECORD_FLOWS 2u   /* and the end of every connection */
#define RAMP_RECORD_ALL 3u     /* and every ACK and event of a start-up */

/* Start-ups by duration: up to 1 ms, 2 ms, 4 ms, ... 65.5 s, and longer. */
#define RAMP_DURATIONS 18u
/* Start-ups whose end can be looked up, a power of two. */
#define RAMP_EXITS_KEPT 256u

/* Room for the exit reasons, a power of two. */
#define RAMP_EXIT_SLOTS 32u
_Static_assert(RAMP_EXIT_COUNT <= RAMP_EXIT_SLOTS, "more exit reasons than slots for their counts");

/* ramp_settings.avoidance */
#define RAMP_CUBIC 0u
#define RAMP_RENO 1u

struct ramp_settings {
	struct ramp_config config;      /* what the connection knows of itself is filled in */
	ramp_u32 initial_window_packets; /* 0: the kernel's */
	ramp_u32 record;
	ramp_u32 avoidance;
	ramp_u32 from_first_ack; /* as if the kernel left out every init */
	ramp_u32 least_rtt_us;   /* of the handshake, for connections that are steered; 0: any */
	ramp_u32 window_bound;   /* times the most in flight, besides the first window; 0: none */
};

/* It only grows at its end: what older programs have counted is read by newer commands. */
struct ramp_counters {
	ramp_u64 opened;          /* connections */
	ramp_u64 closed;
	ramp_u64 without_storage; /* ran as plain CUBIC for want of memory */
	ramp_u64 late;            /* attached after their start-up: plain CUBIC from there */
	ramp_u64 left_out;        /* begun by their first ACK: the kernel had left out init */
	ramp_u64 lost_events;
	ramp_u64 exits[RAMP_EXIT_SLOTS]; /* by exit reason */
	ramp_u64 logged;          /* ends of start-ups, numbered from 0 */
	ramp_u64 startup_us;      /* all start-ups' durations */
	ramp_u64 durations[RAMP_DURATIONS];
	ramp_u64 short_rtt;       /* left to CUBIC: the handshake took less than settings.least_rtt_us */
	ramp_u64 bounded;         /* connections whose window settings.window_bound has held */
	ramp_u64 too_late;        /* start-ups that the algorithm ended, and yet losses came at once */
	ramp_u64 too_early;       /* and others, whose window then more than doubled without any */
};

/* ramp_record.kind */
#define RAMP_RECORD_OPEN 1u
#define RAMP_RECORD_ACK 2u
#define RAMP_RECORD_EVENT 3u
#define RAMP_RECORD_EXIT 4u
#define RAMP_RECORD_CLOSE 5u

struct ramp_record {
	ramp_u64 time_ns; /* CLOCK_MONOTONIC */
	ramp_u64 flow;    /* counts connections from 1 */
	ramp_u32 kind;
	ramp_u32 index;   /* counts the flow's records from 0, lost ones included */
};

struct ramp_tuple {
	ramp_u8 local[16]; /* IPv4 as ::ffff:a.b.c.d */
	ramp_u8 remote[16];
	ramp_u16 local_port;
	ramp_u16 remote_port;
	ramp_u32 reserved;
};

struct ramp_record_open {
	struct ramp_record head;
	struct ramp_tuple tuple;
	struct ramp_config config;
	struct ramp_decision decision;
};

struct ramp_record_ack {
	struct ramp_record head;
	struct ramp_ack ack;
	struct ramp_decision before; /* with what the kernel has changed since the last event */
	struct ramp_decision after;
};

struct ramp_record_event {
	struct ramp_record head;
	struct ramp_event event;
	struct ramp_decision before;
	struct ramp_decision after;
};

/* Of RAMP_RECORD_EXIT and RAMP_RECORD_CLOSE. */
struct ramp_record_flow {
	struct ramp_record head;
	struct ramp_tuple tuple;
	struct ramp_decision decision;
	ramp_u64 opened_ns;
	ramp_u64 exited_ns;         /* 0: still in start-up */
	ramp_u64 sent_bytes;
	ramp_u64 acked_bytes;
	ramp_u64 retransmitted_bytes;
	ramp_u32 lost_packets;
	ramp_u32 cwnd_packets;
	ramp_u32 ssthresh_packets;
	ramp_u32 srtt_us;
	ramp_u32 mss_bytes;
	ramp_u32 exits;             /* start-ups ended so far: a timeout may begin another */
};

/* An end of a start-up, kept for readers. Whole if both numbers are what was looked for. */
struct ramp_kept_exit {
	ramp_u64 begun; /* its number plus 1 */
	struct ramp_record_flow flow;
	ramp_u64 ended; /* likewise */
};

/* A connection in start-up, as the iterator shows it. */
struct ramp_flow_row {
	ramp_u64 time_ns;
	ramp_u64 flow;
	struct ramp_tuple tuple;
	struct ramp_decision decision;
	ramp_u64 opened_ns;
	ramp_u64 sent_bytes;
	ramp_u64 acked_bytes;
	ramp_u64 retransmitted_bytes;
	ramp_u64 delivery_bytes_per_s; /* the kernel's last rate sample; 0: none yet */
	ramp_u64 pacing_bytes_per_s;   /* 0: not paced */
	ramp_u32 cwnd_packets;
	ramp_u32 ssthresh_packets;
	ramp_u32 in_flight_packets;
	ramp_u32 srtt_us;
	ramp_u32 min_rtt_us;
	ramp_u32 mss_bytes;
};

#endif
