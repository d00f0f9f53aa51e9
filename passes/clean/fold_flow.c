/* fold_flow: loops and sequences of constants are computed when compiling.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = loop 4, true, @first (…) { … }          all that it reads is constant
 *     %1 = seq_concat (loop …) {axis = 0}          made of sequences of constants
 *   become
 *     %0 = const {value = […]} : f32[4, 8]
 *
 * fold evaluates one op at a time; this pass evaluates the values that it cannot see
 * alone: control flow, and tensors that come out of host values.  All ops that such a
 * value needs are copied into a graph of their own, which the reference interpreter
 * runs.  The trips of a loop are bounded, the fewer the deeper loops nest, and so are
 * the size of a result and the memory on the way to it; a failure is left for the run
 * to report.
 *
 * Keeps: order; dce removes unused ops.
 */
#include "ir/interpret/interpret.h"
#include "passes/engine/pass.h"
#include "base/silence.h"
#include "passes/engine/symbols.h"

enum {
    TRIPS = 1 << 16,
    OPS_MAX = 1024,
    BYTES_MAX = 1 << 24,       /* of a result */
    ALIVE_MAX = 2 * BYTES_MAX, /* of all values on the way to it */
    TOTAL_MAX = 1 << 28        /* of those that have gone, too: under a second */
};

typedef struct flow {
    ig_pass_run *run;
    ig_module *module;
    ig_symbols symbols;
    ig_map constants; /* op whose results are constants -> itself */
    ig_map computed;  /* op that was run, its guards too -> itself */
} flow;

/* ---- which ops are constant ---- */

static bool is_constant(const flow *f, const ig_value *value) {
    return value->def && ig_map_get_id(&f->constants, IG_MAP_PTR(value->def));
}

static bool has_content(const ig_op *op) {
    ig_dims_value known;
    int64_t number;
    if (op->code != IG_OP_dims) {
        const ig_data *data = ig_constant_of(op->results);
        return data && data->bytes && data->type->kind == IG_TENSOR;
    }
    bool is_known = ig_value_dims(op->results, &known);
    for (uint32_t i = 0; is_known && i < known.count; i++) {
        is_known = ig_dim_constant(ig_op_module(op), known.dims[i], &number);
    }
    return is_known;
}

static bool is_inside(const ig_value *value, const ig_op *outer) {
    const ig_block *home = value->def ? value->def->block : value->block;
    while (home && home->parent != outer) {
        home = home->parent ? home->parent->block : NULL;
    }
    return home != NULL;
}

/* A tensor that a host op makes of nothing is another one in each run, and code of the
 * user's is called by runs alone. */
static bool is_of_run(const ig_op *op) {
    return op->code == IG_OP_custom ||
           ((ig_ops[op->code].traits & IG_HOST) && op->operand_count == 0 &&
            op->result_count > 0 && op->results[0].type->kind == IG_TENSOR);
}

/* Does all that `op`, `outer` or one in its bodies, takes from around `outer` come from
 * constants, and can it be computed?  Counts ops.  Recursion is as deep as bodies nest,
 * which readers bound by limits.graph_depth. */
static bool reads_constants(const flow *f, const ig_op *op, const ig_op *outer,
                            uint32_t *ops) {
    const ig_op_info *row = &ig_ops[op->code];
    bool is_computed = row->fold || op->body_count || (row->traits & IG_TERMINATOR) ||
                       (row->traits & IG_GUARD);
    if (!is_computed || (row->traits & IG_STATE) || is_of_run(op) || ++*ops > OPS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *value = op->operands[i].value;
        if (!is_inside(value, outer) && !is_constant(f, value)) {
            return false;
        }
    }
    for (uint32_t b = 0; b < op->body_count; b++) {
        for (const ig_op *in = op->bodies[b]->first; in; in = in->next) {
            if (!reads_constants(f, in, outer, ops)) {
                return false;
            }
        }
    }
    return true;
}

static void mark_constants(flow *f, const ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        uint32_t ops = 0;
        bool is_end = ig_ops[op->code].traits & (IG_TERMINATOR | IG_GUARD);
        bool is_known = ig_ops[op->code].traits & IG_CONSTANT
                            ? has_content(op)
                            : !is_end && reads_constants(f, op, op, &ops);
        if (is_known) {
            ig_map_set_id(&f->constants, IG_MAP_PTR(op), op);
        }
    }
}

/* ---- values to compute ---- */

/* A tensor that fold cannot compute, of a size that a constant may have. */
static bool is_wanted(const flow *f, const ig_op *op, const ig_value *result) {
    bool is_flow = op->body_count || (ig_ops[op->code].traits & IG_HOST);
    return is_flow && result->uses && result->type->kind == IG_TENSOR &&
           !ig_symbols_changes(&f->symbols, op, result->type) &&
           ig_map_get_id(&f->constants, IG_MAP_PTR(op));
}

typedef struct copying {
    ig_graph *to;
    ig_arena *arena;
    ig_map copies;             /* value -> its copy */
    uint32_t left;             /* ops that may still be copied */
    IG_VEC(const ig_op *) ops; /* of which there are copies */
} copying;

static bool copy_needed(copying *c, const ig_op *op);

static bool copy_operands(copying *c, const ig_op *op, const ig_op *outer) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *value = op->operands[i].value;
        if (!is_inside(value, outer) && !ig_map_get_id(&c->copies, IG_MAP_PTR(value)) &&
            !copy_needed(c, value->def)) {
            return false;
        }
    }
    for (uint32_t b = 0; b < op->body_count; b++) {
        for (const ig_op *in = op->bodies[b]->first; in; in = in->next) {
            if (!copy_operands(c, in, outer)) {
                return false;
            }
        }
    }
    return true;
}

/* Copies `op` after its operands; recursion is bounded by OPS_MAX. */
static bool copy_needed(copying *c, const ig_op *op) {
    if (c->left == 0) {
        return false;
    }
    c->left--;
    if (!copy_operands(c, op, op)) {
        return false;
    }
    ig_op_clone(op, &c->to->body, NULL, &c->copies);
    IG_PUSH(c->arena, &c->ops, op);
    return true;
}

/* Of loops within each other. */
static uint32_t loop_depth(const ig_op *op) {
    uint32_t max = 0;
    for (uint32_t b = 0; b < op->body_count; b++) {
        for (const ig_op *in = op->bodies[b]->first; in; in = in->next) {
            uint32_t depth = loop_depth(in);
            max = depth > max ? depth : max;
        }
    }
    return max + (op->code == IG_OP_loop);
}

/* So many that loops nested as deep as here make TRIPS of them together. */
static int64_t trips_allowed(const ig_graph *graph) {
    uint32_t depth = 1;
    int64_t trips = TRIPS, all = 0;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        uint32_t own = loop_depth(op);
        depth = own > depth ? own : depth;
    }
    do {
        all = 1;
        for (uint32_t i = 0; i < depth && all <= TRIPS; i++) {
            all *= trips;
        }
        trips = all > TRIPS ? trips / 2 : trips;
    } while (all > TRIPS && trips > 1);
    return trips;
}

static bool is_small(const ig_tensor *tensor) {
    int64_t bytes;
    return tensor->kind == IG_TENSOR && tensor->dtype != IG_DT_str &&
           ig_dtype_bytes(tensor->dtype, tensor->count, &bytes) && bytes <= BYTES_MAX;
}

static void lower_limit(int64_t *limit, int64_t max) {
    *limit = *limit < max ? *limit : max;
}

static bool run_copy(flow *f, copying *c, ig_value *result, ig_tensor *out) {
    ig_value *copy = ig_map_get_id(&c->copies, IG_MAP_PTR(result));
    ig_limits *limits = &f->module->context->limits;
    const ig_limits outer = *limits;
    ig_builder b = ig_builder_at_end(&c->to->body);
    ig_make_ret(&b, &copy, 1);
    lower_limit(&limits->loop_trips, trips_allowed(c->to));
    lower_limit(&limits->interpret_bytes, ALIVE_MAX);
    lower_limit(&limits->interpret_total, TOTAL_MAX);
    ig_silence silence = ig_silence_begin(f->module->context);
    ig_status status = ig_interpret(c->to, NULL, f->run->scratch, out);
    ig_silence_end(&silence);
    *limits = outer;
    return status == IG_OK && is_small(out);
}

static void compute_flow(flow *f, ig_op *op, ig_value *result) {
    copying c = { .to = ig_graph_create(f->module, "constant flow", IG_STAGE_TENSOR),
                  .arena = f->run->scratch,
                  .left = OPS_MAX };
    ig_tensor tensor;
    ig_map_init(&c.copies, f->run->scratch);
    if (copy_needed(&c, op) && run_copy(f, &c, result, &tensor)) {
        ig_builder b = ig_builder_before(op);
        const ig_type *type = ig_type_of_extents(f->module, tensor.dtype, tensor.rank,
                                                 tensor.dims);
        ig_value *by = ig_make_const(&b, type, tensor.data);
        ig_symbols_learn(&f->symbols, op, result->type, type);
        ig_value_retype(result, type);
        by->name = result->name;
        ig_value_replace(result, by);
        ig_map_set_id(&f->constants, IG_MAP_PTR(by->def), by->def);
        for (size_t i = 0; i < c.ops.count; i++) {
            ig_map_set_id(&f->computed, IG_MAP_PTR(c.ops.items[i]), f);
        }
        f->run->changed = true;
    }
    ig_graph_destroy(c.to);
}

/* Guards in bodies keep an op alive; here they were seen to hold.  A symbol that the op
 * defines and nobody has learnt may be mentioned elsewhere: dce sees to that. */
static void erase_computed(const flow *f, ig_block *block) {
    for (ig_op *op = block->last, *before; op; op = before) {
        before = op->prev;
        if (ig_map_get_id(&f->computed, IG_MAP_PTR(op)) && !ig_op_is_used(op) &&
            !ig_symbols_is_definer(&f->symbols, op)) {
            ig_op_erase(op);
        }
    }
}

ig_status ig_pass_fold_flow(ig_pass_run *run, ig_graph *graph) {
    flow f = { .run = run, .module = graph->module };
    ig_map_init(&f.constants, run->scratch);
    ig_map_init(&f.computed, run->scratch);
    ig_symbols_init(&f.symbols, graph, run->scratch);
    mark_constants(&f, &graph->body);
    for (ig_op *op = graph->body.first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            if (is_wanted(&f, op, &op->results[i])) {
                compute_flow(&f, op, &op->results[i]);
            }
        }
        IG_TRY(ig_context_poll(graph->module->context));
    }
    erase_computed(&f, &graph->body);
    return ig_symbols_apply(&f.symbols, run, graph);
}
