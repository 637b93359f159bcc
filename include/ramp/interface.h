/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The contract between a start-up algorithm and its host.
 *
 * The core decides; the host acts. Every quantity is an unsigned integer with its unit in its name.
 * Bytes are payload. Structures have no hidden padding, so that recorded events compare byte by
 * byte.
 *
 * The host owns the connection. Three calls, in this order:
 *   init      once, when the connection is established. State arrives zeroed.
 *   on_ack    every ACK that advances SND.UNA or SACKs new data while the phase is not RAMP_DONE,
 *             before the ACK is searched for losses
 *   on_event  every event of RAMP_EVENTS, in every phase
 *
 * After each the host obeys the decision:
 *   - send while in flight + one MSS <= cwnd_bytes;
 *   - space packets as the four pacing fields say;
 *   - on a loss, a mark or a timeout, reduce from the flight size by its own rule, unless the core
 *     has set ssthresh_bytes in that call;
 *   - after RAMP_DONE, run its own congestion avoidance from cwnd_bytes and ssthresh_bytes.
 *
 * Recovery is the host's. While ACKs carry RAMP_RECOVERING the host ignores what the core writes to
 * cwnd_bytes. It reduces towards ssthresh_bytes, which the core may set on any ACK, and the window
 * ends there; RAMP_UNSET is no target and leaves the host's own. RAMP_RECOVERED says that it is
 * over: the core may then write both and go on, since the phase is its own throughout.
 *
 * Invariant: after RAMP_DONE the core changes nothing, except that RAMP_TIMEOUT may re-arm a
 * detector whose source says so (RAMP_REARMS; phase back to RAMP_STARTUP), and that RAMP_UNDONE
 * takes back an exit by congestion that no other congestion has followed (phase back to what it
 * was).
 */
#ifndef RAMP_INTERFACE_H
#define RAMP_INTERFACE_H

#include "platform.h"

/* The version of this contract; an algorithm says which it is written for (window.h). */
#define RAMP_CONTRACT 2

#define RAMP_UNSET (~(ramp_u64)0)
#define RAMP_PARAMETERS_MAX 24

/* Each list below is the only one: enumerations in C and Rust and all words come from it. */
#define RAMP_ENUMERATE(prefix, X) enum { X(RAMP_ENUMERATOR_##prefix) RAMP_##prefix##COUNT };

/*
 * What somebody knows of the path before the first packet: X(NAME, word, whose knowledge it is).
 */
#define RAMP_HINTS(X)                                                                      \
	X(NONE, "none", "nobody's")                                                        \
	X(HISTORY, "history", "an earlier connection to the same place")                   \
	X(ROUTER, "router", "a rate that every router on the path has granted (RFC 4782)") \
	X(INTERFACE, "interface", "the rate of this host's own interface")                 \
	X(PATH, "path", "the path itself, told to a yardstick alone")

#define RAMP_ENUMERATOR_HINT_(NAME, word, meaning) RAMP_HINT_##NAME,
RAMP_ENUMERATE(HINT_, RAMP_HINTS)

struct ramp_hint {
	ramp_u64 window_bytes; /* what the path held; 0: unknown */
	ramp_u64 bytes_per_s;  /* what it delivered, or may; 0: unknown */
	ramp_u32 rtt_us;       /* its smallest round-trip time then; 0: unknown */
	ramp_u32 age_s;        /* since it was seen */
	ramp_u32 source;       /* one of RAMP_HINTS */
	ramp_u32 reserved;
};

/* ramp_config.flags */
#define RAMP_DELAYED_ACKS 1u /* the receiver may acknowledge every second packet */

struct ramp_config {
	ramp_u32 mss_bytes;
	ramp_u32 flags;
	ramp_u64 initial_window_bytes;
	ramp_u64 initial_ssthresh_bytes; /* RAMP_UNSET: none */
	ramp_u64 size_bytes;           /* offered so far to send; 0: unknown; RAMP_UNSET: endless */
	ramp_u64 receive_window_bytes; /* as first advertised; RAMP_UNSET: never in the way */
	ramp_u32 abc_limit_packets;    /* growth per ACK, MSS (RFC 3465 L); 0: no limit */
	ramp_u32 handshake_rtt_us;     /* of the SYN and its answer; 0: no valid sample */
	ramp_u32 unpaced_packets;      /* the connection's first so many leave unspaced always */
	ramp_u32 reserved;
	struct ramp_hint hint;
	ramp_u64 parameter[RAMP_PARAMETERS_MAX]; /* in the order of the algorithm's table */
};

/* ramp_ack.flags */
#define RAMP_CWND_LIMITED 1u /* the window, not application or receiver, held the sender back */
#define RAMP_APP_LIMITED 2u  /* the newest acknowledged packet was sent with nothing more to send */
#define RAMP_ECE 4u          /* this ACK reports congestion marks */
#define RAMP_PACED 8u        /* the host paces now, for itself or the core: ACK trains are spread */
#define RAMP_RECOVERING 16u  /* the host repairs a loss: the window is its own for now */
#define RAMP_RATE_APP_LIMITED 32u /* the rate sample holds pauses of the application */

struct ramp_ack {                       /* one acknowledgement, as the sender saw it */
	ramp_u64 now_ns;
	ramp_u64 newest_sent_ns;        /* when the newest acknowledged packet left; 0: unknown */
	ramp_u64 sent_bytes;            /* ever sent, retransmissions included */
	ramp_u64 newest_acked_bytes;    /* sent_bytes just after the newest acked packet left */
	ramp_u64 delivered_bytes;       /* ever delivered, this ACK included */
	ramp_u64 acked_bytes;           /* newly delivered by this ACK */
	ramp_u64 in_flight_bytes;       /* just before this ACK */
	ramp_u64 lost_bytes;            /* ever believed lost, by what was known before this ACK */
	ramp_u64 receive_window_bytes;  /* from SND.UNA, as last advertised; RAMP_UNSET: no limit */
	ramp_u64 delivery_bytes_per_s;  /* the host's rate sample; 0: none (RAMP_READS_RATE) */
	ramp_u64 pacing_bytes_per_s;    /* the host's nominal rate, paced or not; 0: none */
	ramp_u32 rtt_us;                /* 0: this ACK carries no valid sample */
	ramp_u32 mss_bytes;
	ramp_u32 flags;
	ramp_u32 reserved;
};

/*
 * ramp_event.kind: X(NAME, word, when it is told). All but RAMP_RECOVERED are told before the host
 * changes the windows for them.
 */
#define RAMP_EVENTS(X)                                                                        \
	X(LOSS, "loss", "entry into fast recovery: three duplicate ACKs, SACK, RACK")         \
	X(MARK, "mark", "a congestion mark that the host answers by a reduction")             \
	X(TIMEOUT, "timeout", "the retransmission timer expired")                             \
	X(UNDONE, "undone", "the last reduction was needless; the host restores the windows") \
	X(RECOVERED, "recovered", "the repair after a loss, a mark or a timeout is over")     \
	X(IDLE_RESTART, "idle-restart", "the host cuts the window after a pause (RFC 5681 §4.1)")

#define RAMP_ENUMERATOR_EVENT_(NAME, word, meaning) RAMP_##NAME,
RAMP_ENUMERATE(EVENT_, RAMP_EVENTS)

struct ramp_event {
	ramp_u64 now_ns;
	ramp_u64 lost_bytes;      /* found lost by this event */
	ramp_u64 in_flight_bytes; /* just before this event: outstanding less SACKed */
	ramp_u32 kind;
	ramp_u32 mss_bytes;
};

/* ramp_decision.phase: X(NAME, word, meaning) */
#define RAMP_PHASES(X)                                                                             \
	X(STARTUP, "startup", "growing")                                                           \
	X(CONSERVATIVE, "conservative", "growing, but slower: CSS, Enhanced Start's steps")        \
	X(LEAVING, "leaving", "exit decided, its last step under way: a fill, a drain, a landing") \
	X(DONE, "done", "over")

#define RAMP_ENUMERATOR_PHASE_(NAME, word, meaning) RAMP_##NAME,
RAMP_ENUMERATE(PHASE_, RAMP_PHASES)

/*
 * ramp_decision.exit_reason: X(NAME, word, unit of evidence and limit, comparison, clause).
 * Evidence and limit are the two sides of the deciding comparison. In words the comparison is as
 * given, {evidence} and {limit} filled in; the clause says the same of "it", without numbers.
 */
#define RAMP_EXITS(X)                                                                      \
	X(NONE, "never-left", "", "the run ended", "the run ended")                        \
	X(SSTHRESH, "ssthresh", "bytes",                                                   \
	  "the window of {evidence} reached ssthresh of {limit}",                          \
	  "its window reached ssthresh")                                                   \
	X(ACK_TRAIN, "ack-train", "us",                                                    \
	  "the ACK train lasted {evidence} against a bound of {limit}",                    \
	  "its ACK train lasted as long as half the RTT (the HyStart limit)")              \
	X(DELAY, "delay", "us",                                                            \
	  "the round-trip time rose to {evidence} against a bound of {limit}",             \
	  "its delay test saw the round-trip time rise")                                   \
	X(GAP, "gap", "ns",                                                                \
	  "packets sent {limit} apart came back {evidence} apart",                         \
	  "its packet trains underestimated the rate")                                     \
	X(BANDWIDTH, "bandwidth", "bytes",                                                 \
	  "the window of {evidence} reached measured rate times round-trip time, {limit}", \
	  "its window reached the rate it had measured")                                   \
	X(LOSS, "loss", "bytes", "packets were lost", "it lost packets")                   \
	X(ECN, "ecn", "", "the path marked packets", "the path marked its packets")        \
	X(TIMEOUT, "timeout", "bytes", "the retransmission timer expired",                 \
	  "its retransmission timer expired")                                              \
	X(KNOWN, "known", "bytes", "the window reached the path's BDP, {limit}",           \
	  "it knows the path")

#define RAMP_ENUMERATOR_EXIT_(NAME, word, unit, comparison, clause) RAMP_EXIT_##NAME,
RAMP_ENUMERATE(EXIT_, RAMP_EXITS)

/* ramp_decision.pacing_bytes_per_s */
#define RAMP_AS_HOST_LIKES ((ramp_u64)0)
#define RAMP_BACK_TO_BACK RAMP_UNSET /* unspaced, whatever the host does for others */

struct ramp_decision { /* updated by every call; the host may write cwnd and ssthresh */
	ramp_u64 cwnd_bytes;
	ramp_u64 ssthresh_bytes;       /* RAMP_UNSET until somebody sets it */
	ramp_u64 pacing_bytes_per_s;   /* one of the two above, or a rate; ends with start-up */
	ramp_u64 burst_until_bytes;    /* unspaced until sent_bytes is this, spaced from there on */
	ramp_u64 evidence;
	ramp_u64 limit;
	ramp_u32 pacing_burst_bytes;   /* with a rate: so much at once, and a pause; 0: a packet */
	ramp_u32 pacing_percent;       /* without: of cwnd / RTT, after RAMP_DONE too; 0: none */
	ramp_u32 phase;
	ramp_u32 exit_reason;
};

#endif
