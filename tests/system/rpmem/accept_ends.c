/* SPDX-License-Identifier: BSD-3-Clause */
/* accept_ends.c -- the daemon is killed: an errno and a sentence, nothing left. */
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "accept.h"

static unsigned count_fds(void)
{
	DIR *fds = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(fds) != NULL)
		count++;
	closedir(fds);
	return count;
}

static void nothing_is_left_of(RPMEMpool *pool, unsigned fds)
{
	CHECK_ERRNO(rpmem_close(pool), ECONNRESET);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	/* libraries below keep some for the next connection: the second pool needs no more */
	CHECK(fds == 0 || count_fds() <= fds);
}

typedef int call_of_pool(RPMEMpool *pool);

static int call_persist(RPMEMpool *pool)
{
	return rpmem_persist(pool, HEADER, 4096, 0, RPMEM_PERSIST_RELAXED);
}

static int call_persist_plain(RPMEMpool *pool)
{
	return rpmem_persist(pool, HEADER, 64, 0, 0);
}

static int call_drain(RPMEMpool *pool)
{
	const int ret = rpmem_flush(pool, HEADER, 4096, 0, RPMEM_FLUSH_RELAXED);

	return ret != 0 ? ret : rpmem_drain(pool, 0, 0);
}

static int call_read(RPMEMpool *pool)
{
	unsigned char word[8];

	return rpmem_read(pool, word, HEADER, sizeof(word), 0);
}

static int call_set_attr(RPMEMpool *pool)
{
	return rpmem_set_attr(pool, kind_attr(HEADERS));
}

static call_of_pool *const calls[] = {call_persist, call_persist_plain, call_drain, call_read,
				      call_set_attr};

/* The daemon of a pool that stays when its client is gone. */
static pid_t first_persist(RPMEMpool *pool)
{
	CHECK(rpmem_persist(pool, HEADER, 8, 0, 0) == 0);
	return last_daemon();
}

static void a_killed_daemon(void)
{
	unsigned char *memory = heap(PART);
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);
	unsigned fds = 0;

	for (size_t i = 0; i < COUNT(calls); i++) {
		const pid_t daemon = first_persist(pool);

		CHECK(kill(daemon, SIGKILL) == 0 && has_ended(daemon));
		CHECK_ERRNO(calls[i](pool), ECONNRESET);
		for (size_t k = 0; k < COUNT(calls); k++)
			CHECK_ERRNO(calls[k](pool), ECONNRESET);
		nothing_is_left_of(pool, fds);
		fds = i == 1 ? count_fds() : fds;
		pool = open_pool(memory, PART);
	}
	close_pool(pool);
}

const struct accept_case cases_of_ends[] = {
	CASE(a_killed_daemon),
	{.name = NULL},
};
