/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.h -- the checks of each file; a row without an id ends a table. */
#pragma once

#include "readiness.h"

extern const struct readiness_check checks_device[];
extern const struct readiness_check checks_pci[];
extern const struct readiness_check checks_ddio[];
extern const struct readiness_check checks_target[];
extern const struct readiness_check checks_pmem[];
extern const struct readiness_check checks_cxl[];
extern const struct readiness_check checks_capability[];
extern const struct readiness_check checks_limits[];
extern const struct readiness_check checks_system[];
extern const struct readiness_check checks_peer[];

/* True if the provider of a region is the CXL driver. */
bool checks_is_cxl(const char *provider);
/* PM-09, of the table in checks_pmem.c. */
void checks_cxl_gpf(const struct facts *facts, struct readiness_finding *finding);
/* The command that makes a region of persistent CXL capacity. */
#define CHECKS_COMMAND_BYTES 128
const char *checks_cxl_region(const struct facts_cxl *cxl, char text[CHECKS_COMMAND_BYTES]);
/* All of its devices and ports take part in a flush, and the operator states the rest. */
bool checks_cxl_stated(const struct facts *facts);
/* Why a check of an RDMA device, or of hardware, does not arise; false: it does. */
bool checks_without_device(const struct facts *facts, struct readiness_finding *finding);
bool checks_without_hardware(const struct facts *facts, struct readiness_finding *finding);
/* The same of a check of where device writes go: the CPU copies. */
bool checks_without_dma(const struct facts *facts, struct readiness_finding *finding);
/* The kind of adapter that places received data; there is a device. */
enum adapter_placement checks_placement(const struct facts *facts);
