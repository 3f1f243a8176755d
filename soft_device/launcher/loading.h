/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loading.h -- how a program gets libibverbs and librdmacm, as far as its file and the loader tell.
 */
#pragma once

#include <stdbool.h>

#include "program.h"

struct loading {
	bool listed;	   /* the loader has listed its libraries */
	bool has_device;   /* the device is among them */
	bool linked;	   /* and libibverbs or librdmacm is */
	bool by_name;	   /* its file has the name of one of them, for dlopen() */
	char by_path[256]; /* or an absolute path; "": none */
};

/*
 * Has the loader list what the program would be started with in this environment, which has the
 * device in LD_PRELOAD, and without; the program itself does not run.
 */
void loading_find(const struct program *program, struct loading *loading);
