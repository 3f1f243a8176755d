/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpmem.h -- replicas of local memory in pools on other hosts.
 *
 * The API of librpmem.so.1, version 1.3, at version node LIBRPMEM_1.0. This
 * header is the source of the section 3 manuals, as librpma.h is of its own: each
 * comment that opens with two stars has name and purpose, parameters,
 * description, Return, Threads, Since, See also. librpmem(7) tells how the calls
 * work together, and has the environment variables.
 */
#ifndef LIBRPMEM_H
#define LIBRPMEM_H 1

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * RPMEM_*_VERSION - the version of the API that this header describes
 * @RPMEM_MAJOR_VERSION: another one is incompatible
 * @RPMEM_MINOR_VERSION: a later one has more functions or flags
 */
#define RPMEM_MAJOR_VERSION 1
#define RPMEM_MINOR_VERSION 3

/**
 * RPMEM_POOL_*_LEN - sizes of the fields of struct rpmem_pool_attr, bytes
 * @RPMEM_POOL_HDR_SIG_LEN: the signature
 * @RPMEM_POOL_HDR_UUID_LEN: each UUID
 * @RPMEM_POOL_USER_FLAGS_LEN: the user flags
 */
#define RPMEM_POOL_HDR_SIG_LEN	  8
#define RPMEM_POOL_HDR_UUID_LEN	  16
#define RPMEM_POOL_USER_FLAGS_LEN 16

/**
 * RPMEM_MIN_* - the least sizes on the target, bytes
 * @RPMEM_MIN_POOL: a remote pool
 * @RPMEM_MIN_PART: each of its parts
 */
#define RPMEM_MIN_POOL ((size_t)(1024 * 8))
#define RPMEM_MIN_PART ((size_t)(1024 * 1024 * 2))

/**
 * RPMEM_PERSIST_* - how rpmem_persist() transfers
 * @RPMEM_PERSIST_RELAXED: the data may become visible and durable in any order and
 *   in any pieces. Without the flag, each aligned 8-byte word does so as a whole.
 *
 * Introduced with API version 1.2.
 */
#define RPMEM_PERSIST_RELAXED (1U << 0)
/**
 * RPMEM_FLUSH_* - how rpmem_flush() transfers
 * @RPMEM_FLUSH_RELAXED: as RPMEM_PERSIST_RELAXED
 *
 * Introduced with API version 1.3.
 */
#define RPMEM_FLUSH_RELAXED (1U << 0)

/**
 * RPMEM_REMOVE_* - what rpmem_remove() removes
 * @RPMEM_REMOVE_FORCE: also a pool that is not consistent. Its pool set file must
 *   be well formed, and no client may have it open.
 * @RPMEM_REMOVE_POOL_SET: the pool set file too, after the parts
 */
#define RPMEM_REMOVE_FORCE    0x1
#define RPMEM_REMOVE_POOL_SET 0x2

/** RPMEMpool - an open remote pool */
typedef struct rpmem_pool RPMEMpool;

/**
 * struct rpmem_pool_attr - what the first 4096 bytes of a pool store about it
 * @signature: what format the pool has
 * @major: the version of that format
 * @compat_features: features that a program may ignore
 * @incompat_features: features that a program must know to use the pool
 * @ro_compat_features: features that a program must know to write to the pool
 * @poolset_uuid: the pool that this one is a replica of
 * @uuid: the first part of this pool
 * @next_uuid: the first part of the next replica
 * @prev_uuid: the first part of the previous replica
 * @user_flags: for the program; zeros are stored as a description of the target's
 *   architecture, which rpmem_open() then returns
 *
 * If the pool set has the option SINGLEHDR, bit 0 of @incompat_features is stored
 * as set. All zeros stand for a pool without metadata.
 */
struct rpmem_pool_attr {
	char signature[RPMEM_POOL_HDR_SIG_LEN];
	uint32_t major;
	uint32_t compat_features;
	uint32_t incompat_features;
	uint32_t ro_compat_features;
	unsigned char poolset_uuid[RPMEM_POOL_HDR_UUID_LEN];
	unsigned char uuid[RPMEM_POOL_HDR_UUID_LEN];
	unsigned char next_uuid[RPMEM_POOL_HDR_UUID_LEN];
	unsigned char prev_uuid[RPMEM_POOL_HDR_UUID_LEN];
	unsigned char user_flags[RPMEM_POOL_USER_FLAGS_LEN];
};

/* pools */

/**
 * rpmem_create - create a pool on another host
 * @target: "[USER@]HOST[:PORT]", for ssh(1); an IPv6 address with a port stands in
 *   brackets
 * @pool_set_name: the pool set file, see poolset(5): a path relative to the pool
 *   set directory of rpmemd(1) on the target
 * @pool_addr: the local memory, at a multiple of the page size; borrowed until
 *   rpmem_close()
 * @pool_size: its size in bytes, a multiple of the page size; the remote pool may
 *   be larger
 * @nlanes: how many lanes the program would use, at least 1; set to how many it
 *   gets
 * @create_attr: what to store in the pool's metadata; copied. NULL or all zeros: the
 *   pool has no metadata, and its pool set must have the option NOHDRS.
 *
 * Starts rpmemd(1) on the target, which creates the parts, and connects lane 0; the
 * other lanes connect when they are first used. No data is transferred. The first
 * 4096 bytes of a pool with metadata cannot be written by other calls.
 *
 * A lane is a connection of its own. The number of lanes is the least of @nlanes,
 * RPMEM_MAX_NLANES in the environment, 1024, and what the devices and open files of
 * both hosts allow.
 *
 * If the call fails, the parts that it has created are removed, and @nlanes is left
 * alone. If the program ends before its first rpmem_persist() has completed, and
 * without rpmem_close(), they are removed as well.
 *
 * Return: the pool, or NULL, with errno set to
 *   EINVAL - an argument is NULL, not aligned, 0 or too long; @target is malformed; the
 *     pool set has an error, its options do not match @create_attr, or a part has
 *     another size than it declares; the configuration of rpmemd(1) has an error
 *   ENOENT - there is no such pool set file
 *   EACCES - the user may not read it, or not create a part; or @pool_addr is
 *     read-only
 *   EEXIST - a part has a header that is not zero
 *   EBUSY - another client has the pool, or one of its parts, open
 *   EFBIG - the remote pool is smaller than @pool_size
 *   ENOMEDIUM - this host has no RDMA device for the target, or the environment allows
 *     no transport
 *   ECONNRESET - ssh(1) could not connect or log in, did not find rpmemd(1), or lost
 *     it
 *   EPROTO - something else than rpmemd(1) answered
 *   EPROTONOSUPPORT - rpmemd(1) is of an incompatible version
 *   ETIMEDOUT - lane 0 did not connect in time
 *   ECONNREFUSED - the target refused lane 0
 *   EHOSTUNREACH - no path for lanes leads to the target
 *   EMFILE - too many files are open
 *   ENOMEM - out of memory, or @pool_size is more than may be locked in memory
 *   EFAULT - no memory is mapped at @pool_addr
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
 * Threads: safe.
 * Since: 1.0
 * See also: rpmem_open(), rpmem_persist(), rpmem_close(), rpmem_remove(),
 *   rpmem_errormsg()
 */
RPMEMpool *rpmem_create(const char *target, const char *pool_set_name, void *pool_addr,
			size_t pool_size, unsigned *nlanes,
			const struct rpmem_pool_attr *create_attr);

/**
 * rpmem_open - open an existing pool on another host
 * @target: as rpmem_create() takes it
 * @pool_set_name: as rpmem_create() takes it
 * @pool_addr: the local memory, at a multiple of the page size; borrowed until
 *   rpmem_close()
 * @pool_size: its size in bytes, a multiple of the page size; the remote pool may
 *   be larger
 * @nlanes: how many lanes the program would use, at least 1; set to how many it
 *   gets
 * @open_attr: where to store the pool's attributes, all zeros if it has no metadata;
 *   may be NULL
 *
 * No data is transferred: the local memory may differ from the pool. What fails for a
 * reason that may pass, such as a lock of a client that was just killed, is tried
 * again for some seconds.
 *
 * Return: the pool, or NULL, with errno set to
 *   EINVAL - an argument is NULL, not aligned, 0 or too long; @target is malformed; the
 *     pool set has an error, a part has another size than it declares, or a header
 *     is damaged; the configuration of rpmemd(1) has an error
 *   ENOENT - there is no such pool set file, or a part is missing
 *   EACCES - the user may not read the pool set file, or not write a part; or
 *     @pool_addr is read-only
 *   EBUSY - another client has the pool, or one of its parts, open
 *   EFBIG - the remote pool is smaller than @pool_size
 *   ENOMEDIUM - this host has no RDMA device for the target, or the environment allows
 *     no transport
 *   ECONNRESET - ssh(1) could not connect or log in, did not find rpmemd(1), or lost
 *     it
 *   EPROTO - something else than rpmemd(1) answered
 *   EPROTONOSUPPORT - rpmemd(1) is of an incompatible version
 *   ETIMEDOUT - lane 0 did not connect in time
 *   ECONNREFUSED - the target refused lane 0
 *   EHOSTUNREACH - no path for lanes leads to the target
 *   EMFILE - too many files are open
 *   ENOMEM - out of memory, or @pool_size is more than may be locked in memory
 *   EFAULT - no memory is mapped at @pool_addr
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
 * Threads: safe.
 * Since: 1.0
 * See also: rpmem_create(), rpmem_read(), rpmem_close(), rpmem_errormsg()
 */
RPMEMpool *rpmem_open(const char *target, const char *pool_set_name, void *pool_addr,
		      size_t pool_size, unsigned *nlanes, struct rpmem_pool_attr *open_attr);

/**
 * rpmem_set_attr - replace the attributes of a pool
 * @rpp: the pool
 * @attr: the new attributes, copied; NULL: all zeros
 *
 * They are durable when the call returns. A pool keeps its metadata even if all of
 * the new attributes are zeros, so its first 4096 bytes stay protected.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - @rpp is NULL or was opened by the parent process, or the pool has no
 *     metadata and @attr is not NULL
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   EREMOTEIO - the target could not store the attributes
 * Threads: safe.
 * Since: 1.1
 * See also: rpmem_create(), rpmem_open()
 */
int rpmem_set_attr(RPMEMpool *rpp, const struct rpmem_pool_attr *attr);

/**
 * rpmem_close - close a pool
 * @rpp: the pool; it is gone also if the call fails, but for EINVAL
 *
 * Nothing is flushed: call rpmem_drain() before. A call of another thread that is in
 * progress on the pool fails with ECONNRESET, and is waited for; none may begin any
 * more. The pool stays on the target.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - @rpp is NULL or was opened by the parent process; nothing was done
 *   ECONNRESET - the connection to the target was lost before
 *   EPROTO - something that is not of the protocol came from the target before
 *   EREMOTEIO - the target could not close it
 * Threads: safe on different pools.
 * Since: 1.0
 * See also: rpmem_create(), rpmem_open(), rpmem_drain()
 */
int rpmem_close(RPMEMpool *rpp);

/**
 * rpmem_remove - remove a pool from another host
 * @target: as rpmem_create() takes it
 * @pool_set: the pool set file, as rpmem_create() takes it
 * @flags: 0, or RPMEM_REMOVE_FORCE and RPMEM_REMOVE_POOL_SET, joined with |
 *
 * Removes the parts. Without RPMEM_REMOVE_FORCE, only those of a pool that could be
 * opened. A pool that a client has open is never removed.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - an argument is NULL, @target is malformed, @flags has other bits, the pool
 *     set has an error, or a header is damaged
 *   ENOENT - there is no such pool set file, or a part is missing
 *   EACCES - the user may not remove a part
 *   EBUSY - a client has the pool open
 *   ECONNRESET - ssh(1) could not connect or log in, or did not find rpmemd(1)
 *   ECHILD - the program took the exit status of our ssh(1), so that nothing is known
 * Threads: safe.
 * Since: 1.0
 * See also: rpmem_create()
 */
int rpmem_remove(const char *target, const char *pool_set, int flags);

/* data */

/**
 * rpmem_persist - transfer a range, and make it durable on the target
 * @rpp: the pool
 * @offset: where the range begins, in the local memory and in the pool; 4096 or more
 *   in a pool with metadata
 * @length: its size in bytes; 0 does nothing
 * @lane: below the number of lanes of the pool
 * @flags: 0 or RPMEM_PERSIST_RELAXED
 *
 * The range must not change during the call. Ranges that this lane has flushed before
 * are durable as well when it returns. Lanes do not wait for each other: what two
 * lanes persist at a time is in no order.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - @rpp is NULL or was opened by the parent process, the range is not within
 *     the pool or begins in its metadata, @lane is too large, or @flags has other bits;
 *     the pool remains usable
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   EIO - the target could not make the range durable
 *   ETIMEDOUT - the lane was used for the first time, and did not connect
 * Threads: safe on different lanes.
 * Since: 1.0; @flags since 1.2
 * See also: rpmem_flush(), rpmem_drain(), rpmem_deep_persist(), rpmem_read()
 */
int rpmem_persist(RPMEMpool *rpp, size_t offset, size_t length, unsigned lane, unsigned flags);

/**
 * rpmem_deep_persist - make a range durable, down to the medium
 * @rpp: the pool
 * @offset: where the range begins, as in rpmem_persist()
 * @length: its size in bytes; 0 does nothing
 * @lane: below the number of lanes of the pool
 *
 * As rpmem_persist(), but the data does not depend on the power-fail protection of the
 * target's memory controllers: see pmem_deep_persist(3).
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - as rpmem_persist(); the pool remains usable
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   EIO - the target could not make the range durable
 *   ETIMEDOUT - the lane was used for the first time, and did not connect
 * Threads: safe on different lanes.
 * Since: 1.2
 * See also: rpmem_persist()
 */
int rpmem_deep_persist(RPMEMpool *rpp, size_t offset, size_t length, unsigned lane);

/**
 * rpmem_flush - begin to transfer a range
 * @rpp: the pool
 * @offset: where the range begins, as in rpmem_persist()
 * @length: its size in bytes; 0 does nothing
 * @lane: below the number of lanes of the pool
 * @flags: 0 or RPMEM_FLUSH_RELAXED
 *
 * The range is durable when rpmem_drain() or rpmem_persist() has returned on the same
 * lane, and must not change until then. Up to RPMEM_WORK_QUEUE_SIZE transfers of a lane,
 * 50 by default, are in progress at a time; one more waits for the first of them.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - as rpmem_persist(); the pool remains usable
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   EIO - the target could not make the range durable
 *   ETIMEDOUT - the lane was used for the first time, and did not connect
 * Threads: safe on different lanes.
 * Since: 1.3
 * See also: rpmem_drain(), rpmem_persist()
 */
int rpmem_flush(RPMEMpool *rpp, size_t offset, size_t length, unsigned lane, unsigned flags);

/**
 * rpmem_drain - wait until the ranges that a lane has flushed are durable
 * @rpp: the pool
 * @lane: below the number of lanes of the pool
 * @flags: 0
 *
 * Other lanes are not waited for.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - @rpp is NULL or was opened by the parent process, @lane is too large, or
 *     @flags is not 0; the pool remains usable
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   EIO - the target could not make a range durable
 * Threads: safe on different lanes.
 * Since: 1.3
 * See also: rpmem_flush()
 */
int rpmem_drain(RPMEMpool *rpp, unsigned lane, unsigned flags);

/**
 * rpmem_read - read a range of the pool
 * @rpp: the pool
 * @buff: where to store it; any memory
 * @offset: where the range begins in the pool; the metadata can be read as well
 * @length: its size in bytes; 0 does nothing
 * @lane: below the number of lanes of the pool
 *
 * The local memory of the pool is not changed, unless @buff is in it.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - @rpp is NULL or was opened by the parent process, @buff is NULL, the range
 *     is not within the pool, or @lane is too large; the pool remains usable
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   ENOMEM - out of memory
 *   ETIMEDOUT - the lane was used for the first time, and did not connect
 * Threads: safe on different lanes.
 * Since: 1.0
 * See also: rpmem_open(), rpmem_persist()
 */
int rpmem_read(RPMEMpool *rpp, void *buff, size_t offset, size_t length, unsigned lane);

/* the library */

/**
 * rpmem_check_version - ask whether the library has the API that a program needs
 * @major_required: RPMEM_MAJOR_VERSION of the program
 * @minor_required: RPMEM_MINOR_VERSION of the program
 *
 * Return: NULL if the library's major version is @major_required and its minor version is
 *   @minor_required or later; else a sentence, which must not be freed
 * Threads: safe.
 * Since: 1.0
 * See also: rpmem_errormsg()
 */
const char *rpmem_check_version(unsigned major_required, unsigned minor_required);

/**
 * rpmem_errormsg - ask why the last call of this thread failed
 *
 * It means something after a call that failed, until the next one. What ssh(1) or
 * rpmemd(1) have reported is part of it. Failures of rpmem_create(), rpmem_open() and
 * rpmem_remove(), and the loss of a connection, are printed on stderr too, unless
 * RPMEM_LOG_LEVEL is 0: programs such as libpmemobj show nothing else.
 *
 * Return: a sentence, empty if nothing has failed; it belongs to the thread, and must not
 *   be freed
 * Threads: safe.
 * Since: 1.0
 * See also: rpmem_check_version()
 */
const char *rpmem_errormsg(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBRPMEM_H */
