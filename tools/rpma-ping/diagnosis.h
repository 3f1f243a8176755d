/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnosis.h -- a failure with all that is known of it: the step, the error message,
 * librpma's code, the status of the completion, and what is likely behind it.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/failure.h"
#include "common/rdma/device.h"
#include "common/rdma/target.h"

struct diagnosis {
	enum exit_code exit_code; /* EXIT_GOOD: there was none */
	enum cause cause;
	char step[32];
	char text[768];
	const char *librpma;   /* "RPMA_E_PROVIDER"; NULL: no code */
	const char *wc_status; /* "RETRY_EXC_ERR"; NULL: no completion told */
	char remedy[512];      /* empty: the error message is enough */
};

/* The smallest MTU of an RDMA port that is in use; packets below go through anywhere. */
#define DIAGNOSIS_SMALL_PACKET 1024

/* The facts that a remedy is chosen by. */
struct diagnosis_facts {
	enum cause cause;
	const char *step;
	int code;		      /* librpma's; 0: none */
	enum ibv_wc_status wc_status; /* IBV_WC_SUCCESS: none */
	bool any_back;		      /* a ping has come back before */
	bool large_back;	      /* one larger than a small packet has */
	uint64_t size_bytes;	      /* a ping's */
	enum device_kind device;
	enum target_kind target; /* what was registered */
	uint64_t memlock_bytes;	 /* what may be locked; UINT64_MAX: no limit */
};

/* "RPMA_E_INVAL"; NULL for 0 and unknown codes. */
const char *diagnosis_code_name(int code);

/* A text without its full stop, or empty. Pure. */
void diagnosis_remedy(const struct diagnosis_facts *facts, char remedy[512]);

/* From the failure stored in this thread, its cause too, and what else is known of it. */
void diagnosis_take(struct diagnosis *diagnosis, const struct diagnosis_facts *facts);

/* One line on stderr; gives the exit code. */
int diagnosis_print(const struct diagnosis *diagnosis);
