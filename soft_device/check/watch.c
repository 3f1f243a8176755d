/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.c -- see watch.h: by breakpoints of the processor, which perf_event_open(2) gives to any
 * process for itself. There are four for a thread on x86-64, of 8 bytes each, and the kernel's
 * own accesses, by which peers write, do not count.
 *
 * A trap comes behind the instruction. What the device itself does there is passed over; so is a
 * store, which has changed the bytes.
 */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__x86_64__) && __has_include(<linux/perf_event.h>)
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#endif

#include "check.h"
#include "report.h"
#include "soft_device/process/target_memory.h"

#define BREAKPOINTS  32u /* for all threads together */
#define TRAP_IS_PERF 6	 /* TRAP_PERF, which older headers lack */

enum state { STATE_FREE, STATE_ARMED, STATE_SEEING, STATE_SEEN };

static struct breakpoint {
	_Atomic uint32_t state;
	struct watched watch; /* memory and length: what is watched */
	int event;
	uint64_t before; /* the bytes when it began */
	struct stack stack;
} breakpoints[BREAKPOINTS];

bool watch_any;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* but the handler takes none */
static struct sigaction before;
static bool has_handler;

/* The events are the parent's. */
static void forget_all(void)
{
	for (unsigned i = 0; i < BREAKPOINTS; i++)
		if (atomic_exchange(&breakpoints[i].state, STATE_FREE) != STATE_FREE)
			close(breakpoints[i].event);
}

const struct process_part watch_part = {.lock = &lock, .forked = forget_all};

static uint64_t load(const struct watched *watch)
{
	uint64_t bytes = 0;

	memcpy(&bytes, (const void *)(uintptr_t)watch->memory, watch->length); /* NOLINT */
	return bytes;
}

static bool is_readable(const struct watched *watch)
{
	const struct iovec piece = {(void *)(uintptr_t)watch->memory, watch->length};

	return target_memory_is_usable(&piece, 1, false);
}

#ifdef PERF_ATTR_SIZE_VER7
/* 8 bytes or fewer, as the processor takes them. */
static size_t length_at(uint64_t memory, size_t length)
{
	size_t bytes = 8;

	while (bytes > length || memory % bytes != 0)
		bytes /= 2;
	return bytes;
}

/* The event, or -errno. */
static int open_event(const struct watched *watch)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.bp_type = HW_BREAKPOINT_RW,
		.bp_addr = watch->memory,
		.bp_len = watch->length,
	};
	const long event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return event < 0 ? -errno : (int)event;
}

static void switch_event(int event, bool on)
{
	ioctl(event, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static uintptr_t pc_of(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}
#else
static size_t length_at(uint64_t memory, size_t length)
{
	(void)memory;
	(void)length;
	return 1;
}

static int open_event(const struct watched *watch)
{
	(void)watch;
	return -ENOSYS;
}

static void switch_event(int event, bool on)
{
	(void)event;
	(void)on;
}

static uintptr_t pc_of(const void *context)
{
	(void)context;
	return 0;
}
#endif

/* --- the trap --- */

static void note_load(struct breakpoint *breakpoint, uintptr_t pc)
{
	uint32_t armed = STATE_ARMED;
	bool is_seen;

	if (!atomic_compare_exchange_strong(&breakpoint->state, &armed, STATE_SEEING))
		return;
	switch_event(breakpoint->event, false); /* or the own load would trap */
	is_seen = load(&breakpoint->watch) == breakpoint->before &&
		  stack_capture(&breakpoint->stack, pc);
	if (!is_seen)
		switch_event(breakpoint->event, true);
	atomic_store(&breakpoint->state, is_seen ? STATE_SEEN : STATE_ARMED);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler == SIG_DFL) {
		signal(number, SIG_DFL);
		raise(number);
	} else if (before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	}
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	const int saved = errno;

	if (info->si_code != TRAP_IS_PERF) {
		pass_on(number, info, context);
		return;
	}
	for (unsigned i = 0; i < BREAKPOINTS; i++)
		if (atomic_load(&breakpoints[i].state) == STATE_ARMED &&
		    breakpoints[i].watch.memory == (uintptr_t)info->si_addr)
			note_load(&breakpoints[i], pc_of(context));
	errno = saved;
}

static void tell_end(int status)
{
	(void)status;
	watch_settle(true);
}

static void install(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigemptyset(&action.sa_mask);
	if (has_handler || sigaction(SIGTRAP, &action, &before) != 0)
		return;
	has_handler = true;
	check_at_end(tell_end);
}

/* --- watching --- */

/* The lock is held. */
static void arm(struct breakpoint *breakpoint, const struct watched *watch)
{
	breakpoint->watch = *watch;
	breakpoint->watch.length = length_at(watch->memory, watch->length);
	if (!is_readable(&breakpoint->watch))
		return;
	install();
	breakpoint->before = load(&breakpoint->watch);
	breakpoint->event = open_event(&breakpoint->watch);
	if (breakpoint->event >= 0) {
		atomic_store(&breakpoint->state, STATE_ARMED);
		return;
	}
	if (breakpoint->event == -ENOSPC) /* all are in use */
		return;
	watch_any = false;
	process_warn("check: watch: the processor cannot watch memory here: %s",
		     strerror(-breakpoint->event));
}

/* It ends; true, and what was there: a load was seen. The lock is held. */
static bool take(struct breakpoint *breakpoint, struct breakpoint *taken)
{
	uint32_t state = atomic_load(&breakpoint->state);

	while (state == STATE_SEEING ||
	       !atomic_compare_exchange_weak(&breakpoint->state, &state, STATE_SEEING))
		/* the handler of another thread ends soon */
		state = atomic_load(&breakpoint->state);
	switch_event(breakpoint->event, false);
	close(breakpoint->event);
	taken->watch = breakpoint->watch;
	taken->before = breakpoint->before;
	taken->stack = breakpoint->stack;
	atomic_store(&breakpoint->state, STATE_FREE);
	return state == STATE_SEEN;
}

static bool is_over(const struct watched *watch)
{
	const uint32_t now = __atomic_load_n((const uint32_t *)watch->counter, __ATOMIC_SEQ_CST);

	return (int32_t)(now - watch->number) > 0;
}

static void tell(const struct breakpoint *breakpoint)
{
	const struct watched *watch = &breakpoint->watch;
	const uint32_t stack = stack_number(&breakpoint->stack);
	struct check_finding finding;

	check_find(&finding, CHECK_EARLY_READ, stack,
		   "memory of %s was used before its completion, and had other bytes then",
		   watch->what);
	check_line(&finding, "memory", "%#llx .. %#llx", (unsigned long long)watch->memory,
		   (unsigned long long)watch->memory + watch->length);
	if (watch->qpn != 0)
		check_line(&finding, "queue pair", "QP %#x", watch->qpn);
	check_place(&finding, "used at", stack);
	check_place(&finding, "posted at", watch->stack);
	check_report(&finding);
}

void watch_settle(bool are_good)
{
	struct breakpoint taken[BREAKPOINTS];
	unsigned count = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BREAKPOINTS; i++)
		if (atomic_load(&breakpoints[i].state) != STATE_FREE &&
		    is_over(&breakpoints[i].watch) && take(&breakpoints[i], &taken[count]))
			count++;
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < count && are_good; i++)
		if (is_readable(&taken[i].watch) && load(&taken[i].watch) != taken[i].before)
			tell(&taken[i]);
}

static void forget(const void *owner, uint64_t memory, uint64_t length)
{
	struct breakpoint taken;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BREAKPOINTS; i++)
		if (atomic_load(&breakpoints[i].state) != STATE_FREE &&
		    (owner != NULL ? breakpoints[i].watch.owner == owner
				   : breakpoints[i].watch.memory - memory < length))
			take(&breakpoints[i], &taken);
	pthread_mutex_unlock(&lock);
}

void watch_forget(const void *owner)
{
	forget(owner, 0, 0);
}

void watch_forget_memory(uint64_t memory, uint64_t length)
{
	forget(NULL, memory, length);
}

void watch_begin(const struct watched *watch)
{
	unsigned i = 0;

	/* whose it was before, posted again: that has ended */
	watch_forget_memory(watch->memory, watch->length);
	pthread_mutex_lock(&lock);
	while (i < BREAKPOINTS && atomic_load(&breakpoints[i].state) != STATE_FREE)
		i++;
	if (i < BREAKPOINTS && watch_any)
		arm(&breakpoints[i], watch);
	pthread_mutex_unlock(&lock);
}
