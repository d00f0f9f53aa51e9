/* A program: an artifact that was opened, immutable from then on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_PROGRAM_H
#define IG_RUNTIME_PROGRAM_H

#include "base/platform/platform.h"
#include "runtime/container.h"
#include "runtime/device.h"
#include "runtime/host/ranks.h"
#include "runtime/plugin/staging.h"
#include "runtime/plugin/observe.h"
#include "runtime/plan/plan.h"

/* A step of this program, on the level that was chosen.  Sessions lay out
 * their arrays by these numbers. */
typedef struct ig_exec {
    const ig_plan_variant *variant; /* launch, host */
    ig_device_kernel kernel;        /* launch */
    ig_host_fn *host;               /* host; NULL: the ranks of the session do it */
    const void *closure;            /* what calls of that carry */
    uint32_t slot;                  /* first of its operands among a session's slots */
    uint32_t param;                 /* first of its params; in rows the tail's follow */
    uint32_t launch;                /* launch, rows, host: its number among these */
    uint32_t phase_count;           /* launches of the phase that it begins; else 0 */
    uint32_t end;                   /* the step after it and its bodies */
    uint32_t rows;                  /* the rows step around it, or IG_NONE */
    bool is_late;                   /* something in it is known only when it runs */
    bool is_loose;                  /* params or cost depend on loose symbols */
    bool has_late;                  /* some step of the phase that it begins is late */
    bool is_conditional;            /* in a branch, or in the body of a loop */
} ig_exec;

/* Bytes of constants: an entry, a file, or a copy in large pages. */
typedef struct ig_constant_file {
    ig_str bytes;
    ig_file_map map; /* base NULL: nothing to unmap */
    void *copy;      /* in large pages, or NULL */
    size_t copy_size;
} ig_constant_file;

/* An operand slot in the caller's memory, which moves from call to call. */
typedef struct ig_port_slot {
    uint32_t slot, buffer;
} ig_port_slot;

struct ig_program {
    atomic_int references;
    const ig_device *device;
    ig_file_map file;
    int file_index; /* of that, while the program is being opened; else -1 */
    ig_container container;
    void *plan_bytes; /* a copy: nobody can change it under us */
    ig_plan plan;
    uint32_t level; /* of plan.levels; IG_NONE when there is no kernel */
    ig_device_code image;
    uint64_t code_bytes;
    ig_constant_file *sources; /* weights, weights-<level>, then the files */
    const void **constants;
    const void **resident; /* the same in the device's memory */
    void *resident_block;  /* that the device keeps for them, or NULL */
    void *resident_pinned; /* of the host's memory, where kernels read; or NULL */
    ig_exec *execs;
    ig_port_slot *port_slots; /* of steps that are not late */
    uint32_t port_slot_count;
    /* By buffer: the output of late extents that it holds, or IG_NONE.  NULL: there is
     * none, or a loop gives the extents several values in a run. */
    uint32_t *late_outputs;
    uint32_t slot_count, param_count, launch_count, late_count;
    uint32_t table_size;   /* max of operands of a launch in rows */
    uint32_t scratch;      /* max of bytes that a kernel needs */
    bool has_loose;        /* some step is */
    bool has_loops;
    bool is_sanitized;     /* some kernel checks its accesses */
    bool needs_ranks;      /* some host step is theirs */
    bool writes_outputs;   /* in place: buffers of their own, sizes known */
    bool writes_weights;   /* some output is in an opened weight */
    char levels[96];       /* for people */
    ig_observer *observer; /* who tells others of the code, or NULL */
};

void ig_program_retain(ig_program *program);

/* program_device.c: the device that was asked for, or else the first one that is here
 * of those that the artifact has plans for. */
ig_status ig_program_choose_device(ig_program *program,
                                   const ig_program_options *options,
                                   const ig_message *message);

/* The parts of opening, each in a file of its name. */
ig_status ig_program_load_code(ig_program *program, const ig_program_options *options,
                               const ig_message *message);
ig_status ig_program_find_kernel(const ig_program *program, uint32_t index,
                                 ig_device_kernel *out_kernel,
                                 const ig_message *message);
ig_status ig_program_find_constants(ig_program *program, const char *path,
                                    const ig_program_options *options,
                                    const ig_message *message);
void ig_program_drop_constants(ig_program *program);
ig_status ig_program_lay_out(ig_program *program, const ig_program_options *options,
                             const ig_message *message);
/* Last: tells whoever asked for it of the code. */
ig_status ig_program_begin_observing(ig_program *program,
                                     const ig_program_options *options,
                                     const ig_message *message);

#endif
