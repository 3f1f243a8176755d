/* SPDX-License-Identifier: BSD-3-Clause */
/* test_anonymise.c -- names go, what a check decides by stays. */
#include <ctype.h>

#include "common/host/anonymise.h"
#include "tests/lib/config_space.h"
#include "tests/lib/test.h"

static char out[512];

static const uint8_t key[ANONYMISE_KEY_BYTES] = {1, 2, 3};
static const uint8_t other_key[ANONYMISE_KEY_BYTES] = {1, 2, 4};

static size_t anonymised(const char *path, const char *text)
{
	size_t len = strlen(text);

	assert_true(len < 512);
	memcpy(out, text, len + 1);
	len = anonymise_file(key, path, out, len);
	out[len] = '\0';
	return len;
}

static void stays(const char *path, const char *text)
{
	anonymised(path, text);
	assert_string_equal(out, text);
}

/* The first `kept` bytes are equal, the shape is, and something after them is not. */
static void changes(const char *path, const char *text, size_t kept)
{
	assert_int_equal(anonymised(path, text), strlen(text));
	assert_memory_equal(out, text, kept);
	assert_string_not_equal(out + kept, text + kept);
	for (size_t i = 0; text[i] != '\0'; i++) {
		EQUAL((isxdigit((unsigned char)text[i]) != 0, isxdigit((unsigned char)out[i]) != 0),
		      (ispunct((unsigned char)text[i]) != 0, ispunct((unsigned char)out[i]) != 0));
	}
}

#define GIDS "sys/class/infiniband/mlx5_0/ports/1/gids/0"

TEST(the_kind_of_a_gid_stays)
{
	stays(GIDS, "0000:0000:0000:0000:0000:0000:0000:0000\n");
	changes(GIDS, "fe80:0000:0000:0000:0e42:a1ff:fe68:7a44\n", 20);
	changes(GIDS, "fe80:0000:0000:0001:0e42:a1ff:fe68:7a44\n", 20);
	changes(GIDS, "0000:0000:0000:0000:0000:ffff:c0a8:0102\n", 32);
	changes(GIDS, "0000:0000:0000:0000:0000:ffff:a9fe:0102\n", 34);
	changes(GIDS, "2001:0db8:0000:0000:0e42:a1ff:fe68:7a44\n", 5);
	changes(GIDS, "fd00:0000:0000:0000:0000:0000:0000:0001\n", 5);
}

TEST(names_of_parts_are_replaced)
{
	changes("sys/class/infiniband/mlx5_0/node_guid", "0c42:a103:0068:7a44\n", 0);
	changes("sys/class/infiniband/mlx5_0/sys_image_guid", "0c42:a103:0068:7a44\n", 0);
	changes("sys/bus/nd/devices/nmem0/nfit/serial", "0x0000123a\n", 2);
	changes("sys/bus/nd/devices/nmem0/nfit/id", "8089-a2-1834-00001234\n", 0);
	changes("sys/bus/nd/devices/namespace0.0/uuid", "de305d54-75b4-431b-adb2-eb6b9e546014\n",
		0);
	changes("sys/class/net/eth0/address", "0c:42:a1:68:7a:44\n", 0);
	changes("anything", "at 0c:42:a1:68:7a:44, on\n", 3);
	changes("anything", "roce0c42a1687a44 rocex0c42a1687a44\n", 22);
}

TEST(a_host_name_keeps_its_shape_alone)
{
	EQUAL((anonymised("proc/sys/kernel/hostname", "Node-17.lab\n"), 12),
	      (isupper((unsigned char)out[0]) && islower((unsigned char)out[1]), true));
	assert_true(out[4] == '-' && isdigit((unsigned char)out[5]) && out[7] == '.');
	assert_null(strstr(out, "ode"));
	assert_null(strstr(out, "lab"));
}

/* Numbers, PCI addresses, versions and times are no names. */
TEST(what_names_nothing_stays)
{
	static const char *const texts[] = {
		"0000:17:00.0\n",	 "268435456\n",		"16.35.2000\n",
		"8.0 GT/s PCIe\n",	 "memory_controller\n", "ffffffff,ffffffff,ffffffff\n",
		"100 Gb/sec (4X EDR)\n", "enp23s0f0np0\n",	"0-15,32-47\n",
		"00:00:00:00:00:00\n",	 "12:34:56\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		stays("sys/x/file", texts[i]);
	stays("sys/class/infiniband/mlx5_0/node_guid", "0000:0000:0000:0000\n");
	stays("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\n");
}

TEST(equal_names_stay_equal)
{
	char first[512], with_other_key[] = "0c42:a103:0068:7a44";

	anonymised("a/node_guid", "0c42:a103:0068:7a44");
	strcpy(first, out);
	anonymised("b/any", "0c42:a103:0068:7a44");
	assert_string_equal(out, first);
	anonymised("b/any", "0c42:a103:0068:7a45");
	assert_string_not_equal(out, first);
	anonymise_text(other_key, with_other_key, strlen(with_other_key));
	assert_string_not_equal(first, with_other_key);
}

TEST(of_the_command_line_only_what_is_read_stays)
{
	anonymised(
		"proc/cmdline",
		"root=UUID=de305d54-75b4-431b-adb2-eb6b9e546014 pci=notph password=x iommu=pt\n");
	assert_string_equal(out, "pci=notph iommu=pt\n");
	anonymised("proc/cmdline", "quiet pci=notph\n");
	assert_string_equal(out, "pci=notph\n");
	anonymised("proc/cmdline", "quiet\n");
	assert_string_equal(out, "\n");
}

TEST(of_mounts_the_use_of_dax_stays)
{
	anonymised("proc/self/mountinfo",
		   "36 35 259:1 / /mnt/pmem rw,noatime shared:1 - ext4 /dev/pmem0 rw,dax=always\n"
		   "37 35 0:50 /export /home/ann rw - nfs4 filer:/vol/ann rw,addr=10.1.2.3\n"
		   "broken\n"
		   "38 35 8:1 / / rw master:1 - xfs /dev/sda1 rw,attr2");
	assert_string_equal(out,
			    "36 35 259:1 / /mnt/pmem rw,noatime - ext4 /dev/pmem0 rw,dax=always\n"
			    "37 35 0:50 / /home/ann rw - nfs4 none rw\n");
}

/* 7.9.3: the device serial number is eight bytes at +4 of capability 3. */
TEST(a_configuration_space_keeps_all_but_the_serial_number)
{
	struct config_space space, clean;

	config_space_begin(&space, 0x15b3, 0x1017, 0);
	config_space_add_express(&space, 0x60, 0, 0);
	config_space_add_extended(&space, 0x100, 1, 1);
	config_space_add_extended(&space, 0x140, 3, 1);
	config_space_put(&space, 0x144, 0x12345678, 4);
	config_space_put(&space, 0x148, 0x9abcdef0, 4);
	clean = space;
	assert_int_equal(anonymise_file(key, "sys/x/config", (char *)clean.bytes, 4096), 4096);
	assert_memory_not_equal(clean.bytes + 0x144, space.bytes + 0x144, 8);
	assert_memory_equal(clean.bytes, space.bytes, 0x144);
	assert_memory_equal(clean.bytes + 0x14c, space.bytes + 0x14c, 4096 - 0x14c);
	clean = space;
	EQUAL((anonymise_file(key, "sys/x/config", (char *)clean.bytes, 0x148), 0x148),
	      (anonymise_file(key, "sys/x/config", (char *)clean.bytes, 0), 0));
}

TEST(the_serial_number_of_a_board_goes)
{
	anonymised("proc/cpuinfo", "Hardware\t: Board 9\nSerial\t\t: 100000003d1d1c36\nModel: 4\n");
	assert_memory_equal(out, "Hardware\t: Board 9\nSerial\t\t: ", 29);
	assert_null(strstr(out, "100000003d1d1c36"));
	assert_non_null(strstr(out, "\nModel: 4\n"));
}
