/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c -- options of an id, and its vendor options (ECE). */
#include <string.h>

#include "cm.h"
#include "soft_device/process/process.h"

/* The kernel takes an int or a byte of exactly that size. */
static int get(const void *value, size_t length, void *to, size_t size)
{
	if (value == NULL || length != size)
		return -EINVAL;
	memcpy(to, value, size);
	return 0;
}

/* Lock held. */
static int set_id_option(struct cm_id *id, int name, const void *value, size_t length)
{
	int number, error;

	switch (name) {
	case RDMA_OPTION_ID_TOS:
		return get(value, length, &id->tos, sizeof(id->tos));
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		error = get(value, length, &id->ack_timeout, sizeof(id->ack_timeout));
		id->ack_timeout_set = id->ack_timeout_set || error == 0;
		return error;
	case RDMA_OPTION_ID_REUSEADDR:
		error = get(value, length, &number, sizeof(number));
		if (error == 0 && id->state != CM_IDLE &&
		    (number == 0 || id->state == CM_LISTENING))
			error = -EINVAL;
		if (error == 0)
			id->reuse_address = number != 0;
		return error;
	case RDMA_OPTION_ID_AFONLY:
		error = get(value, length, &number, sizeof(number));
		if (error == 0 && id->state > CM_BOUND)
			error = -EINVAL;
		if (error == 0)
			id->family_only = number != 0;
		return error;
	default:
		return -ENOSYS;
	}
}

static int refuse(const struct cm_id *id, int name, size_t length, int error)
{
	return CM_REFUSE(error, "rdma_set_option", id, "option %d with %zu bytes, in state %s",
			 name, length, cm_state_name(id->state));
}

SOFT_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
				size_t optlen)
{
	int error;

	CM_ENTER(id);
	if (level != RDMA_OPTION_ID) /* there are no path records to be set */
		return call_failed(CM_REFUSE(ENOSYS, __func__, cm_id_of(id),
					     "level %d, only RDMA_OPTION_ID (%d) is supported",
					     level, RDMA_OPTION_ID));
	pthread_mutex_lock(&cm_lock);
	error = -set_id_option(cm_id_of(id), optname, optval, optlen);
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? 0 : call_failed(refuse(cm_id_of(id), optname, optlen, error));
}

/* For ids whose QP the program makes itself. */
SOFT_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	CM_ENTER(id);
	if (id->qp != NULL || ece == NULL || ece->vendor_id == 0 || ece->comp_mask != 0)
		return call_failed(CM_REFUSE(EINVAL, __func__, cm_id_of(id),
					     "it has a QP, or vendor_id is 0, or comp_mask not"));
	pthread_mutex_lock(&cm_lock);
	cm_id_of(id)->local_ece = *ece;
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

SOFT_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	CM_ENTER(id);
	if (id->qp != NULL || ece == NULL)
		return call_failed(CM_REFUSE(EINVAL, __func__, cm_id_of(id), "%s",
					     ece == NULL ? "ece is NULL" : "it has a QP"));
	pthread_mutex_lock(&cm_lock);
	*ece = cm_id_of(id)->remote_ece;
	pthread_mutex_unlock(&cm_lock);
	return 0;
}
