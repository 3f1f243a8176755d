/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mounts.c -- the fields of mountinfo, by their order in proc(5). */
#include "common/host/mounts.h"
#include "tests/lib/test.h"

static const char text[] =
	"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n"
	"37 35 0:21 / /a\\040b\\134 ro - tmpfs c\\011d rw,x=\\040\n"
	"38 35 0:22 / /m rw - sysfs s\n";

TEST(each_field_is_taken)
{
	const struct mount *m;
	struct mounts mounts;

	mounts_take(&mounts, strdup(text));
	assert_int_equal(mounts.count, 3);
	m = &mounts.list[0];
	assert_int_equal(m->id, 36);
	assert_int_equal(m->major, 98);
	assert_int_equal(m->minor, 0);
	assert_string_equal(m->root, "/mnt1");
	assert_string_equal(m->point, "/mnt2");
	assert_string_equal(m->options, "rw,noatime");
	assert_string_equal(m->type, "ext3");
	assert_string_equal(m->source, "/dev/root");
	assert_string_equal(m->fs_options, "rw,errors=continue");
	assert_string_equal(m[1].point, "/a b\\");
	assert_string_equal(m[1].source, "c\td");
	assert_string_equal(m[1].fs_options, "rw,x=\\040");
	assert_string_equal(m[2].fs_options, "");
	mounts_free(&mounts);
}

TEST(other_lines_are_no_mounts)
{
	static const char *const lines[] = {
		"",
		"\n\n",
		"66 43\n",
		"36 35 98:0 / /mnt rw ext3 /dev/root rw\n",
		"36 35 98:0 / rw - ext3 /dev/root rw\n",
		"36 35 98 / /mnt rw - ext3 /dev/root rw\n",
		"36 35 98:0x / /mnt rw - ext3 /dev/root rw\n",
		"36 35 -1:0 / /mnt rw - ext3 /dev/root rw\n",
		"x6 35 98:0 / /mnt rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /mnt rw - ext3\n",
		"36 35 98:0 / /mnt rw - ",
	};
	struct mounts mounts;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		mounts_take(&mounts, strdup(lines[i]));
		if (mounts.count != 0)
			fail_msg("%s", lines[i]);
		mounts_free(&mounts);
	}
	mounts_take(&mounts, NULL);
	assert_int_equal(mounts.count, 0);
	mounts_free(&mounts);
}
