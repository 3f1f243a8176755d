/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma_1_4.c -- by name in the shared library: a reference, were it weak, would
 * have the loader insist on the version of the symbol.
 */
#include "librpma_1_4.h"

#include <stddef.h>

#ifdef RPMA_TOOLS_SHARED
#include <dlfcn.h>

struct librpma_1_4 librpma_1_4_calls(void)
{
	const struct librpma_1_4 calls = {
		.ep_get_port = dlsym(RTLD_DEFAULT, "rpma_ep_get_port"),
		.conn_req_get_peer_addr = dlsym(RTLD_DEFAULT, "rpma_conn_req_get_peer_addr"),
		.conn_cfg_set_option = dlsym(RTLD_DEFAULT, "rpma_conn_cfg_set_option"),
		.conn_get_flush_method = dlsym(RTLD_DEFAULT, "rpma_conn_get_flush_method"),
		.conn_get_option = dlsym(RTLD_DEFAULT, "rpma_conn_get_option"),
		.conn_get_id = dlsym(RTLD_DEFAULT, "rpma_conn_get_id"),
	};

	if (calls.ep_get_port == NULL || calls.conn_req_get_peer_addr == NULL ||
	    calls.conn_cfg_set_option == NULL || calls.conn_get_flush_method == NULL ||
	    calls.conn_get_option == NULL || calls.conn_get_id == NULL)
		return (struct librpma_1_4){.ep_get_port = NULL};
	return calls;
}

int newest_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	int (*call)(const struct rpma_mr_local *, void *) =
		dlsym(RTLD_DEFAULT, "rpma_mr_get_descriptor");

	return call(mr, desc);
}

int newest_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	int (*call)(const struct rpma_mr_local *, size_t *) =
		dlsym(RTLD_DEFAULT, "rpma_mr_get_descriptor_size");

	return call(mr, desc_size);
}
#else
struct librpma_1_4 librpma_1_4_calls(void)
{
	return (struct librpma_1_4){rpma_ep_get_port,	      rpma_conn_req_get_peer_addr,
				    rpma_conn_cfg_set_option, rpma_conn_get_flush_method,
				    rpma_conn_get_option,     rpma_conn_get_id};
}

int newest_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	return rpma_mr_get_descriptor(mr, desc);
}

int newest_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	return rpma_mr_get_descriptor_size(mr, desc_size);
}
#endif
