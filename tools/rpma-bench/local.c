/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local.c -- starts a server in a process of its own and measures it.
 */
#include "local.h"

#include "common/json/result.h"
#include "local_server.h"
#include "tools/rpma-bench/client/client.h"

#define TOOL "rpma-bench"

/* All that can fail before there is a client. */
static int start(const struct options *options, struct server_child *child)
{
	int ret = options->output != NULL ? result_check_writable(options->output) : 0;

	if (ret == 0)
		ret = server_child_enter(options);
	return ret ? ret : server_child_fork(child, options);
}

int local_run(const struct options *options)
{
	const struct server_order order = {.once = true, .cores_taken = options->cores_taken};
	struct server_child child = {0};
	struct options o = *options;
	struct device device;
	bool now = true;
	int ret, code;

	if (start(options, &child) != 0)
		return cli_report_failure(TOOL);
	ret = server_child_start(&child, &order, &o.port);
	if (ret == 0)
		ret = server_child_device(options, &device);
	if (ret == 0) {
		o.host = device.address;
		code = client_run(&o);
		/* one that failed may never have come to its server */
		now = cli_signal != 0 || (code != EXIT_GOOD && code != EXIT_NEGATIVE);
	} else {
		code = ret == -ECANCELED ? 128 + cli_signal : cli_report_failure(TOOL);
	}
	server_child_end(&child, now);
	return code;
}
