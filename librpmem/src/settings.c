/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c -- reads the environment. */
#include "settings.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "report.h"

/* A decimal integer and nothing else; one beyond a long long is taken for its end. */
static bool parse_integer(const char *text, long long *value)
{
	const char *digits = text + (*text == '-' || *text == '+');
	size_t len = strspn(digits, "0123456789");

	if (len == 0 || digits[len] != '\0')
		return false;
	*value = strtoll(text, NULL, 10);
	return true;
}

static unsigned positive(const char *name, unsigned otherwise)
{
	const char *text = secure_getenv(name);
	long long value;

	if (text == NULL)
		return otherwise;
	if (!parse_integer(text, &value) || value <= 0) {
		report_line(REPORT_ERROR, "%s='%s' is ignored: expected a positive integer", name,
			    text);
		return otherwise;
	}
	return value > UINT_MAX ? UINT_MAX : (unsigned)value;
}

static bool enabled(const char *name, bool otherwise)
{
	const char *text = secure_getenv(name);
	long long value;

	if (text == NULL)
		return otherwise;
	if (!parse_integer(text, &value)) {
		report_line(REPORT_ERROR, "%s='%s' counts as 0: expected 0 or 1", name, text);
		return false;
	}
	return value != 0;
}

static enum report_level log_level(void)
{
	const char *text = secure_getenv("RPMEM_LOG_LEVEL");
	long long value;

	if (text == NULL || !parse_integer(text, &value) || value < 0)
		return REPORT_ERROR;
	return value > REPORT_BASIC ? REPORT_BASIC : (enum report_level)value;
}

void settings_load(struct settings *settings)
{
	const char *commands = secure_getenv("RPMEM_CMD");
	unsigned work_queue;

	report_open(log_level(), secure_getenv("RPMEM_LOG_FILE"));
	work_queue = positive("RPMEM_WORK_QUEUE_SIZE", SETTINGS_WORK_QUEUE);
	*settings = (struct settings){
		.commands = commands != NULL ? strdup(commands) : NULL,
		.max_nlanes = positive("RPMEM_MAX_NLANES", UINT_MAX),
		.work_queue =
			work_queue < SETTINGS_WORK_QUEUE_MIN ? SETTINGS_WORK_QUEUE_MIN : work_queue,
	};
}

static unsigned count_alternatives(const char *commands)
{
	unsigned count = 1;

	for (; *commands != '\0'; commands++)
		count += *commands == '|';
	return count;
}

int settings_next_command(struct settings *settings, char command[SETTINGS_COMMAND_MAX])
{
	const char *at = settings->commands;
	unsigned skip;
	size_t len;

	if (at == NULL || *at == '\0')
		at = "rpmemd";
	skip = __atomic_fetch_add(&settings->next_command, 1, __ATOMIC_RELAXED) %
	       count_alternatives(at);
	for (; skip > 0; skip--)
		at = strchr(at, '|') + 1;
	len = strcspn(at, "|");
	if (len >= SETTINGS_COMMAND_MAX) {
		failure_set(EXIT_WRONG_USAGE, "ssh",
			    "a command in RPMEM_CMD has %zu characters, more than %d", len,
			    SETTINGS_COMMAND_MAX - 1);
		return -EINVAL;
	}
	memcpy(command, at, len);
	command[len] = '\0';
	return 0;
}

const char *settings_ssh(void)
{
	const char *program = secure_getenv("RPMEM_SSH");

	return program != NULL && *program != '\0' ? program : "ssh";
}

bool settings_verbs(void)
{
	return enabled("RPMEM_ENABLE_VERBS", true);
}

bool settings_sockets(void)
{
	return enabled("RPMEM_ENABLE_SOCKETS", false);
}
