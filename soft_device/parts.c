/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parts.c -- the parts of the device that have something to do when a process begins, forks or
 * ends, in the order in which their locks are taken: the first is the outermost.
 *
 * The agent is the last to begin, as its thread works on what the others have made.
 */
#include "soft_device/check/check.h"
#include "soft_device/check/objects.h"
#include "soft_device/check/script.h"
#include "soft_device/check/watch.h"
#include "soft_device/cm/cm.h"
#include "soft_device/datapath/sq.h"
#include "soft_device/datapath/sq_adversary.h"
#include "soft_device/datapath/window.h"
#include "soft_device/faults/fault.h"
#include "soft_device/powerfail/powerfail.h"
#include "soft_device/process/agent.h"
#include "soft_device/process/process.h"
#include "soft_device/process/trace.h"
#include "soft_device/sysfs/call.h"
#include "soft_device/transport/groups.h"
#include "soft_device/transport/peer.h"
#include "soft_device/transport/secret.h"
#include "soft_device/transport/tcp.h"
#include "soft_device/verbs/objects.h"
#include "soft_device/verbs/unmap.h"

const struct process_part *const process_parts[] = {
	&fault_part,	     /* none; a word that it refuses ends the process before all else */
	&cm_part,	     /* cm_lock: ids, channels and links of the CM */
	&context_part,	     /* what the CM ids of a device share */
	&unmap_part,	     /* a call that unmaps registered memory */
	&making_part,	     /* process_get() */
	&tcp_part,	     /* answers over TCP are received */
	&objects_part,	     /* process_objects: the tables of all objects */
	&cq_part,	     /* no lock of its own */
	&qp_part,	     /* none */
	&srq_part,	     /* none */
	&held_part,	     /* none */
	&window_part,	     /* binding memory windows */
	&sq_adversary_part,  /* none */
	&sq_wait_part,	     /* the send queues that wait */
	&secret_part,	     /* none */
	&peer_part,	     /* the table of peers */
	&listen_part,	     /* this process's handshake message */
	&admission_part,     /* the admission sockets */
	&groups_part,	     /* no lock of its own */
	&doorbell_part,	     /* own comp channels, and who knows them */
	&durable_part,	     /* none; before the next one, for which it looks */
	&powerfail_part,     /* none */
	&trace_part,	     /* none */
	&agent_part,	     /* watches, timers and calls */
	&segment_part,	     /* none */
	&hold_part,	     /* findings that are held back */
	&check_objects_part, /* objects, and those that were destroyed */
	&watch_part,	     /* memory that must not be used yet */
	&report_part,	     /* findings; the names of places are read from files */
	&folders_part,	     /* folders of files that are open */
	&script_part,	     /* places in a Python program */
	&stack_part,	     /* the stacks that are known */
	NULL,
};
