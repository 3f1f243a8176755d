/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.c -- keeps the error message of the last failure of each thread. */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static const char *limit_remedy(int error)
{
	switch (error) {
	case EMFILE:
		return "raise the limit of open files (ulimit -n, LimitNOFILE= of a service)";
	case ENFILE:
		return "raise the host's limit of open files (sysctl fs.file-max)";
	case EAGAIN:
		return "raise the limit of processes (ulimit -u, or pids.max of the control group)";
	default:
		return NULL;
	}
}

int failure_call(const char *step, int error, const char *what, ...)
{
	const char *remedy = limit_remedy(error);
	char text[256];
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	if (remedy == NULL)
		return failure_set(EXIT_INTERNAL, step, "cannot %s: %s", text, strerror(error));
	return failure_because(CAUSE_LIMIT, EXIT_RUN_FAILED, step, "cannot %s: %s: %s", text,
			       strerror(error), remedy);
}

const char *cause_name(enum cause cause)
{
	static const char *const names[CAUSES] = {
		[CAUSE_NAME] = "name",
		[CAUSE_NO_DEVICE] = "no_device",
		[CAUSE_NO_PERMISSION] = "no_permission",
		[CAUSE_MEMLOCK] = "memlock",
		[CAUSE_NO_MEMORY] = "no_memory",
		[CAUSE_LIMIT] = "limit",
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
