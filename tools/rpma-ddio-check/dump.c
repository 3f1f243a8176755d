/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dump.c -- files are recorded as they are read; what calls answered goes
 * beside them.
 */
#include "dump.h"

#include <stdio.h>

#include "common/base/failure.h"
#include "common/json/result.h"
#include "readiness/answers.h"

int dump_begin(struct sysroot *root, const char *directory)
{
	return sysroot_record(root, directory);
}

int dump_end(struct sysroot *root, const char *directory, json_t *answers)
{
	char path[PATH_MAX];
	int ret = sysroot_record_end(root);

	/* below another root the answers are a file of it, recorded like any other */
	if (ret != 0 || !root->machine)
		return ret;
	if (json_object_set_new(answers, "schema", json_string(ANSWERS_SCHEMA)) != 0)
		return failure_set(EXIT_INTERNAL, "dump", "out of memory");
	if (snprintf(path, sizeof(path), "%s/facts.json", directory) >= (int)sizeof(path))
		return failure_set(EXIT_RUN_FAILED, "dump", "--dump-facts %s: the path is too long",
				   directory);
	return result_write(path, answers);
}
