/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat.c -- one repeat as JSON, in the shape of the schema.
 *
 * Only what was measured goes in; what is not known is null. The part that
 * the server reports is foreign: only what matches report_fields is taken, or the table in
 * interference.c for its part; what follows from other figures (rates, percentiles) is worked
 * out here, not believed.
 */
#include "repeat.h"

#include <math.h>
#include <stdlib.h>

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "repeat_schema.h"
#include "summary.h"

/* Unknown beyond what JSON counts. */
static bool bytes_of(const struct params *params, uint64_t ops, uint64_t *bytes)
{
	if (!params_has_operations(params))
		return false;
	if (params->mix == NULL && __builtin_mul_overflow(ops, params->size_bytes, bytes))
		return false;
	return *bytes <= INT64_MAX;
}

int repeat_put_rates(json_t *object, const struct params *params, uint64_t ops, uint64_t bytes,
		     uint64_t elapsed_ns)
{
	double s = (double)elapsed_ns / 1e9;
	double per_s = elapsed_ns > 0 ? (double)ops / s : NAN;
	bool payload = bytes_of(params, ops, &bytes);
	/* one size: the same digits as always */
	double bytes_per_s = params->mix == NULL ? per_s * (double)params->size_bytes
			     : elapsed_ns > 0	 ? (double)bytes / s
						 : NAN;

	return json_object_update_new(
		object, json_pack("{s:o, s:o, s:o, s:o, s:o}", "elapsed_ns",
				  result_integer(elapsed_ns), "ops", result_integer(ops), "bytes",
				  payload ? result_integer(bytes) : json_null(), "ops_per_s",
				  result_real(per_s), "bytes_per_s",
				  payload ? result_real(bytes_per_s) : json_null()));
}

static json_t *part(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value != NULL ? json_incref(value) : json_null();
}

static json_t *list(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_array(value) ? json_incref(value) : json_array();
}

static json_t *cpu_of(const json_t *report)
{
	json_int_t elapsed_ns = path_whole(report, "elapsed_ns");
	json_int_t busy_ns = path_whole(report, "user_ns") + path_whole(report, "sys_ns");
	const json_t *load = json_object_get(report, "load_fraction_measured");

	if (elapsed_ns == 0)
		return json_null();
	return json_pack("{s:o, s:o}", "busy_fraction",
			 result_real((double)busy_ns / (double)elapsed_ns),
			 "load_fraction_measured",
			 json_is_number(load) ? result_real(json_number_value(load)) : json_null());
}

static int put_rates_of(json_t *object, const struct params *params, const json_t *own)
{
	/* servers post operations of one size */
	return repeat_put_rates(object, params, (uint64_t)path_whole(own, "ops"), 0,
				(uint64_t)path_whole(own, "elapsed_ns"));
}

static json_t *reverse_of(const json_t *report, const struct params *params)
{
	const json_t *own = json_object_get(report, "reverse");
	json_t *reverse;

	if (path_whole(own, "ops") == 0 || path_whole(own, "elapsed_ns") == 0)
		return json_null();
	reverse = json_object();
	if (put_rates_of(reverse, params, own) == 0 &&
	    json_object_update_new(reverse, json_pack("{s:o, s:o}", "latency", part(own, "latency"),
						      "threads", list(own, "threads"))) == 0)
		return reverse;
	json_decref(reverse);
	return NULL;
}

/* A registration happens on the server: the client has nothing of its own to say. */
static int put_registration(json_t *repeat, const struct params *params, const json_t *own)
{
	if (put_rates_of(repeat, params, own) != 0)
		return -1;
	return json_object_update_new(
		repeat, json_pack("{s:o, s:o, s:o}", "latency", part(own, "latency"), "steps",
				  list(own, "steps"), "threads", list(own, "threads")));
}

/*
 * Fills in the server's side of a repeat: "cpu", "counters", "requests",
 * "verify", "reverse", "placement", "warnings". What the report lacks, or has
 * in a form that the schema does not allow, becomes null. A registration is
 * measured by the server alone: its figures become those of the repeat. False:
 * no memory.
 */
static bool repeat_take_server(json_t *repeat, const struct params *params, const json_t *report)
{
	json_t *taken = schema_take(report, report_fields); /* NULL: all of it is unknown */
	int bad = json_object_set_new(json_object_get(repeat, "cpu"), "server", cpu_of(taken));

	bad |= json_object_set_new(json_object_get(repeat, "counters"), "server",
				   part(taken, "counters"));
	bad |= json_object_set_new(json_object_get(repeat, "cpu_quota"), "server",
				   part(taken, "cpu_quota"));
	bad |= json_object_update_new(
		repeat,
		json_pack("{s:o, s:o, s:o, s:o, s:{s:o}, s:o}", "requests", part(taken, "requests"),
			  "persist_method", part(taken, "persist_method"), "verify",
			  part(taken, "verify"), "reverse", reverse_of(taken, params), "placement",
			  "server", part(taken, "placement"), "warnings", list(taken, "warnings")));
	if (params->test == BENCH_REGISTER)
		bad |= put_registration(repeat, params, json_object_get(taken, "registration"));
	json_decref(taken);
	return bad == 0;
}

static bool make_steps(struct repeat *r, struct steps *steps)
{
	bool good;

	r->latency = steps->latency = histogram_new();
	r->threads = calloc(1, sizeof(*r->threads));
	r->threads_count = 1;
	good = r->latency != NULL && r->threads != NULL;
	r->steps_count = steps->count;
	for (unsigned i = 0; i < steps->count; i++) {
		steps->each[i] = histogram_new();
		r->steps[i] = (struct repeat_step){steps->names[i], steps->each[i]};
		good = good && steps->each[i] != NULL;
	}
	return good;
}

int repeat_measure_steps(struct repeat *r, struct steps *steps, const struct message_begin *begin)
{
	struct measured measured = {0};
	int ret;

	if (!make_steps(r, steps))
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	ret = steps_measure(steps, begin, &r->warmup, &measured, r->threads);
	r->ops = measured.ops;
	r->elapsed_ns = measured.elapsed_ns;
	r->complete = !measured.interrupted;
	return ret;
}

void repeat_clear(struct repeat *r)
{
	free(r->latency);
	free(r->read_latency);
	free(r->response);
	for (uint32_t i = 0; i < r->steps_count; i++)
		free(r->steps[i].latency);
	free(r->intervals);
	free(r->threads);
	json_decref(r->usage.counters);
	json_decref(r->server);
	*r = (struct repeat){0};
}

static json_t *latency_of(const struct histogram *h)
{
	return h != NULL ? result_latency(h) : json_null();
}

static json_t *thread_json(const struct thread_usage *t, uint32_t index)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "index",
		result_integer(index), "cpu", result_known(t->cpu), "cpus", result_text(t->cpus),
		"ops", result_integer(t->ops), "user_ns", result_integer(t->user_ns), "sys_ns",
		result_integer(t->sys_ns), "vol_switches", result_integer(t->vol_switches),
		"invol_switches", result_integer(t->invol_switches), "minor_faults",
		result_integer(t->minor_faults), "major_faults", result_integer(t->major_faults));
}

static json_t *threads_json(const struct repeat *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->threads_count; i++)
		json_array_append_new(list, thread_json(&r->threads[i], i));
	return list;
}

static json_t *steps_json(const struct repeat *r)
{
	json_t *list = json_array();

	if (r->steps_count == 0) {
		json_decref(list);
		return json_null();
	}
	for (uint32_t i = 0; i < r->steps_count; i++)
		json_array_append_new(list, json_pack("{s:s, s:o}", "name", r->steps[i].name,
						      "latency", latency_of(r->steps[i].latency)));
	return list;
}

static json_t *interval_json(const struct measure_interval *i, const struct params *params)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o}", "t_ns", result_integer(i->t_ns), "ops",
		result_integer(i->ops), "bytes",
		result_integer(params->mix != NULL ? i->bytes : i->ops * params->size_bytes),
		"p50_ns", i->percentiles_known ? result_integer(i->p50_ns) : json_null(), "p99_ns",
		i->percentiles_known ? result_integer(i->p99_ns) : json_null(), "max_ns",
		i->max_ns > 0 ? result_integer(i->max_ns) : json_null());
}

static json_t *intervals_json(const struct repeat *r)
{
	json_t *list = json_array();

	if (r->intervals_count == 0) {
		json_decref(list);
		return json_null();
	}
	for (uint32_t i = 0; i < r->intervals_count; i++)
		json_array_append_new(list, interval_json(&r->intervals[i], &r->params));
	return list;
}

static json_t *warmup_json(const struct measured *m)
{
	int steady = summary_steady(m->windows, m->windows_used);

	return json_pack("{s:o, s:o, s:o, s:o}", "ns", result_integer(m->elapsed_ns), "ops",
			 result_integer(m->ops), "steady",
			 steady < 0 ? json_null() : json_boolean(steady), "windows_used",
			 result_integer(m->windows_used));
}

static json_t *rpmem_json(const struct repeat *r)
{
	if (!r->rpmem)
		return json_null();
	return json_pack("{s:o, s:o}", "transport", result_text(r->rpmem_facts.transport), "method",
			 result_text(r->rpmem_facts.method));
}

/* NULL as an integer of JSON where the choice was left to others. */
static json_t *knob_json(uint32_t value)
{
	return value == CONNECTION_KNOB_UNSET ? json_null() : json_integer(value);
}

static json_t *connection_json(const struct repeat *r)
{
	const struct connection_facts *f = &r->connection;
	json_t *value;

	if (!f->known)
		return json_null();
	value = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "path_mtu_bytes",
			  f->path_mtu_bytes > 0 ? json_integer(f->path_mtu_bytes) : json_null(),
			  "gid_index", result_known(f->gid_index), "gid_type",
			  result_text(f->gid_type), "gid", result_text(f->gid), "sq_size",
			  json_integer(f->sq_size), "rq_size", json_integer(f->rq_size), "cq_size",
			  json_integer(f->cq_size), "buffers",
			  r->huge_buffers ? "hugepages" : "normal");
	for (int i = 0; i < CONNECTION_KNOBS; i++)
		json_object_set_new(value, connection_knob_rows[i].key,
				    knob_json(f->knobs.value[i]));
	return value;
}

/* The choices that options may leave open and this repeat made. */
static json_t *used_json(const struct repeat *r)
{
	const char *flushed = r->native_flush ? "native" : "read";
	const char *written = r->native_atomic_write ? "native" : "write";

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "persist",
			 params_persists[r->params.persist], "flush", result_text(r->flush),
			 "flush_method", result_text(r->flush != NULL ? flushed : NULL),
			 "atomic_write_method", result_text(r->atomic_writes ? written : NULL),
			 "rpmem", rpmem_json(r), "connection", connection_json(r), "latency_kind",
			 r->latency_kind);
}

static json_t *client_cpu(const struct repeat *r)
{
	double busy = (double)(r->usage.user_ns + r->usage.sys_ns);

	if (r->usage.wall_ns == 0)
		return json_null();
	return json_pack("{s:o}", "busy_fraction", result_real(busy / (double)r->usage.wall_ns));
}

#define PUT_COUNT(name, join, has)                                                                 \
	bad |= json_object_set_new(repeat, #name, (has) ? result_integer(r->name) : json_null())

static bool add_figures(json_t *repeat, const struct repeat *r)
{
	bool open_loop = r->params.rate_per_s > 0;
	bool mix = r->params.test == BENCH_MIX;
	int bad = 0;

	bad |= json_object_update_new(repeat, json_pack("{s:o, s:o, s:b, s:o}", "index",
							result_integer(r->index), "order",
							result_integer(r->order), "complete",
							r->complete, "used", used_json(r)));
	bad |= repeat_put_rates(repeat, &r->params, r->ops, r->bytes, r->elapsed_ns);
	bad |= json_object_update_new(repeat,
				      json_pack("{s:i, s:o}", "errors", 0, "read_ops",
						mix ? result_integer(r->read_ops) : json_null()));
	PLAIN_COUNT_ROWS(PUT_COUNT, ;);
	bad |= json_object_update_new(repeat,
				      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "latency",
						latency_of(r->latency), "read_latency",
						latency_of(r->read_latency), "response_latency",
						latency_of(r->response), "steps", steps_json(r),
						"warmup", warmup_json(&r->warmup), "intervals",
						intervals_json(r), "threads", threads_json(r)));
	return bad == 0;
}

json_t *repeat_own_json(const struct repeat *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "ops", result_integer(r->ops), "elapsed_ns",
			 result_integer(r->elapsed_ns), "latency", latency_of(r->latency), "steps",
			 steps_json(r), "threads", threads_json(r));
}

json_t *repeat_json(const struct repeat *r)
{
	json_t *repeat = json_object();

	if (add_figures(repeat, r) &&
	    json_object_update_new(
		    repeat, json_pack("{s:{s:o, s:n}, s:o, s:{s:o, s:n}, s:{s:O?, s:n}}", "cpu",
				      "client", client_cpu(r), "server", "interference",
				      interference_json(&r->interference, r->server), "cpu_quota",
				      "client", interference_quota(&r->interference), "server",
				      "counters", "client", r->usage.counters, "server")) == 0 &&
	    repeat_take_server(repeat, &r->params, r->server))
		return repeat;
	json_decref(repeat);
	return NULL;
}
