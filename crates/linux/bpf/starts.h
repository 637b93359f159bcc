/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What starts.bpf.c tells of the start-ups of the kernel's own congestion controls. src/starts.rs
 * mirrors every field; no structure has hidden padding.
 */
#ifndef RAMP_LINUX_STARTS_H
#define RAMP_LINUX_STARTS_H

#include "events.h"

/* ramp_start_record.flags */
#define RAMP_START_BEFORE 1u /* it was open before anybody looked: opened_ns is when that was */

struct ramp_start_record {
	ramp_u64 time_ns;
	ramp_u64 opened_ns;
	ramp_u64 number; /* of the connection, from 1; 0: it has sent nothing since anybody looked */
	struct ramp_tuple tuple;
	ramp_u64 sent_bytes;
	ramp_u64 acked_bytes;
	ramp_u64 retransmitted_bytes;
	ramp_u64 delivery_bytes_per_s; /* the last rate sample; 0: none */
	ramp_u64 pacing_bytes_per_s;   /* 0: it does not pace */
	ramp_u64 evidence;             /* as RAMP_EXITS; 0 with a limit of 0: not known from outside */
	ramp_u64 limit;
	ramp_u32 exit_reason; /* of RAMP_EXITS */
	ramp_u32 flags;
	ramp_u32 cwnd_packets;
	ramp_u32 ssthresh_packets;
	ramp_u32 in_flight_packets;
	ramp_u32 lost_packets;
	ramp_u32 srtt_us;
	ramp_u32 min_rtt_us;
	ramp_u32 mss_bytes;
	ramp_u32 reserved;
	char control[16];
};

struct ramp_start_counters {
	ramp_u64 connections; /* numbered */
	ramp_u64 exits;       /* reported */
	ramp_u64 lost; /* exits that found no room */
};

#endif
