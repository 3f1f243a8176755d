/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_ddio.h -- the host of made_facts.h in each state of cache allocation.
 *
 * Bit 7 of the dword at 0x180 allows allocation, bit 3 No Snoop writes to
 * allocate; bit 9 of the dword at 0x184 makes the port ignore TPH.
 */
#pragma once

#include "cases.h"

#define BIT_3	 0x8U
#define BIT_7	 0x80U
#define BIT_9	 0x200U

#define NO_SNOOP 0x0800 /* in device control */

static struct facts *host; /* in a HOST_TEST: where all is well, to be changed */

static inline int host_setup(void **state)
{
	host = made_facts();
	return 0;
}

static inline int host_teardown(void **state)
{
	made_free(host);
	return 0;
}

#define HOST_TEST(name) TEST(name, host_setup, host_teardown)

static inline struct ddio registers_of(struct facts *facts)
{
	struct ddio ddio;

	ddio_of_registers(facts, &ddio);
	return ddio;
}

static inline void assert_state(struct facts *facts, enum ddio_state state, const char *why)
{
	struct ddio ddio = registers_of(facts);

	if (ddio.state != state || strstr(ddio.why, why) == NULL)
		fail_msg("%s, \"%s\" in place of %s, \"...%s...\"", ddio_state_name(ddio.state),
			 ddio.why, ddio_state_name(state), why);
	if (state == DDIO_UNKNOWN) {
		EQUAL((ddio.evidence, DDIO_NO_EVIDENCE), (ddio.read, false));
	}
}

static inline void add_tph(struct facts_function *nic, uint32_t bits)
{
	made_extended(nic, 0x140, 0x17);
	made_put(nic, 0x140 + 8, bits << 8, 4);
}

static inline void made_state(struct facts_chain *chain, enum ddio_state state)
{
	switch (state) {
	case DDIO_ON:
		made_registers(&chain->functions[0], BIT_7, 0);
		break;
	case DDIO_UNKNOWN:
		chain->functions[0].config.len = 64;
		break;
	case DDIO_ON_POSSIBLE:
		add_tph(&chain->functions[1], 1);
		break;
	case DDIO_OFF_WARN:
		made_registers(&chain->functions[0], BIT_3, 0);
		break;
	case DDIO_OFF:
		break;
	}
}
