/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_attempt.c -- finding out who is at an address, and how to reach it.
 *
 *	connect (TCP) > hello both ways > a process we know already: done
 *		> of this host: its unix socket > its memory tried: local
 *		> otherwise this very connection carries the operations: tcp
 *
 * All of it is on the agent's thread, nothing blocks, and a timer bounds the whole. A process comes
 * to be in the table in one step, so two attempts that meet the same one end with one peer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "peer_private.h"
#include "soft_device/process/process.h"
#include "stream.h"

#define REASON_MAX 128

struct finding {
	struct attempt *attempt;
	struct stream stream;
	struct watch *watch;
	struct timer *limit;
	bool connected;
	bool met; /* the hello has come */
	struct wire_hello other;
	struct unix_link *link;
};

/* Ends the attempt. The peer's reference is consumed. */
static void finish(struct finding *finding, struct peer *peer, int error)
{
	struct attempt *attempt = finding->attempt;

	unix_close(finding->link);
	agent_unwatch(finding->watch);
	agent_timer_delete(finding->limit);
	stream_close(&finding->stream);
	free(finding);
	if (peer != NULL)
		peer_found_at(peer, &attempt->to, attempt->port);
	peer_attempt_done(attempt, peer, error);
}

/* The address and who is there, for the lines that people read. */
static const char *describe(const struct finding *finding, char text[128])
{
	const union ibv_gid *gid = &finding->attempt->to;
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	char address[INET6_ADDRSTRLEN] = "";

	if (memcmp(gid->raw, mapped, sizeof(mapped)) == 0)
		inet_ntop(AF_INET, gid->raw + 12, address, sizeof(address));
	else
		inet_ntop(AF_INET6, gid->raw, address, sizeof(address));
	if (finding->met)
		snprintf(text, 128, "%s port %u (pid %u)", address, finding->attempt->port,
			 finding->other.pid);
	else
		snprintf(text, 128, "%s port %u", address, finding->attempt->port);
	return text;
}

static void fail(struct finding *finding, int error)
{
	char who[128];

	if (error == -EACCES)
		process_warn("%s: refused, it belongs to another user", describe(finding, who));
	else if (error == -EMFILE || error == -ENFILE)
		process_warn("%s: no link: %s; raise the limit of open files (ulimit -n)",
			     describe(finding, who), strerror(-error));
	else
		process_verbose("%s: no link: %s", describe(finding, who), strerror(-error));
	finish(finding, NULL, error);
}

static void late(void *arg)
{
	fail(arg, -ETIMEDOUT);
}

static void use_tcp(struct finding *finding, const char *reason)
{
	unsigned char bytes[WIRE_HEADER_BYTES];
	const struct iovec part = {bytes, sizeof(bytes)};
	struct peer *peer;
	char who[128];
	int result;

	if (process_current->options.transport == SOFT_TRANSPORT_LOCAL) {
		process_warn("%s: transport:local is not possible (%s)", describe(finding, who),
			     reason);
		finish(finding, NULL, -ENOTSUP);
		return;
	}
	wire_put_header(bytes, WIRE_CARRY, 0);
	result = stream_send(&finding->stream, &part, 1);
	if (result != 0) {
		fail(finding, result);
		return;
	}
	agent_unwatch(finding->watch);
	finding->watch = NULL;
	peer = peer_add(PEER_TCP, finding->other.identity);
	if (peer == NULL) {
		fail(finding, -ENOMEM);
		return;
	}
	peer->tcp = tcp_open(peer, &finding->stream);
	if (peer->tcp == NULL) {
		result = -errno;
		peer_lost(peer);
		peer_put(peer);
		fail(finding, result);
		return;
	}
	process_verbose("%s: tcp (%s)", describe(finding, who), reason);
	finish(finding, peer, 0);
}

static void use_local(struct finding *finding)
{
	struct peer *peer = peer_add(PEER_LOCAL, finding->other.identity);
	char who[128];
	int result;

	if (peer == NULL) {
		fail(finding, -ENOMEM);
		return;
	}
	result = unix_adopt(finding->link, peer);
	finding->link = NULL;
	if (result != 0) {
		peer_lost(peer);
		peer_put(peer);
		fail(finding, result);
		return;
	}
	process_verbose("%s: local (process_vm)", describe(finding, who));
	finish(finding, peer, 0);
}

/* Another attempt may have met the same process in the meantime. */
static bool use_known(struct finding *finding)
{
	struct peer *peer = peer_with_identity(finding->other.identity);

	if (peer != NULL)
		finish(finding, peer, 0);
	return peer != NULL;
}

static void unix_done(void *arg, const char *step, int error)
{
	struct finding *finding = arg;
	char reason[REASON_MAX];

	if (error == 0) {
		if (!use_known(finding))
			use_local(finding);
		return;
	}
	unix_close(finding->link);
	finding->link = NULL;
	if (error == -EACCES) {
		fail(finding, error);
		return;
	}
	snprintf(reason, sizeof(reason), "%s: %s", step, strerror(-error));
	if (!use_known(finding))
		use_tcp(finding, reason);
}

static void choose(struct finding *finding)
{
	const char *distance = hello_distance(peer_hello(), &finding->other);
	const char *step;

	if (use_known(finding))
		return;
	if (process_current->options.transport == SOFT_TRANSPORT_TCP)
		distance = "asked for";
	if (distance != NULL) {
		use_tcp(finding, distance);
		return;
	}
	agent_watch_change(finding->watch, 0);
	finding->link = unix_connect(&finding->other, unix_done, finding, &step);
	if (finding->link == NULL)
		unix_done(finding, step, -errno);
}

/* 1 and the hello; 0, it is not whole yet; -EPROTO: not one of ours; or -errno. */
static int take_hello(struct finding *finding)
{
	const unsigned char *body;
	struct wire_header header = {0};
	int result = stream_receive(&finding->stream);

	if (result == 0)
		result = stream_next(&finding->stream, &header, &body);
	if (result == -EPIPE)
		return -EPROTO;
	if (result != 1)
		return result;
	if (header.kind != WIRE_HELLO || wire_get_hello(body, header.length, &finding->other) != 0)
		return -EPROTO;
	finding->met = true;
	return 1;
}

static void receive_hello(struct finding *finding)
{
	const int result = take_hello(finding);

	if (result == 0)
		return;
	if (result < 0)
		fail(finding, result);
	else if (finding->other.welcome == WIRE_OTHER_USER ||
		 hello_of_other_user(peer_hello(), &finding->other))
		fail(finding, -EACCES);
	else
		choose(finding);
}

/*
 * Nothing listens at the port, which is an ephemeral one: the kernel gave it to
 * us, and TCP let us connect to ourselves.
 */
static bool met_itself(int fd)
{
	struct sockaddr_storage own, other;
	socklen_t own_bytes = sizeof(own), other_bytes = sizeof(other);

	return getsockname(fd, (struct sockaddr *)&own, &own_bytes) == 0 &&
	       getpeername(fd, (struct sockaddr *)&other, &other_bytes) == 0 &&
	       own_bytes == other_bytes && memcmp(&own, &other, own_bytes) == 0;
}

static int send_hello(struct finding *finding)
{
	unsigned char bytes[WIRE_HELLO_MESSAGE];
	const struct iovec part = {bytes, sizeof(bytes)};
	socklen_t length = sizeof(int);
	int error = 0;

	if (getsockopt(finding->stream.fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		return -errno;
	if (error != 0)
		return -error;
	if (met_itself(finding->stream.fd))
		return -ECONNREFUSED;
	finding->connected = true;
	wire_put_hello(bytes, peer_hello());
	error = stream_send(&finding->stream, &part, 1);
	if (error == 0)
		error = agent_watch_change(finding->watch, EPOLLIN);
	return error;
}

static void finding_ready(void *arg, uint32_t events)
{
	struct finding *finding = arg;
	int result;

	(void)events;
	if (finding->link != NULL) {
		/* its end, while we look at its unix socket: EPOLLHUP comes unasked */
		fail(finding, -ECONNRESET);
	} else if (finding->connected) {
		receive_hello(finding);
	} else {
		result = send_hello(finding);
		if (result != 0)
			fail(finding, result);
	}
}

/* From the address of the QP's own device, where the kernel can route that. */
static int start_connect(struct finding *finding)
{
	const struct attempt *attempt = finding->attempt;
	struct sockaddr_storage from, to;
	const socklen_t from_bytes = gid_to_sockaddr(&attempt->from, 0, 0, &from);
	const socklen_t to_bytes = gid_to_sockaddr(&attempt->to, attempt->port, 0, &to);
	const int on = 1;
	const int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	stream_open(&finding->stream, fd);
	tcp_watch_host(fd);
	if (from.ss_family == to.ss_family) {
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
		if (bind(fd, (struct sockaddr *)&from, from_bytes) != 0)
			return -errno;
	}
	if (connect(fd, (struct sockaddr *)&to, to_bytes) != 0 && errno != EINPROGRESS)
		return -errno;
	finding->watch = agent_watch(fd, EPOLLOUT, finding_ready, finding);
	return finding->watch != NULL ? 0 : -errno;
}

void attempt_start(void *arg)
{
	struct attempt *attempt = arg;
	struct finding *finding = calloc(1, sizeof(*finding));
	int result;

	if (finding == NULL) {
		peer_attempt_done(attempt, NULL, -ENOMEM);
		return;
	}
	finding->attempt = attempt;
	stream_open(&finding->stream, -1);
	finding->limit = agent_timer_new(late, finding);
	result = finding->limit != NULL ? start_connect(finding) : -ENOMEM;
	if (result != 0) {
		fail(finding, result);
		return;
	}
	agent_timer_set(finding->limit, process_now_ns() + LINK_LIMIT_NS);
}
