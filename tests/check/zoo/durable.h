/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable.h -- memory of `far` that is a file, and the marks by which a program tells the
 * software device that it takes bytes for durable. No other device has them, and they do nothing
 * there.
 */
#pragma once

#include "zoo.h"

#define DURABLE_BYTES (4 * PAGE)

extern unsigned char *durable_memory;
extern uint64_t durable_addr; /* the same, for requests */
extern struct ibv_mr *durable_mr;

void rpma_soft_durable(const void *addr, size_t length) __attribute__((weak));
void rpma_soft_durable_at_peer(uint32_t qp_num, uint64_t addr, size_t length) __attribute__((weak));
void rpma_soft_commit_word(uint32_t qp_num, uint64_t word, uint64_t data, size_t length)
	__attribute__((weak));

/* In the program's own line: that is what a finding names. */
#define DURABLE(addr, length)                                                                      \
	do {                                                                                       \
		if (rpma_soft_durable != NULL)                                                     \
			rpma_soft_durable(addr, length);                                           \
	} while (0)

#define DURABLE_AT_PEER(qp, addr, length)                                                          \
	do {                                                                                       \
		if (rpma_soft_durable_at_peer != NULL)                                             \
			rpma_soft_durable_at_peer((qp)->qp_num, addr, length);                     \
	} while (0)

#define COMMIT_WORD(qp, word, data, length)                                                        \
	do {                                                                                       \
		if (rpma_soft_commit_word != NULL)                                                 \
			rpma_soft_commit_word((qp)->qp_num, word, data, length);                   \
	} while (0)

void durable_map(void);
void durable_unmap(void);
