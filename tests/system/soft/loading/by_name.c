/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * by_name.c -- loads libibverbs at run time, as NCCL and others do.
 *
 *     by_name LIBRARY FLAGS VERSION
 *
 * LIBRARY goes to dlopen(3) with the FLAGS now, local, global and deepbind, joined by '+'. Each
 * function is asked for by dlvsym(3) at VERSION, or by dlsym(3) if that is "none". It prints the
 * file that has them all, and "devices: N". Status 1: what failed is on standard error.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int good, const char *what)
{
	if (!good) {
		const char *why = dlerror();

		fprintf(stderr, "by_name: %s: %s\n", what, why != NULL ? why : "failed");
		exit(1);
	}
}

static int flags_of(char *words)
{
	int flags = 0;

	for (char *save, *word = strtok_r(words, "+", &save); word != NULL;
	     word = strtok_r(NULL, "+", &save)) {
		flags |= strcmp(word, "now") == 0      ? RTLD_NOW
			 : strcmp(word, "local") == 0  ? RTLD_LOCAL
			 : strcmp(word, "global") == 0 ? RTLD_GLOBAL
						       : RTLD_DEEPBIND;
	}
	return flags;
}

static void *find(void *library, const char *name, const char *version)
{
	void *function = strcmp(version, "none") == 0 ? dlsym(library, name)
						      : dlvsym(library, name, version);

	require(function != NULL, name);
	return function;
}

static const char *file_of_all(void *library, const char *version)
{
	static const char *const names[] = {
		"ibv_get_device_list", "ibv_open_device", "ibv_close_device",
		"ibv_alloc_pd",	       "ibv_reg_mr",	  "ibv_create_cq",
		"ibv_create_qp",       "ibv_modify_qp",	  "ibv_query_gid",
	};
	const char *file = NULL;
	Dl_info info;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		require(dladdr(find(library, names[i], version), &info) != 0, names[i]);
		require(file == NULL || strcmp(file, info.dli_fname) == 0, info.dli_fname);
		file = info.dli_fname;
	}
	return file;
}

int main(int argc, char **argv)
{
	void **(*get_device_list)(int *);
	void *library, *function;
	int count = 0;

	require(argc == 4, "LIBRARY FLAGS VERSION");
	library = dlopen(argv[1], flags_of(argv[2]));
	require(library != NULL, "dlopen");
	puts(file_of_all(library, argv[3]));
	function = find(library, "ibv_get_device_list", argv[3]);
	memcpy(&get_device_list, &function, sizeof(function));
	get_device_list(&count);
	printf("devices: %d\n", count);
	return 0;
}
