/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpmem.h -- replicas of local memory in pools on other hosts.
 *
 * The API of librpmem.so.1, version 1.3, at version node LIBRPMEM_1.0. This
 * header is the source of the section 3 manuals, as librpma.h is of its own: a
 * comment that opens with two stars has name and purpose, parameters,
 * description, Return, Threads, Since, See also. librpmem(7) explains how the calls
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
 * @RPMEM_MIN_POOL: a remote pool, 8 KiB
 * @RPMEM_MIN_PART: each of its parts, 2 MiB
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
 * Starts rpmemd(1) on the target, which creates the parts, and connects lane 0. The
 * other lanes connect when they are first used. No data is transferred: the new parts
 * are zeros, whatever the local memory holds. If the pool has metadata, its first 4096
 * bytes belong to it, and the other calls refuse to write there.
 *
 * A part that exists already is used if it has the size that the pool set declares
 * and, in a pool with metadata, begins with 4096 zeros. It keeps its content.
 *
 * The size of the remote pool is the sum of its parts, less 4096 bytes for each part
 * after the first; with the options SINGLEHDR or NOHDRS it is the whole sum. It has
 * to be @pool_size or more. RPMEM_MIN_POOL and RPMEM_MIN_PART are the least sizes of
 * the remote pool and of its parts.
 *
 * A lane is a connection of its own. The number of lanes is the least of @nlanes,
 * RPMEM_MAX_NLANES in the environment, 1024, and what the devices and open files of
 * both hosts allow.
 *
 * If the call fails, the parts that it has created are removed, and @nlanes is left
 * alone. They are also removed if the connection ends without rpmem_close() before
 * the first rpmem_persist(), rpmem_drain() or rpmem_deep_persist() has completed, so
 * that no half-filled pool remains.
 *
 * Return: the pool, or NULL, with errno set to
 *   EINVAL - an argument is NULL, not aligned, 0 or too long; @target is malformed; the
 *     pool set has an error, its options do not match @create_attr, or a part has
 *     another size than it declares; the configuration of rpmemd(1) has an error; the
 *     target has no RDMA device
 *   ENOENT - there is no such pool set file, or no directory for a part
 *   EACCES - the user may not read it, or not create a part; or @pool_addr is
 *     read-only
 *   ENOSPC - the file system of a part is full
 *   EEXIST - a part has a header that is not zero
 *   EBUSY - another client has the pool, or one of its parts, open
 *   EFBIG - the remote pool is smaller than @pool_size, or a part larger than its file
 *     system allows
 *   ENOMEDIUM - this host has no RDMA device for the target, or the environment allows
 *     no transport
 *   ECONNRESET - ssh(1) could not connect or log in, did not find rpmemd(1), or lost
 *     it; or lane 0 was refused
 *   EPROTO - something else than rpmemd(1) answered
 *   EPROTONOSUPPORT - rpmemd(1) is of an incompatible version
 *   ETIMEDOUT - lane 0 did not connect within 30 s
 *   EHOSTUNREACH - there is no route for lane 0
 *   EMFILE - too many files are open, here or on the target
 *   ENOMEM - out of memory, or @pool_size is more than may be locked in memory
 *   EAGAIN - too many processes or threads run, here or on the target
 *   EFAULT - no memory is mapped at @pool_addr
 *   ENOTSUP - a part is on a file system in memory, such as tmpfs; or rpmemd(1) has
 *     no libpmem for device DAX
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
 * No data is transferred: the local memory may differ from the pool. rpmem_read() gets
 * what the pool holds. If the connection ends before the pool is open, the call tries
 * again for about 2 s. For a pool that is locked, as by a client that was just killed,
 * the target waits about 8 s.
 *
 * @open_attr receives what rpmem_create() or rpmem_set_attr() has stored. Its
 * user_flags may differ: zeros were replaced by a description of the target's
 * architecture when the pool was created.
 *
 * Return: the pool, or NULL, with errno set to
 *   EINVAL - an argument is NULL, not aligned, 0 or too long; @target is malformed; the
 *     pool set has an error, a part has another size than it declares, or a header
 *     is damaged; the configuration of rpmemd(1) has an error; the target has no RDMA
 *     device
 *   ENOENT - there is no such pool set file, or a part is missing
 *   EACCES - the user may not read the pool set file, or not write a part; or
 *     @pool_addr is read-only
 *   ENOSPC - a part has holes, and its file system is full
 *   EBUSY - another client has the pool, or one of its parts, open
 *   EFBIG - the remote pool is smaller than @pool_size
 *   ENOMEDIUM - this host has no RDMA device for the target, or the environment allows
 *     no transport
 *   ECONNRESET - ssh(1) could not connect or log in, did not find rpmemd(1), or lost
 *     it; or lane 0 was refused
 *   EPROTO - something else than rpmemd(1) answered
 *   EPROTONOSUPPORT - rpmemd(1) is of an incompatible version
 *   ETIMEDOUT - lane 0 did not connect within 30 s
 *   EHOSTUNREACH - there is no route for lane 0
 *   EMFILE - too many files are open, here or on the target
 *   ENOMEM - out of memory, or @pool_size is more than may be locked in memory
 *   EAGAIN - too many processes or threads run, here or on the target
 *   EFAULT - no memory is mapped at @pool_addr
 *   ENOTSUP - a part is on a file system in memory, such as tmpfs; or rpmemd(1) has
 *     no libpmem for device DAX
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
 * The attributes are durable when the call returns. The pool keeps its metadata even
 * if all of the new attributes are zeros, so its first 4096 bytes stay protected. For
 * a pool without metadata, @attr must be NULL, and the call does nothing.
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
 * Nothing is flushed: call rpmem_drain() before, on each lane that has flushed. Calls
 * of other threads that are in progress on the pool fail with ECONNRESET, and
 * rpmem_close() waits for them; no call may begin any more. The pool stays on the
 * target, and can be opened again.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - @rpp is NULL or was opened by the parent process; nothing was done
 *   ECONNRESET - the connection to the target, or a lane, was lost before
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
 * Removes the parts of the pool, by running "rpmemd --remove" on the target. Without
 * RPMEM_REMOVE_FORCE the pool must be consistent: all parts are there, and their
 * headers belong together. A pool that a client has open is never removed. A device
 * DAX part stays; its first 4096 bytes become zeros.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - an argument is NULL, @target is malformed, @flags has other bits, the pool
 *     set has an error, or a header is damaged
 *   ENOENT - there is no such pool set file, or a part is missing
 *   EACCES - the user may not remove a part
 *   EBUSY - a client has the pool open
 *   ECONNRESET - ssh(1) could not connect or log in, or did not find rpmemd(1)
 *   EMFILE - too many files are open
 *   ENOMEM - out of memory
 *   EAGAIN - too many processes run
 *   ECHILD - the program took the exit status of our ssh(1), so that nothing is known
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
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
 * The range must not change during the call. When it returns 0, the range is durable on
 * the target, and so are all ranges that this lane has flushed before. What durable
 * means depends on the target's memory: see PERSISTENCE in librpmem(7).
 *
 * Lanes do not wait for each other: what two lanes persist at the same time becomes
 * durable in any order.
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - @rpp is NULL or was opened by the parent process, the range is not within
 *     the pool or begins in its metadata, @lane is too large, or @flags has other bits;
 *     the pool remains usable
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   EIO - the target could not make the range durable
 *   ETIMEDOUT - the lane was used for the first time, and did not connect within 30 s
 *   EMFILE - the lane was used for the first time, and too many files are open
 *   ENOMEM - out of memory; or the lane was used for the first time, and its memory may
 *     not be locked
 *   EFAULT - a lane over TCP found the local memory unmapped; all later calls fail
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
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
 * Like rpmem_persist(), but the data does not depend on the power-fail protection of the
 * target's memory controllers: see pmem_deep_persist(3).
 *
 * Return: 0, or -1, with errno set to
 *   EINVAL - as rpmem_persist(); the pool remains usable
 *   ECONNRESET - the connection to the target is lost; all later calls fail, too
 *   EPROTO - something that is not of the protocol came from the target; all later calls
 *     fail, too
 *   EIO - the target could not make the range durable
 *   ETIMEDOUT - the lane was used for the first time, and did not connect within 30 s
 *   EMFILE - the lane was used for the first time, and too many files are open
 *   ENOMEM - out of memory; or the lane was used for the first time, and its memory may
 *     not be locked
 *   EFAULT - a lane over TCP found the local memory unmapped; all later calls fail
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
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
 *   ETIMEDOUT - the lane was used for the first time, and did not connect within 30 s
 *   EMFILE - the lane was used for the first time, and too many files are open
 *   ENOMEM - out of memory; or the lane was used for the first time, and its memory may
 *     not be locked
 *   EFAULT - a lane over TCP found the local memory unmapped; all later calls fail
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
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
 *   ETIMEDOUT - the lane was used for the first time, and did not connect within 30 s
 *   EMFILE - the lane was used for the first time, and too many files are open
 *   ENOMEM - out of memory; or the lane was used for the first time, and its memory may
 *     not be locked
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
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
 *   ETIMEDOUT - the lane was used for the first time, and did not connect within 30 s
 *   EMFILE - the lane was used for the first time, and too many files are open
 *   ENOMEM - out of memory; or the lane was used for the first time, and its memory may
 *     not be locked
 *   EFAULT - a lane over TCP found @buff unmapped or read-only; all later calls fail
 *   EREMOTEIO - another failure on the target; rpmem_errormsg() has it
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
 *   @minor_required or later; else an error message, which must not be freed
 * Threads: safe.
 * Since: 1.0
 * See also: rpmem_errormsg()
 */
const char *rpmem_check_version(unsigned major_required, unsigned minor_required);

/**
 * rpmem_errormsg - ask why the last call of this thread failed
 *
 * The error message is valid after a call that failed, until the next call of the thread. It
 * contains what ssh(1) or rpmemd(1) reported. Failures of rpmem_create(), rpmem_open()
 * and rpmem_remove(), and the loss of a connection, are printed on stderr too, because
 * programs such as those of libpmemobj show errno alone. RPMEM_LOG_LEVEL=0 silences
 * that.
 *
 * Return: an error message, empty if nothing has failed; it belongs to the thread, and must not
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
