/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_ssh.c -- RPMEM_SSH of the tests: an ssh and a daemon that follow a script.
 *
 * The script is FAKE_SSH_SCRIPT in the environment, or else the command, the last
 * argument, up to its first blank: steps with commas between them.
 *
 *	started, started=STATUS STARTED, with a status and the reason "because"
 *	take                    read a request
 *	reply, reply=STATUS     answer it
 *	flip=BYTE:VALUE         answer it with one byte of the frame changed
 *	half                    the first half of the answer
 *	twice                   the answer, two times
 *	serve                   take and reply until CLOSE was answered
 *	raw=TEXT                bytes on stdout; err=TEXT: a line on stderr; '_' is a blank
 *	log=FILE                append the type of each request that is taken
 *	argv=FILE, fds=FILE     write the arguments, or the open descriptors
 *	once=FILE               go on if FILE is there, else make it and exit with 255
 *	eof                     wait for the end of stdin
 *	meet=FIFO               wait until the test has opened it, too
 *	sleep=MS, kill=SIGNAL, exit=STATUS
 */
#include <dirent.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "librpmem/wire/control.h"

static int args_count;
static char **args;
static const char *log_file;
static struct control_header request;
static uint8_t request_body[CONTROL_BODY_MAX];

static void put(const void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(STDOUT_FILENO, (const char *)bytes + done, len - done);

		if (n <= 0)
			exit(EXIT_FAILURE);
		done += (size_t)n;
	}
}

static int get(void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = read(STDIN_FILENO, (char *)bytes + done, len - done);

		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

static void append(const char *file, const char *text)
{
	FILE *out = fopen(file, "a");

	if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0)
		err(EXIT_FAILURE, "%s", file);
}

static void take(void)
{
	uint8_t header[CONTROL_HEADER_BYTES];
	char line[16];

	if (!get(header, sizeof(header)))
		exit(1);
	if (control_decode_header(header, &request) != 0 || request.is_reply)
		errx(EXIT_FAILURE, "not a request");
	if (!get(request_body, request.body_bytes))
		exit(1);
	snprintf(line, sizeof(line), "%d ", (int)request.type);
	if (log_file != NULL)
		append(log_file, line);
}

/* The answer of a daemon with a good pool. */
static size_t good_reply(uint8_t *frame, size_t room)
{
	struct control_pool_reply reply = {
		.port = 7204,
		.method = CONTROL_GPSPM,
		.token = 0x0123456789abcdefULL,
		.attr = {.signature = "FAKE", .major = 6},
	};
	struct control_pool_request pool;

	if (request.type != CONTROL_CREATE && request.type != CONTROL_OPEN)
		return control_encode_plain(request.type, true, 0, NULL, frame, room);
	if (control_decode_pool_request(request.type, request_body, request.body_bytes, &pool) != 0)
		errx(EXIT_FAILURE, "not a request for a pool");
	reply.nlanes = pool.nlanes;
	reply.pool_size = pool.pool_size + 4096;
	reply.has_headers = request.type == CONTROL_CREATE ? pool.has_attr
							   : strcmp(pool.name, "nohdrs.set") != 0;
	return control_encode_pool_reply(request.type, &reply, frame, room);
}

static void answer(const char *step, const char *value)
{
	uint8_t frame[CONTROL_HEADER_BYTES + 4096];
	size_t len = good_reply(frame, sizeof(frame)), at;
	unsigned status, byte;

	if (sscanf(value, "%u", &status) == 1 && strcmp(step, "reply") == 0)
		len = control_encode_plain(request.type, true, status, "because", frame,
					   sizeof(frame));
	if (strcmp(step, "flip") == 0 && sscanf(value, "%zu:%u", &at, &byte) == 2 && at < len)
		frame[at] = (uint8_t)byte;
	put(frame, strcmp(step, "half") == 0 ? len / 2 : len);
	if (strcmp(step, "twice") == 0)
		put(frame, len);
}

static void serve(void)
{
	do {
		take();
		answer("reply", "");
	} while (request.type != CONTROL_CLOSE);
}

static void started(const char *value)
{
	uint8_t frame[CONTROL_HEADER_BYTES + 64];

	put(frame, control_encode_plain(CONTROL_STARTED, false, (uint32_t)atoi(value), "because",
					frame, sizeof(frame)));
}

static void write_fds(const char *file)
{
	char numbers[256] = "";
	struct dirent *entry;
	DIR *fds = opendir("/proc/self/fd");

	while (fds != NULL && (entry = readdir(fds)) != NULL)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(fds))
			strcat(strcat(numbers, entry->d_name), " ");
	closedir(fds);
	append(file, numbers);
}

static void write_argv(const char *file)
{
	for (int i = 1; i < args_count; i++) {
		append(file, args[i]);
		append(file, "\n");
	}
}

static void fail_once(const char *file)
{
	if (access(file, F_OK) == 0)
		return;
	append(file, "");
	exit(255);
}

static char *with_blanks(char *text)
{
	for (char *at = text; *at != '\0'; at++)
		if (*at == '_')
			*at = ' ';
	return text;
}

static void wait_for_eof(void)
{
	char byte;

	while (get(&byte, 1))
		;
}

static void meet(const char *fifo)
{
	FILE *file = fopen(fifo, "r");

	if (file == NULL || fclose(file) != 0)
		err(EXIT_FAILURE, "%s", fifo);
}

static void system_step(const char *step, const char *value)
{
	if (strcmp(step, "argv") == 0)
		write_argv(value);
	else if (strcmp(step, "fds") == 0)
		write_fds(value);
	else if (strcmp(step, "eof") == 0)
		wait_for_eof();
	else if (strcmp(step, "meet") == 0)
		meet(value);
	else if (strcmp(step, "sleep") == 0)
		usleep((unsigned)atoi(value) * 1000);
	else if (strcmp(step, "kill") == 0)
		raise(atoi(value));
	else if (strcmp(step, "exit") == 0)
		exit(atoi(value));
	else
		errx(EXIT_FAILURE, "no step %s", step);
}

static void follow(const char *step, char *value)
{
	if (strcmp(step, "started") == 0)
		started(value);
	else if (strcmp(step, "take") == 0)
		take();
	else if (strcmp(step, "serve") == 0)
		serve();
	else if (strcmp(step, "raw") == 0)
		put(with_blanks(value), strlen(value));
	else if (strcmp(step, "err") == 0)
		fprintf(stderr, "%s\n", with_blanks(value));
	else if (strcmp(step, "log") == 0)
		log_file = value;
	else if (strcmp(step, "once") == 0)
		fail_once(value);
	else if (strcmp(step, "reply") == 0 || strcmp(step, "flip") == 0 ||
		 strcmp(step, "half") == 0 || strcmp(step, "twice") == 0)
		answer(step, value);
	else
		system_step(step, value);
}

int main(int argc, char **argv)
{
	const char *given = getenv("FAKE_SSH_SCRIPT");
	char script[4096], *rest = script, *step;

	args_count = argc;
	args = argv;
	alarm(600); /* no test leaves one behind */
	snprintf(script, sizeof(script), "%s", given != NULL ? given : argv[argc - 1]);
	script[strcspn(script, " ")] = '\0';
	while ((step = strsep(&rest, ",")) != NULL) {
		char *value = strchr(step, '=');

		if (value != NULL)
			*value++ = '\0';
		if (*step != '\0')
			follow(step, value != NULL ? value : step + strlen(step));
	}
	return 0;
}
