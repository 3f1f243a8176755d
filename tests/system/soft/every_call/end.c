/* SPDX-License-Identifier: BSD-3-Clause */
/* end.c -- see end.h. */
#include "end.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_MS 60000 /* limit of a wait; reaching it is a hang */

static const char *error_name(int ret)
{
	static const char *const names[] = {
		"RPMA_E_UNKNOWN",	  "RPMA_E_NOSUPP", "RPMA_E_PROVIDER",
		"RPMA_E_NOMEM",		  "RPMA_E_INVAL",  "RPMA_E_NO_COMPLETION",
		"RPMA_E_NO_EVENT",	  "RPMA_E_AGAIN",  "RPMA_E_SHARED_CHANNEL",
		"RPMA_E_NOT_SHARED_CHNL",
	};
	const int index = RPMA_E_UNKNOWN - ret;

	return index >= 0 && index < 10 ? names[index] : "no error of librpma";
}

bool told(int ret, const char *call)
{
	if (ret == 0)
		return true;
	printf("error %.*s %s\n", (int)strcspn(call, "("), call, error_name(ret));
	fflush(stdout);
	return false;
}

/* Which of the two can be read, 1 or 2 (the first wins); it ends the process when none ever can. */
static int wait_for(int first, int second)
{
	struct pollfd fds[] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
	int ready;

	ready = poll(fds, 2, LIMIT_MS);
	if (ready <= 0) {
		printf("hang: nothing came for %d ms\n", LIMIT_MS);
		exit(3);
	}
	return fds[0].revents != 0 ? 1 : 2;
}

bool end_open(struct end *end, enum rpma_util_ibv_context_type where)
{
	const int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST |
			  RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND |
			  RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
			  RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	struct ibv_context *device;

	return TRY(rpma_utils_get_ibv_context(end->addr, where, &device)) &&
	       TRY(rpma_peer_new(device, &end->peer)) &&
	       TRY(rpma_mr_reg(end->peer, end->memory, MEMORY_BYTES, usage, &end->mr)) &&
	       TRY(rpma_peer_cfg_new(&end->pcfg)) &&
	       TRY(rpma_peer_cfg_set_direct_write_to_pmem(end->pcfg, true));
}

bool end_listen(struct end *end)
{
	uint16_t port;

	if (!TRY(rpma_ep_listen(end->peer, end->addr, "0", &end->ep)) ||
	    !TRY(rpma_ep_get_port(end->ep, &port)))
		return false;
	printf("port %u\n", port);
	fflush(stdout);
	return true;
}

bool end_request(struct end *end)
{
	int fd, ret;

	if (!TRY(rpma_ep_get_fd(end->ep, &fd)))
		return false;
	do {
		if (wait_for(fd, STDIN_FILENO) != 1)
			return false; /* no client will come */
		ret = rpma_ep_next_conn_req(end->ep, end->cfg, &end->req);
		told(ret, "rpma_ep_next_conn_req");
	} while (ret == RPMA_E_NO_EVENT);
	return ret == 0;
}

/* What the server offers: the region's descriptor, behind it that of its configuration. */
static bool make_offer(const struct end *end, unsigned char *bytes, size_t *size)
{
	size_t mr_size, pcfg_size;

	if (!TRY(rpma_mr_get_descriptor_size(end->mr, &mr_size)) ||
	    !TRY(rpma_peer_cfg_get_descriptor_size(end->pcfg, &pcfg_size)) ||
	    !TRY(rpma_mr_get_descriptor(end->mr, bytes + 1)) ||
	    !TRY(rpma_peer_cfg_get_descriptor(end->pcfg, bytes + 1 + mr_size)))
		return false;
	bytes[0] = (unsigned char)mr_size;
	*size = 1 + mr_size + pcfg_size;
	return true;
}

static bool take_offer(struct end *end)
{
	struct rpma_conn_private_data pdata;
	struct rpma_peer_cfg *pcfg = NULL;
	const unsigned char *bytes;
	bool taken;

	if (!TRY(rpma_conn_get_private_data(end->conn, &pdata)))
		return false;
	bytes = pdata.ptr;
	if (pdata.len < 2 || pdata.len < bytes[0] + 2)
		return false;
	taken = TRY(rpma_mr_remote_from_descriptor(bytes + 1, bytes[0], &end->remote)) &&
		TRY(rpma_peer_cfg_from_descriptor(bytes + 1 + bytes[0], 1, &pcfg)) &&
		TRY(rpma_conn_apply_remote_peer_cfg(end->conn, pcfg));
	return TRY(rpma_peer_cfg_delete(&pcfg)) && taken;
}

bool end_event(struct end *end, enum rpma_conn_event *event)
{
	int fd, ret;

	if (!TRY(rpma_conn_get_event_fd(end->conn, &fd)))
		return false;
	do {
		wait_for(fd, -1);
		ret = rpma_conn_next_event(end->conn, event);
		told(ret, "rpma_conn_next_event");
	} while (ret == RPMA_E_NO_EVENT);
	return ret == 0;
}

bool end_expect(struct end *end, enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;

	if (!end_event(end, &event))
		return false;
	if (event != wanted)
		printf("event: %s\n", rpma_utils_conn_event_2str(event));
	return event == wanted;
}

bool end_connect_server(struct end *end, bool post)
{
	unsigned char offer[56];
	struct rpma_conn_private_data pdata = {offer, 0};
	size_t size;

	if (!make_offer(end, offer, &size) ||
	    (post && !TRY(rpma_conn_req_recv(end->req, end->mr, 0, 64, end))))
		return false;
	pdata.len = (uint8_t)size;
	return TRY(rpma_conn_req_connect(&end->req, &pdata, &end->conn)) &&
	       end_expect(end, RPMA_CONN_ESTABLISHED);
}

bool end_connect_client(struct end *end, bool post)
{
	char hello[] = "hello";
	struct rpma_conn_private_data pdata = {hello, sizeof(hello)};

	return TRY(rpma_conn_req_new(end->peer, end->addr, end->port, end->cfg, &end->req)) &&
	       (!post || TRY(rpma_conn_req_recv(end->req, end->mr, 0, 64, end))) &&
	       TRY(rpma_conn_req_connect(&end->req, &pdata, &end->conn)) &&
	       end_expect(end, RPMA_CONN_ESTABLISHED) && take_offer(end);
}

/* The descriptor of the queue, or of the channel it shares with the other. */
static bool compl_fd(struct end *end, struct rpma_cq *cq, bool *shared, int *fd)
{
	*shared = false;
	if (end->cfg != NULL && !TRY(rpma_conn_cfg_get_compl_channel(end->cfg, shared)))
		return false;
	return *shared ? TRY(rpma_conn_get_compl_fd(end->conn, fd)) : TRY(rpma_cq_get_fd(cq, fd));
}

static bool take_news(struct end *end, struct rpma_cq *cq, bool shared)
{
	struct rpma_cq *which;
	int ret;

	if (shared) {
		ret = rpma_conn_wait(end->conn, 0, &which, NULL);
		return told(ret, "rpma_conn_wait") || ret == RPMA_E_NO_COMPLETION;
	}
	ret = rpma_cq_wait(cq);
	return told(ret, "rpma_cq_wait") || ret == RPMA_E_NO_COMPLETION;
}

bool end_completion(struct end *end, struct rpma_cq *cq, struct ibv_wc *wc)
{
	enum rpma_conn_event event;
	int event_fd, fd, ret;
	bool shared;

	if (!TRY(rpma_conn_get_event_fd(end->conn, &event_fd)) || !compl_fd(end, cq, &shared, &fd))
		return false;
	while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION) {
		if (wait_for(fd, event_fd) == 1) {
			if (!take_news(end, cq, shared))
				return false;
		} else if ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) != RPMA_E_NO_COMPLETION) {
			break; /* poll() looked at its descriptor before it came */
		} else {
			end_event(end, &event);
			return false;
		}
	}
	if (!told(ret, "rpma_cq_get_wc"))
		return false;
	if (wc->status != IBV_WC_SUCCESS)
		printf("completion: %s\n", ibv_wc_status_str(wc->status));
	return wc->status == IBV_WC_SUCCESS;
}

void end_close(struct end *end)
{
	if (end->conn != NULL)
		TRY(rpma_conn_disconnect(end->conn));
	TRY(rpma_conn_delete(&end->conn));
	TRY(rpma_conn_req_delete(&end->req));
	TRY(rpma_ep_shutdown(&end->ep));
	TRY(rpma_mr_remote_delete(&end->remote));
	TRY(rpma_conn_cfg_delete(&end->cfg));
	TRY(rpma_srq_delete(&end->srq));
	TRY(rpma_peer_cfg_delete(&end->pcfg));
	TRY(rpma_mr_dereg(&end->mr));
	TRY(rpma_peer_delete(&end->peer));
}
