/* SPDX-License-Identifier: BSD-3-Clause */
/* reason.c -- sets the error message of a failure whose errno is known. */
#include "reason.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/base/failure.h"
#include "common/base/text_writer.h"

int reason_set(int error, const char *format, ...)
{
	char text[sizeof(failure_get()->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_replace_controls(text); /* names in it come from clients */
	failure_set(EXIT_RUN_FAILED, "pool", "%s", text);
	return -error;
}
