/* SPDX-License-Identifier: BSD-2-Clause */
/* PAPI's C interface for counting and profiling a program's own events, on Linux perf events.
 *
 * Programs written for PAPI compile with this header and link with -ldwell-papi.  Names, values and
 * layouts are those of PAPI 7.0.  How they behave is PAPI's too, except where PAPI's manual and
 * PAPI differ: there the manual holds (see PAPI_profil(3) of this library).  Not offered are PAPI's
 * device functions, its Fortran interface and its other components.
 *
 * An event set belongs to the thread that starts it and counts that thread.  Different threads may
 * use different event sets at the same time; one event set must not be used by two threads at once.
 * Functions return PAPI_OK or one of the codes below, all negative, unless they say otherwise; when
 * they fail nothing has changed. */
#ifndef DWELL_PAPI_H
#define DWELL_PAPI_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

#include "papiStdEventDefs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version PAPI_library_init() is told: the library checks its two upper bytes. */
#define PAPI_VERSION_NUMBER(maj, min, rev, inc)                                                    \
	(((maj) << 24) | ((min) << 16) | ((rev) << 8) | (inc))
#define PAPI_VERSION_MAJOR(x)	  (((x) >> 24) & 0xff)
#define PAPI_VERSION_MINOR(x)	  (((x) >> 16) & 0xff)
#define PAPI_VERSION_REVISION(x)  (((x) >> 8) & 0xff)
#define PAPI_VERSION_INCREMENT(x) ((x)&0xff)
#define PAPI_VERSION		  PAPI_VERSION_NUMBER(7, 0, 0, 0)
#define PAPI_VER_CURRENT	  (PAPI_VERSION & 0xffff0000)

#define IS_NATIVE(code)	      (((code)&PAPI_NATIVE_MASK) && !((code)&PAPI_PRESET_MASK))
#define IS_PRESET(code)	      (((code)&PAPI_PRESET_MASK) && !((code)&PAPI_NATIVE_MASK))
#define IS_USER_DEFINED(code) (((code)&PAPI_PRESET_MASK) && ((code)&PAPI_NATIVE_MASK))

/* What functions return. */
#define PAPI_OK		   0
#define PAPI_EINVAL	   (-1)	 /* an argument is invalid */
#define PAPI_ENOMEM	   (-2)	 /* no memory, or no more event sets */
#define PAPI_ESYS	   (-3)	 /* a system call failed: errno says why */
#define PAPI_ECMP	   (-4)	 /* perf events cannot do that */
#define PAPI_ESBSTR	   (-4)	 /* the same, by its older name */
#define PAPI_ECLOST	   (-5)	 /* a counter was lost */
#define PAPI_EBUG	   (-6)	 /* a fault of the library */
#define PAPI_ENOEVNT	   (-7)	 /* no such event on this machine */
#define PAPI_ECNFLCT	   (-8)	 /* the event cannot be counted beside the others */
#define PAPI_ENOTRUN	   (-9)	 /* the event set is not counting */
#define PAPI_EISRUN	   (-10) /* the event set is counting */
#define PAPI_ENOEVST	   (-11) /* no such event set */
#define PAPI_ENOTPRESET	   (-12) /* not the code of a preset */
#define PAPI_ENOCNTR	   (-13) /* no counters */
#define PAPI_EMISC	   (-14) /* no other code says it */
#define PAPI_EPERM	   (-15) /* not permitted */
#define PAPI_ENOINIT	   (-16) /* PAPI_library_init() has not been called */
#define PAPI_ENOCMP	   (-17) /* no such component */
#define PAPI_ENOSUPP	   (-18) /* not supported */
#define PAPI_ENOIMPL	   (-19) /* not implemented */
#define PAPI_EBUF	   (-20) /* a buffer is too small */
#define PAPI_EINVAL_DOM	   (-21) /* not with this domain */
#define PAPI_EATTR	   (-22) /* an event's attributes are wrong */
#define PAPI_ECOUNT	   (-23) /* too many events or attributes */
#define PAPI_ECOMBO	   (-24) /* features that do not go together */
#define PAPI_ECMP_DISABLED (-25) /* the event's component is disabled */
#define PAPI_EDELAY_INIT   (-26) /* a component that begins later */
#define PAPI_EMULPASS	   (-27) /* the hardware would need several passes */
#define PAPI_NUM_ERRORS	   28

/* PAPI_is_initialized() */
#define PAPI_NOT_INITED		 0
#define PAPI_LOW_LEVEL_INITED	 1
#define PAPI_HIGH_LEVEL_INITED	 2
#define PAPI_THREAD_LEVEL_INITED 4

/* No event; no event set. */
#define PAPI_NULL (-1)

/* Domains: what counts is executed in. */
#define PAPI_DOM_USER	    0x1
#define PAPI_DOM_MIN	    PAPI_DOM_USER
#define PAPI_DOM_KERNEL	    0x2
#define PAPI_DOM_OTHER	    0x4
#define PAPI_DOM_SUPERVISOR 0x8
#define PAPI_DOM_ALL	    (PAPI_DOM_USER | PAPI_DOM_KERNEL | PAPI_DOM_OTHER | PAPI_DOM_SUPERVISOR)
#define PAPI_DOM_MAX	    PAPI_DOM_ALL
#define PAPI_DOM_HWSPEC	    0x80000000

/* PAPI_get_thr_specific() */
#define PAPI_USR1_TLS	     0x0
#define PAPI_USR2_TLS	     0x1
#define PAPI_TLS_HIGH_LEVEL  0x2
#define PAPI_NUM_TLS	     0x3
#define PAPI_TLS_USR1	     PAPI_USR1_TLS
#define PAPI_TLS_USR2	     PAPI_USR2_TLS
#define PAPI_TLS_NUM	     PAPI_NUM_TLS
#define PAPI_TLS_ALL_THREADS 0x10

/* PAPI_lock() */
#define PAPI_USR1_LOCK 0x0
#define PAPI_USR2_LOCK 0x1
#define PAPI_NUM_LOCK  0x2
#define PAPI_LOCK_USR1 PAPI_USR1_LOCK
#define PAPI_LOCK_USR2 PAPI_USR2_LOCK
#define PAPI_LOCK_NUM  PAPI_NUM_LOCK

/* PAPI_hw_info_t.vendor */
#define PAPI_VENDOR_UNKNOWN	  0
#define PAPI_VENDOR_INTEL	  1
#define PAPI_VENDOR_AMD		  2
#define PAPI_VENDOR_IBM		  3
#define PAPI_VENDOR_CRAY	  4
#define PAPI_VENDOR_SUN		  5
#define PAPI_VENDOR_FREESCALE	  6
#define PAPI_VENDOR_ARM		  7
#define PAPI_VENDOR_MIPS	  8
#define PAPI_VENDOR_ARM_ARM	  0x41
#define PAPI_VENDOR_ARM_BROADCOM  0x42
#define PAPI_VENDOR_ARM_CAVIUM	  0x43
#define PAPI_VENDOR_ARM_FUJITSU	  0x46
#define PAPI_VENDOR_ARM_HISILICON 0x48
#define PAPI_VENDOR_ARM_APM	  0x50
#define PAPI_VENDOR_ARM_QUALCOMM  0x51

/* Granularities: whose events are counted. */
#define PAPI_GRN_THR	 0x1
#define PAPI_GRN_MIN	 PAPI_GRN_THR
#define PAPI_GRN_PROC	 0x2
#define PAPI_GRN_PROCG	 0x4
#define PAPI_GRN_SYS	 0x8
#define PAPI_GRN_SYS_CPU 0x10
#define PAPI_GRN_MAX	 PAPI_GRN_SYS_CPU

/* PAPI_state() */
#define PAPI_STOPPED	  0x01
#define PAPI_RUNNING	  0x02
#define PAPI_PAUSED	  0x04
#define PAPI_NOT_INIT	  0x08
#define PAPI_OVERFLOWING  0x10
#define PAPI_PROFILING	  0x20
#define PAPI_MULTIPLEXING 0x40
#define PAPI_ATTACHED	  0x80
#define PAPI_CPU_ATTACHED 0x100

/* PAPI_set_debug().  This library never ends the program: STOP only reports, as CONT does. */
#define PAPI_QUIET	0
#define PAPI_VERB_ECONT 1
#define PAPI_VERB_ESTOP 2

/* PAPI_profil(), PAPI_sprofil() */
#define PAPI_PROFIL_POSIX     0x0   /* each overflow is 1 */
#define PAPI_PROFIL_RANDOM    0x1   /* a random quarter of the samples is dropped */
#define PAPI_PROFIL_WEIGHTED  0x2   /* a late sample is up to 255: see below */
#define PAPI_PROFIL_COMPRESS  0x4   /* the larger a bucket, the fewer samples count */
#define PAPI_PROFIL_BUCKET_16 0x8   /* unsigned short; also when no size is given */
#define PAPI_PROFIL_BUCKET_32 0x10  /* unsigned int */
#define PAPI_PROFIL_BUCKET_64 0x20  /* unsigned long long */
#define PAPI_PROFIL_FORCE_SW  0x40  /* the count is looked at from time to time */
#define PAPI_PROFIL_DATA_EAR  0x80  /* PAPI_ENOSUPP */
#define PAPI_PROFIL_INST_EAR  0x100 /* PAPI_ENOSUPP */
#define PAPI_PROFIL_BUCKETS   (PAPI_PROFIL_BUCKET_16 | PAPI_PROFIL_BUCKET_32 | PAPI_PROFIL_BUCKET_64)

/* PAPI_overflow() */
#define PAPI_OVERFLOW_FORCE_SW 0x40
#define PAPI_OVERFLOW_HARDWARE 0x80

#define PAPI_MULTIPLEX_DEFAULT	0x0
#define PAPI_MULTIPLEX_FORCE_SW 0x1

#define PAPI_INHERIT_ALL  1
#define PAPI_INHERIT_NONE 0

/* PAPI_get_opt(), PAPI_set_opt() */
#define PAPI_DETACH	      1
#define PAPI_DEBUG	      2
#define PAPI_MULTIPLEX	      3
#define PAPI_DEFDOM	      4
#define PAPI_DOMAIN	      5
#define PAPI_DEFGRN	      6
#define PAPI_GRANUL	      7
#define PAPI_DEF_MPX_NS	      8
#define PAPI_MAX_MPX_CTRS     11
#define PAPI_PROFIL	      12
#define PAPI_PRELOAD	      13
#define PAPI_CLOCKRATE	      14
#define PAPI_MAX_HWCTRS	      15
#define PAPI_HWINFO	      16
#define PAPI_EXEINFO	      17
#define PAPI_MAX_CPUS	      18
#define PAPI_ATTACH	      19
#define PAPI_SHLIBINFO	      20
#define PAPI_LIB_VERSION      21
#define PAPI_COMPONENTINFO    22
#define PAPI_DATA_ADDRESS     23
#define PAPI_INSTR_ADDRESS    24
#define PAPI_DEF_ITIMER	      25
#define PAPI_DEF_ITIMER_NS    26
#define PAPI_CPU_ATTACH	      27
#define PAPI_INHERIT	      28
#define PAPI_USER_EVENTS_FILE 29

#define PAPI_INIT_SLOTS	  64
#define PAPI_MIN_STR_LEN  64
#define PAPI_MAX_STR_LEN  128
#define PAPI_2MAX_STR_LEN 256
#define PAPI_HUGE_STR_LEN 1024
#define PAPI_PMU_MAX	  80
#define PAPI_DERIVED	  0x1

/* PAPI_enum_event(): which events come next. */
enum {
	PAPI_ENUM_EVENTS = 0,
	PAPI_ENUM_FIRST,
	PAPI_PRESET_ENUM_AVAIL, /* this machine has; of native events, all are */

	PAPI_PRESET_ENUM_MSC,
	PAPI_PRESET_ENUM_INS,
	PAPI_PRESET_ENUM_IDL,
	PAPI_PRESET_ENUM_BR,
	PAPI_PRESET_ENUM_CND,
	PAPI_PRESET_ENUM_MEM,
	PAPI_PRESET_ENUM_CACH,
	PAPI_PRESET_ENUM_L1,
	PAPI_PRESET_ENUM_L2,
	PAPI_PRESET_ENUM_L3,
	PAPI_PRESET_ENUM_TLB,
	PAPI_PRESET_ENUM_FP,

	PAPI_NTV_ENUM_UMASKS, /* what follows has no events here */
	PAPI_NTV_ENUM_UMASK_COMBOS,
	PAPI_NTV_ENUM_IARR,
	PAPI_NTV_ENUM_DARR,
	PAPI_NTV_ENUM_OPCM,
	PAPI_NTV_ENUM_IEAR,
	PAPI_NTV_ENUM_DEAR,
	PAPI_NTV_ENUM_GROUPS
};

#define PAPI_ENUM_ALL	     PAPI_ENUM_EVENTS
#define PAPI_PRESET_BIT_MSC  (1 << PAPI_PRESET_ENUM_MSC)
#define PAPI_PRESET_BIT_INS  (1 << PAPI_PRESET_ENUM_INS)
#define PAPI_PRESET_BIT_IDL  (1 << PAPI_PRESET_ENUM_IDL)
#define PAPI_PRESET_BIT_BR   (1 << PAPI_PRESET_ENUM_BR)
#define PAPI_PRESET_BIT_CND  (1 << PAPI_PRESET_ENUM_CND)
#define PAPI_PRESET_BIT_MEM  (1 << PAPI_PRESET_ENUM_MEM)
#define PAPI_PRESET_BIT_CACH (1 << PAPI_PRESET_ENUM_CACH)
#define PAPI_PRESET_BIT_L1   (1 << PAPI_PRESET_ENUM_L1)
#define PAPI_PRESET_BIT_L2   (1 << PAPI_PRESET_ENUM_L2)
#define PAPI_PRESET_BIT_L3   (1 << PAPI_PRESET_ENUM_L3)
#define PAPI_PRESET_BIT_TLB  (1 << PAPI_PRESET_ENUM_TLB)
#define PAPI_PRESET_BIT_FP   (1 << PAPI_PRESET_ENUM_FP)

#define PAPI_NTV_GROUP_AND_MASK 0x00FF0000
#define PAPI_NTV_GROUP_SHIFT	16

#define long_long   long long
#define u_long_long unsigned long long

typedef unsigned long PAPI_thread_id_t;
typedef void *vptr_t;

/* What PAPI_get_thr_specific() gives of all threads. */
typedef struct _papi_all_thr_spec {
	int num;	      /* room in the arrays; threads there are */
	PAPI_thread_id_t *id; /* or NULL */
	void **data;
} PAPI_all_thr_spec_t;

/* Is called when an event has grown by its threshold, in a signal handler of the thread that is
 * counted.  ADDRESS: where that was; bit I of OVERFLOW_VECTOR: it was the event set's event number
 * I; CONTEXT: a ucontext_t. */
typedef void (*PAPI_overflow_handler_t)(int EventSet, void *address, long long overflow_vector,
					void *context);

/* A region of text and its histogram: PAPI_sprofil(). */
typedef struct _papi_sprofil {
	void *pr_base;	   /* the buckets */
	unsigned pr_size;  /* bytes of them */
	vptr_t pr_off;	   /* the region's first address */
	unsigned pr_scale; /* buckets for two addresses, 16 bits of fraction: 2 to 65536, 131072 */
} PAPI_sprofil_t;

typedef struct _papi_itimer_option {
	int itimer_num; /* ITIMER_REAL, _VIRTUAL or _PROF */
	int itimer_sig;
	int ns; /* 0: as it is */
	int flags;
} PAPI_itimer_option_t;

typedef struct _papi_inherit_option {
	int eventset;
	int inherit;
} PAPI_inherit_option_t;

typedef struct _papi_domain_option {
	int def_cidx;
	int eventset;
	int domain;
} PAPI_domain_option_t;

typedef struct _papi_granularity_option {
	int def_cidx;
	int eventset;
	int granularity;
} PAPI_granularity_option_t;

typedef struct _papi_preload_option {
	char lib_preload_env[PAPI_MAX_STR_LEN];
	char lib_preload_sep;
	char lib_dir_env[PAPI_MAX_STR_LEN];
	char lib_dir_sep;
} PAPI_preload_info_t;

/* What counts: here always perf_event, number 0. */
typedef struct _papi_component_option {
	char name[PAPI_MAX_STR_LEN];
	char short_name[PAPI_MIN_STR_LEN];
	char description[PAPI_MAX_STR_LEN];
	char version[PAPI_MIN_STR_LEN];
	char support_version[PAPI_MIN_STR_LEN];
	char kernel_version[PAPI_MIN_STR_LEN];
	char disabled_reason[PAPI_HUGE_STR_LEN];
	int disabled; /* 0, or why */
	int initialized;
	int CmpIdx;
	int num_cntrs;	   /* events an event set can have */
	int num_mpx_cntrs; /* the same when multiplexed */
	int num_preset_events;
	int num_native_events;
	int default_domain;
	int available_domains;
	int default_granularity;
	int available_granularities;
	int hardware_intr_sig; /* the signal of overflows; 0 before the first PAPI_overflow() */
	int component_type;
	char *pmu_names[PAPI_PMU_MAX];
	int reserved[8];
	unsigned int hardware_intr : 1;
	unsigned int precise_intr : 1;
	unsigned int posix1b_timers : 1;
	unsigned int kernel_profile : 1;
	unsigned int kernel_multiplex : 1;
	unsigned int fast_counter_read : 1;
	unsigned int fast_real_timer : 1;
	unsigned int fast_virtual_timer : 1;
	unsigned int attach : 1;
	unsigned int attach_must_ptrace : 1;
	unsigned int cntr_umasks : 1;
	unsigned int cpu : 1;
	unsigned int inherit : 1;
	unsigned int reserved_bits : 19;
} PAPI_component_info_t;

typedef struct _papi_mpx_info {
	int timer_sig;
	int timer_num;
	int timer_us;
} PAPI_mpx_info_t;

/* Is called with each code below 0 that a function is about to return. */
typedef int (*PAPI_debug_handler_t)(int code);

typedef struct _papi_debug_option {
	int level;
	PAPI_debug_handler_t handler;
} PAPI_debug_option_t;

/* Addresses, as they are in this process; ends are exclusive. */
typedef struct _papi_address_map {
	char name[PAPI_HUGE_STR_LEN];
	vptr_t text_start;
	vptr_t text_end;
	vptr_t data_start;
	vptr_t data_end;
	vptr_t bss_start;
	vptr_t bss_end;
} PAPI_address_map_t;

typedef struct _papi_program_info {
	char fullname[PAPI_HUGE_STR_LEN];
	PAPI_address_map_t address_info;
} PAPI_exe_info_t;

typedef struct _papi_shared_lib_info {
	PAPI_address_map_t *map;
	int count;
} PAPI_shlib_info_t;

typedef char *PAPI_user_defined_events_file_t;

/* PAPI_mh_tlb_info_t.type, PAPI_mh_cache_info_t.type */
#define PAPI_MH_TYPE_EMPTY		    0x0
#define PAPI_MH_TYPE_INST		    0x1
#define PAPI_MH_TYPE_DATA		    0x2
#define PAPI_MH_TYPE_VECTOR		    0x4
#define PAPI_MH_TYPE_TRACE		    0x8
#define PAPI_MH_TYPE_UNIFIED		    (PAPI_MH_TYPE_INST | PAPI_MH_TYPE_DATA)
#define PAPI_MH_CACHE_TYPE(a)		    ((a)&0xf)
#define PAPI_MH_TYPE_WT			    0x00
#define PAPI_MH_TYPE_WB			    0x10
#define PAPI_MH_CACHE_WRITE_POLICY(a)	    ((a)&0xf0)
#define PAPI_MH_TYPE_UNKNOWN		    0x000
#define PAPI_MH_TYPE_LRU		    0x100
#define PAPI_MH_TYPE_PSEUDO_LRU		    0x200
#define PAPI_MH_TYPE_FIFO		    0x400
#define PAPI_MH_CACHE_REPLACEMENT_POLICY(a) ((a)&0xf00)
#define PAPI_MH_TYPE_TLB		    0x1000
#define PAPI_MH_TYPE_PREF		    0x2000
#define PAPI_MH_TYPE_RD_ALLOC		    0x10000
#define PAPI_MH_TYPE_WR_ALLOC		    0x20000
#define PAPI_MH_TYPE_RW_ALLOC		    0x40000
#define PAPI_MH_CACHE_ALLOCATION_POLICY(a)  ((a)&0xf0000)
#define PAPI_MH_MAX_LEVELS		    6
#define PAPI_MAX_MEM_HIERARCHY_LEVELS	    4

typedef struct _papi_mh_tlb_info {
	int type;
	int num_entries;
	int page_size;
	int associativity;
} PAPI_mh_tlb_info_t;

/* Sizes are in bytes; associativity 0: not known, SHRT_MAX: full. */
typedef struct _papi_mh_cache_info {
	int type;
	int size;
	int line_size;
	int num_lines;
	int associativity;
} PAPI_mh_cache_info_t;

typedef struct _papi_mh_level_info {
	PAPI_mh_tlb_info_t tlb[PAPI_MH_MAX_LEVELS];
	PAPI_mh_cache_info_t cache[PAPI_MH_MAX_LEVELS];
} PAPI_mh_level_t;

typedef struct _papi_mh_info {
	int levels;
	PAPI_mh_level_t level[PAPI_MAX_MEM_HIERARCHY_LEVELS];
} PAPI_mh_info_t;

typedef struct _papi_hw_info {
	int ncpu;    /* CPUs of a NUMA node */
	int threads; /* of a core */
	int cores;   /* of a socket */
	int sockets;
	int nnodes;
	int totalcpus;
	int vendor;
	char vendor_string[PAPI_MAX_STR_LEN];
	int model;
	char model_string[PAPI_MAX_STR_LEN];
	float revision;
	int cpuid_family;
	int cpuid_model;
	int cpuid_stepping;
	int cpu_max_mhz;
	int cpu_min_mhz;
	PAPI_mh_info_t mem_hierarchy; /* caches; TLBs are not known */
	int virtualized;
	char virtual_vendor_string[PAPI_MAX_STR_LEN];
	char virtual_vendor_version[PAPI_MAX_STR_LEN];
	float mhz;     /* cpu_max_mhz, for older programs */
	int clock_mhz; /* the same */
	int reserved[8];
} PAPI_hw_info_t;

typedef struct _papi_attach_option {
	int eventset;
	unsigned long tid;
} PAPI_attach_option_t;

typedef struct _papi_cpu_option {
	int eventset;
	unsigned int cpu_num;
} PAPI_cpu_option_t;

typedef struct _papi_multiplex_option {
	int eventset;
	int ns;
	int flags;
} PAPI_multiplex_option_t;

typedef struct _papi_addr_range_option {
	int eventset;
	vptr_t start;
	vptr_t end;
	int start_off;
	int end_off;
} PAPI_addr_range_option_t;

typedef union {
	PAPI_preload_info_t preload;
	PAPI_debug_option_t debug;
	PAPI_inherit_option_t inherit;
	PAPI_granularity_option_t granularity;
	PAPI_granularity_option_t defgranularity;
	PAPI_domain_option_t domain;
	PAPI_domain_option_t defdomain;
	PAPI_attach_option_t attach;
	PAPI_cpu_option_t cpu;
	PAPI_multiplex_option_t multiplex;
	PAPI_itimer_option_t itimer;
	PAPI_hw_info_t *hw_info;
	PAPI_shlib_info_t *shlib_info;
	PAPI_exe_info_t *exe_info;
	PAPI_component_info_t *cmp_info;
	PAPI_addr_range_option_t addr;
	PAPI_user_defined_events_file_t events_file;
} PAPI_option_t;

/* In KiB, but pagesize, which is in bytes; -1: the kernel does not say. */
typedef struct _dmem_t {
	long long peak;
	long long size;
	long long resident;
	long long high_water_mark;
	long long shared;
	long long text;
	long long library;
	long long heap;
	long long locked;
	long long stack;
	long long pagesize;
	long long pte;
} PAPI_dmem_info_t;

#define PAPI_MAX_INFO_TERMS 12

enum { PAPI_LOCATION_CORE = 0, PAPI_LOCATION_CPU, PAPI_LOCATION_PACKAGE, PAPI_LOCATION_UNCORE };
enum { PAPI_DATATYPE_INT64 = 0, PAPI_DATATYPE_UINT64, PAPI_DATATYPE_FP64, PAPI_DATATYPE_BIT64 };
enum { PAPI_VALUETYPE_RUNNING_SUM = 0, PAPI_VALUETYPE_ABSOLUTE };
enum {
	PAPI_TIMESCOPE_SINCE_START = 0,
	PAPI_TIMESCOPE_SINCE_LAST,
	PAPI_TIMESCOPE_UNTIL_NEXT,
	PAPI_TIMESCOPE_POINT
};
enum {
	PAPI_UPDATETYPE_ARBITRARY = 0,
	PAPI_UPDATETYPE_PUSH,
	PAPI_UPDATETYPE_PULL,
	PAPI_UPDATETYPE_FIXEDFREQ
};

/* An event.  What follows update_freq is of presets. */
typedef struct event_info {
	unsigned int event_code;
	char symbol[PAPI_HUGE_STR_LEN]; /* its name */
	char short_descr[PAPI_MIN_STR_LEN];
	char long_descr[PAPI_HUGE_STR_LEN];
	int component_index;
	char units[PAPI_MIN_STR_LEN];
	int location;
	int data_type;
	int value_type;
	int timescope;
	int update_type;
	int update_freq;
	unsigned int count;	 /* native events it is made of: 0 not on this machine, or 1 */
	unsigned int event_type; /* PAPI_PRESET_BIT_... */
	char derived[PAPI_MIN_STR_LEN]; /* always NOT_DERIVED */
	char postfix[PAPI_2MAX_STR_LEN];
	unsigned int code[PAPI_MAX_INFO_TERMS];
	char name[PAPI_MAX_INFO_TERMS][PAPI_2MAX_STR_LEN];
	char note[PAPI_HUGE_STR_LEN]; /* says so when the event stands in for what the name says */
} PAPI_event_info_t;

/* The library. */

/* Begins.  VERSION is PAPI_VER_CURRENT, which is also returned; else PAPI_EINVAL.  May be called
 * again. */
int PAPI_library_init(int version);
int PAPI_is_initialized(void); /* PAPI_NOT_INITED or a sum of the others */
/* Stops and destroys all event sets. */
void PAPI_shutdown(void);
/* A message that stays; NULL for what is no code of this library. */
char *PAPI_strerror(int code);
/* Writes MSG and what errno says to stderr, as perror(3) does. */
void PAPI_perror(const char *msg);
int PAPI_set_debug(int level);

/* Threads. */

/* ID_FN gives a thread's number, the same whenever that thread calls it.  ENOINIT,
 * EINVAL (NULL). */
int PAPI_thread_init(unsigned long (*id_fn)(void));
/* What that function says of the calling thread; PAPI_EMISC before. */
unsigned long PAPI_thread_id(void);
/* The calling thread is, or no longer is, one PAPI_list_threads() names.  Threads need not register
 * to count; they do so by the first function that concerns a thread.  A thread that ends is
 * forgotten. */
int PAPI_register_thread(void);
int PAPI_unregister_thread(void);
/* *NUMBER is the room at TIDS, and then how many threads there are; TIDS may be NULL. */
int PAPI_list_threads(unsigned long *tids, int *number);
/* Pointers that each thread keeps here: TAG is PAPI_USR1_TLS or PAPI_USR2_TLS; with
 * PAPI_TLS_ALL_THREADS PTR is a PAPI_all_thr_spec_t. */
int PAPI_get_thr_specific(int tag, void **ptr);
int PAPI_set_thr_specific(int tag, void *ptr);
/* Two locks for the program's use; not recursive.  PAPI_EINVAL: neither of them. */
int PAPI_lock(int lock);
int PAPI_unlock(int lock);

/* Events. */

int PAPI_query_event(int code); /* PAPI_OK: this machine has it; else ENOEVNT, ENOTPRESET */
int PAPI_query_named_event(const char *name);
/* OUT has room for PAPI_MAX_STR_LEN. */
int PAPI_event_code_to_name(int code, char *out);
/* Presets, perf:: events, rHEX, perf's own names and, when libpfm4 is installed, all it knows. */
int PAPI_event_name_to_code(const char *name, int *out);
int PAPI_get_event_info(int code, PAPI_event_info_t *info);
/* The event that follows *CODE, among presets or native events as that is; PAPI_ENOEVNT at the end.
 * Only native events that have been named or that perf names itself are known. */
int PAPI_enum_event(int *code, int modifier);
int PAPI_enum_cmp_event(int *code, int modifier, int cidx);
int PAPI_get_event_component(int code);

/* Event sets. */

int PAPI_create_eventset(int *set); /* *SET must be PAPI_NULL */
/* Turns overflows and profiles of a stopped event set off and takes all events out of it. */
int PAPI_cleanup_eventset(int set);
int PAPI_destroy_eventset(int *set); /* which must be empty; *SET becomes PAPI_NULL */
/* PAPI_ECNFLCT: it is in the set, the set is full, or the machine cannot count it beside the
 * others. */
int PAPI_add_event(int set, int code);
int PAPI_add_named_event(int set, const char *name);
/* PAPI_OK, or, when some could not be added, how many were (the first of them), or an error when
 * none was. */
int PAPI_add_events(int set, int *codes, int number);
int PAPI_remove_event(int set, int code);
int PAPI_remove_named_event(int set, const char *name);
int PAPI_remove_events(int set, int *codes, int number);
int PAPI_list_events(int set, int *codes, int *number);
int PAPI_num_events(int set);
int PAPI_state(int set, int *status);
int PAPI_assign_eventset_component(int set, int cidx);
int PAPI_get_eventset_component(int set);
/* Counts thread TID (of any process one may trace) in place of the thread that starts the set. */
int PAPI_attach(int set, unsigned long tid);
int PAPI_detach(int set);
int PAPI_multiplex_init(void);
int PAPI_set_multiplex(int set);
int PAPI_get_multiplex(int set);

/* Counting. */

int PAPI_start(int set);		    /* from 0 */
int PAPI_stop(int set, long long *values);  /* VALUES, in the order of events, may be NULL */
int PAPI_read(int set, long long *values);  /* of a stopped set: what it stopped at */
int PAPI_accum(int set, long long *values); /* adds them to VALUES and begins again at 0 */
int PAPI_read_ts(int set, long long *values, long long *cyc);
int PAPI_reset(int set);
int PAPI_write(int set, long long *values);

/* Calls HANDLER whenever event CODE of SET has grown by THRESHOLD; THRESHOLD 0 ends that.  FLAGS: 0
 * or PAPI_OVERFLOW_FORCE_SW: the count is looked at by an interval timer (PAPI_DEF_ITIMER).
 * ENOEVST, EISRUN, EINVAL, ENOEVNT, ECNFLCT (one event by software, another not). */
int PAPI_overflow(int set, int code, int threshold, int flags, PAPI_overflow_handler_t handler);
/* Which of the set's events OVERFLOW_VECTOR names; *NUMBER is the room at ARRAY, and
 * then how many. */
int PAPI_get_overflow_event_index(int set, long long overflow_vector, int *array, int *number);

/* Profiling. */

/* From the next PAPI_start() on, event CODE of SET is profiled: each time it has grown by
 * THRESHOLD, the bucket of the program counter is incremented, unless it is at its maximum.
 * THRESHOLD 0 ends that.  The bucket of PC is number
 *
 *     (pc - offset) * scale >> 17
 *
 * if it lies within BUFSIZ bytes at BUF.  An event can be profiled once, but several of a set can.
 * FLAGS is a sum of PAPI_PROFIL_...; with PAPI_PROFIL_WEIGHTED a sample whose event had grown by
 * more than THRESHOLD counts (what is beyond it) * 255 / THRESHOLD, between 1 and 255; with
 * PAPI_PROFIL_FORCE_SW the count is looked at each PAPI_DEF_ITIMER_NS of CPU time, and the sample
 * taken there when it has grown by THRESHOLD or more.
 *
 * The buffer must stay until PAPI_stop(); should it not be there, profiling silently ends.  All
 * samples are in it when PAPI_stop() returns, and each within a tenth of a second.
 *
 *   PAPI_EINVAL   a buffer is NULL or not there, a size 0, a scale none of 2 to 65536 and 131072;
 *                 THRESHOLD is negative; it is 0 and the event is not profiled; FLAGS has unknown
 *                 bits or two bucket sizes; the set is attached to another thread or CPU;
 *   PAPI_ENOEVST  there is no event set SET;
 *   PAPI_EISRUN   it is counting;
 *   PAPI_ENOEVNT  CODE is not in it;
 *   PAPI_ECNFLCT  another event is profiled with FORCE_SW, and this one not, or the other way;
 *   PAPI_ENOSUPP  PAPI_PROFIL_DATA_EAR or PAPI_PROFIL_INST_EAR;
 *   PAPI_EINVAL_DOM  the set does not count user mode, where program counters are;
 *   PAPI_ENOMEM   no memory.
 * Nothing has changed then.  No signal is used. */
int PAPI_profil(void *buf, unsigned bufsiz, vptr_t offset, unsigned scale, int set, int code,
		int threshold, int flags);
/* Profiles PROFCNT regions as PAPI_profil() does one.  They are copied, may overlap and be in any
 * order: the one with the largest pr_off counts, and the first of equal ones.  A region with pr_off
 * 0 and pr_scale 2 is one bucket that counts what is in no other region. */
int PAPI_sprofil(PAPI_sprofil_t *prof, int profcnt, int set, int code, int threshold, int flags);

/* Options. */

int PAPI_get_opt(int option, PAPI_option_t *ptr);
int PAPI_set_opt(int option, PAPI_option_t *ptr);
int PAPI_get_cmp_opt(int option, PAPI_option_t *ptr, int cidx);
int PAPI_set_domain(int domain); /* of event sets made from now on: PAPI_DOM_... */
int PAPI_set_cmp_domain(int domain, int cidx);
/* PAPI_GRN_THR, or PAPI_GRN_SYS: all that runs on one CPU, that of PAPI_CPU_ATTACH or of who
 * starts. */
int PAPI_set_granularity(int granularity);
int PAPI_set_cmp_granularity(int granularity, int cidx);

/* The machine and the program.  What is returned stays, and belongs to the library. */

int PAPI_num_components(void);
int PAPI_get_component_index(const char *name);
const PAPI_component_info_t *PAPI_get_component_info(int cidx);
int PAPI_disable_component(int cidx);
int PAPI_disable_component_by_name(const char *name);
/* Hardware events that are counted at once; of a machine that has none, events a set can have; 0
 * before PAPI_library_init(). */
int PAPI_num_hwctrs(void);
int PAPI_num_cmp_hwctrs(int cidx);
const PAPI_hw_info_t *PAPI_get_hardware_info(void);
const PAPI_exe_info_t *PAPI_get_executable_info(void);
const PAPI_shlib_info_t *PAPI_get_shared_lib_info(void); /* until the next call */
int PAPI_get_dmem_info(PAPI_dmem_info_t *dest);

/* Time: since whenever, and of the calling thread on a CPU.  Cycles are of a clock of
 * PAPI_CLOCKRATE. */
long long PAPI_get_real_cyc(void);
long long PAPI_get_real_nsec(void);
long long PAPI_get_real_usec(void);
long long PAPI_get_virt_cyc(void);
long long PAPI_get_virt_nsec(void);
long long PAPI_get_virt_usec(void);

/* Rates.  The first call, and one for other events than the last, begins; each later one gives what
 * happened in the calling thread since the one before: seconds of real and of CPU time, events, and
 * millions of events a second of CPU time, or events a cycle. */
int PAPI_flips_rate(int event, float *rtime, float *ptime, long long *flpins, float *mflips);
int PAPI_flops_rate(int event, float *rtime, float *ptime, long long *flpops, float *mflops);
int PAPI_ipc(float *rtime, float *ptime, long long *ins, float *ipc);
int PAPI_epc(int event, float *rtime, float *ptime, long long *ref, long long *core, long long *evt,
	     float *epc);
int PAPI_rate_stop(void);

/* Named regions of the calling thread, which may lie in one another.  What $PAPI_EVENTS counted in
 * each is written at exit(3): papi_hl_output/rank_NUMBER.json in $PAPI_OUTPUT_DIRECTORY. */
int PAPI_hl_region_begin(const char *region);
int PAPI_hl_read(const char *region); /* takes in what was counted so far */
int PAPI_hl_region_end(const char *region);
int PAPI_hl_stop(void);

#define PAPI_COMPONENT_INDEX(code) PAPI_get_event_component(code)
#define PAPI_descr_error(code)	   PAPI_strerror(code)

#ifdef __cplusplus
}
#endif

#endif
