/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.c -- keeps the error message of the last failure of each thread.
 */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static _Thread_local struct failure last;

static int store(enum cause cause, enum exit_code code, const char *step, const char *format,
		 va_list args)
{
	last.code = code;
	last.cause = cause;
	snprintf(last.step, sizeof(last.step), "%s", step);
	vsnprintf(last.text, sizeof(last.text), format, args);
	return code == EXIT_WRONG_USAGE ? -EINVAL : -EIO;
}

int failure_set(enum exit_code code, const char *step, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = store(CAUSE_UNKNOWN, code, step, format, args);
	va_end(args);
	return ret;
}

int failure_because(enum cause cause, enum exit_code code, const char *step, const char *format,
		    ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = store(cause, code, step, format, args);
	va_end(args);
	return ret;
}

const char *cause_name(enum cause cause)
{
	static const char *const names[CAUSES] = {
		[CAUSE_NAME] = "name",
		[CAUSE_NO_DEVICE] = "no_device",
		[CAUSE_NO_PERMISSION] = "no_permission",
		[CAUSE_MEMLOCK] = "memlock",
		[CAUSE_NO_MEMORY] = "no_memory",
		[CAUSE_ADDRESS_IN_USE] = "address_in_use",
		[CAUSE_UNREACHABLE] = "unreachable",
		[CAUSE_NO_ANSWER] = "no_answer",
		[CAUSE_REFUSED] = "refused",
		[CAUSE_BUSY] = "busy",
		[CAUSE_WRONG_PEER] = "wrong_peer",
		[CAUSE_CLOSED] = "closed",
		[CAUSE_LOST] = "lost",
		[CAUSE_MTU] = "mtu",
		[CAUSE_LINK_DOWN] = "link_down",
		[CAUSE_DEVICE_GONE] = "device_gone",
		[CAUSE_NO_ACCESS] = "no_access",
		[CAUSE_CORRUPT] = "corrupt",
	};

	return names[cause];
}

struct failure *failure_get(void)
{
	return &last;
}
