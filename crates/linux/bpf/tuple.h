/* SPDX-License-Identifier: GPL-2.0-only */
/* The two ends of a connection. */
#ifndef RAMP_LINUX_TUPLE_H
#define RAMP_LINUX_TUPLE_H

static __always_inline void record_address(ramp_u8 *to, __be32 address)
{
	__builtin_memset(to, 0, 10);
	to[10] = 0xff;
	to[11] = 0xff;
	__builtin_memcpy(to + 12, &address, 4);
}

/* A kernel without IPv6 has no such field. */
static __always_inline _Bool is_6(const struct sock_common *c)
{
	return c->skc_family == AF_INET6 && bpf_core_field_exists(c->skc_v6_daddr);
}

static __always_inline void record_remote(struct sock *sk, ramp_u8 *to)
{
	struct sock_common *c = &sk->__sk_common;

	if (is_6(c))
		bpf_core_read(to, 16, &c->skc_v6_daddr);
	else
		record_address(to, c->skc_daddr);
}

static __always_inline void record_tuple(struct sock *sk, struct ramp_tuple *t)
{
	struct sock_common *c = &sk->__sk_common;

	if (is_6(c))
		bpf_core_read(t->local, sizeof(t->local), &c->skc_v6_rcv_saddr);
	else
		record_address(t->local, c->skc_rcv_saddr);
	record_remote(sk, t->remote);
	/* Not skc_num, which is gone once the socket has given its port back. */
	t->local_port = __builtin_bswap16(((struct inet_sock *)sk)->inet_sport);
	t->remote_port = __builtin_bswap16(c->skc_dport);
	t->reserved = 0;
}

#endif
