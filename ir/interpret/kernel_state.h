/* Inside of the kernel interpreter: threads, memory and values of one call.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   call ── regions     buffer arguments, scratch, shared arrays; local ones by thread
 *        ── threads ── frames   the thread's position: one frame a body it is in
 *                   ── values   lanes in memory order, or an offset in a region
 *
 * A thread is run up to its next barrier, with an explicit stack of frames, so barriers
 * may be inside of loops and branches.
 */
#ifndef IG_IR_INTERPRET_KERNEL_STATE_H
#define IG_IR_INTERPRET_KERNEL_STATE_H

#include "ir/interpret/kernel.h"
#include "ir/tensor/span.h"

/* Who touched a byte last, since which barrier. */
typedef struct ig_shadow {
    uint32_t written_at, read_at; /* epoch; 0 is never */
    uint16_t writer, reader;
    bool has_more_readers;
} ig_shadow;

typedef struct ig_kernel_region {
    const char *what; /* "buffer 2", "scratch", … */
    char *data;
    int64_t bytes;
    ig_shadow *shadow; /* one a byte, or NULL */
} ig_kernel_region;

/* The payload of a value of buffer type. */
typedef struct ig_kernel_pointer {
    ig_kernel_region *region;
    int64_t offset; /* bytes; may be out of bounds while not accessed */
} ig_kernel_pointer;

typedef struct ig_frame {
    const ig_op *next;
    const ig_op *owner;         /* the `for` or `if` whose body this is, or NULL */
    int64_t index, limit, step; /* of a `for` */
} ig_frame;

typedef struct ig_kernel_run ig_kernel_run;

typedef struct ig_kernel_thread {
    ig_kernel_run *run;
    uint32_t index, depth;
    bool is_done;
    const ig_op *barrier; /* or exchange, at which it waits, or NULL */
    ig_frame *frames;
    ig_kernel_region *locals; /* by array number */
    char *values;             /* see `places` of the run */
    char *yields;             /* values on their way out of a body */
} ig_kernel_thread;

struct ig_kernel_run {
    const ig_graph *kernel;
    ig_module *module;
    ig_context *context;
    ig_kernel_call *call;
    ig_arena arena;
    int64_t *offset_of; /* by value id: bytes into a thread's values */
    int64_t value_bytes, yield_bytes;
    uint32_t frame_count, buffer_count;
    ig_kernel_region *buffers; /* by argument */
    ig_kernel_region scratch;
    uint32_t *array_of; /* by op id: number of a `local` or `shared` array */
    uint32_t array_count;
    ig_kernel_region *shared; /* by array number */
    ig_kernel_thread *threads;
    uint32_t epoch;
    uint64_t steps;
};

/* ---- values ---- */

/* Bytes of a value of this type as a thread holds it. */
int64_t ig_kernel_size(const ig_type *type);
void *ig_kernel_value(const ig_kernel_thread *thread, const ig_value *value);
/* The lanes as a tensor in the thread's memory. */
ig_tensor ig_kernel_lanes(const ig_kernel_thread *thread, const ig_value *value);
int64_t ig_kernel_i64(const ig_kernel_thread *thread, const ig_op *op,
                      uint32_t operand);

/* ---- errors: IG_INTERNAL, a kernel is ours ---- */

ig_status ig_kernel_error(const ig_kernel_thread *thread, const ig_op *op,
                          const char *format, ...) IG_PRINTF(3, 4);

/* ---- kernel_exchange.c ---- */

/* The values that all threads give and get at an exchange within warps. */
ig_status ig_kernel_exchange(ig_kernel_run *run, const ig_op *op);

/* ---- kernel_memory.c ---- */

ig_status ig_kernel_alloc(ig_kernel_run *run, int64_t count, size_t size,
                          void *out_memory);
ig_status ig_kernel_region_init(ig_kernel_run *run, ig_kernel_region *region,
                                const char *what, void *data, int64_t bytes);
/* Memory of its own, filled with bits that are NaN in every float. */
ig_status ig_kernel_region_create(ig_kernel_run *run, ig_kernel_region *region,
                                  const char *what, int64_t bytes);
typedef enum ig_access { IG_ACCESS_READ, IG_ACCESS_WRITE } ig_access;
/* Address of `count` elements from `index` on, checked for bounds and races. */
typedef struct ig_touch {
    uint32_t operand; /* the buffer */
    int64_t index, count;
    ig_access access;
} ig_touch;
ig_status ig_kernel_touch(ig_kernel_thread *thread, const ig_op *op,
                          const ig_touch *touch, char **out_bytes);

#endif
