/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c -- the server's processor time and device counters around a
 * measurement, and the report as JSON.
 */
#include "report.h"

void server_report_begin(struct server_report *report, const char *device)
{
	interference_begin(&report->interference, &sysroot_machine);
	process_usage_begin(&report->usage, &sysroot_machine, device);
	report->measuring = true;
}

void server_report_end(struct server_report *report, const char *device)
{
	report->measuring = false;
	process_usage_end(&report->usage, &sysroot_machine, device);
	interference_end(&report->interference, &sysroot_machine);
}

void server_report_clear(struct server_report *report)
{
	json_decref(report->usage.counters);
	json_decref(report->reverse);
	json_decref(report->registration);
}

static json_t *number(uint64_t value)
{
	return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *verify_json(const struct server_report *report)
{
	const struct access_check *c = &report->check;

	if (report->verify_method == NULL)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:s}", "checked_bytes", number(c->checked_bytes),
			 "mismatches", number(c->mismatches), "first_offset",
			 c->mismatches > 0 ? number(c->first_offset) : json_null(),
			 "overwritten_bytes", number(report->overwritten_bytes), "method",
			 report->verify_method);
}

static void warn(json_t *list, const char *code, const char *text)
{
	if (text[0] != '\0')
		json_array_append_new(list, json_pack("{s:s, s:s}", "code", code, "text", text));
}

static json_t *warnings_json(const struct server_report *report, const struct placement *p)
{
	json_t *list = json_array();

	if (report->shared)
		warn(list, "TARGET_SHARED",
		     "another client used the same target meanwhile: figures and the check of its "
		     "content are not of this client alone");
	warn(list, "REVERSE_FAILED", report->reverse_failure);
	warn(list, "PIN_SHARED_CORE", p->shared_warning);
	warn(list, "PIN_FAILED", p->pin_warning);
	warn(list, "MEMORY_BIND_FAILED", p->memory_warning);
	return list;
}

json_t *server_report_json(const struct server_report *report, const struct placement *placement)
{
	json_t *json = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:s?, s:O?, s:o, s:o, s:o, s:O?, s:O?, s:o*, s:o}",
		"elapsed_ns", number(report->usage.wall_ns), "user_ns",
		number(report->usage.user_ns), "sys_ns", number(report->usage.sys_ns),
		"load_fraction_measured",
		report->loaded ? json_real(report->load_fraction) : json_null(), "requests",
		report->answered ? number(report->requests) : json_null(), "persist_method",
		report->persist_method, "counters", report->usage.counters, "interference",
		interference_report(&report->interference), "cpu_quota",
		interference_quota(&report->interference), "verify", verify_json(report), "reverse",
		report->reverse, "registration", report->registration, "placement",
		placement_json(placement), "warnings", warnings_json(report, placement));

	if (json == NULL)
		failure_set(EXIT_INTERNAL, "report", "out of memory");
	return json;
}
