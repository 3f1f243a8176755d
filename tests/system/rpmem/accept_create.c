/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_create.c -- create and open: what they make, and what they refuse.
 */
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "accept.h"

/* --- A1 to A3, A11: what cannot be had ---------------------------------------------- */

static void a_missing_set(void)
{
	void *memory = heap(PART);

	CHECK_NO_POOL(try_create(name_of("no.set"), memory, PART, kind_attr(HEADERS)), ENOENT);
	CHECK(strstr(rpmem_errormsg(), "no.set") != NULL);
	CHECK_NO_POOL(try_open(name_of("no.set"), memory, PART), ENOENT);
	set_of(HEADERS);
	CHECK_NO_POOL(try_open(name_of("my.set"), memory, PART), ENOENT);
}

/* Run by another user than root, for whom all files can be read. */
static void an_unreadable_set(void)
{
	void *memory = heap(PART);

	set_of(HEADERS);
	CHECK(chmod(path_of("my.set"), 0) == 0);
	CHECK_NO_POOL(try_create(name_of("my.set"), memory, PART, kind_attr(HEADERS)), EACCES);
	CHECK_NO_POOL(try_open(name_of("my.set"), memory, PART), EACCES);
	CHECK(chmod(path_of("my.set"), 0644) == 0);
	CHECK(chmod(path_of("."), 0555) == 0);
	CHECK_NO_POOL(try_create(name_of("my.set"), memory, PART, kind_attr(HEADERS)), EACCES);
	CHECK(chmod(path_of("."), 0755) == 0);
	no_part_is_left();
}

static void a_pool_that_is_too_small(void)
{
	void *memory = heap(4 * PART);

	FOR_EACH_KIND(kind)
	{
		const char *set = set_of(kind);

		CHECK_NO_POOL(try_create(set, memory, 4 * PART, kind_attr(kind)), EFBIG);
		CHECK_NO_POOL(try_create(set, memory, kind_size(kind) + PAGE, kind_attr(kind)),
			      EFBIG);
		no_part_is_left();
		close_pool(try_create(set, memory, kind_size(kind), kind_attr(kind)));
		CHECK_NO_POOL(try_open(set, memory, kind_size(kind) + PAGE), EFBIG);
		close_pool(try_open(set, memory, kind_size(kind)));
		CHECK(rpmem_remove(target(), set, 0) == 0);
	}
}

/* --- A4 to A6 ------------------------------------------------------------------------- */

static void create_and_close(void)
{
	FOR_EACH_KIND(kind)
	{
		close_pool(create_pool(kind, heap(PART), PART));
		CHECK(file_size("a") == (off_t)PART && file_size("b") == (off_t)PART);
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		close_pool(create_pool(kind, file_memory(PART), PART));
		close_pool(open_pool(file_memory(PART), PART));
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		no_part_is_left();
	}
}

static void parts_are_for_their_owner(void)
{
	struct stat st;

	close_pool(create_pool(HEADERS, heap(PART), PART));
	CHECK(stat(path_of("a"), &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK((size_t)st.st_blocks * 512 >= PART);
}

static void a_set_in_a_subdirectory(void)
{
	void *memory = heap(PART);

	CHECK(mkdir(path_of("deep"), 0755) == 0 && mkdir(path_of("deep/er"), 0755) == 0);
	set_write("deep/er/my.set", "8M @/a\n");
	close_pool(try_create(name_of("deep/er/my.set"), memory, PART, kind_attr(HEADERS)));
	close_pool(try_open(name_of("deep/er/my.set"), memory, PART));
}

static void the_same_set_again(void)
{
	unsigned char *memory = heap(PART), *copy = heap(PART);

	FOR_EACH_KIND(kind)
	{
		RPMEMpool *pool = create_pool(kind, memory, PART);

		fill(memory, PART, kind);
		CHECK(rpmem_persist(pool, HEADER, PART - HEADER, 0, 0) == 0);
		close_pool(pool);
		if (kind == NOHDRS)
			close_pool(create_pool(kind, copy, PART));
		else
			CHECK_NO_POOL(try_create(name_of("my.set"), copy, PART, kind_attr(kind)),
				      EEXIST);
		pool = open_pool(copy, PART);
		CHECK(rpmem_read(pool, copy + HEADER, HEADER, PART - HEADER, 0) == 0);
		compare(copy + HEADER, memory + HEADER, PART - HEADER);
		close_pool(pool);
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	}
}

/* A failure after the parts were opened leaves those that were there: a pool without headers. */
static void a_failed_create_keeps_older_parts(void)
{
	unsigned char *memory = heap(4 * PART);

	close_pool(create_pool(NOHDRS, memory, PART));
	CHECK_NO_POOL(try_create(name_of("my.set"), memory, 4 * PART, NULL), EFBIG);
	CHECK_NO_POOL(try_create(name_of("my.set"), memory, PART, kind_attr(HEADERS)), EINVAL);
	CHECK(file_exists("a") && file_exists("b"));
	close_pool(open_pool(memory, PART));
}

/* --- A7, A8, A11: pools in use -------------------------------------------------------- */

static void still_works(RPMEMpool *pool, unsigned char *memory)
{
	unsigned char copy[64];

	fill(memory + HEADER, sizeof(copy), (uintptr_t)copy);
	CHECK(rpmem_persist(pool, HEADER, sizeof(copy), 0, 0) == 0);
	CHECK(rpmem_read(pool, copy, HEADER, sizeof(copy), 0) == 0);
	compare(copy, memory + HEADER, sizeof(copy));
}

/* Each waits for the lock. */
static void a_pool_in_use(void)
{
	unsigned char *memory = heap(PART), *other = heap(PART);
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);
	const char *set = name_of("my.set");

	CHECK_NO_POOL(try_create(set, other, PART, kind_attr(HEADERS)), EBUSY);
	CHECK_NO_POOL(try_open(set, other, PART), EBUSY);
	still_works(pool, memory);
	close_pool(pool);
	close_pool(open_pool(memory, PART));
	CHECK(rpmem_remove(target(), set, 0) == 0);
}

static void a_set_that_shares_a_part(void)
{
	unsigned char *memory = heap(PART);
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);
	const char *set = set_write("other.set", "8M @/c\n8M @/b\n");

	CHECK_NO_POOL(try_create(set, heap(PART), PART, kind_attr(HEADERS)), EBUSY);
	CHECK(!file_exists("c"));
	still_works(pool, memory);
	close_pool(pool);
	CHECK_NO_POOL(try_create(set, heap(PART), PART, kind_attr(HEADERS)), EEXIST);
	CHECK(!file_exists("c"));
	close_pool(open_pool(memory, PART));
}

/* --- A9, A10 -------------------------------------------------------------------------- */

static void attributes_and_options(void)
{
	static const struct rpmem_pool_attr zeros,
		with_bit = {.signature = "X", .incompat_features = 1};
	void *memory = heap(PART);

	CHECK_NO_POOL(try_create(set_of(HEADERS), memory, PART, NULL), EINVAL);
	CHECK_NO_POOL(try_create(set_of(HEADERS), memory, PART, &zeros), EINVAL);
	CHECK_NO_POOL(try_create(set_of(HEADERS), memory, PART, &with_bit), EINVAL);
	CHECK_NO_POOL(try_create(set_of(SINGLEHDR), memory, PART, NULL), EINVAL);
	CHECK_NO_POOL(try_create(set_of(NOHDRS), memory, PART, kind_attr(HEADERS)), EINVAL);
	no_part_is_left();
	/* the bit is derived from the set */
	close_pool(try_create(set_of(SINGLEHDR), memory, PART, kind_attr(HEADERS)));
}

/* --- A35: sizes, A31: memory ------------------------------------------------------------ */

static void small_parts(void)
{
	void *memory = heap(PART);
	char lines[64];

	snprintf(lines, sizeof(lines), "%zu @/a\n", RPMEM_MIN_PART);
	close_pool(
		try_create(set_write("my.set", lines), memory, RPMEM_MIN_PART, kind_attr(HEADERS)));
	CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	snprintf(lines, sizeof(lines), "%zu @/a\n", RPMEM_MIN_PART - PAGE);
	CHECK_NO_POOL(
		try_create(set_write("my.set", lines), memory, RPMEM_MIN_POOL, kind_attr(HEADERS)),
		EINVAL);
	no_part_is_left();
}

static void arguments_are_checked(void)
{
	const char *set = set_of(HEADERS);
	const struct rpmem_pool_attr *attr = kind_attr(HEADERS);
	unsigned char *memory = heap(PART);
	unsigned none = 0;

	CHECK_NO_POOL(try_create(set, NULL, PART, attr), EINVAL);
	CHECK_NO_POOL(try_create(set, memory + 8, PAGE, attr), EINVAL);
	CHECK_NO_POOL(try_create(set, memory, PAGE + 8, attr), EINVAL);
	CHECK_NO_POOL(try_create(set, memory, 0, attr), EINVAL);
	CHECK_NO_POOL(rpmem_create(target(), set, memory, PAGE, NULL, attr), EINVAL);
	CHECK_NO_POOL(rpmem_create(target(), set, memory, PAGE, &none, attr), EINVAL);
	CHECK_NO_POOL(rpmem_open(target(), set, memory, PAGE, NULL, NULL), EINVAL);
	CHECK_NO_POOL(try_open(set, memory, PAGE + 8), EINVAL);
	no_part_is_left();
}

/* As libpmempool probes a replica: from heap memory, with reads into the stack. */
static void two_pages_of_a_larger_pool(void)
{
	unsigned char *memory = heap(PART), *two_pages = heap(2 * PAGE), stack[PAGE];
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);

	fill(memory, PART, 1);
	CHECK(rpmem_persist(pool, HEADER, PART - HEADER, 0, 0) == 0);
	close_pool(pool);
	pool = open_pool(two_pages, 2 * PAGE);
	CHECK(rpmem_read(pool, stack, PAGE, PAGE, 0) == 0);
	compare(stack, memory + PAGE, PAGE);
	CHECK(rpmem_read(pool, stack + 5, PAGE + 3, 1000, 0) == 0);
	compare(stack + 5, memory + PAGE + 3, 1000);
	CHECK_ERRNO(rpmem_read(pool, stack, 2 * PAGE, 8, 0), EINVAL);
	CHECK_ERRNO(rpmem_read(pool, stack, PAGE, PAGE + 1, 0), EINVAL);
	CHECK_ERRNO(rpmem_persist(pool, 2 * PAGE, 8, 0, 0), EINVAL);
	fill(two_pages, 2 * PAGE, 2);
	CHECK(rpmem_persist(pool, PAGE, PAGE, 0, 0) == 0);
	close_pool(pool);
	pool = try_open(name_of("my.set"), two_pages, PAGE);
	CHECK(pool != NULL); /* nothing of it can be written */
	CHECK_ERRNO(rpmem_persist(pool, 0, 8, 0, 0), EINVAL);
	close_pool(pool);
}

static void memory_that_cannot_be_used(void)
{
	void *memory = mmap(NULL, PART, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* vm.mmap_min_addr of Linux: mmap(2) chooses no address so low by itself */
	void *unmapped = (void *)(uintptr_t)(64 << 10);

	FOR_EACH_KIND(kind)
	{
		const char *set = set_of(kind);

		CHECK_NO_POOL(try_create(set, memory, PART, kind_attr(kind)), EACCES);
		no_part_is_left();
		CHECK_NO_POOL(try_create(set, unmapped, PART, kind_attr(kind)), EFAULT);
		no_part_is_left();
	}
}

/* Root is exempt from the limit by a capability. */
static void limit_locked_memory(rlim_t bytes)
{
	const struct rlimit limit = {bytes, bytes};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	CHECK(syscall(SYS_capget, &header, caps) == 0);
	caps[0].effective &= ~(1U << CAP_IPC_LOCK);
	CHECK(syscall(SYS_capset, &header, caps) == 0);
}

/* The software device has no such limit: there the environment makes registrations fail. */
static void too_little_memory_may_be_locked(void)
{
	void *memory = heap(PART);

	limit_locked_memory(65536);
	if (over_tcp()) {
		close_pool(create_pool(HEADERS, memory, PART));
		return;
	}
	CHECK_NO_POOL(try_create(set_of(HEADERS), memory, PART, kind_attr(HEADERS)), ENOMEM);
	CHECK(strstr(rpmem_errormsg(), "ulimit -l") != NULL);
	CHECK(strstr(rpmem_errormsg(), "8 MiB") != NULL);
	CHECK(strstr(rpmem_errormsg(), "64 KiB") != NULL);
	no_part_is_left();
}

static void the_daemon_may_lock_too_little_memory(void)
{
	void *memory = heap(PART);

	if (over_tcp()) {
		close_pool(create_pool(SINGLEHDR, memory, PART));
		return;
	}
	CHECK_NO_POOL(try_create(set_of(SINGLEHDR), memory, PART, kind_attr(SINGLEHDR)), EREMOTEIO);
	CHECK(strstr(rpmem_errormsg(), "ulimit -l") != NULL);
	CHECK(strstr(rpmem_errormsg(), "16 MiB") != NULL);
	CHECK(strstr(rpmem_errormsg(), "64 KiB") != NULL);
	no_part_is_left();
}

const struct accept_case cases_of_create[] = {
	{"a_missing_set", a_missing_set, {NULL}, false},
	{"an_unreadable_set", an_unreadable_set, {"RPMEM_CMD=%u%c --log-file=/dev/null"}, false},
	{"a_pool_that_is_too_small", a_pool_that_is_too_small, {NULL}, false},
	{"create_and_close", create_and_close, {NULL}, false},
	{"parts_are_for_their_owner", parts_are_for_their_owner, {NULL}, false},
	{"a_set_in_a_subdirectory", a_set_in_a_subdirectory, {NULL}, false},
	{"the_same_set_again", the_same_set_again, {NULL}, false},
	{"a_failed_create_keeps_older_parts", a_failed_create_keeps_older_parts, {NULL}, false},
	{"a_pool_in_use", a_pool_in_use, {NULL}, false},
	{"a_set_that_shares_a_part", a_set_that_shares_a_part, {NULL}, false},
	{"attributes_and_options", attributes_and_options, {NULL}, false},
	{"small_parts", small_parts, {NULL}, false},
	{"arguments_are_checked", arguments_are_checked, {NULL}, false},
	{"two_pages_of_a_larger_pool", two_pages_of_a_larger_pool, {NULL}, false},
	{"memory_that_cannot_be_used", memory_that_cannot_be_used, {NULL}, false},
	{"too_little_memory_may_be_locked",
	 too_little_memory_may_be_locked,
	 {"RPMA_SOFT=%c register:errno=ENOMEM", "RPMEM_CMD=RPMA_SOFT= %c"},
	 false},
	{"the_daemon_may_lock_too_little_memory",
	 the_daemon_may_lock_too_little_memory,
	 {"RPMEM_CMD=ulimit -l 64; exec %lenv RPMA_SOFT=register:errno=ENOMEM %c"},
	 false},
	{NULL, NULL, {NULL}, false},
};
