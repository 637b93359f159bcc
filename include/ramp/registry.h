/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One row per algorithm and nothing else: id, NAME (prefix of its parameter table), name, source, idea. */
#ifndef RAMP_REGISTRY_H
#define RAMP_REGISTRY_H

#include "slow_start.h"

#define RAMP_ALGORITHMS(X)                                                                       \
	X(slow_start, SLOW_START, "slow-start", "RFC 5681",                                      \
	  "double every round trip until ssthresh or loss")

#endif
