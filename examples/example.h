/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * example.h -- what every example does around its subject: two roles, a peer,
 * one connection, and an end with a message when a call fails.
 *
 * 01-connection.c does all of it by itself, to show it; the others start here.
 */
#pragma once

#include <librpma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn, format(printf, 1, 2))) static inline void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

/* The call must succeed. */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		int ret_ = (call);                                                                 \
		if (ret_)                                                                          \
			fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, rpma_err_2str(ret_));     \
	} while (0)

/* Both roles are in one program; extra is an argument of some, else NULL. */
typedef void role(const char *addr, const char *port, const char *extra);

static inline int run_role(int argc, char **argv, role *server, role *client)
{
	const char *extra = argc == 5 ? argv[4] : NULL;

	/* what the library has to say goes to stderr, not only to the system log */
	CHECK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_WARNING));
	if ((argc == 4 || argc == 5) && strcmp(argv[1], "server") == 0)
		server(argv[2], argv[3], extra);
	else if ((argc == 4 || argc == 5) && strcmp(argv[1], "client") == 0)
		client(argv[2], argv[3], extra);
	else
		fail("usage: %s server|client ADDRESS PORT", argv[0]);
	return EXIT_SUCCESS;
}

static inline struct rpma_peer *open_peer(const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *device;
	struct rpma_peer *peer;

	CHECK(rpma_utils_get_ibv_context(addr, type, &device));
	CHECK(rpma_peer_new(device, &peer));
	return peer;
}

/* Port "0" takes a free one; the line printed tells clients which. */
static inline struct rpma_ep *listen_at(struct rpma_peer *peer, const char *addr, const char *port)
{
	struct rpma_ep *ep;
	uint16_t number;

	CHECK(rpma_ep_listen(peer, addr, port, &ep));
	CHECK(rpma_ep_get_port(ep, &number));
	printf("port %u\n", number);
	fflush(stdout);
	return ep;
}

static inline void expect_event(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event;

	CHECK(rpma_conn_next_event(conn, &event));
	if (event != expected)
		fail("%s, but expected: %s", rpma_utils_conn_event_2str(event),
		     rpma_utils_conn_event_2str(expected));
}

static inline struct rpma_conn *establish(struct rpma_conn_req *req,
					  const struct rpma_conn_private_data *pdata)
{
	struct rpma_conn *conn;

	CHECK(rpma_conn_req_connect(&req, pdata, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

/* The peer ends the connection: the usual way out of a server. */
static inline void close_after_peer(struct rpma_conn **conn)
{
	expect_event(*conn, RPMA_CONN_CLOSED);
	CHECK(rpma_conn_disconnect(*conn));
	CHECK(rpma_conn_delete(conn));
}

/* We end it: the usual way out of a client. */
static inline void close_first(struct rpma_conn **conn)
{
	CHECK(rpma_conn_disconnect(*conn));
	expect_event(*conn, RPMA_CONN_CLOSED);
	CHECK(rpma_conn_delete(conn));
}

static inline void check_status(const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		fail("operation %lu: %s", (unsigned long)wc->wr_id, ibv_wc_status_str(wc->status));
}

/* Look first, wait only if there is nothing: a wait may announce what was fetched already. */
static inline struct ibv_wc next_completion(struct rpma_cq *cq)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		CHECK(rpma_cq_wait(cq));
	CHECK(ret);
	check_status(&wc);
	return wc;
}

/* How to reach a server's region, small enough for private data (56 bytes). */
struct exported_region {
	uint8_t mr_desc_size;
	uint8_t pcfg_desc_size;
	char descs[24]; /* the region's, and right behind it the peer configuration's */
};

static inline struct exported_region export_region(const struct rpma_mr_local *mr,
						   const struct rpma_peer_cfg *pcfg)
{
	struct exported_region region = {0};
	size_t mr_desc_size, pcfg_desc_size;

	CHECK(rpma_mr_get_descriptor_size(mr, &mr_desc_size));
	CHECK(rpma_peer_cfg_get_descriptor_size(pcfg, &pcfg_desc_size));
	if (mr_desc_size + pcfg_desc_size > sizeof(region.descs))
		fail("the descriptors need %zu bytes", mr_desc_size + pcfg_desc_size);
	CHECK(rpma_mr_get_descriptor(mr, region.descs));
	CHECK(rpma_peer_cfg_get_descriptor(pcfg, region.descs + mr_desc_size));
	region.mr_desc_size = (uint8_t)mr_desc_size;
	region.pcfg_desc_size = (uint8_t)pcfg_desc_size;
	return region;
}

/* The remote region; the peer configuration is applied to the connection. */
static inline struct rpma_mr_remote *take_region(struct rpma_conn *conn)
{
	struct rpma_conn_private_data pdata;
	struct rpma_mr_remote *mr;
	struct rpma_peer_cfg *pcfg;
	struct exported_region region;

	CHECK(rpma_conn_get_private_data(conn, &pdata));
	if (pdata.len < sizeof(region))
		fail("the server offered %u bytes, expected %zu", pdata.len, sizeof(region));
	memcpy(&region, pdata.ptr, sizeof(region));
	if (region.mr_desc_size + region.pcfg_desc_size > (int)sizeof(region.descs))
		fail("the server's private data is malformed");

	CHECK(rpma_mr_remote_from_descriptor(region.descs, region.mr_desc_size, &mr));
	CHECK(rpma_peer_cfg_from_descriptor(region.descs + region.mr_desc_size,
					    region.pcfg_desc_size, &pcfg));
	CHECK(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
	CHECK(rpma_peer_cfg_delete(&pcfg));
	return mr;
}
