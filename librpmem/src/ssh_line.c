/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ssh_line.c -- weighs the lines of ssh's stderr. Their texts are those of OpenSSH 9.2
 * to 10.1.
 */
#include "ssh_line.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
	size_t len = strlen(text), tail = strlen(with);

	return len >= tail && strcmp(text + len - tail, with) == 0;
}

/* "Connection to HOST closed.": of each session that ends. */
static bool tells_of_any_end(const char *text)
{
	return (begins(text, "Connection to ") || begins(text, "Shared connection to ")) &&
	       ends(text, " closed.");
}

/* "USER@HOST: Permission denied (publickey).": no shell names methods. */
static bool is_of_login(const char *text)
{
	return strstr(text, ": Permission denied (") != NULL;
}

static enum ssh_line_weight weigh(const char *text)
{
	/* "** WARNING: connection is not using a post-quantum key exchange", and two more */
	static const char *const noise[] = {"Warning:", "** ",	   "Disconnected from ",
					    "debug1:",	"debug2:", "debug3:"};
	static const char *const own[] = {"ssh:", "rpmemd:", "Timeout, server "};

	if (text[strspn(text, " ")] == '\0')
		return SSH_LINE_NONE;
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (begins(text, noise[i]))
			return SSH_LINE_NOISE;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (begins(text, own[i]))
			return SSH_LINE_OWN;
	if (tells_of_any_end(text))
		return SSH_LINE_NOISE;
	return is_of_login(text) ? SSH_LINE_OWN : SSH_LINE_OTHER;
}

static void end_next(struct ssh_line *line)
{
	const enum ssh_line_weight weight = weigh(line->next);

	if (weight != SSH_LINE_NONE && weight >= line->weight) {
		memcpy(line->text, line->next, sizeof(line->text));
		line->weight = weight;
	}
	line->next[0] = '\0';
}

void ssh_line_take(struct ssh_line *line, const char *bytes, size_t len)
{
	size_t have = strlen(line->next);

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\n') {
			end_next(line);
			have = 0;
		} else if (c != '\r' && have < sizeof(line->next) - 1) {
			line->next[have++] = (char)(c < ' ' || c == 0x7f ? '?' : c);
			line->next[have] = '\0';
		}
	}
}

const char *ssh_line_text(struct ssh_line *line)
{
	end_next(line);
	return line->text;
}

void ssh_line_forget(struct ssh_line *line)
{
	*line = (struct ssh_line){.weight = SSH_LINE_NONE};
}

bool ssh_line_may_pass(const char *text)
{
	static const char *const passing[] = {
		"Connection refused",
		"Connection reset by",
		"Connection closed by",
		"No route to host",
		"Network is unreachable",
		"Temporary failure in name resolution",
		"kex_exchange_identification:",
		"ssh_exchange_identification:", /* OpenSSH before 8.0 */
	};

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (strstr(text, passing[i]) != NULL)
			return true;
	return false;
}
