/* SPDX-License-Identifier: BSD-3-Clause */
/* client.h -- rpma-bench client: one run, and what becomes of its result. */
#pragma once

#include "tools/rpma-bench/options/options.h"

/* Gives the exit code; what failed has been printed. */
int client_run(const struct options *options);

/*
 * Prints them on standard output, as text or with --json as JSON; binds
 * nothing and asks no server, so the description of another machine in
 * HWLOC_XMLFILE will do. Gives the exit code; what failed has been printed.
 */
int dry_run(const struct options *options);
