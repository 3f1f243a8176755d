/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_ends.c -- the daemon is killed, or does not begin: an errno and a sentence, nothing left.
 */
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
	return last_daemon(NULL, 0);
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

static void a_daemon_killed_before_close(void)
{
	unsigned char *memory = heap(PART);
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);
	pid_t daemon = first_persist(pool);

	CHECK(kill(daemon, SIGKILL) == 0 && has_ended(daemon));
	nothing_is_left_of(pool, 0);
	pool = open_pool(memory, PART);
	daemon = first_persist(pool);
	CHECK(kill(daemon, SIGKILL) == 0);
	CHECK(rpmem_close(pool) == 0 || errno == ECONNRESET);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	close_pool(open_pool(memory, PART));
}

/* Told to end, it closes the pool in good order; the client sees a lost connection. */
static void a_daemon_that_is_told_to_end(void)
{
	unsigned char *memory = heap(PART);
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);
	const pid_t daemon = first_persist(pool);

	CHECK(kill(daemon, SIGTERM) == 0 && has_ended(daemon));
	CHECK_ERRNO(call_persist(pool), ECONNRESET);
	nothing_is_left_of(pool, 0);
	close_pool(open_pool(memory, PART));
}

/* --- a client that dies --------------------------------------------------------------------- */

/* A child that creates or opens the pool, may persist, and dies there. */
static void die_with_a_pool(bool create, bool persist)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		const char *set = name_of("my.set");
		RPMEMpool *pool = create ? try_create(set, heap(PART), PART, kind_attr(HEADERS))
					 : try_open(set, heap(PART), PART);

		if (pool != NULL && (!persist || call_persist(pool) == 0))
			raise(SIGKILL);
		_exit(EXIT_FAILURE);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

/* A device that is open already is no use to children: libibverbs, ibv_fork_init(3). */
static void open_in_a_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		close_pool(open_pool(heap(PART), PART));
		_exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* At once: its daemon may not have noticed yet. */
static void a_pool_whose_client_has_died(void)
{
	set_of(HEADERS);
	die_with_a_pool(true, true);
	for (int i = 0; i < 3; i++) {
		die_with_a_pool(false, i % 2 == 0);
		open_in_a_child();
	}
	die_with_a_pool(false, false);
	CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	no_part_is_left();
}

static void parts_that_got_no_data(void)
{
	set_of(HEADERS);
	for (int i = 0; i < 3; i++) {
		die_with_a_pool(true, false);
		close_pool(create_pool(HEADERS, heap(PART), PART));
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	}
	die_with_a_pool(true, false);
	CHECK(has_ended(last_daemon(NULL, 0)));
	no_part_is_left();
}

/* --- a daemon that does not begin ------------------------------------------------------ */

/* It ends before it sends HELLO. */
static void a_wrong_option(void)
{
	set_of(HEADERS);
	CHECK_NO_POOL(try_create(name_of("my.set"), heap(PART), PART, kind_attr(HEADERS)),
		      ECONNRESET);
	CHECK(strstr(rpmem_errormsg(), "--bogus") != NULL);
	CHECK_ERRNO(rpmem_remove(target(), name_of("my.set"), 0), EINVAL);
	CHECK(strstr(rpmem_errormsg(), "--bogus") != NULL);
}

const struct accept_case cases_of_ends[] = {
	CASE(a_killed_daemon),
	CASE(a_daemon_killed_before_close),
	CASE(a_daemon_that_is_told_to_end),
	CASE(a_pool_whose_client_has_died),
	CASE(parts_that_got_no_data),
	CASE(a_wrong_option, "RPMEM_CMD=%c --bogus"),
	{.name = NULL},
};
