/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.c -- the block that readiness has of itself, and what was run.
 */
#include "document.h"

#include "common/json/result.h"
#include "readiness/readiness.h"

static json_t *make_argv(const struct options *options)
{
	json_t *argv = json_array(), *value;

	for (int i = 0; i < options->argc; i++) {
		value = json_string(i > 0 ? options->argv[i] : "rpma-ddio-check");
		/* not UTF-8: the position is kept, the bytes cannot be */
		json_array_append_new(argv, value != NULL ? value : json_string("?"));
	}
	return argv;
}

static json_t *make_refused(const struct sysroot_refusals *refused)
{
	if (refused->count == 0)
		return json_null();
	return json_pack("{s:o, s:o}", "count", result_integer(refused->count), "first",
			 result_text(refused->first));
}

static json_t *choose_checks(const json_t *all, const char *only)
{
	json_t *chosen = json_array(), *check;
	size_t index;

	json_array_foreach(all, index, check)
	{
		if (options_list_has(only, json_string_value(json_object_get(check, "id"))))
			json_array_append(chosen, check);
	}
	return chosen;
}

static json_t *make_statement(const struct facts_claims *claims, const char *what, const char *why)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "what", what, "why", result_text(why), "by",
			 result_text(claims->by), "at", result_text(claims->at));
}

/* The statements that the verdict may rest on beside evidence. */
static json_t *make_statements(const struct facts_claims *claims)
{
	json_t *statements = json_array();

	if (claims->ddio_assumed != KNOWN_NOT)
		json_array_append_new(
			statements,
			make_statement(claims,
				       claims->ddio_assumed == KNOWN_NO ? "ddio-off" : "ddio-on",
				       claims->why));
	if (claims->pmem_why[0] != '\0')
		json_array_append_new(statements, make_statement(claims, "pmem", claims->pmem_why));
	return statements;
}

json_t *document_run(const struct options *options, const struct sysroot_refusals *refused,
		     const struct timespec *started, int exit_code)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:i}", "started", result_time(started), "argv",
			 make_argv(options), "sysroot", result_text(options->sysroot), "refused",
			 make_refused(refused), "exit_code", exit_code);
}

json_t *document_make(const struct options *options, const struct readiness *readiness,
		      const struct sysroot_refusals *refused, const struct timespec *started)
{
	json_t *block = readiness_block(readiness);
	json_t *run = document_run(options, refused, started, readiness->row->exit_code);
	json_t *document =
		json_pack("{s:O, s:{s:s, s:s}, s:o}", "schema", json_object_get(block, "schema"),
			  "tool", "name", "rpma-ddio-check", "version", RPMA_VERSION, "run", run);

	json_object_update(document, block);
	json_object_set_new(document, "statements", make_statements(&options->claims));
	json_object_set_new(document, "checks",
			    choose_checks(json_object_get(block, "checks"), options->only));
	json_decref(block);
	return document;
}
