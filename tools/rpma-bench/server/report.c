/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c -- the server's processor time and device counters around a
 * measurement, and the report as JSON.
 */
#include "report.h"

#include "common/base/clock.h"
#include "common/base/thread.h"
#include "common/json/counters.h"

typedef void interference_step(struct interference *seen, const struct sysroot *root);

/* The counters of the device; meanwhile the CPU time is read. */
static json_t *read_host(const char *device, struct interference *seen, interference_step *step)
{
	struct sysroot root;
	json_t *counters;

	if (sysroot_open(&root, "/") != 0)
		return NULL;
	step(seen, &root);
	counters = counters_read(&root, device);
	sysroot_close(&root);
	return counters;
}

void findings_begin(struct findings *findings, const char *device)
{
	json_decref(findings->counters);
	findings->counters = read_host(device, &findings->interference, interference_begin);
	getrusage(RUSAGE_SELF, &findings->before);
	findings->begin_ns = clock_raw_ns();
	findings->measuring = true;
}

void findings_end(struct findings *findings, const char *device)
{
	const struct rusage *before = &findings->before;
	struct rusage after;
	json_t *after_counters;

	findings->measuring = false;
	findings->elapsed_ns = clock_raw_ns() - findings->begin_ns;
	getrusage(RUSAGE_SELF, &after);
	findings->user_ns = thread_time_ns(after.ru_utime) - thread_time_ns(before->ru_utime);
	findings->sys_ns = thread_time_ns(after.ru_stime) - thread_time_ns(before->ru_stime);
	after_counters = read_host(device, &findings->interference, interference_end);
	findings->counters = counters_between(findings->counters, after_counters);
}

void findings_clear(struct findings *findings)
{
	json_decref(findings->counters);
	json_decref(findings->reverse);
	json_decref(findings->registration);
}

static json_t *number(uint64_t value)
{
	return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

/* Another reference of its own; null for NULL. */
static json_t *shared_or_null(json_t *value)
{
	return value != NULL ? json_incref(value) : json_null();
}

static json_t *verify_json(const struct findings *f)
{
	const struct access_check *c = &f->check;
	json_t *object;

	if (f->verify_method == NULL)
		return json_null();
	object = json_object();
	json_object_set_new(object, "checked_bytes", number(c->checked_bytes));
	json_object_set_new(object, "mismatches", number(c->mismatches));
	json_object_set_new(object, "first_offset",
			    c->mismatches > 0 ? number(c->first_offset) : json_null());
	json_object_set_new(object, "overwritten_bytes", number(f->overwritten_bytes));
	json_object_set_new(object, "method", json_string(f->verify_method));
	return object;
}

static void warn(json_t *list, const char *code, const char *text)
{
	if (text[0] != '\0')
		json_array_append_new(list, json_pack("{s:s, s:s}", "code", code, "text", text));
}

static json_t *warnings_json(const struct findings *f, const struct placement *p)
{
	json_t *list = json_array();

	if (f->shared)
		warn(list, "TARGET_SHARED",
		     "another client used the same target meanwhile: figures and the check of its "
		     "content are not of this client alone");
	warn(list, "REVERSE_FAILED", f->reverse_failure);
	warn(list, "PIN_SHARED_CORE", p->shared_warning);
	warn(list, "PIN_FAILED", p->pin_warning);
	warn(list, "MEMORY_BIND_FAILED", p->memory_warning);
	return list;
}

json_t *findings_json(const struct findings *findings, const struct placement *placement)
{
	const struct findings *f = findings;
	json_t *report = json_object();

	json_object_set_new(report, "elapsed_ns", number(f->elapsed_ns));
	json_object_set_new(report, "user_ns", number(f->user_ns));
	json_object_set_new(report, "sys_ns", number(f->sys_ns));
	json_object_set_new(report, "load_fraction_measured",
			    f->loaded ? json_real(f->load_fraction) : json_null());
	json_object_set_new(report, "requests", f->answered ? number(f->requests) : json_null());
	json_object_set_new(report, "persist_method",
			    f->persist_method != NULL ? json_string(f->persist_method)
						      : json_null());
	json_object_set_new(report, "counters", shared_or_null(f->counters));
	json_object_set_new(report, "interference", interference_report(&f->interference));
	json_object_set_new(report, "cpu_quota", interference_quota(&f->interference));
	json_object_set_new(report, "verify", verify_json(f));
	json_object_set_new(report, "reverse", shared_or_null(f->reverse));
	json_object_set_new(report, "registration", shared_or_null(f->registration));
	json_object_set_new(report, "placement", placement_json(placement));
	if (json_object_set_new(report, "warnings", warnings_json(f, placement)) != 0) {
		json_decref(report);
		failure_set(EXIT_INTERNAL, "report", "out of memory");
		return NULL;
	}
	return report;
}
