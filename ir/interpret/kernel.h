/* The interpreter of kernel form: the judge of schedules and of both emitters.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs one kernel graph for a range of tiles on real memory.  With `threads` > 1 the
 * threads of a block run in lockstep up to each barrier.  Every access is checked
 * against the extent of its buffer; with `check_races`, two threads that touch the same
 * element between barriers, one of them storing, are an error.
 */
#ifndef IG_IR_INTERPRET_KERNEL_H
#define IG_IR_INTERPRET_KERNEL_H

#include "ir/ops.h"

typedef struct ig_kernel_buffer {
    void *data;
    int64_t bytes;
    int64_t before; /* bytes in front of `data` that are its own too */
} ig_kernel_buffer;

typedef struct ig_kernel_call {
    const ig_kernel_buffer *buffers; /* one a buffer argument, in order */
    const int64_t *params;           /* one an i64 argument, in order */
    int64_t tile_begin, tile_end;
    int64_t scratch_bytes;
    uint32_t threads; /* of a block; 1 on CPUs */
    bool check_races;
    /* Out: the least report, when `reported`. */
    bool reported;
    int64_t report_operand, report_position, report_value;
} ig_kernel_call;

ig_status ig_interpret_kernel(const ig_graph *kernel, ig_kernel_call *call);

#endif
