/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack.c -- see stack.h.
 *
 * Unwinding costs microseconds. So a thread remembers, of the places where it entered the device,
 * the addresses on its stack at which the return addresses are. As long as these hold the same
 * values, the stack is the same. That is how x86-64 keeps them: below the canonical frame address
 * of the function that was called. Where it is not so, nothing is remembered.
 */
#include "stack.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "script.h"

#define BUCKETS	   (1u << 12)
#define REMEMBERED 32u

struct known {
	struct stack stack;
	uint32_t next; /* in its bucket */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *known[STACKS_MOST]; /* under the lock; one that is there stays */
static uint32_t known_count = 1;	 /* 0 is none */
static uint32_t buckets[BUCKETS];
static struct {
	uintptr_t from, to;
} own[2]; /* code of the device, and of heap.c */

struct frame {
	const uintptr_t *at;
	uintptr_t pc;
};

struct memory {
	struct stack_entry entry; /* pc is 0: nothing is remembered here */
	const struct symbol *script;
	uint32_t number;
	uint32_t count;
	struct frame frame[STACK_DEEP];
};

/* REMEMBERED of them: little room of the kind that _Thread_local takes is left for dlopen(). */
static _Thread_local struct memory *memories __attribute__((tls_model("initial-exec")));
static pthread_key_t memories_key; /* frees them with their thread */

const struct process_part stack_part = {.lock = &lock};

/* --- unwinding --- */

struct unwinding {
	struct stack stack;
	uintptr_t from; /* the first address that counts; 0: that of the program */
	const uintptr_t *at[STACK_DEEP];
	bool is_regular; /* each return address is where it is expected */
};

struct search {
	uintptr_t code;
	uintptr_t from, to;
};

static int find_part(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct search *search = arg;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const uintptr_t from = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || search->code < from ||
		    search->code >= from + part->p_memsz)
			continue;
		search->from = from;
		search->to = from + part->p_memsz;
		return 1;
	}
	return 0;
}

static __attribute__((constructor)) void load(void)
{
	struct search search = {.code = (uintptr_t)&find_part};

	pthread_key_create(&memories_key, free);
	dl_iterate_phdr(find_part, &search);
	own[0].from = search.from;
	own[0].to = search.to;
}

void stack_leave_out(const void *code)
{
	struct search search = {.code = (uintptr_t)code};

	if (own[1].to != 0)
		return;
	dl_iterate_phdr(find_part, &search);
	own[1].from = search.from;
	own[1].to = search.to;
}

static bool is_own(uintptr_t pc)
{
	return (pc >= own[0].from && pc < own[0].to) || (pc >= own[1].from && pc < own[1].to);
}

static __attribute__((no_sanitize("address"))) uintptr_t value_at(const uintptr_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *arg)
{
	struct unwinding *unwinding = arg;
	struct stack *stack = &unwinding->stack;
	const uintptr_t pc = _Unwind_GetIP(context);
	const uintptr_t *at = (const uintptr_t *)_Unwind_GetCFA(context) - 1; /* NOLINT */

	if (pc == 0 || stack->count == STACK_DEEP)
		return _URC_END_OF_STACK;
	if (stack->count == 0 && (unwinding->from != 0 ? pc != unwinding->from : is_own(pc)))
		return _URC_NO_REASON;
#ifdef __x86_64__
	unwinding->is_regular = unwinding->is_regular && value_at(at) == pc;
#else
	unwinding->is_regular = false;
#endif
	unwinding->at[stack->count] = at;
	stack->pc[stack->count++] = pc;
	return _URC_NO_REASON;
}

static void unwind(struct unwinding *unwinding, const struct symbol *script)
{
	*unwinding = (struct unwinding){.stack = {.script = script}, .is_regular = true};
	_Unwind_Backtrace(visit, unwinding);
}

static inline const struct symbol *script(void)
{
	return __builtin_expect(script_any, 0) ? script_place() : NULL;
}

/* --- numbers --- */

static uint32_t bucket_of(const struct stack *stack)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uintptr_t)stack->script;

	for (uint32_t i = 0; i < stack->count; i++)
		hash = (hash ^ stack->pc[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash >> 20) & (BUCKETS - 1);
}

static bool is_equal(const struct stack *one, const struct stack *other)
{
	return one->count == other->count && one->script == other->script &&
	       memcmp(one->pc, other->pc, one->count * sizeof(one->pc[0])) == 0;
}

/* The lock is held. */
static uint32_t number_of(const struct stack *stack)
{
	const uint32_t bucket = bucket_of(stack);
	uint32_t number = buckets[bucket];

	while (number != 0 && !is_equal(&known[number]->stack, stack))
		number = known[number]->next;
	if (number != 0 || known_count == STACKS_MOST)
		return number;
	known[known_count] = malloc(sizeof(struct known));
	if (known[known_count] == NULL)
		return 0;
	*known[known_count] = (struct known){.stack = *stack, .next = buckets[bucket]};
	buckets[bucket] = known_count;
	return known_count++;
}

static uint32_t number_for(const struct stack *stack)
{
	uint32_t number;

	if (stack->count == 0)
		return 0;
	pthread_mutex_lock(&lock);
	number = number_of(stack);
	pthread_mutex_unlock(&lock);
	return number;
}

const struct stack *stack_get(uint32_t number)
{
	const struct known *found;

	if (number == 0)
		return NULL;
	pthread_mutex_lock(&lock);
	found = known[number];
	pthread_mutex_unlock(&lock);
	return &found->stack;
}

uint32_t stack_number(const struct stack *stack)
{
	return number_for(stack);
}

/* --- the calling thread's --- */

uint32_t stack_here(void)
{
	struct unwinding unwinding;

	unwind(&unwinding, script());
	return number_for(&unwinding.stack);
}

bool stack_capture(struct stack *stack, uintptr_t from)
{
	struct unwinding unwinding = {.stack = {.script = script()}, .from = from};

	_Unwind_Backtrace(visit, &unwinding);
	*stack = unwinding.stack;
	for (uint32_t i = 0; i < stack->count; i++)
		if (is_own(stack->pc[i]))
			return false;
	return stack->count > 0;
}

static inline struct memory *memory_for(struct stack_entry entry)
{
	return &memories[(entry.pc ^ entry.frame >> 4) % REMEMBERED];
}

static inline bool is_unchanged(const struct memory *memory, struct stack_entry entry)
{
	const struct frame *end = memory->frame + memory->count;

	if (memory->entry.pc != entry.pc || memory->entry.frame != entry.frame)
		return false;
	for (const struct frame *frame = memory->frame; frame != end; frame++)
		if (value_at(frame->at) != frame->pc)
			return false;
	return true;
}

/* False: there is no memory. */
static bool make_memories(void)
{
	if (memories == NULL) {
		memories = calloc(REMEMBERED, sizeof(*memories));
		pthread_setspecific(memories_key, memories);
	}
	return memories != NULL;
}

static void remember(struct memory *memory, struct stack_entry entry, uint32_t number,
		     const struct unwinding *unwinding)
{
	memory->entry = entry;
	memory->script = unwinding->stack.script;
	memory->number = number;
	memory->count = unwinding->stack.count;
	for (uint32_t i = 0; i < memory->count; i++)
		memory->frame[i] = (struct frame){unwinding->at[i], unwinding->stack.pc[i]};
}

static __attribute__((noinline)) uint32_t find_at(struct stack_entry entry)
{
	const struct symbol *place = script();
	struct unwinding unwinding;
	struct memory *memory;
	uint32_t number;

	if (!make_memories())
		return stack_here();
	memory = memory_for(entry);
	if (place != NULL && is_unchanged(memory, entry) && memory->script == place)
		return memory->number;
	unwind(&unwinding, place);
	number = number_for(&unwinding.stack);
	if (unwinding.is_regular && number != 0)
		remember(memory, entry, number, &unwinding);
	else
		memory->entry.pc = 0;
	return number;
}

uint32_t stack_at(struct stack_entry entry)
{
	const struct memory *memory;

	if (memories == NULL || __builtin_expect(script_any, 0))
		return find_at(entry);
	memory = memory_for(entry);
	return is_unchanged(memory, entry) ? memory->number : find_at(entry);
}
