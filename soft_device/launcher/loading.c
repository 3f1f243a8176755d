/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loading.c -- see loading.h. The loader's own --list is asked, as ldd does: to start the program
 * with LD_TRACE_LOADED_OBJECTS would run one whose loader knows no such variable.
 */
#include "loading.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "/librpma-soft.so"

static const char *const names[] = {"libibverbs.so", "librdmacm.so"};

static bool names_one(const char *line)
{
	bool does = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		does |= strstr(line, names[i]) != NULL;
	return does;
}

/* The message of the child. */
static void read_list(int from, bool preloaded, struct loading *loading)
{
	FILE *file = fdopen(from, "re");
	char line[1024];

	if (file == NULL) {
		close(from);
		return;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		if (preloaded)
			loading->has_device |= strstr(line, DEVICE) != NULL;
		else
			loading->linked |= names_one(line);
	}
	fclose(file);
}

static bool ask_loader(const struct program *program, bool preloaded, struct loading *loading)
{
	int pipe_fds[2], status = -1;
	pid_t child;

	if (program->elf.loader[0] == '\0' || pipe2(pipe_fds, O_CLOEXEC) != 0)
		return false;
	child = fork();
	if (child == 0) {
		if (!preloaded)
			unsetenv("LD_PRELOAD");
		dup2(pipe_fds[1], STDOUT_FILENO);
		dup2(pipe_fds[1], STDERR_FILENO);
		execl(program->elf.loader, program->elf.loader, "--list", program->binary,
		      (char *)NULL);
		_exit(127);
	}
	close(pipe_fds[1]);
	read_list(pipe_fds[0], preloaded, loading);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* A name in the file: alone, or at the end of an absolute path, whose begin is looked for. */
static void note_name(const char *file, const char *at, struct loading *loading)
{
	const char *start = at;

	while (start > file && start[-1] != '\0')
		start--;
	if (start == at)
		loading->by_name = true;
	else if (*start == '/')
		snprintf(loading->by_path, sizeof(loading->by_path), "%s", start);
}

static void search(const char *bytes, size_t size, struct loading *loading)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t length = strlen(names[i]);
		const char *at = bytes;

		while ((at = memmem(at, size - (size_t)(at - bytes), names[i], length)) != NULL) {
			if (memchr(at, '\0', size - (size_t)(at - bytes)) != NULL)
				note_name(bytes, at, loading);
			at += length;
		}
	}
}

static void read_names(const char *path, struct loading *loading)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes = MAP_FAILED;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return;
	search(bytes, (size_t)st.st_size, loading);
	munmap(bytes, (size_t)st.st_size);
}

void loading_find(const struct program *program, struct loading *loading)
{
	*loading = (struct loading){.listed = false};
	loading->listed = ask_loader(program, true, loading) && ask_loader(program, false, loading);
	read_names(program->binary, loading);
}
