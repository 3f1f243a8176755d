/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gather_pci.c -- the way from a root port to a NIC, in trees as the
 * kernel lays them out: switches, virtual functions, bonds and VLANs.
 */
#include "tree.h"

static struct facts_pci pci;

static int chains_teardown(void **state)
{
	free(pci.chains);
	pci.chains = NULL;
	return root_teardown(state);
}

#define CHAINS_TEST(name) TEST(name, root_setup, chains_teardown)

static void gather(size_t count)
{
	tree_gather_pci(&pci);
	assert_int_equal(pci.count, count);
}

#define CHAIN(chain, ...) assert_chain(chain, (const char *const[]){__VA_ARGS__, NULL})

static void assert_chain(const struct facts_chain *chain, const char *const *addresses)
{
	size_t n = 0;

	for (; addresses[n] != NULL; n++) {
		assert_true(n < chain->count);
		assert_string_equal(chain->functions[n].address, addresses[n]);
	}
	EQUAL((chain->count, n), (chain->cut, false));
}

CHAINS_TEST(a_nic_below_its_port)
{
	const struct facts_function *nic;

	tree_host();
	gather(1);
	CHAIN(&pci.chains[0], "0000:16:00.0", "0000:17:00.0");
	assert_int_equal(pci.chains[0].nics, 1);
	nic = &pci.chains[0].functions[1];
	EQUAL((nic->path, "sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0"),
	      (nic->vendor, 0x15b3), (nic->device, 0x1017), (nic->config.len, 4096),
	      (nic->current_speed, "8.0 GT/s PCIe"), (nic->current_width, 8), (nic->max_width, 16));
}

CHAINS_TEST(ports_of_a_switch_are_between)
{
	tree_function(PORT, 0x8086, 0x2030, 4);
	tree_function(NIC, 0x10b5, 0x8747, 5);
	tree_function(NIC "0000:18:08.0/", 0x10b5, 0x8747, 6);
	tree_function(NIC "0000:18:08.0/0000:19:00.0/", 0x15b3, 0x1017, 0);
	tree_device("mlx5_0", NIC "0000:18:08.0/0000:19:00.0");
	gather(1);
	CHAIN(&pci.chains[0], "0000:16:00.0", "0000:17:00.0", "0000:18:08.0", "0000:19:00.0");
}

/* Bridges of a volume management device are host bridges of their own. */
CHAINS_TEST(the_last_host_bridge_counts)
{
	const char *port = HOST_BRIDGE "0000:16:05.5/pci10000:00/10000:00:02.0/";
	const char *nic = HOST_BRIDGE "0000:16:05.5/pci10000:00/10000:00:02.0/10000:01:00.0/";

	tree_function(port, 0x8086, 0x2030, 4);
	tree_function(nic, 0x15b3, 0x1017, 0);
	tree_device("mlx5_0", nic);
	gather(1);
	CHAIN(&pci.chains[0], "10000:00:02.0", "10000:01:00.0");
}

static void make_virtual(const char *virtual)
{
	char link[PATH_MAX];

	tree_function(PORT, 0x8086, 0x2030, 4);
	tree_function(NIC, 0x15b3, 0x1017, 0);
	tree_device("mlx5_2", virtual);
	tree_join(link, virtual, "/physfn");
	tree_link(NIC, link);
}

/* It is not known then whether it sends TPH, which is not the same as no. */
CHAINS_TEST(a_virtual_function_without_config_is_there_all_the_same)
{
	make_virtual(PORT "0000:17:00.2");
	gather(1);
	CHAIN(&pci.chains[0], "0000:16:00.0", "0000:17:00.0", "0000:17:00.2");
	EQUAL((pci.chains[0].nics, 2), (pci.chains[0].functions[2].config.len, 0));
}

CHAINS_TEST(a_virtual_function_whose_physical_one_is_hidden)
{
	tree_function(PORT, 0x8086, 0x2030, 4);
	tree_function(NIC, 0x15b3, 0x1018, 0);
	tree_device("mlx5_2", NIC);
	scratch_link("../0000:99:00.0", NIC "physfn");
	gather(1);
	assert_true(pci.chains[0].cut);
}

#define OTHER_PORT "sys/devices/pci0000:64/0000:64:00.0/"
#define OTHER_NIC  OTHER_PORT "0000:65:00.0/"

static void make_other_nic(void)
{
	tree_function(OTHER_PORT, 0x8086, 0x2030, 4);
	tree_function(OTHER_NIC, 0x15b3, 0x1017, 0);
}

static void assert_two_nics(void)
{
	gather(2);
	EQUAL((pci.cut, false), (pci.chains[0].functions[0].address, "0000:16:00.0"),
	      (pci.chains[1].functions[0].address, "0000:64:00.0"));
}

CHAINS_TEST(interfaces_of_the_gids_are_followed)
{
	tree_host();
	make_other_nic();
	tree_netdev("mlx5_0", 0, "eth0", NIC);
	tree_netdev("mlx5_0", 1, "eth1", OTHER_NIC);
	assert_two_nics();
}

CHAINS_TEST(a_bond_is_followed_by_its_links)
{
	tree_host();
	make_other_nic();
	tree_netdev("mlx5_0", 0, "bond0", "");
	tree_link("sys/class/net/eth0", "sys/class/net/bond0/lower_eth0");
	tree_link("sys/class/net/eth1", "sys/class/net/bond0/lower_eth1");
	tree_link(NIC, "sys/class/net/eth0/device");
	tree_link(OTHER_NIC, "sys/class/net/eth1/device");
	assert_two_nics();
}

CHAINS_TEST(a_bond_is_followed_by_its_list)
{
	tree_host();
	make_other_nic();
	tree_netdev("mlx5_0", 0, "bond0", "");
	scratch_write("sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
	tree_link(NIC, "sys/class/net/eth0/device");
	tree_link(OTHER_NIC, "sys/class/net/eth1/device");
	assert_two_nics();
}

CHAINS_TEST(a_vlan_of_a_bond_is_followed)
{
	tree_host();
	make_other_nic();
	tree_netdev("mlx5_0", 3, "bond0.100", "");
	tree_link("sys/class/net/bond0", "sys/class/net/bond0.100/lower_bond0");
	tree_link("sys/class/net/eth1", "sys/class/net/bond0/lower_eth1");
	tree_link(OTHER_NIC, "sys/class/net/eth1/device");
	assert_two_nics();
}

/* A NIC of which a bridge is made too is no NIC of this device. */
CHAINS_TEST(what_else_is_in_a_bridge_is_not_followed)
{
	tree_host();
	make_other_nic();
	tree_netdev("mlx5_0", 0, "br0", "");
	scratch_write("sys/class/net/br0/bridge/bridge_id", "8000.000000000000\n");
	tree_link("sys/class/net/eth1", "sys/class/net/br0/lower_eth1");
	tree_link(OTHER_NIC, "sys/class/net/eth1/device");
	gather(1);
}

CHAINS_TEST(interfaces_on_top_of_each_other_in_a_circle_end)
{
	tree_host();
	tree_netdev("mlx5_0", 0, "a", "");
	tree_link("sys/class/net/b", "sys/class/net/a/lower_b");
	tree_link("sys/class/net/a", "sys/class/net/b/lower_a");
	gather(1);
	assert_true(pci.cut);
}

CHAINS_TEST(names_that_lead_elsewhere_are_left_out)
{
	tree_host();
	make_other_nic();
	scratch_write("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "..\n");
	scratch_write("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1",
		      "../../devices/pci0000:64/0000:64:00.0\n");
	gather(1);
}

/* There is no room for all: that must not go unseen. */
CHAINS_TEST(more_nics_than_room_are_said)
{
	char netdev[16], nic[64];

	tree_host();
	for (int i = 0; i < FACTS_CHAINS_MAX; i++) {
		snprintf(netdev, sizeof(netdev), "eth%d", i);
		snprintf(nic, sizeof(nic), OTHER_PORT "0000:65:00.%d/", i);
		tree_function(nic, 0x15b3, 0x1017, 0);
		tree_netdev("mlx5_0", i, netdev, nic);
	}
	gather(FACTS_CHAINS_MAX);
	assert_true(pci.cut);
}

CHAINS_TEST(a_path_that_is_too_long_is_cut)
{
	char path[PATH_MAX] = "sys/devices/pci0000:00";

	for (int bus = 0; bus <= FACTS_CHAIN_MAX; bus++) {
		size_t len = strlen(path);

		snprintf(path + len, sizeof(path) - len, "/0000:%02x:00.0", bus);
	}
	strcat(path, "/");
	tree_function(path, 0x15b3, 0x1017, 0);
	tree_device("mlx5_0", path);
	tree_gather_pci(&pci);
	assert_true(pci.count == 0 || pci.chains[0].cut);
}

CHAINS_TEST(a_device_in_software_has_no_chain)
{
	tree_function(PORT, 0x8086, 0x2030, 4);
	tree_function(NIC, 0x8086, 0x1572, 0);
	tree_device("rxe0", "");
	scratch_write("sys/class/infiniband/rxe0/parent", "eth0\n");
	tree_netdev("rxe0", 0, "eth0", NIC);
	gather(0);
	assert_null(pci.chains);
}

CHAINS_TEST(sizes_of_a_link_are_bounded)
{
	tree_host();
	tree_file(NIC, "current_link_width", "-7\n");
	tree_file(NIC, "max_link_width", "99999999999999999999\n");
	tree_gather_pci(&pci);
	EQUAL((pci.chains[0].functions[1].current_width, -1),
	      (pci.chains[0].functions[1].max_width, -1));
}
