/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_unix.c -- what two processes of a host say to each other at an admission socket
 * (admission.h).
 *
 * It carries whole messages (SOCK_SEQPACKET). A process that connects sends its handshake message,
 * whose token it may show over TCP later, and gets ours with the segment and the kick. Once it
 * confirms that it uses them it is a client: it gets our comp channels, and its end of the
 * socket shows that it is alive, as ours does to it. The kernel vouches for the user and the
 * pid of both ends (SO_PEERCRED).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "admission.h"
#include "peer_private.h"
#include "soft_device/process/process.h"

#define MESSAGE_MAX (WIRE_HEADER_BYTES + WIRE_HANDSHAKE_BYTES)

/* One message as it came; fds not taken are closed by message_drop(). */
struct message {
	unsigned char bytes[MESSAGE_MAX];
	struct wire_header header;
	int fds[UNIX_FDS_MAX];
	unsigned fds_count;
};

/* A peer that connected to us. */
struct client {
	int fd;
	struct watch *watch;
	struct timer *limit; /* until the peer uses our segment */
	struct peer_key key; /* identity 0: no handshake message has come */
	struct subscriber *subscriber;
};

/* Our connection to a peer. */
struct unix_connection {
	int fd;
	struct watch *watch;
	unsigned char token[WIRE_TOKEN_BYTES]; /* that it may expect of us over TCP */
	struct wire_handshake other;
	pid_t pid;
	struct segment *segment; /* until adopted */
	int kick_fd;		 /* until adopted */
	struct peer *peer;	 /* once adopted */
	void (*done)(void *arg, const char *step, int error);
	void *arg;
};

static void message_drop(struct message *message)
{
	for (unsigned i = 0; i < message->fds_count; i++)
		close(message->fds[i]);
	message->fds_count = 0;
}

static void take_fds(struct message *message, struct msghdr *header)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(header);

	for (; control != NULL; control = CMSG_NXTHDR(header, control)) {
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;
		message->fds_count = (unsigned)((control->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(message->fds, CMSG_DATA(control), message->fds_count * sizeof(int));
	}
}

/* 1 and a message of ours; 0, there is none yet; -EPIPE at the end, -EPROTO, or -errno. */
static int message_get(int fd, struct message *message)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(UNIX_FDS_MAX * sizeof(int))];
	} control;
	struct iovec part = {message->bytes, sizeof(message->bytes)};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.room,
				.msg_controllen = sizeof(control.room)};
	ssize_t got;

	message->fds_count = 0;
	got = TEMP_FAILURE_RETRY(recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (got == 0)
		return -EPIPE;
	take_fds(message, &header);
	if ((header.msg_flags & MSG_TRUNC) == 0 && got >= WIRE_HEADER_BYTES &&
	    wire_get_header(message->bytes, &message->header) == 0 &&
	    (size_t)got == WIRE_HEADER_BYTES + (size_t)message->header.length)
		return 1;
	message_drop(message);
	return -EPROTO;
}

int unix_send(int fd, const void *bytes, size_t length, const int *fds, unsigned count)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(UNIX_FDS_MAX * sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)bytes, length};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (count > 0) {
		message.msg_control = control.room;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void client_free(struct client *client)
{
	channels_unsubscribe(client->subscriber);
	agent_unwatch(client->watch);
	agent_timer_delete(client->limit);
	close(client->fd);
	free(client);
}

static void client_late(void *arg)
{
	client_free(arg);
}

static int client_handshake(struct client *client, const struct message *message)
{
	const int fds[UNIX_FDS_MAX] = {process_current->segment_fd, agent_kick_fd()};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	struct wire_handshake handshake, reply = *peer_handshake();
	struct admitted admitted;

	if (wire_get_handshake(message->bytes + WIRE_HEADER_BYTES, message->header.length,
			       &handshake) != 0)
		return -EPROTO;
	if (getrandom(reply.token, sizeof(reply.token), 0) != sizeof(reply.token))
		return -EIO;
	client->key.identity = handshake.identity;
	admitted.identity = handshake.identity;
	admitted.pid = client->key.pid;
	memcpy(admitted.token, handshake.token, sizeof(admitted.token));
	memcpy(admitted.answer, reply.token, sizeof(admitted.answer));
	admission_add(&admitted);
	wire_put_handshake(bytes, &reply);
	/* the socket is fresh: there is room for it */
	return unix_send(client->fd, bytes, sizeof(bytes), fds,
			 reply.layout != 0 ? UNIX_FDS_MAX : 0);
}

static int client_handle(struct client *client, const struct message *message)
{
	if (client->key.identity == 0 && message->header.kind == WIRE_HANDSHAKE)
		return client_handshake(client, message);
	if (client->key.identity == 0 || client->subscriber != NULL ||
	    message->header.kind != WIRE_CARRY)
		return -EPROTO;
	agent_timer_delete(client->limit);
	client->limit = NULL;
	client->subscriber = channels_subscribe(client->fd, client->watch);
	return client->subscriber != NULL ? 0 : -ENOMEM;
}

static void client_ready(void *arg, uint32_t events)
{
	struct client *client = arg;
	struct message message;
	struct peer_key key = {0};
	int result = 1;

	if ((events & EPOLLOUT) != 0 && client->subscriber != NULL)
		channels_flush(client->subscriber);
	while (result > 0) {
		result = message_get(client->fd, &message);
		if (result > 0) {
			const int error = client_handle(client, &message);

			message_drop(&message);
			result = error != 0 ? error : 1;
		}
	}
	if (result == 0)
		return;
	if (client->subscriber != NULL)
		key = client->key;
	client_free(client);
	if (key.identity != 0)
		peer_user->process_gone(&key);
}

void unix_accepted(int fd, pid_t pid)
{
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL) {
		close(fd);
		return;
	}
	client->fd = fd;
	client->key.pid = pid;
	client->limit = agent_timer_new(client_late, client);
	client->watch = agent_watch(fd, EPOLLIN, client_ready, client);
	if (client->limit == NULL || client->watch == NULL) {
		client_free(client);
		return;
	}
	agent_timer_set(client->limit, process_now_ns() + LINK_LIMIT_NS);
	client_ready(client, EPOLLIN);
}

void unix_close(struct unix_connection *connection)
{
	if (connection == NULL)
		return;
	agent_unwatch(connection->watch);
	close(connection->fd);
	if (connection->segment != NULL)
		segment_unmap(connection->segment);
	if (connection->kick_fd >= 0)
		close(connection->kick_fd);
	free(connection);
}

/* May we read and write its memory? Its identity is read, and written as it is. */
static int try_memory(const struct unix_connection *connection, const char **step)
{
	uint64_t value = 0;
	const struct iovec here = {&value, sizeof(value)};
	const struct iovec there = {(void *)(uintptr_t)connection->other.probe, sizeof(value)};
	ssize_t moved;

	*step = "process_vm_readv";
	moved = process_vm_readv(connection->pid, &here, 1, &there, 1, 0);
	if (moved < 0)
		return -errno;
	if (moved != sizeof(value) || value != connection->other.identity)
		return -ESRCH;
	*step = "process_vm_writev";
	moved = process_vm_writev(connection->pid, &here, 1, &there, 1, 0);
	if (moved < 0)
		return -errno;
	return moved == sizeof(value) ? 0 : -ESRCH;
}

/* Its segment, if it shows one and we may reach its memory. -EREMOTE: *step is the whole reason. */
static int share(struct unix_connection *connection, struct message *message, const char **step)
{
	const char *distance = local_handshake_distance(peer_handshake(), &connection->other);
	int result;

	if (distance != NULL) {
		*step = distance;
		return -EREMOTE;
	}
	*step = "its segment";
	if (message->fds_count != UNIX_FDS_MAX)
		return -EPROTO;
	result = segment_map(message->fds[0], &connection->segment);
	if (result != 0)
		return result;
	if (connection->segment->identity != connection->other.identity)
		return -EPROTO;
	connection->kick_fd = message->fds[1];
	close(message->fds[0]);
	message->fds_count = 0;
	return try_memory(connection, step);
}

/* Before the connection is adopted: the one message is that of the handshake. */
static void take_handshake(struct unix_connection *connection)
{
	const char *step = NULL;
	struct message message;
	int result = message_get(connection->fd, &message);

	if (result == 0)
		return;
	if (result > 0) {
		if (message.header.kind == WIRE_HANDSHAKE &&
		    wire_get_handshake(message.bytes + WIRE_HEADER_BYTES, message.header.length,
				       &connection->other) == 0)
			result = share(connection, &message, &step);
		else
			result = -EPROTO;
		message_drop(&message);
	}
	agent_watch_change(connection->watch, 0); /* it is said once */
	connection->done(connection->arg, step, result);
}

static int take_message(struct unix_connection *connection, struct message *message)
{
	struct channel_table *table = connection->peer->private->channels;
	struct wire_channel channel;
	int fd = -1;

	if ((message->header.kind != WIRE_CHANNEL_NEW &&
	     message->header.kind != WIRE_CHANNEL_GONE) ||
	    wire_get_channel(message->bytes + WIRE_HEADER_BYTES, message->header.length,
			     &channel) != 0)
		return -EPROTO;
	if (message->header.kind == WIRE_CHANNEL_GONE) {
		channel_table_remove(table, &channel);
		return 0;
	}
	if (message->fds_count == 1) {
		fd = message->fds[0];
		message->fds_count = 0;
	}
	channel_table_add(table, &channel, fd);
	return 0;
}

static void connection_ready(void *arg, uint32_t events)
{
	struct unix_connection *connection = arg;
	struct message message;
	int result = 1;

	(void)events;
	if (connection->peer == NULL) {
		take_handshake(connection);
		return;
	}
	while (result > 0) {
		result = message_get(connection->fd, &message);
		if (result > 0) {
			const int error = take_message(connection, &message);

			message_drop(&message);
			result = error != 0 ? error : 1;
		}
	}
	if (result != 0)
		peer_lost(connection->peer);
}

struct unix_connection *unix_connect(const union ibv_gid *gid, uint16_t port,
				     void (*done)(void *arg, const char *step, int error),
				     void *arg)
{
	struct unix_connection *connection = calloc(1, sizeof(*connection));
	struct wire_handshake handshake = *peer_handshake();
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	int result = -EIO;

	if (connection == NULL)
		return NULL;
	connection->kick_fd = -1;
	connection->done = done;
	connection->arg = arg;
	if (getrandom(connection->token, sizeof(connection->token), 0) == sizeof(connection->token))
		result = admission_connect(gid, port, &connection->pid);
	connection->fd = result;
	if (result >= 0) {
		memcpy(handshake.token, connection->token, sizeof(handshake.token));
		wire_put_handshake(bytes, &handshake);
		result = unix_send(connection->fd, bytes, sizeof(bytes), NULL, 0);
	}
	if (result == 0)
		connection->watch =
			agent_watch(connection->fd, EPOLLIN, connection_ready, connection);
	if (connection->watch != NULL)
		return connection;
	if (result == 0)
		result = -errno;
	if (connection->fd >= 0)
		close(connection->fd);
	free(connection);
	errno = -result;
	return NULL;
}

const struct wire_handshake *unix_handshake(const struct unix_connection *connection)
{
	return &connection->other;
}

const unsigned char *unix_token(const struct unix_connection *connection)
{
	return connection->token;
}

pid_t unix_pid(const struct unix_connection *connection)
{
	return connection->pid;
}

int unix_adopt(struct unix_connection *connection, struct peer *peer)
{
	unsigned char bytes[WIRE_HEADER_BYTES];
	int result;

	connection->peer = peer;
	peer->private->connection = connection;
	peer->private->channels = channel_table_new();
	if (peer->private->channels == NULL)
		return -ENOMEM;
	peer->segment = connection->segment;
	peer->memory = connection->pid;
	peer->private->kick_fd = connection->kick_fd;
	connection->segment = NULL;
	connection->kick_fd = -1;
	wire_put_header(bytes, WIRE_CARRY, 0);
	result = unix_send(connection->fd, bytes, sizeof(bytes), NULL, 0);
	return result != 0 ? result : agent_watch_change(connection->watch, EPOLLIN);
}
