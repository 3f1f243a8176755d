/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c -- rpma-ping: the options, and one of two calls. */
#include "client.h"
#include "common/base/failure.h"
#include "common/host/rlimits.h"
#include "common/rdma/connection.h"
#include "server.h"

#define TOOL "rpma-ping"

const char *argp_program_version = TOOL " " RPMA_VERSION;

int main(int argc, char **argv)
{
	struct options options;
	struct steps steps;

	cli_reserve_standard_fds();
	steps_init(&steps);
	if (options_parse(&options, argc, argv) != 0)
		return cli_report_failure(TOOL);
	if (options.cli.done)
		return EXIT_GOOD;
	steps_done(&steps);
	open_files_raise();
	connection_log_to_failures(options.cli.verbose);
	if (cli_catch_signals() != 0)
		return cli_report_failure(TOOL);
	return options.server ? server_run(&options) : hosts_ping(&options, &steps);
}
