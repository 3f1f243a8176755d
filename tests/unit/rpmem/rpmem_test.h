/* SPDX-License-Identifier: BSD-3-Clause */
/* rpmem_test.h -- pools of the API over a scripted daemon and lanes without connections. */
#pragma once

#include <errno.h>
#include <sys/mman.h>

#include "fake_lane.h"
#include "librpmem/src/report.h"
#include "session_test.h"

#define POOL_BYTES ((size_t)8 << 20)
#define PAGE	   ((size_t)4096)
#define LANES	   16

static unsigned char *memory;
static RPMEMpool *pool;
static const struct rpmem_pool_attr attr = {.signature = "FAKE", .major = 6};

/* Sets what the next ssh does. */
static inline void set_script(const char *script)
{
	setenv("FAKE_SSH_SCRIPT", test_script(script), 1);
}

static inline int setup(void **state)
{
	memset(&fake_lanes, 0, sizeof(fake_lanes));
	fake_lanes.most = 64;
	pool = NULL;
	unsetenv("RPMEM_ENABLE_SOCKETS");
	unsetenv("RPMEM_ENABLE_VERBS");
	if (test_setup(state) != 0)
		return -1;
	set_script("started,log=$D/log,serve");
	return 0;
}

static inline int teardown(void **state)
{
	if (pool != NULL)
		rpmem_close(pool);
	return scratch_teardown(state);
}

static inline RPMEMpool *create(void)
{
	unsigned nlanes = LANES;

	return rpmem_create("host", "pool.set", memory, POOL_BYTES, &nlanes, &attr);
}

static inline RPMEMpool *open_set(const char *pool_set)
{
	unsigned nlanes = LANES;

	return rpmem_open("host", pool_set, memory, POOL_BYTES, &nlanes, NULL);
}

static inline void expect_errno(int expected)
{
	assert_int_equal(errno, expected);
	assert_true(rpmem_errormsg()[0] != '\0');
}

#define expect_failure(call, expected)                                                             \
	do {                                                                                       \
		errno = 0;                                                                         \
		failure_get()->text[0] = '\0';                                                     \
		assert_int_equal(call, -1);                                                        \
		expect_errno(expected);                                                            \
	} while (0)

#define expect_no_pool(call, expected)                                                             \
	do {                                                                                       \
		errno = 0;                                                                         \
		failure_get()->text[0] = '\0';                                                     \
		assert_null(call);                                                                 \
		expect_errno(expected);                                                            \
	} while (0)

/* Before the tests; false: out of memory. */
static inline bool prepare(void)
{
	report_open(REPORT_NOTHING, NULL);
	memory = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory != MAP_FAILED;
}

#define POOL_TEST(name) TEST(name, setup, teardown)
