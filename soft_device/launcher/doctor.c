/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doctor.c -- see doctor.h.
 *
 * All of it is tried or read: the device is loaded into this process and opened, a queue pair of
 * each type is made, and the loader lists what the program would be started with.
 */
#include "doctor.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "loading.h"
#include "peers.h"
#include "soft_device/process/options.h"

#define LABEL	     "%-10s "
#define DEVICES_MOST 4
#define PEERS_MOST   6

/* The device's own functions: this program is linked with none of its libraries. */
#define FUNCTIONS(ROW)                                                                             \
	ROW(get_device_list)                                                                       \
	ROW(free_device_list)                                                                      \
	ROW(open_device)                                                                           \
	ROW(close_device)                                                                          \
	ROW(query_device)                                                                          \
	ROW(query_gid)                                                                             \
	ROW(alloc_pd)                                                                              \
	ROW(dealloc_pd)                                                                            \
	ROW(create_cq)                                                                             \
	ROW(destroy_cq)                                                                            \
	ROW(create_qp)                                                                             \
	ROW(destroy_qp)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member is declared */
#define MEMBER(name) __typeof__(&ibv_##name) name;
static struct {
	FUNCTIONS(MEMBER)
} verbs;

/* True if the library has them all; dlerror() has what is missing. */
static bool load(const char *library)
{
#define ROW_OF(name) {"ibv_" #name, &verbs.name},
	const struct {
		const char *name;
		void *to; /* a pointer to a function: POSIX has dlsym() fill it like that */
	} functions[] = {FUNCTIONS(ROW_OF)};
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle != NULL && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (function == NULL)
			return false;
		memcpy(functions[i].to, &function, sizeof(function));
	}
	return handle != NULL;
}

/* --- the device --- */

static void print_address(const union ibv_gid *gid)
{
	const bool is_ipv4 = gid->global.subnet_prefix == 0 && gid->raw[10] == 0xff;
	char text[INET6_ADDRSTRLEN];

	fputs(inet_ntop(is_ipv4 ? AF_INET : AF_INET6, gid->raw + (is_ipv4 ? 12 : 0), text,
			sizeof(text)),
	      stdout);
}

/* The last entry of the table is the address itself, whatever else the table has. */
static bool print_device(struct ibv_device *device, bool first)
{
	struct ibv_context *context = verbs.open_device(device);
	union ibv_gid gid, address = {.raw = {0}};

	if (context == NULL)
		return false;
	for (int i = 0; verbs.query_gid(context, 1, i, &gid) == 0; i++)
		address = gid;
	printf("%s%s ", first ? "" : ", ", device->name);
	print_address(&address);
	verbs.close_device(context);
	return true;
}

static bool has_type(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
	};
	struct ibv_qp *qp = verbs.create_qp(pd, &attr);

	return qp != NULL && verbs.destroy_qp(qp) == 0;
}

static void print_types(struct ibv_context *context)
{
	static const struct {
		enum ibv_qp_type type;
		const char *name;
	} types[] = {{IBV_QPT_RC, "RC"}, {IBV_QPT_UC, "UC"}, {IBV_QPT_UD, "UD"}};
	struct ibv_pd *pd = verbs.alloc_pd(context);
	struct ibv_cq *cq = verbs.create_cq(context, 1, NULL, NULL, 0);
	unsigned found = 0;

	for (size_t i = 0; pd != NULL && cq != NULL && i < sizeof(types) / sizeof(types[0]); i++)
		if (has_type(pd, cq, types[i].type))
			printf("%s%s", found++ > 0 ? ", " : "", types[i].name);
	printf(found > 0 ? " queue pairs" : "no queue pair can be made");
	if (cq != NULL)
		verbs.destroy_cq(cq);
	if (pd != NULL)
		verbs.dealloc_pd(pd);
}

static void print_offer(struct ibv_device *device)
{
	struct ibv_context *context = verbs.open_device(device);
	struct ibv_device_attr attr;

	printf(LABEL, "offers");
	if (context == NULL || verbs.query_device(context, &attr) != 0) {
		printf("%s\n", strerror(errno));
		return;
	}
	print_types(context);
	printf(": %d of them, %d requests each, %d memory regions, %d completion queues\n",
	       attr.max_qp, attr.max_qp_wr, attr.max_mr, attr.max_cq);
	verbs.close_device(context);
}

static bool print_devices(void)
{
	int count = 0, shown = 0;
	struct ibv_device **list = verbs.get_device_list(&count);

	printf(LABEL, "devices");
	while (list != NULL && shown < count && shown < DEVICES_MOST &&
	       print_device(list[shown], shown == 0))
		shown++;
	if (shown == 0)
		printf("none: %s\n", count == 0 ? "this host has no address" : strerror(errno));
	else if (shown < count)
		printf(" and %d more (ibv_devices)\n", count - shown);
	else
		printf("\n");
	if (shown > 0)
		print_offer(list[0]);
	if (list != NULL)
		verbs.free_device_list(list);
	return shown > 0;
}

/* --- the program --- */

/* True if what dlopen() finds by its name is the device: the launcher has put it there. */
static bool names_are_preloaded(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "libibverbs.so.1") != NULL;
}

static int print_loading(const struct loading *loading)
{
	if (!loading->listed) {
		printf("undetermined: its loader did not list its libraries\n");
		return DOCTOR_UNDETERMINED;
	}
	if (!loading->has_device) {
		printf("does not get the device: its loader did not take it\n");
		return DOCTOR_BAD;
	}
	if (loading->by_path[0] != '\0' && !loading->linked) {
		printf("does not get the device where it loads %s, by its path\n",
		       loading->by_path);
		return DOCTOR_BAD;
	}
	if (loading->linked) {
		printf("gets the device: it is linked with libibverbs or librdmacm\n");
		return DOCTOR_GOOD;
	}
	if (loading->by_name) {
		printf(names_are_preloaded()
			       ? "gets the device: it loads libibverbs or librdmacm by name\n"
			       : "does not get the device: it loads libibverbs at run time\n");
		return names_are_preloaded() ? DOCTOR_GOOD : DOCTOR_BAD;
	}
	printf("undetermined: neither linked with libibverbs nor does its file name it; what it "
	       "loads may\n");
	return DOCTOR_UNDETERMINED;
}

static int print_program(const char *word, const struct program *program, const char *reason)
{
	struct loading loading;

	printf(LABEL, "program");
	if (program == NULL) {
		printf("%s\n", reason);
		return DOCTOR_BAD;
	}
	if (strcmp(program->path, program->binary) != 0)
		printf("%s, a script, and its interpreter %s: ", word, program->binary);
	else
		printf("%s ", word);
	loading_find(program, &loading);
	return print_loading(&loading);
}

/* --- the rest --- */

/* The launcher has checked the words. */
static bool is_verbose(void)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	return soft_options_parse(getenv("RPMA_SOFT"), &options, error) == 0 && options.verbose;
}

static void print_words(void)
{
	const char *words = getenv("RPMA_SOFT");

	if (words != NULL && words[0] != '\0')
		printf(LABEL "%s\n", "RPMA_SOFT", words);
}

static void print_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		printf(LABEL "%llu open files: a local peer takes 3, one over TCP 2\n", "limits",
		       (unsigned long long)files.rlim_cur);
}

static void print_memory(void)
{
	const int error = peers_memory_error();

	printf(LABEL, "transport");
	if (error == 0)
		printf("local: this process may read the memory of others of its user\n");
	else
		printf("tcp: process_vm_readv() fails, %s (a seccomp filter, or "
		       "kernel.yama.ptrace_scope 2 or 3)\n",
		       strerror(error));
	printf(LABEL "%s, for other hosts; other users of this host are refused\n", "secret",
	       getenv("RPMA_SOFT_SECRET") != NULL ? "set" : "none");
}

int doctor(const char *library, const char *word, const struct program *program, const char *reason)
{
	int status = DOCTOR_GOOD;

	printf(LABEL "%s\n", "library", library);
	if (!load(library)) {
		printf(LABEL "none: %s\n", "devices", dlerror());
		return DOCTOR_BAD;
	}
	print_words();
	if (!print_devices())
		status = DOCTOR_BAD;
	if (word != NULL && status == DOCTOR_GOOD)
		status = print_program(word, program, reason);
	print_memory();
	print_limits();
	peers_print(is_verbose() ? UINT_MAX : PEERS_MOST);
	if (fflush(stdout) != 0)
		status = DOCTOR_BAD;
	return status;
}
