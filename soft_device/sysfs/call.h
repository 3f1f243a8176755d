/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h -- what the calls of libc that take a path, and are answered here, have in common.
 *
 * They are exported under their own names, so a preloaded device gets those of the program and of
 * all its libraries (not those within libc). What names no file of the device goes on to libc.
 */
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "soft_device/process/process.h"
#include "tree.h"

/* stat64() and the like are the same functions under other names. */
_Static_assert(sizeof(off_t) == 8, "a machine with 32-bit offsets");

/*
 * A function of libc's name. Its name in C is another one, as headers may make the first a macro,
 * an inline function or one whose path is never NULL. The next one of the name, which is libc's or
 * that of another library behind the device, is found when the device is loaded, as dlsym() is
 * nothing for a signal handler or a child of vfork(); before that, when it is called.
 */
#define LIBC_CALL(type, name, ...)                                                                 \
	SOFT_EXPORT type sysfs_##name(__VA_ARGS__) __asm__(#name);                                 \
	static __typeof__(&sysfs_##name) next_##name;                                              \
	__attribute__((constructor)) static void find_##name(void)                                 \
	{                                                                                          \
		next_##name = (__typeof__(&sysfs_##name))dlsym(RTLD_NEXT, #name);                  \
	}                                                                                          \
	type sysfs_##name(__VA_ARGS__)
#define NEXT(name) (next_##name != NULL ? next_##name : (find_##name(), next_##name))

/* The same function once more. */
#define LIBC_ALIAS(type, name, of, ...)                                                            \
	SOFT_EXPORT type sysfs_##name(__VA_ARGS__) __asm__(#name) __attribute__((alias(#of)))

/* The node that a path names, below the folder `at`. For a caller that is a real libibverbs, which
 * this device is not beneath: TREE_OTHER, and it is said. */
struct tree_node call_find(int at, const char *path, bool follow, const void *caller);
#define FIND(at, path, follow) call_find(at, path, follow, __builtin_return_address(0))

/* All of a call that is answered with `ours` for a node of the device, and goes on else. */
#define ANSWER(found, ours, goes_on)                                                               \
	const struct tree_node node = found;                                                       \
	return node.kind != TREE_OTHER ? (ours) : (goes_on)

/* The folder that a descriptor of folder_open() stands for. */
bool call_is_folder(int fd, struct tree_node *node);

/* -1 and ENOENT, or another errno. */
int call_fail(int error);

/* A descriptor for a file's text or for a folder; -1 and errno. */
int file_open(const struct tree_node *node, int flags);
int file_access(const struct tree_node *node, int mode);
void file_stat(const struct tree_node *node, struct stat *st);

/* The list of folders that are open: folders.c. */
extern const struct process_part folders_part;
