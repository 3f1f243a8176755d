/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions.c -- through libfabric: 700 regions of one place that are never closed, and others
 * between them that are.
 */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 700

static void need(int is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "%s\n", what);
	exit(70);
}

static struct fid_domain *open_domain(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;

	need(hints != NULL && setenv("FI_MR_CACHE_MAX_COUNT", "0", 1) == 0, "no memory");
	hints->fabric_attr->prov_name = strdup("verbs");
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG | FI_RMA;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	need(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info) == 0, "no provider verbs");
	need(fi_fabric(info->fabric_attr, &fabric, NULL) == 0, "no fabric");
	need(fi_domain(fabric, info, &domain, NULL) == 0, "no domain");
	fi_freeinfo(hints);
	fi_freeinfo(info);
	return domain;
}

static struct fid_mr *make(struct fid_domain *domain, void *memory)
{
	struct fid_mr *mr;

	need(fi_mr_reg(domain, memory, 64, FI_READ, 0, 0, 0, &mr, NULL) == 0, "no region");
	return mr;
}

int main(void)
{
	static unsigned char memory[4096 * LEFT];
	struct fid_domain *domain = open_domain();
	struct fid_mr *mr;

	for (size_t i = 0; i < LEFT; i++) {
		if (i % 4 == 0) {
			mr = make(domain, memory);
			need(fi_close(&mr->fid) == 0, "not closed");
		}
		make(domain, memory + 4096 * i); /* HERE */
	}
	return 0;
}
