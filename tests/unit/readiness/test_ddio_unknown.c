/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ddio_unknown.c -- what makes the register unreadable, or something
 * else: never off, whatever the bits at its place are.
 */
#include "made_ddio.h"

CHANGE(without_privilege, made_port(f)->config.len = 64)
CHANGE(without_extended_space, made_port(f)->config.len = 256)
CHANGE(without_a_file, made_port(f)->config.len = 0)
CHANGE(vanished, memset(made_port(f)->config.bytes, 0xff, PCI_CONFIG_BYTES))
CHANGE(register_of_ones, made_registers(made_port(f), UINT32_MAX, 0))
CHANGE(second_register_of_ones, made_registers(made_port(f), 0, UINT32_MAX))
CHANGE(header_at_180, made_extended(made_port(f), 0x180, 0x000b))
CHANGE(header_at_184, made_extended(made_port(f), 0x184, 0x000d))
/* the header is there, but no list leads to it */
CHANGE(header_not_in_the_list, made_registers(made_port(f), 0x1901000b, 0))
CHANGE(list_is_a_circle, made_extended(made_port(f), 0x140, 0x000d),
       made_put(made_port(f), 0x140, 0x1001000d, 4))
CHANGE(ice_lake, f->platform.model = 0x6a, f->platform.stepping = 6, made_port(f)->device = 0x347a,
       made_extended(made_port(f), 0x180, 0x000b), made_put(made_port(f), 0x180, 0x1901000b, 4),
       made_put(made_port(f), 0x190, 0x00010001, 4))
/* a port whose bits would say "off" on a processor that is not known to have them */
CHANGE(sapphire_rapids, f->platform.model = 0x8f)
CHANGE(model_of_another_family, f->platform.family = 15)
CHANGE(amd, snprintf(f->platform.vendor, sizeof(f->platform.vendor), "AuthenticAMD"))
CHANGE(arm, snprintf(f->platform.vendor, sizeof(f->platform.vendor), "Arm 0x41"),
       f->platform.family = f->platform.model = -1)
CHANGE(processor_unknown, f->platform.vendor[0] = '\0', f->platform.family = f->platform.model = -1)
CHANGE(port_of_the_chipset, made_port(f)->device = 0xa190)
CHANGE(port_of_qemu, made_port(f)->vendor = 0x1b36, made_port(f)->device = 0x000c)
CHANGE(in_a_guest, snprintf(f->platform.emulated, sizeof(f->platform.emulated), "QEMU"))

static void no_root_port(struct facts *f)
{
	struct facts_chain *chain = &f->pci.chains[0];

	chain->functions[0] = chain->functions[1];
	chain->count = 1;
}

CHANGE(top_is_a_switch, made_function(made_port(f), "0000:16:00.0", 0x8086, 0x2030, MADE_UPSTREAM))
CHANGE(top_is_no_bridge, made_put(made_port(f), 0x0a, 0x0600, 2))
CHANGE(path_too_long, f->pci.chains[0].cut = true)
CHANGE(no_path, f->pci.count = 0)
CHANGE(more_nics_than_room, f->pci.cut = true)
CHANGE(siw, in_software(f, DEVICE_SIW))

TEST(every_doubt_is_unknown)
{
	static const struct {
		void (*change)(struct facts *facts);
		const char *why;
	} cases[] = {
		{without_privilege, "needs root"},
		{without_extended_space, "ends at byte 256"},
		{without_a_file, "cannot be read"},
		{vanished, "all ones"},
		{register_of_ones, "all ones"},
		{second_register_of_ones, "all ones"},
		{header_at_180, "header of an extended capability"},
		{header_at_184, "header of an extended capability"},
		{header_not_in_the_list, "header of an extended capability"},
		{list_is_a_circle, "broken list"},
		{ice_lake, "0x1901000b"},
		{sapphire_rapids, "model 0x8f"},
		{model_of_another_family, "family 15"},
		{amd, "AuthenticAMD"},
		{arm, "Arm 0x41"},
		{processor_unknown, "processor is unknown"},
		{port_of_the_chipset, "8086:a190"},
		{port_of_qemu, "1b36:000c"},
		{in_a_guest, "hypervisor (QEMU)"},
		{no_root_port, "no root port above it"},
		{top_is_a_switch, "is not a root port"},
		{top_is_no_bridge, "is not a root port"},
		{path_too_long, "cannot be followed"},
		{no_path, "no PCI parent"},
		{more_nics_than_room, "more NICs"},
		{rxe, "the CPU copies"},
		{siw, "the CPU copies"},
		{soft, "the CPU copies"},
		{copied_by_the_cpu, "the CPU copies"},
		{no_device, "no device"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts *facts = made_facts();

		cases[i].change(facts);
		assert_state(facts, DDIO_UNKNOWN, cases[i].why);
		made_free(facts);
	}
}
