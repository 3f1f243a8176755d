/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.h -- the processes this one exchanges operations with, and how each is reached.
 *
 * A peer is found by an address, the GID and the port in a QPN. The agent connects, both say
 * who they are (wire.h), and then either the peer's segment is mapped and its memory is reached by
 * process_vm_* (local), or a TCP connection carries the operations. One peer object serves all QPs
 * towards that process, in this direction; operations of the peer towards us come on
 * a connection of its own. Peers are never freed before the process ends or the peer is gone and no
 * QP holds it (counted references).
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "request.h"
#include "soft_device/process/segment.h"
#include "soft_device/process/target_memory.h"

enum peer_transport {
	PEER_SELF,  /* this process: its own segment and memory */
	PEER_LOCAL, /* another process (or this one, forced): mapped segment, process_vm_* */
	PEER_TCP,   /* no segment here; tcp.h carries operations */
};

extern const struct process_part peer_part, listen_part, admission_part, doorbell_part;

/*
 * Key of a process: its identity, and as that is its own claim, what it does not choose: between
 * hosts both addresses, on this host the pid that the kernel tells. Two processes with the same
 * claim have two keys.
 */
struct peer_key {
	uint64_t identity; /* segment.identity */
	pid_t pid;	   /* SO_PEERCRED; 0: of another host, or of another pid namespace */
	union ibv_gid own;
	union ibv_gid remote;
};
bool peer_key_equal(const struct peer_key *a, const struct peer_key *b);

struct tcp;

struct peer {
	enum peer_transport transport;
	struct segment *segment; /* NULL for PEER_TCP */
	target_process memory;	 /* 0 for PEER_SELF */
	struct peer_key key;
	struct tcp *tcp;   /* PEER_TCP */
	_Atomic bool gone; /* its process has ended or cannot be reached any more */
	/* private to peer.c from here: kick fd, channel fds, sockets, references */
	struct peer_private *private;
};

/*
 * How a QP gets its peer. The QP side calls peer_link() when it goes to RTR; the result comes on
 * the agent's thread as linked(arg, peer, error): a peer with a reference for the caller and 0, or
 * NULL and -errno (ECONNREFUSED: no such process, EHOSTUNREACH, ETIMEDOUT, EACCES: another user,
 * EPROTO: no soft device or another version, ENOTSUP: it takes TCP and transport:local was asked
 * for, ENOKEY, EKEYREJECTED: of another host, see handshake_take()). When the peer is known, or
 * there is no memory, the call comes before peer_link() returns NULL. Else the wait is the caller's
 * until peer_link_cancel(), which comes once, after the call as well.
 */
struct peer_wait;
struct peer_wait *peer_link(const union ibv_gid *from, const union ibv_gid *to, uint16_t port,
			    void (*linked)(void *arg, struct peer *peer, int error), void *arg);
/*
 * The same for callers that hold a lock that linked() takes: a peer that is known is returned, with
 * a reference and no call. Else NULL and *wait, which is NULL where there is no memory.
 */
struct peer *peer_find(const union ibv_gid *from, const union ibv_gid *to, uint16_t port,
		       void (*linked)(void *arg, struct peer *peer, int error), void *arg,
		       struct peer_wait **wait);
/*
 * No call of linked() comes after it has returned: it waits for one that runs, unless it is called
 * by the agent, so callers hold no lock that linked() takes. NULL is fine.
 */
void peer_link_cancel(struct peer_wait *wait);
void peer_put(struct peer *peer);

/*
 * Never waits: rings the comp channel of a CQ in the peer's segment by the peer's
 * eventfd if it is known here, else leaves RAISE_CQ_NOTIFY in the CQ and kicks the peer's
 * agent. For PEER_SELF as well.
 */
void peer_ring(struct peer *peer, struct shared_cq *cq);

/* Raises bits in an object of the peer's segment and kicks its agent. */
void peer_raise(struct peer *peer, _Atomic uint32_t *raise, uint32_t bits);
/* The agent of the peer looks at what was raised. */
void peer_kick(struct peer *peer);

/*
 * The listener for the links of 256 QPs of one device, on its address; the
 * segment's block is filled. It stays as long as the process. Callers hold the objects lock.
 * 0 or -errno.
 */
int peer_listen(const union ibv_gid *gid, uint32_t scope_id, unsigned block);

/* Own channels: their eventfds go to all peers that have our segment mapped. */
void peer_channel_new(uint32_t channel_slot, uint32_t channel_id, int fd);
void peer_channel_delete(uint32_t channel_slot, uint32_t channel_id);

/*
 * Calls of the transport to its user, the queue pairs, who begin before it. All on the agent's
 * thread, no lock held but for answered(): see tcp_poll().
 */
struct peer_user {
	/* Our QP `qpn` of device `gid` has yet to find the process at its other end. */
	bool (*linking)(struct peer *self, const union ibv_gid *gid, uint32_t qpn);
	/*
	 * Executes a request that came over TCP, from the process of this identity, for our QP
	 * `qpn` of device `gid`. *known: the QP is connected to that process.
	 */
	struct outcome (*execute)(struct peer *self, uint64_t identity, const union ibv_gid *gid,
				  uint32_t qpn, const struct request *request,
				  const struct local_memory *local, bool *known);
	/* The answer to a tcp_request() of our QP; data are a read's bytes, request.length of them.
	 */
	void (*answered)(uint32_t qpn, const union ibv_gid *gid, uint64_t ticket,
			 const struct outcome *outcome, const void *data, size_t bytes);
	/* tcp_request() to this peer has room again. */
	void (*resume)(const struct peer *peer);
	/* Every QP with this peer: error and flush. */
	void (*peer_gone)(const struct peer *peer);
	/* A process that reached us is gone: the same for QPs it was the destination of. */
	void (*process_gone)(const struct peer_key *key);
};
extern const struct peer_user *peer_user;
