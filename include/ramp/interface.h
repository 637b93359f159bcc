/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The contract between a start-up algorithm and its host.
 *
 * The core decides; the host acts. Every quantity is an unsigned integer with its unit in its name.
 * Bytes are payload, and an MSS is the payload of a full packet. Times are of one clock that never
 * goes back; where it begins does not matter. Structures have no hidden padding, so that recorded
 * events compare byte by byte.
 *
 * The host owns the connection. Three calls, in this order:
 *   init      once, when the connection is established. State arrives zeroed; the whole decision
 *             is init's to write (ramp_begin in window.h does)
 *   on_ack    every ACK that newly acknowledges data, in order (SND.UNA) or not (SACK), while the
 *             phase is not RAMP_DONE, before the ACK is searched for losses
 *   on_event  every event of RAMP_EVENTS, in every phase
 *
 * After each the host obeys the decision, and keeps it for the next call:
 *   - send while nothing is in flight, or in flight + one MSS <= cwnd_bytes;
 *   - space packets, retransmissions too, as the pacing fields say, and in chirps as theirs do;
 *   - on a loss, a mark or a timeout, reduce from the flight size by its own rule, or, where the
 *     core has changed ssthresh_bytes in that call and start-up lasted or begins again, to that, but
 *     to no more than the window was;
 *   - after RAMP_DONE, run its own congestion avoidance from cwnd_bytes and ssthresh_bytes, and
 *     ignore what the core writes to either.
 *
 * A timer that expires again while what it sent again is still missing is reported once, unless
 * the host reduces again. RAMP_UNDONE gives both windows back as they were before the last reduction,
 * whatever the core writes then. Where the phase stays RAMP_DONE and there had been no threshold,
 * the window given back becomes it, for nothing would end the slow start.
 *
 * Recovery is the host's. While ACKs carry RAMP_RECOVERING the host ignores what the core writes to
 * cwnd_bytes. It reduces towards ssthresh_bytes, which the core may set on any ACK, and the window
 * ends there; RAMP_UNSET is no target and leaves the host's own. RAMP_RECOVERED says that it is
 * over, and so does RAMP_UNDONE, which no RAMP_RECOVERED follows: the core may then go on, since
 * the phase is its own throughout. After a timeout ACKs carry no RAMP_RECOVERING: the host repairs,
 * yet the core's window counts at once.
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
 * What is known of the path before the first packet: X(NAME, word, whose knowledge it is).
 */
#define RAMP_HINTS(X)                                                                      \
	X(NONE, "none", "none")                                                            \
	X(HISTORY, "history", "an earlier connection to the same place")                   \
	X(ROUTER, "router", "a rate that every router on the path has granted (RFC 4782)") \
	X(INTERFACE, "interface", "the rate of this host's own interface")                 \
	X(PATH, "path", "the path itself, which only a yardstick knows")

#define RAMP_ENUMERATOR_HINT_(NAME, word, meaning) RAMP_HINT_##NAME,
RAMP_ENUMERATE(HINT_, RAMP_HINTS)

struct ramp_hint {
	ramp_u64 window_bytes; /* what the path held; 0: unknown */
	ramp_u64 bytes_per_s;  /* what it delivered, or may deliver; 0: unknown */
	ramp_u32 rtt_us;       /* its smallest round-trip time then; 0: unknown */
	ramp_u32 age_s;        /* since it was seen */
	ramp_u32 source;       /* one of RAMP_HINTS */
	ramp_u32 reserved;
};

/* ramp_config.flags */
#define RAMP_DELAYED_ACKS 1u /* the receiver may acknowledge every second packet */

struct ramp_config {
	ramp_u32 mss_bytes;            /* payload of a full packet */
	ramp_u32 flags;                /* RAMP_DELAYED_ACKS or 0 */
	ramp_u64 initial_window_bytes; /* of the host's own rule; init may begin with another */
	ramp_u64 initial_ssthresh_bytes; /* RAMP_UNSET: none */
	ramp_u64 size_bytes;           /* written so far by the application; 0: unknown; RAMP_UNSET:
					  endless */
	ramp_u64 receive_window_bytes; /* flow control's, as first advertised; RAMP_UNSET: none */
	ramp_u64 now_ns;               /* on the clock of ramp_ack; 0: unknown */
	ramp_u32 abc_limit_packets;    /* growth per ACK, MSS (RFC 3465 L); 0: no limit */
	ramp_u32 handshake_rtt_us;     /* of the first packet and its answer; 0: no valid sample */
	ramp_u32 unpaced_packets;      /* of the connection's first, which the host cannot space */
	ramp_u32 tsval;                /* of the segment that came at now_ns and established the
					  connection; 0: none */
	struct ramp_hint hint;         /* knowledge of the path */
	ramp_u64 parameter[RAMP_PARAMETERS_MAX]; /* in the order of the algorithm's table; out of
						    range counts as the nearer end */
};

/* ramp_ack.flags */
#define RAMP_CWND_LIMITED 1u /* the window, not application or receiver, held the sender back */
#define RAMP_APP_LIMITED 2u  /* the newest acknowledged packet was sent with nothing more to send */
#define RAMP_ECE 4u          /* this ACK reports congestion marks */
#define RAMP_PACED 8u        /* the host spaces packets now, for itself or the core */
#define RAMP_RECOVERING 16u  /* fast recovery: the window is the host's own for now */
#define RAMP_RATE_APP_LIMITED 32u /* the rate sample holds pauses of the application */

/*
 * One acknowledgement, as the sender saw it. Its newest packet is, of those that it newly
 * acknowledges, the one sent last. sent_bytes counts along the order in which packets left, so that
 * newest_acked_bytes > an earlier sent_bytes means: something sent after that moment has arrived.
 */
struct ramp_ack {
	ramp_u64 now_ns;               /* when this ACK came */
	ramp_u64 newest_sent_ns;       /* when its newest packet left; 0: unknown */
	ramp_u64 sent_bytes;           /* ever sent, retransmissions included */
	ramp_u64 newest_acked_bytes;   /* what sent_bytes was just after its newest packet had left */
	ramp_u64 delivered_bytes;      /* ever acknowledged, each byte once, this ACK included */
	ramp_u64 acked_bytes;          /* newly acknowledged by this ACK */
	ramp_u64 in_flight_bytes;      /* neither acknowledged nor believed lost, before this ACK */
	ramp_u64 lost_bytes;           /* ever believed lost, rightly or not, before this ACK */
	ramp_u64 receive_window_bytes; /* flow control's, from the first byte that is not
					  acknowledged; RAMP_UNSET: none */
	ramp_u64 delivery_bytes_per_s; /* the host's rate sample; 0: none (RAMP_READS_RATE) */
	ramp_u64 pacing_bytes_per_s;   /* at which the host spaces, or would; 0: none */
	ramp_u32 rtt_us;               /* of its newest packet, the receiver's delay included; 0: no
					  valid sample */
	ramp_u32 mss_bytes;            /* as it is now */
	ramp_u32 flags;                /* RAMP_CWND_LIMITED to RAMP_RATE_APP_LIMITED, added up */
	ramp_u32 tsval;                /* the receiver's clock, in its own ticks, when it sent this ACK
					  (RFC 7323); 0: unknown */
};

/*
 * ramp_event.kind: X(NAME, word, when it is reported). All but RAMP_RECOVERED are reported before the
 * host changes the windows for them. In QUIC, TIMEOUT is persistent congestion (RFC 9002 §7.6), not a
 * probe timeout, and a recovery period ends with RECOVERED.
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
	ramp_u64 now_ns;          /* when it happened */
	ramp_u64 lost_bytes;      /* found lost by this event; 0: none, or not known yet */
	ramp_u64 in_flight_bytes; /* just before it: not acknowledged, those lost included */
	ramp_u32 kind;            /* one of RAMP_EVENTS */
	ramp_u32 mss_bytes;       /* as it is now */
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
 * ramp_decision.exit_reason: X(NAME, word, unit of evidence and limit, what limit is, comparison,
 * clause).
 * Evidence and limit are the two sides of the deciding comparison. In words the comparison is as
 * given, {evidence} and {limit} filled in; the clause says the same of "it", without numbers. What
 * stands in brackets is left out where limit is 0.
 *
 * Where limit is an "estimate" and no "bound", evidence is by how much it may be off; {share} is
 * evidence over limit, "+- 6 %". At an exit by congestion evidence is what was lost, and limit what
 * had been proved by then that the path holds; 0: nothing, or the algorithm proves nothing.
 */
#define RAMP_EXITS(X)                                                                              \
	X(NONE, "never-left", "", "bound", "the run ended", "the run ended")                       \
	X(SSTHRESH, "ssthresh", "bytes", "bound",                                                  \
	  "the window of {evidence} reached ssthresh of {limit}",                                  \
	  "its window reached ssthresh")                                                           \
	X(ACK_TRAIN, "ack-train", "us", "bound",                                                   \
	  "the ACK train lasted {evidence} against a bound of {limit}",                            \
	  "its ACK train lasted as long as half the RTT (the HyStart limit)")                      \
	X(DELAY, "delay", "us", "bound",                                                           \
	  "the round-trip time rose to {evidence} against a bound of {limit}",                     \
	  "its delay test saw the round-trip time rise")                                           \
	X(GAP, "gap", "ns", "bound",                                                               \
	  "packets sent {limit} apart came back {evidence} apart",                                 \
	  "its packet trains had shown the path's gap")                                            \
	X(BANDWIDTH, "bandwidth", "bytes", "bound",                                                \
	  "the window of {evidence} reached measured rate times round-trip time, {limit}",         \
	  "its window reached the rate it had measured")                                           \
	X(LOSS, "loss", "bytes", "bound", "packets were lost[, with a BDP of {limit} proved]",     \
	  "it lost packets")                                                                       \
	X(ECN, "ecn", "bytes", "bound", "the path marked packets[, with a BDP of {limit} proved]", \
	  "the path marked its packets")                                                           \
	X(TIMEOUT, "timeout", "bytes", "bound",                                                    \
	  "the retransmission timer expired[, with a BDP of {limit} proved]",                      \
	  "its retransmission timer expired")                                                      \
	X(KNOWN, "known", "bytes", "bound", "the window reached the path's BDP, {limit}",          \
	  "it knows the path")                                                                     \
	X(DELIVERY, "delivery", "bytes", "bound",                                                  \
	  "only {evidence} arrived in a window, against a bound of {limit}",                       \
	  "what arrived no longer kept up with what it sent")                                      \
	X(PLATEAU, "plateau", "bytes/s", "bound",                                                  \
	  "the delivery rate of {evidence} fell short of {limit}, which would be growth",          \
	  "its delivery rate had stopped growing")                                                 \
	X(PROOF, "clear-proof", "bytes", "estimate",                                               \
	  "a flight clearly proved a BDP of {limit} {share}, and the path was filled",             \
	  "one of its flights had clearly proved what the path holds")                             \
	X(SHARE, "slowed-trial", "bytes", "estimate",                                              \
	  "a trial came back slowed: a BDP of {limit} {share} is left next to other flows",        \
	  "its trial came back slowed by other flows")

#define RAMP_ENUMERATOR_EXIT_(NAME, word, unit, limit, comparison, clause) RAMP_EXIT_##NAME,
RAMP_ENUMERATE(EXIT_, RAMP_EXITS)

/*
 * How packets are spaced. pacing_bytes_per_s is one of three:
 *   RAMP_AS_HOST_LIKES  pacing_percent of cwnd / smoothed RTT. 0: as without the core
 *   RAMP_BACK_TO_BACK   not at all, whatever the host does for others
 *   a rate              a packet at a time, or as many as pacing_burst_bytes holds; but not at
 *                       all until sent_bytes is burst_until_bytes
 * Chirps, for rows with RAMP_NEEDS_GAPS: while chirp_packets is not 0, packets leave in chirps, one
 * after the other, from the connection's first packet on. pacing_bytes_per_s is then their mean rate,
 * and no other pacing field counts. A chirp begins when the window allows a packet, with the fields
 * as they are then, and keeps them; having begun it leaves whole, whatever the window. So a core
 * that counts sent_bytes knows where each chirp begins and ends in the stream.
 *
 * With RAMP_DONE the core sets all but pacing_percent back to 0 (ramp_leave does), which therefore
 * is the only one in force after start-up. A host may space packets of a share in batches of about
 * a millisecond, as it does its own.
 */
#define RAMP_AS_HOST_LIKES ((ramp_u64)0)
#define RAMP_BACK_TO_BACK RAMP_UNSET

struct ramp_decision { /* updated by every call; between calls the host may write the first two */
	ramp_u64 cwnd_bytes;         /* congestion window */
	ramp_u64 ssthresh_bytes;     /* RAMP_UNSET until it is set */
	ramp_u64 pacing_bytes_per_s; /* RAMP_AS_HOST_LIKES, RAMP_BACK_TO_BACK or a rate */
	ramp_u64 burst_until_bytes;  /* 0: no burst */
	ramp_u64 evidence;           /* for the exit, in its unit (RAMP_EXITS); from RAMP_LEAVING on */
	ramp_u64 limit;              /* the other side of that comparison */
	ramp_u32 pacing_burst_bytes; /* 0: a packet */
	ramp_u32 pacing_percent;     /* of cwnd / smoothed RTT; 0: as without the core */
	ramp_u32 chirp_packets;      /* 0: no chirps */
	ramp_u32 chirp_gap_ns;       /* after a chirp's first packet */
	ramp_u32 chirp_step_ns;      /* by which each further gap is shorter */
	ramp_u32 chirp_pause_ns;     /* after its last packet */
	ramp_u32 phase;              /* one of RAMP_PHASES */
	ramp_u32 exit_reason;        /* RAMP_EXIT_NONE before RAMP_LEAVING */
};

#endif
