/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.c -- random bytes, their complement, and where two patterns differ. */
#include "pattern.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/rdma/connection.h"
#include "names/random.h"

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
		return librpma_failed(
			ret, "register", "cannot register %s of this host's memory at %s: %s",
			units_print_size(m->size_bytes, text), device, connection_cause(ret));
	return 0;
}

int client_memory_open(struct client_memory *m, struct rpma_peer *peer, const char *device,
		       unsigned patterns, size_t size)
{
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

void pattern_fill(uint8_t *patterns, size_t stride, unsigned count, size_t size, uint64_t salt)
{
	/* any two of them differ, so any two patterns do in each byte */
	static const uint8_t flips[PATTERNS_MAX] = {0x00, 0xff, 0x55};
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++) {
		if (i % sizeof(word) == 0)
			word = random_next(&salt);
		for (unsigned p = 0; p < count && p < PATTERNS_MAX; p++)
			patterns[p * stride + i] =
				(uint8_t)(word >> (8 * (i % sizeof(word)))) ^ flips[p];
	}
}

unsigned pattern_next(struct pattern_turn *t, size_t bytes)
{
	if (t->count == 2) {
		t->last = 1 - t->last;
	} else if (bytes <= t->last_bytes) { /* a cycle begins */
		t->avoided = t->last;
		t->last = (t->last + 1) % 3;
	} else {
		t->last = 3 - t->avoided - t->last;
	}
	t->last_bytes = bytes;
	return t->last;
}

struct pattern_difference pattern_compare(const uint8_t *found, const uint8_t *expected,
					  size_t size)
{
	struct pattern_difference d = {0};

	for (size_t i = 0; i < size; i++) {
		if (found[i] == expected[i])
			continue;
		if (d.bytes++ == 0) {
			d.first = i;
			d.expected = expected[i];
			d.found = found[i];
		}
	}
	return d;
}
