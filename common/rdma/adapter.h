/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapter.h -- how an RDMA device places received data in memory, by its kernel driver.
 *
 * An adapter that writes by DMA can go past the CPU's cache; one whose driver copies
 * with the CPU never does, whatever the registers of the PCI port say; and some have no
 * reliable connections, which librpma needs. A driver that is not in the table is
 * unknown, never good.
 */
#pragma once

#include <stdint.h>

#include "device.h"

#define ADAPTER_DRIVER_MAX 32

enum adapter_placement {
	ADAPTER_BY_DMA,	   /* the adapter writes to memory itself */
	ADAPTER_NOT_KNOWN, /* the driver is not in the table, or is not known */
	ADAPTER_BY_CPU,	   /* the driver copies with the CPU, through its cache */
	ADAPTER_NO_RC,	   /* it has no reliable connections */
};

/* The identity of a device in sysfs. */
struct adapter_ids {
	char driver[ADAPTER_DRIVER_MAX]; /* the driver of the device behind it; empty: unknown */
	int vendor, model;		 /* PCI ids; -1: unknown */
	int node_type;			 /* enum rdma_node_type of the kernel; -1: unknown */
};

struct adapter {
	enum adapter_placement placement;
	enum device_kind kind; /* another than hardware is known by that alone */
	const char *driver;    /* NULL: not known by its driver */
	int node_type;	       /* 0: not known by that */
	uint16_t vendor;       /* 0: not known by its PCI ids */
	uint16_t first, last;  /* models of that vendor */
	const char *name;      /* the family: "Omni-Path 100" */
	const char *source;    /* the file of the kernel that shows it */
};

/* Reads the ids of a hardware device of this name. */
void adapter_read(const struct sysroot *root, const char *device, struct adapter_ids *ids);
/* The worst row that fits; never NULL. */
const struct adapter *adapter_find(enum device_kind kind, const struct adapter_ids *ids);
/* "dma", "unknown", "cpu" or "no-rc" */
const char *adapter_placement_name(enum adapter_placement placement);
