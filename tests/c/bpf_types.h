/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The integer types of vmlinux.h that the core needs, for tests outside a kernel tree. */
#ifndef RAMP_TESTS_BPF_TYPES_H
#define RAMP_TESTS_BPF_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;

#endif
