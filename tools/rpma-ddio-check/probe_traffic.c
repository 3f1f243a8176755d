/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_traffic.c -- rpma-bench as a child: started, bounded, reaped.
 *
 * It has a process group of its own, so that its server ends with it.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cli.h"
#include "common/base/monotonic.h"
#include "common/json/json_path.h"

/* Larger than any run gives; the sum of two still fits. */
#define BYTES_MAX (INT64_MAX / 4)

static int64_t integer_at(const json_t *object, const char *path)
{
	const json_t *value = path_get(object, path);
	json_int_t number = json_integer_value(value);

	return json_is_integer(value) && number >= 0 && number <= BYTES_MAX ? number : -1;
}

/* The writes of the warm-up are traffic like those that were measured. */
static int read_point(const json_t *point, struct probe_traffic *traffic)
{
	const json_t *repeats = json_object_get(point, "repeats");
	int64_t size = integer_at(point, "params/size_bytes");
	int64_t warmup = integer_at(point, "warmup/ops");
	int64_t measured = integer_at(json_array_get(repeats, 0), "bytes");
	int64_t node = integer_at(point, "params/target_memory/numa_node");

	if (size <= 0 || warmup < 0 || measured < 0 || json_array_size(repeats) != 1 ||
	    warmup > BYTES_MAX / size)
		return -EINVAL;
	traffic->bytes = measured + warmup * size;
	traffic->numa_node = node <= INT_MAX ? (int)node : -1;
	return 0;
}

int probe_traffic_read(const char *text, size_t len, struct probe_traffic *traffic)
{
	json_t *document = json_loadb(text, len, 0, NULL);
	const json_t *points = json_object_get(document, "points");
	int ret = -EINVAL;

	if (path_is(document, "schema", "rpma-bench/1") &&
	    path_is(document, "run/status", "complete") && json_array_size(points) == 1)
		ret = read_point(json_array_get(points, 0), traffic);
	json_decref(document);
	return ret;
}

#define BENCH	       "rpma-bench"
#define RUN_TIMEOUT_MS 60000
#define END_TIMEOUT_MS 5000
#define OUTPUT_MAX     (4 << 20)
#define ERRORS_MAX     512

/* A pipe of the child, and what came out of it. Of more than fits the begin or the end is kept. */
struct stream {
	int fd;
	bool keep_end;
	char *text;
	size_t len, room;
};

struct child {
	pid_t pid;
	struct stream output, errors;
};

/* --- where it is ------------------------------------------------------------- */

static bool is_there(char path[PATH_MAX], const char *folder, int len, const char *name)
{
	return snprintf(path, PATH_MAX, "%.*s/%s", len, folder, name) < PATH_MAX &&
	       access(path, X_OK) == 0;
}

bool probe_find_bench(char path[PATH_MAX])
{
	const char *list = getenv("PATH");
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	if (strrchr(self, '/') != NULL) {
		int folder = (int)(strrchr(self, '/') - self);

		if (is_there(path, self, folder, BENCH) ||
		    is_there(path, self, folder, "../" BENCH "/" BENCH))
			return true;
	}
	while (list != NULL && *list != '\0') {
		int folder = (int)strcspn(list, ":");

		if (folder > 0 && is_there(path, list, folder, BENCH))
			return true;
		list += folder;
		list += *list == ':';
	}
	return false;
}

/* --- its life ---------------------------------------------------------------- */

static __attribute__((noreturn)) void become(const char *bench, const char *device,
					     enum probe_load load, pid_t parent, int output,
					     int errors)
{
	char *argv[] = {(char *)(uintptr_t)BENCH,
			"local",
			"--device",
			(char *)(uintptr_t)device,
			"--target=dram:1M",
			"--test=bw",
			"--op=write",
			"--persist=none",
			load == PROBE_FULL ? "--size=64K" : "--size=2K",
			load == PROBE_FULL ? "--depth=16" : "--depth=1",
			"--warmup=200ms",
			"--duration=1s",
			"--repeats=1",
			"--quiet",
			"--json",
			NULL};

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	if (getppid() == parent && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(errors, STDERR_FILENO) >= 0)
		execv(bench, argv);
	_exit(127);
}

static int start(struct child *child, const char *bench, const char *device, enum probe_load load)
{
	pid_t parent = getpid();
	int output[2], errors[2];

	if (pipe2(output, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(errors, O_CLOEXEC) != 0) {
		close(output[0]);
		close(output[1]);
		return -EMFILE;
	}
	child->pid = fork();
	if (child->pid == 0)
		become(bench, device, load, parent, output[1], errors[1]);
	close(output[1]);
	close(errors[1]);
	child->output.fd = output[0];
	child->errors.fd = errors[0];
	if (child->pid < 0)
		return -errno;
	/* here too: a signal to the group must not come before there is one */
	setpgid(child->pid, child->pid);
	return 0;
}

static void take(struct stream *stream)
{
	char spare[4096];
	size_t room;
	ssize_t got;

	if (stream->keep_end && stream->len == stream->room) {
		stream->len /= 2;
		memmove(stream->text, stream->text + stream->room - stream->len, stream->len);
	}
	room = stream->room - stream->len;
	got = read(stream->fd, room > 0 ? stream->text + stream->len : spare,
		   room > 0 ? room : sizeof(spare));
	if (got < 0 && errno == EINTR)
		return;
	if (got > 0) {
		stream->len += room > 0 ? (size_t)got : 0;
		return;
	}
	close(stream->fd);
	stream->fd = -1;
}

/* Until it closed both pipes: 0, -ETIMEDOUT, or -ECANCELED after a signal. */
static int listen_to(struct child *child)
{
	int64_t end = monotonic_ms() + RUN_TIMEOUT_MS;

	while (child->output.fd >= 0 || child->errors.fd >= 0) {
		struct pollfd fds[] = {{child->output.fd, POLLIN, 0},
				       {child->errors.fd, POLLIN, 0},
				       {cli_stop_fd(), POLLIN, 0}};
		int64_t left = end - monotonic_ms();
		int ret = left > 0 ? poll(fds, 3, (int)left) : 0;

		if (ret < 0 && errno != EINTR)
			return -errno;
		if (fds[2].revents != 0 || cli_signal != 0)
			return -ECANCELED;
		if (ret == 0)
			return -ETIMEDOUT;
		if (fds[0].revents != 0)
			take(&child->output);
		if (fds[1].revents != 0)
			take(&child->errors);
	}
	return 0;
}

/* True once it is reaped. */
static bool reap(pid_t pid, int timeout_ms, int *status)
{
	const struct timespec step = {.tv_nsec = 10000000};
	int64_t end = monotonic_ms() + timeout_ms;

	for (;;) {
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid || (got < 0 && errno == ECHILD))
			return true;
		if (monotonic_ms() >= end)
			return false;
		nanosleep(&step, NULL);
	}
}

/* The exit status, or -1. Its server ends with it. */
static int end(struct child *child, bool now)
{
	int status = -1;

	if (child->pid <= 0)
		return -1;
	if (now)
		kill(-child->pid, SIGTERM);
	if (!reap(child->pid, END_TIMEOUT_MS, &status)) {
		kill(-child->pid, SIGKILL);
		(void)reap(child->pid, END_TIMEOUT_MS, &status);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The last line of what it said, without the name of the program. */
static void say_why(const struct child *child, int ret, int status, char *why, size_t size)
{
	char *text = child->errors.text, *line;
	size_t len = child->errors.len;

	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	line = strrchr(text, '\n');
	line = line != NULL ? line + 1 : text;
	if (strncmp(line, BENCH ": ", strlen(BENCH ": ")) == 0)
		line += strlen(BENCH ": ");
	if (ret == -ETIMEDOUT)
		snprintf(why, size, BENCH " did not end within %d s", RUN_TIMEOUT_MS / 1000);
	else if (ret != 0)
		snprintf(why, size, "cannot run " BENCH ": %s", strerror(-ret));
	else if (line[0] != '\0')
		snprintf(why, size, BENCH " failed: %s", line);
	else
		snprintf(why, size, BENCH " ended with %d and without a result", status);
}

int probe_traffic_run(const char *bench, const char *device, enum probe_load load,
		      struct probe_traffic *traffic, char *why, size_t size)
{
	char errors[ERRORS_MAX + 1] = "";
	struct child child = {
		.output = {-1, false, malloc(OUTPUT_MAX), 0, OUTPUT_MAX},
		.errors = {-1, true, errors, 0, ERRORS_MAX},
	};
	int status = -1;
	int ret = child.output.text != NULL ? start(&child, bench, device, load) : -ENOMEM;

	if (ret == 0)
		ret = listen_to(&child);
	status = end(&child, ret != 0);
	if (child.output.fd >= 0)
		close(child.output.fd);
	if (child.errors.fd >= 0)
		close(child.errors.fd);
	if (ret != 0 || status != 0 ||
	    probe_traffic_read(child.output.text, child.output.len, traffic) != 0) {
		say_why(&child, ret, status, why, size);
		ret = ret != 0 ? ret : -EIO;
	}
	free(child.output.text);
	return ret;
}
