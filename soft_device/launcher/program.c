/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.c -- finds the program of a command word, and its interpreter.
 *
 * The kernel drops LD_PRELOAD for set-user-ID programs, and static ones have
 * no loader that reads it: both would run without the device, so they are
 * refused before anything starts.
 */
#include "program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SHELL	     "/bin/sh" /* runs what has no #! */
#define SCRIPTS_DEEP 5	       /* BINPRM_MAX_RECURSION of the kernel's exec.c, and the first */

static __attribute__((format(printf, 3, 4))) int refuse(char *reason, int status,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, PROGRAM_REASON_BYTES, format, args);
	va_end(args);
	return status;
}

/* 0 for a file that may be executed, else the errno of execve. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) == 0 ? 0 : errno;
}

/* Like execvp(): the first that may be executed; EACCES if one only was there. */
static int search(const char *word, char path[PATH_MAX])
{
	const char *list = getenv("PATH");
	int result = ENOENT;

	if (strchr(word, '/') != NULL) {
		if (snprintf(path, PATH_MAX, "%s", word) >= PATH_MAX)
			return ENAMETOOLONG;
		return executable(path);
	}
	for (list = list != NULL ? list : "/bin:/usr/bin"; word[0] != '\0'; list++) {
		size_t len = strcspn(list, ":");
		/* an empty directory is the current one */
		int n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, list, len > 0 ? "/" : "./",
				 word);
		int ret = n < PATH_MAX ? executable(path) : ENAMETOOLONG;

		if (ret == 0)
			return 0;
		if (ret == EACCES)
			result = ret;
		list += len;
		if (*list == '\0')
			break;
	}
	return result;
}

/* Puts the interpreter of a script in its place; false: it is not a script. */
static bool interpreter(char path[PATH_MAX])
{
	char line[256], *start = line + 2;
	FILE *file = fopen(path, "re");
	size_t n;

	if (file == NULL)
		return false;
	n = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[n] = '\0';
	if (strncmp(line, "#!", 2) != 0)
		return false;
	start += strspn(start, " \t");
	start[strcspn(start, " \t\n")] = '\0';
	if (start[0] == '\0')
		return false;
	snprintf(path, PATH_MAX, "%s", start);
	return true;
}

/* True if the kernel makes the program forget LD_PRELOAD (AT_SECURE). */
static bool secured(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	if ((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid())
		return true;
	if ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 && st.st_gid != getgid())
		return true;
	return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static int check(struct program *program, const char *word, char *reason)
{
	struct elf_file ours;
	int ret = elf_file_read(program->binary, &program->elf);

	if (secured(program->binary))
		return refuse(
			reason, PROGRAM_CANNOT_BE_RUN,
			"%s: %s runs with other privileges (set-user-ID, set-group-ID or "
			"capabilities), so nothing can be preloaded into it; to become another "
			"user, let that program start rpma-soft",
			word, program->binary);
	/* may be executed, but not read: the loader will tell */
	if (ret == -EACCES)
		return 0;
	if (ret == 0)
		ret = elf_file_read("/proc/self/exe", &ours);
	if (ret)
		return refuse(reason, PROGRAM_CANNOT_BE_RUN, "cannot run %s: %s: %s", word,
			      program->binary, strerror(-ret));
	if (program->elf.class != ours.class || program->elf.machine != ours.machine)
		return refuse(reason, PROGRAM_CANNOT_BE_RUN,
			      "%s: %s is for another kind of machine than the device", word,
			      program->binary);
	if (!program->elf.has_loader)
		return refuse(reason, PROGRAM_CANNOT_BE_RUN,
			      "%s: %s is linked statically, so nothing can be preloaded into it",
			      word, program->binary);
	return 0;
}

int program_find(struct program *program, const char *word, char reason[PROGRAM_REASON_BYTES])
{
	struct elf_file elf;
	int error = search(word, program->path);

	if (error != 0)
		return refuse(reason,
			      error == ENOENT || error == ENOTDIR ? PROGRAM_NOT_FOUND
								  : PROGRAM_CANNOT_BE_RUN,
			      "cannot run %s: %s", word,
			      error == ENOENT && strchr(word, '/') == NULL ? "command not found"
									   : strerror(error));
	memcpy(program->binary, program->path, sizeof(program->binary));
	for (int depth = 0; depth < SCRIPTS_DEEP && interpreter(program->binary); depth++) {
		error = executable(program->binary);
		if (error != 0)
			return refuse(reason, PROGRAM_CANNOT_BE_RUN,
				      "cannot run %s: its interpreter %s: %s", word,
				      program->binary, strerror(error));
	}
	if (elf_file_read(program->binary, &elf) == -ENOEXEC)
		snprintf(program->binary, PATH_MAX, "%s", SHELL);
	return check(program, word, reason);
}
