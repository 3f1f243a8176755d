/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_form.c -- the keys of a repeat, and those of a server's report.
 *
 * A repeat takes over parts of the report as they are, so the tables share them.
 */
#include "repeat_form.h"

static const struct form used[] = {
	{"persist", FORM_TEXT, 0, NULL},
	{"flush", FORM_WORD, FORM_NULL, "persistent visibility"},
	{"flush_method", FORM_WORD, FORM_NULL, "read native"},
	/* runs of older versions have none */
	{"atomic_write_method", FORM_WORD, FORM_NULL | FORM_MISSING, "write native"},
	{"latency_kind", FORM_TEXT, 0, NULL},
	{0},
};

static const struct form step_fields[] = {
	{"name", FORM_WORD, 0, "prepare establish disconnect delete register deregister"},
	{"latency", FORM_LATENCY, FORM_NULL, NULL},
	{0},
};
static const struct form step = {NULL, FORM_OBJECT, 0, step_fields};

static const struct form warmup[] = {
	{"ns", FORM_COUNT, 0, NULL},
	{"ops", FORM_COUNT, 0, NULL},
	{"steady", FORM_FLAG, FORM_NULL, NULL},
	{"windows_used", FORM_COUNT, 0, NULL},
	{0},
};

static const struct form interval_fields[] = {
	{"t_ns", FORM_COUNT, 0, NULL},
	{"ops", FORM_COUNT, 0, NULL},
	{"bytes", FORM_COUNT, 0, NULL},
	{"p50_ns", FORM_COUNT, FORM_NULL, NULL},
	{"p99_ns", FORM_COUNT, FORM_NULL, NULL},
	{"max_ns", FORM_COUNT, FORM_NULL, NULL},
	{0},
};
static const struct form interval = {NULL, FORM_OBJECT, 0, interval_fields};

/* How much is known about a server's threads, the server itself reports. */
static const struct form thread_fields[] = {
	{"index", FORM_COUNT, 0, NULL},
	{"cpu", FORM_COUNT, FORM_NULL, NULL},
	{"cpus", FORM_TEXT, FORM_NULL, NULL},
	{"ops", FORM_COUNT, 0, NULL},
	{"user_ns", FORM_COUNT, FORM_MISSING, NULL},
	{"sys_ns", FORM_COUNT, FORM_MISSING, NULL},
	{"vol_switches", FORM_COUNT, FORM_MISSING, NULL},
	{"invol_switches", FORM_COUNT, FORM_MISSING, NULL},
	{"minor_faults", FORM_COUNT, FORM_MISSING, NULL},
	{"major_faults", FORM_COUNT, FORM_MISSING, NULL},
	{0},
};
static const struct form thread = {NULL, FORM_OBJECT, 0, thread_fields};

static const struct form busy[] = {
	{"busy_fraction", FORM_NUMBER, FORM_NULL, NULL},
	{"load_fraction_measured", FORM_FRACTION, FORM_NULL | FORM_MISSING, NULL},
	{0},
};
static const struct form cpu[] = {
	{"client", FORM_OBJECT, FORM_NULL, busy},
	{"server", FORM_OBJECT, FORM_NULL, busy},
	{0},
};

/* Runs of older versions have none. */
static const struct form other_cpu[] = {
	{"other_cpu_ns", FORM_COUNT, FORM_NULL, NULL},
	{"steal_ns", FORM_COUNT, FORM_NULL, NULL},
	{"cpus", FORM_COUNT, 0, NULL},
	{0},
};
static const struct form interference[] = {
	{"client", FORM_OBJECT, FORM_NULL, other_cpu},
	{"server", FORM_OBJECT, FORM_NULL, other_cpu},
	{0},
};

static const struct form counter = {NULL, FORM_WHOLE, 0, NULL};
static const struct form counters[] = {
	{"client", FORM_MAP, FORM_NULL, &counter},
	{"server", FORM_MAP, FORM_NULL, &counter},
	{0},
};

static const struct form verify[] = {
	{"checked_bytes", FORM_COUNT, 0, NULL},
	{"mismatches", FORM_COUNT, 0, NULL},
	{"overwritten_bytes", FORM_COUNT, FORM_NULL, NULL},
	{"first_offset", FORM_COUNT, FORM_NULL, NULL},
	{"method", FORM_TEXT, FORM_NULL, NULL},
	{0},
};

static const struct form reverse[] = {
	{"ops", FORM_COUNT, 0, NULL},
	{"elapsed_ns", FORM_COUNT, 0, NULL},
	{"latency", FORM_LATENCY, FORM_NULL, NULL},
	{"threads", FORM_LIST, 0, &thread},
	{0},
};

static const struct form node = {NULL, FORM_COUNT, FORM_NULL, NULL};
static const struct form placed[] = {
	{"policy", FORM_TEXT, FORM_NULL, NULL},
	{"cpus", FORM_LIST, 0, &node},
	{"node", FORM_COUNT, FORM_NULL, NULL},
	{0},
};
static const struct form placement[] = {{"server", FORM_OBJECT, FORM_NULL, placed}, {0}};

static const struct form warning_fields[] = {
	{"code", FORM_NAME, 0, NULL},
	{"text", FORM_TEXT, 0, NULL},
	{0},
};
static const struct form warning = {NULL, FORM_OBJECT, 0, warning_fields};

const struct form repeat_fields[] = {
	{"index", FORM_COUNT, 0, NULL},
	{"order", FORM_COUNT, 0, NULL},
	{"complete", FORM_TRUE, 0, NULL},
	{"used", FORM_OBJECT, 0, used},
	{"elapsed_ns", FORM_COUNT, 0, NULL},
	{"ops", FORM_COUNT, 0, NULL},
	{"errors", FORM_COUNT, 0, NULL},
	{"read_ops", FORM_COUNT, FORM_NULL, NULL},
	{"latency", FORM_LATENCY, FORM_NULL, NULL},
	{"read_latency", FORM_LATENCY, FORM_NULL, NULL},
	{"response_latency", FORM_LATENCY, FORM_NULL, NULL},
	{"late_ops", FORM_COUNT, FORM_NULL, NULL},
	{"unbegun_ops", FORM_COUNT, FORM_NULL, NULL},
	{"max_lag_ns", FORM_COUNT, FORM_NULL, NULL},
	{"steps", FORM_LIST, FORM_NULL, &step},
	{"warmup", FORM_OBJECT, 0, warmup},
	{"intervals", FORM_LIST, FORM_NULL, &interval},
	{"threads", FORM_LIST, 0, &thread},
	{"cpu", FORM_OBJECT, 0, cpu},
	{"interference", FORM_OBJECT, FORM_MISSING, interference},
	{"counters", FORM_OBJECT, 0, counters},
	{"requests", FORM_COUNT, FORM_NULL, NULL},
	{"persist_method", FORM_TEXT, FORM_NULL, NULL},
	{"verify", FORM_OBJECT, FORM_NULL, verify},
	{"reverse", FORM_OBJECT, FORM_NULL, reverse},
	{"placement", FORM_OBJECT, 0, placement},
	{"warnings", FORM_LIST, 0, &warning},
	{0},
};

/* What a server measured itself (repeat_own_json). */
static const struct form own[] = {
	{"ops", FORM_COUNT, 0, NULL},
	{"elapsed_ns", FORM_COUNT, 0, NULL},
	{"latency", FORM_LATENCY, FORM_NULL, NULL},
	{"steps", FORM_LIST, FORM_NULL, &step},
	{"threads", FORM_LIST, FORM_NULL, &thread},
	{0},
};

const struct form report_fields[] = {
	{"elapsed_ns", FORM_COUNT, FORM_NULL, NULL},
	{"user_ns", FORM_COUNT, FORM_NULL, NULL},
	{"sys_ns", FORM_COUNT, FORM_NULL, NULL},
	{"load_fraction_measured", FORM_FRACTION, FORM_NULL, NULL},
	{"requests", FORM_COUNT, FORM_NULL, NULL},
	{"persist_method", FORM_TEXT, FORM_NULL, NULL},
	{"counters", FORM_MAP, FORM_NULL, &counter},
	{"verify", FORM_OBJECT, FORM_NULL, verify},
	{"reverse", FORM_OBJECT, FORM_NULL, own},
	{"registration", FORM_OBJECT, FORM_NULL, own},
	{"placement", FORM_OBJECT, FORM_NULL, placed},
	{"warnings", FORM_LIST, FORM_NULL, &warning},
	{0},
};
