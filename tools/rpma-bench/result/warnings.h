/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.h -- what a reader of the result must know before believing it: a list of warnings,
 * an array of {code, severity, host, text}, whose words are the schema's.
 */
#pragma once

#include "record.h"

/* About the run and its points. */
json_t *warnings_make(const struct record *record, const json_t *points);

/* Takes the text, NULL adds nothing; a warning that is in the list is not added again. */
void warning_add(json_t *list, const char *code, const char *severity, const char *host,
		 json_t *text);

/* --- its parts, a file each --- */

void warnings_of_points(const struct record *record, const json_t *points, json_t *list);
/* Warns of a point: is what it flushed persistent? */
void warn_persistence(const struct record *record, const json_t *point, json_t *list);
/* Warns where others took the CPU time of a host. */
void warn_cpu_taken(const json_t *points, json_t *list);
/* Warns where the CPU quota of a control group stopped an end. */
void warn_throttled(const json_t *points, json_t *list);
/* Warns of percentiles that are null because repeats were short. */
void warn_samples(const json_t *points, json_t *list);
