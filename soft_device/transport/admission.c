/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * admission.c -- see admission.h.
 *
 * A token is sent before the TCP connection is made. So when a connection shows one that is not
 * known yet, it waits in the queue of such a socket, and taking what is there is enough: no thread
 * has to wait.
 */
#include "admission.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "peer_private.h"
#include "soft_device/process/process.h"

#define PAUSE_NS     UINT64_C(100000000)   /* a socket's, when no file descriptor is left */
#define ADMITTED_MAX 4096		   /* the oldest makes room */
#define ADMITTED_NS  UINT64_C(70000000000) /* longer than a client of the CM waits */
#define DRAINED_MAX  1024		   /* at a time */
#define REFUSED_TOLD 10			   /* lines about each kind; the sum comes at exit */

struct admission {
	struct admission *next;
	int fd;
	struct watch *watch;
	struct timer *resume;
};

static struct {
	pthread_mutex_t lock;
	struct admission *first;
	struct admission *inherited; /* the parent's, before a fork(); here for leak checkers */
} admissions = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct admitted admitted_list[ADMITTED_MAX]; /* the agent's; identity 0: free */
static unsigned next_admitted;

static _Atomic uint64_t refused[REFUSED_KINDS];

static socklen_t make_name(const union ibv_gid *gid, uint16_t port, struct sockaddr_un *addr)
{
	int length = snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "rpma-soft-");

	addr->sun_family = AF_UNIX;
	addr->sun_path[0] = 0; /* abstract */
	for (unsigned i = 0; i < sizeof(gid->raw); i++)
		length += snprintf(addr->sun_path + 1 + length, 3, "%02x", gid->raw[i]);
	length += snprintf(addr->sun_path + 1 + length, 7, "-%u", port);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* True if the four numbers of the line are this one: real, effective, saved and file system's. */
static bool are_all(const char *ids, uid_t uid)
{
	char *end;

	for (int i = 0; i < 4; i++, ids = end)
		if (strtoul(ids, &end, 10) != uid || end == ids)
			return false;
	return true;
}

/* Its ids are others, or hidden from us; or there is no such process any more. */
static int not_all(pid_t pid)
{
	return kill(pid, 0) != 0 && errno == ESRCH ? -ESRCH : -EACCES;
}

/*
 * 0: all four user ids of the process are this one; -EACCES: not so, as of a set-user-ID program
 * that another user started; -ESRCH: it has ended; or -errno. 0 where there is no /proc to ask, as
 * the kernel has told the effective one.
 */
static int check_all_ids(pid_t pid, uid_t uid)
{
	char path[32], line[256];
	bool all = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (file == NULL && (errno == EMFILE || errno == ENFILE))
		return -errno;
	if (file == NULL)
		return access("/proc/self/status", R_OK) != 0 ? 0 : not_all(pid);
	while (!all && fgets(line, sizeof(line), file) != NULL)
		all = strncmp(line, "Uid:", 4) == 0 && are_all(line + 4, uid);
	fclose(file);
	return all ? 0 : not_all(pid);
}

/*
 * 0; -EACCES: the other end is another user's; -ESRCH: its process has ended; or -errno. *pid may
 * be 0: not in our namespace.
 */
static int check_user(int fd, pid_t *pid)
{
	struct ucred credentials;
	socklen_t bytes = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
		return -errno;
	*pid = credentials.pid;
	if (credentials.uid != geteuid())
		return -EACCES;
	return *pid == 0 ? 0 : check_all_ids(*pid, credentials.uid);
}

/* --- processes that come --- */

static void enter(int fd)
{
	pid_t pid = 0;
	const int result = check_user(fd, &pid);

	if (result == 0) {
		unix_accepted(fd, pid);
		return;
	}
	if (result == -EACCES)
		admission_refuse(REFUSED_USER, NULL);
	else
		process_warn_files(result, "a process cannot be let in");
	close(fd);
}

static void admission_resume(void *arg)
{
	struct admission *admission = arg;

	agent_watch_change(admission->watch, EPOLLIN);
}

static void admission_ready(void *arg, uint32_t events)
{
	struct admission *admission = arg;
	const int fd = accept4(admission->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd >= 0) {
		enter(fd);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		/* level-triggered epoll would spin on it */
		agent_watch_change(admission->watch, 0);
		agent_timer_set(admission->resume, process_now_ns() + PAUSE_NS);
	}
}

/* A connection that waits at some socket, or -1. */
static int accept_any(void)
{
	int fd = -1;

	pthread_mutex_lock(&admissions.lock);
	for (const struct admission *admission = admissions.first; admission != NULL && fd < 0;
	     admission = admission->next)
		fd = accept4(admission->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	pthread_mutex_unlock(&admissions.lock);
	return fd;
}

static bool find_admitted(const unsigned char token[WIRE_TOKEN_BYTES], struct admitted *found)
{
	const uint64_t now_ns = process_now_ns();

	for (unsigned i = 0; i < ADMITTED_MAX; i++) {
		struct admitted *admitted = &admitted_list[i];

		if (admitted->identity == 0 || admitted->until_ns < now_ns ||
		    memcmp(admitted->token, token, WIRE_TOKEN_BYTES) != 0)
			continue;
		*found = *admitted;
		memset(admitted, 0, sizeof(*admitted));
		return true;
	}
	return false;
}

bool admission_take(const unsigned char token[WIRE_TOKEN_BYTES], struct admitted *admitted)
{
	if (find_admitted(token, admitted))
		return true;
	for (unsigned i = 0; i < DRAINED_MAX; i++) {
		const int fd = accept_any();

		if (fd < 0)
			break;
		enter(fd);
	}
	return find_admitted(token, admitted);
}

void admission_add(const struct admitted *admitted)
{
	admitted_list[next_admitted] = *admitted;
	admitted_list[next_admitted].until_ns = process_now_ns() + ADMITTED_NS;
	next_admitted = (next_admitted + 1) % ADMITTED_MAX;
}

/* --- opening and closing --- */

static int admission_listen(struct admission *admission, const union ibv_gid *gid, uint16_t port)
{
	struct sockaddr_un addr;
	const socklen_t bytes = make_name(gid, port, &addr);

	admission->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (admission->fd < 0 || bind(admission->fd, (struct sockaddr *)&addr, bytes) != 0 ||
	    listen(admission->fd, SOMAXCONN) != 0)
		return -errno;
	admission->resume = agent_timer_new(admission_resume, admission);
	if (admission->resume == NULL)
		return -ENOMEM;
	admission->watch = agent_watch(admission->fd, EPOLLIN, admission_ready, admission);
	return admission->watch != NULL ? 0 : -errno;
}

static void admission_free(struct admission *admission)
{
	agent_unwatch(admission->watch);
	agent_timer_delete(admission->resume);
	if (admission->fd >= 0)
		close(admission->fd);
	free(admission);
}

struct admission *admission_open(const union ibv_gid *gid, uint16_t port)
{
	struct admission *admission = calloc(1, sizeof(*admission));
	int result;

	if (admission == NULL)
		return NULL;
	result = admission_listen(admission, gid, port);
	if (result != 0) {
		admission_free(admission);
		errno = -result;
		return NULL;
	}
	pthread_mutex_lock(&admissions.lock);
	admission->next = admissions.first;
	admissions.first = admission;
	pthread_mutex_unlock(&admissions.lock);
	return admission;
}

void admission_close(struct admission *admission)
{
	struct admission **at = &admissions.first;

	if (admission == NULL)
		return;
	pthread_mutex_lock(&admissions.lock);
	while (*at != NULL && *at != admission)
		at = &(*at)->next;
	if (*at == NULL) { /* the parent's: see forked() */
		pthread_mutex_unlock(&admissions.lock);
		return;
	}
	*at = admission->next;
	pthread_mutex_unlock(&admissions.lock);
	admission_free(admission);
}

/* --- connecting --- */

int admission_connect(const union ibv_gid *gid, uint16_t port, pid_t *pid)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr;
	const socklen_t bytes = make_name(gid, port, &addr);
	int result = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, bytes) != 0)
		result = -errno;
	else
		result = check_user(fd, pid);
	if (result == 0)
		return fd;
	close(fd);
	return result == -ESRCH ? -ECONNREFUSED : result; /* what it listened to ends with it */
}

int admission_leave_token(const union ibv_gid *gid, uint16_t port,
			  const unsigned char token[WIRE_TOKEN_BYTES])
{
	static const union ibv_gid any[] = {{.raw = {[10] = 0xff, [11] = 0xff}}, {.raw = {0}}};
	struct wire_handshake handshake = {.identity = process_current->segment->identity};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	pid_t pid;
	int fd = admission_connect(gid, port, &pid), wide;

	for (unsigned i = 0; i < 2 && (fd == -ECONNREFUSED || fd == -EACCES); i++) {
		wide = admission_connect(&any[i], port, &pid);
		if (wide != -ECONNREFUSED)
			fd = wide;
	}
	if (fd < 0)
		return fd;
	memcpy(handshake.token, token, WIRE_TOKEN_BYTES);
	wire_put_handshake(bytes, &handshake);
	wide = send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
	close(fd); /* what was sent stays there to be read */
	return wide;
}

/* --- those refused --- */

static const char *const described[REFUSED_KINDS] = {
	[REFUSED_USER] = "a process of another user",
	[REFUSED_UNPROVEN] = "a connection of this host that does not prove its user",
	[REFUSED_REQUEST] = "a request of a process that its queue pair is not connected to",
	[REFUSED_CROWD] = "a connection, as there are too many",
	[REFUSED_SECRET] = "a process of another host that does not prove to have the secret",
};

void admission_refuse(enum refused kind, const union ibv_gid *from)
{
	char address[INET6_ADDRSTRLEN] = "";
	const uint64_t before = atomic_fetch_add(&refused[kind], 1);

	if (before >= REFUSED_TOLD)
		return;
	if (from != NULL)
		inet_ntop(AF_INET6, from->raw, address, sizeof(address));
	process_verbose("refused: %s%s%s", described[kind], from != NULL ? ", from " : "", address);
}

static void leave(void)
{
	for (unsigned i = 0; i < REFUSED_KINDS; i++) {
		const uint64_t count = atomic_load(&refused[i]);

		if (count > 0)
			process_verbose("refused %llu times: %s", (unsigned long long)count,
					described[i]);
	}
}

static void forked(void)
{
	if (admissions.first != NULL)
		admissions.inherited = admissions.first; /* were watched, so they are closed */
	admissions.first = NULL;
	memset(admitted_list, 0, sizeof(admitted_list));
	for (unsigned i = 0; i < REFUSED_KINDS; i++)
		atomic_store(&refused[i], 0);
}

const struct process_part admission_part = {
	.lock = &admissions.lock, .forked = forked, .leave = leave};
