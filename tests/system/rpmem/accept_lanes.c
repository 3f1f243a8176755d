/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_lanes.c -- lanes and clients: how many, by which method.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "accept.h"

/* --- how many lanes ----------------------------------------------------------------- */

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

/* --- the method ----------------------------------------------------------------------- */

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

static void gpspm_on_pmem(void)
{
	expect_method("method GPSPM");
}

/* --- several pools -------------------------------------------------------------------- */

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

#define ON_PMEM(wanted) "RPMEM_CMD=PMEM_IS_PMEM_FORCE=1 %c" wanted

const struct accept_case cases_of_lanes[] = {
	CASE(numbers_of_lanes),
	CASE(too_few_descriptors),
	CASE(apm_on_pmem, ON_PMEM(" --persist-apm")),
	CASE(gpspm_on_pmem, ON_PMEM("")),
	CASE(two_clients),
	CASE(two_pools_of_one_client),
	CASE(commands_take_turns, "RPMEM_CMD=%c|/does/not/exist"),
	{.name = NULL},
};
