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

/* X(NAME, word, meaning) */
#define RAMP_TRAITS(X)                                                                          \
	X(PACES, "paces", "writes a pacing field of the decision: its host must space packets") \
	X(REARMS, "rearms", "a timeout begins its start-up again")                              \
	X(READS_RATE, "reads-rate", "reads rate samples, which may cost a division per ACK")    \
	X(NEEDS_HISTORY, "needs-history", "is another algorithm without a hint from history")   \
	X(KNOWS_PATH, "knows-path", "is told the path itself: a yardstick, not a real sender")  \
	X(DEFAULT, "default", "compared where nobody says what to compare")                     \
	X(STANDARD, "standard", "what a sender does that nobody steers")                        \
	X(OF_CUBIC, "of-cubic", "what Linux's CUBIC does")

#endif
