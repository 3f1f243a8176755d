/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_ssh.c -- an ssh that does not reach the daemon, and what a daemon may answer.
 */
#include <stdlib.h>
#include <string.h>

#include "accept.h"

static RPMEMpool *create_over(const char *ssh)
{
	setenv("RPMEM_SSH", ssh, 1);
	return try_create("my.set", heap(PART), PART, kind_attr(HEADERS));
}

static void message_has(const char *words)
{
	if (strstr(rpmem_errormsg(), words) != NULL)
		return;
	printf("no '%s' in '%s'\n", words, rpmem_errormsg());
	exit(EXIT_FAILURE);
}

/* --- A28 --------------------------------------------------------------------------------- */

static void no_ssh(void)
{
	CHECK_NO_POOL(create_over("/does/not/exist"), ECONNRESET);
	message_has("/does/not/exist");
	CHECK_ERRNO(rpmem_remove(target(), "my.set", 0), ECONNRESET);
	message_has("/does/not/exist");
}

static void an_ssh_that_fails(void)
{
	const char *ssh = file_write("ssh", "#!/bin/sh\necho a banner >&2\n"
					    "echo ssh: a reason >&2\nexit 255\n");

	CHECK_NO_POOL(create_over(ssh), ECONNRESET);
	message_has(": ssh: a reason");
	CHECK_NO_POOL(try_open("my.set", heap(PART), PART), ECONNRESET);
	message_has(": ssh: a reason");
	CHECK_ERRNO(rpmem_remove(target(), "my.set", 0), ECONNRESET);
	message_has(": ssh: a reason");
}

static void an_ssh_that_greets(void)
{
	const char *ssh = file_write("ssh", "#!/bin/sh\necho Welcome to this host\n"
					    "echo a hint >&2\nexec cat > /dev/null\n");

	CHECK_NO_POOL(create_over(ssh), EPROTO);
	CHECK(rpmem_errormsg()[0] != '\0');
}

static void an_ssh_that_hangs_up(void)
{
	static const char *const scripts[] = {"", "hello", "hello,take", "hello,take,half"};

	for (size_t i = 0; i < COUNT(scripts); i++) {
		setenv("FAKE_SSH_SCRIPT", scripts[i], 1);
		CHECK_NO_POOL(create_over(setting("RPMEM_ACCEPT_FAKE_SSH")), ECONNRESET);
	}
}

/* --- A29: each errno of the daemon ----------------------------------------------------------- */

static void each_status(void)
{
	static const struct {
		int status, expected;
	} cases[] = {
		{EPROTONOSUPPORT, EPROTONOSUPPORT},
		{EINVAL, EINVAL},
		{EFBIG, EFBIG},
		{EREMOTEIO, EREMOTEIO},
		{ECONNABORTED, EREMOTEIO},
		{EBUSY, EBUSY},
		{EEXIST, EEXIST},
		{EMEDIUMTYPE, EREMOTEIO},
		{ENOENT, ENOENT},
		{EACCES, EACCES},
	};
	char script[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(script, sizeof(script), "hello,take,reply=%d,eof", cases[i].status);
		setenv("FAKE_SSH_SCRIPT", script, 1);
		CHECK_NO_POOL(create_over(setting("RPMEM_ACCEPT_FAKE_SSH")), cases[i].expected);
		message_has("because");
		snprintf(script, sizeof(script), "hello=%d", cases[i].status);
		setenv("FAKE_SSH_SCRIPT", script, 1);
		CHECK_NO_POOL(create_over(setting("RPMEM_ACCEPT_FAKE_SSH")), cases[i].expected);
	}
}

/* Magic, version, type, status and length: whatever it is taken for, it is not a pool. */
static void each_byte_of_a_header(void)
{
	char script[64];

	for (int byte = 0; byte < 16; byte++) {
		snprintf(script, sizeof(script), "hello,take,flip=%d:255", byte);
		setenv("FAKE_SSH_SCRIPT", script, 1);
		CHECK(create_over(setting("RPMEM_ACCEPT_FAKE_SSH")) == NULL);
		if (errno != EPROTO && errno != EPROTONOSUPPORT && errno != ECONNRESET &&
		    errno != EREMOTEIO)
			accept_fail(__FILE__, __LINE__, script);
		CHECK(rpmem_errormsg()[0] != '\0');
	}
}

const struct accept_case cases_of_ssh[] = {
	{"no_ssh", no_ssh, {NULL}, false},
	{"an_ssh_that_fails", an_ssh_that_fails, {NULL}, false},
	{"an_ssh_that_greets", an_ssh_that_greets, {NULL}, false},
	{"an_ssh_that_hangs_up", an_ssh_that_hangs_up, {NULL}, false},
	{"each_status", each_status, {NULL}, false},
	{"each_byte_of_a_header", each_byte_of_a_header, {NULL}, false},
	{NULL, NULL, {NULL}, false},
};
