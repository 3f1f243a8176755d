/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.c -- open and close a protection domain on the caller's device.
 */
#include "peer.h"
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

static int pd_alloc(struct ibv_context *ibv_ctx, struct ibv_pd **pd_ptr)
{
	errno = 0;
	*pd_ptr = ibv_alloc_pd(ibv_ctx);
	if (*pd_ptr != NULL)
		return 0;

	switch (errno) {
	case ENOMEM:
		return RPMA_FAIL_WITH(RPMA_E_NOMEM, "ibv_alloc_pd(%s): out of memory",
				      ibv_ctx->device->name);
	case 0:
		RPMA_LOG_ERROR("ibv_alloc_pd(%s) failed and gave no reason", ibv_ctx->device->name);
		return RPMA_E_UNKNOWN;
	default:
		RPMA_LOG_ERRNO(errno, "ibv_alloc_pd(%s)", ibv_ctx->device->name);
		return RPMA_E_PROVIDER;
	}
}

int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr)
{
	struct rpma_device_caps caps;
	struct ibv_pd *pd;
	int ret;

	if (ibv_ctx == NULL || peer_ptr == NULL)
		return RPMA_FAIL_NULL(ibv_ctx, peer_ptr);

	ret = rpma_device_query(ibv_ctx, &caps);
	if (ret)
		return ret;
	const char *why = RPMA_NATIVE ? "" : " (librpma was built with RPMA_NATIVE=OFF)";
	if (!caps.atomic_write)
		RPMA_LOG_INFO("no native atomic write: rpma_atomic_write() sends an inline write%s",
			      why);
	if (!caps.flush)
		RPMA_LOG_INFO("no native flush: rpma_flush() reads back%s", why);

	ret = pd_alloc(ibv_ctx, &pd);
	if (ret)
		return ret;

	struct rpma_peer *peer = malloc(sizeof(*peer));
	if (peer == NULL) {
		(void)ibv_dealloc_pd(pd);
		return RPMA_FAIL_NOMEM(sizeof(*peer));
	}
	*peer = (struct rpma_peer){.pd = pd, .caps = caps};
	*peer_ptr = peer;
	return 0;
}

int rpma_peer_delete(struct rpma_peer **peer_ptr)
{
	int ret = 0;

	if (peer_ptr == NULL)
		return RPMA_FAIL_NULL(peer_ptr);
	struct rpma_peer *peer = *peer_ptr;
	if (peer == NULL)
		return 0;

	const char *device = peer->pd->context->device->name;
	int err = ibv_dealloc_pd(peer->pd);
	if (err) {
		RPMA_LOG_ERRNO(err, "ibv_dealloc_pd(%s)", device);
		ret = RPMA_E_PROVIDER;
	}
	free(peer);
	*peer_ptr = NULL;
	return ret;
}

int rpma_peer_get_pd(const struct rpma_peer *peer, struct ibv_pd **pd)
{
	if (peer == NULL || pd == NULL)
		return RPMA_FAIL_NULL(peer, pd);

	*pd = peer->pd;
	return 0;
}

int rpma_peer_next_async_event(struct rpma_peer *peer, struct ibv_async_event *event)
{
	if (peer == NULL || event == NULL)
		return RPMA_FAIL_NULL(peer, event);

	struct ibv_context *ibv_ctx = peer->pd->context;
	struct pollfd fd = {.fd = ibv_ctx->async_fd, .events = POLLIN};
	int ready = poll(&fd, 1, 0);
	if (ready == 0 || (ready < 0 && errno == EINTR))
		return RPMA_E_NO_EVENT;
	if (ready < 0 || ibv_get_async_event(ibv_ctx, event)) {
		RPMA_LOG_ERRNO(errno, "%s of device %s",
			       ready < 0 ? "poll()" : "ibv_get_async_event()",
			       ibv_ctx->device->name);
		return RPMA_E_PROVIDER;
	}
	ibv_ack_async_event(event);
	return 0;
}

int rpma_peer_get_caps(const struct rpma_peer *peer, int *caps)
{
	if (peer == NULL || caps == NULL)
		return RPMA_FAIL_NULL(peer, caps);

	*caps = (peer->caps.odp ? RPMA_PEER_CAP_ODP : 0) |
		(peer->caps.flush ? RPMA_PEER_CAP_NATIVE_FLUSH : 0) |
		(peer->caps.atomic_write ? RPMA_PEER_CAP_NATIVE_ATOMIC_WRITE : 0) |
		(peer->caps.atomics ? RPMA_PEER_CAP_ATOMICS : 0);
	return 0;
}
