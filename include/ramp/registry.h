/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One row per algorithm and nothing else: id, NAME (prefix of its parameter table), name, source,
 * idea.
 */
#ifndef RAMP_REGISTRY_H
#define RAMP_REGISTRY_H

#include "best.h"
#include "enhanced.h"
#include "hystart.h"
#include "hystart11.h"
#include "hystartpp.h"
#include "ideal.h"
#include "limited.h"
#include "paced.h"
#include "slow_start.h"

#define RAMP_ALGORITHMS(X)                                                                         \
	X(slow_start, SLOW_START, "slow-start", "RFC 5681",                                        \
	  "double every round trip until ssthresh or loss")                                        \
	X(limited, LIMITED, "limited-slow-start", "RFC 3742",                                      \
	  "double up to 100 packets, then add at most 50 a round trip")                            \
	X(hystart11, HYSTART11, "hystart-paper", "[HR11] Algorithm 1",                             \
	  "leave when an ACK train lasts half the minimum RTT, or a round's RTT rises")            \
	X(hystart, HYSTART, "hystart-linux", "Linux tcp_cubic.c",                                  \
	  "as hystart11, with the rises measured from the connection's minimum RTT")               \
	X(hystartpp, HYSTARTPP, "hystart++", "RFC 9406",                                           \
	  "when a round's RTT rises grow a quarter as fast, and leave if it stays up five rounds") \
	X(paced, PACED, "paced-start", "[HS03]",                                                   \
	  "search for the path's packet gap with paced trains, then open the window to RTT / gap") \
	X(best, BEST, "best", "[AK23]",                                                            \
	  "end slow start at the median of a round's per-ACK bandwidths times the RTT")            \
	X(enhanced, ENHANCED, "enhanced-start", "[LU]",                                            \
	  "halve the growth each time Vegas' backlog estimate crosses three packets")              \
	X(ideal, IDEAL, "ideal", "none",                                                           \
	  "knows the path: sends its bandwidth-delay product at once, paced at its rate")

#endif
