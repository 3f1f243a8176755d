/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_private.h -- what the files peer*.c share.
 *
 *	peer.c		the table of peers and who waits for one
 *	peer_attempt.c	finding out who is at an address: connect, handshake, choose
 *	admission.c		the unix socket beside each listener: whose process connects
 *	peer_unix.c	what two processes of a host say there, both ends: they share segments
 *	peer_listen.c	the listeners, and the processes that connect
 *	doorbell.c		comp channels, ours and the peers'
 *	tcp.c, tcp_serve.c	operations on a peer over TCP, and those of peers on us
 *
 * All sockets are the agent's.
 */
#pragma once

#include <stdint.h>

#include "local_handshake.h"
#include "peer.h"
#include "soft_device/process/agent.h"
#include "wire.h"

#define LINK_LIMIT_NS UINT64_C(20000000000) /* from the start of linking to its result */
/* From accept until the connection has its purpose. */
#define HANDSHAKE_LIMIT_NS UINT64_C(10000000000)

struct unix_connection;
struct attempt;
struct channel_table;

struct address {
	struct address *next;
	union ibv_gid from; /* our own */
	union ibv_gid gid;
	uint16_t port;
};

struct peer_private {
	struct peer *next;	   /* in the table; peers lock */
	unsigned references;	   /* peers lock; one is the table's while the peer is not gone */
	struct address *addresses; /* peers lock */
	struct unix_connection *connection; /* PEER_LOCAL: its liveness; the agent's */
	int kick_fd;			    /* PEER_LOCAL */
	struct channel_table *channels;
};

/* peer.c */

/* A new peer in the table, or NULL; the reference returned is the caller's. Agent only. */
struct peer *peer_add(enum peer_transport transport, const struct peer_key *key);
/* The live peer with this key, and a reference; NULL. */
struct peer *peer_with_key(const struct peer_key *key);
/* It is found at the attempt's address from now on. Without memory it is not. */
void peer_found_at(struct peer *peer, const struct attempt *attempt);
/* Its process has ended: tells the QPs and takes it out of the table. Agent only. */
void peer_lost(struct peer *peer);
/* An attempt has its result: tells all who wait for it. The peer's reference is consumed. */
void peer_attempt_done(struct attempt *attempt, struct peer *peer, int error);

/*
 * Shared by the two connections with a process, ours to it and its to us: an
 * answer must not be overtaken by what its reader does next, see wire_request.after.
 */
struct service;
struct exchange {
	struct exchange *next; /* peers lock */
	struct peer_key key;
	unsigned users;		/* peers lock */
	_Atomic uint32_t begun; /* requests of it that we execute, or have executed */
	struct tcp *tcp;	/* our connection, while it lasts; the agent's */
	/* its connection, if it waits for answers on ours; set by the agent */
	struct service *_Atomic waiting;
};
struct exchange *exchange_get(const struct peer_key *key); /* NULL: no memory */
void exchange_put(struct exchange *exchange);		   /* NULL is fine */

/* peer_attempt.c */

struct peer_wait {
	struct peer_wait *next;	 /* in the attempt's list */
	struct attempt *attempt; /* NULL: the result was delivered, or is being */
	void (*linked)(void *arg, struct peer *peer, int error);
	void *arg;
	bool running;
	bool cancelled; /* from inside linked(): freed when that returns */
};

/* Finding out who is at an address. The first two are under the peers lock. */
struct attempt {
	struct attempt *next;
	struct peer_wait *waits;
	union ibv_gid from;
	union ibv_gid to;
	uint16_t port;
};

/* `arg` is the attempt. Runs on the agent; ends in peer_attempt_done(), which frees it. */
void attempt_start(void *arg);

/* peer_unix.c */

/* Sends a message, with up to UNIX_FDS_MAX fds, where the socket takes it now. 0 or -errno. */
#define UNIX_FDS_MAX 2
int unix_send(int fd, const void *bytes, size_t length, const int *fds, unsigned count);

/* A process of the same user, with this pid, has connected to an admission socket. The fd is taken
 * over. */
void unix_accepted(int fd, pid_t pid);

/*
 * Connects to the admission socket of a process, maps its segment and tries its memory. NULL with
 * errno, as admission_connect(); else done() is called once. The error is 0, or -errno; with a
 * `step`, which failed, the handshake message has come all the same: TCP is left. -EREMOTE: `step`
 * is the reason. Agent only.
 */
struct unix_connection *unix_connect(const union ibv_gid *gid, uint16_t port,
				     void (*done)(void *arg, const char *step, int error),
				     void *arg);
/* The peer's. */
const struct wire_handshake *unix_handshake(const struct unix_connection *connection);
/* Ours, to be shown over TCP. */
const unsigned char *unix_token(const struct unix_connection *connection);
pid_t unix_pid(const struct unix_connection *connection);
/*
 * Makes it the peer's: fills segment, memory and kick fd; its end is the peer's from now on. Also
 * when it fails: -errno.
 */
int unix_adopt(struct unix_connection *connection, struct peer *peer);
/* Closes it; the mapping and the kick fd go unless they were adopted. NULL is fine. */
void unix_close(struct unix_connection *connection);

/* peer_listen.c */

/* This process's handshake message, made with the first listener. */
const struct wire_handshake *peer_handshake(void);
/* The address is of one of our own listeners. */
bool peer_listens_at(const union ibv_gid *gid, uint16_t port);

/* doorbell.c */

struct subscriber;
/* A process that maps us: it gets our channels, over `fd`, which stays the caller's. NULL: no
 * memory. */
struct subscriber *channels_subscribe(int fd, struct watch *watch);
void channels_unsubscribe(struct subscriber *subscriber);
/* The socket takes more. */
void channels_flush(struct subscriber *subscriber);

/* A peer announces a channel. The fd is taken over; -1: it got lost. */
struct channel_table *channel_table_new(void);
void channel_table_free(struct channel_table *table);
int channel_table_add(struct channel_table *table, const struct wire_channel *channel, int fd);
void channel_table_remove(struct channel_table *table, const struct wire_channel *channel);

/* tcp.c */

/* The stream is taken over when it succeeds. Its end is the peer's. NULL with errno. */
struct stream;
struct tcp *tcp_open(struct peer *peer, struct stream *stream);
void tcp_close(struct tcp *tcp); /* agent only; tcp_request() fails from now on */
void tcp_free(struct tcp *tcp);	 /* NULL is fine */
/*
 * True when the answers to our requests up to `after` have come, as far as the socket has them.
 * Agent only.
 */
bool tcp_has_answers(struct tcp *tcp, uint32_t after);
/* SO_KEEPALIVE and the like: a host that vanishes is noticed within 3 s. */
void tcp_watch_host(int fd);

/* tcp_serve.c */

/* Executes what comes on it until it ends; takes the fd over. -errno: it is the caller's. */
int tcp_serve(int fd, const struct peer_key *key);
void tcp_serve_forked(void);
/* Answers have come, or none will: goes on with what waited for them. */
void tcp_serve_resume(struct exchange *exchange);
