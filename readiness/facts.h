/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * facts.h -- all that the readiness checks inspect, gathered once.
 *
 * Files come from a sysroot, answers of the kernel and of the verbs from
 * struct answers: so a tree of files from elsewhere gives the same facts as
 * the machine it was taken from. The checks see these structs and nothing else.
 * A text is empty, and a number -1, where it is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answers.h"
#include "common/host/pci_config.h"
#include "common/rdma/adapter.h"

#define FACTS_PATH_MAX	     256
#define FACTS_PORTS_MAX	     8
#define FACTS_CHAIN_MAX	     16 /* functions from a root port down to the NIC */
#define FACTS_CHAINS_MAX     4	/* a bond of several NICs has one each */
#define FACTS_REGIONS_MAX    16
#define FACTS_NAMESPACES_MAX 16
#define FACTS_DIMMS_MAX	     32

enum known { KNOWN_NO, KNOWN_YES, KNOWN_NOT };

struct facts_port {
	int number;
	char state[32];	     /* "4: ACTIVE" */
	char phys_state[32]; /* "5: LinkUp" */
	char rate[64];	     /* "100 Gb/sec (4X EDR)" */
	char link_layer[16]; /* "Ethernet" */
	enum known roce_v2;  /* a GID of RoCE v2 that is not link-local */
};

struct facts_device {
	size_t count;		     /* number of RDMA devices; 0: there is none */
	bool no_sysfs;		     /* and nothing that could tell of any */
	bool found;		     /* the one asked for, or the first */
	char asked[DEVICE_NAME_MAX]; /* empty: none by name */
	char name[DEVICE_NAME_MAX];
	enum device_kind kind;
	char transport[8]; /* "roce", "ib", "iwarp" */
	char firmware[64];
	char board[64];
	char hca_type[64];
	struct adapter_ids ids;
	int numa_node;
	char local_cpus[1024]; /* a list, as of sysfs */
	char iommu_type[32];   /* "DMA-FQ", "identity", "none": no group */
	struct facts_port ports[FACTS_PORTS_MAX];
	size_t ports_count;
};

/* A PCI function on the way from a root port to the NIC. */
struct facts_function {
	char address[16];	   /* "0000:17:00.0" */
	char path[FACTS_PATH_MAX]; /* its directory below the root */
	int vendor, device;	   /* ids, of sysfs: a virtual function's config has none */
	char current_speed[32], max_speed[32];
	int current_width, max_width;
	struct pci_config config; /* length 0: could not be read at all */
};

struct facts_chain {
	struct facts_function functions[FACTS_CHAIN_MAX]; /* [0]: the root port; last: the NIC */
	size_t count;
	size_t nics; /* at the end, that are the NIC: 1, or 2: a physical function, its virtual */
	bool cut;    /* a part is not here: beyond FACTS_CHAIN_MAX, or not to be seen */
};

struct facts_pci {
	struct facts_chain *chains; /* owned; NULL: the device has no PCI parent */
	size_t count;
	bool cut; /* there are more of them, or may be */
};

struct facts_platform {
	char vendor[32]; /* "GenuineIntel" */
	char cpu_model_name[128];
	int family, model, stepping;
	enum known tph_disabled;	  /* pci=notph */
	enum known arm_dcpop, arm_dcpodp; /* not of Arm: KNOWN_NO */
	int64_t ddio_ways_msr;		  /* IIO_LLC_WAYS */
	char ddio_ways_source[FACTS_PATH_MAX];
	char l3_shareable_bits[32], l3_cbm_mask[32], l3_io_alloc[32], l3_io_alloc_cbm[64];
	char governor[32];
	enum known turbo;
	int64_t deepest_idle_ns; /* exit latency of the deepest C-state that is enabled */
	char clocksource[32];
	char lockdown[32];
	int64_t numa_balancing;
	char usable_cpus[1024];	    /* that this process may run on, a list */
	char irq_cpus[1024];	    /* where the NIC's interrupts go, a list */
	enum known hypervisor_flag; /* the flag in /proc/cpuinfo; no x86: KNOWN_NOT */
	enum known guest;	    /* a hypervisor shows the machine */
	char guest_why[160];	    /* what tells, or what is missing */
	char emulated[64];	    /* by this name; empty: none seen */
};

enum target_shape {
	TARGET_NOT_GIVEN,
	TARGET_MISSING,	 /* nothing at that path, or it cannot be looked at */
	TARGET_NOT_PMEM, /* DRAM, or a file on something else */
	TARGET_ON_DEVDAX,
	TARGET_ON_FSDAX, /* a file or directory on a file system of a pmem block device */
	TARGET_ON_BLOCK, /* the pmem block device itself */
};

struct facts_namespace {
	char name[64]; /* "namespace0.0" */
	char mode[16]; /* "memory", "dax", "raw", "safe" */
	int64_t size_bytes;
	int numa_node;
};

struct facts_dimm {
	char name[32];	 /* "nmem0" */
	char flags[128]; /* "none" where the kernel shows none */
	int64_t dirty_shutdown;
};

struct facts_region {
	char name[32];
	char provider[64];
	char persistence_domain[32];
	char devtype[32]; /* "nd_pmem" */
	int64_t size_bytes;
	int64_t read_only;
	int64_t badblocks; /* ranges, of those within the target where that is known */
	int numa_node;
	struct facts_dimm dimms[FACTS_DIMMS_MAX];
	size_t dimms_count;
};

struct facts_cxl {
	int64_t pmem_bytes; /* on all devices; 0: none; -1: unknown */
	size_t devices;	    /* with persistent capacity */
	size_t locked;
	/* how many of these devices and of the ports above have registers of GPF */
	size_t gpf_yes, gpf_no, gpf_unknown;
	char gpf_function[16];	   /* the first that has none, or of which it is unknown */
	size_t regions, committed; /* regions of mode pmem */
	bool bridge;		   /* to the NVDIMM drivers */
	char memory[32];	   /* the first of these devices; empty: there is none */
	char decoder[32];	   /* the first window that takes persistent memory; empty: none */
};

struct facts_target {
	enum target_shape shape;
	char path[FACTS_PATH_MAX];
	char device[64];     /* what it lies on: "dax0.0", "pmem0", "dm-0", "sda2" */
	char filesystem[32]; /* set for a file or directory */
	char mount_options[256];
	enum known dax_mount; /* dax or dax=always; KNOWN_NOT: dax=inode, or no mount seen */
	enum known dax_queue; /* the block device can DAX */
	bool read_only_mount;
	char driver[32]; /* a device DAX's: "device_dax", "kmem"; "none": not bound */
	int64_t size_bytes, align_bytes;
	int64_t badblocks;	    /* on the pmem block devices below it; -1: none, or unknown */
	bool badblocks_cut;	    /* a list of these devices could not be read */
	struct answers_path answer; /* statx and the MAP_SYNC mapping */
	/* what the target lies on; without a target all of the host */
	struct facts_namespace namespaces[FACTS_NAMESPACES_MAX];
	size_t namespaces_count;
	struct facts_region regions[FACTS_REGIONS_MAX];
	size_t regions_count;
	bool cut;		/* there are more namespaces, regions or DIMMs, or may be */
	bool host_seen;		/* sysfs has devices at all, so that none of a kind means none */
	size_t regions_of_host; /* 0: the kernel knows of no persistent memory */
	size_t dimms_of_host;	/* memory modules on the NVDIMM bus, in a region or not */
	struct facts_cxl cxl;	/* the host's */
};

enum facts_container { CONTAINER_NONE, CONTAINER_OTHER, CONTAINER_POD };

struct facts_limits {
	enum facts_container container; /* that this process is in, as far as it is seen */
	bool root;			/* uid 0, if only of a container */
	int64_t memlock_bytes;		/* INT64_MAX: unlimited */
	int64_t open_files;
	enum known may_lock; /* CAP_IPC_LOCK */
};

/* The operator's statements, --assume-ddio and --assume-pmem, and the result of a probe. */
struct facts_claims {
	enum known ddio_assumed; /* KNOWN_NOT: nothing said; KNOWN_NO: off */
	char why[128];
	char pmem_why[128]; /* the claim that memory of a hypervisor is persistent; empty: none */
	char by[40];	    /* who states it, for the record; empty: not known */
	char at[32];	    /* when, in UTC */
	struct answers_probe probe;
};

struct facts {
	struct facts_device device;
	struct facts_pci pci;
	struct facts_platform platform;
	struct facts_target target;
	struct facts_limits limits;
	struct answers_device verbs; /* facts_device.name's */
	struct facts_claims claims;
};
