/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ssh_line.c -- which line of stderr tells why ssh has ended. The texts are those of
 * OpenSSH 8.4 to 10.1, of shells, and of rpmemd.
 */
#include "librpmem/src/ssh.h"
#include "tests/lib/test.h"

#define BANNER                                                                                     \
	"******************************\r\n"                                                       \
	"*   Authorized use only.     *\r\n"                                                       \
	"*   All activity is logged.  *\r\n"                                                       \
	"******************************\r\n\r\n"
#define NEW_KEY                                                                                    \
	"Warning: Permanently added 'target,192.0.2.7' (ED25519) to the list of known hosts.\r\n"
#define POST_QUANTUM                                                                               \
	"** WARNING: connection is not using a post-quantum key exchange algorithm.\r\n"           \
	"** This session may be vulnerable to \"store now, decrypt later\" attacks.\r\n"           \
	"** The server may need to be upgraded. See https://openssh.com/pq.html\r\n"
#define CHANGED_KEY                                                                                \
	"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r\n"                          \
	"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n"                          \
	"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r\n"                          \
	"Offending ED25519 key in /home/me/.ssh/known_hosts:3\r\n"                                 \
	"Host key for target has changed and you have requested strict checking.\r\n"
#define LOCALE                                                                                     \
	"bash: warning: setlocale: LC_ALL: cannot change locale (de_DE.UTF-8): No such file or "   \
	"directory\n"

static const struct {
	const char *stderr_text, *line;
	bool may_pass;
} cases[] = {
	{"", "", false},
	{"\r\n \n", "", false},
	/* no connection */
	{"ssh: connect to host target port 22: Connection refused\r\n",
	 "ssh: connect to host target port 22: Connection refused", true},
	{"ssh: connect to host target port 22: No route to host\r\n",
	 "ssh: connect to host target port 22: No route to host", true},
	{"ssh: Could not resolve hostname target: Temporary failure in name resolution\r\n",
	 "ssh: Could not resolve hostname target: Temporary failure in name resolution", true},
	{"ssh: Could not resolve hostname target: Name or service not known\r\n",
	 "ssh: Could not resolve hostname target: Name or service not known", false},
	{"kex_exchange_identification: Connection closed by remote host\r\n"
	 "Connection closed by 192.0.2.7 port 22\r\n",
	 "Connection closed by 192.0.2.7 port 22", true},
	{"kex_exchange_identification: read: Connection reset by peer\r\n"
	 "Connection reset by 192.0.2.7 port 22\r\n",
	 "Connection reset by 192.0.2.7 port 22", true},
	{BANNER "Connection closed by 192.0.2.7 port 22\r\n",
	 "Connection closed by 192.0.2.7 port 22", true},
	/* through a jump host */
	{"ssh: connect to host jump port 22: Connection refused\r\n"
	 "kex_exchange_identification: Connection closed by remote host\r\n"
	 "Connection closed by UNKNOWN port 65535\r\n",
	 "ssh: connect to host jump port 22: Connection refused", true},
	{"channel 0: open failed: connect failed: Connection refused\r\n"
	 "stdio forwarding failed\r\n"
	 "kex_exchange_identification: Connection closed by remote host\r\n"
	 "Connection closed by UNKNOWN port 65535\r\n",
	 "Connection closed by UNKNOWN port 65535", true},
	/* no login */
	{BANNER "me@target: Permission denied (publickey,password).\r\n",
	 "me@target: Permission denied (publickey,password).", false},
	{NEW_KEY BANNER "me@target: Permission denied (publickey).\r\n",
	 "me@target: Permission denied (publickey).", false},
	{"Host key verification failed.\r\n", "Host key verification failed.", false},
	{CHANGED_KEY "Host key verification failed.\r\n", "Host key verification failed.", false},
	{NEW_KEY
	 "Received disconnect from 192.0.2.7 port 22:2: Too many authentication failures\r\n"
	 "Disconnected from 192.0.2.7 port 22\r\n",
	 "Received disconnect from 192.0.2.7 port 22:2: Too many authentication failures", false},
	/* no rpmemd */
	{BANNER "bash: line 1: rpmemd: command not found\n",
	 "bash: line 1: rpmemd: command not found", false},
	{POST_QUANTUM "sh: 1: rpmemd: not found\n", "sh: 1: rpmemd: not found", false},
	{POST_QUANTUM BANNER LOCALE "zsh:1: command not found: rpmemd\n",
	 "zsh:1: command not found: rpmemd", false},
	{NEW_KEY BANNER "bash: /opt/rpmemd: Permission denied\n",
	 "bash: /opt/rpmemd: Permission denied", false},
	{BANNER "This account is currently not available.\n",
	 "This account is currently not available.", false},
	/* rpmemd */
	{BANNER LOCALE "rpmemd: unknown option --bogus\nTry 'rpmemd --help'.\n",
	 "rpmemd: unknown option --bogus", false},
	{BANNER "rpmemd: unknown option --bogus\nConnection to target closed.\r\n",
	 "rpmemd: unknown option --bogus", false},
	/* later */
	{"Timeout, server target not responding.\r\n", "Timeout, server target not responding.",
	 false},
	{"client_loop: send disconnect: Broken pipe\r\n",
	 "client_loop: send disconnect: Broken pipe", false},
	{"Connection to target closed by remote host.\r\nConnection to target closed.\r\n",
	 "Connection to target closed by remote host.", false},
	{"Read from remote host target: Connection timed out\r\n"
	 "client_loop: send disconnect: Broken pipe\r\n",
	 "client_loop: send disconnect: Broken pipe", false},
	{"debug1: Entering interactive session.\r\nKilled by signal 15.\r\n"
	 "debug1: channel 0: free: client-session, nchannels 1\r\n",
	 "Killed by signal 15.", false},
	/* nothing but what counts least */
	{NEW_KEY,
	 "Warning: Permanently added 'target,192.0.2.7' (ED25519) to the list of known "
	 "hosts.",
	 false},
	{"Shared connection to target closed.\r\n", "Shared connection to target closed.", false},
	/* not at its end; with bytes that a terminal acts on */
	{"Warning: x\nssh: cut", "ssh: cut", false},
	{"one\033[2J\ttwo\n", "one?[2J?two", false},
};

static void expect(const struct ssh_line *given, size_t i)
{
	struct ssh_line line = *given;
	const char *text = ssh_line_text(&line);

	EQUAL((text, cases[i].line), (ssh_line_may_pass(text), cases[i].may_pass));
}

TEST(the_cause_is_found)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ssh_line line = {.weight = SSH_LINE_NONE};

		ssh_line_take(&line, cases[i].stderr_text, strlen(cases[i].stderr_text));
		expect(&line, i);
	}
}

TEST(reads_may_end_anywhere)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ssh_line line = {.weight = SSH_LINE_NONE};

		for (const char *at = cases[i].stderr_text; *at != '\0'; at++)
			ssh_line_take(&line, at, 1);
		expect(&line, i);
	}
}

TEST(a_line_that_is_too_long_is_cut)
{
	struct ssh_line line = {.weight = SSH_LINE_NONE};
	char text[2 * SSH_LINE_MAX];

	memset(text, 'x', sizeof(text));
	ssh_line_take(&line, text, sizeof(text));
	ssh_line_take(&line, text, sizeof(text));
	assert_int_equal(strlen(ssh_line_text(&line)), SSH_LINE_MAX - 1);
}

TEST(what_was_before_the_daemon_is_forgotten)
{
	struct ssh_line line = {.weight = SSH_LINE_NONE};

	ssh_line_take(&line, BANNER "rpmemd: x", strlen(BANNER "rpmemd: x"));
	ssh_line_forget(&line);
	assert_string_equal(ssh_line_text(&line), "");
	ssh_line_take(&line, "bye\n", 4);
	assert_string_equal(ssh_line_text(&line), "bye");
}
