/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_soft.c -- when a tool starts itself again on the software device. There
 * is no rpma-soft to be found here, so that starting it fails.
 */
#include "common/base/failure.h"
#include "common/rdma/soft.h"
#include "tests/lib/scratch_root.h"

#define IB "sys/class/infiniband/"

static const char *const words[] = {"local", NULL};

/* The outcome of soft_enter(): NULL for staying, else the sentence of the failed start. */
static const char *enter(const char *device)
{
	int ret;

	failure_get()->text[0] = '\0';
	assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
	ret = soft_enter(&root, device, true, (char *const *)(uintptr_t)words);
	if (ret == 0)
		return NULL;
	assert_int_equal(failure_get()->code, EXIT_NO_DEVICE);
	return failure_get()->text;
}

static void make_device(const char *name, const char *netdev)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), IB "%s/node_type", name);
	scratch_write(path, "1: CA\n");
	snprintf(path, sizeof(path), IB "%s/parent", name);
	scratch_write(path, netdev);
}

/* A program that loads the tool, rather than being it, is its user's to start. */
ROOT_TEST(who_has_no_words_is_told_how)
{
	assert_int_not_equal(soft_enter(&root, NULL, true, NULL), 0);
	EQUAL((failure_get()->code, EXIT_NO_DEVICE),
	      (failure_get()->text, HAS("this host has no RDMA device: rpma-soft ")));
	make_device("rxe0", "lo\n");
	assert_int_equal(soft_enter(&root, NULL, true, NULL), 0);
}

ROOT_TEST(a_device_with_an_address_is_taken)
{
	make_device("rxe0", "none\n");
	make_device("rxe1", "lo\n");
	assert_null(enter(NULL));
}

ROOT_TEST(auto_starts_anew_without_a_device)
{
	assert_non_null(strstr(enter(NULL), "this host has no RDMA device: rpma-soft"));
	make_device("rxe0", "none\n");
	assert_non_null(strstr(enter(NULL), "no RDMA device of this host has an IP address"));
}

ROOT_TEST(soft_starts_anew_in_any_case)
{
	make_device("rxe0", "lo\n");
	assert_non_null(strstr(enter("soft"), "--device soft: rpma-soft"));
	assert_non_null(enter("soft0"));
	assert_non_null(enter("soft12"));
}

ROOT_TEST(another_name_stays)
{
	EQUAL((enter("rxe0"), NULL), (enter("software"), NULL), (enter("sof"), NULL));
	make_device("soft3", "none\n");
	assert_null(enter("soft3"));
}

ROOT_TEST(it_is_not_entered_twice)
{
	const char *text;

	assert_int_equal(setenv("LD_PRELOAD", "/none/librpma-soft.so", 1), 0);
	text = enter("soft");
	assert_int_equal(unsetenv("LD_PRELOAD"), 0);
	assert_non_null(text);
	assert_non_null(strstr(text, "was not loaded"));
}

TEST(soft_is_any_of_its_devices)
{
	const struct device soft = {.name = "soft1", .kind = DEVICE_SOFT};
	const struct device rxe = {.name = "rxe0", .kind = DEVICE_RXE};

	EQUAL((device_is(&soft, NULL) && device_is(&rxe, NULL), true),
	      (device_is(&soft, "soft") && device_is(&soft, "soft1"), true),
	      (device_is(&soft, "soft0") || device_is(&rxe, "soft"), false));
}
