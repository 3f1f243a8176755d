/* SPDX-License-Identifier: BSD-3-Clause */
/* err.c -- the words for the error codes, the sentence of the last failure, and the version. */
#include "err.h"
#include "log.h"

#include <errno.h>
#include <stdarg.h>

enum { TEXT_MAX = 1024 }; /* a line of the log */

static _Thread_local char buffer[TEXT_MAX];
static _Thread_local const char *text = "";
static _Thread_local int below; /* errno of the call below that failed, or 0 */

__attribute__((format(printf, 2, 0))) static void keep(int errnum, const char *format,
						       va_list arguments)
{
	const int saved = errno;

	vsnprintf(buffer, sizeof(buffer), format, arguments);
	text = buffer;
	below = errnum;
	errno = saved;
}

void rpma_err_set_constant(const char *sentence)
{
	text = sentence;
	below = 0;
}

void rpma_err_set(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep(0, format, arguments);
	va_end(arguments);
}

void rpma_err_set_null(const char *function, const char *names, const void *const *arguments)
{
	size_t len = strcspn(names, ",");

	while (*arguments != NULL && names[len] == ',') {
		arguments++;
		names += len + strspn(names + len, ", ");
		len = strcspn(names, ",");
	}
	rpma_err_set("%s(): %.*s is NULL", function, (int)len, names);
}

void rpma_err_set_range(const char *function, size_t offset, size_t len)
{
	if (len > UINT32_MAX)
		rpma_err_set("%s(): len is %zu, expected at most %u", function, len, UINT32_MAX);
	else
		rpma_err_set("%s(): offset is %zu and len %zu without a region, expected 0 and 0",
			     function, offset, len);
}

void rpma_log_error(int errnum, const char *file_name, int line_no, const char *function_name,
		    const char *format, ...)
{
	const int saved = errnum != 0 ? errnum : errno; /* a log function may look at it */
	va_list arguments;

	va_start(arguments, format);
	keep(errnum, format, arguments);
	va_end(arguments);
	errno = saved;
	if (rpma_log_wanted(RPMA_LOG_LEVEL_ERROR))
		atomic_load (&rpma_log_sink)(RPMA_LOG_LEVEL_ERROR, file_name, line_no,
					     function_name, "%s\n", buffer);
	errno = saved;
}

const char *rpma_err_text(void)
{
	return text;
}

int rpma_err_errno(void)
{
	return below;
}

const char *rpma_err_2str(int ret)
{
	switch (ret) {
	case 0:
		return "Success";
	case RPMA_E_NOSUPP:
		return "Not supported";
	case RPMA_E_PROVIDER:
		return "Provider error occurred";
	case RPMA_E_NOMEM:
		return "Out of memory";
	case RPMA_E_INVAL:
		return "Invalid argument";
	case RPMA_E_NO_COMPLETION:
		return "No next completion available";
	case RPMA_E_NO_EVENT:
		return "No next event available";
	case RPMA_E_AGAIN:
		return "Temporary error, try again";
	case RPMA_E_SHARED_CHANNEL:
		return "Completion channel is shared";
	case RPMA_E_NOT_SHARED_CHNL:
		return "Completion channel is not shared";
	case RPMA_E_TIMEOUT:
		return "Timed out";
	default:
		return "Unknown error";
	}
}
