/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_work.c -- a client to be killed, or whose ssh or daemon is killed.
 *
 *	accept --work SET SIZE [create]
 *
 * Creates the pool, if told to, then opens, uses and closes it again and again, until a call fails
 * or standard input ends. Prints "begun", then "persisted" for each pool, and at the end "done" or
 * "lost CALL ERRNO: MESSAGE". Exit status 0: no child is left.
 */
#include "accept.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 300
#define LANES	4

static bool told_to_end(void)
{
	struct pollfd input = {STDIN_FILENO, POLLIN, 0};

	return poll(&input, 1, 0) != 0;
}

static int lost(const char *call, RPMEMpool *pool)
{
	printf("lost %s %s: %s\n", call, strerrorname_np(errno), rpmem_errormsg());
	if (pool != NULL)
		rpmem_close(pool);
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) {
		printf("a child is left\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* The call that failed, or NULL. */
static const char *use(RPMEMpool *pool, unsigned char *memory, size_t size, unsigned nlanes)
{
	unsigned char word[8];

	for (unsigned i = 0; i < 40 && (i < 5 || !told_to_end()); i++) {
		const unsigned lane = i % nlanes;
		const size_t offset = HEADER + i * 5000 % (size - HEADER - 20000);

		fill(memory + offset, 20000, i);
		if (rpmem_persist(pool, offset, i % 5 == 0 ? 20000 : 64, lane, i % 2) != 0)
			return "persist";
		if (i == 0)
			printf("persisted\n");
		if (rpmem_flush(pool, offset, 4096, lane, RPMEM_FLUSH_RELAXED) != 0)
			return "flush";
		if (rpmem_drain(pool, lane, 0) != 0)
			return "drain";
		if (rpmem_read(pool, word, offset, sizeof(word), lane) != 0)
			return "read";
		if (memcmp(word, memory + offset, sizeof(word)) != 0)
			return "compare";
	}
	return rpmem_set_attr(pool, kind_attr(HEADERS)) != 0 ? "set_attr" : NULL;
}

static int work(const char *set, size_t size, bool create)
{
	unsigned char *memory = memory_new(size);
	const char *target = setting("RPMEM_ACCEPT_TARGET");

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("begun\n");
	do {
		unsigned nlanes = LANES;
		const char *failed;
		RPMEMpool *pool;

		alarm(LIMIT_S); /* for each pool */
		pool = create ? rpmem_create(target, set, memory, size, &nlanes, kind_attr(HEADERS))
			      : rpmem_open(target, set, memory, size, &nlanes, NULL);
		if (pool == NULL)
			return lost(create ? "create" : "open", NULL);
		create = false;
		failed = use(pool, memory, size, nlanes);
		if (failed != NULL)
			return lost(failed, pool);
		if (rpmem_close(pool) != 0)
			return lost("close", NULL);
	} while (!told_to_end());
	printf("done\n");
	return EXIT_SUCCESS;
}

int test_start(int argc, char **argv)
{
	return argc > 3 && strcmp(argv[1], "--work") == 0
		       ? work(argv[2], strtoull(argv[3], NULL, 10), argc > 4)
		       : -1;
}
