/* SPDX-License-Identifier: BSD-3-Clause */
/* file_medium.c -- from an open file down to what keeps its bytes. */
#include "file_medium.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DEPTH 4 /* how many overlays and loop devices may be stacked */

/* Without a name in <linux/magic.h>: fs/xfs/xfs_format.h, statfs(2), ZFS's own sources. */
#define XFS_MAGIC      0x58465342
#define JFS_MAGIC      0x3153464a
#define BCACHEFS_MAGIC 0xca451a4e
#define ZFS_MAGIC      0x2fc12fc1

enum file_medium file_medium_of_type(long type)
{
	switch ((unsigned long)type & 0xffffffff) { /* some magic numbers have the sign bit */
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case HUGETLBFS_MAGIC:
		return FILE_MEDIUM_MEMORY;
	case EXT4_SUPER_MAGIC: /* ext2 and ext3, too */
	case XFS_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case JFS_MAGIC:
	case BCACHEFS_MAGIC:
	case ZFS_MAGIC:
		return FILE_MEDIUM_STORAGE;
	default: /* network, FUSE, hypervisor: others decide what a sync does */
		return FILE_MEDIUM_UNKNOWN;
	}
}

static enum file_medium medium_of_fd(int fd, int depth);

static enum file_medium medium_of_path(const char *path, const struct stat *same, int depth)
{
	enum file_medium medium = FILE_MEDIUM_UNKNOWN;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return FILE_MEDIUM_UNKNOWN;
	/* a path of another mount namespace may name another file in this one */
	if (fstat(fd, &st) == 0 && (same == NULL || (st.st_size == same->st_size &&
						     st.st_mtim.tv_sec == same->st_mtim.tv_sec &&
						     st.st_mtim.tv_nsec == same->st_mtim.tv_nsec)))
		medium = medium_of_fd(fd, depth);
	close(fd);
	return medium;
}

/* --- overlays --------------------------------------------------------------------- */

/* Finds the value of b in "a,b=c,d"; false: it is not there. */
static bool find_option(const char *options, const char *name, char *value, size_t size)
{
	const size_t len = strlen(name);

	while (options != NULL) {
		const size_t all = strcspn(options, ",");

		if (strncmp(options, name, len) == 0 && (options[len] == '=' || all == len)) {
			const size_t skip = all == len ? len : len + 1;
			const int printed =
				snprintf(value, size, "%.*s", (int)(all - skip), options + skip);

			mounts_unescape(value);
			return printed >= 0 && (size_t)printed < size;
		}
		options = options[all] == ',' ? options + all + 1 : NULL;
	}
	return false;
}

/* Linux 5.10 shows it as an option of its own, later ones as a kind of fsync. */
static bool syncs_nothing(const char *options)
{
	char value[16];

	return find_option(options, "volatile", value, sizeof(value)) ||
	       (find_option(options, "fsync", value, sizeof(value)) &&
		strcmp(value, "volatile") == 0);
}

bool file_medium_upper(const struct mounts *mounts, long id, const char *path, char *upper,
		       size_t size)
{
	const struct mount *mount = NULL;
	char layer[PATH_MAX];
	size_t len;
	int printed;

	for (size_t i = 0; i < mounts->count; i++) {
		if (mounts->list[i].id == id && strcmp(mounts->list[i].type, "overlay") == 0)
			mount = &mounts->list[i];
	}
	if (mount == NULL || syncs_nothing(mount->fs_options) ||
	    !find_option(mount->fs_options, "upperdir", layer, sizeof(layer)))
		return false;
	len = strcmp(mount->point, "/") == 0 ? 0 : strlen(mount->point);
	if (strncmp(path, mount->point, len) != 0 || path[len] != '/')
		return false;
	printed = snprintf(upper, size, "%s%s%s", layer,
			   strcmp(mount->root, "/") == 0 ? "" : mount->root, path + len);
	return printed > 0 && (size_t)printed < size;
}

static long mount_of(int fd)
{
	char path[64], id[32];

	snprintf(path, sizeof(path), "proc/self/fdinfo/%d", fd);
	return sysroot_file_field(&sysroot_machine, path, "mnt_id", id, sizeof(id))
		       ? strtol(id, NULL, 10)
		       : -1;
}

static enum file_medium medium_of_overlay(int fd, const struct stat *st, int depth)
{
	char link[64], path[PATH_MAX], upper[PATH_MAX];
	enum file_medium medium = FILE_MEDIUM_UNKNOWN;
	struct mounts mounts;
	ssize_t len;

	mounts_read(&sysroot_machine, &mounts);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len > 0) {
		path[len] = '\0';
		if (file_medium_upper(&mounts, mount_of(fd), path, upper, sizeof(upper)))
			medium = medium_of_path(upper, st, depth);
	}
	mounts_free(&mounts);
	return medium;
}

/* --- disks -------------------------------------------------------------------------- */

/* A file system without a disk of its own number, such as btrfs, is taken at its word. */
static enum file_medium medium_of_disk(dev_t dev, int depth)
{
	char path[64], target[PATH_MAX], backing[PATH_MAX];
	const char *name;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return FILE_MEDIUM_STORAGE;
	target[len] = '\0';
	name = strstr(target,
		      "/block/"); /* .../block/loop0, of a partition .../block/loop0/loop0p1 */
	name = name != NULL ? name + strlen("/block/") : "";
	if (strncmp(name, "ram", 3) == 0 || strncmp(name, "zram", 4) == 0)
		return FILE_MEDIUM_MEMORY;
	if (strncmp(name, "loop", 4) != 0)
		return FILE_MEDIUM_STORAGE;
	if (sysroot_read(&sysroot_machine, backing, sizeof(backing),
			 "sys/block/%.*s/loop/backing_file", (int)strcspn(name, "/"), name) <= 0)
		return FILE_MEDIUM_UNKNOWN;
	backing[strcspn(backing, "\n")] = '\0';
	return medium_of_path(backing, NULL, depth);
}

static enum file_medium medium_of_fd(int fd, int depth)
{
	enum file_medium medium;
	struct statfs fs;
	struct stat st;

	if (depth == 0 || fstatfs(fd, &fs) != 0 || fstat(fd, &st) != 0)
		return FILE_MEDIUM_UNKNOWN;
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return medium_of_overlay(fd, &st, depth - 1);
	medium = file_medium_of_type((long)fs.f_type);
	return medium == FILE_MEDIUM_STORAGE ? medium_of_disk(st.st_dev, depth - 1) : medium;
}

enum file_medium file_medium(int fd)
{
	return medium_of_fd(fd, DEPTH);
}
