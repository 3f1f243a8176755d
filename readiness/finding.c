/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finding.c -- how a check reports what it found.
 *
 * Parts of it are text of the machine, or of a tree from elsewhere: what
 * a terminal or JSON would choke on is replaced here, for every check.
 */
#include <stdarg.h>
#include <stdio.h>

#include "readiness.h"

static void make_printable(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

#define FORMAT(field, format)                                                                      \
	do {                                                                                       \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		vsnprintf(field, sizeof(field), format, args);                                     \
		va_end(args);                                                                      \
		make_printable(field);                                                             \
	} while (0)

void finding_value(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->value, format);
}

void finding_source(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->source, format);
}

void finding_meaning(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->meaning, format);
}

void finding_fix(struct readiness_finding *finding, const char *format, ...)
{
	FORMAT(finding->fix, format);
}

void finding_say(struct readiness_finding *finding, enum readiness_status status,
		 const char *meaning, const char *fix)
{
	finding->status = status;
	finding_meaning(finding, "%s", meaning);
	finding_fix(finding, "%s", fix != NULL ? fix : "");
}
