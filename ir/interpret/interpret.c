/* The reference interpreter: control flow here, everything else by the fold column.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A block is run op by op; the bodies of `if`, `loop` and `fused` are run by the op
 * that holds them, one level of C recursion a level of nesting (bounded by
 * limits.graph_depth).  A value's memory goes with the last op that uses it.
 */
#include "ir/interpret/interpret.h"

#include "ir/fold/fold.h"
#include "ir/interpret/run.h"
#include "ir/shard.h"

#include <assert.h>
#include <string.h>

typedef ig_status (*run_fn)(ig_run *run, const ig_op *op);
typedef ig_status (*body_fn)(ig_run *run, const ig_op *op, ig_cell *cell);

/* Where a block puts what its terminator hands on; who fills the slots releases
 * them. */
typedef struct body_results {
    uint32_t count;
    ig_slot *slots;
} body_results;

static ig_status run_block(ig_run *run, const ig_block *block, const body_results *out);

static ig_status fail_op(ig_run *run, const ig_op *op, ig_status status,
                         const char *what) {
    return ig_error(&run->context->diag, status, ig_op_location(op), "%s: %s",
                    ig_ops[op->code].name, what);
}

static ig_status fail_limit(ig_run *run, const ig_op *op, ig_limit_id id,
                            const char *what) {
    return ig_error_limit(&run->context->diag, ig_op_location(op),
                          &run->context->limits, id, "%s: %s", ig_ops[op->code].name,
                          what);
}

static const ig_tensor *operand_of(const ig_run *run, const ig_op *op, uint32_t index) {
    const ig_tensor *tensor = ig_run_slot(run, op->operands[index].value)->tensor;
    assert(tensor && "operands are computed before their users");
    return tensor;
}

/* ---- ops that fold ---- */

enum { FEW_OPERANDS = 8 };

static ig_status fold_into(ig_run *run, const ig_op *op, ig_fold_hook fold,
                           ig_cell *cell, const ig_tensor **in) {
    ig_tensor *out = NULL;
    ig_eval eval = { .arena = &cell->arena,
                     .scratch = &run->scratch,
                     .context = run->context,
                     .symbols = run->symbols,
                     .symbol_count = run->symbol_count };
    IG_TRY(ig_cell_tensors(run, cell, op->result_count, &out));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        in[i] = operand_of(run, op, i);
    }
    ig_status status = fold(&eval, op, in, out);
    ig_arena_fini(&run->scratch);
    IG_TRY(status);
    if (!(ig_ops[op->code].traits & IG_CONSTANT)) { /* constants are borrowed */
        IG_TRY(ig_cell_account(run, cell, op, out, cell->of ? 0 : op->result_count));
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        IG_TRY(ig_run_check_result(run, op, &op->results[i], &out[i]));
        ig_slot from = { &out[i], cell };
        ig_slot_share(run, ig_run_slot(run, &op->results[i]), &from);
    }
    return IG_OK;
}

static ig_status run_fold(ig_run *run, const ig_op *op) {
    const ig_tensor *few[FEW_OPERANDS], **in = few;
    ig_cell *cell;
    if (!ig_ops[op->code].fold) {
        return fail_op(run, op, IG_UNSUPPORTED, "the interpreter cannot run this op");
    }
    IG_TRY(ig_cell_create(run, &cell));
    if (op->operand_count > FEW_OPERANDS) {
        in = ig_arena_try_alloc(&run->scratch, op->operand_count * sizeof *in);
    }
    ig_status status = in ? fold_into(run, op, ig_ops[op->code].fold, cell, in)
                          : fail_op(run, op, IG_LIMIT, "no memory for its operands");
    ig_cell_drop(run, cell); /* unless a result holds it */
    return status;
}

/* The result shows the memory of the operand.  What has no cell may be written by
 * others while the result is alive, and is copied. */
static ig_status run_reshape(ig_run *run, const ig_op *op) {
    const ig_slot *from = ig_run_slot(run, op->operands[0].value);
    const ig_tensor *in[2];
    ig_cell *cell;
    if (!from->cell) {
        return run_fold(run, op);
    }
    IG_TRY(ig_cell_create(run, &cell));
    ig_cell_show(cell, from->cell);
    ig_status status = fold_into(run, op, ig_fold_reshape_view, cell, in);
    ig_cell_drop(run, cell); /* unless a result holds it */
    return status;
}

/* ---- recipes: weights that graph @weights computes, once a run ---- */

static ig_status compute_recipes(ig_run *run, const ig_op *op) {
    const ig_graph *graph = ig_module_graph(run->module, "weights");
    const ig_op *ret = graph ? graph->body.last : NULL;
    ig_tensor *results;
    if (!ret || graph == run->graph || graph->body.arg_count > 0) {
        return fail_op(run, op, IG_INVALID,
                       "the module has no graph @weights to compute it");
    }
    IG_TRY(ig_run_alloc(run, ret->operand_count, sizeof *results, &results));
    IG_TRY(ig_interpret(graph, NULL, &run->arena, results));
    run->recipes = results;
    return IG_OK;
}

static ig_status run_weight(ig_run *run, const ig_op *op) {
    const ig_weight *weight = ig_module_weight(run->module,
                                               ig_attr_str(op, IG_weight_name));
    if (!weight || !weight->is_recipe) {
        return run_fold(run, op);
    }
    if (!run->recipes) {
        IG_TRY(compute_recipes(run, op));
    }
    const ig_op *ret = ig_module_graph(run->module, "weights")->body.last;
    if (weight->index >= ret->operand_count) {
        return fail_op(run, op, IG_INVALID,
                       "its recipe is not a result of graph @weights");
    }
    ig_slot from = { .tensor = &run->recipes[weight->index] };
    IG_TRY(ig_run_check_result(run, op, &op->results[0], from.tensor));
    ig_slot_share(run, ig_run_slot(run, &op->results[0]), &from);
    return IG_OK;
}

/* ---- control flow ---- */

/* Assigns the values that a body yielded to the results of `op`. */
static ig_status give_results(ig_run *run, const ig_op *op, const ig_slot *slots,
                              uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_run_check_result(run, op, &op->results[i], slots[i].tensor));
        ig_slot_share(run, ig_run_slot(run, &op->results[i]), &slots[i]);
    }
    return IG_OK;
}

static void release_all(ig_run *run, ig_slot *slots, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ig_slot_release(run, &slots[i]);
    }
}

/* `count` empty slots in a cell; who fills them releases them. */
static ig_status slots_in(ig_run *run, ig_cell *cell, uint32_t count, ig_slot **out) {
    *out = ig_arena_try_alloc(&cell->arena, count * sizeof **out);
    if (!*out) {
        return ig_error(&run->context->diag, IG_LIMIT, NULL,
                        "no memory left to interpret graph '%s'", run->graph->name);
    }
    memset(*out, 0, count * sizeof **out);
    return IG_OK;
}

static ig_status enter_body(ig_run *run, const ig_op *op, const ig_block *body,
                            const ig_slot *args, const body_results *out) {
    for (uint32_t i = 0; i < body->arg_count; i++) {
        IG_TRY(ig_run_check_result(run, op, body->args[i], args[i].tensor));
        ig_slot_share(run, ig_run_slot(run, body->args[i]), &args[i]);
    }
    return run_block(run, body, out);
}

/* Runs a body on `args`, one an argument; its bindings and values are discarded
 * after. */
static ig_status run_body(ig_run *run, const ig_op *op, const ig_block *body,
                          const ig_slot *args, const body_results *out) {
    uint32_t bound = run->bound_count;
    if (++run->depth > run->context->limits.graph_depth) {
        return fail_limit(run, op, IG_LIMIT_graph_depth, "the nesting of bodies");
    }
    ig_status status = enter_body(run, op, body, args, out);
    ig_run_release_block(run, body);
    ig_run_unbind(run, bound);
    run->depth--;
    return status;
}

ig_status ig_run_body(ig_run *run, const ig_op *op, const ig_slot *args, ig_slot *out) {
    const ig_block *body = op->bodies[0];
    body_results results = { .count = body->last->operand_count, .slots = out };
    return run_body(run, op, body, args, &results);
}

/* Runs `function` with a cell for its own lists, which goes afterwards. */
static ig_status with_cell(ig_run *run, const ig_op *op, body_fn function) {
    ig_cell *cell;
    IG_TRY(ig_cell_create(run, &cell));
    cell->refs = 1;
    ig_status status = function(run, op, cell);
    cell->refs--;
    ig_cell_drop(run, cell);
    return status;
}

/* ---- if, fused: one body ---- */

static ig_status run_and_give(ig_run *run, const ig_op *op, ig_cell *cell,
                              const ig_block *body, const ig_slot *args) {
    body_results out = { .count = op->result_count };
    IG_TRY(slots_in(run, cell, out.count, &out.slots));
    ig_status status = run_body(run, op, body, args, &out);
    if (status == IG_OK) {
        status = give_results(run, op, out.slots, out.count);
    }
    release_all(run, out.slots, out.count);
    return status;
}

static ig_status run_branch(ig_run *run, const ig_op *op, ig_cell *cell) {
    const ig_tensor *condition = operand_of(run, op, 0);
    if (condition->count != 1) {
        return fail_op(run, op, IG_INVALID, "the condition is not one value");
    }
    bool is_true = ig_tensor_get_i64(condition, 0);
    return run_and_give(run, op, cell, op->bodies[is_true ? 0 : 1], NULL);
}

static ig_status run_fused_body(ig_run *run, const ig_op *op, ig_cell *cell) {
    ig_slot *args;
    IG_TRY(slots_in(run, cell, op->operand_count, &args));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        args[i] = *ig_run_slot(run, op->operands[i].value); /* held by the operands */
    }
    return run_and_give(run, op, cell, op->bodies[0], args);
}

static ig_status run_if(ig_run *run, const ig_op *op) {
    return with_cell(run, op, run_branch);
}

static ig_status run_fused(ig_run *run, const ig_op *op) {
    return with_cell(run, op, run_fused_body);
}

/* ---- loop ---- */

typedef struct loop {
    ig_cell *cell; /* of these lists */
    uint32_t carried, scans;
    int64_t trips;       /* done */
    ig_slot *args;       /* i, cond, carried… */
    body_results yields; /* cond, carried…, scanned… of the last trip */
    ig_slot *scanned;    /* trip by trip, `scans` each */
    int64_t room;        /* trips that `scanned` has room for */
} loop;

/* A scalar in a cell of its own. */
static ig_status make_scalar(ig_run *run, const ig_op *op, ig_dtype dtype,
                             int64_t value, ig_slot *out) {
    ig_cell *cell;
    ig_tensor *tensor;
    IG_TRY(ig_cell_create(run, &cell));
    ig_status status = ig_cell_tensors(run, cell, 1, &tensor);
    if (status == IG_OK) {
        status = ig_tensor_alloc(&cell->arena, NULL, dtype, 0, NULL, tensor);
    }
    if (status != IG_OK) {
        ig_cell_drop(run, cell);
        return fail_op(run, op, status, "no memory for a scalar");
    }
    ig_tensor_set_i64(tensor, 0, value);
    ig_slot from = { tensor, cell };
    ig_slot_share(run, out, &from);
    return IG_OK;
}

static ig_status keep_scanned(ig_run *run, loop *l) {
    if (l->trips == l->room) {
        int64_t room = l->room ? 2 * l->room : 16;
        ig_slot *grown;
        if (room * l->scans > UINT32_MAX) {
            return ig_error(&run->context->diag, IG_LIMIT, NULL,
                            "too many scanned values");
        }
        IG_TRY(slots_in(run, l->cell, (uint32_t)room * l->scans, &grown));
        if (l->room) {
            memcpy(grown, l->scanned, (size_t)(l->room * l->scans) * sizeof *grown);
        }
        l->scanned = grown;
        l->room = room;
    }
    for (uint32_t i = 0; i < l->scans; i++) {
        const ig_slot *from = &l->yields.slots[1 + l->carried + i];
        ig_slot_share(run, &l->scanned[l->trips * l->scans + i], from);
    }
    return IG_OK;
}

static ig_status run_trip(ig_run *run, const ig_op *op, loop *l) {
    IG_TRY(ig_context_poll(run->context));
    if (l->trips >= run->context->limits.loop_trips) {
        return fail_limit(run, op, IG_LIMIT_loop_trips, "the number of trips");
    }
    IG_TRY(make_scalar(run, op, IG_DT_i64, l->trips, &l->args[0]));
    IG_TRY(run_body(run, op, op->bodies[0], l->args, &l->yields));
    for (uint32_t i = 0; i <= l->carried; i++) {
        ig_slot_share(run, &l->args[1 + i], &l->yields.slots[i]);
    }
    IG_TRY(keep_scanned(run, l));
    release_all(run, l->yields.slots, l->yields.count);
    l->trips++;
    return IG_OK;
}

/* ---- scanned values, stacked on a new axis 0 ---- */

/* The extents of one trip's value; without trips, those of the type (0: unknown). */
static ig_status scanned_extents(ig_run *run, const ig_op *op, const loop *l,
                                 uint32_t index, ig_tensor *shape) {
    const ig_type *type = op->results[l->carried + index].type;
    memset(shape, 0, sizeof *shape);
    shape->dtype = (ig_dtype)type->dtype;
    if (l->trips > 0) {
        const ig_tensor *first = l->scanned[index].tensor;
        *shape = *first;
        if (first->kind != IG_TENSOR || first->rank == IG_TENSOR_RANK) {
            return fail_op(run, op, IG_UNSUPPORTED, "this value cannot be stacked");
        }
        return IG_OK;
    }
    shape->rank = type->rank ? type->rank - 1 : 0;
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (!ig_run_dim(run, type->dims[i + 1], &shape->dims[i])) {
            shape->dims[i] = 0;
        }
    }
    return IG_OK;
}

static ig_status stack_into(ig_run *run, const ig_op *op, const loop *l, uint32_t index,
                            ig_cell *cell) {
    ig_tensor shape, *out;
    int64_t dims[IG_TENSOR_RANK] = { l->trips };
    ig_eval eval = { .arena = &cell->arena, .context = run->context };
    IG_TRY(scanned_extents(run, op, l, index, &shape));
    memcpy(dims + 1, shape.dims, shape.rank * sizeof *dims);
    IG_TRY(ig_cell_tensors(run, cell, 1, &out));
    IG_TRY(ig_eval_alloc(&eval, op, shape.dtype, shape.rank + 1, dims, out));
    for (int64_t t = 0; t < l->trips; t++) {
        const ig_tensor *item = l->scanned[t * l->scans + index].tensor;
        bool is_equal = item->rank == shape.rank && item->dtype == shape.dtype;
        for (uint32_t d = 0; is_equal && d < shape.rank; d++) {
            is_equal = item->dims[d] == shape.dims[d];
        }
        if (!is_equal) {
            return fail_op(run, op, IG_INVALID,
                           "a scanned value changes its extents from trip to trip");
        }
        ig_span_copy(out, t * item->count, item, 0, item->count);
    }
    const ig_value *result = &op->results[l->carried + index];
    IG_TRY(ig_cell_account(run, cell, op, out, 1));
    IG_TRY(ig_run_check_result(run, op, result, out));
    ig_slot from = { out, cell };
    ig_slot_share(run, ig_run_slot(run, result), &from);
    return IG_OK;
}

static ig_status stack_scanned(ig_run *run, const ig_op *op, const loop *l) {
    for (uint32_t i = 0; i < l->scans; i++) {
        ig_cell *cell;
        IG_TRY(ig_cell_create(run, &cell));
        ig_status status = stack_into(run, op, l, i, cell);
        ig_cell_drop(run, cell); /* unless the result holds it */
        IG_TRY(status);
    }
    return IG_OK;
}

static ig_status run_trips(ig_run *run, const ig_op *op, loop *l) {
    const ig_tensor *trips = operand_of(run, op, 0);
    if (trips->count != 1 || operand_of(run, op, 1)->count != 1) {
        return fail_op(run, op, IG_INVALID,
                       "trips and condition are not one value each");
    }
    int64_t max = ig_tensor_get_i64(trips, 0);
    while ((max < 0 || l->trips < max) && ig_tensor_get_i64(l->args[1].tensor, 0)) {
        IG_TRY(run_trip(run, op, l));
    }
    IG_TRY(give_results(run, op, l->args + 2, l->carried));
    return stack_scanned(run, op, l);
}

static ig_status run_loop_body(ig_run *run, const ig_op *op, ig_cell *cell) {
    loop l = { .cell = cell, .scans = (uint32_t)ig_attr_int(op, IG_loop_scans, 0) };
    l.carried = op->operand_count - 2u;
    l.yields.count = 1 + l.carried + l.scans;
    IG_TRY(slots_in(run, cell, 2 + l.carried, &l.args));
    IG_TRY(slots_in(run, cell, l.yields.count, &l.yields.slots));
    for (uint32_t i = 1; i < op->operand_count; i++) {
        ig_slot_share(run, &l.args[i], ig_run_slot(run, op->operands[i].value));
    }
    ig_status status = run_trips(run, op, &l);
    release_all(run, l.args, 2 + l.carried);
    release_all(run, l.yields.slots, l.yields.count);
    for (int64_t i = 0; i < l.room * l.scans; i++) {
        ig_slot_release(run, &l.scanned[i]);
    }
    return status;
}

static ig_status run_loop(ig_run *run, const ig_op *op) {
    return with_cell(run, op, run_loop_body);
}

/* ---- shard: its value is the table ---- */

static ig_status run_shard(ig_run *run, const ig_op *op) {
    ig_slot_share(run, ig_run_slot(run, op->results),
                  ig_run_slot(run, op->operands[0].value));
    return IG_OK;
}

/* Of a world of one rank, which has all that there is. */
static ig_status run_collective_alone(ig_run *run, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_slot_share(run, ig_run_slot(run, &op->results[i]),
                      ig_run_slot(run, op->operands[i].value));
    }
    return IG_OK;
}

/* ---- blocks ---- */

static const run_fn handlers[IG_OP_COUNT] = {
    [IG_OP_if] = run_if,
    [IG_OP_loop] = run_loop,
    [IG_OP_fused] = run_fused,
    [IG_OP_bag_update] = ig_run_bag_update,
    [IG_OP_reshape] = run_reshape,
    [IG_OP_weight] = run_weight,
    [IG_OP_table] = run_weight,
    [IG_OP_guard] = ig_run_check_guard,
    [IG_OP_bind] = ig_run_bind_symbols,
    [IG_OP_shard] = run_shard,
    [IG_OP_all_reduce] = run_collective_alone,
    [IG_OP_all_gather] = run_collective_alone,
};

/* Other ranks are needed from here on, or nothing comes after it. */
static bool ends_run(const ig_op *op) {
    uint32_t traits = ig_ops[op->code].traits;
    return traits & IG_TERMINATOR || (traits & IG_COLLECTIVE && ig_op_world(op) != 1);
}

ig_status ig_run_ops(ig_run *run, const ig_op **op) {
    for (; *op && !ends_run(*op); *op = (*op)->next) {
        IG_TRY(ig_context_poll(run->context));
        IG_TRY((handlers[(*op)->code] ? handlers[(*op)->code] : run_fold)(run, *op));
        ig_run_release_dead(run, *op);
    }
    return IG_OK;
}

/* Runs up to the terminator. */
static ig_status run_alone(ig_run *run, const ig_block *block, const ig_op **out_end) {
    *out_end = block->first;
    IG_TRY(ig_run_ops(run, out_end));
    bool is_met = *out_end && ig_ops[(*out_end)->code].traits & IG_COLLECTIVE;
    return is_met
               ? fail_op(
                     run, *out_end, IG_UNSUPPORTED,
                     "this is the program of one rank; all ranks of its world must be run together")
               : IG_OK;
}

/* Runs up to the terminator and shares its operands with `out`. */
static ig_status run_block(ig_run *run, const ig_block *block,
                           const body_results *out) {
    const ig_op *op;
    IG_TRY(run_alone(run, block, &op));
    assert(op && op->operand_count == out->count && "the verifier checks terminators");
    for (uint32_t i = 0; i < out->count; i++) {
        ig_slot_share(run, &out->slots[i], ig_run_slot(run, op->operands[i].value));
    }
    return IG_OK;
}

/* ---- a whole graph ---- */

static ig_status copy_tensor(ig_run *run, const ig_tensor *from, ig_arena *arena,
                             ig_tensor *to) {
    if (from->kind == IG_TABLE) {
        *to = *from; /* a table is a constant of the module */
        return IG_OK;
    }
    ig_context *context = run->context;
    IG_TRY(ig_tensor_alloc(arena, context, from->dtype, from->rank, from->dims, to));
    ig_span_copy(to, 0, from, 0, from->count);
    return IG_OK;
}

/* Outputs may be inputs, weights or the same value twice: each is a copy.  Recursion is
 * as deep as host types nest, which readers bound by limits.graph_depth. */
static ig_status copy_output(ig_run *run, const ig_tensor *from, ig_arena *arena,
                             ig_tensor *to) {
    if (from->kind != IG_SEQUENCE && from->kind != IG_OPTIONAL) {
        return copy_tensor(run, from, arena, to);
    }
    *to = *from;
    to->items = ig_arena_try_alloc(arena, (size_t)from->count * sizeof *to->items);
    if (!to->items) {
        return ig_error(&run->context->diag, IG_LIMIT, NULL, "no memory for an output");
    }
    for (int64_t i = 0; i < from->count; i++) {
        IG_TRY(copy_output(run, &from->items[i], arena, &to->items[i]));
    }
    return IG_OK;
}

ig_status ig_run_begin(ig_run *run, const ig_graph *graph, const ig_tensor *inputs) {
    const ig_op *ret = graph->body.last;
    IG_TRY(ig_run_init(run, graph));
    if (!ret || !(ig_ops[ret->code].traits & IG_TERMINATOR)) {
        return ig_error(&run->context->diag, IG_INTERNAL, NULL,
                        "graph '%s' does not end with ret", graph->name);
    }
    return ig_run_bind_inputs(run, inputs);
}

ig_status ig_run_end(ig_run *run, ig_arena *arena, ig_tensor *out_outputs) {
    const ig_op *ret = run->graph->body.last;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        ig_slot *slot = ig_run_slot(run, ret->operands[i].value);
        if (ig_slot_owns_tensor(slot, arena)) {
            ig_arena_adopt(arena, &slot->cell->arena);
            out_outputs[i] = *slot->tensor;
            slot->cell->bytes = 0; /* once more the same output: copied */
        } else {
            IG_TRY(copy_output(run, slot->tensor, arena, &out_outputs[i]));
        }
    }
    return IG_OK;
}

ig_status ig_interpret(const ig_graph *graph, const ig_tensor *inputs, ig_arena *arena,
                       ig_tensor *out_outputs) {
    ig_run run;
    const ig_op *end;
    ig_status status = ig_run_begin(&run, graph, inputs);
    status = status == IG_OK ? run_alone(&run, &graph->body, &end) : status;
    status = status == IG_OK ? ig_run_end(&run, arena, out_outputs) : status;
    ig_run_fini(&run);
    return status;
}

ig_status ig_evaluate_op(const ig_op *op, const ig_tensor *const *in, ig_arena *arena,
                         ig_tensor *out) {
    ig_context *context = ig_op_module(op)->context;
    ig_arena scratch;
    if (!ig_ops[op->code].fold) {
        return ig_error(&context->diag, IG_INTERNAL, ig_op_location(op),
                        "%s: cannot be evaluated on its own", ig_ops[op->code].name);
    }
    ig_arena_init(&scratch, &context->budget);
    ig_eval eval = { .arena = arena, .scratch = &scratch, .context = context };
    ig_status status = ig_ops[op->code].fold(&eval, op, in, out);
    ig_arena_fini(&scratch);
    return status;
}
