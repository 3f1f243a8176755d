/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * looks.c -- calls of libc with files of the software device: what POSIX and Linux say of them.
 *
 * Each case is one call, or a few of a kind; the files are those of the first device. The manuals
 * open(2), access(2), readlink(2), readdir(3) and so on have what such a file must give.
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/lib/test.h"

#define CLASS  "/sys/class/infiniband"
#define DEVICE CLASS "/soft0"
#define TARGET "/sys/devices/virtual/infiniband/soft0"
#define NODE   "/dev/infiniband/soft_uverbs0"

#define FAILS(call, error)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		assert_true(call);                                                                 \
		assert_int_equal(errno, error);                                                    \
	} while (0)

/* Programs that were linked with glibc before 2.33 call these. */
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstatat(int version, int at, const char *path, struct stat *st, int flags);
/* And those that are compiled with _FORTIFY_SOURCE these. */
int __open_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t bytes, size_t room);
ssize_t __readlinkat_chk(int at, const char *path, char *buf, size_t bytes, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);
#define STAT_VERSION 1 /* _STAT_VER on x86-64 */

TEST(a_file_is_opened_and_read)
{
	const int fd = open(DEVICE "/node_type", O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	struct stat st;

	assert_true(fd >= 0);
	EQUAL((read(fd, text, sizeof(text)), strlen("1: CA\n")), (text, "1: CA\n"),
	      (read(fd, text, sizeof(text)), 0), (pread(fd, text, 2, 3), 2));
	assert_memory_equal(text, "CA", 2);
	EQUAL((fcntl(fd, F_GETFD), FD_CLOEXEC), (fstat(fd, &st), 0), (S_ISREG(st.st_mode), true));
	close(fd);
}

TEST(a_stream_is_read)
{
	FILE *file = fopen(DEVICE "/ports/1/gid_attrs/types/1", "r");
	char line[32];

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	EQUAL((line, "RoCE v2\n"), (fgets(line, sizeof(line), file), NULL));
	fclose(file);
	FAILS(fopen(DEVICE "/nothing", "r") == NULL, ENOENT);
	FAILS(fopen(DEVICE "/fw_ver", "w") == NULL, EACCES);
}

TEST(what_cannot_be_opened_tells_why)
{
	FAILS(open(DEVICE "/nothing", O_RDONLY) == -1, ENOENT);
	FAILS(open(DEVICE "/fw_ver", O_WRONLY) == -1, EACCES);
	FAILS(open(DEVICE "/new", O_WRONLY | O_CREAT, 0600) == -1, EACCES);
	FAILS(open(DEVICE "/fw_ver", O_RDONLY | O_DIRECTORY) == -1, ENOTDIR);
	FAILS(open(DEVICE, O_RDONLY | O_NOFOLLOW) == -1, ELOOP);
	FAILS(open(DEVICE "/ports", O_RDWR) == -1, EISDIR);
	FAILS(open(NODE, O_RDWR) == -1, ENXIO);
	FAILS(opendir(DEVICE "/nothing") == NULL, ENOENT);
	FAILS(opendir(DEVICE "/fw_ver") == NULL, ENOTDIR);
}

TEST(access_is_that_of_the_modes)
{
	EQUAL((access(DEVICE, F_OK), 0), (access(DEVICE "/ports", R_OK | X_OK), 0),
	      (access(DEVICE "/fw_ver", R_OK), 0), (access(NODE, R_OK | W_OK), 0),
	      (euidaccess(NODE, R_OK), 0), (faccessat(AT_FDCWD, NODE, W_OK, AT_EACCESS), 0));
	FAILS(access(DEVICE "/fw_ver", W_OK) == -1, EACCES);
	FAILS(access(DEVICE "/fw_ver", X_OK) == -1, EACCES);
	FAILS(access(CLASS "/mlx5_0", F_OK) == -1, ENOENT);
}

TEST(every_stat_agrees)
{
	struct stat st[8] = {0};
	struct statx stx;

	EQUAL((stat(NODE, &st[0]), 0), (lstat(NODE, &st[1]), 0),
	      (fstatat(AT_FDCWD, NODE, &st[2], 0), 0), (__xstat(STAT_VERSION, NODE, &st[3]), 0),
	      (__lxstat(STAT_VERSION, NODE, &st[4]), 0),
	      (__fxstatat(STAT_VERSION, AT_FDCWD, NODE, &st[5], 0), 0));
	for (size_t i = 0; i < 6; i++) {
		EQUAL((st[i].st_mode, S_IFCHR | 0666), (st[i].st_rdev, makedev(231, 192)),
		      (st[i].st_ino, st[0].st_ino));
	}
	EQUAL((statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &stx), 0),
	      (stx.stx_mode, S_IFCHR | 0666),
	      (makedev(stx.stx_rdev_major, stx.stx_rdev_minor), makedev(231, 192)));
	FAILS(stat(CLASS "/mlx5_0", &st[0]) == -1, ENOENT);
	FAILS(statx(AT_FDCWD, CLASS "/mlx5_0", 0, STATX_ALL, &stx) == -1, ENOENT);
}

TEST(a_link_is_one_until_it_is_followed)
{
	static const char target[] = "../../devices/virtual/infiniband/soft0";
	char text[PATH_MAX] = "";
	struct stat st;

	EQUAL((lstat(DEVICE, &st), 0), (S_ISLNK(st.st_mode), true), (st.st_size, strlen(target)),
	      (stat(DEVICE, &st), 0), (S_ISDIR(st.st_mode), true),
	      (fstatat(AT_FDCWD, DEVICE, &st, AT_SYMLINK_NOFOLLOW), 0), (S_ISLNK(st.st_mode), true),
	      (readlink(DEVICE, text, sizeof(text)), strlen(target)), (text, target),
	      (readlink(DEVICE, text, 5), 5));
	FAILS(readlink(DEVICE "/ports", text, sizeof(text)) == -1, EINVAL);
	FAILS(readlink(CLASS "/mlx5_0", text, sizeof(text)) == -1, ENOENT);
}

TEST(a_real_path_has_no_links)
{
	char room[PATH_MAX];
	char *path = realpath(DEVICE "/ports/../fw_ver", NULL);

	assert_string_equal(path, TARGET "/fw_ver");
	free(path);
	assert_ptr_equal(realpath(DEVICE, room), room);
	assert_string_equal(room, TARGET);
	path = canonicalize_file_name(DEVICE);
	assert_string_equal(path, TARGET);
	free(path);
	FAILS(realpath(DEVICE "/device/vendor", room) == NULL, ENOENT);
}

TEST(fortified_calls_agree)
{
	char text[PATH_MAX];
	int fd = __open_2(DEVICE "/fw_ver", O_RDONLY);

	assert_int_equal(read(fd, text, 5), 5);
	assert_memory_equal(text, "soft-", 5);
	close(fd);
	fd = __openat_2(AT_FDCWD, DEVICE "/fw_ver", O_RDONLY);
	assert_int_equal(read(fd, text, 5), 5);
	close(fd);
	fd = __open_2("/proc/self/stat", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	EQUAL((__readlink_chk(DEVICE, text, 5, sizeof(text)), 5),
	      (__readlinkat_chk(AT_FDCWD, DEVICE, text, 5, sizeof(text)), 5));
	assert_ptr_equal(__realpath_chk(DEVICE, text, sizeof(text)), text);
	assert_string_equal(text, TARGET);
}

static size_t count_entries(DIR *dir, const char *wanted)
{
	size_t count = 0, found = 0;

	for (struct dirent *entry; (entry = readdir(dir)) != NULL; count++)
		found += strcmp(entry->d_name, wanted) == 0;
	assert_int_equal(found, 1);
	return count;
}

TEST(a_folder_is_listed)
{
	DIR *dir = opendir(DEVICE "/ports/1/gids");
	struct stat st;
	long after_two;

	assert_non_null(dir);
	assert_int_equal(count_entries(dir, "3"), 2 + 4);
	rewinddir(dir);
	EQUAL((readdir(dir)->d_name, "."), (readdir(dir)->d_name, ".."));
	after_two = telldir(dir);
	assert_string_equal(readdir(dir)->d_name, "0");
	assert_non_null(readdir(dir));
	seekdir(dir, after_two);
	EQUAL((readdir(dir)->d_name, "0"), (fstat(dirfd(dir), &st), 0), (S_ISDIR(st.st_mode), true),
	      (closedir(dir), 0));
}

TEST(two_folders_are_listed_at_once)
{
	DIR *a = opendir(DEVICE "/ports/1/pkeys"), *b = opendir("/dev/infiniband");
	DIR *real = opendir("/proc/self");

	assert_non_null(readdir(a));
	assert_non_null(readdir(b));
	assert_non_null(readdir(real));
	assert_int_equal(closedir(a), 0);
	assert_non_null(readdir(b));
	assert_int_equal(closedir(b), 0);
	assert_non_null(readdir(real));
	assert_int_equal(closedir(real), 0);
}

TEST(paths_may_be_relative_to_a_folder)
{
	const int real = open("/sys/class", O_RDONLY | O_DIRECTORY);
	int folder, file;
	char text[8] = "";
	struct stat st;
	DIR *dir;

	assert_true(real >= 0);
	folder = openat(real, "infiniband/soft0", O_RDONLY | O_DIRECTORY);
	assert_true(folder >= 0);
	file = openat(folder, "ports/1/lid", O_RDONLY);
	assert_true(file >= 0);
	EQUAL((read(file, text, sizeof(text)), 4), (text, "0x0\n"));
	close(file);
	EQUAL((fstatat(folder, "ports", &st, 0), 0), (S_ISDIR(st.st_mode), true),
	      (fstatat(folder, "", &st, AT_EMPTY_PATH), 0), (S_ISDIR(st.st_mode), true),
	      (__fxstat(STAT_VERSION, folder, &st), 0), (S_ISDIR(st.st_mode), true));
	FAILS(openat(folder, "nothing", O_RDONLY) == -1, ENOENT);
	dir = fdopendir(dup(folder));
	assert_int_equal(count_entries(dir, "ports"), 2 + 7);
	closedir(dir);
	close(folder);
	close(real);
}

static int is_number(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

TEST(scandir_filters_and_sorts)
{
	struct dirent **list;
	int count = scandir(DEVICE "/ports/1/gids", &list, is_number, alphasort);

	assert_int_equal(count, 4);
	for (int i = 0; i < count; i++) {
		assert_int_equal(list[i]->d_name[0], '0' + i);
		free(list[i]);
	}
	free(list);
	FAILS(scandir(CLASS "/mlx5_0", &list, NULL, NULL) == -1, ENOENT);
}

TEST(glob_finds_paths)
{
	glob_t found;

	assert_int_equal(glob(CLASS "/soft0/ports/*/gid_attrs/types/[13]", 0, NULL, &found), 0);
	EQUAL((found.gl_pathc, 2), (found.gl_pathv[1], DEVICE "/ports/1/gid_attrs/types/3"));
	globfree(&found);
	EQUAL((glob(CLASS "/mlx*", 0, NULL, &found), GLOB_NOMATCH),
	      (glob("/proc/self/sta[t]", 0, NULL, &found), 0));
	globfree(&found);
}

TEST(errno_of_others_is_left_alone)
{
	struct stat st;

	errno = ERANGE;
	EQUAL((stat(DEVICE, &st), 0), (access("/proc/self/stat", R_OK), 0), (errno, ERANGE));
}
