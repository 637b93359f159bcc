/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The contract between a start-up algorithm and its host.
 *
 * The core decides; the host acts. Every quantity is an unsigned integer with its unit in its name.
 * Structures have no hidden padding, so that recorded events compare byte by byte.
 *
 * The host owns the connection. It calls on_ack for every ACK that advances SND.UNA or SACKs new
 * data while the phase is not RAMP_DONE, and on_congestion for every congestion event. It then
 * obeys the decision:
 *   - send while in flight + one MSS <= cwnd_bytes;
 *   - space packets at pacing_bytes_per_s (payload bytes), or as it likes if that is 0;
 *   - on loss, reduce from the flight size by its own rule, unless the core itself has set
 *     ssthresh_bytes;
 *   - after RAMP_DONE, run its own congestion avoidance from cwnd_bytes and ssthresh_bytes.
 *
 * Invariant: after RAMP_DONE the core changes nothing, except that RAMP_RTO may re-arm a detector
 * whose source says so (phase back to RAMP_STARTUP), and that RAMP_SPURIOUS takes back an exit by
 * congestion that no other congestion has followed (phase back to what it was).
 */
#ifndef RAMP_INTERFACE_H
#define RAMP_INTERFACE_H

#include "platform.h"

#define RAMP_UNSET (~(ramp_u64)0)
#define RAMP_PARAMETERS_MAX 24

/* ramp_config.flags */
#define RAMP_DELAYED_ACKS 1u /* the receiver may acknowledge every second packet */

struct ramp_config {
	ramp_u32 mss_bytes;
	ramp_u32 flags;
	ramp_u64 initial_window_bytes;
	ramp_u64 initial_ssthresh_bytes; /* RAMP_UNSET: none */
	ramp_u32 abc_limit_packets;      /* growth per ACK, MSS (RFC 3465 L); 0: no limit */
	ramp_u32 reserved;
	ramp_u64 path_bdp_bytes;         /* payload bytes; 0: unknown. Only `ideal` may read it */
	ramp_u64 path_bytes_per_s;       /* payload bytes; 0: unknown. Only `ideal` may read it */
	ramp_u64 parameter[RAMP_PARAMETERS_MAX]; /* in the order of the algorithm's table */
};

/* ramp_ack.flags */
#define RAMP_CWND_LIMITED 1u /* the window, not application or receiver, held the sender back */
#define RAMP_APP_LIMITED 2u  /* the newest acknowledged packet was sent with nothing more to send */
#define RAMP_ECE 4u          /* this ACK reports congestion marks */
#define RAMP_PACED 8u        /* the host paces now, for itself or the core: ACK trains are spread */

struct ramp_ack {                       /* one acknowledgement, as the sender saw it */
	ramp_u64 now_ns;
	ramp_u64 newest_sent_ns;        /* when the newest acknowledged packet left; 0: unknown */
	ramp_u64 sent_bytes;            /* ever sent, retransmissions included */
	ramp_u64 newest_acked_bytes;    /* sent_bytes just after the newest acked packet left */
	ramp_u64 delivered_bytes;       /* ever delivered, this ACK included */
	ramp_u64 acked_bytes;           /* newly delivered by this ACK */
	ramp_u64 in_flight_bytes;       /* just before this ACK */
	ramp_u64 delivery_bytes_per_s;  /* the host's rate sample; 0: none */
	ramp_u64 pacing_bytes_per_s;    /* the host's nominal rate, paced or not; 0: none */
	ramp_u32 rtt_us;                /* 0: this ACK carries no valid sample */
	ramp_u32 mss_bytes;
	ramp_u32 flags;
	ramp_u32 reserved;
};

/* ramp_congestion.kind */
#define RAMP_LOSS 0u     /* three duplicate ACKs, SACK, RACK: entry into fast recovery */
#define RAMP_CE_MARK 1u
#define RAMP_RTO 2u
#define RAMP_SPURIOUS 3u /* the last reduction was undone; the host restores the windows */

struct ramp_congestion {
	ramp_u64 now_ns;
	ramp_u64 lost_bytes;      /* found lost by this event */
	ramp_u64 in_flight_bytes; /* just before this event: outstanding less SACKed */
	ramp_u32 kind;
	ramp_u32 mss_bytes;
};

/* ramp_decision.phase */
#define RAMP_STARTUP 0u
#define RAMP_CONSERVATIVE 1u /* still start-up, slower: CSS, Enhanced Start's linear steps */
#define RAMP_FILLING 2u      /* exit decided, the last paced train is leaving */
#define RAMP_DONE 3u

/*
 * ramp_decision.exit_reason; evidence and limit, the two sides of the deciding comparison, in its
 * unit
 */
#define RAMP_EXIT_NONE 0u
#define RAMP_EXIT_SSTHRESH 1u      /* cwnd [bytes] reached ssthresh [bytes] */
#define RAMP_EXIT_ACK_TRAIN 2u     /* train length [us] against its threshold [us] */
#define RAMP_EXIT_DELAY 3u         /* RTT [us] against its threshold [us] */
#define RAMP_EXIT_GAP 4u           /* ACK gap [ns] against source gap [ns] */
#define RAMP_EXIT_BANDWIDTH 5u     /* cwnd [bytes] reached rate x RTT [bytes] */
#define RAMP_EXIT_LOSS 6u          /* lost [bytes] against 0 */
#define RAMP_EXIT_ECN 7u           /* 0 against 0 */
#define RAMP_EXIT_RTO 8u           /* lost [bytes] against 0 */
#define RAMP_EXIT_KNOWN 9u         /* the path was known: cwnd [bytes] against its BDP [bytes] */

struct ramp_decision { /* updated by every call; the host may write cwnd and ssthresh */
	ramp_u64 cwnd_bytes;
	ramp_u64 ssthresh_bytes;        /* RAMP_UNSET until somebody sets it */
	ramp_u64 pacing_bytes_per_s;    /* payload bytes; 0: the host paces as it likes */
	ramp_u64 evidence;
	ramp_u64 limit;
	ramp_u32 phase;
	ramp_u32 exit_reason;
};

#endif
