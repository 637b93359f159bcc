// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remembered places, written by some processors as fast as they can and read by others, with the
 * functions of the start-ups. What is written holds together by arithmetic, so that a mixture shows.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define PAUSE 100

/* As if an interrupt came before each word: elements that others let go are used again meanwhile. */
#define READ_WORD(word)                                      \
	({                                                   \
		for (int i = 0; i < PAUSE; i++)              \
			barrier();                           \
		*(const volatile __typeof__(word) *)&(word); \
	})

#include "places.h"

#define PLACES 2

/* Of the values that were read. */
struct {
	__u64 whole;
	__u64 refused; /* a mixture, by its seal */
	__u64 mixtures; /* taken for whole */
	__u64 taken;
} seen SEC(".bss.seen");

static __always_inline _Bool holds_together(const struct ramp_memory *m, __u64 number)
{
	__u64 window = m->window_bytes;

	return window % PLACES == number && m->bytes_per_s == 3 * window && m->seen_ns == 5 * window &&
		m->rtt_us == (__u32)window;
}

static __always_inline struct place place_of(__u64 number)
{
	struct place place = {.namespace = 1, .address = {7, number}};

	return place;
}

SEC("tc")
int writes(struct __sk_buff *packet)
{
	__u64 drawn = bpf_get_prandom_u32(), number = drawn & (PLACES - 1);
	struct place place = place_of(number);
	struct remembered now = {};

	now.memory.window_bytes = (drawn << 16 & ~(__u64)(PLACES - 1)) + number;
	now.memory.bytes_per_s = 3 * now.memory.window_bytes;
	now.memory.seen_ns = 5 * now.memory.window_bytes;
	now.memory.rtt_us = (__u32)now.memory.window_bytes;
	keep(&place, &now, BPF_ANY);
	return 0;
}

SEC("tc")
int reads(struct __sk_buff *packet)
{
	__u64 drawn = bpf_get_prandom_u32(), number = drawn & (PLACES - 1);
	struct place place = place_of(number);
	struct remembered *known = bpf_map_lookup_elem(&history, &place);
	struct ramp_memory memory = {};

	if (!known)
		return 0;
	if (!read_whole(known, &place, &memory)) {
		__sync_fetch_and_add(&seen.refused, 1);
		return 0;
	}
	if (holds_together(&memory, number))
		__sync_fetch_and_add(&seen.whole, 1);
	else
		__sync_fetch_and_add(&seen.mixtures, 1);
	if (take(known, memory.taken_ns, drawn))
		__sync_fetch_and_add(&seen.taken, 1);
	return 0;
}

char licence[] SEC("license") = "GPL";
