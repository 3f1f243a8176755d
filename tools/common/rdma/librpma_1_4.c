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

struct newer newer_calls(void)
{
	void *port = dlsym(RTLD_DEFAULT, "rpma_ep_get_port");
	void *address = dlsym(RTLD_DEFAULT, "rpma_conn_req_get_peer_addr");
	struct newer calls = {NULL, NULL};

	if (port == NULL || address == NULL)
		return calls;
	/* ISO C has no conversion of an object pointer to a function's */
	memcpy(&calls.ep_get_port, &port, sizeof(port));
	memcpy(&calls.conn_req_get_peer_addr, &address, sizeof(address));
	return calls;
}
#else
struct newer newer_calls(void)
{
	return (struct newer){rpma_ep_get_port, rpma_conn_req_get_peer_addr};
}
#endif
