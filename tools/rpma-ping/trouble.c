/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trouble.c -- what is likely behind a failure: one table from symptoms to
 * causes, and the line that says all.
 */
#include "trouble.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/base/units.h"
#include "tools/common/rdma/connection.h"
#include "tools/readiness/gather.h"

/* The smallest MTU of an RDMA port that is in use; packets below go through anywhere. */
#define SMALL_PACKET 1024

const char *trouble_code_name(int code)
{
	static const char *const names[] = {
		"RPMA_E_UNKNOWN",	 "RPMA_E_NOSUPP",	  "RPMA_E_PROVIDER", "RPMA_E_NOMEM",
		"RPMA_E_INVAL",		 "RPMA_E_NO_COMPLETION",  "RPMA_E_NO_EVENT", "RPMA_E_AGAIN",
		"RPMA_E_SHARED_CHANNEL", "RPMA_E_NOT_SHARED_CHNL"};
	int index = RPMA_E_UNKNOWN - code;

	return index >= 0 && index < (int)(sizeof(names) / sizeof(names[0])) ? names[index] : NULL;
}

static const char *of_silence(const struct trouble_facts *f)
{
	if (!f->any_back && f->size_bytes > SMALL_PACKET)
		return "the path drops large packets: an interface or switch on the way has a "
		       "smaller MTU than the RDMA ports (ip link, ibv_devinfo; a smaller --size "
		       "would come back)";
	if (f->device == DEVICE_SOFT)
		return "the server is stopped or overloaded";
	return "the server's host or the link to it is down, or a firewall on the way drops "
	       "RoCE v2, UDP port 4791";
}

static const char *of_refused_access(const struct trouble_facts *f)
{
	if (strcmp(f->step, "flush") == 0)
		return "the server's memory is not registered for this flush: its librpma or its "
		       "device has no native flush (--flush visibility, or the same librpma on "
		       "both hosts)";
	return "the server no longer has this memory registered, or not for remote access";
}

static const char *of_status(const struct trouble_facts *f)
{
	switch (f->wc_status) {
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return of_silence(f);
	case IBV_WC_REM_ACCESS_ERR:
		return of_refused_access(f);
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
	case IBV_WC_WR_FLUSH_ERR:
		return "the server was stopped or killed";
	case IBV_WC_FATAL_ERR:
	case IBV_WC_GENERAL_ERR:
		return "the device was reset or removed (dmesg)";
	default:
		return NULL;
	}
}

static bool says(const struct trouble_facts *f, const char *words)
{
	return strcasestr(f->text, words) != NULL;
}

static const char *of_connecting(const struct trouble_facts *f)
{
	if (says(f, "refused"))
		return "no rpma-ping --server listens on that address and port, or its --allow "
		       "leaves this host out, or many clients come at once (its stderr says)";
	if (f->device == DEVICE_SOFT)
		return "no server on the software device is at that address";
	if (says(f, "unreachable") || says(f, "did not answer") || says(f, "timed out"))
		return "no host is at that address, or a firewall drops RoCE v2, UDP port 4791, or "
		       "the GIDs of the two ports are of different networks, VLANs or RoCE "
		       "versions (rdma link, ibv_devinfo -v)";
	return "the server ended while it was being connected to, or its device has no room for "
	       "another connection";
}

/* Queues of a connection are locked on many devices, as what is registered is. */
static const char *of_no_memory(const struct trouble_facts *f, char cause[384])
{
	char limit[UNITS_TEXT_BYTES];

	if (f->memlock_bytes == UINT64_MAX)
		return "the host or the device has no memory left for it";
	snprintf(cause, 384,
		 "ulimit -l lets no more than %s be locked: raise memlock in limits.conf, or "
		 "LimitMEMLOCK= of a service",
		 units_print_size(f->memlock_bytes, limit));
	return cause;
}

static const char *of_registering(const struct trouble_facts *f)
{
	if (f->target == TARGET_FSDAX || target_is_cached(f->target))
		return "pages of a file cannot be pinned for long: on a DAX file system the device "
		       "has to have on-demand paging (ODP; ibv_devinfo -v), device DAX does "
		       "without";
	return NULL;
}

static const char *of_step(const struct trouble_facts *f, char cause[384])
{
	if (says(f, strerror(ENOMEM)))
		return of_no_memory(f, cause);
	if (strcmp(f->step, "register") == 0)
		return of_registering(f);
	if (strcmp(f->step, "resolve") == 0)
		return "a typing error, or the name server does not know or not answer";
	if (strcmp(f->step, "request") == 0)
		return "no host is at that address, or no interface with an RDMA device has "
		       "the route to it, or its port has no GID for its address (rdma link, ip "
		       "neigh)";
	if (strcmp(f->step, "connect") == 0)
		return of_connecting(f);
	if (strcmp(f->step, "listen") == 0 && says(f, strerror(EADDRINUSE)))
		return "another server listens there: --port N";
	return NULL;
}

void trouble_cause(const struct trouble_facts *facts, char cause[384])
{
	const struct trouble_facts *f = facts;
	const char *found = NULL;

	cause[0] = '\0';
	if (f->gone)
		found = "the server was stopped or killed";
	else if (f->wc_status != IBV_WC_SUCCESS)
		found = of_status(f);
	else if (f->late)
		found = of_silence(f);
	else if (f->corrupt)
		found = "memory, a device or its driver that changes bytes, or another writer of "
			"the server's target";
	else
		found = of_step(f, cause);
	if (found != NULL && found != cause)
		snprintf(cause, 384, "%s", found);
}

void trouble_take(struct trouble *trouble, const struct trouble_facts *facts)
{
	const struct failure *failure = failure_get();
	struct trouble_facts f = *facts;
	struct trouble t = {
		.exit_code = failure->code,
		.librpma = trouble_code_name(facts->code),
	};

	f.text = failure->text;
	snprintf(t.step, sizeof(t.step), "%s", facts->step);
	snprintf(t.text, sizeof(t.text), "%s", failure->text);
	if (facts->wc_status != IBV_WC_SUCCESS)
		t.wc_status = link_wc_status_name(facts->wc_status);
	if (failure->code != EXIT_WRONG_USAGE && failure->code != EXIT_INTERNAL)
		trouble_cause(&f, t.cause);
	*trouble = t;
}

uint64_t trouble_memlock(void)
{
	struct facts_limits limits = {.memlock_bytes = -1, .may_lock = KNOWN_NOT};
	struct sysroot root;

	if (sysroot_open(&root, "/") != 0)
		return UINT64_MAX;
	gather_limits(&(struct gather){.root = &root}, &limits);
	sysroot_close(&root);
	return limits.may_lock == KNOWN_NO && limits.memlock_bytes >= 0 &&
			       limits.memlock_bytes != INT64_MAX
		       ? (uint64_t)limits.memlock_bytes
		       : UINT64_MAX;
}

int trouble_print(const struct trouble *trouble)
{
	const struct trouble *t = trouble;
	const char *code = t->librpma, *status = t->wc_status;

	fprintf(stderr, "rpma-ping: %s: %s", t->step, t->text);
	if (code != NULL || status != NULL)
		fprintf(stderr, " [%s%s%s]", code != NULL ? code : "",
			code != NULL && status != NULL ? ", " : "", status != NULL ? status : "");
	if (t->cause[0] != '\0')
		fprintf(stderr, "; likely cause: %s", t->cause);
	fputc('\n', stderr);
	return (int)t->exit_code;
}
