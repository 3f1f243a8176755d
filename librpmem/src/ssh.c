/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ssh.c -- starts ssh, and waits for its end.
 *
 * Its stdin is a socket, because writing to one can be told to raise no SIGPIPE.
 * The child is known by a pidfd where there are any: a process id could be another
 * process's by the time we signal it, if the program collected our child.
 */
#include "ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "settings.h"

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

#define SSH_TERM_MS	 1000 /* from SIGTERM to SIGKILL */
#define WITHOUT_PIDFD_MS 10   /* between two looks, before Linux 5.3 and under valgrind 3.19 */

/* The child's ends of its stdin, stdout and stderr. */
struct stdio {
	int fds[3];
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_stdio(struct stdio *stdio)
{
	for (int i = 0; i < 3; i++)
		close_fd(&stdio->fds[i]);
}

static void close_all(struct ssh *ssh)
{
	close_fd(&ssh->in);
	close_fd(&ssh->out);
	close_fd(&ssh->err);
}

/* A program without stdin has 0 free: the child's ends must not be where they go to. */
static int lift(int *fd)
{
	int lifted;

	if (*fd > STDERR_FILENO)
		return 0;
	lifted = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (lifted < 0)
		return -errno;
	close(*fd);
	*fd = lifted;
	return 0;
}

static int open_pair(bool sockets, int *ours, int *childs, bool child_reads)
{
	int ends[2], error;

	error = sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
			: pipe2(ends, O_CLOEXEC);
	if (error != 0)
		return -errno;
	*ours = ends[child_reads ? 1 : 0];
	*childs = ends[child_reads ? 0 : 1];
	error = lift(ours);
	return error != 0 ? error : lift(childs);
}

static int open_stdio(struct ssh *ssh, struct stdio *stdio)
{
	int ret = open_pair(true, &ssh->in, &stdio->fds[0], true);

	if (ret == 0)
		ret = open_pair(false, &ssh->out, &stdio->fds[1], false);
	if (ret == 0)
		ret = open_pair(false, &ssh->err, &stdio->fds[2], false);
	if (ret != 0)
		ssh_failed("cannot open the descriptors of ssh: %s", strerror(-ret));
	return ret;
}

/* An errno; 0: it runs. */
static int spawn(pid_t *pid, char *const argv[], const struct stdio *stdio)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t set;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attributes, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attributes, &set);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	error = 0;
	for (int i = 0; i < 3 && error == 0; i++)
		error = posix_spawn_file_actions_adddup2(&actions, stdio->fds[i], i);
	if (error == 0)
		error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	if (error == 0)
		error = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error;
}

static int run(pid_t *pid, const struct ssh_target *target, const char *command,
	       const struct stdio *stdio)
{
	char login[SSH_USER_MAX + SSH_HOST_MAX];
	char *argv[11];
	size_t n = 0;
	int error;

	snprintf(login, sizeof(login), "%s%s%s", target->user, target->user[0] != '\0' ? "@" : "",
		 target->host);
	argv[n++] = (char *)settings_ssh();
	if (target->port[0] != '\0') {
		argv[n++] = (char *)"-p";
		argv[n++] = (char *)target->port;
	}
	argv[n++] = (char *)"-T";
	if (!target->is_ipv6)
		argv[n++] = (char *)"-4";
	argv[n++] = (char *)"-oBatchMode=yes";
	/* it ends within 40 s of a silent target: a lane waits as long as its session lasts */
	argv[n++] = (char *)"-oServerAliveInterval=10";
	argv[n++] = (char *)"-oServerAliveCountMax=3";
	argv[n++] = login;
	argv[n++] = (char *)command;
	argv[n] = NULL;
	error = spawn(pid, argv, stdio);
	if (error == 0)
		return 0;
	ssh_failed("cannot start the ssh client '%.200s': %s", argv[0], strerror(error));
	return error == ENOMEM || error == EAGAIN || error == EMFILE ? -error : -ECONNRESET;
}

int ssh_start(struct ssh *ssh, const struct ssh_target *target, const char *command)
{
	struct ssh started = {0, -1, -1, -1, -1, -ECHILD};
	struct stdio stdio = {{-1, -1, -1}};
	int ret;

	ret = open_stdio(&started, &stdio);
	if (ret == 0)
		ret = run(&started.pid, target, command, &stdio);
	close_stdio(&stdio);
	if (ret != 0) {
		close_all(&started);
		return ret;
	}
	started.pidfd = (int)syscall(SYS_pidfd_open, started.pid, 0);
	if (started.pidfd < 0 && errno == ESRCH) /* the program was first to collect it */
		started.pid = 0;
	*ssh = started;
	return 0;
}

static bool collect(struct ssh *ssh)
{
	siginfo_t info = {0};
	int ret;

	if (ssh->pid == 0)
		return true;
	ret = ssh->pidfd >= 0 ? waitid(P_PIDFD, (id_t)ssh->pidfd, &info, WEXITED | WNOHANG)
			      : waitid(P_PID, (id_t)ssh->pid, &info, WEXITED | WNOHANG);
	if (ret == 0 && info.si_pid == 0)
		return false;
	if (ret == 0)
		ssh->status =
			info.si_code == CLD_EXITED ? info.si_status : SSH_KILLED + info.si_status;
	close_fd(&ssh->pidfd);
	ssh->pid = 0;
	return true;
}

bool ssh_has_ended(struct ssh *ssh, int timeout_ms)
{
	struct pollfd pollfd = {.fd = ssh->pidfd, .events = POLLIN};
	int64_t end_ms = monotonic_ms() + timeout_ms, left_ms;

	while (!collect(ssh)) {
		left_ms = end_ms - monotonic_ms();
		if (left_ms <= 0)
			return false;
		if (ssh->pidfd < 0 && left_ms > WITHOUT_PIDFD_MS)
			left_ms = WITHOUT_PIDFD_MS;
		poll(&pollfd, 1, (int)left_ms); /* no descriptor: it sleeps */
	}
	return true;
}

/* Only while it has not been collected: its process id may be another's then. */
static void send_signal(const struct ssh *ssh, int signal)
{
	if (ssh->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, ssh->pidfd, signal, NULL, 0);
	else
		kill(ssh->pid, signal);
}

void ssh_close_in(struct ssh *ssh)
{
	if (ssh->in >= 0)
		shutdown(ssh->in, SHUT_WR); /* a child of the program may have inherited it */
	close_fd(&ssh->in);
}

void ssh_end(struct ssh *ssh, int timeout_ms)
{
	close_all(ssh);
	if (ssh_has_ended(ssh, timeout_ms))
		return;
	send_signal(ssh, SIGTERM);
	if (ssh_has_ended(ssh, SSH_TERM_MS))
		return;
	send_signal(ssh, SIGKILL);
	if (!ssh_has_ended(ssh, SSH_TERM_MS)) /* it hangs in the kernel */
		close_fd(&ssh->pidfd);
}

void ssh_quote(const char *word, char *quoted)
{
	*quoted++ = '\'';
	for (; *word != '\0'; word++) {
		if (*word == '\'') {
			memcpy(quoted, "'\\'", 3);
			quoted += 3;
		}
		*quoted++ = *word;
	}
	*quoted++ = '\'';
	*quoted = '\0';
}
