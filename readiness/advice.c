/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.c -- tries the remedies one after the other.
 *
 * Their words are the check's own, unless a remedy has better ones. Each is tried once, so
 * there is an end.
 */
#include "advice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/json/result.h"
#include "remedies.h"

static struct readiness *copy_of(const struct readiness *from)
{
	struct readiness *copy = malloc(sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*copy = *from;
	copy->facts.pci.chains = calloc(FACTS_CHAINS_MAX, sizeof(*copy->facts.pci.chains));
	if (copy->facts.pci.chains == NULL) {
		free(copy);
		return NULL;
	}
	if (from->facts.pci.chains != NULL)
		memcpy(copy->facts.pci.chains, from->facts.pci.chains,
		       from->facts.pci.count * sizeof(*copy->facts.pci.chains));
	return copy;
}

static void discard(struct readiness *copy)
{
	if (copy != NULL)
		readiness_free(copy);
	free(copy);
}

static bool keeps_from_ready(const struct readiness_check *check,
			     const struct readiness_finding *finding)
{
	return finding->status == READINESS_FAIL ||
	       (finding->status == READINESS_UNKNOWN && check->if_unknown == READINESS_BLOCKS) ||
	       (finding->status == READINESS_WARN && check->if_warn == READINESS_BLOCKS);
}

static size_t count_obstacles(const struct readiness *r)
{
	const struct readiness_check *check;
	size_t n = 0;

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++)
		n += keeps_from_ready(check, &r->findings[i]);
	return n;
}

/*
 * DDIO is asked for once nothing else stands in the way. What is only unknown is not to
 * be mended, as it may be well, unless it is for the operator to state.
 */
static bool is_due(const struct readiness *r, const struct remedy *remedy)
{
	size_t index = readiness_check_index(remedy->check);

	if (strcmp(remedy->check, DDIO_STATE) == 0)
		return r->row->exit_code != EXIT_GOOD && strncmp(r->row->name, "ddio-", 5) == 0;
	return (remedy->of_unknown || r->findings[index].status != READINESS_UNKNOWN) &&
	       keeps_from_ready(readiness_check_at(index), &r->findings[index]);
}

static bool gets_further(const struct readiness *before, const struct readiness *after)
{
	size_t was = count_obstacles(before), is = count_obstacles(after);

	return is < was || (is == was && (after->row->exit_code == EXIT_GOOD ||
					  after->ddio.state != before->ddio.state));
}

/* The facts after it; NULL: it does not help. */
static struct readiness *attempt(const struct readiness *before, const struct remedy *remedy,
				 struct advice_step *step, int *error)
{
	const struct readiness_finding *finding = readiness_find(before->findings, remedy->check);
	struct readiness *after = copy_of(before);

	if (after == NULL) {
		*error = -ENOMEM;
		return NULL;
	}
	*step = (struct advice_step){.finds_out = false};
	snprintf(step->checks, sizeof(step->checks), "%s", remedy->check);
	snprintf(step->text, sizeof(step->text), "%s", finding->fix);
	if (remedy->change(after, step) && step->text[0] != '\0') {
		readiness_check_all(&after->facts, after->findings);
		ddio_decide(&after->facts, &after->ddio);
		after->row = readiness_judge(&after->facts, after->findings, after->lenient);
		step->row = after->row;
		if (gets_further(before, after))
			return after;
	}
	discard(after);
	return NULL;
}

/* Two checks may ask for the same, such as to run as root. */
static void add(struct advice *advice, const struct advice_step *step)
{
	struct advice_step *last = advice->count > 0 ? &advice->steps[advice->count - 1] : NULL;
	size_t len;

	if (last != NULL && strcmp(last->text, step->text) == 0) {
		len = strlen(last->checks);
		snprintf(last->checks + len, sizeof(last->checks) - len, ", %s", step->checks);
		last->row = step->row;
	} else if (advice->count < ADVICE_STEPS_MAX) {
		advice->steps[advice->count++] = *step;
	}
}

/* The first remedy that helps; NULL: there is none, or *error. */
static struct readiness *improve(const struct readiness *now, bool used[REMEDIES],
				 struct advice *advice, int *error)
{
	struct advice_step step;

	for (size_t i = 0; i < REMEDIES && *error == 0; i++) {
		struct readiness *next;

		if (used[i] || !is_due(now, &remedies[i]))
			continue;
		used[i] = true;
		next = attempt(now, &remedies[i], &step, error);
		if (next != NULL) {
			add(advice, &step);
			return next;
		}
	}
	return NULL;
}

static void conclude(const struct readiness *end, struct advice *advice)
{
	const struct readiness_check *check;
	const char *fix, *separator;
	char because[512];
	size_t i = 0;

	advice->row = end->row;
	if (end->row->exit_code == EXIT_GOOD)
		return;
	readiness_because(end, because, sizeof(because));
	while ((check = readiness_check_at(i)) != NULL &&
	       !keeps_from_ready(check, &end->findings[i]))
		i++;
	if (because[0] == '\0')
		snprintf(because, sizeof(because), "%s", end->row->reason);
	i = check != NULL ? i : readiness_check_index(DDIO_STATE);
	fix = end->findings[i].fix;
	separator = fix[0] == '\0' ? "" : because[strlen(because) - 1] == '.' ? " " : ". ";
	snprintf(advice->open, sizeof(advice->open), "%s%s%s", because, separator, fix);
}

int advice_make(const struct readiness *readiness, struct advice *advice)
{
	struct readiness *now = copy_of(readiness), *next;
	bool used[REMEDIES] = {false};
	int error = now == NULL ? -ENOMEM : 0;

	memset(advice, 0, sizeof(*advice));
	while (error == 0 && (next = improve(now, used, advice, &error)) != NULL) {
		discard(now);
		now = next;
	}
	if (error == 0)
		conclude(now, advice);
	discard(now);
	return error;
}

json_t *advice_json(const struct advice *advice)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < advice->count; i++) {
		const struct advice_step *s = &advice->steps[i];

		json_array_append_new(steps, json_pack("{s:s, s:o, s:b, s:s}", "checks", s->checks,
						       "text", result_text(s->text), "finds_out",
						       s->finds_out, "verdict",
						       readiness_verdict_name(s->row->verdict)));
	}
	return json_pack("{s:o, s:s, s:o}", "steps", steps, "verdict",
			 readiness_verdict_name(advice->row->verdict), "open",
			 result_text(advice->open));
}
