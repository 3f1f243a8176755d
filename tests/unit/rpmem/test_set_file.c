/* SPDX-License-Identifier: BSD-3-Clause */
/* test_set_file.c -- names of pool sets: what is below the pool set directory, and nothing else. */
#include "pool_scratch.h"
#include "tools/rpmemd/pool_set.h"

static char directory[sizeof(scratch) + 8];

/* The pool set directory has a neighbour, which no name may reach. */
static int setup(void **state)
{
	if (scratch_setup(state) != 0)
		return -1;
	snprintf(directory, sizeof(directory), "%s/sets", scratch);
	set_write("sets/my.set", "8M @/a\n");
	set_write("sets/sub/my.set", "8M @/b\n");
	set_write("secret/my.set", "8M @/c\n");
	return 0;
}

static int read_set(const char *name)
{
	struct pool_set set;
	int ret = set_file_read(directory, name, &set);

	if (ret == 0)
		pool_set_free(&set);
	return ret;
}

TEST(names_below_the_directory_are_read, setup, scratch_teardown)
{
	static const char *const names[] = {"my.set", "./my.set", "sub/my.set", "sub//my.set",
					    ".//sub/./my.set"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(read_set(names[i]), 0);
}

/* Also those that would come back into it. */
TEST(names_that_may_leave_it_are_refused, setup, scratch_teardown)
{
	static const char *const names[] = {
		"..",
		"../secret/my.set",
		"../../etc/passwd",
		"../sets/my.set",
		"sub/../my.set",
		"sub/../../secret/my.set",
		"/etc/passwd",
		"//my.set",
		"",
		"/",
		"sub/",
		"my.set/",
	};
	char absolute[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_failed(read_set(names[i]), EINVAL, "pool set ");
		assert_failed(set_file_remove(directory, names[i]), EINVAL, "pool set ");
	}
	assert_failed(read_set(scratch_path("sets/my.set", absolute)), EINVAL, "below");
	assert_true(exists("sets/my.set") && exists("secret/my.set"));
}

TEST(dots_are_only_special_alone, setup, scratch_teardown)
{
	set_write("sets/..my.set", "8M @/a\n");
	set_write("sets/.../my.set", "8M @/a\n");
	EQUAL((read_set("..my.set"), 0), (read_set(".../my.set"), 0));
}

TEST(symbolic_links_are_not_followed, setup, scratch_teardown)
{
	scratch_link("../secret", "sets/out");
	scratch_link("../secret/my.set", "sets/out.set");
	scratch_link("sub", "sets/in");
	scratch_link("my.set", "sets/in.set");
	assert_failed(read_set("out/my.set"), EINVAL, "symbolic link");
	assert_failed(read_set("out.set"), EINVAL, "symbolic link");
	assert_failed(read_set("in/my.set"), EINVAL, "symbolic link");
	assert_failed(read_set("in.set"), EINVAL, "symbolic link");
	assert_failed(set_file_remove(directory, "out/my.set"), EINVAL, "symbolic link");
	assert_true(exists("secret/my.set"));
}

/* The operator chooses it. */
TEST(the_directory_itself_may_be_a_link, setup, scratch_teardown)
{
	struct pool_set set;
	char path[PATH_MAX];

	scratch_link("sets", "link");
	assert_int_equal(set_file_read(scratch_path("link", path), "my.set", &set), 0);
	pool_set_free(&set);
}

TEST(a_missing_directory_is_told, setup, scratch_teardown)
{
	struct pool_set set;

	assert_failed(set_file_read("/none/sets", "my.set", &set), ENOENT,
		      "the pool set directory /none/sets");
}

/* Nothing waits for a FIFO. */
TEST(what_is_not_a_file_is_refused, setup, scratch_teardown)
{
	char path[PATH_MAX];

	assert_int_equal(mkfifo(scratch_path("sets/fifo", path), 0600), 0);
	assert_failed(read_set("fifo"), EINVAL, "not a regular file");
	assert_failed(read_set("sub"), EINVAL, "not a regular file");
	assert_failed(read_set("."), EINVAL, "not a regular file");
	assert_failed(read_set("my.set/x"), EINVAL, "not a directory");
}

TEST(long_names_are_refused, setup, scratch_teardown)
{
	char name[8192];

	memset(name, 'a', sizeof(name));
	name[256] = '\0';
	assert_failed(read_set(name), EINVAL, "too long");
	name[255] = '\0';
	assert_failed(read_set(name), ENOENT, "aaa");
	for (size_t i = 0; i < sizeof(name) - 2; i += 2)
		memcpy(name + i, "./", 2);
	memcpy(name + sizeof(name) - 8, "my.set", 7);
	assert_failed(read_set(name), EINVAL, "too long");
}

TEST(a_set_file_has_1_mib_at_most, setup, scratch_teardown)
{
	char *text = calloc(1, MIB + 2);
	const char start[] = "PMEMPOOLSET\n8M /a\n#";

	assert_non_null(text);
	memset(text, 'x', MIB + 1);
	memcpy(text, start, sizeof(start) - 1);
	scratch_write("sets/big.set", text);
	assert_failed(read_set("big.set"), EINVAL, "expected 1048576 or less");
	text[MIB] = '\0';
	scratch_write("sets/big.set", text);
	assert_int_equal(read_set("big.set"), 0);
	free(text);
}

TEST(remove_takes_the_file_alone, setup, scratch_teardown)
{
	EQUAL((set_file_remove(directory, "sub/my.set"), 0), (exists("sets/sub/my.set"), false),
	      (exists("sets/my.set") && exists("sets/sub"), true));
	assert_failed(set_file_remove(directory, "sub/my.set"), ENOENT, "sub/my.set");
}
