/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_target.c -- the memory a server offers, and the files it leaves alone.
 */
#include <errno.h>

#include "common/failure.h"
#include "common/target.h"
#include "scratch.h"

static void dram_is_there_and_writable(void **state)
{
	struct target t;

	assert_int_equal(target_open(&t, "dram:1M", false), 0);
	assert_int_equal(t.kind, TARGET_DRAM);
	assert_int_equal(t.size_bytes, 1048576);
	memset(t.memory, 1, t.size_bytes);
	target_close(&t);
	assert_null(t.memory);
}

static void malformed_targets_are_refused(void **state)
{
	static const char *const specs[] = {
		"",	   "dram", "dram:",    "dram:0",	"dram:1X",
		"dram:-1", ":64M", "/tmp/x:0", "dram:99999999T"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		if (target_check(specs[i]) == 0)
			fail_msg("accepted: %s", specs[i]);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
	}
	assert_int_equal(target_check("dram:64M"), 0);
	assert_int_equal(target_check("/dev/dax0.0"), 0);
	assert_int_equal(target_check("/tmp/x:1G"), 0);
}

static void a_new_file_goes_as_it_came(void **state)
{
	char path[PATH_MAX], spec[PATH_MAX + 8];
	struct target t;
	struct stat st;

	snprintf(spec, sizeof(spec), "%s:64K", scratch_path("new", path));
	assert_int_equal(target_open(&t, spec, false), 0);
	assert_true(t.kind == TARGET_FILE || t.kind == TARGET_FSDAX);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 65536);
	/* allocated, so that no write to it can fail later */
	assert_true(st.st_blocks * 512 >= 65536);
	memset(t.memory, 1, t.size_bytes);
	target_close(&t);
	assert_int_equal(stat(path, &st), -1);
}

static void an_existing_file_is_not_replaced(void **state)
{
	char path[PATH_MAX], spec[PATH_MAX + 8], text[32];
	struct target t;

	scratch_write("old", "precious");
	snprintf(spec, sizeof(spec), "%s:64K", scratch_path("old", path));
	assert_int_not_equal(target_open(&t, spec, false), 0);
	assert_int_not_equal(target_open(&t, spec, true), 0);
	assert_int_not_equal(target_open(&t, path, false), 0);
	assert_non_null(strstr(failure_get()->text, "--force"));
	scratch_read("old", text, sizeof(text));
	assert_string_equal(text, "precious");
}

/* With force it is used, keeps its size and its content, and stays. */
static void force_uses_an_existing_file(void **state)
{
	char path[PATH_MAX], text[32];
	struct target t;

	scratch_write("old", "precious");
	assert_int_equal(target_open(&t, scratch_path("old", path), true), 0);
	assert_int_equal(t.size_bytes, 8);
	assert_memory_equal(t.memory, "precious", 8);
	memcpy(t.memory, "PRE", 3);
	target_close(&t);
	assert_int_equal(scratch_read("old", text, sizeof(text)), 8);
	assert_string_equal(text, "PREcious");
}

static void what_is_no_memory_is_refused(void **state)
{
	char path[PATH_MAX];
	struct target t;

	scratch_write("empty", "");
	assert_int_not_equal(target_open(&t, scratch_path("empty", path), true), 0);
	assert_int_not_equal(target_open(&t, scratch_path("none", path), true), 0);
	assert_non_null(strstr(failure_get()->text, "PATH:SIZE"));
	assert_int_not_equal(target_open(&t, "/dev/null", true), 0);
	assert_int_not_equal(target_open(&t, scratch, true), 0);
}

#define in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dram_is_there_and_writable),
		cmocka_unit_test(malformed_targets_are_refused),
		in_scratch(a_new_file_goes_as_it_came),
		in_scratch(an_existing_file_is_not_replaced),
		in_scratch(force_uses_an_existing_file),
		in_scratch(what_is_no_memory_is_refused),
	};

	return cmocka_run_group_tests_name("common.target", tests, NULL, NULL);
}
