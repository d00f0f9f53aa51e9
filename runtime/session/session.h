/* A session: a program with the memory to run it, one run at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three layers, from rare to often:
 *
 *     shape   values that follow from a call's extents: sizes, offsets, params, tiles.
 *             Planned when symbols that reach a size or grid have new values; a few are
 *             kept (session->shapes).
 *     bind    the caller's addresses, patched into the current shape's slots; and what
 *             depends on "loose" symbols, which reach only params (a bag's id count).
 *     run     walks the steps: no allocation, no lock, no formatting (but for late
 *             buffers, which may grow).
 */
#ifndef IG_RUNTIME_SESSION_H
#define IG_RUNTIME_SESSION_H

#include "runtime/plugin/texts.h"
#include "runtime/plugin/capture.h"
#include "runtime/plugin/watch.h"
#include "runtime/memory.h"
#include "runtime/program/program.h"

#include <assert.h>

enum {
    IG_SHAPES = 8, /* planned shapes that a session keeps */
    IG_ERROR_BYTES = 768,
    IG_PARALLEL_NS = 6000, /* a phase that costs less is not worth waking anybody */
    IG_UNKNOWN_TILE_NS = 1000,
    IG_MIN_ROWS = 4, /* of a worker, else the workers share the tiles of a block */
};

/* Everything that follows from one set of extents.  One block of memory. */
typedef struct ig_shape {
    uint64_t used;           /* session's clock when last used; 0: not planned */
    void *block;             /* NULL until first needed */
    uint64_t planned;        /* and when it was planned */
    int64_t *key;            /* values of plan.keys */
    int64_t *buffer_offsets; /* arena, worker; else 0; last, the workers' memory's */
    int64_t *buffer_bytes;   /* not of inputs, which are the binding's */
    int64_t *slot_offsets;   /* bytes from the buffer's start */
    int64_t *slot_strides;   /* bytes per row, or IG_WORKER_STRIDE */
    void **slots;            /* the device's addresses; worker buffers: their offset */
    int64_t *params;
    int64_t *bounds; /* of each launch: workers + 1 */
    ig_launch *launches;
    ig_phase *phases;      /* by number of the first launch */
    int64_t *output_dims;  /* IG_MAX_RANK per output */
    int64_t *output_bytes; /* -1: known when the run ends */
    int64_t arena_bytes, worker_bytes;
    double pool_ns;  /* of phases that are worth more than one thread, on one core */
    bool is_partial; /* something in a branch or a loop has no size for these extents */
} ig_shape;

typedef struct ig_starter ig_starter;

typedef struct ig_staged ig_staged; /* libingot-cuda's */

typedef struct ig_output {
    ig_view *view;    /* the caller's */
    char *target;     /* where the caller finds it */
    size_t capacity;  /* of target when it is the caller's */
    ig_region own;    /* for callers without memory */
    ig_region shadow; /* instead of memory that an input has too */
    bool is_shadowed;
} ig_output;

struct ig_session {
    ig_queue *queue; /* of the program's device */
    /* One function per kind of step, which does the step and its bodies:
     * ig_session_steps, or those of libingot-watch. */
    ig_step_fn *const *run_steps;
    const ig_watched *watched; /* for that library */

    const ig_staging *staging; /* the device's, or NULL */
    ig_staged *staged;         /* that it keeps about this session */
    void *stream;              /* the device's, for ig_session_facts */

    ig_ranks *ranks;  /* of a program that is one of several, or NULL */
    ig_memory host;   /* for the session's own reads: this struct, shapes */
    ig_memory memory; /* the device's, for regions */
    ig_program *program;
    const ig_plan *plan;
    ig_message message;
    ig_shape shapes[IG_SHAPES];
    ig_shape *shape; /* the current one, or NULL */
    uint64_t clock;
    int64_t runs; /* that have ended */
    size_t shape_bytes;
    int64_t *symbols;
    ig_view *inputs; /* as bound */
    ig_view *given;  /* of a program with state: the caller's, then state's */
    ig_view *state_outputs;
    ig_view *caller_outputs; /* as bound */
    bool is_stale;           /* state has moved since it was bound */
    ig_output *outputs;
    char **bases;                 /* address of each buffer */
    int64_t *bytes;               /* and its size, as far as known */
    ig_region *late;              /* memory of buffers whose size is late */
    size_t late_limit, late_held; /* bytes: ig_session_options, of `late` */
    ig_life *lives;               /* room for planning */
    ig_region arena, kept;
    bool is_prepared; /* `kept` is of the weights as they are */
    bool owns_arena;  /* else the caller gave it */
    bool is_bound;
    bool has_shadows;    /* some output may have one */
    bool has_shapes;     /* `inputs` holds extents that were found good */
    bool is_started;     /* a run beside the caller that was not waited for */
    ig_starter *starter; /* whose thread does such runs, or NULL */
    atomic_int state;
    int64_t deadline_ns, stop_at_ns;
    ig_texts texts;      /* of the last run */
    ig_capture *capture; /* who writes its calls down, or NULL */
    size_t self_bytes;   /* of the block that holds this struct */
    char error[IG_ERROR_BYTES];
};

/* session_shape.c: finds or plans the shape of the symbols' values and makes it the
 * current one. */
ig_status ig_session_choose_shape(ig_session *session);
/* Evaluates definitions over late symbols (`is_late`), or all the others, in order. */
ig_status ig_session_define(ig_session *session, bool is_late);
ig_status ig_session_check_guard(ig_session *session, uint32_t index);
/* Bytes of a buffer whose size is not late, or the error that they are none. */
ig_status ig_session_size_buffer(ig_session *session, uint32_t index,
                                 int64_t *out_bytes);
/* Extents and bytes of an output, into the current shape. */
ig_status ig_session_size_output(ig_session *session, uint32_t index);

/* session_arena.c: offsets of the buffers of a space, for the current shape's sizes;
 * false on overflow. */
bool ig_session_plan_space(ig_session *session, ig_space space, int64_t *out_bytes);

/* session_capture.c: has calls written down where INGOT_CAPTURE names a folder. */
ig_status ig_session_begin_capture(ig_session *session, const ig_message *message);

/* session_watch.c: libingot-watch does the steps of a program that checks its
 * accesses. */
ig_status ig_session_begin_watch(ig_session *session, const ig_message *message);

/* session_state.c.  The views of state after the caller's, for a bind. */
void ig_session_give_state(ig_session *session);
/* After a good run: outputs of state become the next inputs. */
void ig_session_commit_state(ig_session *session);
static inline uint32_t ig_session_callers(const ig_session *session, uint32_t count) {
    assert(count >= session->plan->states_count && "every state is a port too");
    return count - session->plan->states_count;
}

/* Is the output in the memory of a device that is not the host's? */
static inline bool ig_session_is_far(const ig_session *session, uint32_t index) {
    assert(index < session->plan->outputs_count && "the plan has no such output");
    bool is_state = index >= ig_session_callers(session, session->plan->outputs_count);
    return session->staging &&
           (is_state || session->outputs[index].view->memory != IG_MEMORY_HOST);
}

/* session_bind.c: memory for an output of so many bytes, and its view. */
ig_status ig_session_place_output(ig_session *session, uint32_t index, int64_t bytes);
/* Does an input overlap this memory? */
bool ig_session_overlaps_input(const ig_session *session, const char *data,
                               int64_t bytes);
void ig_session_describe_output(ig_session *session, uint32_t index);

/* Binds session->given, the caller's views in it, anew. */
ig_status ig_session_rebind(ig_session *session);

/* session_resolve.c: evaluates the record of step `number` into the current shape. */
ig_status ig_session_resolve(ig_session *session, uint32_t index);
/* Instead of that: a record of a step that does nothing. */
void ig_session_clear_step(ig_session *session, uint32_t index);
/* The same for params, tiles and cost of a launch or host step alone. */
ig_status ig_session_resolve_params(ig_session *session, uint32_t index);
/* Divides the tiles of the phase that begins at step `number` among the workers. */
void ig_session_split(ig_session *session, uint32_t index);
/* Fills the addresses of one step's slots, of every step that is not late, or of those
 * alone that are the caller's. */
void ig_session_patch_step(ig_session *session, uint32_t index);
void ig_session_patch(ig_session *session);
void ig_session_patch_ports(ig_session *session);

/* session_start.c: ends a started run, and its thread. */
void ig_session_close_starter(ig_session *session);
/* IG_INVALID while a started run has the session; ig_session_error says why. */
static inline ig_status ig_session_check_waited(const ig_session *session) {
    assert((!session->is_started || session->starter) && "a started run has a starter");
    return session->is_started ? IG_INVALID : IG_OK;
}

/* session_run.c: runs the bound call, whoever asks. */
ig_status ig_session_run_now(ig_session *session);
/* The steps alone, one by one. */
ig_status ig_session_walk(ig_session *session);
/* Ranks that wait for one that has failed need not wait longer.  Returns `status`. */
ig_status ig_session_tell_ranks(ig_session *session, ig_status status);
/* How steps are done, by kind. */
extern ig_step_fn *const ig_session_steps[IG_STEP_COUNT];

/* session_report.c: where step `number` comes from, as the user knows it: "node 3 'cut'
 * (Slice)", or "step 'slice_bounds'" where the plan does not say. */
enum { IG_WHERE_BYTES = 256 };
const char *ig_session_where(const ig_session *session, uint32_t index,
                             char text[IG_WHERE_BYTES]);
/* IG_INVALID with a message for the queue's report, which is then
 * cleared. */
ig_status ig_session_take_report(ig_session *session);
/* Errors of kernels, as far as known: all of them after a wait. */
static inline ig_status ig_session_check_report(ig_session *session) {
    return session->queue->has_report ? ig_session_take_report(session) : IG_OK;
}
/* The same for one report of step `number`. */
ig_status ig_session_report(ig_session *session, uint32_t index, int64_t row,
                            const ig_kernel_report_v0 *report);

#endif
