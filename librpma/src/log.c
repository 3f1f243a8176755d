/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.c -- which messages are wanted, and where they go.
 *
 * The only process-wide state of the library: one sink and two thresholds,
 * all atomic, so they may be changed while other threads log.
 */
#include "log.h"

_Atomic(rpma_log_function *) rpma_log_sink = rpma_log_default;

_Atomic int rpma_log_thresholds[RPMA_LOG_THRESHOLD_MAX] = {
	[RPMA_LOG_THRESHOLD] = RPMA_LOG_LEVEL_WARNING,
	[RPMA_LOG_THRESHOLD_AUX] = RPMA_LOG_DISABLED,
};

static bool threshold_valid(enum rpma_log_threshold threshold)
{
	return threshold == RPMA_LOG_THRESHOLD || threshold == RPMA_LOG_THRESHOLD_AUX;
}

int rpma_log_set_function(rpma_log_function *log_function)
{
	atomic_store(&rpma_log_sink, log_function ? log_function : rpma_log_default);
	return 0;
}

int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level)
{
	if (!threshold_valid(threshold))
		return RPMA_FAIL(RPMA_E_INVAL, "threshold is %d, expected 0 or 1", (int)threshold);
	if ((int)level < RPMA_LOG_DISABLED || level > RPMA_LOG_LEVEL_DEBUG)
		return RPMA_FAIL(RPMA_E_INVAL, "level is %d, expected %d to %d", (int)level,
				 RPMA_LOG_DISABLED, RPMA_LOG_LEVEL_DEBUG);

	atomic_store(&rpma_log_thresholds[threshold], (int)level);
	return 0;
}

int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level)
{
	if (!threshold_valid(threshold))
		return RPMA_FAIL(RPMA_E_INVAL, "threshold is %d, expected 0 or 1", (int)threshold);
	if (level == NULL)
		return RPMA_FAIL_NULL(level);

	*level = (enum rpma_log_level)atomic_load(&rpma_log_thresholds[threshold]);
	return 0;
}
