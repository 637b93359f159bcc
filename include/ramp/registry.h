/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One row per algorithm: id, NAME (prefix of its parameter table), traits, name, source, idea. Why
 * it leaves by its own rule. And the parameters that have another value somewhere than in their
 * algorithm's table.
 */
#ifndef RAMP_REGISTRY_H
#define RAMP_REGISTRY_H

#include "afstart.h"
#include "aron.h"
#include "astart.h"
#include "bbr.h"
#include "bbr3.h"
#include "bbr_quic.h"
#include "best.h"
#include "c4.h"
#include "capstart.h"
#include "careful.h"
#include "chirp.h"
#include "enhanced.h"
#include "esse.h"
#include "fast_start.h"
#include "hoe.h"
#include "hystart.h"
#include "hystart11.h"
#include "hystart_pq.h"
#include "hystartpp.h"
#include "ideal.h"
#include "inflight.h"
#include "jump.h"
#include "limited.h"
#include "paced.h"
#include "quickstart.h"
#include "quicly.h"
#include "rapid.h"
#include "reach.h"
#include "search.h"
#include "search4.h"
#include "slow_start.h"
#include "smooth.h"
#include "spread.h"
#include "stateful.h"
#include "stopeg.h"
#include "suss.h"
#include "swiftstart.h"
#include "traits.h"
#include "tris.h"
#include "vegas.h"
#include "vegas_lin.h"

#define RAMP_ALGORITHMS(X)                                                                         \
	X(slow_start, SLOW_START,                                                                  \
	  RAMP_DEFAULT | RAMP_PAPERS | RAMP_DEPLOYED | RAMP_STANDARD, "slow-start", "RFC 5681",    \
	  "double every round trip until ssthresh or loss")                                        \
	X(limited, LIMITED, RAMP_DEFAULT | RAMP_PAPERS | RAMP_DEPLOYED | RAMP_REARMS,              \
	  "limited-slow-start", "RFC 3742",                                                        \
	  "double up to 100 packets, then add at most 50 a round trip")                            \
	X(hystart11, HYSTART11, RAMP_DEFAULT | RAMP_PAPERS | RAMP_REARMS, "hystart-paper",         \
	  "[HR11] Algorithm 1",                                                                    \
	  "leave when an ACK train lasts half the minimum RTT, or a round's RTT rises")            \
	X(hystart, HYSTART,                                                                        \
	  RAMP_DEFAULT | RAMP_PAPERS | RAMP_DEPLOYED | RAMP_REARMS | RAMP_OF_CUBIC,                \
	  "hystart-linux", "Linux tcp_cubic.c",                                                    \
	  "as hystart11, with the rises measured from the connection's minimum RTT")               \
	X(hystartpp, HYSTARTPP, RAMP_DEFAULT | RAMP_MODERN | RAMP_DEPLOYED, "hystart++",           \
	  "RFC 9406",                                                                              \
	  "when a round's RTT rises grow a quarter as fast, and leave if it stays up five rounds") \
	X(paced, PACED, RAMP_DEFAULT | RAMP_PAPERS | RAMP_PACES, "paced-start", "[HS03]",          \
	  "search for the path's packet gap with paced trains, then open the window to RTT / gap") \
	X(astart, ASTART, RAMP_PAPERS, "adaptive-start", "[WPY04]",                                \
	  "raise ssthresh to an eligible rate times the RTT, double below it and creep at it")     \
	X(capstart, CAPSTART, RAMP_PAPERS | RAMP_NEEDS_INTERFACE, "capstart", "[CKTOG10]",         \
	  "limited slow start, but only where the path is slower than the interface")              \
	X(inflight, INFLIGHT, RAMP_PAPERS | RAMP_DEPLOYED, "inflight-limiter",                     \
	  "FreeBSD 7 tcp_subr.c",                                                                  \
	  "send no more than an average bandwidth times the RTT, and two segments")                \
	X(swiftstart, SWIFTSTART, RAMP_PAPERS | RAMP_PACES, "swift-start", "[PRAKS02]",            \
	  "pace half of the capacity that the first four packets show, then double")               \
	X(smooth, SMOOTH, RAMP_PAPERS, "smooth-start", "[WXRS00]",                                 \
	  "double up to half of ssthresh, then in smaller steps up to it")                         \
	X(quickstart, QUICKSTART, RAMP_PAPERS | RAMP_PACES | RAMP_NEEDS_ROUTER, "quick-start",     \
	  "RFC 4782",                                                                              \
	  "begin at a rate that every router on the path has granted")                             \
	X(best, BEST, RAMP_DEFAULT | RAMP_PAPERS | RAMP_MODERN, "best", "[AK23]",                  \
	  "end slow start at the median of a round's per-ACK bandwidths times the RTT")            \
	X(enhanced, ENHANCED, RAMP_DEFAULT | RAMP_PAPERS, "enhanced-start", "[LU]",                \
	  "halve the growth each time Vegas' backlog estimate crosses three packets")              \
	X(careful, CAREFUL, RAMP_MODERN | RAMP_PACES | RAMP_NEEDS_HISTORY, "careful-resume",       \
	  "RFC 9959",                                                                              \
	  "jump to half of the window that an earlier connection saw; retreat if that was lost")   \
	X(search, SEARCH, RAMP_MODERN | RAMP_REARMS, "search", "SEARCH 3.1 for Linux [SE25]",      \
	  "leave when a window brings clearly less than twice what it brought an RTT before")      \
	X(search4, SEARCH4, RAMP_MODERN | RAMP_READS_RATE | RAMP_REARMS, "search-4",               \
	  "SEARCH 4.0 for Linux and FreeBSD [SE25]",                                               \
	  "leave when a window brings clearly less than was sent an RTT before; drain the queue")  \
	X(hoe, HOE, RAMP_PAPERS, "hoe", "[HOE96]",                                                 \
	  "end slow start at the rate of the first pair of ACKs times the RTT")                    \
	X(vegas, VEGAS, RAMP_PAPERS | RAMP_REARMS | RAMP_JUDGES_ROUNDS, "vegas-start",             \
	  "[BP95], ns-2 tcp-vegas.cc",                                                             \
	  "double every other round trip until more than one packet is queued")                    \
	X(vegas_lin, VEGAS_LIN, RAMP_DEPLOYED | RAMP_REARMS | RAMP_JUDGES_ROUNDS,                  \
	  "vegas-start-linux",                                                                     \
	  "Linux tcp_vegas.c",                                                                     \
	  "double until a round's smallest RTT says that more than one packet is queued")          \
	X(bbr, BBR,                                                                                \
	  RAMP_MODERN | RAMP_DEPLOYED | RAMP_PACES | RAMP_READS_RATE | RAMP_OUTLASTS_LOSS |        \
		  RAMP_OF_BBR | RAMP_NEEDS_BRANCHES,                                               \
	  "bbr-startup", "Linux tcp_bbr.c",                                                        \
	  "pace at 2.9 times the delivery rate until three rounds add no quarter, then drain")     \
	X(bbr3, BBR3,                                                                              \
	  RAMP_MODERN | RAMP_DEPLOYED | RAMP_PACES | RAMP_READS_RATE | RAMP_OUTLASTS_LOSS |        \
		  RAMP_OF_BBR3 | RAMP_NEEDS_BRANCHES,                                              \
	  "bbr3-startup", "draft-ietf-ccwg-bbr-06",                                                \
	  "as bbr with twice the BDP as window, and out after a round that lost over 2 %")         \
	X(bbr_quic, BBR_QUIC,                                                                      \
	  RAMP_MODERN | RAMP_DEPLOYED | RAMP_PACES | RAMP_READS_RATE | RAMP_OUTLASTS_LOSS |        \
		  RAMP_NEEDS_BRANCHES,                                                             \
	  "bbr2-quic", "quiche bbr2_startup.cc [GQ]",                                              \
	  "as bbr with twice the BDP as window, and out after a round that grew little and lost")  \
	X(suss, SUSS, RAMP_MODERN | RAMP_PACES | RAMP_REARMS, "suss", "[SUSS24]",                  \
	  "quadruple, the second half paced, while HyStart would still double a round later")      \
	X(quicly, QUICLY, RAMP_MODERN | RAMP_DEPLOYED | RAMP_PACES | RAMP_NEEDS_HISTORY,           \
	  "quicly-jumpstart", "quicly cc.h, cc-pico.c",                                            \
	  "jump to an earlier connection's rate, or to 20 packets; then slow start from there")    \
	X(jump, JUMP, RAMP_PAPERS | RAMP_PACES, "jump-start", "[LAJW07]",                          \
	  "send all that the receiver takes in the first round trip, evenly spaced")               \
	X(fast_start, FAST_START, RAMP_PAPERS | RAMP_PACES | RAMP_NEEDS_HISTORY,                   \
	  "tcp-fast-start", "[PK98]",                                                              \
	  "begin with an earlier connection's window; a loss leads back to the initial one")       \
	X(stateful, STATEFUL, RAMP_PAPERS | RAMP_MODERN | RAMP_PACES | RAMP_NEEDS_HISTORY,         \
	  "stateful-tcp", "draft-lee-tcpm-stateful-tcp-00",                                        \
	  "begin with an earlier connection's rate times its RTT, paced at that rate")             \
	X(spread, SPREAD, RAMP_MODERN | RAMP_PACES, "initial-spreading",                           \
	  "draft-irtf-iccrg-sallantin-initial-spreading",                                          \
	  "slow start whose first window is spaced over one round trip")                           \
	X(aron, ARON, RAMP_PAPERS | RAMP_PACES, "aron-druschel", "[AD98], reconstructed",          \
	  "pace slow start, and end it at the median rate of packet pairs times the RTT")          \
	X(esse, ESSE, RAMP_PAPERS, "early-slow-start-exit", "[ESSE], reconstructed",               \
	  "end slow start at the rate of a flight's first ACKs times the RTT")                     \
	X(tris, TRIS, RAMP_PAPERS | RAMP_REARMS, "tri-s", "[WC91] in [BP95]",                      \
	  "leave when a larger window no longer buys throughput, and take the last doubling back") \
	X(stopeg, STOPEG, RAMP_PAPERS | RAMP_MODERN | RAMP_PACES, "stopeg",                        \
	  "[STOPEG], reconstructed",                                                               \
	  "leave when more than 60 % of what is in flight is on its way there")                    \
	X(rapid, RAPID, RAMP_MODERN | RAMP_DEPLOYED | RAMP_PACES, "rapid-start",                   \
	  "draft-kazuho-ccwg-rapid-start-02",                                                      \
	  "triple every round trip until a queue builds up, then double; land on what arrived")    \
	X(afstart, AFSTART, RAMP_PAPERS | RAMP_PACES | RAMP_NEEDS_BRANCHES, "afstart",             \
	  "[ZAWY12] on [MHM06], reconstructed",                                                    \
	  "search for the available bandwidth with paced streams, then climb to it in steps")      \
	X(chirp, CHIRP,                                                                            \
	  RAMP_MODERN | RAMP_PACES | RAMP_READS_RATE | RAMP_NEEDS_GAPS, "paced-chirping",          \
	  "[MB19] paced_chirping.c",                                                               \
	  "send packets at shrinking gaps, and load the path as far as their delay allows")        \
	X(hystart_pq, HYSTART_PQ,                                                                  \
	  RAMP_MODERN | RAMP_DEPLOYED | RAMP_READS_RATE | RAMP_OUTLASTS_LOSS |                     \
		  RAMP_NEEDS_BRANCHES,                                                             \
	  "hystart-picoquic", "picoquic cc_common.c [PQ]",                                         \
	  "leave when the least of seven RTTs is up by a quarter, with half of the window")        \
	X(c4, C4,                                                                                  \
	  RAMP_MODERN | RAMP_PACES | RAMP_READS_RATE | RAMP_OUTLASTS_LOSS | RAMP_NEEDS_BRANCHES,   \
	  "c4",                                                                                    \
	  "picoquic c4.c [PQ]",                                                                    \
	  "pace at twice the delivery rate, grow an eighth as fast when that adds no quarter")     \
	X(reach, REACH, RAMP_MODERN | RAMP_PACES | RAMP_EXPERIMENTAL, "reach", "ramp's own",       \
	  "open the window to a few times what came back, try what a flight proves, then fill")    \
	X(ideal, IDEAL, RAMP_PACES | RAMP_KNOWS_PATH, "ideal", "none",                             \
	  "knows the path: sends its bandwidth-delay product at once, paced at its rate")

/*
 * X(REASON, id): why a row leaves by its own rule. All leave at ssthresh, after a timeout and at
 * a mark, and all but those with RAMP_OUTLASTS_LOSS at a loss.
 */
#define RAMP_OWN_EXITS(X)         \
	X(ACK_TRAIN, "hystart11") \
	X(ACK_TRAIN, "hystart")   \
	X(ACK_TRAIN, "suss")      \
	X(DELAY, "hystart11")     \
	X(DELAY, "hystart")       \
	X(DELAY, "hystartpp")     \
	X(DELAY, "vegas")         \
	X(DELAY, "vegas_lin")     \
	X(DELAY, "suss")          \
	X(DELAY, "chirp")         \
	X(DELAY, "hystart_pq")    \
	X(DELAY, "c4")            \
	X(GAP, "paced")           \
	X(GAP, "chirp")           \
	X(BANDWIDTH, "best")      \
	X(BANDWIDTH, "hoe")       \
	X(BANDWIDTH, "bbr_quic")  \
	X(BANDWIDTH, "aron")      \
	X(BANDWIDTH, "esse")      \
	X(BANDWIDTH, "tris")      \
	X(BANDWIDTH, "afstart")   \
	X(DELIVERY, "search")     \
	X(DELIVERY, "search4")    \
	X(DELIVERY, "stopeg")     \
	X(PLATEAU, "bbr")         \
	X(PLATEAU, "bbr3")        \
	X(PLATEAU, "bbr_quic")    \
	X(PLATEAU, "c4")          \
	X(LOSS, "bbr3")           \
	X(LOSS, "bbr_quic")       \
	X(LOSS, "hystart_pq")     \
	X(LOSS, "c4")             \
	X(PROOF, "reach")         \
	X(SHARE, "reach")         \
	X(KNOWN, "ideal")

/* X(ENVIRONMENT, value, id, parameter, reason): papers' hosts, or a Linux server of today. */
#define RAMP_OVERRIDES(X) RAMP_HOE_OVERRIDES(X) RAMP_JUMP_OVERRIDES(X) RAMP_PACED_OVERRIDES(X)

#endif
