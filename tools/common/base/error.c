/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.c -- keeps the sentence of the last failure of each thread.
 */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static _Thread_local struct failure last;

int failure_set(enum exit_code code, const char *step, const char *format, ...)
{
	va_list args;

	last.code = code;
	snprintf(last.step, sizeof(last.step), "%s", step);
	va_start(args, format);
	vsnprintf(last.text, sizeof(last.text), format, args);
	va_end(args);
	return code == EXIT_WRONG_USAGE ? -EINVAL : -EIO;
}

struct failure *failure_get(void)
{
	return &last;
}
