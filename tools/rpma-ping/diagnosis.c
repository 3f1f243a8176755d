/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnosis.c -- what to look at for each cause of a failure, and the line that sums it up. */
#include "diagnosis.h"

#include <stdio.h>
#include <string.h>

#include "common/base/units.h"
#include "common/rdma/connection.h"

const char *diagnosis_code_name(int code)
{
	static const char *const names[] = {
		"RPMA_E_UNKNOWN",	  "RPMA_E_NOSUPP", "RPMA_E_PROVIDER",
		"RPMA_E_NOMEM",		  "RPMA_E_INVAL",  "RPMA_E_NO_COMPLETION",
		"RPMA_E_NO_EVENT",	  "RPMA_E_AGAIN",  "RPMA_E_SHARED_CHANNEL",
		"RPMA_E_NOT_SHARED_CHNL", "RPMA_E_TIMEOUT"};
	int index = RPMA_E_UNKNOWN - code;

	return index >= 0 && index < (int)(sizeof(names) / sizeof(names[0])) ? names[index] : NULL;
}

/* Nothing large has come back where the small packets of connecting did. */
static bool only_large_lost(const struct diagnosis_facts *f)
{
	return (f->cause == CAUSE_LOST || f->cause == CAUSE_NO_ANSWER) && !f->large_back &&
	       f->size_bytes > DIAGNOSIS_SMALL_PACKET && f->device != DEVICE_SOFT &&
	       (strcmp(f->step, "write") == 0 || strcmp(f->step, "flush") == 0 ||
		strcmp(f->step, "read") == 0);
}

static const char *of_no_access(const struct diagnosis_facts *f)
{
	if (strcmp(f->step, "flush") == 0)
		return "the server's memory is not registered for this flush: its librpma or its "
		       "device has no native flush (--flush visibility, or the same librpma on "
		       "both hosts)";
	return "the server no longer has this memory registered, or not for remote access";
}

/* For statuses that may have any cause. */
static const char *of_status(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_REM_INV_REQ_ERR:
		return "the server's device does not know the operation: no native flush, or a "
		       "size beyond its limit";
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return "the server's device could not reach the memory: pages of a DAX file that "
		       "its on-demand paging (ODP) cannot map, or bad blocks (dmesg there)";
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
		return "the device of this host refuses the operation: a size beyond its limit, or "
		       "a faulty driver (dmesg)";
	case IBV_WC_GENERAL_ERR:
		return "the device was reset or removed (dmesg)";
	default:
		return NULL;
	}
}

static const char *of_no_answer(const struct diagnosis_facts *f)
{
	if (f->device == DEVICE_SOFT)
		return "the server is stopped or overloaded";
	if (strcmp(f->step, "connect") == 0)
		return "the server is stopped or overloaded, or no host is at that address, or a "
		       "firewall drops RoCE v2, UDP port 4791, or the GIDs of the two ports are of "
		       "different networks, VLANs or RoCE versions (rdma link, ibv_devinfo -v)";
	return "the server's host or the link to it is down, or a firewall on the way drops "
	       "RoCE v2, UDP port 4791";
}

static const char *of_lost(const struct diagnosis_facts *f)
{
	return f->device == DEVICE_SOFT
		       ? "the server's process ended, or is stopped"
		       : "the server's host or the link to it is down, the address now leads "
			 "elsewhere (ip neigh, ip route), or a firewall on the way drops RoCE v2, "
			 "UDP port 4791";
}

/* Queues of a connection are locked on many devices, as what is registered is. */
static const char *of_memlock(const struct diagnosis_facts *f, char remedy[512])
{
	char limit[UNITS_TEXT_BYTES];

	if (f->memlock_bytes == 0)
		return "RLIMIT_MEMLOCK of this process is 0: raise memlock in limits.conf, or "
		       "LimitMEMLOCK= of a service (ulimit -l)";
	snprintf(
		remedy, 512,
		"RLIMIT_MEMLOCK lets this process lock no more than %s (ulimit -l): raise memlock "
		"in limits.conf, or LimitMEMLOCK= of a service; or, less likely, the device has no "
		"memory left",
		units_print_size(f->memlock_bytes, limit));
	return remedy;
}

/* The step may still tell what to look at if the cause is unknown. */
static const char *of_step(const struct diagnosis_facts *f)
{
	if (strcmp(f->step, "register") == 0 &&
	    (f->target == TARGET_FSDAX || target_is_cached(f->target)))
		return "pages of a file cannot be pinned for long: on a DAX file system the device "
		       "has to have on-demand paging (ODP; ibv_devinfo -v), device DAX does "
		       "without";
	if (strcmp(f->step, "request") == 0)
		return "no interface with an RDMA device has the route to that address, or its "
		       "port has no GID for its own (rdma link, ip route)";
	return NULL;
}

static const char *of_cause(const struct diagnosis_facts *f, char remedy[512])
{
	switch (f->cause) {
	case CAUSE_NAME:
		return "a typing error, no address of the family that -4 or -6 selects, or the "
		       "name server does not know the name or does not answer";
	case CAUSE_MEMLOCK:
		return of_memlock(f, remedy);
	case CAUSE_NO_MEMORY:
		return "the host or the device has no memory left for it";
	case CAUSE_LIMIT: /* the message has it */
	case CAUSE_ADDRESS_IN_USE:
		return NULL;
	case CAUSE_UNREACHABLE:
		if (f->any_back)
			return "the address moved to another host or interface, or the "
			       "entry was rewritten by hand (ip neigh)";
		if (f->device == DEVICE_SOFT)
			return "the server runs as another user, whom the software device does "
			       "not serve, or no more files may be open (see the line of rpma-soft "
			       "above); or no host is at that address (ip route, ip neigh)";
		return "no host is at that address, or no interface with an RDMA device has the "
		       "route to it, or its port has no GID for its own address (rdma link, ip "
		       "route, ip neigh)";
	case CAUSE_NO_ANSWER:
		return of_no_answer(f);
	case CAUSE_REFUSED:

		return "no rpma-ping --server runs there, its --allow leaves this host out, or "
		       "many clients connect at once (see its stderr)";
	case CAUSE_CLOSED:
		return "the server ended or was killed, or it lost sight of this host (see its "
		       "stderr)";
	case CAUSE_LOST:
		return of_lost(f);
	case CAUSE_MTU:
		return "the path drops large packets: an interface or switch on the way has a "
		       "smaller MTU than the RDMA ports (ip link, ibv_devinfo); or the path broke "
		       "just then: a ping with --size 64 tells which";
	case CAUSE_LINK_DOWN:
		return "the cable, the switch, or the interface is down (ip link, rdma link)";
	case CAUSE_DEVICE_GONE:
		return "the driver was unloaded, or the device was reset (dmesg)";
	case CAUSE_NO_ACCESS:
		return of_no_access(f);
	case CAUSE_CORRUPT:
		return "memory, a device or its driver that changes bytes, or another writer of "
		       "the server's target";
	default:
		return f->wc_status != IBV_WC_SUCCESS ? of_status(f->wc_status) : of_step(f);
	}
}

void diagnosis_remedy(const struct diagnosis_facts *facts, char remedy[512])
{
	const char *found;

	remedy[0] = '\0';
	found = of_cause(facts, remedy);
	if (found != NULL && found != remedy)
		snprintf(remedy, 512, "%s", found);
}

void diagnosis_take(struct diagnosis *diagnosis, const struct diagnosis_facts *facts)
{
	const struct failure *failure = failure_get();
	struct diagnosis_facts f = *facts;
	struct diagnosis t = {
		.exit_code = failure->code,
		.librpma = diagnosis_code_name(facts->code),
	};

	f.cause = failure->cause;
	if (only_large_lost(&f))
		f.cause = CAUSE_MTU;
	t.cause = f.cause;
	snprintf(t.step, sizeof(t.step), "%s", facts->step);
	snprintf(t.text, sizeof(t.text), "%s", failure->text);
	if (facts->wc_status != IBV_WC_SUCCESS)
		t.wc_status = connection_wc_status_name(facts->wc_status);
	if (failure->code != EXIT_WRONG_USAGE && failure->code != EXIT_INTERNAL)
		diagnosis_remedy(&f, t.remedy);
	*diagnosis = t;
}

int diagnosis_print(const struct diagnosis *diagnosis)
{
	const struct diagnosis *t = diagnosis;
	const char *code = t->librpma, *status = t->wc_status;

	fprintf(stderr, "rpma-ping: %s: %s", t->step, t->text);
	if (code != NULL || status != NULL)
		fprintf(stderr, " [%s%s%s]", code != NULL ? code : "",
			code != NULL && status != NULL ? ", " : "", status != NULL ? status : "");
	if (t->remedy[0] != '\0')
		fprintf(stderr, "; likely cause: %s", t->remedy);
	fputc('\n', stderr);
	return (int)t->exit_code;
}
