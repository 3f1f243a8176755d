/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config_space.h -- builds the configuration space of a PCI function, from the
 * PCI Express Base Specification: 7.5.1 the header, 7.5.3 the PCI Express
 * capability, 7.6 the heads of extended capabilities. Numbers are written out,
 * so that they do not come from the code that is tested.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct config_space {
	uint8_t bytes[4096];
	size_t last;	      /* the capability that the next one is chained to; 0: none yet */
	size_t last_extended; /* the same */
};

static inline void config_space_put(struct config_space *space, size_t at, uint32_t value,
				    size_t width)
{
	for (size_t i = 0; i < width; i++)
		space->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

/* header: 0 is an endpoint, 1 a bridge. */
static inline void config_space_begin(struct config_space *space, uint16_t vendor, uint16_t device,
				      uint8_t header)
{
	memset(space, 0, sizeof(*space));
	config_space_put(space, 0x00, vendor, 2);
	config_space_put(space, 0x02, device, 2);
	config_space_put(space, 0x0e, header, 1);
}

/* In the first 256 bytes: an id and the place of the next; the status marks that there is a list.
 */
static inline void config_space_add(struct config_space *space, size_t at, uint8_t id)
{
	config_space_put(space, space->last == 0 ? 0x34 : space->last + 1, (uint32_t)at, 1);
	config_space_put(space, 0x06, 0x10, 2);
	config_space_put(space, at, id, 1);
	space->last = at;
}

/* id in bits 15:0, version in 19:16, the place of the next in 31:20; the first is at 0x100. */
static inline void config_space_add_extended(struct config_space *space, size_t at, uint16_t id,
					     uint8_t version)
{
	if (space->last_extended != 0)
		config_space_put(space, space->last_extended + 2,
				 (uint32_t)at << 4 | (space->bytes[space->last_extended + 2] & 0xf),
				 2);
	config_space_put(space, at, (uint32_t)version << 16 | id, 4);
	space->last_extended = at;
}

/* PCI Express, version 2: type in bits 7:4 of its flags, control at +8. */
static inline void config_space_add_express(struct config_space *space, size_t at, uint8_t type,
					    uint16_t control)
{
	config_space_add(space, at, 0x10);
	config_space_put(space, at + 2, (uint32_t)type << 4 | 2, 2);
	config_space_put(space, at + 8, control, 2);
}

/* Its link: speeds 1 to 6 and lanes, the possible and the present. */
static inline void config_space_link(struct config_space *space, size_t at, uint8_t max_speed,
				     uint8_t max_width, uint8_t speed, uint8_t width)
{
	config_space_put(space, at + 0x0c, (uint32_t)max_width << 4 | max_speed, 4);
	config_space_put(space, at + 0x12, (uint32_t)width << 4 | speed, 2);
}
