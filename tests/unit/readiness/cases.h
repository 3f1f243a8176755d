/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cases.h -- a table of cases for a table of checks: what is changed of a host
 * where all is well, and what a check then finds. Each status that a check
 * explains must come up, and each that comes up must be explained.
 */
#pragma once

#include "made_facts.h"
#include "readiness/checks.h"

struct check_case {
	const char *id;
	enum readiness_status status;
	void (*change)(struct facts *facts); /* NULL: nothing */
};

/* A change by its name: expressions over the facts f. */
#define CHANGE(name, ...)                                                                          \
	static void name(struct facts *f)                                                          \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}

static inline const struct readiness_check *case_check(const struct readiness_check *checks,
						       const char *id)
{
	while (checks->id != NULL && strcmp(checks->id, id) != 0)
		checks++;
	assert_non_null(checks->id);
	return checks;
}

/* The finding of the check in the facts once they are changed. */
static inline struct readiness_finding case_finding(const struct readiness_check *checks,
						    const char *id, void (*change)(struct facts *))
{
	struct readiness_finding finding = {.status = READINESS_STATUSES};
	struct facts *facts = made_facts();

	if (change != NULL)
		change(facts);
	case_check(checks, id)->inspect(facts, &finding);
	made_free(facts);
	return finding;
}

static inline bool case_explained(const struct readiness_check *check, const char *status)
{
	char line[32];

	snprintf(line, sizeof(line), "\n%s: ", status);
	return strstr(check->explain, line) != NULL;
}

static inline void cases_run(const struct readiness_check *checks, const struct check_case *cases,
			     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct readiness_finding finding =
			case_finding(checks, cases[i].id, cases[i].change);

		if (finding.status != cases[i].status)
			fail_msg("case %zu, %s: %s (%s) in place of %s", i, cases[i].id,
				 readiness_status_name(finding.status), finding.value,
				 readiness_status_name(cases[i].status));
		assert_string_not_equal(finding.meaning, "");
		if (finding.status == READINESS_WARN || finding.status == READINESS_FAIL)
			assert_string_not_equal(finding.fix, "");
	}
}

static inline void cases_cover(const struct readiness_check *checks, const struct check_case *cases,
			       size_t count)
{
	for (; checks->id != NULL; checks++) {
		for (int status = 0; status < READINESS_STATUSES; status++) {
			const char *name = readiness_status_name((enum readiness_status)status);
			bool seen = false;

			for (size_t i = 0; i < count; i++)
				seen = seen || (strcmp(cases[i].id, checks->id) == 0 &&
						cases[i].status == (enum readiness_status)status);
			if (seen != case_explained(checks, name))
				fail_msg("%s: %s is %s", checks->id, name,
					 seen ? "seen, but not explained"
					      : "explained, but in no case");
		}
	}
}

/* The two tests of a table named cases. */
#define CASES_OF(checks)                                                                           \
	TEST(each_case_has_its_status)                                                             \
	{                                                                                          \
		cases_run(checks, cases, sizeof(cases) / sizeof(cases[0]));                        \
	}                                                                                          \
                                                                                                   \
	TEST(statuses_are_those_explained)                                                         \
	{                                                                                          \
		cases_cover(checks, cases, sizeof(cases) / sizeof(cases[0]));                      \
	}

/* Asks for the value of a check in short once the facts are changed. */
#define CASE_VALUE(checks, id, change, text)                                                       \
	assert_string_equal(case_finding(checks, id, change).value, text)

/* Changes that are of concern to most checks. */

static inline void no_device(struct facts *f)
{
	memset(&f->device, 0, sizeof(f->device));
	f->device.ids = (struct adapter_ids){.vendor = -1, .model = -1, .node_type = -1};
	f->device.numa_node = -1;
}

static inline void in_software(struct facts *f, enum device_kind kind)
{
	f->device.kind = kind;
	f->device.ids = (struct adapter_ids){.vendor = -1, .model = -1, .node_type = -1};
	f->device.numa_node = -1;
	f->pci.count = 0;
}

static inline void rxe(struct facts *f)
{
	in_software(f, DEVICE_RXE);
}

/* Omni-Path: hardware on the bus, and a driver that copies with the CPU. */
static inline void copied_by_the_cpu(struct facts *f)
{
	f->device.ids =
		(struct adapter_ids){"hfi1", .vendor = 0x8086, .model = 0x24f0, .node_type = 1};
}

/* This package's: there are no files of it. */
static inline void soft(struct facts *f)
{
	in_software(f, DEVICE_SOFT);
	f->device.ports_count = 0;
}
