/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.c -- the result of a run as JSON.
 *
 * The shape is doc/schema/rpma-bench-1.schema.json. Only what was measured
 * goes in; what is not known is null. The repeats are there already, each as
 * the JSON of its own; here they get their parameters and their summary.
 */
#include <string.h>

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "common/rdma/target.h"
#include "output.h"
#include "point.h"
#include "readiness.h"
#include "record.h"
#include "repeat.h"
#include "tools/rpma-bench/options/slo.h"
#include "version.h"
#include "warnings.h"

static json_t *make_tool(void)
{
	const int native = VERSION_LIBRPMA_NATIVE;

	return json_pack("{s:s, s:s, s:o, s:s, s:o, s:s, s:o, s:o, s:s}", "name", "rpma-bench",
			 "version", RPMA_VERSION, "git", result_text(VERSION_GIT), "compiler",
			 VERSION_COMPILER, "cflags", result_text(VERSION_CFLAGS), "librpma",
			 RPMA_VERSION, "librpma_native",
			 native < 0 ? json_null() : json_boolean(native), "libibverbs",
			 environment_library("libibverbs.so"), "hwloc", VERSION_HWLOC);
}

static json_t *make_argv(const struct options *options)
{
	json_t *argv = json_array(), *value;

	json_array_append_new(argv, json_string("rpma-bench"));
	for (int i = 0; i < options->argc; i++) {
		value = json_string(options->argv[i]);
		/* not UTF-8: the position is kept, the bytes cannot be */
		json_array_append_new(argv, value != NULL ? value : json_string("?"));
	}
	return argv;
}

static bool any_mismatch(const json_t *points)
{
	const json_t *point, *verify;
	size_t index;

	json_array_foreach(points, index, point) {
		verify = path_get(point, "summary/verify");
		if (path_whole(verify, "mismatches") > 0)
			return true;
	}
	return false;
}

/* Is there a limit for a point that the server cannot serve? That of a search is for all. */
static bool any_limit_unsupported(const struct record *record)
{
	const struct options *o = record->options;

	for (size_t i = 0; record->unsupported != NULL && i < record->plan.points_count; i++) {
		if (record->unsupported[i] != NULL && o->find_rate != NULL)
			return true;
		for (size_t g = 0; record->unsupported[i] != NULL && g < o->slos_count; g++) {
			if (slo_applies(o->slos[g], record->plan.points[i].test))
				return true;
		}
	}
	return false;
}

static json_t *make_unsupported(const struct record *record)
{
	json_t *list = json_array();

	for (size_t i = 0; record->unsupported != NULL && i < record->plan.points_count; i++) {
		if (record->unsupported[i] != NULL)
			json_array_append_new(
				list, json_pack("{s:o, s:o, s:o}", "id", json_sprintf("p%04zu", i),
						"params",
						plan_point_json(&record->plan, i,
								&record->options->selector),
						"reason", result_text(record->unsupported[i])));
	}
	return list;
}

static bool any_with_code(const json_t *warnings, const char *code)
{
	const json_t *warning;
	size_t index;

	json_array_foreach(warnings, index, warning) {
		if (path_is(warning, "code", code))
			return true;
	}
	return false;
}

/* The exit code of a run that went well: an unknown verdict is less than good. */
static int find_exit_code(const struct record *record, const json_t *points, const json_t *warnings,
			  enum slo_verdict limits)
{
	int searches = searches_exit_code(record->searches, record->searches_count);

	if (limits == SLO_MISSED || any_mismatch(points) || searches == EXIT_NEGATIVE)
		return EXIT_NEGATIVE;
	if (limits == SLO_UNKNOWN || any_limit_unsupported(record) ||
	    any_with_code(warnings, "VERIFY_MISSING"))
		return EXIT_NO_DEVICE;
	return searches;
}

static json_t *make_run(const struct record *record, const json_t *points)
{
	static const char *const statuses[] = {"complete", "interrupted", "failed"};
	const struct options *o = record->options;
	enum slo_verdict limits;
	json_t *slos = slos_judge(o->slos, o->slos_count, points, &limits);
	json_t *warnings = warnings_make(record, points), *value;
	int code = record->exit_code;

	if (code == EXIT_GOOD)
		code = find_exit_code(record, points, warnings, limits);
	value = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:o, s:o}", "id",
			  result_uuid(record->id), "label", result_text(o->label), "started",
			  result_time(&record->started), "ended", result_time(&record->ended),
			  "argv", make_argv(o), "seed", result_integer(record->seed), "status",
			  statuses[record->status], "exit_code", code, "resumed_repeats",
			  result_integer(record->repeats_resumed), "slos", slos);
	json_object_set_new(value, "failure",
			    record->status == RUN_FAILED
				    ? json_pack("{s:s, s:o, s:o}", "step", record->failure.step,
						"cause",
						result_text(cause_name(record->failure.cause)),
						"text", result_text(record->failure.text))
				    : json_null());
	if (o->find_rate != NULL)
		json_object_set_new(value, "searches",
				    searches_json(record->searches, record->searches_count));
	json_object_set_new(value, "unsupported", make_unsupported(record));
	json_object_set_new(value, "warnings", warnings);
	return value;
}

/* The one the user's choice stands for. */
static json_t *make_target(const struct record *record, uint32_t choice)
{
	uint32_t index = record->targets[choice];
	const struct message_welcome *welcome = &record->server.welcome;
	const struct message_target *t = &welcome->targets[index];
	bool huge = t->kind == TARGET_HUGEPAGES && t->page_bytes > 0;

	if (!record->server.known)
		return json_null();
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "index", result_integer(index),
			 "kind", target_kind_name((enum target_kind)t->kind), "bytes",
			 result_integer(t->bytes), "odp",
			 t->odp > 1 ? json_null() : json_boolean(t->odp), "page_bytes",
			 t->page_bytes > 0 ? result_integer(t->page_bytes) : json_null(),
			 "hugepage_bytes", huge ? result_integer(t->page_bytes) : json_null(),
			 "numa_node", result_known(t->numa_node), "direct_write_to_pmem",
			 welcome->direct_write_to_pmem != 0);
}

/* Slots are as far apart as the size, rounded up to lines. */
static uint64_t alignment(uint64_t size_bytes)
{
	uint64_t stride = (size_bytes + ACCESS_LINE - 1) / ACCESS_LINE * ACCESS_LINE;
	uint64_t lowest = stride & (~stride + 1);

	return lowest < 4096 ? lowest : 4096;
}

static json_t *millionths(uint32_t value)
{
	return json_real((double)value / PARAMS_MILLION);
}

/* By --inline a write or a message; besides, the write that stands for an atomic write. */
static json_t *inline_bytes(const struct options *o, const struct params *p, const json_t *used)
{
	const uint32_t chosen = o->knobs.value[CONNECTION_INLINE];
	bool copied = chosen != CONNECTION_KNOB_UNSET && p->size_bytes <= chosen &&
		      (params_facts(p) & OP_INLINE) != 0 && !params_rpmem(p);
	const char *method = path_text(used, "atomic_write_method");
	bool payload = params_has_operations(p);
	bool atomic = (params_facts(p) & OP_ATOMIC) != 0;

	/* those of mixed sizes differ */
	if (!payload || (atomic && method[0] == '\0') || (copied && p->mix != NULL))
		return json_null();
	return json_integer((strcmp(method, "write") == 0 ? RPMA_ATOMIC_WRITE_ALIGNMENT : 0) +
			    (copied ? (json_int_t)p->size_bytes : 0));
}

/* Readers of earlier versions take the mean for the size of all. */
static uint64_t size_of(const struct params *p)
{
	return p->mix != NULL ? size_mix_mean(p->mix) : p->size_bytes;
}

static json_t *make_mix(const struct size_mix *mix)
{
	json_t *list;

	if (mix == NULL)
		return json_null();
	list = json_array();
	for (uint32_t i = 0; i < mix->count; i++)
		json_array_append_new(list, json_pack("{s:o, s:o}", "size_bytes",
						      result_integer(mix->size_bytes[i]), "percent",
						      result_integer(mix->percent[i])));
	return list;
}

/* used: what its repeats had to decide. */
static json_t *make_params(const struct record *record, const struct params *p, const json_t *used)
{
	bool payload = params_has_operations(p);
	bool rated = p->rate_per_s > 0;
	json_t *v = json_object();

	json_object_set_new(v, "test", json_string(params_tests[p->test]));
	json_object_set_new(v, "op", payload ? json_string(params_ops[p->op]) : json_null());
	json_object_update_missing(v, (json_t *)(uintptr_t)used);
	json_object_set_new(v, "size_bytes",
			    p->test == BENCH_CONNECT ? json_null() : result_integer(size_of(p)));
	json_object_set_new(v, "size_mix", make_mix(p->mix));
	json_object_set_new(v, "depth", result_integer(p->depth));
	json_object_set_new(v, "threads", result_integer(p->threads));
	json_object_set_new(v, "connections", result_integer(p->connections));
	json_object_set_new(v, "batch", result_integer(p->batch));
	json_object_set_new(v, "signal_every", result_integer(p->signal_every));
	json_object_set_new(v, "inline_bytes", inline_bytes(record->options, p, used));
	json_object_set_new(v, "completion", json_string(params_completions[p->completion]));
	json_object_set_new(
		v, "pattern",
		json_string(params_patterns[params_zipf(p) ? BENCH_RAND : p->pattern.kind]));
	json_object_set_new(v, "zipf_theta",
			    params_zipf(p) ? millionths(p->pattern.number) : json_null());
	json_object_set_new(v, "align_bytes",
			    payload ? result_integer(alignment(p->size_bytes)) : json_null());
	json_object_set_new(v, "mode", json_string(rated ? "open" : "closed"));
	json_object_set_new(v, "target_rate_per_s",
			    rated ? result_integer(p->rate_per_s) : json_null());
	json_object_set_new(v, "arrivals", rated ? axis_json(p, AXIS_ARRIVALS) : json_null());
	json_object_set_new(v, "bidirectional", json_boolean(p->bidirectional));
	json_object_set_new(v, "srq", json_boolean(p->srq));
	json_object_set_new(v, "read_fraction",
			    p->test == BENCH_MIX ? millionths(p->read_millionths) : json_null());
	json_object_set_new(v, "server_load_fraction", millionths(p->server_load_millionths));
	json_object_set_new(v, "target_memory", make_target(record, p->target));
	return v;
}

static json_t *make_stop(const struct options *o)
{
	json_t *ci = json_null(), *ops = o->ops > 0 ? result_integer(o->ops) : json_null();

	if (o->ci > 0)
		ci = json_pack("{s:f, s:f, s:i}", "level", 0.95, "half_width_fraction", o->ci,
			       "repeats_max", (int)o->repeats);
	return json_pack("{s:s, s:o, s:o, s:o, s:b}", "kind",
			 o->ci > 0    ? "ci"
			 : o->ops > 0 ? "ops"
				      : "duration",
			 "duration_ns",
			 o->ops > 0 || o->endless ? json_null() : result_integer(o->duration_ns),
			 "ops", ops, "ci", ci, "endless", o->endless);
}

static json_t *make_point(const struct record *record, size_t index)
{
	json_t *repeats = record->repeats[index], *used, *params;

	if (json_array_size(repeats) == 0)
		return NULL;
	used = point_joined(repeats, "used");
	params = make_params(record, &record->plan.points[index], used);
	json_decref(used);
	return json_pack("{s:o, s:o, s:o, s:o, s:O, s:o}", "id", json_sprintf("p%04zu", index),
			 "params", params, "stop", make_stop(record->options), "warmup",
			 point_joined(repeats, "warmup"), "repeats", repeats, "summary",
			 point_summary(repeats));
}

static json_t *make_points(const struct record *record)
{
	json_t *points = json_array(), *point;

	for (size_t i = 0; record->repeats != NULL && i < record->plan.points_count; i++) {
		point = make_point(record, i);
		if (point != NULL)
			json_array_append_new(points, point);
	}
	return points;
}

static json_t *own_environment(const struct record *record)
{
	json_t *block = environment_gather(&record->sysroot, record->topology,
					   record->device_known ? record->device.name : NULL);

	if (record->options->anonymous)
		environment_anonymise(block);
	return block;
}

json_t *document_make(const struct record *record)
{
	json_t *points = make_points(record);
	/* the server's placement is in each repeat */
	json_t *placement =
		record->placement.policy != NULL ? placement_json(&record->placement) : json_null();

	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:{s:o}, s:o, s:{s:o, s:O?}, s:o}", "schema",
		"rpma-bench/1", "tool", make_tool(), "run", make_run(record, points), "device",
		record->device_known ? result_device(&record->device, record->emulated_cpu)
				     : json_null(),
		"clock", record->clock_started ? result_clock(&record->clock) : json_null(),
		"placement", "client", placement, "points", points, "environment", "client",
		own_environment(record), "server", record->server.environment, "readiness",
		platform_json(record->server.readiness, points));
}
