/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_text.c -- causes in words: librpma's log lines and completion states.
 *
 * librpma's codes are coarse ("provider error"), its log has the errno. The
 * last warning or error of each thread is kept for the error message.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/host/memlock.h"
#include "connection.h"
#include "names/wc_status.h"

static _Thread_local char last_error[256];
static _Thread_local int last_code;
static _Thread_local int last_errno;
static bool echo;

/* librpma logs while errno is still that of the call; a line that ends otherwise has none. */
static bool tells(const char *text, int error)
{
	const char *words = strerror(error);
	size_t len = strlen(text), tail = strlen(words);

	return len >= tail && strcmp(text + len - tail, words) == 0;
}

static void keep_log(enum rpma_log_level level, const char *file_name, const int line_no,
		     const char *function_name, const char *message_format, ...)
{
	char text[sizeof(last_error)];
	int error = errno;
	va_list args;

	va_start(args, message_format);
	vsnprintf(text, sizeof(text), message_format, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	if (level <= RPMA_LOG_LEVEL_ERROR && file_name != NULL) {
		memcpy(last_error, text, sizeof(last_error));
		last_errno = tells(text, error) ? error : 0;
	}
	if (echo)
		fprintf(stderr, "librpma: %s%s%s\n", function_name != NULL ? function_name : "",
			function_name != NULL ? ": " : "", text);
	(void)line_no;
}

void connection_log_to_failures(bool verbose)
{
	echo = verbose;
	rpma_log_set_function(keep_log);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
			       verbose ? RPMA_LOG_LEVEL_INFO : RPMA_LOG_LEVEL_WARNING);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED);
}

const char *connection_cause(int rpma_code)
{
	static _Thread_local char cause[sizeof(last_error) + 64];

	last_code = rpma_code;
	if (last_error[0] == '\0')
		return rpma_err_2str(rpma_code);
	snprintf(cause, sizeof(cause), "%s%s", last_error,
		 last_errno == EMFILE ? " (ulimit -n)" : "");
	last_error[0] = '\0';
	return cause;
}

int connection_cause_code(void)
{
	return last_code;
}

void connection_cause_clear(void)
{
	last_code = 0;
	last_errno = 0;
	last_error[0] = '\0';
}

/* The kernel pins for who may lock nothing with EPERM, beyond a limit with ENOMEM. */
static enum cause cause_of_errno(int error, uint64_t memlock_bytes)
{
	switch (error) {
	case EPERM:
		return memlock_bytes == 0 ? CAUSE_MEMLOCK : CAUSE_NO_PERMISSION;
	case EACCES:
		return CAUSE_NO_PERMISSION;
	case ENOMEM:
		return memlock_bytes != UINT64_MAX ? CAUSE_MEMLOCK : CAUSE_NO_MEMORY;
	case EMFILE:
	case ENFILE:
		return CAUSE_LIMIT;
	case EADDRINUSE:
		return CAUSE_ADDRESS_IN_USE;
	case ECONNREFUSED:
		return CAUSE_REFUSED;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EADDRNOTAVAIL:
	case ENODEV:
	case ETIMEDOUT: /* resolving an address: no host answered for it */
		return CAUSE_UNREACHABLE;
	default:
		return CAUSE_UNKNOWN;
	}
}

enum cause connection_cause_of(int rpma_code)
{
	if (rpma_code == RPMA_E_NOMEM)
		return CAUSE_NO_MEMORY;
	/* the other codes are librpma's own verdict, without a call that failed */
	return rpma_code == RPMA_E_PROVIDER ? cause_of_errno(last_errno, memlock_limit())
					    : CAUSE_UNKNOWN;
}

const char *connection_wc_status_name(enum ibv_wc_status status)
{
	const char *name = wc_status_name(status);

	return name != NULL ? name : "an unknown status";
}
