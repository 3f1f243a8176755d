/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trouble.h -- a failure with all that is known of it: the step, the sentence,
 * librpma's code, the status of the completion, and what is likely behind it.
 */
#ifndef TROUBLE_H
#define TROUBLE_H

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/common/base/failure.h"
#include "tools/common/rdma/device.h"
#include "tools/common/rdma/target.h"

struct trouble {
	enum exit_code exit_code; /* EXIT_GOOD: there was none */
	enum cause cause;
	char step[32];
	char text[768];
	const char *librpma;   /* "RPMA_E_PROVIDER"; NULL: no code */
	const char *wc_status; /* "RETRY_EXC_ERR"; NULL: no completion told */
	char remedy[512];      /* empty: the sentence is enough */
};

/* What a remedy is chosen by. */
struct trouble_facts {
	enum cause cause;
	const char *step;
	int code;		      /* librpma's; 0: none */
	enum ibv_wc_status wc_status; /* IBV_WC_SUCCESS: none */
	bool any_back;		      /* a ping has come back before */
	uint64_t size_bytes;	      /* a ping's */
	enum device_kind device;
	enum target_kind target; /* what was registered */
	uint64_t memlock_bytes;	 /* what may be locked; UINT64_MAX: no limit */
};

/* "RPMA_E_INVAL"; NULL for 0 and unknown codes. */
const char *trouble_code_name(int code);

/* A sentence without its end, or empty. Pure. */
void trouble_remedy(const struct trouble_facts *facts, char remedy[512]);

/* From the failure stored in this thread, its cause too, and what else is known of it. */
void trouble_take(struct trouble *trouble, const struct trouble_facts *facts);

/* One line on stderr; gives the exit code. */
int trouble_print(const struct trouble *trouble);

#endif /* TROUBLE_H */
