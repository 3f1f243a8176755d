/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local.c -- starts a server in a process of its own and measures it.
 *
 * The child is forked before anything touches RDMA, says which port it got,
 * and dies with its parent. Both look up the device: what one of them opened
 * would not outlive the fork.
 */
#include "local.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../common/device.h"
#include "../common/result.h"
#include "../common/soft.h"
#include "client.h"
#include "server.h"

#define TOOL		 "rpma-bench"
#define START_TIMEOUT_MS 600000 /* it touches every page of its target first */
#define END_TIMEOUT_MS	 5000

/* The address both sides meet at: one of the device. */
static int find_device(const struct options *options, struct device *device)
{
	struct sysroot root;
	int ret = 0;

	if (sysroot_open(&root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot open /: %s", strerror(errno));
	/* without a name any address of the software device will do */
	if (soft_active() && (options->device == NULL || strcmp(options->device, "soft") == 0))
		*device = (struct device){.kind = DEVICE_SOFT, .address = "127.0.0.1"};
	else
		ret = device_choose(&root, options->device, device);
	sysroot_close(&root);
	return ret;
}

static int enter_device(const struct options *options)
{
	struct sysroot root;
	int ret;

	if (sysroot_open(&root, "/") != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot open /: %s", strerror(errno));
	ret = soft_enter(&root, options->device, options->cli.quiet, options->argv);
	sysroot_close(&root);
	return ret;
}

static int find_and_serve(const struct options *options, int ready_fd)
{
	struct server_ready failed = {0};
	struct options o = *options;
	struct device device;

	o.port = 0;
	o.once = true;
	o.cli.quiet = true;
	if (find_device(options, &device) == 0) {
		o.listen = device.address;
		return server_run(&o, ready_fd);
	}
	failed.failure = *failure_get();
	if (write(ready_fd, &failed, sizeof(failed)) != sizeof(failed))
		return EXIT_INTERNAL;
	return (int)failed.failure.code;
}

static __attribute__((noreturn)) void serve(const struct options *options, pid_t parent,
					    int ready_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* the parent's eventfd is shared: its signal would end both at once */
	if (getppid() != parent || cli_catch_signals() != 0)
		_exit(EXIT_INTERNAL);
	/* Ctrl-C is for the parent: it ends this process in good order */
	signal(SIGINT, SIG_IGN);
	_exit(find_and_serve(options, ready_fd));
}

static int start_server(const struct options *options, pid_t *child, int *ready_fd)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe(ends) != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot make a pipe: %s",
				   strerror(errno));
	*child = fork();
	if (*child == 0) {
		close(ends[0]);
		serve(options, parent, ends[1]);
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return failure_set(EXIT_INTERNAL, "start", "cannot fork: %s", strerror(errno));
	}
	*ready_fd = ends[0];
	return 0;
}

static int wait_ready(int ready_fd, struct server_ready *ready)
{
	struct pollfd fds[] = {{ready_fd, POLLIN, 0}, {cli_stop_fd(), POLLIN, 0}};
	int ret = poll(fds, 2, START_TIMEOUT_MS);

	if (cli_signal != 0)
		return -ECANCELED;
	if (ret <= 0)
		return failure_set(EXIT_RUN_FAILED, "start", "the server did not start within %d s",
				   START_TIMEOUT_MS / 1000);
	if (read(ready_fd, ready, sizeof(*ready)) != sizeof(*ready))
		return failure_set(EXIT_RUN_FAILED, "start", "the server died while it started");
	if (ready->port != 0)
		return 0;
	*failure_get() = ready->failure;
	return -EIO;
}

static void pause_ms(long ms)
{
	const struct timespec span = {0, ms * 1000000};

	nanosleep(&span, NULL);
}

/* It ends by itself once the client has gone; else it is told to, then made to. */
static void end_server(pid_t child)
{
	for (int waited_ms = 0; waited_ms < 2 * END_TIMEOUT_MS; waited_ms += 10) {
		if (waitpid(child, NULL, WNOHANG) != 0)
			return;
		if (waited_ms == END_TIMEOUT_MS || (waited_ms == 0 && cli_signal != 0))
			kill(child, SIGTERM);
		pause_ms(10);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* All that can fail before there is a client. */
static int start(const struct options *options, pid_t *child, int *ready_fd)
{
	int ret = options->output != NULL ? result_check_writable(options->output) : 0;

	if (ret == 0)
		ret = enter_device(options);
	return ret ? ret : start_server(options, child, ready_fd);
}

int local_run(const struct options *options)
{
	struct options o = *options;
	struct server_ready ready = {0};
	struct device device;
	pid_t child = -1;
	int ready_fd = -1, ret, code;

	if (start(options, &child, &ready_fd) != 0)
		return cli_report_failure(TOOL);
	ret = wait_ready(ready_fd, &ready);
	close(ready_fd);
	if (ret == 0)
		ret = find_device(options, &device);
	if (ret == 0) {
		o.host = device.address;
		o.port = ready.port;
		code = client_run(&o);
	} else {
		kill(child, SIGTERM);
		code = ret == -ECANCELED ? 128 + cli_signal : cli_report_failure(TOOL);
	}
	end_server(child);
	return code;
}
