/* What a family of devices does for the runtime: loads code and runs phases.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One const struct a family, in a folder of its own (cpu/).  A session resolves
 * launches (addresses, parameters, tiles); a device runs those of one phase, which need
 * no barrier among them, and leaves the least report in the workers.
 */
#ifndef IG_RUNTIME_DEVICE_H
#define IG_RUNTIME_DEVICE_H

#include "ingot/kernel.h"
#include "ingot/runtime.h"
#include "runtime/message.h"

#include <stdatomic.h>

/* Code that is ready to be called. */
typedef struct ig_image {
    void *memory;
    size_t size; /* as the device allocated it */
} ig_image;

enum {
    IG_WORKER_STRIDE = -1
}; /* row stride of a buffer that each worker has its own of */

/* One launch with everything known. */
typedef struct ig_launch {
    ig_kernel_fn_v0 *kernel;
    void **buffers;
    const int64_t *params;
    int64_t grid;
    int64_t *bounds; /* worker w has the tiles bounds[w] … bounds[w + 1] - 1 */
    uint32_t buffer_count, step;
    /* In the body of rows: per buffer, bytes to add a row; and the last, shorter
     * block. */
    const int64_t *strides, *tail_params;
    int64_t tail_grid;
    double cost; /* ns on one core; <= 0: unknown */
} ig_launch;

typedef struct ig_phase {
    const ig_launch *launches;
    uint32_t launch_count;
    bool is_parallel;    /* worth more than one thread */
    int64_t rows, block; /* of a rows step, whose body the launches are; else 0 */
    bool is_wide;        /* one block, too few rows to share: its tiles are shared */
} ig_phase;

/* What one thread needs; a cache line pair of its own. */
typedef struct ig_worker {
    _Alignas(128) ig_kernel_report_v0 report; /* the least; operand -1: none */
    uint32_t launch;                          /* of the phase, that reported */
    int64_t row;                              /* first one of its block */
    void *scratch;
    void **table; /* room for the buffers of a launch */
    char *memory; /* of its own buffers in rows */
} ig_worker;

enum { IG_RUN_IDLE, IG_RUN_ACTIVE, IG_RUN_CANCELLED };

typedef struct ig_team {
    ig_thread_pool *pool; /* or NULL */
    int size;             /* workers */
    bool is_claimed;      /* this run has the pool to itself */
    ig_worker *workers;
    const atomic_int *state;    /* looked at between blocks of rows */
    struct ig_profile *profile; /* of the run, where it is profiled */
} ig_team;

typedef struct ig_device {
    const char *family; /* "cpu": the entries "code/cpu-…" */
    /* How good a level is on this machine: higher is better, 0: it cannot run. */
    int (*rank)(const char *level);
    /* The levels that this machine runs, for messages: "v2, v3". */
    const char *(*levels)(void);
    ig_status (*load)(const void *code, size_t size, ig_image *out_image,
                      const ig_message *message);
    void (*unload)(ig_image *image);
    void (*run)(const ig_phase *phase, const ig_team *team);
} ig_device;

extern const ig_device ig_device_cpu;

#endif
