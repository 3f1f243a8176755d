/* SPDX-License-Identifier: BSD-3-Clause */
/* test_target.c -- the memory a server offers, and the files it leaves alone. */
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/rdma/target.h"
#include "tests/lib/scratch.h"

static struct target t;
static struct stat st;

static const struct target_cfg plain = {.node = -1};
static const struct target_cfg forced = {.node = -1, .force = true};

TEST(dram_is_there_and_writable)
{
	EQUAL((target_open(&t, "dram:1M", &plain), 0), (t.kind, TARGET_DRAM),
	      (t.size_bytes, 1048576), (t.page_bytes, sysconf(_SC_PAGESIZE)));
	memset(t.memory, 1, t.size_bytes);
	target_close(&t);
	assert_null(t.memory);
}

TEST(malformed_targets_are_refused)
{
	static const char *const specs[] = {
		"",	"dram",	    "dram:",	      "dram:0",	   "dram:1X",	 "dram:-1",
		":64M", "/tmp/x:0", "dram:99999999T", "hugepages", "hugepages:0"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		if (target_check(specs[i]) == 0)
			fail_msg("accepted: %s", specs[i]);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
	}
	EQUAL((target_check("dram:64M"), 0), (target_check("hugepages:64M"), 0),
	      (target_check("/dev/dax0.0"), 0), (target_check("/tmp/x:1G"), 0));
}

SCRATCH_TEST(a_new_file_goes_as_it_came)
{
	char path[PATH_MAX], spec[PATH_MAX + 8];

	snprintf(spec, sizeof(spec), "%s:64K", scratch_path("new", path));
	assert_int_equal(target_open(&t, spec, &plain), 0);
	assert_true(t.kind == TARGET_FSDAX || target_is_cached(t.kind));
	EQUAL((stat(path, &st), 0), (st.st_size, 65536));
	/* allocated, so that no write to it can fail later */
	assert_true(st.st_blocks * 512 >= 65536);
	memset(t.memory, 1, t.size_bytes);
	target_close(&t);
	assert_int_equal(stat(path, &st), -1);
}

/* A file of memfd_create(2) is on a tmpfs. */
TEST(a_file_in_memory_is_not_taken_for_one_on_a_disk)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	char path[64];

	assert_int_equal(ftruncate(fd, 65536), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EQUAL((target_open(&t, path, &forced), 0), (t.kind, TARGET_MEMFILE),
	      (target_kind_name(t.kind), "memfile"), (target_is_memory(t.kind), true));
	target_close(&t);
	close(fd);
}

/* A device DAX that is not there must not become memory of its name. */
TEST(no_file_in_dev_passes_for_a_device)
{
	assert_int_not_equal(target_open(&t, "/dev/dax99.9:64K", &forced), 0);
	EQUAL((failure_get()->text, HAS("no such device")), (stat("/dev/dax99.9", &st), -1));
}

SCRATCH_TEST(an_existing_file_is_not_replaced)
{
	char path[PATH_MAX], spec[PATH_MAX + 8], text[32];

	scratch_write("old", "precious");
	snprintf(spec, sizeof(spec), "%s:64K", scratch_path("old", path));
	assert_int_not_equal(target_open(&t, spec, &plain), 0);
	assert_int_not_equal(target_open(&t, spec, &forced), 0);
	assert_int_not_equal(target_open(&t, path, &plain), 0);
	assert_non_null(strstr(failure_get()->text, "--force"));
	scratch_read("old", text, sizeof(text));
	assert_string_equal(text, "precious");
}

/* An existing file is used with force, keeps its size and its content, and stays. */
SCRATCH_TEST(force_uses_an_existing_file)
{
	char path[PATH_MAX], text[32];

	scratch_write("old", "precious");
	EQUAL((target_open(&t, scratch_path("old", path), &forced), 0), (t.size_bytes, 8));
	assert_memory_equal(t.memory, "precious", 8);
	memcpy(t.memory, "PRE", 3);
	target_close(&t);
	EQUAL((scratch_read("old", text, sizeof(text)), 8), (text, "PREcious"));
}

static int open_window(uint64_t offset, uint64_t bytes)
{
	const struct target_cfg cfg = {.node = -1, .force = true, .offset = offset, .bytes = bytes};
	char path[PATH_MAX];

	return target_open(&t, scratch_path("old", path), &cfg);
}

/* A file of four pages, each full of its own letter. */
static size_t make_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[PATH_MAX];
	FILE *file = fopen(scratch_path("old", path), "we");

	assert_non_null(file);
	for (size_t i = 0; i < 4 * page; i++)
		assert_int_not_equal(fputc("abcd"[i / page], file), EOF);
	assert_int_equal(fclose(file), 0);
	return page;
}

SCRATCH_TEST(a_window_is_just_that_part)
{
	size_t page = make_pages();
	char path[PATH_MAX];

	EQUAL((open_window(page, 2 * page), 0), (t.size_bytes, 2 * page),
	      (((char *)t.memory)[0], 'b'), (((char *)t.memory)[2 * page - 1], 'c'));
	target_close(&t);
	EQUAL((open_window(3 * page, 0), 0), (t.size_bytes, page));
	target_close(&t);
	EQUAL((open_window(0, 100), 0), (t.size_bytes, 100));
	target_close(&t);
	EQUAL((stat(scratch_path("old", path), &st), 0), (st.st_size, 4 * page));
}

/* A hole elsewhere stays one. */
SCRATCH_TEST(no_more_than_the_window_is_touched)
{
	const off_t half = 1 << 20;
	char path[PATH_MAX];

	scratch_write("old", "");
	EQUAL((truncate(scratch_path("old", path), 2 * half), 0),
	      (open_window((uint64_t)half, 65536), 0), (stat(path, &st), 0),
	      (st.st_size, 2 * half));
	assert_in_range(st.st_blocks * 512, 65536, half - 1);
	target_close(&t);
}

SCRATCH_TEST(a_window_is_within_its_file)
{
	size_t page = make_pages();

	assert_int_not_equal(open_window(4 * page, 0), 0);
	assert_non_null(strstr(failure_get()->text, "expected 1 or more there"));
	assert_int_not_equal(open_window(3 * page, page + 1), 0);
	assert_int_not_equal(open_window(0, UINT64_MAX), 0);
	assert_int_not_equal(open_window(UINT64_MAX, 1), 0);
	assert_int_not_equal(open_window(512, page), 0);
	assert_non_null(strstr(failure_get()->text, "an offset that is a multiple of"));
}

SCRATCH_TEST(what_is_made_has_no_window)
{
	const struct target_cfg cfg = {.node = -1, .force = true, .offset = 4096};
	char path[PATH_MAX], spec[PATH_MAX + 8];

	assert_int_not_equal(target_open(&t, "dram:64K", &cfg), 0);
	assert_non_null(strstr(failure_get()->text, "an existing file"));
	snprintf(spec, sizeof(spec), "%s:64K", scratch_path("new", path));
	assert_int_not_equal(target_open(&t, spec, &cfg), 0);
	assert_int_equal(stat(path, &st), -1);
}

SCRATCH_TEST(what_is_no_memory_is_refused)
{
	char path[PATH_MAX];

	scratch_write("empty", "");
	assert_int_not_equal(target_open(&t, scratch_path("empty", path), &forced), 0);
	assert_int_not_equal(target_open(&t, scratch_path("none", path), &forced), 0);
	assert_non_null(strstr(failure_get()->text, "PATH:SIZE"));
	assert_int_not_equal(target_open(&t, "/dev/null", &forced), 0);
	assert_int_not_equal(target_open(&t, scratch, &forced), 0);
}

/* Opening would already do something: a writer ends the wait of a FIFO's reader. */
SCRATCH_TEST(without_force_nothing_is_even_opened)
{
	char path[PATH_MAX];
	int reader;

	assert_int_equal(mkfifo(scratch_path("pipe", path), 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_not_equal(target_open(&t, path, &plain), 0);
	assert_non_null(strstr(failure_get()->text, "--force"));
	/* poll(2) tells of a writer that came and went */
	assert_int_equal(poll(&(struct pollfd){reader, POLLIN, 0}, 1, 0), 0);
	close(reader);
}

/* The number of free huge pages is the kernel's, whatever it is here. */
TEST(huge_pages_are_there_or_the_remedy_is_told)
{
	if (target_open(&t, "hugepages:1G", &plain) == 0) {
		EQUAL((t.kind, TARGET_HUGEPAGES), (1073741824 % t.page_bytes, 0));
		memset(t.memory, 1, t.page_bytes);
		target_close(&t);
		return;
	}
	if (strstr(failure_get()->text, "this kernel has none") == NULL)
		assert_non_null(strstr(failure_get()->text, "vm.nr_hugepages="));
}

TEST(huge_pages_come_whole)
{
	assert_int_not_equal(target_open(&t, "hugepages:4097", &plain), 0);
	if (strstr(failure_get()->text, "this kernel has none") == NULL)
		assert_non_null(strstr(failure_get()->text, "multiple"));
}

static bool always(void *arg)
{
	return true;
}

/* A large target is not filled to its end first, and nothing is left of it. */
SCRATCH_TEST(a_signal_ends_the_filling)
{
	const struct target_cfg stopped = {.node = -1, .stopped = always};
	char path[PATH_MAX], spec[PATH_MAX + 8];

	assert_int_equal(target_open(&t, "dram:1G", &stopped), -ECANCELED);
	snprintf(spec, sizeof(spec), "%s:64K", scratch_path("new", path));
	EQUAL((target_open(&t, spec, &stopped), -ECANCELED), (stat(path, &st), -1));
}

/* Node 0 is there on every machine; a node that is not is told of, and no failure. */
TEST(memory_is_bound_where_that_is_possible)
{
	assert_int_equal(target_open(&t, "dram:64K", &(struct target_cfg){.node = 0}), 0);
	if (t.bind_error == 0)
		assert_int_equal(t.numa_node, 0);
	target_close(&t);
	assert_int_equal(target_open(&t, "dram:64K", &(struct target_cfg){.node = 1000}), 0);
	assert_int_not_equal(t.bind_error, 0);
	target_close(&t);
}
