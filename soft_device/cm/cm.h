/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm.h -- the RDMA CM: ids, their event channels and the TCP connections between them.
 *
 * A listening id is a TCP listener on its very address and port; a connection of two ids is a
 * TCP connection, on which the messages of wire.h go both ways and whose end means that the
 * peer is gone. States and answers are those of the kernel's IB CM, whose user this stands
 * in for; what librdmacm does around it (QPs, synchronous ids) is done here too.
 *
 * One lock guards it all. The public fields of an id are written by the program's own threads
 * only, when it calls or gets an event; so it may read them without a lock. The agent's
 * thread reads sockets and deadlines and never touches a QP. A program's thread never calls
 * ibv_* or agent_unwatch() with the lock held: both may wait for the agent.
 */
#pragma once

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "soft_device/faults/call.h"
#include "soft_device/process/agent.h"
#include "soft_device/process/event_queue.h"
#include "soft_device/transport/handshake.h"
#include "soft_device/verbs/device.h"
#include "wire.h"

/* 4.096 us << CMA_CM_RESPONSE_TIMEOUT (20), CMA_MAX_CM_RETRIES + 1: drivers/infiniband/core/cma.c
 */
#define CM_ANSWER_NS (UINT64_C(4096) * (1 << 20) * 16)
/* cm_convert_to_ms(17) of the kernel's cm.c: what an ack timeout of 17 makes of the time wait */
#define CM_TIMEWAIT_NS UINT64_C(512000000)
#define CM_ACK_TIMEOUT 17 /* CMA_IBOE_PACKET_LIFETIME + 1 */

#define CM_RETRIES     7 /* when the program gives no parameters */

enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_LISTENING,
	/* from here on it is one end of a connection */
	CM_REQ_SENT,
	CM_REP_RECEIVED,
	CM_REQ_RECEIVED, /* no events before it is accepted */
	CM_REP_SENT,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RECEIVED,
	CM_TIMEWAIT,
	CM_ENDED, /* rejected, unreachable, or the time wait is over */
};

extern const struct process_part cm_part;

struct cm_id;

struct cm_event {
	struct rdma_cm_event pub; /* first: what programs hold */
	struct event queued;	  /* in its channel */
	struct cm_id *owner;	  /* it counts there as unacked once it was got */
	uint32_t generation;
	bool lost; /* a DISCONNECTED that no peer sent */
	unsigned char private_data[CM_PRIVATE_MAX];
};

struct cm_channel {
	struct rdma_event_channel pub; /* first; its fd is the queue's */
	struct event_queue queue;
	uint32_t users; /* its owner and those that wait in cm_event_get() */
	uint32_t generation;
};

/* The handshake with a process of another host, if there is a secret: handshake.c. */
struct cm_handshake {
	struct handshake state;
	size_t request_length; /* the request that goes out after it; of a listener: 0 */
	unsigned char request[CM_MESSAGE_MAX];
};

/* One TCP connection. CM lock. */
struct cm_stream {
	LIST_ENTRY(cm_stream) entry;
	int fd;
	struct watch *watch;
	struct cm_id *id;		/* NULL: no request has come yet; with no listener: ended */
	struct cm_id *listener;		/* while no request has come */
	bool closing;			/* a program's thread closes it: the agent keeps off */
	bool connecting;		/* send `bytes` when the socket is connected */
	bool proven;			/* its process is of the same user, or of another host */
	struct cm_handshake *handshake; /* under way; NULL: none, or done */
	bool held;			/* its request waits for room in the backlog */
	uint64_t deadline_ns; /* for the request to arrive, or when to dial again; 0: none */
	unsigned redials;     /* after a refused port */
	unsigned char token[WIRE_TOKEN_BYTES]; /* the one of its request: left at the listener's
						  admission socket */
	size_t length;			       /* used part of bytes */
	unsigned char bytes[CM_MESSAGE_MAX];   /* received, not decoded; or see `connecting` */
};

struct cm_membership;

/*
 * Fields that the rsockets of librdmacm (rsocket.c) read behind the public members of an id: the
 * begin of struct cma_id_private in rdma-core's librdmacm/cma.c, the same in all releases that have
 * rsockets.
 */
struct rdma_core_id {
	void *device; /* NULL: they ask ibv_query_device() */
	void *unused[3];
	int sync; /* the channel is its own */
};

struct cm_id {
	struct rdma_cm_id pub; /* first */
	struct rdma_core_id core;
	LIST_ENTRY(cm_id) entry;
	uint32_t generation;
	enum cm_state state;
	struct cm_channel *channel; /* where its events go; NULL: it was destroyed */
	uint32_t unacked;
	uint64_t deadline_ns; /* for an answer, or end of the time wait; 0: none */
	struct device *device;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	int fd; /* the bound socket until it connects, the listening one; -1 */
	/* listening */
	struct watch *watch;
	struct admission *admission;
	uint32_t backlog;
	uint32_t requests; /* CONNECT_REQUESTs not delivered yet */
	/* connected */
	struct cm_stream *stream;
	bool connect_error; /* said so already: no REJECTED or DISCONNECTED to come */
	uint32_t psn;	    /* what the peer's sends begin with */
	uint32_t peer_qpn;
	uint32_t peer_psn;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	/* options */
	bool reuse_address;
	bool family_only;
	uint8_t tos;
	bool ack_timeout_set;
	uint8_t ack_timeout; /* 0: without end */
	struct ibv_ece local_ece;
	struct ibv_ece remote_ece;
	/* rdma_create_ep(): for the QPs of rdma_get_request(), and of rdma_connect() */
	struct ibv_pd *ep_pd;
	struct ibv_qp_init_attr *ep_qp;
	/* multicast */
	LIST_HEAD(, cm_membership) memberships;
	uint8_t ep_private_len;
	unsigned char ep_private[CM_REQ_PRIVATE];
};

LIST_HEAD(cm_ids, cm_id);
LIST_HEAD(cm_streams, cm_stream);

extern pthread_mutex_t cm_lock;
extern pthread_cond_t cm_acked; /* an event was acknowledged */
extern struct cm_ids cm_ids;

static inline struct cm_id *cm_id_of(struct rdma_cm_id *id)
{
	return (struct cm_id *)id;
}

/* An id of RDMA_PS_UDP has no connection, and asks for a QP number or tells it. */
static inline bool cm_is_datagram(const struct cm_id *id)
{
	return id->pub.qp_type == IBV_QPT_UD;
}

/* Checks a call of the program for this id: 0, or the errno to fail with. */
int cm_id_usable(const struct rdma_cm_id *id);

/*
 * A call on an id that is refused, with both of its addresses, and its state in words: the
 * value is `error`, of either sign.
 */
#define CM_REFUSE(error, call, id, format, ...)                                                    \
	({                                                                                         \
		char cm_name[CM_NAME_BYTES];                                                       \
		REFUSE_OF(error, call, "id %s: " format, cm_id_name(id, cm_name), ##__VA_ARGS__);  \
	})
#define CM_NAME_BYTES 128
const char *cm_id_name(const struct cm_id *id, char name[CM_NAME_BYTES]);
/* "ADDR_RESOLVED" */
const char *cm_state_name(enum cm_state state);
/* The usual reason: the call does not fit the state. */
#define CM_REFUSE_STATE(error, call, id)                                                           \
	CM_REFUSE(error, call, id, "it is in state %s", cm_state_name((id)->state))

/* At the top of an exported call on an id, as ENTER() of call.h. */
#define CM_ENTER(id)                                                                               \
	do {                                                                                       \
		int enter_error = FAULT_CALL();                                                    \
		if (enter_error == 0 && cm_id_usable(id) != 0) {                                   \
			enter_error = REFUSE(cm_id_usable(id), __func__,                           \
					     (id) == NULL ? "id is NULL" : "id: " CALL_OF_PARENT); \
			if ((id) != NULL)                                                          \
				check_foreign(__func__, 0);                                        \
		}                                                                                  \
		if (enter_error != 0)                                                              \
			return call_failed(enter_error);                                           \
	} while (0)

/* id.c */
struct cm_id *cm_id_new(struct cm_channel *channel, void *context); /* lock held; NULL: no memory */
void cm_id_delete(struct cm_id *id); /* no lock; ends its connection, waits for acks; NULL too */
int cm_id_migrate(struct cm_id *id,
		  struct cm_channel *channel); /* no lock; NULL: its own; -errno */
/* Shows the program the device that the id is bound to; no lock; -errno. */
int cm_id_show_device(struct cm_id *id);
/* Out of descriptors? Then the program's user is told so, once. */
void cm_warn_files(int error);
/* On a synchronous id: waits for its next event, kept in pub.event; 0, or -1 with errno. */
int cm_id_complete(struct cm_id *id);

/* channel.c */
struct cm_channel *cm_channel_new(void); /* NULL with errno */
void cm_channel_delete(struct cm_channel *channel);
static inline struct cm_event *cm_event_of(struct event *queued)
{
	return (struct cm_event *)((char *)queued - offsetof(struct cm_event, queued));
}
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status);
void cm_event_carry(struct cm_event *event, const struct cm_message *message);
/* Lock held from here. */
void cm_event_push(struct cm_event *event);
int cm_event_raise(struct cm_id *id, enum rdma_cm_event_type type, int status); /* -ENOMEM */
struct event *cm_events_withdraw(struct cm_id *id);
void cm_events_move(struct cm_id *id, struct cm_channel *channel);
/* No lock held. */
int cm_event_get(struct cm_channel *channel, struct cm_event **event); /* -1 with errno */
void cm_event_ack(struct cm_event *event);

/* stream.c; lock held, if not said otherwise */
/* Takes the fd. */
struct cm_stream *cm_stream_new(int fd, struct cm_id *id, struct cm_id *listener);
int cm_stream_connect(struct cm_stream *stream); /* to its id's remote address; -errno */
int cm_stream_watch(struct cm_stream *stream, uint32_t events); /* -errno */
void cm_stream_send(struct cm_stream *stream, const struct cm_message *message);
void cm_stream_say(struct cm_stream *stream, enum cm_kind kind); /* one without a body */
void cm_stream_end(struct cm_stream *stream);	 /* forgets its id; the agent closes it; NULL too */
void cm_stream_delete(struct cm_stream *stream); /* the agent, or never watched */
struct cm_stream *cm_stream_detach(struct cm_id *id); /* for cm_stream_close(); NULL */
void cm_stream_close(struct cm_stream *stream);	      /* no lock held; not the agent; NULL too */
/* Pending peers have sent no request yet, or one that is held. */
void cm_pending_close(struct cm_id *listener); /* no lock held */
struct cm_stream *cm_pending_oldest(const struct cm_id *listener, bool held, unsigned *count);
void cm_streams_forget(void); /* in a child of fork() */
int cm_start(void);	      /* before all others; -ENOMEM */
/* True if the request comes from an address of this host without a proof of its process. */
bool cm_is_unproven(const struct cm_stream *stream, const struct cm_message *request);
void cm_deadline(uint64_t at_ns); /* cm_id_expired() is called then for ids that are due */

/* handshake.c; lock held. 0, or -errno: the stream has to end. */
int cm_handshake_connected(struct cm_stream *stream);
int cm_handshake_accepted(struct cm_stream *stream);
int cm_handshake_take(struct cm_stream *stream); /* bytes taken; 0: no message is whole */
/* The other end asks for a secret, and this process has none: tells the user. */
void cm_handshake_missing(const struct cm_stream *stream);
void cm_handshake_broken(const struct cm_stream *stream); /* the other end hung up */

/* address.c */
socklen_t cm_address_bytes(const struct sockaddr *addr); /* 0: no address, or of another family */
uint16_t cm_address_port(const struct sockaddr_storage *addr); /* host order */
void cm_address_unmap(struct sockaddr_storage *addr);	       /* ::ffff:a.b.c.d becomes AF_INET */
int cm_bind(struct cm_id *id, const struct sockaddr *addr);    /* lock held; -errno */
void cm_show_local(struct cm_id *id);

/* listen.c; lock held */
/* Has it whole? Takes or holds it; -EPROTO, -ENOMEM. */
int cm_listen_request(struct cm_stream *stream);
void cm_listen_admit(struct cm_id *listener); /* there is room in the backlog again */
void cm_listen_resume(struct cm_id *listener);

/* state.c: what comes from the peer or with time; agent's thread, lock held */
void cm_connecting_failed(struct cm_id *id, int error); /* the TCP connection is not there */
int cm_arrived(struct cm_id *id, const struct cm_message *message); /* -EPROTO */
void cm_hung_up(struct cm_id *id);				    /* its stream is gone */
void cm_id_expired(struct cm_id *id);
void cm_end(struct cm_id *id);	       /* ENDED, without its stream */
void cm_wait_to_end(struct cm_id *id); /* TIMEWAIT, the same */
/* The peer's half of the connection, as its REQ or REP has it. */
void cm_take_peer(struct cm_id *id, const struct cm_message *message);
void cm_raise_with(struct cm_id *id, enum rdma_cm_event_type type, int status,
		   const struct cm_message *message);

/* connect.c: RTR, RTS and RTU when an event brings the response; no lock held; -errno */
int cm_respond(struct cm_id *id);

/* datagram.c: what SIDR is for a UD id. Lock held but for the first two; 0 or -errno. */
int cm_sidr_accept(struct cm_id *id, const struct rdma_conn_param *param);
int cm_sidr_reject(struct cm_id *id, const void *data, uint8_t length);
void cm_sidr_carry(struct cm_event *event, const struct cm_message *message);
void cm_sidr_failed(struct cm_id *id, int status); /* UNREACHABLE */
int cm_sidr_answered(struct cm_id *id, const struct cm_message *message);
/* Tells who asked a listener of the other kind that there is none of his. */
void cm_refuse_kind(struct cm_stream *stream, enum cm_kind kind);

/* multicast.c; no lock held */
int cm_joined(struct cm_id *id, struct cm_event *event); /* attaches the QP; -errno */
void cm_leave_all(struct cm_id *id);

/* qp.c; no lock held; 0 or -errno */
int cm_qp_connect(struct cm_id *id); /* RTR, RTS */
void cm_qp_fail(struct cm_id *id);   /* ERR; without a QP nothing */
