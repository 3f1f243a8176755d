/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gather_limits.c -- limits and capabilities, as proc shows them. */
#include "readiness/gather.h"
#include "tests/lib/scratch_root.h"

#define LINE "Limit                     Soft Limit           Hard Limit           Units     \n"

static struct facts_limits limits;

static void gather(void)
{
	struct answers answers = {.root = &root};
	const struct gather g = {.root = &root, .answers = &answers};

	gather_limits(&g, &limits);
}

ROOT_TEST(limits_are_read)
{
	scratch_write("proc/self/limits",
		      LINE "Max open files            1024                 524288               "
			   "files     \n"
			   "Max locked memory         8388608              16777216             "
			   "bytes     \n");
	gather();
	EQUAL((limits.memlock_bytes, 8388608), (limits.open_files, 524288),
	      (limits.may_lock, KNOWN_NOT));
}

ROOT_TEST(unlimited_is_more_than_any)
{
	scratch_write("proc/self/limits",
		      LINE "Max locked memory         unlimited            unlimited            "
			   "bytes     \n"
			   "Max open files            unlimited            unlimited            "
			   "files     \n");
	gather();
	EQUAL((limits.memlock_bytes, INT64_MAX), (limits.open_files, INT64_MAX));
}

ROOT_TEST(what_is_no_limit_is_unknown)
{
	static const char *const texts[] = {
		"",
		LINE,
		"Max locked memory",
		"Max locked memory         some\n",
		"Max locked memory         -1                   -1\n",
		"XMax locked memory        1                    1\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		scratch_write("proc/self/limits", texts[i]);
		gather();
		EQUAL((limits.memlock_bytes, -1), (limits.open_files, -1));
	}
}

/* CAP_IPC_LOCK is number 14 of <linux/capability.h>. */
ROOT_TEST(the_capability_is_read)
{
	scratch_write("proc/self/status", "Name:\tx\nCapPrm:\t0\nCapEff:\t0000000000004000\n");
	gather();
	assert_int_equal(limits.may_lock, KNOWN_YES);
	scratch_write("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffbfff\n");
	gather();
	assert_int_equal(limits.may_lock, KNOWN_NO);
	scratch_write("proc/self/status", "Name:\tCapEff:\t0000000000004000\n");
	gather();
	assert_int_equal(limits.may_lock, KNOWN_NOT);
}

/* ib_umem_get() asks capable(), which is of the first user namespace. */
ROOT_TEST(root_of_a_container_may_not)
{
	scratch_write("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	scratch_write("proc/self/uid_map", "         0     100000      65536\n");
	gather();
	assert_int_equal(limits.may_lock, KNOWN_NO);
	scratch_write("proc/self/uid_map", "         0          0 4294967295\n");
	gather();
	assert_int_equal(limits.may_lock, KNOWN_YES);
}
