/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.c -- see loader.h. The modules are RELEASE.so, such as 3.33.so, and check the
 * release themselves, too.
 */
#include "loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"

#define PREFIX "fio-"
#define SUFFIX ".so"

/* The folder of the modules; false: this object is in no folder. */
static bool find_folder(char folder[PATH_MAX])
{
	char own[PATH_MAX];
	char *slash;
	Dl_info info;

	if (dladdr(__extension__(void *) loader_table, &info) == 0 ||
	    realpath(info.dli_fname, own) == NULL)
		return false;
	slash = strrchr(own, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	return snprintf(folder, PATH_MAX, "%s/" LOADER_FOLDER, own) < PATH_MAX;
}

static int is_module(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > strlen(SUFFIX) &&
	       strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* Prints what there is, in the order of releases. */
static void print_modules(const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_module, versionsort);

	if (count <= 0)
		fprintf(stderr, "none");
	for (int i = 0; i < count; i++) {
		fprintf(stderr, "%s%.*s", i > 0 ? ", " : "",
			(int)(strlen(entries[i]->d_name) - strlen(SUFFIX)), entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static void *no_module(const char *folder, const char *running)
{
	fprintf(stderr, "librpma: no engine for %s: %s has ", running, folder);
	print_modules(folder);
	fprintf(stderr, "; build it with the source of that fio, too "
			"(cmake -DFIO_SOURCE_DIR='DIR;DIR')\n");
	return NULL;
}

/* The path of the module for this program, such as "fio-3.33-dirty". */
static bool module_path(const char *folder, const char *running, char path[PATH_MAX])
{
	size_t length = guard_version_length(running);

	if (length <= strlen(PREFIX) || strncmp(running, PREFIX, strlen(PREFIX)) != 0)
		return false;
	return snprintf(path, PATH_MAX, "%s/%.*s" SUFFIX, folder, (int)(length - strlen(PREFIX)),
			running + strlen(PREFIX)) < PATH_MAX;
}

void *loader_table(const char *name)
{
	const char *running = (const char *)dlsym(RTLD_DEFAULT, "fio_version_string");
	char folder[PATH_MAX], path[PATH_MAX];
	void *module, *table;

	if (running == NULL)
		running = "a fio that does not tell its version";
	if (!find_folder(folder)) {
		fprintf(stderr, "librpma: cannot find the folder of the engine\n");
		return NULL;
	}
	if (!module_path(folder, running, path) || access(path, F_OK) != 0)
		return no_module(folder, running);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	table = module != NULL ? dlsym(module, name) : NULL;
	if (table == NULL)
		fprintf(stderr, "librpma: %s\n", dlerror());
	return table;
}

void get_ioengine(void **table)
{
	*table = loader_table("ioengine");
}
