/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client_memory.c -- maps, fills and registers what pings are written from and read to.
 */
#include "client_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/rdma/connection.h"
#include "pattern.h"

#define PAGE_BYTES 4096

static int fill(struct client_memory *m, unsigned patterns, size_t size)
{
	uint64_t salt;

	if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
		return failure_set(EXIT_INTERNAL, "register", "the kernel gave no random bytes");
	pattern_fill(m->bytes, m->stride_bytes, patterns, size, salt);
	memset(m->bytes + patterns * m->stride_bytes, 0, size);
	return 0;
}

static int enroll(struct client_memory *m, struct rpma_peer *peer, const char *device)
{
	char text[UNITS_TEXT_BYTES];
	int ret = rpma_mr_reg(peer, m->bytes, m->size_bytes,
			      RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST, &m->mr);

	if (ret)
		return failure_because(connection_cause_of(ret), EXIT_RUN_FAILED, "register",
				       "cannot register %s of this host's memory at %s: %s",
				       units_print_size(m->size_bytes, text), device,
				       connection_cause(ret));
	return 0;
}

int client_memory_open(struct client_memory *memory, struct rpma_peer *peer, const char *device,
		       unsigned patterns, size_t size)
{
	struct client_memory *m = memory;
	char text[UNITS_TEXT_BYTES];
	int ret;

	m->stride_bytes = (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	m->size_bytes = (patterns + 1) * m->stride_bytes;
	m->bytes = mmap(NULL, m->size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (m->bytes == MAP_FAILED) {
		m->bytes = NULL;
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "register",
				       "cannot map %s of memory: %s",
				       units_print_size(m->size_bytes, text), strerror(errno));
	}
	ret = fill(m, patterns, size);
	return ret ? ret : enroll(m, peer, device);
}

void client_memory_close(struct client_memory *memory)
{
	rpma_mr_dereg(&memory->mr);
	if (memory->bytes != NULL)
		munmap(memory->bytes, memory->size_bytes);
	*memory = (struct client_memory){0};
}
