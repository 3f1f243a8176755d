/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.c -- measures, and has the result published.
 */
#include "client.h"

#include <time.h>

#include "run.h"
#include "tools/rpma-bench/result/output.h"

#define TOOL "rpma-bench"

int client_run(const struct options *options)
{
	json_t *document;
	struct run run;
	int ret, code;

	if (publish_check(options) != 0)
		return cli_report_failure(TOOL);
	ret = run_open(&run, options);
	if (ret == 0)
		ret = run_measure(&run);
	else
		clock_gettime(CLOCK_REALTIME, &run.record.ended);
	run_judge(&run, ret);
	document = document_make(&run.record);
	code = publish(&run.record, document);
	json_decref(document);
	run_close(&run);
	return code;
}
