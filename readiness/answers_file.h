/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers_file.h -- answers out of a facts.json, and into the one of a dump.
 *
 * For answers.c. A key that is not there leaves what the caller set.
 */
#ifndef READINESS_ANSWERS_FILE_H
#define READINESS_ANSWERS_FILE_H

#include "answers.h"

/* The words of enum answers_file. */
extern const char *const answers_kinds[];

void answers_read_device(const struct answers *answers, const char *name,
			 struct answers_device *out);
void answers_read_path(const struct answers *answers, const char *path, struct answers_path *out);
void answers_read_probe(const struct answers *answers, struct answers_probe *out);

void answers_note_device(const struct answers *answers, const char *name,
			 const struct answers_device *device);
void answers_note_path(const struct answers *answers, const char *path,
		       const struct answers_path *file);

#endif /* READINESS_ANSWERS_FILE_H */
