/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_daemon.c -- the lanes of rpmemd on a pool that is one file, without ssh and
 * without pool sets: prints where they are, and serves until its input ends.
 *
 * lane_daemon rdma|tcp gpspm|apm FILE BYTES NLANES [headers]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/rdma/connection.h"
#include "tests/lib/one_pool.h"
#include "tools/rpmemd/lanes.h"
#include "tools/rpmemd/log.h"

#define WHOLE_US 200
#define MISMATCH 70 /* the exit status where the pool is not what a request may leave */

/*
 * A range that lane_serve() ought to have refused is fatal here. The whole pool takes a while, as
 * on a disk: who asks for that again and again keeps a lane busy for good.
 */
static int persist(const struct pool *pool, size_t offset, size_t length)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = offset / page * page;

	if (length == 0 || offset >= pool->size || length > pool->size - offset)
		_exit(MISMATCH);
	if (length == pool->size)
		usleep(WHOLE_US);
	return msync(pool->memory + begin, length + (offset - begin), MS_SYNC);
}

int pool_persist(const struct pool *pool, size_t offset, size_t length)
{
	return persist(pool, offset, length);
}

int pool_deep_persist(const struct pool *pool, size_t offset, size_t length)
{
	return persist(pool, offset, length);
}

/* Between two pages that may not be touched. */
static int map_pool(struct pool *pool)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *around =
		mmap(NULL, pool->size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(pool->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory;

	if (around == MAP_FAILED || fd < 0 || ftruncate(fd, (off_t)pool->size) != 0)
		return -1;
	memory = mmap(around + page, pool->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		      0);
	close(fd);
	pool->memory = memory;
	return memory == MAP_FAILED ? -1 : 0;
}

static int fail(const char *what)
{
	fprintf(stderr, "lane_daemon: %s: %s\n", what, failure_get()->text);
	return EXIT_FAILURE;
}

static void wait_for_end_of_input(void)
{
	char bytes[64];

	while (read(STDIN_FILENO, bytes, sizeof(bytes)) > 0)
		;
}

int main(int argc, char **argv)
{
	const bool tcp = argc > 1 && strcmp(argv[1], "tcp") == 0;
	struct pool pool = {.has_headers = argc > 6, .kind = TARGET_FSDAX};
	struct lanes_cfg cfg = {.pool = &pool, .address = "127.0.0.1"};
	struct method method;
	struct lanes_tcp *lanes_tcp = NULL;
	struct lanes *lanes = NULL;
	struct control_pool_reply endpoint;

	if (argc < 6)
		return EXIT_WRONG_USAGE;
	cfg.persist_apm = strcmp(argv[2], "apm") == 0;
	setenv("PMEM_IS_PMEM_FORCE", "1", 1);
	pool.path = argv[3];
	pool.size = strtoul(argv[4], NULL, 0);
	cfg.nlanes = (uint32_t)strtoul(argv[5], NULL, 0);
	connection_log_to_failures(false);
	log_open(LOG_TO_STDERR, NULL, LEVEL_WARN);
	if (map_pool(&pool) != 0)
		return fail(argv[3]);
	if ((tcp ? lanes_tcp_open(&lanes_tcp, &cfg, &method, &endpoint)
		 : lanes_open(&lanes, &cfg, &method, &endpoint)) != 0)
		return fail("lanes");
	printf("%s %u %llu %s\n", endpoint.address, endpoint.port,
	       (unsigned long long)endpoint.token, method.method == CONTROL_APM ? "apm" : "gpspm");
	fflush(stdout);
	wait_for_end_of_input();
	lanes_close(&lanes);
	lanes_tcp_close(&lanes_tcp);
	return EXIT_SUCCESS;
}
