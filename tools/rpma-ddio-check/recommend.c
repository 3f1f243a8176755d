/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recommend.c -- where no target was given the first step is to name one: it is then looked
 * at, as the hypothetical facts of a target could only be guessed.
 */
#include "recommend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "readiness/advice.h"
#include "targets.h"

static json_t *advise(const struct readiness *readiness, const struct advice_step *first)
{
	struct advice *advice = malloc(sizeof(*advice));
	json_t *document = NULL, *step;

	if (advice != NULL && advice_make(readiness, advice) == 0)
		document = advice_json(advice);
	else
		failure_set(EXIT_INTERNAL, "advice", "out of memory");
	if (document != NULL && first != NULL) {
		step = json_pack("{s:s, s:s, s:b, s:s}", "checks", first->checks, "text",
				 first->text, "finds_out", false, "verdict",
				 readiness_verdict_name(first->row->verdict));
		json_array_insert_new(json_object_get(document, "steps"), 0, step);
	}
	free(advice);
	return document;
}

static json_t *advise_target(const struct options *o, const struct sysroot *root,
			     const char *target)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	const struct readiness_cfg cfg = {.root = root,
					  .device = o->device,
					  .target = target,
					  .claims = &o->claims,
					  .lenient = o->lenient};
	struct advice_step step = {.checks = "PM-01"};
	json_t *document = NULL;

	if (readiness == NULL) {
		failure_set(EXIT_INTERNAL, "advice", "out of memory");
		return NULL;
	}
	if (readiness_inspect(readiness, &cfg) == 0) {
		snprintf(step.text, sizeof(step.text), "Name the memory: --target %s", target);
		step.row = readiness->row;
		document = advise(readiness, &step);
	}
	readiness_free(readiness);
	free(readiness);
	return document;
}

json_t *recommend(const struct options *options, const struct sysroot *root,
		  const struct readiness *readiness)
{
	struct targets *targets = malloc(sizeof(*targets));
	json_t *document;

	if (targets == NULL) {
		failure_set(EXIT_INTERNAL, "advice", "out of memory");
		return NULL;
	}
	targets->count = 0;
	if (strcmp(readiness->row->name, "no-target") == 0)
		targets_find(root, targets);
	document = targets->count > 0 ? advise_target(options, root, targets->paths[0])
				      : advise(readiness, NULL);
	free(targets);
	return document;
}
