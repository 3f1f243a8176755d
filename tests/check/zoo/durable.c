/* SPDX-License-Identifier: BSD-3-Clause */
/* durable.c -- see durable.h. */
#include "durable.h"

unsigned char *durable_memory;
uint64_t durable_addr;
struct ibv_mr *durable_mr;

void durable_map(void)
{
	FILE *file = HAVE(tmpfile());

	MUST(ftruncate(fileno(file), DURABLE_BYTES));
	durable_memory = HAVE(
		mmap(NULL, DURABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0));
	MUST(fclose(file));
	durable_addr = (uintptr_t)durable_memory;
	durable_mr = HAVE(ibv_reg_mr(far.pd, durable_memory, DURABLE_BYTES, ACCESS));
}

void durable_unmap(void)
{
	MUST(ibv_dereg_mr(durable_mr));
	MUST(munmap(durable_memory, DURABLE_BYTES));
}
