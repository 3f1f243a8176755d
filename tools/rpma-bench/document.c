/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.c -- the result of a run as JSON.
 *
 * The shape is doc/schema/rpma-bench-1.schema.json. Only what was measured
 * goes in; what is not known is null.
 */
#include <math.h>
#include <string.h>

#include "../common/target.h"
#include "run.h"
#include "summary.h"
#include "version.h"
#include "warnings.h"

static json_t *real(double value)
{
	return json_real(round(value * 1000) / 1000);
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double ops_per_s(const struct repeat *r)
{
	return (double)r->measured.ops / seconds(r->measured.elapsed_ns);
}

static json_t *make_tool(void)
{
	return json_pack("{s:s, s:s, s:o, s:s, s:o, s:s, s:o, s:s}", "name", "rpma-bench",
			 "version", RPMA_VERSION, "git", result_text(VERSION_GIT), "compiler",
			 VERSION_COMPILER, "cflags", result_text(VERSION_CFLAGS), "librpma",
			 RPMA_VERSION, "libibverbs", environment_library("libibverbs.so"), "hwloc",
			 VERSION_HWLOC);
}

static json_t *make_run(const struct run *run)
{
	static const char *const statuses[] = {"complete", "interrupted", "failed"};
	json_t *argv = json_array(), *value;

	json_array_append_new(argv, json_string("rpma-bench"));
	for (int i = 0; i < run->options->argc; i++) {
		value = json_string(run->options->argv[i]);
		/* not UTF-8: the position is kept, the bytes cannot be */
		json_array_append_new(argv, value != NULL ? value : json_string("?"));
	}
	value = json_pack("{s:o, s:n, s:o, s:o, s:o, s:o, s:s, s:i}", "id", result_uuid(run->id),
			  "label", "started", result_time(&run->started), "ended",
			  result_time(&run->ended), "argv", argv, "seed", integer(run->seed),
			  "status", statuses[run->status], "exit_code", run->exit_code);
	json_object_set_new(value, "failure",
			    run->status == RUN_FAILED
				    ? json_pack("{s:s, s:o}", "step", run->failure.step, "text",
						result_text(run->failure.text))
				    : json_null());
	json_object_set_new(value, "warnings", warnings_make(run));
	return value;
}

/* Any repeat of a point: the device flushes all in the same way. */
static const struct repeat *any_repeat(const struct run *run, size_t point)
{
	uint32_t i = 0;

	while (i < run->options->repeats - 1 && !run_repeat(run, point, i)->done)
		i++;
	return run_repeat(run, point, i);
}

static json_t *make_target(const struct run *run)
{
	return json_pack("{s:s, s:o, s:n, s:n, s:o, s:b}", "kind",
			 target_kind_name((enum target_kind)run->server.target_kind), "bytes",
			 integer(run->server.target_bytes), "odp", "hugepage_bytes", "numa_node",
			 result_known(run->server.target_numa_node), "direct_write_to_pmem",
			 run->direct_write_to_pmem);
}

static uint64_t alignment(uint64_t stride)
{
	uint64_t lowest = stride & (~stride + 1);

	return lowest < 4096 ? lowest : 4096;
}

static json_t *make_flush(const struct run *run)
{
	if (!run->operation->flushes)
		return json_null();
	return json_string(run->flush_type == RPMA_FLUSH_TYPE_PERSISTENT ? "persistent"
									 : "visibility");
}

static json_t *make_flush_method(const struct run *run, const struct repeat *repeat)
{
	if (!run->operation->flushes)
		return json_null();
	return json_string(repeat->measured.native_flush ? "native" : "read");
}

static json_t *make_params(const struct run *run, size_t index)
{
	const struct plan_point *point = &run->plan.points[index];
	const struct options *o = run->options;
	const struct repeat *repeat = any_repeat(run, index);
	json_t *params = json_object();

	json_object_set_new(params, "test", json_string(options_tests[o->test]));
	json_object_set_new(params, "op", json_string(options_ops[o->op]));
	json_object_set_new(params, "persist", json_string(options_persists[o->persist]));
	json_object_set_new(params, "flush", make_flush(run));
	json_object_set_new(params, "flush_method", make_flush_method(run, repeat));
	json_object_set_new(params, "latency_kind", json_string(run_latency_kind(run, repeat)));
	json_object_set_new(params, "size_bytes", integer(point->size_bytes));
	json_object_set_new(params, "depth", integer(point->depth));
	json_object_set_new(params, "threads", json_integer(1));
	json_object_set_new(params, "connections", json_integer(1));
	json_object_set_new(params, "batch", json_integer(1));
	json_object_set_new(params, "signal_every", json_integer(1));
	json_object_set_new(params, "inline_bytes", json_integer(0));
	json_object_set_new(params, "completion", json_string(options_completions[o->completion]));
	json_object_set_new(params, "pattern", json_string("seq"));
	json_object_set_new(params, "align_bytes",
			    integer(alignment(run_stride(point->size_bytes))));
	json_object_set_new(params, "mode", json_string("closed"));
	json_object_set_new(params, "target_rate_per_s", json_null());
	json_object_set_new(params, "bidirectional", json_false());
	json_object_set_new(params, "read_fraction", json_null());
	json_object_set_new(params, "server_load_fraction", json_null());
	json_object_set_new(params, "target_memory", make_target(run));
	return params;
}

static json_t *steady_value(int steady)
{
	return steady < 0 ? json_null() : json_boolean(steady);
}

static json_t *make_warmup(const struct measured *m)
{
	return json_pack("{s:o, s:o, s:o, s:i}", "ns", integer(m->elapsed_ns), "ops",
			 integer(m->ops), "steady",
			 steady_value(summary_steady(m->windows, m->windows_used)), "windows_used",
			 (int)m->windows_used);
}

static json_t *make_thread(const struct repeat *r)
{
	const struct thread_usage *t = &r->thread;

	return json_pack("[{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}]", "index", 0, "cpu",
			 result_known(t->cpu), "cpus", result_text(t->cpus), "ops",
			 integer(r->measured.ops), "user_ns", integer(t->user_ns), "sys_ns",
			 integer(t->sys_ns), "vol_switches", integer(t->vol_switches),
			 "invol_switches", integer(t->invol_switches), "minor_faults",
			 integer(t->minor_faults), "major_faults", integer(t->major_faults));
}

static json_t *make_cpu(const struct repeat *r)
{
	double client =
		(double)(r->thread.user_ns + r->thread.sys_ns) / (double)r->measured.elapsed_ns;
	json_t *server = json_null();

	if (r->server_known)
		server = json_pack("{s:o, s:n}", "busy_fraction",
				   real((double)r->server_busy_ns / (double)r->server_elapsed_ns),
				   "load_fraction_measured");
	return json_pack("{s:{s:o}, s:o}", "client", "busy_fraction", real(client), "server",
			 server);
}

static json_t *make_repeat(const struct run *run, size_t point, uint32_t index)
{
	const struct repeat *r = run_repeat(run, point, index);
	uint64_t bytes = r->measured.ops * run->plan.points[point].size_bytes;
	json_t *repeat = json_object();

	json_object_set_new(repeat, "index", json_integer(index));
	json_object_set_new(repeat, "order", integer(r->order));
	json_object_set_new(repeat, "complete", json_boolean(!r->measured.interrupted));
	json_object_set_new(repeat, "elapsed_ns", integer(r->measured.elapsed_ns));
	json_object_set_new(repeat, "ops", integer(r->measured.ops));
	json_object_set_new(repeat, "errors", json_integer(0));
	json_object_set_new(repeat, "bytes", integer(bytes));
	json_object_set_new(repeat, "ops_per_s", real(ops_per_s(r)));
	json_object_set_new(repeat, "bytes_per_s",
			    real((double)bytes / seconds(r->measured.elapsed_ns)));
	json_object_set_new(repeat, "latency", result_latency(r->latency));
	json_object_set_new(repeat, "response_latency", json_null());
	json_object_set_new(repeat, "late_ops", json_null());
	json_object_set_new(repeat, "max_lag_ns", json_null());
	json_object_set_new(repeat, "warmup", make_warmup(&r->warmup));
	json_object_set_new(repeat, "intervals", json_null());
	json_object_set_new(repeat, "threads", make_thread(r));
	json_object_set_new(repeat, "cpu", make_cpu(r));
	json_object_set_new(repeat, "counters", json_null());
	json_object_set_new(repeat, "verify", json_null());
	return repeat;
}

static json_t *make_interval(const double *values, size_t count)
{
	struct summary_interval i = summary_mean(values, count);

	return json_pack("{s:o, s:o, s:o, s:o}", "mean", real(i.mean), "ci95_low",
			 i.known ? real(i.low) : json_null(), "ci95_high",
			 i.known ? real(i.high) : json_null(), "cv",
			 i.known ? json_real(i.cv) : json_null());
}

/* Hints at what disturbed a repeat, from what the kernel counted. */
static json_t *make_hints(const struct repeat *r)
{
	json_t *hints = json_array();

	if (r->thread.major_faults > 0)
		json_array_append_new(hints,
				      json_sprintf("client.major_faults=%llu",
						   (unsigned long long)r->thread.major_faults));
	if (r->thread.invol_switches > 0)
		json_array_append_new(hints,
				      json_sprintf("client.invol_switches=%llu",
						   (unsigned long long)r->thread.invol_switches));
	return hints;
}

static json_t *make_flagged(const struct run *run, size_t point,
			    const struct repeat *const *repeats, const double *means, size_t count)
{
	const struct repeat *first = run_repeat(run, point, 0);
	bool flags[OPTIONS_REPEATS_MAX];
	json_t *list = json_array();

	summary_flag(means, count, flags);
	for (size_t i = 0; i < count; i++) {
		/* some repeats may be missing from the selected ones */
		if (flags[i])
			json_array_append_new(list, json_pack("{s:I, s:s, s:o}", "index",
							      (json_int_t)(repeats[i] - first),
							      "reason", "mean_mad>3", "hints",
							      make_hints(repeats[i])));
	}
	return list;
}

/* Incomplete repeats count only where there is nothing else. */
static size_t select_repeats(const struct run *run, size_t point, const struct repeat **selected)
{
	size_t n = 0;

	for (int pass = 0; pass < 2 && n == 0; pass++) {
		for (uint32_t i = 0; i < run->options->repeats; i++) {
			const struct repeat *r = run_repeat(run, point, i);

			if (r->done && r->measured.interrupted == (pass == 1))
				selected[n++] = r;
		}
	}
	return n;
}

static json_t *make_summary(const struct run *run, size_t point)
{
	const struct repeat *repeats[OPTIONS_REPEATS_MAX];
	double rate[OPTIONS_REPEATS_MAX], bytes[OPTIONS_REPEATS_MAX], mean[OPTIONS_REPEATS_MAX];
	static struct histogram merged;
	size_t n = select_repeats(run, point, repeats);

	histogram_reset(&merged);
	for (size_t i = 0; i < n; i++) {
		rate[i] = ops_per_s(repeats[i]);
		bytes[i] = rate[i] * (double)run->plan.points[point].size_bytes;
		mean[i] = histogram_mean_ns(repeats[i]->latency);
		histogram_merge(&merged, repeats[i]->latency);
	}
	return json_pack("{s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:o}", "n", integer(n), "ops_per_s",
			 make_interval(rate, n), "bytes_per_s", make_interval(bytes, n), "latency",
			 "mean_ns", make_interval(mean, n), "merged_histogram",
			 result_histogram(&merged), "percentiles", result_percentile_list(&merged),
			 "flagged_repeats", make_flagged(run, point, repeats, mean, n));
}

/* Of all repeats: the sums, and steady only if each one was. */
static json_t *make_point_warmup(const struct run *run, size_t point)
{
	uint64_t ns = 0, ops = 0;
	unsigned windows = MEASURE_WINDOWS;
	int steady = 1;

	for (uint32_t i = 0; i < run->options->repeats; i++) {
		const struct repeat *r = run_repeat(run, point, i);
		const struct measured *w = &r->warmup;
		int one = summary_steady(w->windows, w->windows_used);

		if (!r->done)
			continue;
		ns += w->elapsed_ns;
		ops += w->ops;
		windows = w->windows_used < windows ? w->windows_used : windows;
		/* one that was not steady tells more than one that cannot be told */
		if (one == 0 || (one < 0 && steady == 1))
			steady = one;
	}
	return json_pack("{s:o, s:o, s:o, s:i}", "ns", integer(ns), "ops", integer(ops), "steady",
			 steady_value(steady), "windows_used", (int)windows);
}

static json_t *make_point(const struct run *run, size_t index)
{
	json_t *repeats = json_array();

	for (uint32_t i = 0; i < run->options->repeats; i++) {
		if (run_repeat(run, index, i)->done)
			json_array_append_new(repeats, make_repeat(run, index, i));
	}
	if (json_array_size(repeats) == 0) {
		json_decref(repeats);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:{s:s, s:o, s:n, s:n}, s:o, s:o, s:o}", "id",
			 json_sprintf("p%04zu", index), "params", make_params(run, index), "stop",
			 "kind", "duration", "duration_ns", integer(run->options->duration_ns),
			 "ops", "ci", "warmup", make_point_warmup(run, index), "repeats", repeats,
			 "summary", make_summary(run, index));
}

json_t *document_make(const struct run *run)
{
	json_t *points = json_array(), *document;
	json_t *server = run->server_environment != NULL ? json_incref(run->server_environment)
							 : json_null();

	for (size_t i = 0; run->repeats != NULL && i < run->plan.points_count; i++) {
		json_t *point = make_point(run, i);

		if (point != NULL)
			json_array_append_new(points, point);
	}
	document = json_pack("{s:s, s:o, s:o}", "schema", "rpma-bench/1", "tool", make_tool(),
			     "run", make_run(run));
	json_object_set_new(document, "device",
			    run->device_known ? result_device(&run->device, run->emulated_cpu)
					      : json_null());
	json_object_set_new(document, "clock",
			    run->clock_started ? result_clock(&run->clock) : json_null());
	json_object_set_new(document, "points", points);
	json_object_set_new(
		document, "environment",
		json_pack("{s:o, s:o}", "client",
			  environment_gather(&run->sysroot, run->topology,
					     run->device_known ? run->device.name : NULL),
			  "server", server));
	json_object_set_new(document, "readiness", json_null());
	return document;
}
