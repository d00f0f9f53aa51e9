/* Inside of the tensor interpreter: values and symbols of one run.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value is held in a slot, by its dense id; a slot shares a cell, which owns the
 * memory of the results of one evaluated op.  A cell goes when its last slot lets go of
 * it:
 *
 *     slots   %0 ──▶ caller's tensor          inputs and weights are borrowed
 *             %1 ──▶ cell (refs 2) ◀── %7     %7 was yielded from %1
 *
 * Memory of a run is never taken in a way that unwinds (base/arena.h), so that every
 * return passes ig_run_fini.
 */
#ifndef IG_IR_INTERPRET_RUN_H
#define IG_IR_INTERPRET_RUN_H

#include "ir/ops.h"

typedef struct ig_cell ig_cell;
struct ig_cell {
    ig_cell *next, *prev; /* all live ones; or free ones */
    ig_arena arena;
    uint32_t refs;
    int64_t bytes; /* of tensors in its arena; 0: they are borrowed, or have moved */
    ig_cell *of;   /* of a view: the cell whose memory it shows, held by it; or NULL */
};

typedef struct ig_slot {
    const ig_tensor *tensor; /* NULL: not computed, or gone */
    ig_cell *cell;           /* NULL: borrowed */
} ig_slot;

#define IG_NOTHING UINT32_MAX /* ends a list of ids */

typedef struct ig_run {
    const ig_graph *graph;
    ig_module *module;
    ig_context *context;
    ig_arena arena;   /* of this struct's arrays */
    ig_arena scratch; /* of the op that runs */
    ig_cell *cells, *free_cells;
    ig_slot *slots; /* by value id */
    /* By op id: the first value that is dead after the op, and by value id the next. */
    uint32_t *first_dead, *next_dead;
    int64_t *symbols; /* by index; IG_SYMBOL_UNBOUND */
    uint32_t *bound;  /* symbols in the order in which they were bound */
    uint32_t symbol_count, bound_count;
    bool has_defined;
    int64_t live_bytes, total_bytes;
    int64_t depth;
    const ig_tensor *recipes; /* results of graph @weights, once computed */
} ig_run;

/* ---- interpret.c ---- */

/* To be ended by ig_run_fini, whatever it returns. */
ig_status ig_run_begin(ig_run *run, const ig_graph *graph, const ig_tensor *inputs);
/* Runs from *op on; leaves the block's terminator, or a collective, in *op. */
ig_status ig_run_ops(ig_run *run, const ig_op **op);
/* Runs the op's only body on `args`, one an argument; `out`: its yielded values, held
 * until these slots are released. */
ig_status ig_run_body(ig_run *run, const ig_op *op, const ig_slot *args, ig_slot *out);
/* Runs a bag_update (update.c). */
ig_status ig_run_bag_update(ig_run *run, const ig_op *op);
/* Gives the operands of the terminator memory in `arena`. */
ig_status ig_run_end(ig_run *run, ig_arena *arena, ig_tensor *out_outputs);

/* ---- values.c ---- */

ig_status ig_run_init(ig_run *run, const ig_graph *graph);
void ig_run_fini(ig_run *run);
/* A new cell that nobody holds yet. */
ig_status ig_cell_create(ig_run *run, ig_cell **out_cell);
/* Room for `count` tensors in it. */
ig_status ig_cell_tensors(ig_run *run, ig_cell *cell, uint32_t count,
                          ig_tensor **out_tensors);
/* The cell's tensor will be a view of memory that `of` holds. */
void ig_cell_show(ig_cell *cell, ig_cell *of);
/* Frees it when nobody holds it. */
void ig_cell_drop(ig_run *run, ig_cell *cell);
/* Counts the memory of the cell's content. */
ig_status ig_cell_account(ig_run *run, ig_cell *cell, const ig_op *op,
                          const ig_tensor *tensors, uint32_t count);
/* Memory of the run itself, zeroed. */
ig_status ig_run_alloc(ig_run *run, int64_t count, size_t size, void *out_memory);

void ig_slot_release(ig_run *run, ig_slot *slot);
/* Makes `slot` hold what `from` holds as well. */
void ig_slot_share(ig_run *run, ig_slot *slot, const ig_slot *from);
ig_slot *ig_run_slot(const ig_run *run, const ig_value *value);
/* Is the tensor's memory that of a cell which nobody else holds, and which `arena` may
 * adopt? */
bool ig_slot_owns_tensor(const ig_slot *slot, const ig_arena *arena);
/* Lets go of the values whose last use `op` was, and of all those of a block. */
void ig_run_release_dead(ig_run *run, const ig_op *op);
void ig_run_release_block(ig_run *run, const ig_block *block);

/* ---- bind.c ---- */

/* Checks a computed value against its type; binds symbols that have no value yet. */
ig_status ig_run_check_result(ig_run *run, const ig_op *op, const ig_value *value,
                              const ig_tensor *tensor);
ig_status ig_run_bind_inputs(ig_run *run, const ig_tensor *inputs);
ig_status ig_run_check_guard(ig_run *run, const ig_op *guard);
/* Runs a `bind`: its symbols take the elements of its operand. */
ig_status ig_run_bind_symbols(ig_run *run, const ig_op *op);
/* Value of a dim; false when a symbol in it has none, or it overflows. */
bool ig_run_dim(const ig_run *run, ig_dim dim, int64_t *out_value);
/* Takes back the symbols that were bound since there were `count` of them. */
void ig_run_unbind(ig_run *run, uint32_t count);

#endif
