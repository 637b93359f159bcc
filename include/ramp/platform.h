/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Integer types and RAMP_FN for hosted C, C++ and BPF: the only #ifdefs of the core.
 *
 * A BPF build brings its integer types with it (vmlinux.h or a subset) and defines RAMP_BPF.
 */
#ifndef RAMP_PLATFORM_H
#define RAMP_PLATFORM_H

#ifdef RAMP_BPF
typedef __u8 ramp_u8;
typedef __u16 ramp_u16;
typedef __u32 ramp_u32;
typedef __u64 ramp_u64;
#else
#include <stdint.h>
typedef uint8_t ramp_u8;
typedef uint16_t ramp_u16;
typedef uint32_t ramp_u32;
typedef uint64_t ramp_u64;
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RAMP_FN static inline __attribute__((unused, always_inline))
#else
#define RAMP_FN static inline
#endif

/*
 * A function that a BPF verifier follows once, not at each call. There its pointers may be null, and
 * it returns a number.
 */
#ifdef RAMP_BPF
#define RAMP_ONCE __attribute__((noinline))
#else
#define RAMP_ONCE RAMP_FN
#endif

/*
 * Position of the highest bit; 0 for 0. Without branches, since a BPF verifier follows each one.
 * LLVM 14 crashes on the builtin when it targets BPF.
 */
RAMP_FN ramp_u32 ramp_log2(ramp_u64 value)
{
#if (defined(__GNUC__) || defined(__clang__)) && !defined(RAMP_BPF)
	return 63u - (ramp_u32)__builtin_clzll(value | 1);
#else
	ramp_u64 v = value | 1;

	v |= v >> 1;
	v |= v >> 2;
	v |= v >> 4;
	v |= v >> 8;
	v |= v >> 16;
	v |= v >> 32;
	v -= (v >> 1) & 0x5555555555555555u;
	v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	v += v >> 8;
	v += v >> 16;
	v += v >> 32;
	return (ramp_u32)(v & 127u) - 1;
#endif
}

/*
 * All ones for a < b, 0 otherwise; both below 2^63. For loops: a BPF verifier follows both outcomes
 * of each comparison of each iteration, unless they are arithmetic that the compiler cannot undo.
 */
RAMP_FN ramp_u64 ramp_less_mask(ramp_u64 a, ramp_u64 b)
{
#ifdef RAMP_BPF
	ramp_u64 difference = a - b;

	__asm__("%0 s>>= 63" : "+r"(difference));
	return difference;
#else
	return a < b ? ~(ramp_u64)0 : 0;
#endif
}

/*
 * The value modulo a constant power of two, in a form that no compiler simplifies. It drops masks
 * that it can prove needless, and the verifier of Linux 6.1 cannot follow such proofs.
 */
RAMP_FN ramp_u32 ramp_index(ramp_u32 value, ramp_u32 power_of_two)
{
#ifdef RAMP_BPF
	ramp_u64 index = value;

	__asm__("%0 &= %1" : "+r"(index) : "i"(power_of_two - 1));
	return (ramp_u32)index;
#else
	return value & (power_of_two - 1);
#endif
}

#endif
