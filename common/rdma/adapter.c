/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapter.c -- the table of RDMA drivers, and which row fits a device.
 *
 * The rows come from the sources of Linux 6.1, drivers/infiniband: whether the receive
 * path programs the adapter with addresses or copies the payload in the kernel, and
 * whether create_qp takes IB_QPT_RC. A driver that came later has to be read first.
 */
#include "adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HW	       "drivers/infiniband/hw/"
#define NODE_USNIC     5 /* RDMA_NODE_USNIC, <rdma/ib_verbs.h> */
#define NODE_USNIC_UDP 6
#define DMA(driver, name, source)                                                                  \
	{                                                                                          \
		ADAPTER_BY_DMA, DEVICE_HARDWARE, driver, 0, 0, 0, 0, name, source                  \
	}

static const struct adapter rows[] = {
	DMA("mlx5_core", "ConnectX-4 or newer, BlueField", HW "mlx5/mr.c"),
	DMA("mlx4_core", "ConnectX-3", HW "mlx4/mr.c"),
	DMA("ib_mthca", "InfiniHost", HW "mthca/mthca_mr.c"),
	DMA("bnxt_en", "NetXtreme-E", HW "bnxt_re/ib_verbs.c"),
	DMA("ice", "Ethernet 800 series", HW "irdma/verbs.c"),
	DMA("i40e", "Ethernet X722", HW "irdma/verbs.c"),
	DMA("cxgb4", "Terminator 4 to 6", HW "cxgb4/mem.c"),
	DMA("hns3", "Kunpeng network", HW "hns/hns_roce_mr.c"),
	DMA("hns_roce", "Hip06 network", HW "hns/hns_roce_mr.c"),
	DMA("qede", "FastLinQ 41000 or 45000", HW "qedr/verbs.c"),
	DMA("be2net", "OneConnect", HW "ocrdma/ocrdma_verbs.c"),
	DMA("erdma", "Elastic RDMA Adapter", HW "erdma/erdma_verbs.c"),
	{ADAPTER_NOT_KNOWN, DEVICE_HARDWARE, "vmw_pvrdma", 0, 0x15ad, 0x0820, 0x0820,
	 "paravirtual RDMA, whose hypervisor copies, sends by TCP or by an adapter",
	 HW "vmw_pvrdma/pvrdma_main.c"},
	{ADAPTER_BY_CPU, DEVICE_HARDWARE, "hfi1", 0, 0x8086, 0x24f0, 0x24f1, "Omni-Path 100",
	 HW "hfi1/rc.c: rvt_copy_sge()"},
	{ADAPTER_BY_CPU, DEVICE_HARDWARE, "ib_qib", 0, 0x1077, 0x7220, 0x7220, "TrueScale",
	 HW "qib/qib_rc.c: rvt_copy_sge()"},
	{ADAPTER_BY_CPU, DEVICE_HARDWARE, "qib", 0, 0x1077, 0x7322, 0x7322, "TrueScale",
	 HW "qib/qib_rc.c: rvt_copy_sge()"},
	{ADAPTER_BY_CPU, DEVICE_RXE, NULL, 0, 0, 0, 0, "Soft RoCE",
	 "drivers/infiniband/sw/rxe/rxe_mr.c: rxe_mr_copy()"},
	{ADAPTER_BY_CPU, DEVICE_SIW, NULL, 0, 0, 0, 0, "Soft iWARP",
	 "drivers/infiniband/sw/siw/siw_qp_rx.c: siw_rx_umem()"},
	{ADAPTER_BY_CPU, DEVICE_SOFT, NULL, 0, 0, 0, 0, "software device of this package",
	 "rpma-soft(1)"},
	{ADAPTER_NO_RC, DEVICE_HARDWARE, "efa", 0, 0x1d0f, 0xefa0, 0xefaf,
	 "Elastic Fabric Adapter: SRD and UD alone", HW "efa/efa_verbs.c: efa_qp_validate_attr()"},
	{ADAPTER_NO_RC, DEVICE_HARDWARE, "usnic_verbs", NODE_USNIC_UDP, 0, 0, 0, "usNIC: UD alone",
	 HW "usnic/usnic_ib_verbs.c: usnic_ib_create_qp()"},
	{ADAPTER_NO_RC, DEVICE_HARDWARE, "enic", NODE_USNIC, 0, 0, 0, "usNIC: UD alone",
	 HW "usnic/usnic_ib_verbs.c: usnic_ib_create_qp()"},
};

static const struct adapter not_known = {
	.placement = ADAPTER_NOT_KNOWN, .name = "a driver that is not in the table", .source = ""};

static bool is_driver(const char *driver, const char *known)
{
	size_t len = strlen(known);

	/* "mlx5_core.sf": a driver of the auxiliary bus has its module's name in front */
	return strncmp(driver, known, len) == 0 && (driver[len] == '\0' || driver[len] == '.');
}

static bool fits(const struct adapter *row, enum device_kind kind, const struct adapter_ids *ids)
{
	if (row->kind != kind)
		return false;
	if (kind != DEVICE_HARDWARE)
		return true;
	return is_driver(ids->driver, row->driver) ||
	       (row->node_type != 0 && row->node_type == ids->node_type) ||
	       (row->vendor != 0 && row->vendor == ids->vendor && ids->model >= row->first &&
		ids->model <= row->last);
}

const struct adapter *adapter_find(enum device_kind kind, const struct adapter_ids *ids)
{
	const struct adapter *worst = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct adapter *row = &rows[i];

		if (fits(row, kind, ids) && (worst == NULL || row->placement > worst->placement))
			worst = row;
	}
	return worst != NULL ? worst : &not_known;
}

static int read_id(const struct sysroot *root, const char *behind, const char *name)
{
	int64_t value;

	if (!sysroot_number(root, &value, "%s/%s", behind, name) || value < 0 || value > UINT16_MAX)
		return -1;
	return (int)value;
}

void adapter_read(const struct sysroot *root, const char *device, struct adapter_ids *ids)
{
	char behind[128], bus[16], node_type[64], *end;

	*ids = (struct adapter_ids){.vendor = -1, .model = -1, .node_type = -1};
	snprintf(behind, sizeof(behind), "sys/class/infiniband/%s/device", device);
	sysroot_link_name(root, ids->driver, sizeof(ids->driver), "%s/driver", behind);
	/* the function that a subfunction is a part of is above it */
	if (sysroot_link_name(root, bus, sizeof(bus), "%s/subsystem", behind) &&
	    strcmp(bus, "auxiliary") == 0)
		snprintf(behind, sizeof(behind), "sys/class/infiniband/%s/device/..", device);
	ids->vendor = read_id(root, behind, "vendor");
	ids->model = read_id(root, behind, "device");
	if (sysroot_text(root, node_type, "sys/class/infiniband/%s/node_type", device)) {
		long number = strtol(node_type, &end, 10); /* "6: usNIC UDP" */

		if (end != node_type && number >= 0 && number < 100)
			ids->node_type = (int)number;
	}
}

const char *adapter_placement_name(enum adapter_placement placement)
{
	static const char *const names[] = {
		[ADAPTER_BY_DMA] = "dma",
		[ADAPTER_NOT_KNOWN] = "unknown",
		[ADAPTER_BY_CPU] = "cpu",
		[ADAPTER_NO_RC] = "no-rc",
	};

	return names[placement];
}
