/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block.h -- what one inspection found, as the schema rpma-ddio-check/1 has it: of
 * rpma-ddio-check all but who ran it, of rpma-bench its "readiness".
 */
#ifndef READINESS_BLOCK_H
#define READINESS_BLOCK_H

#include "readiness.h"

/* "schema", "device" and "target", then what readiness_json() gives. */
json_t *readiness_block(const struct readiness *readiness);

#endif /* READINESS_BLOCK_H */
