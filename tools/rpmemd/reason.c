/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reason.c -- sets the error message of a failure whose errno is known.
 */
#include "reason.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/base/failure.h"

/* Names in it come from clients: the error message is one line, on any terminal. */
static void replace_control_characters(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

int reason_set(int error, const char *format, ...)
{
	char text[sizeof(failure_get()->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	replace_control_characters(text);
	failure_set(EXIT_RUN_FAILED, "pool", "%s", text);
	return -error;
}
