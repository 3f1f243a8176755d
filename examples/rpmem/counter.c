/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter.c -- a counter that outlives its process: it is in a pool on another host.
 *
 * `create` makes the pool and counts from 1; `open` continues where the last
 * process ended, however it ended. Each number is printed when it is durable.
 */
#include <librpmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE      "COUNTER"
#define FORMAT	       1
#define COUNTER_OFFSET 4096 /* the pool's metadata is before it */
#define LANE	       0

/* The pool is a replica of it; a multiple of any page size. */
union memory {
	unsigned char bytes[65536];
	struct {
		unsigned char metadata[COUNTER_OFFSET];
		uint64_t counter;
	} pool;
};

static _Alignas(65536) union memory memory;

static RPMEMpool *create_pool(const char *target, const char *pool_set)
{
	const struct rpmem_pool_attr attr = {.signature = SIGNATURE, .major = FORMAT};
	unsigned nlanes = 1;

	return rpmem_create(target, pool_set, &memory, sizeof(memory), &nlanes, &attr);
}

static RPMEMpool *open_pool(const char *target, const char *pool_set)
{
	struct rpmem_pool_attr attr;
	unsigned nlanes = 1;
	RPMEMpool *rpp;

	rpp = rpmem_open(target, pool_set, &memory, sizeof(memory), &nlanes, &attr);
	if (rpp == NULL)
		return NULL;
	if (memcmp(attr.signature, SIGNATURE, sizeof(SIGNATURE)) != 0 || attr.major != FORMAT) {
		fprintf(stderr, "counter: %s on %s is not a counter\n", pool_set, target);
		exit(EXIT_FAILURE);
	}
	/* opening copies nothing */
	if (rpmem_read(rpp, &memory.pool.counter, COUNTER_OFFSET, sizeof(uint64_t), LANE) != 0) {
		fprintf(stderr, "rpmem_read: %s\n", rpmem_errormsg());
		exit(EXIT_FAILURE);
	}
	printf("found %llu\n", (unsigned long long)memory.pool.counter);
	return rpp;
}

/* Flags 0: an aligned word is stored as a whole, even if the power fails. */
static int count(RPMEMpool *rpp, unsigned long steps)
{
	while (steps-- > 0) {
		memory.pool.counter++;
		if (rpmem_persist(rpp, COUNTER_OFFSET, sizeof(uint64_t), LANE, 0) != 0) {
			fprintf(stderr, "rpmem_persist: %s\n", rpmem_errormsg());
			return EXIT_FAILURE;
		}
		printf("%llu\n", (unsigned long long)memory.pool.counter);
		fflush(stdout);
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	const int create = strcmp(verb, "create") == 0;
	RPMEMpool *rpp;
	int ret;

	if ((argc != 4 && argc != 5) || (!create && strcmp(verb, "open") != 0)) {
		fprintf(stderr, "usage: counter create|open TARGET POOL-SET [STEPS]\n");
		return EXIT_FAILURE;
	}
	rpp = create ? create_pool(argv[2], argv[3]) : open_pool(argv[2], argv[3]);
	if (rpp == NULL) {
		fprintf(stderr, "rpmem_%s: %s\n", verb, rpmem_errormsg());
		return EXIT_FAILURE;
	}
	ret = count(rpp, argc == 5 ? strtoul(argv[4], NULL, 10) : (unsigned long)-1);
	if (rpmem_close(rpp) != 0) {
		fprintf(stderr, "rpmem_close: %s\n", rpmem_errormsg());
		ret = EXIT_FAILURE;
	}
	return ret;
}
