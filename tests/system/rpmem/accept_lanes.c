/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_lanes.c -- lanes and clients: how many, by which method; versions and messages.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accept.h"

/* --- A30: how many ------------------------------------------------------------------- */

static unsigned lanes_of(unsigned wanted)
{
	unsigned char *memory = heap(PART);
	unsigned nlanes = wanted;
	RPMEMpool *pool = with_lanes(HEADERS, memory, PART, &nlanes);

	CHECK(nlanes > 0 && nlanes <= wanted);
	CHECK(rpmem_persist(pool, HEADER, 8, nlanes - 1, 0) == 0);
	CHECK_ERRNO(rpmem_persist(pool, HEADER, 8, nlanes, 0), EINVAL);
	close_pool(pool);
	CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	free(memory);
	return nlanes;
}

static void numbers_of_lanes(void)
{
	CHECK(lanes_of(1) == 1);
	CHECK(lanes_of(1024) <= 1024);
	CHECK(lanes_of(1U << 31) <= 1024);
	CHECK(lanes_of(UINT32_MAX) <= 1024);
}

static void most_lanes_of_the_environment(void)
{
	CHECK(lanes_of(1024) == 2);
	CHECK(lanes_of(1) == 1);
}

/* Whatever a call needs a descriptor for: it fails as a whole, or not at all. */
static void too_few_descriptors(void)
{
	const struct rlimit limit = {256, 256};
	unsigned char *memory = heap(PART);
	int fds[256], count = 0, succeeded = 0;
	unsigned nlanes;

	close_pool(try_create(set_of(HEADERS), memory, PART,
			      kind_attr(HEADERS))); /* the device stays open */
	CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	for (int spare = 0; spare < 40 && succeeded < 3; spare++) {
		RPMEMpool *pool;

		nlanes = 4;
		pool = rpmem_create(target(), name_of("my.set"), memory, PART, &nlanes,
				    kind_attr(HEADERS));
		if (pool == NULL) {
			CHECK(errno == EMFILE);
			no_part_is_left();
		} else {
			succeeded++;
			close_pool(pool);
			close(fds[--count]); /* remove has no need of more */
			CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		}
		close(fds[--count]);
	}
	CHECK(succeeded == 3);
}

/* --- A32: the method ------------------------------------------------------------------- */

/* APM needs persist-apm, PMem and a transport that can flush. */
static void expect_method(const char *expected)
{
	char line[2048];

	close_pool(create_pool(HEADERS, heap(PART), PART));
	last_daemon(line, sizeof(line));
	if (strstr(line, expected) == NULL) {
		printf("no '%s' in %s", expected, line);
		exit(EXIT_FAILURE);
	}
}

static void apm_on_pmem(void)
{
	expect_method(over_tcp() ? "method GPSPM" : "method APM");
}

static void gpspm(void)
{
	expect_method("method GPSPM");
}

static void gpspm_on_disk(void)
{
	struct statfs fs;

	CHECK(statfs(setting("RPMEM_ACCEPT_DIR"), &fs) == 0);
	if (fs.f_type == TMPFS_MAGIC)
		accept_skip("rpmemd refuses pools in memory");
	gpspm();
}

/* --- A34: several pools ------------------------------------------------------------------ */

static void write_and_read(const char *file, uint64_t seed)
{
	unsigned char *memory = heap(PART), *copy = heap(PART);
	char lines[64];
	RPMEMpool *pool;

	snprintf(lines, sizeof(lines), "8M @/%s.part\n", file);
	pool = try_create(set_write(file, lines), memory, PART, kind_attr(HEADERS));
	CHECK(pool != NULL);
	fill(memory, PART, seed);
	for (size_t i = 1; i < PART / 65536; i++)
		CHECK(rpmem_persist(pool, i * 65536, 65536, 0, i % 2) == 0);
	CHECK(rpmem_read(pool, copy + 65536, 65536, PART - 65536, 0) == 0);
	compare(copy + 65536, memory + 65536, PART - 65536);
	close_pool(pool);
}

static void two_clients(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		write_and_read("child.set", 1);
		exit(EXIT_SUCCESS);
	}
	write_and_read("parent.set", 2);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void two_pools_of_one_client(void)
{
	unsigned char *memory = heap(2 * PART), copy[4096];
	RPMEMpool *first, *second;

	first = try_create(set_write("1.set", "8M @/1\n"), memory, PART, kind_attr(HEADERS));
	second =
		try_create(set_write("2.set", "8M @/2\n"), memory + PART, PART, kind_attr(HEADERS));
	CHECK(first != NULL && second != NULL);
	fill(memory, 2 * PART, 3);
	CHECK(rpmem_persist(first, HEADER, PART - HEADER, 0, 0) == 0);
	close_pool(first);
	CHECK(rpmem_persist(second, HEADER, PART - HEADER, 0, 0) == 0);
	CHECK(rpmem_read(second, copy, PART - sizeof(copy), sizeof(copy), 0) == 0);
	compare(copy, memory + 2 * PART - sizeof(copy), sizeof(copy));
	close_pool(second);
	first = try_open(name_of("1.set"), memory + PART, PART);
	CHECK(rpmem_read(first, copy, PART - sizeof(copy), sizeof(copy), 0) == 0);
	compare(copy, memory + PART - sizeof(copy), sizeof(copy));
	close_pool(first);
}

/* Each connection takes the next command: the second one fails. */
static void commands_take_turns(void)
{
	void *memory = heap(PART);

	close_pool(create_pool(HEADERS, memory, PART));
	CHECK_NO_POOL(try_create(set_of(HEADERS), memory, PART, kind_attr(HEADERS)), ECONNRESET);
	close_pool(open_pool(memory, PART));
	CHECK_ERRNO(rpmem_remove(target(), name_of("my.set"), 0), ECONNRESET);
	CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	no_part_is_left();
}

/* --- A36: versions and messages ---------------------------------------------------------- */

static void versions(void)
{
	CHECK(rpmem_check_version(1, 0) == NULL);
	CHECK(rpmem_check_version(1, 3) == NULL);
	CHECK(rpmem_check_version(1, 4) != NULL);
	CHECK(rpmem_check_version(2, 0) != NULL);
	CHECK(rpmem_check_version(0, 3) != NULL);
}

static void *fail_here(void *memory)
{
	CHECK_NO_POOL(try_open(name_of("of-a-thread.set"), memory, PAGE), ENOENT);
	CHECK(strstr(rpmem_errormsg(), "of-a-thread") != NULL);
	return NULL;
}

static void messages_of_threads(void)
{
	void *memory = heap(PAGE);
	pthread_t thread;

	CHECK_NO_POOL(try_open(name_of("of-main.set"), memory, PAGE), ENOENT);
	CHECK(pthread_create(&thread, NULL, fail_here, memory) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(strstr(rpmem_errormsg(), "of-main") != NULL);
}

#define METHOD(force, wanted) "RPMEM_CMD=PMEM_IS_PMEM_FORCE=" force " %c" wanted

const struct accept_case cases_of_lanes[] = {
	{"numbers_of_lanes", numbers_of_lanes, {NULL}, false},
	{"most_lanes_of_the_environment",
	 most_lanes_of_the_environment,
	 {"RPMEM_MAX_NLANES=2"},
	 false},
	{"too_few_descriptors", too_few_descriptors, {NULL}, false},
	{"apm_on_pmem", apm_on_pmem, {METHOD("1", " --persist-apm")}, false},
	{"gpspm_on_pmem", gpspm, {METHOD("1", "")}, false},
	{"gpspm_without_pmem", gpspm_on_disk, {METHOD("0", " --persist-apm")}, false},
	{"gpspm_if_nothing_is_asked_for", gpspm_on_disk, {METHOD("0", "")}, false},
	{"two_clients", two_clients, {NULL}, false},
	{"two_pools_of_one_client", two_pools_of_one_client, {NULL}, false},
	{"commands_take_turns", commands_take_turns, {"RPMEM_CMD=%c|/does/not/exist"}, false},
	{"versions", versions, {NULL}, false},
	{"messages_of_threads", messages_of_threads, {NULL}, false},
	{NULL, NULL, {NULL}, false},
};
