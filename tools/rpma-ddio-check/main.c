/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c -- rpma-ddio-check: explain, or inspect.
 */
#include <stdio.h>

#include "common/base/failure.h"
#include "explain.h"
#include "inspect.h"

#define TOOL "rpma-ddio-check"

const char *argp_program_version = TOOL " " RPMA_VERSION;

int main(int argc, char **argv)
{
	struct options options;
	int code = EXIT_GOOD;

	cli_reserve_standard_fds();
	if (options_parse(&options, argc, argv) != 0)
		return cli_report_failure(TOOL);
	if (options.cli.done)
		return EXIT_GOOD;
	if (cli_catch_signals() != 0)
		return cli_report_failure(TOOL);
	if ((options.explain != NULL ? explain(options.explain) : inspect(&options, &code)) != 0)
		return cli_signal != 0 ? 128 + cli_signal : cli_report_failure(TOOL);
	return code;
}
