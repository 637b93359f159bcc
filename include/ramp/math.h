/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unsigned arithmetic that never wraps: it saturates, widens to 128 bits, or clamps.
 *
 * Divisions are rare on purpose: one costs as much as everything else an ACK needs.
 */
#ifndef RAMP_MATH_H
#define RAMP_MATH_H

#include "platform.h"

#define RAMP_U64_MAX (~(ramp_u64)0)

RAMP_FN ramp_u64 ramp_min(ramp_u64 a, ramp_u64 b)
{
	return a < b ? a : b;
}

RAMP_FN ramp_u64 ramp_max(ramp_u64 a, ramp_u64 b)
{
	return a > b ? a : b;
}

/* The larger of two below 2^63, without a branch. */
RAMP_FN ramp_u64 ramp_max_flat(ramp_u64 a, ramp_u64 b)
{
	ramp_u64 less = ramp_less_mask(a, b);

	return (b & less) | (a & ~less);
}

/* ramp_sub() of two below 2^63, without a branch. */
RAMP_FN ramp_u64 ramp_sub_flat(ramp_u64 a, ramp_u64 b)
{
	ramp_u64 keep = ~ramp_less_mask(a, b);

	return (a & keep) - (b & keep);
}

/* The upper end wins where the ends are crossed. */
RAMP_FN ramp_u64 ramp_clamp(ramp_u64 value, ramp_u64 low, ramp_u64 high)
{
	return ramp_min(ramp_max(value, low), high);
}

RAMP_FN ramp_u64 ramp_add(ramp_u64 a, ramp_u64 b)
{
	return b > RAMP_U64_MAX - a ? RAMP_U64_MAX : a + b;
}

RAMP_FN ramp_u64 ramp_sub(ramp_u64 a, ramp_u64 b)
{
	return a > b ? a - b : 0;
}

struct ramp_wide {
	ramp_u64 high;
	ramp_u64 low;
};

RAMP_FN void ramp_mul_wide(ramp_u64 a, ramp_u64 b, struct ramp_wide *product)
{
	ramp_u64 a0 = a & 0xffffffffu, a1 = a >> 32;
	ramp_u64 b0 = b & 0xffffffffu, b1 = b >> 32;
	ramp_u64 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
	ramp_u64 middle = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);

	product->low = (middle << 32) | (p00 & 0xffffffffu);
	product->high = a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

RAMP_FN ramp_u64 ramp_mul(ramp_u64 a, ramp_u64 b)
{
	struct ramp_wide product;

	if (!((a | b) >> 32))
		return a * b;
	ramp_mul_wide(a, b, &product);
	return product.high ? RAMP_U64_MAX : product.low;
}

/* a / b rounded down; RAMP_U64_MAX for a division by zero. */
RAMP_FN ramp_u64 ramp_div(ramp_u64 a, ramp_u64 b)
{
	return b ? a / b : RAMP_U64_MAX;
}

/* a * b / c rounded down, saturating; exact for c < 2^63, which every rate, gap and window is. */
RAMP_FN ramp_u64 ramp_mul_div(ramp_u64 a, ramp_u64 b, ramp_u64 c)
{
	struct ramp_wide product;
	ramp_u64 remainder, quotient;
	ramp_u32 i;

	if (!((a | b) >> 32))
		return ramp_div(a * b, c);
	ramp_mul_wide(a, b, &product);
	if (!product.high)
		return ramp_div(product.low, c);
	if (c >> 63) {
		product.low = (product.low >> 1) | (product.high << 63);
		product.high >>= 1;
		c >>= 1;
	}
	if (product.high >= c)
		return RAMP_U64_MAX;
	remainder = product.high;
	quotient = product.low;
	for (i = 0; i < 64; i++) {
		remainder = (remainder << 1) | (quotient >> 63);
		quotient <<= 1;
		if (remainder >= c) {
			remainder -= c;
			quotient |= 1;
		}
	}
	return quotient;
}

/* Position of the lowest bit of a value that has one. */
RAMP_FN ramp_u32 ramp_lowest_bit(ramp_u64 value)
{
	return ramp_log2(value ^ (value - 1));
}

#endif
