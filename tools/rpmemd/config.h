/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config.h -- the configuration of rpmemd: defaults, overruled by the file of the system, that by
 * the user's, that by the command line.
 *
 * A file has lines "key = value"; # begins a comment. The keys are log-file,
 * poolset-dir, persist-apm, persist-general, use-syslog, log-level and rdma-addr.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

#define CONFIG_SYSTEM_FILE "/etc/rpmemd/rpmemd.conf"
#define CONFIG_USER_FILE   ".rpmemd.conf" /* in the home directory */
#define CONFIG_LOG_FILE	   "/var/log/rpmemd.log"

struct config {
	char *log_file;	   /* owned */
	char *poolset_dir; /* owned; absolute */
	char *rdma_addr;   /* owned; where lanes are accepted; NULL: the address that ssh reached */
	bool persist_apm;  /* wanted; it takes persistent memory */
	bool persist_general;
	bool use_syslog; /* else log_file */
	enum log_level log_level;
};

/* $HOME, else that of the user's entry in passwd(5); NULL: neither. Borrowed. */
const char *config_home(void);

/*
 * Reads the files, of which --config names the only one, and applies the options.
 * -EINVAL with the error message "FILE:LINE: ..." stored, or another errno for a file that
 * cannot be read. Free it with config_free().
 */
int config_load(struct config *config, const struct options *options, const char *system_file,
		const char *home);
void config_free(struct config *config);

/* --- within config.c, and for its tests --------------------------------------------- */

int config_defaults(struct config *config, const char *home);
/* `file` is for error messages. */
int config_parse(struct config *config, const char *file, const char *text, size_t len,
		 const char *home);

/*
 * rpmemd --check: prints the configuration, each pool set below its directory with the persistence
 * that a client would be promised and why, and the RDMA device of the address. The exit code:
 * EXIT_NEGATIVE where something keeps clients from being served.
 */
int check_run(const struct config *config, const char *address);
