/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a host, a tool or a test must know of an algorithm before it runs, as bits. */
#ifndef RAMP_TRAITS_H
#define RAMP_TRAITS_H

/* Macros, not enumerators: the preprocessor leaves out what a row has no use for. */
#define RAMP_PACES 1u
#define RAMP_REARMS 2u
#define RAMP_READS_RATE 4u
#define RAMP_NEEDS_HISTORY 8u
#define RAMP_KNOWS_PATH 16u
#define RAMP_DEFAULT 32u
#define RAMP_STANDARD 64u
#define RAMP_OF_CUBIC 128u
#define RAMP_NEEDS_ROUTER 256u
#define RAMP_NEEDS_INTERFACE 512u
#define RAMP_NEEDS_GAPS 2048u
#define RAMP_PAPERS 4096u
#define RAMP_MODERN 8192u
#define RAMP_DEPLOYED 16384u
#define RAMP_OUTLASTS_LOSS 32768u
#define RAMP_OF_BBR 65536u
#define RAMP_NEEDS_BRANCHES 131072u
#define RAMP_OF_BBR3 262144u
#define RAMP_JUDGES_ROUNDS 524288u
#define RAMP_EXPERIMENTAL 1048576u

/*
 * X(NAME, word, meaning): what the row's host, or the path, must do for it. Only rows that need a
 * hint's source get the hint.
 */
#define RAMP_NEEDS(X)                                                                      \
	X(PACES, "pacing",                                                                 \
	  "writes a pacing field of the decision: its host must space packets")            \
	X(READS_RATE, "rate", "reads rate samples, which may cost a division an ACK")      \
	X(NEEDS_HISTORY, "history",                                                        \
	  "begins with what an earlier connection to the same place has left")             \
	X(NEEDS_ROUTER, "router", "begins at a rate that the path's routers have granted") \
	X(NEEDS_INTERFACE, "interface", "knows the rate of the sender's own interface")    \
	X(NEEDS_GAPS, "gaps", "gives each packet a gap of its own, not a rate for all")    \
	X(NEEDS_BRANCHES, "branches",                                                      \
	  "has more paths through an ACK than the verifier of Linux follows")

/* X(NAME, word, meaning): a row is in at least one, the yardstick in none. */
#define RAMP_FAMILIES(X)                                                            \
	X(PAPERS, "papers", "run or cited by the four papers that ramp began with") \
	X(MODERN, "modern", "published or revised since 2016")                      \
	X(DEPLOYED, "deployed", "in released hosts, now or in its time")

#define RAMP_OTHER_TRAITS(X)                                                                      \
	X(REARMS, "rearms", "a timeout begins its start-up again")                                \
	X(KNOWS_PATH, "knows-path", "knows the path itself: a yardstick, not a real sender")      \
	X(DEFAULT, "default", "compared by default")                                              \
	X(STANDARD, "standard", "the start-up of a sender that no algorithm steers")              \
	X(OF_CUBIC, "of-cubic", "what Linux's CUBIC does")                                        \
	X(OUTLASTS_LOSS, "outlasts-loss", "a loss, mark or timeout does not end its start-up")    \
	X(OF_BBR, "of-bbr", "what BBR does, version 1 as Linux has it")                           \
	X(OF_BBR3, "of-bbr3", "what BBR does, version 3")                                         \
	X(JUDGES_ROUNDS, "judges-rounds",                                                         \
	  "its delay test judges a round that is over, a round trip before the ACK that decides") \
	X(EXPERIMENTAL, "experimental",                                                           \
	  "has steered no traffic of others: it has run over simulated and emulated paths alone")

#define RAMP_TRAITS(X) RAMP_NEEDS(X) RAMP_FAMILIES(X) RAMP_OTHER_TRAITS(X)

#endif
