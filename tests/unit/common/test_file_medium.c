/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_file_medium.c -- what keeps a file, by the type of its file system and
 * by what lies beneath it. The numbers are those of statfs(2).
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/host/file_medium.h"
#include "tests/lib/test.h"

TEST(the_type_decides)
{
	static const struct {
		long type;
		enum file_medium medium;
	} cases[] = {
		{0x01021994, FILE_MEDIUM_MEMORY},      /* tmpfs */
		{0x858458f6, FILE_MEDIUM_MEMORY},      /* ramfs */
		{(int)0x858458f6, FILE_MEDIUM_MEMORY}, /* as a 32-bit kernel has it */
		{0x958458f6, FILE_MEDIUM_MEMORY},      /* hugetlbfs */
		{0xef53, FILE_MEDIUM_STORAGE},	       /* ext2, ext3, ext4 */
		{0x58465342, FILE_MEDIUM_STORAGE},     /* xfs */
		{0x9123683e, FILE_MEDIUM_STORAGE},     /* btrfs */
		{0xf2f52010, FILE_MEDIUM_STORAGE},     /* f2fs */
		{0x3153464a, FILE_MEDIUM_STORAGE},     /* jfs */
		{0x2fc12fc1, FILE_MEDIUM_STORAGE},     /* zfs */
		{0x794c7630, FILE_MEDIUM_UNKNOWN},     /* overlayfs */
		{0x6969, FILE_MEDIUM_UNKNOWN},	       /* nfs */
		{0x65735546, FILE_MEDIUM_UNKNOWN},     /* fuse, virtiofs */
		{0x01021997, FILE_MEDIUM_UNKNOWN},     /* 9p */
		{0x9fa0, FILE_MEDIUM_UNKNOWN},	       /* proc */
		{0x73717368, FILE_MEDIUM_UNKNOWN},     /* squashfs: nothing is written to it */
		{0, FILE_MEDIUM_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (file_medium_of_type(cases[i].type) != cases[i].medium)
			fail_msg("0x%lx: expected %d", cases[i].type, cases[i].medium);
	}
}

TEST(memory_is_seen_in_an_open_file)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_medium(fd), FILE_MEDIUM_MEMORY);
	close(fd);
}

TEST(what_is_no_file_is_unknown)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	assert_int_equal(file_medium(fd), FILE_MEDIUM_UNKNOWN);
	close(fd);
	assert_int_equal(file_medium(-1), FILE_MEDIUM_UNKNOWN);
}

static const char text[] =
	"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
	"66 43 0:40 / /mnt rw,relatime shared:1 - overlay o "
	"rw,lowerdir=/l,upperdir=/up,workdir=/w\n"
	"67 43 0:41 /sub /bind rw - overlay o rw,lowerdir=/l,upperdir=/a\\040b,workdir=/w\n"
	"68 43 0:42 / /mnt/deep rw - overlay o rw,lowerdir=/upperdir=x:/l\n"
	"69 43 0:43 / /vol rw - overlay o rw,lowerdir=/l,upperdir=/up,workdir=/w,volatile\n"
	"71 43 0:43 / /new rw - overlay o rw,upperdir=/up,uuid=on,fsync=volatile\n"
	"72 43 0:43 / /strict rw - overlay o rw,upperdir=/up,uuid=on,fsync=strict\n"
	"70 43 0:44 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/root,workdir=/w\n"
	"6 43 0:45 / /six rw - tmpfs - overlay rw,upperdir=/up\n";

TEST(an_upper_layer_is_found)
{
	static const struct {
		int mount;
		const char *path;
		const char *upper; /* NULL: there is none */
	} cases[] = {
		{66, "/mnt/a/b", "/up/a/b"},
		{67, "/bind/c", "/a b/sub/c"},
		{70, "/var/x", "/root/var/x"},
		{66, "/elsewhere", NULL},
		{66, "/mntx/a", NULL},
		{68, "/mnt/deep/a", NULL},
		{69, "/vol/a", NULL},
		{71, "/new/a", NULL},
		{72, "/strict/a", "/up/a"},
		{27, "/a", NULL},
		{6, "/six/a", NULL},
		{99, "/a", NULL},
		{-1, "/a", NULL},
		{66, "/mnt/a (deleted)", "/up/a (deleted)"},
	};
	struct mounts mounts;
	char upper[64];

	mounts_take(&mounts, strdup(text));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = file_medium_upper(&mounts, cases[i].mount, cases[i].path, upper,
					       sizeof(upper));

		if (found != (cases[i].upper != NULL) ||
		    (found && strcmp(upper, cases[i].upper) != 0))
			fail_msg("%d %s: %s", cases[i].mount, cases[i].path,
				 found ? upper : "none");
	}
	assert_false(file_medium_upper(&mounts, 66, "/mnt/a/b", upper, 7));
	assert_true(file_medium_upper(&mounts, 66, "/mnt/a/b", upper, 8));
	mounts_free(&mounts);
}
