/* SPDX-License-Identifier: BSD-3-Clause */
/* harness.c -- see harness.h. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ours alone has the node LIBRPMA_1.4; the static core is always ours. */
bool on_reference(void)
{
#ifdef LIBRPMA_IS_STATIC
	return false;
#else
	return dlsym(RTLD_DEFAULT, "rpma_ep_get_port") == NULL;
#endif
}

const char *result_name(int result)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{0, "0"},
		{RPMA_E_UNKNOWN, "RPMA_E_UNKNOWN"},
		{RPMA_E_NOSUPP, "RPMA_E_NOSUPP"},
		{RPMA_E_PROVIDER, "RPMA_E_PROVIDER"},
		{RPMA_E_NOMEM, "RPMA_E_NOMEM"},
		{RPMA_E_INVAL, "RPMA_E_INVAL"},
		{RPMA_E_NO_COMPLETION, "RPMA_E_NO_COMPLETION"},
		{RPMA_E_NO_EVENT, "RPMA_E_NO_EVENT"},
		{RPMA_E_AGAIN, "RPMA_E_AGAIN"},
		{RPMA_E_SHARED_CHANNEL, "RPMA_E_SHARED_CHANNEL"},
		{RPMA_E_NOT_SHARED_CHNL, "RPMA_E_NOT_SHARED_CHNL"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (names[i].code == result)
			return names[i].name;
	return "an undefined value";
}

/* One line "function result" for each checked call, if they are collected. */
static void remember_covered(const char *call, int result)
{
	const char *path = getenv("RPMA_TEST_COVERED");
	FILE *file;

	if (path == NULL)
		return;
	file = fopen(path, "a");
	if (file == NULL)
		fail_msg("cannot append to %s", path);
	fprintf(file, "%.*s %s\n", (int)strcspn(call, "("), call, result_name(result));
	fclose(file);
}

const char *err_text(void)
{
#ifdef LIBRPMA_IS_STATIC
	return rpma_err_text();
#else
	void *symbol = dlsym(RTLD_DEFAULT, "rpma_err_text");
	const char *(*function)(void);

	memcpy(&function, &symbol, sizeof(symbol));
	return symbol == NULL ? NULL : function();
#endif
}

void expect_text(const char *words)
{
	if (strstr(err_text(), words) == NULL)
		fail_msg("expected \"%s\" in the sentence \"%s\"", words, err_text());
}

/* A failure of no consequence, whose sentence no other call leaves. */
void forget_text(void)
{
	(void)rpma_conn_cfg_delete(NULL);
}

void check_text(int result, const char *call, const char *file, int line)
{
	const char *text = err_text();

	if (text == NULL || result >= 0 || result == RPMA_E_NO_COMPLETION ||
	    result == RPMA_E_NO_EVENT || result == RPMA_E_AGAIN ||
	    strncmp(call, "rpma_conn_cfg_delete", strlen("rpma_conn_cfg_delete")) == 0)
		return;
	if (strncmp(text, "rpma_conn_cfg_delete()", strlen("rpma_conn_cfg_delete()")) != 0 &&
	    *text != '\0' && strchr(text, '\n') == NULL)
		return;
	print_error("%s:%d: %s left no sentence, but \"%s\"\n", file, line, call, text);
	_fail(file, line);
}

void check_result(int expected, int actual, const char *call, const char *file, int line)
{
	if (actual != expected) {
		print_error("%s:%d: %s gave %s (%d), not %s\n", file, line, call,
			    result_name(actual), actual, result_name(expected));
		_fail(file, line);
	}
	remember_covered(call, actual);
}

/* Arguments: [--expect ours|reference]. */
int test_start(int argc, char **argv)
{
	const char *library = on_reference() ? "reference" : "ours";

	if (argc == 3 && strcmp(argv[1], "--expect") == 0 && strcmp(argv[2], library) != 0) {
		fprintf(stderr, "%s: the library loaded is %s, not %s\n", argv[0], library,
			argv[2]);
		return 2;
	}
	return -1;
}
