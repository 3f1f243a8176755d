/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c -- see calls.h. */
#include "calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SIZE 4096

static const char *log_names[LOG_SIZE];
static unsigned log_length;

/* The script: one rule at a time is all a readable test needs. */
static struct {
	bool active;
	bool always;
	const char *name; /* NULL: any call */
	unsigned countdown;
	int errnum;
	const char *first_failed;
} rule;

void calls_reset(void)
{
	log_length = 0;
	memset(&rule, 0, sizeof(rule));
	calls_forget_allocations();
}

void calls_note(const char *name)
{
	if (log_length == LOG_SIZE)
		abort(); /* a test that makes so many calls asks nothing sensible */
	log_names[log_length++] = name;
}

static bool rule_hits(const char *name)
{
	if (!rule.active || (rule.name != NULL && strcmp(rule.name, name) != 0))
		return false;
	if (rule.always)
		return true;
	if (--rule.countdown > 0)
		return false;
	rule.active = false;
	return true;
}

bool calls_fail(const char *name)
{
	calls_note(name);
	if (!rule_hits(name))
		return false;
	if (rule.first_failed == NULL)
		rule.first_failed = name;
	if (rule.errnum != 0)
		errno = rule.errnum;
	return true;
}

static void set_rule(const char *name, unsigned nth, bool always, int errnum)
{
	rule.active = true;
	rule.always = always;
	rule.name = name;
	rule.countdown = nth;
	rule.errnum = errnum;
	rule.first_failed = NULL;
}

void calls_fail_nth(unsigned nth, int errnum)
{
	set_rule(NULL, nth, false, errnum);
}

void calls_fail_on(const char *name, int errnum)
{
	set_rule(name, 1, false, errnum);
}

void calls_fail_always(const char *name, int errnum)
{
	set_rule(name, 0, true, errnum);
}

void calls_fail_never(void)
{
	rule.active = false;
}

const char *calls_first_failed(void)
{
	return rule.first_failed;
}

unsigned calls_count(const char *name)
{
	unsigned count = 0;

	for (unsigned i = 0; i < log_length; i++)
		count += strcmp(log_names[i], name) == 0;
	return count;
}

static unsigned first_position(const char *name)
{
	unsigned i = 0;

	while (i < log_length && strcmp(log_names[i], name) != 0)
		i++;
	return i;
}

bool calls_in_order(const char *earlier, const char *later)
{
	return first_position(earlier) < first_position(later) &&
	       first_position(later) < log_length;
}
