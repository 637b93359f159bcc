// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A router's mark of congestion on every full IPv4 packet that may carry one; a classifier for `tc filter`. */

/* The head of the kernel's struct __sk_buff. */
struct packet {
	unsigned int length;
};

#define ETHERNET_BYTES 14
#define CHECKSUM_OFFSET 10
#define CONGESTION_EXPERIENCED 3

/* By their numbers in linux/bpf.h. */
static long (*const store_bytes)(struct packet *, unsigned int offset, const void *from, unsigned int bytes,
				 unsigned long flags) = (void *)9;
static long (*const replace_checksum)(struct packet *, unsigned int offset, unsigned long from, unsigned long to,
				      unsigned long flags) = (void *)10;
static long (*const load_bytes)(const struct packet *, unsigned int offset, void *to, unsigned int bytes) = (void *)26;

__attribute__((section("tc"), used)) int mark(struct packet *packet)
{
	union {
		unsigned short word;
		unsigned char bytes[2]; /* version and length; type of service */
	} before, after;

	if (packet->length < 1000 || load_bytes(packet, ETHERNET_BYTES, &before, sizeof(before)))
		return 0;
	after = before;
	after.bytes[1] |= CONGESTION_EXPERIENCED;
	if (before.bytes[0] >> 4 != 4 || (before.bytes[1] & CONGESTION_EXPERIENCED) == 0)
		return 0;
	replace_checksum(packet, ETHERNET_BYTES + CHECKSUM_OFFSET, before.word, after.word, sizeof(after));
	store_bytes(packet, ETHERNET_BYTES, &after, sizeof(after), 0);
	return 0;
}

__attribute__((section("license"), used)) char terms[] = "Dual MIT/GPL";
