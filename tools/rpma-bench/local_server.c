/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_server.c -- the server's process: forked early, told later, ended in
 * good order if it can be.
 */
#include "local_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/rdma/soft.h"

#define START_TIMEOUT_MS 600000 /* it touches every page of its target first */
#define END_TIMEOUT_MS	 5000

int server_child_enter(const struct options *options)
{
	return soft_enter(&sysroot_machine, options->device, options->cli.quiet, options->argv);
}

int server_child_device(const struct options *options, struct device *device)
{
	/* without a name any address of the software device will do */
	if (!soft_active() || (options->device != NULL && strcmp(options->device, "soft") != 0))
		return device_choose(&sysroot_machine, options->device, device);
	*device = (struct device){.kind = DEVICE_SOFT, .address = "127.0.0.1"};
	return 0;
}

static int find_and_serve(const struct options *options, const struct server_order *order,
			  int ready_fd)
{
	struct server_ready failed = {0};
	struct options o = *options;
	struct device device;

	o.port = 0;
	o.once = order->once;
	o.cores_taken = order->cores_taken;
	o.cli.quiet = true;
	if (server_child_device(options, &device) == 0) {
		o.listen = device.address;
		return server_run(&o, ready_fd);
	}
	failed.failure = *failure_get();
	if (write(ready_fd, &failed, sizeof(failed)) != sizeof(failed))
		return EXIT_INTERNAL;
	return (int)failed.failure.code;
}

static __attribute__((noreturn)) void serve(const struct options *options, pid_t parent,
					    int order_fd, int ready_fd)
{
	struct server_order order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* the parent's eventfd is shared: its signal would end both at once */
	if (getppid() != parent || cli_catch_signals() != 0)
		_exit(EXIT_INTERNAL);
	/* Ctrl-C is for the parent: it ends this process in good order */
	signal(SIGINT, SIG_IGN);
	/* an end in place of an order: no server is wanted here */
	if (read(order_fd, &order, sizeof(order)) != sizeof(order))
		_exit(EXIT_GOOD);
	_exit(find_and_serve(options, &order, ready_fd));
}

static void close_pair(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

int server_child_fork(struct server_child *child, const struct options *options)
{
	pid_t parent = getpid(), pid;
	int order[2], ready[2];

	*child = (struct server_child){0};
	if (pipe(order) != 0)
		return failure_call("start", errno, "make a pipe");
	if (pipe(ready) != 0) {
		close_pair(order);
		return failure_call("start", errno, "make a pipe");
	}
	pid = fork();
	if (pid == 0) {
		close(order[1]);
		close(ready[0]);
		serve(options, parent, order[0], ready[1]);
	}
	if (pid < 0) {
		close_pair(order);
		close_pair(ready);
		return failure_call("start", errno, "start a process");
	}
	close(order[0]);
	close(ready[1]);
	*child = (struct server_child){pid, order[1], ready[0]};
	return 0;
}

int server_child_start(struct server_child *child, const struct server_order *order, uint16_t *port)
{
	struct pollfd fds[] = {{child->ready_fd, POLLIN, 0}, {cli_stop_fd(), POLLIN, 0}};
	struct server_ready ready;
	int ret;

	if (write(child->order_fd, order, sizeof(*order)) != sizeof(*order))
		return failure_set(EXIT_RUN_FAILED, "start", "the server died before it started");
	ret = poll(fds, 2, START_TIMEOUT_MS);
	if (cli_signal != 0)
		return -ECANCELED;
	if (ret <= 0)
		return failure_set(EXIT_RUN_FAILED, "start", "the server did not start within %d s",
				   START_TIMEOUT_MS / 1000);
	if (read(child->ready_fd, &ready, sizeof(ready)) != sizeof(ready))
		return failure_set(EXIT_RUN_FAILED, "start", "the server died while it started");
	*port = ready.port;
	if (ready.port != 0)
		return 0;
	*failure_get() = ready.failure;
	return -EIO;
}

static void pause_ms(long ms)
{
	const struct timespec span = {0, ms * 1000000};

	nanosleep(&span, NULL);
}

/* It ends by itself once the client has gone; else it is told to, then made to. */
static void await_end(pid_t pid, bool now)
{
	for (int waited_ms = 0; waited_ms < 2 * END_TIMEOUT_MS; waited_ms += 10) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		if (waited_ms == END_TIMEOUT_MS || (waited_ms == 0 && now))
			kill(pid, SIGTERM);
		pause_ms(10);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void server_child_end(struct server_child *child, bool now)
{
	if (child->pid == 0)
		return;
	close(child->order_fd);
	close(child->ready_fd);
	await_end(child->pid, now);
	child->pid = 0;
}
