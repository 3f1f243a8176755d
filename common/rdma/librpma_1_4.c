/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma_1_4.c -- by name in the shared library: a reference, were it weak, would
 * have the loader insist on the version of the symbol.
 */
#include "librpma_1_4.h"

#include <stddef.h>

#ifdef RPMA_TOOLS_SHARED
#include <dlfcn.h>
#include <string.h>

struct librpma_1_4 librpma_1_4_calls(void)
{
	void *port = dlsym(RTLD_DEFAULT, "rpma_ep_get_port");
	void *address = dlsym(RTLD_DEFAULT, "rpma_conn_req_get_peer_addr");
	void *option = dlsym(RTLD_DEFAULT, "rpma_conn_cfg_set_option");
	void *method = dlsym(RTLD_DEFAULT, "rpma_conn_get_flush_method");
	void *granted = dlsym(RTLD_DEFAULT, "rpma_conn_get_option");
	void *id = dlsym(RTLD_DEFAULT, "rpma_conn_get_id");
	struct librpma_1_4 calls = {.ep_get_port = NULL};

	if (port == NULL || address == NULL || option == NULL || method == NULL ||
	    granted == NULL || id == NULL)
		return calls;
	/* ISO C has no conversion of an object pointer to a function's */
	memcpy(&calls.ep_get_port, &port, sizeof(port));
	memcpy(&calls.conn_req_get_peer_addr, &address, sizeof(address));
	memcpy(&calls.conn_cfg_set_option, &option, sizeof(option));
	memcpy(&calls.conn_get_flush_method, &method, sizeof(method));
	memcpy(&calls.conn_get_option, &granted, sizeof(granted));
	memcpy(&calls.conn_get_id, &id, sizeof(id));
	return calls;
}

int newest_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	void *symbol = dlsym(RTLD_DEFAULT, "rpma_mr_get_descriptor");
	int (*call)(const struct rpma_mr_local *, void *);

	memcpy(&call, &symbol, sizeof(call));
	return call(mr, desc);
}

int newest_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	void *symbol = dlsym(RTLD_DEFAULT, "rpma_mr_get_descriptor_size");
	int (*call)(const struct rpma_mr_local *, size_t *);

	memcpy(&call, &symbol, sizeof(call));
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
