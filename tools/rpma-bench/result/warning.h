/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warning.h -- a list of warnings: an array of {code, severity, host, text},
 * whose words are the schema's.
 */
#pragma once

#include <jansson.h>

/* Takes the text, NULL adds nothing; a warning that is in the list is not added again. */
void warning_add(json_t *list, const char *code, const char *severity, const char *host,
		 json_t *text);
