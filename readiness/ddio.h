/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ddio.h -- do device writes go into the cache? Decided from the registers of
 * Intel root ports, and only where these registers are known to exist.
 */
#pragma once

#include "facts.h"

/* A probe with less traffic than this shows nothing: the programs' start counts too. */
#define DDIO_PROBE_BYTES_MIN 256000000
/* Bytes written to memory for each received: more means that others wrote too. */
#define DDIO_PROBE_RATIO_MAX 1.5
/* Fewer phases of traffic are no proof of "off": a writer that is active in one passes for it. */
#define DDIO_PROBE_PHASES_MIN 4

enum ddio_state { DDIO_UNKNOWN, DDIO_OFF, DDIO_OFF_WARN, DDIO_ON_POSSIBLE, DDIO_ON };
enum ddio_evidence { DDIO_NO_EVIDENCE, DDIO_REGISTERS, DDIO_STATEMENT, DDIO_PROBE };

struct ddio {
	enum ddio_state state;
	enum ddio_evidence evidence;
	bool low_confidence;
	bool needs_root; /* unknown, but root might know */
	bool steered;	 /* TPH is enabled in the NIC, and nothing shows that it is ignored */
	char port[16];	 /* the root port that decided */
	uint32_t perfctrlsts[2]; /* the raw dwords, where they were read */
	bool read;
	char why[192]; /* one clause */
};

/* The switches of a root port, both in the first byte of this dword of its configuration space. */
#define DDIO_PERFCTRLSTS_0	0x180
#define DDIO_ALLOCATING		(1U << 7) /* use_allocating_flow_wr */
#define DDIO_NO_SNOOP_ALLOCATES (1U << 3) /* NoSnoopOpWrEn */
#define DDIO_SWITCHES		(DDIO_ALLOCATING | DDIO_NO_SNOOP_ALLOCATES)

/* The state of one root port and the NIC below it, by its registers; .read: they are there. */
void ddio_of_chain(const struct facts_platform *platform, const struct facts_chain *chain,
		   struct ddio *ddio);
/* The state of all chains: any that is on wins, then what is unknown. Registers alone. */
void ddio_of_registers(const struct facts *facts, struct ddio *ddio);
/* DDIO_ON or DDIO_OFF, or DDIO_UNKNOWN: not done, or not conclusive. */
enum ddio_state ddio_of_probe(const struct answers_probe *probe);
/*
 * The same of the device as a whole: its traffic takes one way, so what goes to
 * memory there does not tell about other root ports.
 */
enum ddio_state ddio_seen(const struct facts *facts);
/* The state that the verdict goes by, from registers, statement and probe. */
void ddio_decide(const struct facts *facts, struct ddio *ddio);
const char *ddio_state_name(enum ddio_state state); /* "ON_POSSIBLE" */
const char *ddio_evidence_name(enum ddio_evidence evidence);
