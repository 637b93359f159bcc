/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The median of any number of values in bounded memory and constant time per value.
 *
 * A histogram with 32 linear bins in each power of two, the position of the median kept up to date:
 * one more value moves it by at most one non-empty bin, which a bitmap finds without a loop.
 *
 * The result lies within 1/64 (1.6 %) of a middle value from 2^8 to 2^40 - 1; values outside count
 * as the nearest end. Of an even number of values it is the lower middle one.
 *
 * Invariant: below <= (total - 1) / 2 < below + count[median], below counting the values in bins
 * under median.
 */
#ifndef RAMP_MEDIAN_H
#define RAMP_MEDIAN_H

#include "math.h"

#define RAMP_MEDIAN_LOWEST_BIT 8u
#define RAMP_MEDIAN_HIGHEST_BIT 39u
#define RAMP_MEDIAN_BINS 1024u
#define RAMP_MEDIAN_WORDS (RAMP_MEDIAN_BINS / 64u)

struct ramp_median {
	ramp_u32 total;
	ramp_u32 below;
	ramp_u32 median;                   /* a bin */
	ramp_u32 used_words;               /* bit i: used[i] is not 0 */
	ramp_u64 used[RAMP_MEDIAN_WORDS];  /* bit set: count[bin] is valid and not 0 */
	ramp_u32 count[RAMP_MEDIAN_BINS];
};

/* Counts are valid only where used says so, which saves clearing them. */
RAMP_FN void ramp_median_clear(struct ramp_median *m)
{
	ramp_u32 i;

	m->total = 0;
	m->below = 0;
	m->median = 0;
	m->used_words = 0;
	for (i = 0; i < RAMP_MEDIAN_WORDS; i++)
		m->used[i] = 0;
}

RAMP_FN ramp_u32 ramp_median_bin(ramp_u64 value)
{
	ramp_u64 v = ramp_clamp(value, (ramp_u64)1 << RAMP_MEDIAN_LOWEST_BIT,
				((ramp_u64)2 << RAMP_MEDIAN_HIGHEST_BIT) - 1);
	ramp_u32 bit = ramp_log2(v);

	return ramp_index((bit - RAMP_MEDIAN_LOWEST_BIT) << 5 | ((ramp_u32)(v >> (bit - 5)) & 31u),
			  RAMP_MEDIAN_BINS);
}

/* The bin's middle. */
RAMP_FN ramp_u64 ramp_median_bin_value(ramp_u32 bin)
{
	ramp_u32 shift = (bin >> 5) + RAMP_MEDIAN_LOWEST_BIT - 5;

	return ((ramp_u64)(32 + (bin & 31u)) << shift) + ((ramp_u64)1 << (shift - 1));
}

/* The next non-empty bin above; there is one whenever the median has to move there. */
RAMP_FN ramp_u32 ramp_median_above(const struct ramp_median *m, ramp_u32 bin)
{
	ramp_u32 word = bin >> 6;
	ramp_u64 bit = (ramp_u64)1 << (bin & 63u);
	ramp_u64 above = m->used[word & (RAMP_MEDIAN_WORDS - 1)] & ~(bit | (bit - 1));

	if (!above) {
		word = ramp_lowest_bit(m->used_words & ~((2u << word) - 1) & 0xffffu);
		word = ramp_index(word, RAMP_MEDIAN_WORDS);
		above = m->used[word];
	}
	return ramp_index(word << 6 | ramp_lowest_bit(above), RAMP_MEDIAN_BINS);
}

RAMP_FN ramp_u32 ramp_median_under(const struct ramp_median *m, ramp_u32 bin)
{
	ramp_u32 word = bin >> 6;
	ramp_u64 bit = (ramp_u64)1 << (bin & 63u);
	ramp_u64 under = m->used[word & (RAMP_MEDIAN_WORDS - 1)] & (bit - 1);

	if (!under) {
		word = ramp_log2(m->used_words & (((ramp_u32)1 << word) - 1));
		word = ramp_index(word, RAMP_MEDIAN_WORDS);
		under = m->used[word];
	}
	return ramp_index(word << 6 | ramp_log2(under), RAMP_MEDIAN_BINS);
}

RAMP_FN void ramp_median_add(struct ramp_median *m, ramp_u64 value)
{
	ramp_u32 bin = ramp_median_bin(value), word = bin >> 6, rank;
	ramp_u64 bit = (ramp_u64)1 << (bin & 63u);

	if (m->total == ~(ramp_u32)0)
		return;
	if (!(m->used[word] & bit)) {
		m->used[word] |= bit;
		m->used_words |= (ramp_u32)1 << word;
		m->count[bin] = 0;
	}
	m->count[bin]++;
	if (!m->total)
		m->median = bin;
	rank = m->total / 2;
	m->total++;
	if (bin < m->median)
		m->below++;
	if (rank < m->below) {
		m->median = ramp_median_under(m, m->median);
		m->below -= m->count[m->median];
	} else if (rank - m->below >= m->count[m->median & (RAMP_MEDIAN_BINS - 1)]) {
		m->below += m->count[m->median & (RAMP_MEDIAN_BINS - 1)];
		m->median = ramp_median_above(m, m->median);
	}
}

/* 0 for no values. */
RAMP_FN ramp_u64 ramp_median_value(const struct ramp_median *m)
{
	return m->total ? ramp_median_bin_value(m->median & (RAMP_MEDIAN_BINS - 1)) : 0;
}

#endif
