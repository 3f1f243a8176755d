/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sysroot.c -- a replaced root is not left, whatever is in it, and only
 * its regular files are read.
 */
#include <sys/sysmacros.h>

#include "common/host/sysroot.h"
#include "tests/lib/scratch_root.h"

static struct sysroot_refusals refused;

static int open_scratch(void **state)
{
	if (root_setup(state) != 0)
		return -1;
	refused = (struct sysroot_refusals){0};
	root.refused = &refused;
	return 0;
}

#define REFUSING_TEST(name) TEST(name, open_scratch, root_teardown)

static void is_line(const char *path, const char *expected)
{
	char line[64];

	EQUAL((sysroot_line(&root, line, sizeof(line), "%s", path), true), (line, expected));
}

static void is_no_line(const char *path)
{
	char line[64] = "before";

	EQUAL((sysroot_line(&root, line, sizeof(line), "%s", path), false), (line, ""));
}

REFUSING_TEST(links_stay_inside)
{
	char name[64];

	scratch_write("inside", "yes\n");
	scratch_link("/inside", "absolute");
	scratch_link("../inside", "directory/up");
	scratch_link("../absolute", "directory/chained");
	is_line("absolute", "yes");
	is_line("/inside", "yes");
	is_line("directory/up", "yes");
	is_line("directory//./../directory/chained", "yes");
	EQUAL((sysroot_link_name(&root, name, sizeof(name), "directory/chained"), true),
	      (name, "absolute"), (refused.count, 0));
}

static bool is_walked(const char *path)
{
	struct sysroot_walk walk = sysroot_walk(&root, SIZE_MAX, "%s", path);
	bool opened = walk.directory != NULL;

	sysroot_walk_end(&walk);
	return opened;
}

/* A tree like sysfs: the class names a link to a directory, and there is a file below it. */
REFUSING_TEST(a_link_to_a_directory_is_followed)
{
	char real[PATH_MAX];

	scratch_write("sys/devices/pci0000:16/0000:17:00.0/infiniband/mlx5_0/fw_ver", "1\n");
	scratch_link("../../devices/pci0000:16/0000:17:00.0/infiniband/mlx5_0",
		     "sys/class/infiniband/mlx5_0");
	scratch_link("../../../0000:17:00.0",
		     "sys/devices/pci0000:16/0000:17:00.0/infiniband/mlx5_0/device");
	is_line("sys/class/infiniband/mlx5_0/fw_ver", "1");
	EQUAL((sysroot_real_path(&root, real, "sys/class/infiniband/mlx5_0/device"), true),
	      (real, "sys/devices/pci0000:16/0000:17:00.0"),
	      (is_walked("sys/class/infiniband/mlx5_0"), true));
}

/* Names of any bytes, without those that begin with a dot; and no more than were asked for. */
REFUSING_TEST(a_walk_gives_the_names_of_a_directory)
{
	struct sysroot_walk walk;
	const char *name;
	int count = 0;

	scratch_write("names/one", "");
	scratch_write("names/.hidden", "");
	scratch_write("names/t w\to/three", "");
	walk = sysroot_walk(&root, 2, "na%s", "mes");
	while ((name = sysroot_next(&walk)) != NULL)
		count += strcmp(name, "one") == 0 ? 1 : strcmp(name, "t w\to") == 0 ? 10 : 100;
	EQUAL((count, 11), (walk.cut, false), (sysroot_next(&walk), NULL));
	walk = sysroot_walk(&root, 1, "names");
	assert_non_null(sysroot_next(&walk));
	EQUAL((sysroot_next(&walk), NULL), (walk.cut, true));
}

REFUSING_TEST(links_that_leave_the_root_are_errors)
{
	static const char *const paths[] = {"climbing", "deep/climbing", "../etc/passwd",
					    "deep/../../etc/passwd", ".."};
	char real[PATH_MAX];

	scratch_write("etc/passwd", "ours\n");
	scratch_link("../etc/passwd", "climbing");
	scratch_link("../../../../../../../etc/passwd", "deep/climbing");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		is_no_line(paths[i]);
		EQUAL((sysroot_exists(&root, "%s", paths[i]), false),
		      (sysroot_real_path(&root, real, "%s", paths[i]), false),
		      (is_walked(paths[i]), false));
	}
	EQUAL((refused.count, 4 * 5), (refused.first, "climbing: a link leads out of the root"));
}

/* An absolute one is within the root, where that file is not. */
REFUSING_TEST(absolute_links_do_not_reach_the_machine)
{
	scratch_link("/etc/passwd", "outside");
	scratch_link("/proc/self/root/etc/passwd", "magic");
	is_no_line("outside");
	is_no_line("magic");
	assert_int_equal(refused.count, 0);
}

REFUSING_TEST(circles_of_links_end)
{
	static const char *const paths[] = {"self", "a", "directory/within/file", "growing"};

	scratch_link("self", "self");
	scratch_link("b", "a");
	scratch_link("a", "b");
	scratch_link("../directory/within", "directory/within");
	scratch_link("growing/growing", "growing");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		is_no_line(paths[i]);
		assert_false(sysroot_exists(&root, "%s", paths[i]));
	}
	EQUAL((refused.first, "self: links lead in a circle"), (refused.count, 8));
}

/* Without a writer, reading the FIFO would hang. */
REFUSING_TEST(only_regular_files_are_opened)
{
	char path[PATH_MAX], bytes[16];

	assert_int_equal(mkfifo(scratch_path("fifo", path), 0644), 0);
	scratch_link("fifo", "to-fifo");
	is_no_line("fifo");
	is_no_line("to-fifo");
	EQUAL((sysroot_pread(&root, "fifo", 0, bytes, sizeof(bytes)), -1),
	      (sysroot_exists(&root, "fifo"), true), (refused.first, "fifo: is no regular file"));
	if (mknod(scratch_path("zero", path), S_IFCHR | 0644, makedev(1, 5)) == 0)
		is_no_line("zero");
}

REFUSING_TEST(a_directory_is_no_file)
{
	char text[8];

	scratch_write("directory/file", "1\n");
	is_no_line("directory");
	EQUAL((sysroot_read(&root, text, sizeof(text), "directory"), -1),
	      (is_walked("directory/file"), false));
	is_no_line("directory/file/..");
	is_no_line("directory/none/../file");
	assert_int_equal(refused.count, 0);
}

/* Root may read everything, so it becomes another user. */
REFUSING_TEST(what_may_not_be_read_is_said)
{
	bool was_root = geteuid() == 0;
	char path[PATH_MAX];

	scratch_write("secret", "1\n");
	EQUAL((chmod(scratch_path("secret", path), 0), 0), (chmod(scratch, 0755), 0),
	      (was_root ? seteuid(65534) : 0, 0));
	is_no_line("secret");
	EQUAL((sysroot_exists(&root, "secret"), true), (was_root ? seteuid(0) : 0, 0),
	      (refused.first, "secret: may not be read"));
}

REFUSING_TEST(a_read_ends_with_the_buffer)
{
	char path[PATH_MAX], text[5];

	EQUAL((close(open(scratch_path("sparse", path), O_CREAT | O_WRONLY, 0644)), 0),
	      (truncate(path, 1LL << 30), 0),
	      (sysroot_read(&root, text, sizeof(text), "sparse"), 4));
	scratch_write("long", "123456789\n");
	EQUAL((sysroot_read(&root, text, sizeof(text), "long"), 4), (text, "1234"));
}

REFUSING_TEST(bytes_are_read_from_an_offset)
{
	unsigned char bytes[8] = {0};
	char path[PATH_MAX];
	int fd = open(scratch_path("msr", path), O_CREAT | O_WRONLY, 0644);

	EQUAL((pwrite(fd, "\x00\x06\x00\x00\x00\x00\x00\x00", 8, 0xc8b), 8), (close(fd), 0),
	      (sysroot_pread(&root, "msr", 0xc8b, bytes, 8), 8), (bytes[1], 6),
	      (sysroot_pread(&root, "msr", 0xc8d, bytes, 8), 6),
	      (sysroot_pread(&root, "msr", 1 << 20, bytes, 8), 0),
	      (sysroot_pread(&root, "none", 0, bytes, 8), -1),
	      (sysroot_pread(&root, "msr", -1, bytes, 8), -1));
}

/* Bytes that a terminal or JSON could not take do not get that far. */
REFUSING_TEST(lines_are_printable)
{
	scratch_write("escape", "a\033[2Jb\tc\177d\303\266\n");
	is_line("escape", "a?[2Jb c?d??");
}

REFUSING_TEST(numbers_are_checked)
{
	static const struct {
		const char *text;
		bool good;
		int64_t value;
	} cases[] = {
		{"12\n", true, 12},
		{"-1\n", true, -1},
		{"0x1f\n", true, 31},
		{"\n", false, 0},
		{"99999999999999999999\n", false, 0},
		{"none\n", false, 0},
		{"12junk\n", false, 0},
		{"7 \n", true, 7},
		{"8.0 GT/s\n", false, 0},
	};
	int64_t value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_write("number", cases[i].text);
		assert_int_equal(sysroot_number(&root, &value, "number"), cases[i].good);
		if (cases[i].good)
			assert_int_equal(value, cases[i].value);
	}
}

REFUSING_TEST(names_that_are_too_long_are_refused)
{
	char line[64], name[2 * PATH_MAX];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(sysroot_line(&root, line, sizeof(line), "%s", name));
	name[NAME_MAX + 1] = '\0';
	assert_false(sysroot_line(&root, line, sizeof(line), "%s", name));
	name[NAME_MAX] = '\0';
	assert_false(sysroot_line(&root, line, sizeof(line), "%s", name));
}

REFUSING_TEST(a_root_that_is_none_is_refused)
{
	struct sysroot none;
	char path[PATH_MAX];

	scratch_write("file", "");
	EQUAL((sysroot_open(&none, scratch_path("file", path)), -ENOTDIR),
	      (sysroot_open(&none, scratch_path("none", path)), -ENOENT));
	sysroot_close(&none);
}

TEST(the_machine_needs_no_opening)
{
	char text[32], real[PATH_MAX], here[PATH_MAX];

	assert_true(sysroot_file_field(&sysroot_machine, "proc/self/status", "PPid", text,
				       sizeof(text)));
	assert_int_equal(strtol(text, NULL, 10), getppid());
	assert_false(sysroot_file_field(&sysroot_machine, "proc/self/status", "PPi", text,
					sizeof(text)));
	assert_non_null(getcwd(here, sizeof(here)));
	assert_true(sysroot_real_path(&sysroot_machine, real, "proc/self/cwd"));
	assert_string_equal(real, here + 1);
	assert_false(sysroot_real_path(&sysroot_machine, real, "proc/self/none"));
	assert_int_equal(sysroot_access(&sysroot_machine, "dev/null"), 0);
	assert_int_equal(sysroot_access(&sysroot_machine, "dev/none/null"), ENOENT);
}
