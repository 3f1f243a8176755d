/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h -- the environment variables of librpmem(7).
 *
 * Some are read once, when the library is loaded, the others on each call that
 * needs them. A value that cannot be used is reported and ignored. A process with
 * more privileges than its user does not read them (secure_getenv(3)).
 */
#pragma once

#include <stdbool.h>

#define SETTINGS_COMMAND_MAX	4096 /* with its NUL */
#define SETTINGS_WORK_QUEUE	50
#define SETTINGS_WORK_QUEUE_MIN 2

struct settings {
	char *commands; /* RPMEM_CMD; NULL: unset */
	unsigned next_command;
	unsigned max_nlanes; /* RPMEM_MAX_NLANES; UINT_MAX: no limit */
	unsigned work_queue; /* RPMEM_WORK_QUEUE_SIZE */
};

/* The variables that are read at load; sets up the report by RPMEM_LOG_LEVEL and _FILE first. */
void settings_load(struct settings *settings);

/*
 * The remote command of the next connection: the alternatives of RPMEM_CMD, separated by '|',
 * take turns. -EINVAL, with the error message set: it is too long. Any thread.
 */
int settings_next_command(struct settings *settings, char command[SETTINGS_COMMAND_MAX]);

/* RPMEM_SSH; valid until the environment changes. */
const char *settings_ssh(void);
/* RPMEM_ENABLE_VERBS, RPMEM_ENABLE_SOCKETS */
bool settings_verbs(void);
bool settings_sockets(void);
