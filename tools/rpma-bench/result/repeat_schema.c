/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_schema.c -- the keys of a repeat, and those of a server's report.
 *
 * A repeat takes over parts of the report as they are, so the tables share them. How several
 * repeats become one (join.h) is of no meaning in a report.
 */
#include "repeat_schema.h"

#include "join.h"
#include "tools/rpma-bench/protocol/plain_counts.h"

/* Words of a library that did not tell are null. */
static const struct schema rpmem[] = {
	{"transport", SCHEMA_WORD, SCHEMA_NULL, "rdma tcp"},
	{"method", SCHEMA_WORD, SCHEMA_NULL, "apm gpspm"},
	{0},
};

/* A value that librpma was not told is null. */
static const struct schema connection[] = {
	{"path_mtu_bytes", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"gid_index", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"gid_type", SCHEMA_WORD, SCHEMA_NULL, "ib roce-v1 roce-v2"},
	{"gid", SCHEMA_NAME, SCHEMA_NULL, NULL},
	{"sq_size", SCHEMA_COUNT, 0, NULL},
	{"rq_size", SCHEMA_COUNT, 0, NULL},
	{"cq_size", SCHEMA_COUNT, 0, NULL},
	{"buffers", SCHEMA_WORD, 0, "normal hugepages"},
	{"traffic_class", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"ack_timeout", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"retries", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"rnr_retries", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"inline_size_bytes", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"comp_vector", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{0},
};

static const struct schema used[] = {
	{"persist", SCHEMA_TEXT, JOIN_SAME, NULL},
	{"flush", SCHEMA_WORD, SCHEMA_NULL | JOIN_SAME, "persistent visibility"},
	{"flush_method", SCHEMA_WORD, SCHEMA_NULL | JOIN_SAME, "read native"},
	{"atomic_write_method", SCHEMA_WORD, SCHEMA_NULL | JOIN_SAME, "write native"},
	{"rpmem", SCHEMA_OBJECT, SCHEMA_NULL | JOIN_SAME, rpmem},
	{"connection", SCHEMA_OBJECT, SCHEMA_NULL | JOIN_SAME, connection},
	{"latency_kind", SCHEMA_TEXT, JOIN_SAME, NULL},
	{0},
};

static const struct schema step_fields[] = {
	{"name", SCHEMA_WORD, JOIN_SAME, "prepare establish disconnect delete register deregister"},
	{"latency", SCHEMA_LATENCY, SCHEMA_NULL, NULL},
	{0},
};
static const struct schema step = {NULL, SCHEMA_OBJECT, 0, step_fields};

static const struct schema warmup[] = {
	{"ns", SCHEMA_COUNT, JOIN_SPAN, NULL},
	{"ops", SCHEMA_COUNT, 0, NULL},
	{"steady", SCHEMA_FLAG, SCHEMA_NULL | JOIN_ALL, NULL},
	{"windows_used", SCHEMA_COUNT, JOIN_LEAST, NULL},
	{0},
};

static const struct schema interval_fields[] = {
	{"t_ns", SCHEMA_COUNT, JOIN_MOST, NULL},
	{"ops", SCHEMA_COUNT, 0, NULL},
	{"bytes", SCHEMA_COUNT, 0, NULL},
	{"p50_ns", SCHEMA_COUNT, SCHEMA_NULL | JOIN_NULL, NULL},
	{"p99_ns", SCHEMA_COUNT, SCHEMA_NULL | JOIN_NULL, NULL},
	{"max_ns", SCHEMA_COUNT, SCHEMA_NULL | JOIN_MOST | JOIN_KNOWN, NULL},
	{0},
};
static const struct schema interval = {NULL, SCHEMA_OBJECT, 0, interval_fields};

static const struct schema thread_fields[] = {
	{"index", SCHEMA_COUNT, 0, NULL},
	{"cpu", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"cpus", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{"ops", SCHEMA_COUNT, 0, NULL},
	{"user_ns", SCHEMA_COUNT, 0, NULL},
	{"sys_ns", SCHEMA_COUNT, 0, NULL},
	{"vol_switches", SCHEMA_COUNT, 0, NULL},
	{"invol_switches", SCHEMA_COUNT, 0, NULL},
	{"minor_faults", SCHEMA_COUNT, 0, NULL},
	{"major_faults", SCHEMA_COUNT, 0, NULL},
	{0},
};
static const struct schema thread = {NULL, SCHEMA_OBJECT, 0, thread_fields};

static const struct schema client_busy[] = {
	{"busy_fraction", SCHEMA_NUMBER, SCHEMA_NULL, NULL},
	{0},
};
static const struct schema server_busy[] = {
	{"busy_fraction", SCHEMA_NUMBER, SCHEMA_NULL | JOIN_MOST, NULL},
	{"load_fraction_measured", SCHEMA_FRACTION, SCHEMA_NULL | JOIN_MOST, NULL},
	{0},
};
static const struct schema cpu[] = {
	{"client", SCHEMA_OBJECT, SCHEMA_NULL, client_busy},
	{"server", SCHEMA_OBJECT, SCHEMA_NULL, server_busy},
	{0},
};

/* Ranks on one host count each other. */
static const struct schema other_cpu[] = {
	{"other_cpu_ns", SCHEMA_COUNT, SCHEMA_NULL | JOIN_MOST, NULL},
	{"steal_ns", SCHEMA_COUNT, SCHEMA_NULL | JOIN_MOST, NULL},
	{"cpus", SCHEMA_COUNT, JOIN_MOST, NULL},
	{"all_cpu_ns", SCHEMA_COUNT, SCHEMA_NULL | JOIN_MOST, NULL},
	{0},
};
static const struct schema interference[] = {
	{"client", SCHEMA_OBJECT, SCHEMA_NULL, other_cpu},
	{"server", SCHEMA_OBJECT, SCHEMA_NULL, other_cpu},
	{0},
};

/* Without a quota there is only the first. */
static const struct schema quota[] = {
	{"limited", SCHEMA_FLAG, 0, NULL},
	{"cpus", SCHEMA_NUMBER, SCHEMA_MISSING, NULL},
	{"periods", SCHEMA_COUNT, SCHEMA_MISSING, NULL},
	{"throttled_periods", SCHEMA_COUNT, SCHEMA_MISSING, NULL},
	{"throttled_ns", SCHEMA_COUNT, SCHEMA_MISSING, NULL},
	{0},
};
static const struct schema quotas[] = {
	{"client", SCHEMA_OBJECT, SCHEMA_NULL | JOIN_WORST, quota},
	{"server", SCHEMA_OBJECT, SCHEMA_NULL | JOIN_WORST, quota},
	{0},
};

static const struct schema counter = {NULL, SCHEMA_WHOLE, 0, NULL};
/* Several clients would count the same on one device. */
static const struct schema counters[] = {
	{"client", SCHEMA_MAP, SCHEMA_NULL, &counter},
	{"server", SCHEMA_MAP, SCHEMA_NULL, &counter},
	{0},
};

static const struct schema verify[] = {
	{"checked_bytes", SCHEMA_COUNT, 0, NULL},
	{"mismatches", SCHEMA_COUNT, 0, NULL},
	{"overwritten_bytes", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"first_offset", SCHEMA_COUNT, SCHEMA_NULL | JOIN_LEAST | JOIN_KNOWN, NULL},
	{"method", SCHEMA_TEXT, SCHEMA_NULL | JOIN_SAME, NULL},
	{0},
};

static const struct schema reverse[] = {
	{"elapsed_ns", SCHEMA_COUNT, JOIN_MOST, NULL},
	{"ops", SCHEMA_COUNT, 0, NULL},
	{"bytes", SCHEMA_WHOLE, SCHEMA_NULL, NULL},
	{"ops_per_s", SCHEMA_NUMBER, SCHEMA_NULL | JOIN_RATE, NULL},
	{"bytes_per_s", SCHEMA_NUMBER, SCHEMA_NULL | JOIN_RATE, NULL},
	{"latency", SCHEMA_LATENCY, SCHEMA_NULL, NULL},
	{"threads", SCHEMA_LIST, JOIN_APPEND, &thread},
	{0},
};

static const struct schema node = {NULL, SCHEMA_COUNT, SCHEMA_NULL, NULL};
static const struct schema placed[] = {
	{"policy", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{"cpus", SCHEMA_LIST, 0, &node},
	{"node", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{0},
};
static const struct schema placement[] = {{"server", SCHEMA_OBJECT, SCHEMA_NULL, placed}, {0}};

static const struct schema warning_fields[] = {
	{"code", SCHEMA_NAME, 0, NULL},
	{"text", SCHEMA_TEXT, 0, NULL},
	{0},
};
static const struct schema warning = {NULL, SCHEMA_OBJECT, 0, warning_fields};

#define JOIN_sum  0
#define JOIN_most JOIN_MOST
#define COUNT(name, join, ...)                                                                     \
	{                                                                                          \
		.key = #name, .kind = SCHEMA_COUNT, .may = SCHEMA_NULL | JOIN_##join               \
	}

const struct schema repeat_fields[] = {
	{"index", SCHEMA_COUNT, JOIN_SAME, NULL},
	{"order", SCHEMA_COUNT, JOIN_SAME, NULL},
	{"complete", SCHEMA_TRUE, JOIN_ALL, NULL},
	{"used", SCHEMA_OBJECT, 0, used},
	{"elapsed_ns", SCHEMA_COUNT, JOIN_MOST, NULL},
	{"ops", SCHEMA_COUNT, 0, NULL},
	{"bytes", SCHEMA_WHOLE, SCHEMA_NULL, NULL},
	{"ops_per_s", SCHEMA_NUMBER, SCHEMA_NULL | JOIN_RATE, NULL},
	{"bytes_per_s", SCHEMA_NUMBER, SCHEMA_NULL | JOIN_RATE, NULL},
	{"errors", SCHEMA_COUNT, 0, NULL},
	{"read_ops", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	PLAIN_COUNT_ROWS(COUNT, PLAIN_COUNT_COMMA),
	{"latency", SCHEMA_LATENCY, SCHEMA_NULL, NULL},
	{"read_latency", SCHEMA_LATENCY, SCHEMA_NULL, NULL},
	{"response_latency", SCHEMA_LATENCY, SCHEMA_NULL, NULL},
	{"steps", SCHEMA_LIST, SCHEMA_NULL | JOIN_ZIP, &step},
	{"warmup", SCHEMA_OBJECT, 0, warmup},
	{"intervals", SCHEMA_LIST, SCHEMA_NULL | JOIN_ZIP, &interval},
	{"threads", SCHEMA_LIST, JOIN_APPEND, &thread},
	{"cpu", SCHEMA_OBJECT, 0, cpu},
	{"interference", SCHEMA_OBJECT, 0, interference},
	{"cpu_quota", SCHEMA_OBJECT, 0, quotas},
	{"counters", SCHEMA_OBJECT, 0, counters},
	{"requests", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"persist_method", SCHEMA_TEXT, SCHEMA_NULL | JOIN_SAME, NULL},
	{"verify", SCHEMA_OBJECT, SCHEMA_NULL, verify},
	{"reverse", SCHEMA_OBJECT, SCHEMA_NULL, reverse},
	{"placement", SCHEMA_OBJECT, JOIN_OUT, placement},
	{"warnings", SCHEMA_LIST, JOIN_APPEND, &warning},
	{0},
};

/* The measurements of a server (repeat_own_json). */
static const struct schema own[] = {
	{"ops", SCHEMA_COUNT, 0, NULL},
	{"elapsed_ns", SCHEMA_COUNT, 0, NULL},
	{"latency", SCHEMA_LATENCY, SCHEMA_NULL, NULL},
	{"steps", SCHEMA_LIST, SCHEMA_NULL, &step},
	{"threads", SCHEMA_LIST, SCHEMA_NULL, &thread},
	{0},
};

const struct schema report_fields[] = {
	{"elapsed_ns", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"user_ns", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"sys_ns", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"load_fraction_measured", SCHEMA_FRACTION, SCHEMA_NULL, NULL},
	{"requests", SCHEMA_COUNT, SCHEMA_NULL, NULL},
	{"persist_method", SCHEMA_TEXT, SCHEMA_NULL, NULL},
	{"cpu_quota", SCHEMA_OBJECT, SCHEMA_NULL, quota},
	{"counters", SCHEMA_MAP, SCHEMA_NULL, &counter},
	{"verify", SCHEMA_OBJECT, SCHEMA_NULL, verify},
	{"reverse", SCHEMA_OBJECT, SCHEMA_NULL, own},
	{"registration", SCHEMA_OBJECT, SCHEMA_NULL, own},
	{"placement", SCHEMA_OBJECT, SCHEMA_NULL, placed},
	{"warnings", SCHEMA_LIST, SCHEMA_NULL, &warning},
	{0},
};
