/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pool_dax.c -- what makes parts durable on a file system with DAX: mmap(2) is
 * made to take MAP_SYNC, where the test asks for it.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "common/rdma/gpspm.h"
#include "pool_scratch.h"
#include "tools/rpmemd/mapping.h"

static struct {
	bool has_map_sync;
	unsigned holes; /* left by refusals */
	unsigned msyncs;
	bool msync_fails;
} system_calls;

void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (flags & MAP_SYNC && !system_calls.has_map_sync) {
		system_calls.holes += (flags & MAP_FIXED) != 0;
		errno = EOPNOTSUPP;
		return MAP_FAILED;
	}
	if (flags & MAP_SYNC)
		flags = MAP_SHARED | (flags & MAP_FIXED);
	return __real_mmap(at, len, prot, flags, fd, offset);
}

int __real_msync(void *at, size_t len, int flags);
int __wrap_msync(void *at, size_t len, int flags)
{
	system_calls.msyncs++;
	if (system_calls.msync_fails) {
		errno = EIO;
		return -1;
	}
	return __real_msync(at, len, flags);
}

/* Without it in the build, msync(2) is for DAX as well. */
static bool has_libpmem(void)
{
	const struct target dax = {.kind = TARGET_FSDAX};
	struct persist persist;

	return persist_open(&persist, &dax) == 0 && persist.method == PERSIST_LIBPMEM;
}

static unsigned msyncs_of(int (*persist)(const struct pool *of, size_t offset, size_t length))
{
	system_calls.msyncs = 0;
	assert_int_equal(persist(pool, 2 * MIB - 100, 200), 0);
	return system_calls.msyncs;
}

static void open_with(bool has_map_sync, const char *force)
{
	system_calls.has_map_sync = has_map_sync;
	if (force != NULL)
		assert_int_equal(setenv("PMEM_IS_PMEM_FORCE", force, 1), 0);
	else
		assert_int_equal(unsetenv("PMEM_IS_PMEM_FORCE"), 0);
	set_write("my.set", "OPTION NOHDRS\n2M @/a\n2M @/b\n");
	assert_int_equal(create_plain(&pool, "my.set", MIB), 0);
}

/* The range is in two parts. libpmem flushes caches; deep, the kernel is asked as well. */
POOL_TEST(dax_takes_no_system_call_unless_deep)
{
	static const struct {
		bool has_map_sync;
		const char *force;
		bool is_pmem;
	} cases[] = {
		{true, NULL, true}, {true, "1", true},	 {true, "0", false},   {true, "x", true},
		{false, "1", true}, {false, "0", false}, {false, NULL, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_with(cases[i].has_map_sync, cases[i].force);
		EQUAL((pool_is_pmem(pool), cases[i].is_pmem),
		      (pool_kind(pool) == TARGET_FSDAX, cases[i].has_map_sync),
		      (system_calls.holes, 0), (msyncs_of(pool_deep_persist), 2),
		      (msyncs_of(pool_persist), cases[i].is_pmem && has_libpmem() ? 0 : 2));
		pool_close(&pool, true);
	}
}

/* The node is played by a file; what sysfs has on it is devdax.c's to read. */
POOL_TEST(device_dax_of_volatile_memory_is_refused_unless_forced)
{
	char path[PATH_MAX];
	struct pool_file file = {.device = 1, .is_volatile = true};
	struct mapping mapping;

	scratch_write("dax", "");
	file.path = strdup(scratch_path("dax", path));
	file.fd = open(file.path, O_RDWR | O_CLOEXEC);
	assert_true(file.fd >= 0);
	assert_int_equal(ftruncate(file.fd, (off_t)MIB), 0);
	system_calls.has_map_sync = true;
	assert_int_equal(unsetenv("PMEM_IS_PMEM_FORCE"), 0);
	assert_failed(mapping_open(&mapping, &file, NULL, MIB, 0), ENOTSUP,
		      "is device DAX of no persistent memory (nd_pmem)");
	assert_int_equal(setenv("PMEM_IS_PMEM_FORCE", "0", 1), 0);
	assert_failed(mapping_open(&mapping, &file, NULL, MIB, 0), ENOTSUP, "nd_pmem");
	EQUAL((setenv("PMEM_IS_PMEM_FORCE", "1", 1), 0),
	      (mapping_open(&mapping, &file, NULL, MIB, 0), 0),
	      (mapping.target.kind, TARGET_MEMFILE));
	mapping_close(&mapping);
	assert_int_equal(unsetenv("PMEM_IS_PMEM_FORCE"), 0);
	file.is_volatile = false;
	if (has_libpmem()) {
		EQUAL((mapping_open(&mapping, &file, NULL, MIB, 0), 0),
		      (mapping.target.kind, TARGET_DEVDAX), (mapping.is_pmem, true));
		mapping_close(&mapping);
	}
	close(file.fd);
	free(file.path);
}

POOL_TEST(a_failed_deep_persist_stays_failed)
{
	open_with(true, NULL);
	system_calls.msync_fails = true;
	assert_failed(pool_deep_persist(pool, 0, 1), EIO, "/a");
	system_calls.msync_fails = false;
	system_calls.msyncs = 0;
	assert_failed(pool_deep_persist(pool, MIB, 1), EIO, "/a");
	EQUAL((system_calls.msyncs, 0), (pool_deep_persist(pool, 2 * MIB, 1), 0));
}
