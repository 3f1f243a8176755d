/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider_rdmacm.c -- the librdmacm part of the scripted provider: ids, event
 * channels, and events that follow their id from channel to channel as the
 * kernel makes them.
 */
#include "provider_objects.h"

#include <arpa/inet.h>
#include <stdio.h>

struct event {
	struct rdma_cm_event base;
	unsigned char private_data[]; /* gone with the ack, as in librdmacm */
};

static struct event *waiting[MAX_WAITING];
static unsigned num_waiting;

/* --- event channels and ids ---------------------------------------------- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel;

	if (calls_fail(__func__))
		return NULL;
	channel = calls_own_memory(sizeof(*channel));
	channel->fd = provider_event_fd();
	provider.live.event_channel++;
	return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	calls_note(__func__);
	close(channel->fd);
	provider.live.event_channel--;
	calls_own_free(channel);
}

static struct rdma_cm_id *new_id(struct rdma_event_channel *channel, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = calls_own_memory(sizeof(*id));

	id->channel = channel;
	id->ps = ps;
	id->qp_type = IBV_QPT_RC;
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	if (calls_fail(__func__))
		return -1;
	*id = new_id(channel, ps);
	(*id)->context = context;
	provider.id = *id;
	provider.live.id++;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	bool failed = calls_fail(__func__);

	if (id->event != NULL) {
		provider_break_rule("an id with an unacked event was destroyed: that blocks");
		id->event->id = NULL;
	}
	if (id->qp != NULL)
		provider_break_rule("an id was destroyed before its QP");
	for (unsigned i = 0; i < num_waiting; i++)
		if (waiting[i]->base.id == id)
			waiting[i]->base.id = NULL; /* never delivered */
	provider.live.id--;
	calls_own_free(id);
	return failed ? -1 : 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	if (calls_fail(__func__))
		return -1;
	for (unsigned i = 0; i < num_waiting; i++) {
		if (waiting[i]->base.id != id)
			continue;
		provider_lower(id->channel->fd);
		provider_raise(channel->fd);
	}
	id->channel = channel;
	return 0;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (calls_fail(__func__))
		return -1;
	if (id->verbs == NULL || attr->pd->context != id->verbs) {
		errno = EINVAL;
		return -1;
	}
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    (attr->send_ops_flags & provider.qp_ops_unknown)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	id->qp = provider_create_qp(attr);
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	calls_note(__func__);
	provider_destroy_qp(id->qp);
	id->qp = NULL;
}

/* --- addresses ----------------------------------------------------------- */

static socklen_t parse_address(const char *node, uint16_t port, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	if (inet_pton(AF_INET6, node, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return sizeof(*in6);
	}
	if (inet_pton(AF_INET, node, &in->sin_addr) != 1)
		return 0;
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	return sizeof(*in);
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	struct sockaddr_storage *addr;
	uint16_t port = service == NULL ? 0 : (uint16_t)strtoul(service, NULL, 10);
	bool passive = hints->ai_flags & RAI_PASSIVE;

	if (calls_fail(__func__))
		return -1;
	if (provider.getaddrinfo_answer != 0)
		return provider.getaddrinfo_answer;
	provider.getaddrinfo.hints = *hints;
	snprintf(provider.getaddrinfo.node, sizeof(provider.getaddrinfo.node), "%s", node);
	snprintf(provider.getaddrinfo.service, sizeof(provider.getaddrinfo.service), "%s",
		 service == NULL ? "" : service);
	addr = calls_own_memory(sizeof(*addr));
	*res = calls_own_memory(sizeof(**res));
	(*res)->ai_port_space = RDMA_PS_TCP;
	(*res)->ai_qp_type = IBV_QPT_RC;
	*(passive ? &(*res)->ai_src_len : &(*res)->ai_dst_len) = parse_address(node, port, addr);
	*(passive ? &(*res)->ai_src_addr : &(*res)->ai_dst_addr) = (struct sockaddr *)addr;
	(*res)->ai_family = addr->ss_family;
	provider.live.addrinfo++;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	calls_note(__func__);
	calls_own_free(res->ai_src_addr);
	calls_own_free(res->ai_dst_addr);
	calls_own_free(res);
	provider.live.addrinfo--;
}

static struct addrinfo *list_addresses(const char *node, uint16_t port, unsigned i)
{
	struct sockaddr_storage *addr;
	struct addrinfo *info;

	if (i > 0 && i >= provider.addresses)
		return NULL;
	addr = calls_own_memory(sizeof(*addr));
	info = calls_own_memory(sizeof(*info));
	info->ai_addrlen = parse_address(node, port, addr);
	info->ai_family = addr->ss_family;
	info->ai_addr = (struct sockaddr *)addr;
	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_addr.s_addr += htonl(i);
	info->ai_next = list_addresses(node, port, i + 1);
	return info;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **res)
{
	if (calls_fail(__func__))
		return EAI_SYSTEM;
	if (provider.getaddrinfo_answer != 0)
		return provider.getaddrinfo_answer;
	provider.lookup = *hints;
	*res = list_addresses(node, (uint16_t)strtoul(service, NULL, 10), 0);
	provider.live.addrinfo++;
	return 0;
}

void freeaddrinfo(struct addrinfo *res)
{
	calls_note(__func__);
	while (res != NULL) {
		struct addrinfo *next = res->ai_next;

		calls_own_free(res->ai_addr);
		calls_own_free(res);
		res = next;
	}
	provider.live.addrinfo--;
}

static void copy_address(struct sockaddr_storage *to, const struct sockaddr *addr)
{
	memcpy(to, addr,
	       addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in));
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
		      int timeout_ms)
{
	provider.resolve.addr_timeout_ms = timeout_ms;
	if (calls_fail(__func__))
		return -1;
	copy_address(&id->route.addr.dst_storage, dst);
	id->verbs = provider.context;
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	provider.resolve.route_timeout_ms = timeout_ms;
	return calls_fail(__func__) ? -1 : 0;
}

/* cma_any_addr() in drivers/infiniband/core/cma.c */
static bool belongs_to_no_device(const struct sockaddr *addr)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;

	if (addr->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(in6) || IN6_IS_ADDR_LOOPBACK(in6);
	return in->sin_addr.s_addr == htonl(INADDR_ANY) ||
	       ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct sockaddr_in *in = &id->route.addr.src_sin;

	if (calls_fail(__func__))
		return -1;
	/* sin_port and sin6_port are the same bytes */
	copy_address(&id->route.addr.src_storage, addr);
	if (in->sin_port == 0)
		in->sin_port = htons(provider.bound_port);
	if (!belongs_to_no_device(addr))
		id->verbs = provider.context;
	return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	if (calls_fail(__func__))
		return -1;
	if (level != RDMA_OPTION_ID || optlen != 1 || (size_t)optname >= sizeof(provider.id_option))
		abort();
	provider.id_option[optname] = *(uint8_t *)optval;
	return 0;
}

/* --- connections --------------------------------------------------------- */

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	provider.listen_backlog = backlog;
	provider.listener = id;
	return calls_fail(__func__) ? -1 : 0;
}

static void record_param(struct provider_conn_param *to, const struct rdma_cm_id *id,
			 const struct rdma_conn_param *param)
{
	to->given = true;
	to->param = *param;
	to->channel = id->channel;
	if (param->private_data != NULL)
		memcpy(to->private_data, param->private_data, param->private_data_len);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	record_param(&provider.connect, id, param);
	return calls_fail(__func__) ? -1 : 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	record_param(&provider.accept, id, param);
	return calls_fail(__func__) ? -1 : 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	provider.reject_private_data_len = private_data_len;
	if (private_data != NULL)
		memcpy(provider.reject_private_data, private_data, private_data_len);
	return calls_fail(__func__) ? -1 : 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return calls_fail(__func__) ? -1 : 0;
}

/* --- events -------------------------------------------------------------- */

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	return "scripted event";
}

static struct event *queue_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
				 const void *private_data, uint8_t len)
{
	struct event *event = calls_own_memory(sizeof(*event) + len);

	if (num_waiting == MAX_WAITING)
		abort();
	event->base.id = id;
	event->base.event = type;
	event->base.status = provider.cm_status;
	if (len > 0) {
		memcpy(event->private_data, private_data, len);
		event->base.param.conn.private_data = event->private_data;
		event->base.param.conn.private_data_len = len;
	}
	waiting[num_waiting++] = event;
	provider_raise(id->channel->fd);
	return event;
}

void provider_queue_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
			     const void *private_data, uint8_t len)
{
	queue_event(id, type, private_data, len);
}

void provider_queue_connect_request(const void *private_data, uint8_t len)
{
	struct rdma_cm_id *listener = provider.listener;
	struct rdma_cm_id *id = new_id(listener->channel, listener->ps);

	id->verbs = provider.context;
	id->route.addr.dst_storage = provider.client_addr;
	queue_event(id, RDMA_CM_EVENT_CONNECT_REQUEST, private_data, len)->base.listen_id =
		listener;
}

/* The oldest event whose id reports to this channel. */
static struct event *take_event(const struct rdma_event_channel *channel)
{
	for (unsigned i = 0; i < num_waiting; i++) {
		struct event *event = waiting[i];

		if (event->base.id == NULL || event->base.id->channel != channel)
			continue;
		num_waiting--;
		memmove(waiting + i, waiting + i + 1, (num_waiting - i) * sizeof(waiting[0]));
		return event;
	}
	return NULL;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
	struct event *event;

	if (calls_fail(__func__))
		return -1;
	event = take_event(channel);
	if (event == NULL) {
		errno = EAGAIN;
		return -1;
	}
	provider_lower(channel->fd);
	if (event->base.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		provider.id = event->base.id;
		provider.live.id++; /* from now on it is the library's */
	}
	event->base.id->event = &event->base;
	provider.live.unacked_cm_events++;
	*out = &event->base;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	bool failed = calls_fail(__func__);

	if (event->id != NULL)
		event->id->event = NULL;
	provider.live.unacked_cm_events--;
	calls_own_free(event);
	return failed ? -1 : 0;
}

/* --- start of a test ----------------------------------------------------- */

static void drop_event(struct event *event)
{
	if (event->base.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		calls_own_free(event->base.id);
	calls_own_free(event);
}

void provider_reset_rdmacm(void)
{
	while (num_waiting > 0)
		drop_event(waiting[--num_waiting]);
}
