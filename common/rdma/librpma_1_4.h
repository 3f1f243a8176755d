/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma_1_4.h -- calls of librpma that are younger than 1.0. A tool linked with
 * librpma.so.0 finds them when it runs, so that it does without them over an
 * older library, as Debian's 1.2.0.
 */
#pragma once

#include <librpma.h>
#include <stdint.h>

/* The calls that Debian's 1.2.0 lacks: all are there, or all are NULL. */
struct librpma_1_4 {
	int (*ep_get_port)(const struct rpma_ep *ep, uint16_t *port);
	int (*conn_req_get_peer_addr)(const struct rpma_conn_req *req,
				      struct sockaddr_storage *addr);
	int (*conn_cfg_set_option)(struct rpma_conn_cfg *cfg, enum rpma_conn_option option,
				   uint32_t value);
	int (*conn_get_flush_method)(const struct rpma_conn *conn, const struct rpma_mr_remote *mr,
				     enum rpma_flush_method *method);
	int (*conn_get_option)(const struct rpma_conn *conn, enum rpma_conn_option option,
			       uint32_t *value);
	int (*conn_get_id)(const struct rpma_conn *conn, struct rdma_cm_id **id);
};

struct librpma_1_4 librpma_1_4_calls(void);

/* These changed: what the library that is there has as the newest. */
int newest_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc);
int newest_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size);
