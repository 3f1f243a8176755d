/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_attempt.c -- finding out who is at an address, and how to reach it.
 *
 *	of this host: its admission socket, where the kernel vouches for both ends
 *		> a process we know already: done
 *		> its segment is mapped and its memory tried: local
 *		> otherwise connect (TCP), show the token, carry the operations: tcp
 *	of another host: connect (TCP) > handshake.h > carry the operations: tcp
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
#include "admission.h"
#include "handshake.h"
#include "peer_private.h"
#include "soft_device/process/process.h"
#include "stream.h"

#define REASON_MAX 128

#define AGAIN_NS   UINT64_C(5000000) /* before the next try at a socket where too many wait */

struct finding {
	struct attempt *attempt;
	struct stream stream;
	struct watch *watch;
	struct timer *limit;
	uint64_t deadline_ns;
	bool local; /* the process is of this host: the kernel vouches for it */
	bool connected;
	char reason[REASON_MAX]; /* why over TCP */
	struct unix_connection *connection;
	struct wire_handshake own;   /* as said over TCP, to a process of this host */
	struct wire_handshake other; /* as it said, over the unix socket or TCP */
	struct handshake handshake;  /* with a process of another host */
};

/* Ends the attempt. The peer's reference is consumed. */
static void finish(struct finding *finding, struct peer *peer, int error)
{
	struct attempt *attempt = finding->attempt;

	unix_close(finding->connection);
	agent_unwatch(finding->watch);
	agent_timer_delete(finding->limit);
	stream_close(&finding->stream);
	free(finding);
	if (peer != NULL)
		peer_found_at(peer, attempt);
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
	if (finding->connection != NULL)
		snprintf(text, 128, "%s port %u (pid %d)", address, finding->attempt->port,
			 unix_pid(finding->connection));
	else
		snprintf(text, 128, "%s port %u", address, finding->attempt->port);
	return text;
}

static void fail(struct finding *finding, int error)
{
	char who[128];

	if (error == -EPIPE) /* the other end is closed, which a send meets before a receive */
		error = -ECONNRESET;
	if (handshake_describe(error) != NULL)
		process_warn("%s: refused, %s", describe(finding, who), handshake_describe(error));
	else if (error == -EACCES)
		process_warn("%s: refused, it belongs to another user", describe(finding, who));
	else if (!process_warn_files(error, "%s: no connection", describe(finding, who)))
		process_verbose("%s: no connection: %s", describe(finding, who), strerror(-error));
	finish(finding, NULL, error);
}

/* The identity of a process of another host counts for its address alone. */
static int make_key(const struct finding *finding, struct peer_key *key)
{
	memset(key, 0, sizeof(*key));
	key->identity = finding->other.identity;
	if (finding->connection != NULL)
		key->pid = unix_pid(finding->connection);
	return finding->local ? 0 : gid_of_socket(finding->stream.fd, &key->own, &key->remote);
}

/* Another attempt may have met the same process in the meantime. */
static bool use_known(struct finding *finding)
{
	struct peer_key key;
	struct peer *peer = NULL;

	if (make_key(finding, &key) == 0)
		peer = peer_with_key(&key);
	if (peer != NULL)
		finish(finding, peer, 0);
	return peer != NULL;
}

static int carry(struct finding *finding, struct peer **peer)
{
	unsigned char bytes[WIRE_HEADER_BYTES];
	const struct iovec part = {bytes, sizeof(bytes)};
	struct peer_key key;
	int result = make_key(finding, &key);

	wire_put_header(bytes, WIRE_CARRY, 0);
	if (result == 0)
		result = stream_send(&finding->stream, &part, 1);
	if (result != 0)
		return result;
	agent_unwatch(finding->watch);
	finding->watch = NULL;
	*peer = peer_add(PEER_TCP, &key);
	if (*peer == NULL)
		return -ENOMEM;
	(*peer)->tcp = tcp_open(*peer, &finding->stream);
	if ((*peer)->tcp != NULL)
		return 0;
	result = -errno;
	peer_lost(*peer);
	peer_put(*peer);
	return result;
}

/* The process at the other end is known. */
static void use_tcp(struct finding *finding)
{
	struct peer *peer = NULL;
	char who[128];
	int result;

	if (use_known(finding))
		return;
	result = carry(finding, &peer);
	if (result != 0) {
		fail(finding, result);
		return;
	}
	process_verbose("%s: tcp (%s)", describe(finding, who), finding->reason);
	finish(finding, peer, 0);
}

static void use_local(struct finding *finding)
{
	const struct peer_key key = {.identity = finding->other.identity,
				     .pid = unix_pid(finding->connection)};
	struct peer *peer = peer_add(PEER_LOCAL, &key);
	char who[128];
	int result;

	if (peer == NULL) {
		fail(finding, -ENOMEM);
		return;
	}
	describe(finding, who);
	result = unix_adopt(finding->connection, peer);
	finding->connection = NULL;
	if (result != 0) {
		peer_lost(peer);
		peer_put(peer);
		fail(finding, result);
		return;
	}
	process_verbose("%s: local (process_vm)", who);
	finish(finding, peer, 0);
}

/* At the other end is the process of the unix socket, or one that took its port when it ended. */
static int take_handshake(struct finding *finding, const unsigned char *body, size_t length)
{
	const struct wire_handshake *met = &finding->other;
	struct wire_handshake handshake;

	if (wire_get_handshake(body, length, &handshake) != 0)
		return -EPROTO;
	if (handshake.identity != met->identity ||
	    memcmp(handshake.token, met->token, sizeof(handshake.token)) != 0)
		return -ECONNREFUSED;
	return 1;
}

static int shake_hands(struct finding *finding, const unsigned char *body, size_t length)
{
	unsigned char bytes[HANDSHAKE_MESSAGE];
	struct iovec answer = {.iov_base = bytes};
	const int result =
		handshake_take(&finding->handshake, body, length, bytes, &answer.iov_len);

	if (result > 0)
		finding->other = finding->handshake.first[HANDSHAKE_SERVER];
	if (result < 0 || answer.iov_len == 0)
		return result;
	return stream_send(&finding->stream, &answer, 1);
}

/* 1: it is known who is there; 0: not yet; -EPROTO: not one of ours; or -errno. */
static int take_message(struct finding *finding)
{
	const unsigned char *body = NULL;
	struct wire_header header = {0};
	int result = stream_receive(&finding->stream);

	if (result == 0)
		result = stream_next(&finding->stream, &header, &body);
	if (result == -EPIPE) /* it hangs up on a proof that it does not take */
		return finding->handshake.met ? -EKEYREJECTED : -EPROTO;
	if (result != 1)
		return result;
	if (header.kind != handshake_expects(&finding->handshake))
		return -EPROTO;
	return finding->local ? take_handshake(finding, body, header.length)
			      : shake_hands(finding, body, header.length);
}

static void receive(struct finding *finding)
{
	const int result = take_message(finding);

	if (result < 0)
		fail(finding, result);
	else if (result > 0)
		use_tcp(finding);
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

static int put_handshake(struct finding *finding, unsigned char bytes[WIRE_HANDSHAKE_MESSAGE])
{
	union ibv_gid own, remote;
	int error = 0;

	if (finding->local) {
		wire_put_handshake(bytes, &finding->own);
		return 0;
	}
	error = gid_of_socket(finding->stream.fd, &own, &remote);
	if (error == 0)
		error = handshake_begin(&finding->handshake, HANDSHAKE_CLIENT,
					finding->own.identity, &own, &remote);
	handshake_put_first(&finding->handshake, bytes);
	return error;
}

static int send_handshake(struct finding *finding)
{
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
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
	error = put_handshake(finding, bytes);
	if (error == 0)
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
	if (finding->connected) {
		receive(finding);
	} else {
		result = send_handshake(finding);
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

static void connect_tcp(struct finding *finding)
{
	char who[128];
	int result;

	if (process_current->options.transport == SOFT_TRANSPORT_LOCAL) {
		process_warn("%s: transport:local is not possible (%s)", describe(finding, who),
			     finding->reason);
		finish(finding, NULL, -ENOTSUP);
		return;
	}
	result = start_connect(finding);
	if (result != 0)
		fail(finding, result);
}

/* The result of unix_connect(). */
static void met(void *arg, const char *step, int error)
{
	struct finding *finding = arg;

	if (error != 0 && step == NULL) {
		fail(finding, error);
		return;
	}
	finding->other = *unix_handshake(finding->connection);
	if (use_known(finding))
		return;
	if (error == 0) {
		use_local(finding);
		return;
	}
	/* its memory is gone; where TCP is left, its listener tells whether it has ended */
	if (error == -ESRCH && process_current->options.transport == SOFT_TRANSPORT_LOCAL) {
		fail(finding, -ECONNRESET);
		return;
	}
	if (error == -EREMOTE)
		snprintf(finding->reason, sizeof(finding->reason), "%s", step);
	else
		snprintf(finding->reason, sizeof(finding->reason), "%s: %s", step,
			 strerror(-error));
	memcpy(finding->own.token, unix_token(finding->connection), sizeof(finding->own.token));
	connect_tcp(finding);
}

static void try_unix_socket(struct finding *finding)
{
	const struct attempt *attempt = finding->attempt;
	const uint64_t again_ns = process_now_ns() + AGAIN_NS;

	finding->connection = unix_connect(&attempt->to, attempt->port, met, finding);
	if (finding->connection == NULL && errno != EAGAIN)
		fail(finding, -errno);
	else
		agent_timer_set(finding->limit,
				finding->connection == NULL && again_ns < finding->deadline_ns
					? again_ns
					: finding->deadline_ns);
}

static void expired(void *arg)
{
	struct finding *finding = arg;

	if (process_now_ns() >= finding->deadline_ns)
		fail(finding, -ETIMEDOUT);
	else
		try_unix_socket(finding);
}

void attempt_start(void *arg)
{
	struct attempt *attempt = arg;
	struct finding *finding = calloc(1, sizeof(*finding));

	if (finding == NULL) {
		peer_attempt_done(attempt, NULL, -ENOMEM);
		return;
	}
	finding->attempt = attempt;
	stream_open(&finding->stream, -1);
	finding->limit = agent_timer_new(expired, finding);
	if (finding->limit == NULL) {
		fail(finding, -ENOMEM);
		return;
	}
	finding->deadline_ns = process_now_ns() + LINK_LIMIT_NS;
	agent_timer_set(finding->limit, finding->deadline_ns);
	finding->own.identity = peer_handshake()->identity;
	finding->local = gid_is_of_this_host(&attempt->to);
	if (finding->local) {
		try_unix_socket(finding);
		return;
	}
	snprintf(finding->reason, sizeof(finding->reason), "other host or network namespace");
	connect_tcp(finding);
}
