/* The verifier: plans - who writes which buffer, and who reads it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plan computes into destinations: the last `outs` operands of a launch (or of a
 * compute, which becomes one) are buffers it writes.  Every buffer begins as an alloc;
 * a view sees a part of it.  The walk goes in order of execution, so a buffer that is
 * read must have been written by then; a branch counts as taken.  A destination may be
 * the very memory of an input (in place); any other overlap that can be proved is an
 * error.
 *
 * An argument in whose memory a result is written is written after the commit, which is
 * in the graph's own block, and read no more from then on.
 */
#include "ir/verify/verifier.h"

/* ---- places ---- */

/* A view's elements in its root: offset + index · strides, as far as it is known. */
typedef struct area {
    const ig_value *root;
    const ig_type *type;
    ig_dim offset;
    const ig_dim *strides; /* NULL: row-major */
} area;

/* The value whose part a view shows, or NULL.  In a broken graph views may go round in
 * a circle, so whoever follows them counts. */
static const ig_value *find_viewed(const ig_value *value, uint32_t *steps_left) {
    const ig_op *view = ig_def(value, IG_OP_view);
    return view && (*steps_left)-- > 0 ? ig_op_operand(view, 0) : NULL;
}

static area area_of(ig_verifier *v, const ig_value *value) {
    area at = { .type = value->type };
    uint32_t steps = v->graph->value_count;
    const ig_op *view = ig_def(value, IG_OP_view);
    if (view && view->attrs[IG_view_strides].count == value->type->rank) {
        at.strides = view->attrs[IG_view_strides].as.dims;
    }
    for (const ig_value *next; (next = find_viewed(value, &steps)); value = next) {
        ig_dim offset = value->def->attrs[IG_view_offset].as.dim;
        at.offset = ig_dim_add(v->module, at.offset, offset);
    }
    at.root = value;
    return at;
}

static const ig_value *root_of(const ig_verifier *v, const ig_value *value) {
    uint32_t steps = v->graph->value_count;
    for (const ig_value *next; (next = find_viewed(value, &steps)); value = next) {
    }
    return value;
}

static bool row_stride(ig_verifier *v, const area *at, ig_dim *out_stride) {
    const ig_type *type = at->type;
    *out_stride = type->rank == 0 ? ig_dim_of(1)
                  : at->strides
                      ? at->strides[0]
                      : ig_dim_product(v->module, type->dims + 1, type->rank - 1);
    return ig_dim_is_static(*out_stride) && !ig_dim_is(*out_stride, 0);
}

/* Elements of a row, when they are contiguous. */
static bool row_span(const area *at, int64_t *out_span) {
    *out_span = 1;
    for (uint32_t k = at->type->rank; k-- > 1;) {
        int64_t extent;
        bool is_known = ig_dim_known(at->type->dims[k], &extent);
        bool is_dense = !at->strides || ig_dim_is(at->strides[k], *out_span) ||
                        extent == 1;
        if (!is_known || extent == 0 || !is_dense ||
            __builtin_mul_overflow(*out_span, extent, out_span)) {
            return false;
        }
    }
    return true;
}

/* An extent that is known at run time only is taken as at least one: a plan that is
 * wrong for every batch but the empty one is wrong. */
static int64_t row_count(ig_verifier *v, const area *at) {
    int64_t min = 1, max = 1;
    if (at->type->rank) {
        ig_dim_range(v->module, at->type->dims[0], &min, &max);
    }
    return min < 1 && max >= 1 ? 1 : min;
}

/* Does b surely begin inside of a row of a? */
static bool begins_inside(ig_verifier *v, const area *a, const area *b) {
    int64_t delta, span;
    ig_dim stride, other;
    ig_dim difference = ig_dim_sub(v->module, b->offset, a->offset);
    if (!ig_dim_constant(v->module, difference, &delta) || delta < 0 ||
        !row_stride(v, a, &stride) || !row_stride(v, b, &other) ||
        !row_span(a, &span)) {
        return false;
    }
    int64_t step = ig_dim_value(stride);
    return delta / step < row_count(v, a) && delta % step < span && row_count(v, b) > 0;
}

static bool is_same_part(const area *a, const area *b) {
    if (a->root != b->root || a->type != b->type ||
        !ig_dim_same(a->offset, b->offset)) {
        return false;
    }
    for (uint32_t k = 0; k < a->type->rank && a->strides && b->strides; k++) {
        if (!ig_dim_same(a->strides[k], b->strides[k])) {
            return false;
        }
    }
    return !a->strides == !b->strides;
}

static bool parts_overlap(ig_verifier *v, const area *a, const area *b) {
    return a->root == b->root && (begins_inside(v, a, b) || begins_inside(v, b, a));
}

/* ---- reading and writing ---- */

static bool is_written(const ig_verifier *v, const ig_value *root) {
    return !ig_def(root, IG_OP_alloc) || v->facts[root->id].is_written;
}

static bool is_argument(const ig_verifier *v, const ig_value *root) {
    return !root->def && root->block == &v->graph->body;
}

/* Operands up to `ins` are read, the rest written: is this one changed where it is? */
static bool is_changed(ig_verifier *v, const ig_op *op, uint32_t index, uint32_t ins) {
    area a = area_of(v, op->operands[index].value);
    for (uint32_t i = ins; i < op->operand_count; i++) {
        area b = area_of(v, op->operands[i].value);
        if (is_same_part(&a, &b)) {
            return true;
        }
    }
    return false;
}

/* A view that comes after the writer of an argument shows the written data. */
static bool sees_written(const ig_verifier *v, const ig_value *value) {
    return ig_def(value, IG_OP_view) && v->facts[value->id].is_written;
}

static void read_operand(ig_verifier *v, const ig_op *op, uint32_t index,
                         uint32_t ins) {
    const ig_value *root = root_of(v, op->operands[index].value);
    bool is_end = op->code == IG_OP_ret || is_changed(v, op, index, ins);
    if (!is_written(v, root)) {
        ig_verify_defect(v, op, "operand %u is read, but nothing has written it",
                         index);
    } else if (!is_end && is_argument(v, root) && v->facts[root->id].is_written &&
               !sees_written(v, op->operands[index].value)) {
        ig_verify_defect(v, op, "operand %u is read after it was written in place",
                         index);
    }
}

static bool stands_in_place(const ig_verifier *v, const ig_value *arg) {
    const ig_op *ret = v->graph->body.last;
    bool has_results = ret && ret->code == IG_OP_ret;
    for (uint32_t i = 0; has_results && i < ret->operand_count; i++) {
        if (ig_ret_in_place(ret, i) == arg->index) {
            return true;
        }
    }
    return false;
}

static void check_overlap(ig_verifier *v, const ig_op *op, uint32_t out, uint32_t other,
                          uint32_t ins) {
    area a = area_of(v, op->operands[out].value);
    area b = area_of(v, op->operands[other].value);
    bool is_in_place = other < ins && is_same_part(&a, &b);
    if (!is_in_place && parts_overlap(v, &a, &b)) {
        ig_verify_defect(v, op, "destination %u overlaps operand %u", out, other);
    }
}

static void write_operand(ig_verifier *v, const ig_op *op, uint32_t index,
                          uint32_t ins) {
    const ig_value *value = op->operands[index].value, *root = root_of(v, value);
    bool is_arg = is_argument(v, root) && stands_in_place(v, root);
    bool is_buffer = value->type->kind == IG_BUFFER && ig_def(root, IG_OP_alloc);
    if (!is_arg && !is_buffer) {
        ig_verify_defect(v, op, "destination %u is not a buffer of the plan", index);
        return;
    }
    if (is_arg && !v->has_committed) {
        ig_verify_defect(v, op, "destination %u is written in place before commit",
                         index);
    }
    for (uint32_t i = 0; i < index; i++) {
        check_overlap(v, op, index, i, ins);
    }
    v->facts[root->id].is_written = true;
}

static void check_transfer(ig_verifier *v, const ig_op *op, int64_t outs) {
    if (outs < 0 || outs > op->operand_count) {
        ig_verify_defect(v, op, "%u operands cannot hold %lld destinations",
                         op->operand_count, (long long)outs);
        return;
    }
    uint32_t ins = op->operand_count - (uint32_t)outs;
    for (uint32_t i = 0; i < ins; i++) {
        read_operand(v, op, i, ins);
    }
    for (uint32_t i = ins; i < op->operand_count; i++) {
        write_operand(v, op, i, ins);
    }
}

/* ---- the rows ---- */

static void check_alloc(ig_verifier *v, const ig_op *op) {
    if (op->results[0].type->kind != IG_BUFFER) {
        ig_verify_defect(v, op, "alloc makes a buffer");
    }
    if (!op->results[0].uses) {
        ig_verify_defect(v, op, "nothing uses this buffer");
    }
}

static void check_view(ig_verifier *v, const ig_op *op) {
    const ig_type *from = ig_verify_operand(op, 0), *to = op->results[0].type;
    bool has_memory = from->kind == IG_BUFFER || from->kind == IG_TENSOR;
    if (!has_memory || to->kind != IG_BUFFER || from->dtype != to->dtype) {
        ig_verify_defect(v, op,
                         "a view sees a buffer as a buffer of the same elements");
    }
    v->facts[op->results->id].is_written =
        v->facts[root_of(v, op->results)->id].is_written;
    if (op->attrs[IG_view_strides].count != to->rank) {
        ig_verify_defect(v, op, "a view of rank %u has %u strides", to->rank,
                         op->attrs[IG_view_strides].count);
    }
}

static void check_compute(ig_verifier *v, const ig_op *op) {
    check_transfer(v, op, ig_attr_int(op, IG_compute_outs, 0));
}

static void check_kernel_args(ig_verifier *v, const ig_op *op, const ig_graph *kernel) {
    uint32_t buffers = 0, count = kernel->body.arg_count;
    while (buffers < count && kernel->body.args[buffers]->type->kind == IG_BUFFER) {
        buffers++;
    }
    if (buffers != op->operand_count) {
        ig_verify_defect(v, op, "kernel @%s takes %u buffers, not %u", kernel->name,
                         buffers, op->operand_count);
    }
    if (count - buffers != op->attrs[IG_launch_params].count) {
        ig_verify_defect(v, op, "kernel @%s takes %u params, not %u", kernel->name,
                         count - buffers, op->attrs[IG_launch_params].count);
    }
}

enum { IG_MAX_THREADS = 1024 }; /* of a block, on every GPU so far */

static void check_launch(ig_verifier *v, const ig_op *op) {
    const char *name = ig_attr_str(op, IG_launch_kernel);
    const ig_graph *kernel = name ? ig_module_graph(v->module, name) : NULL;
    if (kernel && kernel->stage != IG_STAGE_KERNEL) {
        ig_verify_defect(v, op, "@%s is not a kernel", name);
    } else if (kernel) {
        check_kernel_args(v, op, kernel);
    }
    if (ig_attr_int(op, IG_launch_scratch, 0) < 0) {
        ig_verify_defect(v, op, "scratch memory cannot be negative");
    }
    int64_t threads = ig_attr_int(op, IG_launch_threads, 1);
    if (threads < 1 || threads > IG_MAX_THREADS) {
        ig_verify_defect(v, op, "a block has 1 to %d threads", IG_MAX_THREADS);
    }
    check_transfer(v, op, ig_attr_int(op, IG_launch_outs, 0));
}

static void check_host(ig_verifier *v, const ig_op *op) {
    check_transfer(v, op, ig_attr_int(op, IG_host_outs, 0));
}

static void check_commit(ig_verifier *v, const ig_op *op) {
    if (op->block->parent || v->has_committed) {
        ig_verify_defect(v, op, "a plan commits once, in its own block");
    }
    v->has_committed = true;
}

static void check_store_dims(ig_verifier *v, const ig_op *op) {
    check_transfer(v, op, 1);
}

typedef void (*plan_check)(ig_verifier *v, const ig_op *op);

static const plan_check checks[IG_OP_COUNT] = {
    [IG_OP_alloc] = check_alloc,     [IG_OP_view] = check_view,
    [IG_OP_compute] = check_compute, [IG_OP_launch] = check_launch,
    [IG_OP_host] = check_host,       [IG_OP_store_dims] = check_store_dims,
    [IG_OP_commit] = check_commit,
};

/* The ops allowed after the commit: launches, and their destinations. */
static const bool follows_commit[IG_OP_COUNT] = {
    [IG_OP_compute] = true, [IG_OP_launch] = true, [IG_OP_rows] = true,
    [IG_OP_alloc] = true,   [IG_OP_view] = true,   [IG_OP_commit] = true,
    [IG_OP_ret] = true,     [IG_OP_yield] = true,
};

/* Any other op reads all of its operands. */
void ig_verify_plan_op(ig_verifier *verifier, const ig_op *op) {
    if (verifier->has_committed && !follows_commit[op->code]) {
        ig_verify_defect(verifier, op, "after commit there are only launches");
    }
    if (checks[op->code]) {
        checks[op->code](verifier, op);
        return;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        read_operand(verifier, op, i, op->operand_count);
    }
}
