/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_sysroot.c -- a small tree of files, directories and links that the
 * input makes, and paths into it.
 *
 * The root is a directory within another that holds a secret: it is never
 * read. Where the kernel can resolve within a root by itself (openat2), what
 * sysroot finds is what the kernel finds. A recorded reading reads the same.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/host/sysroot.h"
#include "fuzz.h"

#define SECRET "secret"

static const char *const words[] = {"a",   "b",	   "c",	      "d",    "..",    "..",
				    ".",   "/",	   "//a",     "/b/c", "../..", "../secret",
				    "./a", SECRET, "/secret", "a/b"};

static char top[] = "/tmp/rpma-fuzz-XXXXXX";
static int top_fd = -1;

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned take(struct input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

static void remove_tree(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) != 0)
			remove_tree(fd, entry->d_name);
	}
	if (directory != NULL)
		closedir(directory);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void clean_up(void)
{
	remove_tree(AT_FDCWD, top);
}

static void write_file(int fd, const char *path, const char *text)
{
	int file = openat(fd, path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0644);

	if (file < 0)
		return;
	hold(write(file, text, strlen(text)) == (ssize_t)strlen(text));
	close(file);
}

static void prepare(void)
{
	if (top_fd >= 0)
		return;
	hold(mkdtemp(top) != NULL);
	top_fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	hold(top_fd >= 0 && atexit(clean_up) == 0);
	write_file(top_fd, SECRET, SECRET);
}

/* One to four words, with slashes between them. */
static void take_path(struct input *input, char path[128])
{
	unsigned count = take(input) % 4 + 1;

	path[0] = '\0';
	for (unsigned i = 0; i < count; i++) {
		strcat(path, i > 0 ? "/" : "");
		strcat(path, words[take(input) % (sizeof(words) / sizeof(words[0]))]);
	}
}

/* A place of at most three plain names, so that nothing is made outside. */
static void take_place(struct input *input, char place[32])
{
	unsigned choice = take(input);
	char *end = place;

	for (unsigned depth = 0; depth <= choice % 3; depth++, choice /= 4)
		end += sprintf(end, "%s%c", depth > 0 ? "/" : "", 'a' + (int)(choice / 3 % 4));
}

static void make_tree(struct input *input, int root)
{
	unsigned count = 4 + take(input) % 20;
	char place[32], target[128];

	for (unsigned i = 0; i < count; i++) {
		unsigned kind = take(input) % 8;

		take_place(input, place);
		if (kind < 3)
			mkdirat(root, place, 0755);
		else if (kind < 4)
			write_file(root, place, place);
		else if (kind < 5 && count % 4 == 0)
			mkfifoat(root, place, 0644);
		else {
			take_path(input, target);
			(void)!symlinkat(target, root, place);
		}
	}
}

static long read_at(const struct sysroot *root, const char *path, char text[64])
{
	long len = sysroot_read(root, text, 64, "%s", path);

	hold(len < 64 && (len < 0 || strcmp(text, SECRET) != 0));
	return len;
}

/* The kernel's answer within the root, or its error; it stays at the root where we refuse. */
static int kernel_finds(int root, const char *path, struct stat *st)
{
	struct open_how how = {.flags = O_PATH, .resolve = RESOLVE_IN_ROOT};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0)
		return errno;
	hold(fstat((int)fd, st) == 0);
	close((int)fd);
	return 0;
}

static void look(const struct sysroot *root, const char *path)
{
	size_t refused = root->refused->count;
	char real[PATH_MAX], text[64], name[64];
	struct sysroot_walk walk = sysroot_walk(root, SIZE_MAX, "%s", path);
	bool found = sysroot_real_path(root, real, "%s", path);
	struct stat theirs = {0}, ours;
	int error = kernel_finds(root->fd, path, &theirs);

	sysroot_walk_end(&walk);
	read_at(root, path, text);
	sysroot_link_name(root, name, sizeof(name), "%s", path);
	hold(sysroot_exists(root, "%s", path) == found);
	if (error == ENOSYS || error == EPERM)
		return;
	if (!found) {
		hold(error != 0 || root->refused->count > refused);
		return;
	}
	hold(strstr(real, "..") == NULL && real[0] != '/');
	hold(fstatat(root->fd, real, &ours, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(ours.st_mode));
	/* the kernel follows 40 links, we more; and to us "file/" is the file */
	hold(error == ELOOP || (error == ENOTDIR && !S_ISDIR(ours.st_mode)) ||
	     (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev));
}

/* A file that cannot be read is a directory in the copy: so more may be there, behind its "..". */
static void replay(const struct sysroot *root, const struct sysroot *copy, const char *path)
{
	char text[64], again[64];
	long len = read_at(root, path, text);

	if (!sysroot_exists(root, "%s", path))
		return;
	hold(sysroot_exists(copy, "%s", path));
	hold(read_at(copy, path, again) == len);
	hold(len < 0 || memcmp(text, again, (size_t)len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	char path[128], paths[8][128], below[sizeof(top) + 8];
	struct sysroot_refusals refused = {0};
	struct sysroot root, copy;
	unsigned count;

	prepare();
	hold(mkdirat(top_fd, "root", 0755) == 0);
	snprintf(below, sizeof(below), "%s/root", top);
	hold(sysroot_open(&root, below) == 0);
	root.refused = &refused;
	make_tree(&input, root.fd);
	snprintf(below, sizeof(below), "%s/copy", top);
	hold(sysroot_record(&root, below) == 0);
	count = take(&input) % 8 + 1;
	for (unsigned i = 0; i < count; i++) {
		take_path(&input, path);
		memcpy(paths[i], path, sizeof(path));
		look(&root, path);
	}
	hold(sysroot_record_end(&root) == 0);
	hold(sysroot_open(&copy, below) == 0);
	for (unsigned i = 0; i < count; i++)
		replay(&root, &copy, paths[i]);
	sysroot_close(&copy);
	sysroot_close(&root);
	remove_tree(top_fd, "copy");
	remove_tree(top_fd, "root");
	return 0;
}

/* Any bytes are a tree; the mutations make others of these. */
size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	if (index >= 64)
		return 0;
	for (size_t i = 0; i < 96; i++)
		input[i] = (uint8_t)((i * 37 + index * 101 + i * i * index) ^ (i >> 3));
	return 96;
}
