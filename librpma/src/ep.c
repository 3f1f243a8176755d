/* SPDX-License-Identifier: BSD-3-Clause */
/* ep.c -- listening endpoints. */
#include "address.h"
#include "conn.h"
#include "status.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

enum { BACKLOG = 0 /* the kernel's maximum (ucma_listen() in Linux) */ };

struct rpma_ep {
	struct rpma_peer *peer; /* borrowed */
	struct rdma_event_channel *evch;
	struct rdma_cm_id *id;
};

static int listen_on(struct rpma_ep *ep, const char *addr, const char *port)
{
	struct rdma_addrinfo *info;
	int ret;

	ep->evch = rdma_create_event_channel();
	if (ep->evch == NULL) {
		RPMA_LOG_ERRNO(errno, "rdma_create_event_channel()");
		return RPMA_E_PROVIDER;
	}
	ret = rpma_address_create_id(ep->evch, &ep->id);
	if (ret)
		return ret;

	ret = rpma_address_new(addr, port, RPMA_PASSIVE, &info);
	if (ret)
		return ret;
	ret = rpma_address_bind(info, ep->id);
	rdma_freeaddrinfo(info);
	if (ret)
		return ret;

	if (rdma_listen(ep->id, BACKLOG)) {
		RPMA_LOG_ERRNO(errno, "rdma_listen(%s:%s, backlog=%d)", addr, port, BACKLOG);
		return RPMA_E_PROVIDER;
	}
	return 0;
}

int rpma_ep_listen(struct rpma_peer *peer, const char *addr, const char *port,
		   struct rpma_ep **ep_ptr)
{
	if (peer == NULL || addr == NULL || port == NULL || ep_ptr == NULL)
		return RPMA_FAIL_NULL(peer, addr, port, ep_ptr);

	struct rpma_ep *ep = calloc(1, sizeof(*ep));
	if (ep == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*ep));
	ep->peer = peer;

	int ret = listen_on(ep, addr, port);
	if (ret) {
		(void)rpma_ep_shutdown(&ep);
		return ret;
	}
	RPMA_LOG_NOTICE("listening on %s:%u", addr, ntohs(rdma_get_src_port(ep->id)));
	*ep_ptr = ep;
	return 0;
}

int rpma_ep_shutdown(struct rpma_ep **ep_ptr)
{
	int ret = 0;

	if (ep_ptr == NULL)
		return RPMA_FAIL_NULL(ep_ptr);
	struct rpma_ep *ep = *ep_ptr;
	if (ep == NULL)
		return 0;

	if (ep->id != NULL && rdma_destroy_id(ep->id))
		rpma_status_fail(&ret, "rdma_destroy_id()", errno);
	if (ep->evch != NULL)
		rdma_destroy_event_channel(ep->evch);
	free(ep);
	*ep_ptr = NULL;
	return ret;
}

int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd)
{
	if (ep == NULL || fd == NULL)
		return RPMA_FAIL_NULL(ep, fd);

	*fd = ep->evch->fd;
	return 0;
}

int rpma_ep_get_port(const struct rpma_ep *ep, uint16_t *port)
{
	if (ep == NULL || port == NULL)
		return RPMA_FAIL_NULL(ep, port);

	*port = ntohs(rdma_get_src_port(ep->id));
	return 0;
}

enum { CLIENT_IS_GONE = 1 };

/*
 * The id of the next client, which the caller owns then, and the private data
 * that came with it. The event itself is acknowledged here: until it is, the id
 * cannot be destroyed. CLIENT_IS_GONE: one whose request was fetched before has given up.
 */
static int next_client(struct rpma_ep *ep, struct rdma_cm_id **id_ptr,
		       struct rpma_conn_private_data *received)
{
	struct rdma_cm_event *event;

	int ret = rpma_cm_event_get(ep->evch, &event);
	if (ret)
		return ret;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST && event->id != ep->id) {
		RPMA_LOG_NOTICE("a client is gone: %s", rdma_event_str(event->event));
		ret = rpma_cm_event_ack(event);
		return ret ? ret : CLIENT_IS_GONE;
	}
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		RPMA_LOG_ERROR("an event that no endpoint expects: %s",
			       rdma_event_str(event->event));
		(void)rpma_cm_event_ack(event);
		return RPMA_E_INVAL;
	}

	struct rdma_cm_id *id = event->id;
	ret = rpma_cm_event_copy_data(event, received);
	rpma_status_keep(&ret, rpma_cm_event_ack(event));
	*id_ptr = id;
	return ret;
}

/* Refuses a client that cannot be served. True: it had given up before, which is why. */
static bool refuse(struct rdma_cm_id *id)
{
	bool is_gone = false;

	if (rdma_reject(id, NULL, 0)) {
		is_gone = errno == EINVAL; /* no request is there to be rejected */
		RPMA_LOG_NOTICE("a client cannot be rejected: %s", strerror(errno));
	}
	if (rdma_destroy_id(id))
		RPMA_LOG_WARNING("rdma_destroy_id(): %s", strerror(errno));
	return is_gone;
}

static int next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
			 struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_private_data received = {0};
	struct rdma_cm_id *id = NULL;

	int ret = next_client(ep, &id, &received);
	if (ret == 0)
		ret = rpma_conn_req_from_id(ep->peer, id, cfg, RPMA_PASSIVE, req_ptr);
	if (ret) {
		free(received.ptr);
		return id != NULL && refuse(id) ? CLIENT_IS_GONE : ret;
	}
	(*req_ptr)->conn->private_data = received;
	if (rpma_log_wanted(RPMA_LOG_LEVEL_NOTICE)) {
		char text[RPMA_ADDRESS_TEXT_MAX];

		RPMA_LOG_NOTICE("a client requests a connection: %s",
				rpma_address_print(rdma_get_peer_addr(id), text));
	}
	return 0;
}

int rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
			  struct rpma_conn_req **req_ptr)
{
	int ret;

	if (ep == NULL || req_ptr == NULL)
		return RPMA_FAIL_NULL(ep, req_ptr);

	do
		ret = next_conn_req(ep, cfg, req_ptr);
	while (ret == CLIENT_IS_GONE);
	return ret;
}
