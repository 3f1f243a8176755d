/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readiness.h -- is this platform ready for remote persistent memory?
 *
 * Facts in, a status for each check out, and one verdict over all of them.
 * Checks and verdict are pure. Unknown is never off, and never good.
 */
#pragma once

#include <jansson.h>

#include "ddio.h"
#include "facts.h"

enum readiness_status {
	READINESS_PASS,
	READINESS_WARN,
	READINESS_FAIL,
	READINESS_UNKNOWN,
	READINESS_SKIP, /* the question does not arise here */
	READINESS_INFO,
	READINESS_ASSUMED, /* the operator states it */
	READINESS_STATUSES,
};

struct readiness_finding {
	enum readiness_status status;
	char value[192];   /* what was seen; empty: nothing */
	char source[384];  /* the file, register or call; empty: none */
	char meaning[384]; /* one sentence */
	char fix[384];	   /* for the administrator; empty: nothing to do */
};

/* The effect on the verdict of a status that is not good. */
enum readiness_effect {
	READINESS_BLOCKS,  /* the verdict is UNDETERMINED */
	READINESS_ADVISES, /* nothing */
	READINESS_WEIGHED, /* nothing by itself: DDIO is decided from it */
};

struct readiness_check {
	const char *id;	   /* "DDIO-04" */
	const char *title; /* "allocation of device writes in the cache" */
	enum readiness_effect if_unknown;
	enum readiness_effect if_warn;
	void (*inspect)(const struct facts *facts, struct readiness_finding *finding);
	const char *explain; /* what it is, why it matters, how it is found out, each status */
};

/* In the order they are shown; NULL: there are no more. */
const struct readiness_check *readiness_check_at(size_t index);
/* The place of a check in that order; SIZE_MAX: there is none of that id. */
size_t readiness_check_index(const char *id);
#define READINESS_CHECKS_MAX 64

/* For checks. finding_say() takes texts as they are, fix NULL: none; the others format. */
void finding_value(struct readiness_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_source(struct readiness_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_say(struct readiness_finding *finding, enum readiness_status status,
		 const char *meaning, const char *fix);
/* The same without a fix; the status without its prefix: PASS. */
#define finding_is(finding, status, meaning) finding_say(finding, READINESS_##status, meaning, NULL)
/* In place of the text of finding_say(). */
void finding_meaning(struct readiness_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_fix(struct readiness_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

enum readiness_verdict {
	VERDICT_APM_READY,
	VERDICT_APM_READY_EADR,
	VERDICT_NATIVE_FLUSH_READY,
	VERDICT_GPSPM_ONLY,
	VERDICT_NOT_READY,
	VERDICT_UNDETERMINED,
};

struct judged;

/* A row of the table in verdict.c, which rpma-ddio-check(1) prints as it stands. */
struct verdict_row {
	const char *name; /* "no-target" */
	enum readiness_verdict verdict;
	int exit_code;
	const char *reason; /* one sentence */
	bool direct_write;  /* for rpma_peer_cfg_set_direct_write_to_pmem() */
	const char *direct_write_why;
	bool (*matches)(const struct judged *judged);
	/* which findings made it match; NULL: the facts did */
	bool (*counts)(const struct readiness_check *check, enum readiness_status status);
};

/* The first row that matches is the verdict; the last one always does. */
#define READINESS_ROWS 15
extern const struct verdict_row readiness_rows[READINESS_ROWS];

struct readiness {
	struct facts facts;
	struct readiness_finding findings[READINESS_CHECKS_MAX]; /* one for each check */
	struct ddio ddio;					 /* the verdict went by it */
	bool lenient;
	const struct verdict_row *row;
};

struct readiness_cfg {
	const struct sysroot *root;
	const char *device;		   /* NULL: auto */
	const char *target;		   /* NULL: none */
	const struct facts_claims *claims; /* NULL: none */
	bool lenient;			   /* OFF_WARN counts as off */
	json_t *record;			   /* answers for a dump are noted here; NULL: not */
};

/*
 * Gathers, looks and judges; readiness is large: the caller allocates it, and
 * frees it with readiness_free() even where this fails: -EINVAL, with the
 * error message, for a facts.json that is broken.
 */
int readiness_inspect(struct readiness *readiness, const struct readiness_cfg *cfg);
void readiness_free(struct readiness *readiness);

/* The pure parts of it: the checks, and the row for facts and findings. */
void readiness_check_all(const struct facts *facts, struct readiness_finding *findings);
const struct verdict_row *readiness_judge(const struct facts *facts,
					  const struct readiness_finding *findings, bool lenient);
/* It is ready by what the operator states, not by what was seen. */
bool readiness_assumed(const struct readiness *readiness);
/* The reason why the row matched: "PM-06 FAIL: ..."; empty: the row tells it all. */
void readiness_because(const struct readiness *readiness, char *text, size_t size);

const struct readiness_finding *readiness_find(const struct readiness_finding *findings,
					       const char *id);
const char *readiness_status_name(enum readiness_status status); /* "PASS" */
const char *readiness_effect_name(enum readiness_effect effect); /* "blocks" */
const char *readiness_verdict_name(enum readiness_verdict verdict);

/*
 * "checks", "ddio", "verdict", "judgement" and "direct_write_to_pmem" as the
 * schema rpma-ddio-check/1 has them.
 */
json_t *readiness_json(const struct readiness *readiness);

/* "schema", "device" and "target", then what readiness_json() gives. */
json_t *readiness_block(const struct readiness *readiness);
