/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * create.c -- creates a pool on another host, copies local memory to it, and
 * closes it.
 *
 * librpmem(7) shows this file. The pool set file on the target is three lines:
 * PMEMPOOLSET, OPTION NOHDRS, and "32M" with the path of the part.
 */
#include <librpmem.h>
#include <stdio.h>
#include <string.h>

#define POOL_SIZE (32 * 1024 * 1024)
#define NLANES	  4

/* at a multiple of any page size */
static _Alignas(65536) unsigned char pool[POOL_SIZE];

int main(int argc, char **argv)
{
	const char *target = argc > 1 ? argv[1] : "localhost";
	const char *pool_set = argc > 2 ? argv[2] : "pool.set";
	unsigned nlanes = NLANES;
	RPMEMpool *rpp;
	int ret;

	/* without attributes: the pool has no metadata, all of it is ours */
	rpp = rpmem_create(target, pool_set, pool, POOL_SIZE, &nlanes, NULL);
	if (rpp == NULL) {
		fprintf(stderr, "rpmem_create: %s\n", rpmem_errormsg());
		return 1;
	}

	/* store data in the local memory */
	memset(pool, 'x', POOL_SIZE);

	/* make it durable on the target; lane 0 of nlanes */
	ret = rpmem_persist(rpp, 0, POOL_SIZE, 0, RPMEM_PERSIST_RELAXED);
	if (ret != 0)
		fprintf(stderr, "rpmem_persist: %s\n", rpmem_errormsg());

	if (rpmem_close(rpp) != 0) {
		fprintf(stderr, "rpmem_close: %s\n", rpmem_errormsg());
		return 1;
	}
	return ret != 0;
}
