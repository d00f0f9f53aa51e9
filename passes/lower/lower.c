/* lower: each compute op of a plan to a kernel launch, by its family's schedule.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     compute %x, @w, %y {family = "gemm", outs = 1} (%a, %b) { … yield %r }
 *   becomes
 *     launch %x, @w, %y {kernel = @gemm, outs = 1, grid = ceil(B / 112), params = […]}
 *
 * Computes that say the same are lowered once, and kernels that turn out equal are one
 * kernel: schedules take extents as params where that lets shapes share code.
 *
 * Needs the plan stage.  Keeps operands, buffers and order; adds kernel graphs to the
 * module.
 */
#include "ir/build/expr.h"
#include "passes/lower/lower.h"

#include "passes/lower/share.h"
#include "passes/lower/work.h"

#include <assert.h>

typedef struct lowering {
    ig_pass_run *run;
    ig_kernel_share share;
} lowering;

/* ---- operands and params ---- */

const ig_dim *ig_lower_row_major(ig_arena *arena, ig_module *module,
                                 const ig_type *type) {
    assert(type->rank <= IG_TENSOR_RANK && "a tensor's rank");
    ig_dim *strides = IG_NEW_ARRAY(arena, ig_dim, type->rank);
    ig_dim step = ig_dim_of(1);
    for (uint32_t d = type->rank; d-- > 0;) {
        strides[d] = step;
        step = ig_dim_mul(module, step, type->dims[d]);
    }
    return strides;
}

const ig_dim *ig_lower_strides(ig_arena *arena, const ig_value *value) {
    ig_op *view = ig_def(value, IG_OP_view);
    if (view) {
        assert(view->attrs[IG_view_strides].count == value->type->rank &&
               "a view has a stride per axis");
        return view->attrs[IG_view_strides].as.dims;
    }
    ig_graph *graph = value->def ? value->def->block->graph : value->block->graph;
    return ig_lower_row_major(arena, graph->module, value->type);
}

ig_value *ig_lower_param(ig_lower *lower, ig_dim dim) {
    uint64_t key = ig_dim_key(dim) + 1; /* any bijection that avoids nothing */
    ig_value *known = ig_map_get_id(&lower->param_of, key);
    if (known) {
        return known;
    }
    const ig_type *i64 = ig_type_vector(lower->module, IG_DT_i64, 1);
    known = ig_block_add_arg(&lower->kernel->body, i64, NULL);
    IG_PUSH(lower->arena, &lower->params, dim);
    ig_map_set_id(&lower->param_of, key, known);
    return known;
}

/* At the kernel's head, where every loop sees it; once for each number. */
static ig_value *head_constant(ig_lower *lower, int64_t value) {
    uint64_t key = (uint64_t)value + 1;
    ig_value *known = ig_map_get_id(&lower->constant_of, key);
    if (!known) {
        ig_builder head = lower->b;
        head.before = lower->kernel->body.first;
        head.block = &lower->kernel->body;
        known = k_i64(&head, value);
        ig_map_set_id(&lower->constant_of, key, known);
    }
    return known;
}

ig_value *ig_lower_dim(ig_lower *lower, ig_dim dim) {
    int64_t value = 0;
    bool is_known = ig_dim_constant(lower->module, dim, &value);
    return is_known ? head_constant(lower, value) : ig_lower_param(lower, dim);
}

ig_value *ig_lower_param_array(ig_lower *lower, const ig_dim *dims, uint32_t count) {
    assert(count > 0 && "an array of params has a first one");
    const ig_type *i64 = ig_type_vector(lower->module, IG_DT_i64, 1);
    ig_value *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        ig_value *arg = ig_block_add_arg(&lower->kernel->body, i64, NULL);
        first = first ? first : arg;
        IG_PUSH(lower->arena, &lower->params, dims[i]);
    }
    return first;
}

void ig_lower_range(ig_lower *lower, int64_t operand, ig_dim high, bool wraps) {
    assert(operand >= 0 && operand < lower->in_count &&
           "ids are an input of the launch");
    assert((!lower->ranges.count || lower->wraps == wraps) &&
           "all ids of a kernel wrap, or none");
    IG_PUSH(lower->arena, &lower->ranges, ig_dim_of(operand));
    IG_PUSH(lower->arena, &lower->ranges, ig_dim_of(0));
    IG_PUSH(lower->arena, &lower->ranges, high);
    lower->wraps = wraps;
}

void ig_lower_offsets(ig_lower *lower, int64_t operand, ig_dim high) {
    assert(operand >= 0 && operand < lower->in_count &&
           "offsets are an input of the launch");
    IG_PUSH(lower->arena, &lower->offsets, ig_dim_of(operand));
    IG_PUSH(lower->arena, &lower->offsets, high);
}

uint32_t ig_lower_lanes(const ig_lower *lower, ig_dtype dtype) {
    uint32_t bytes = ig_dtypes[dtype].bits / 8;
    if (lower->target->has_threads) {
        return 1;
    }
    assert(lower->target->vector_bytes >= 8 && "a CPU target has vectors");
    return lower->target->vector_bytes / (bytes > 4 ? bytes : 4);
}

int64_t ig_lower_tile(const ig_lower *lower, int64_t lines) {
    assert(lines > 0 && "a tile has lines");
    return lower->target->has_threads ? 1 : lines;
}

ig_dim ig_lower_ceil_div(ig_lower *lower, ig_dim a, int64_t b) {
    assert(b > 0 && "rounding up is to a positive multiple");
    return ig_dim_ceil_div(lower->module, a, ig_dim_of(b));
}

ig_dim ig_lower_mul(ig_lower *lower, ig_dim a, ig_dim b) {
    return ig_dim_mul(lower->module, a, b);
}

ig_dim ig_lower_batch_stride(ig_lower *lower, const ig_lower_operand *x, uint32_t axis,
                             ig_dim whole) {
    ig_module *module = lower->module;
    ig_dim extent = x->type->dims[axis], stride = x->strides[axis];
    if (ig_dim_is(extent, 1)) {
        return ig_dim_of(0);
    }
    bool is_own = ig_dim_equal(module, extent, whole) == IG_YES ||
                  ig_dim_equal(module, extent, ig_dim_of(1)) == IG_NO;
    ig_dim below = ig_dim_sub(module, extent, ig_dim_of(1));
    ig_dim is_wide = ig_dim_max(module, ig_dim_min(module, below, ig_dim_of(1)),
                                ig_dim_of(0));
    return is_own ? stride : ig_dim_mul(module, stride, is_wide);
}

ig_status ig_lower_unsupported(ig_lower *lower, const char *what) {
    ig_context *context = lower->module->context;
    return ig_error_hint(&context->diag, IG_UNSUPPORTED, ig_op_location(lower->compute),
                         "run it with --target interpret, or report the model",
                         "%s has no kernel for %s yet", what, lower->target->name);
}

/* ---- one launch ---- */

static ig_lower_operand *take_operands(ig_lower *lower, uint32_t from, uint32_t count) {
    assert(from + count <= lower->compute->operand_count &&
           "inputs, then destinations, are the operands");
    ig_lower_operand *operands = IG_NEW_ARRAY(lower->arena, ig_lower_operand, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *value = lower->compute->operands[from + i].value;
        bool is_table = value->type->kind == IG_TABLE;
        ig_dtype dtype = is_table ? IG_DT_u8 : (ig_dtype)value->type->dtype;
        const ig_type *pointer = ig_type_buffer(lower->module, dtype, 0, NULL);
        operands[i].type = value->type;
        operands[i].strides = ig_lower_strides(lower->arena, value);
        operands[i].buffer = ig_block_add_arg(&lower->kernel->body, pointer, NULL);
    }
    return operands;
}

static void start_kernel(ig_lower *lower, ig_pass_run *run, ig_op *compute,
                         ig_arena *arena) {
    ig_module *module = ig_op_module(compute);
    uint32_t outs = (uint32_t)ig_attr_int(compute, IG_compute_outs, 0);
    assert(outs <= compute->operand_count && "destinations are operands");
    assert(compute->body_count == 1 && "a compute has one body");
    *lower = (ig_lower){ .module = module,
                         .options = run->options,
                         .target = run->options->target,
                         .arena = arena,
                         .compute = compute,
                         .body = compute->bodies[0],
                         .in_count = compute->operand_count - outs,
                         .out_count = outs,
                         .name = ig_attr_str(compute, IG_compute_family),
                         .grid = ig_dim_of(1) };
    lower->kernel = ig_graph_create(module, lower->name, IG_STAGE_KERNEL);
    ig_map_init(&lower->param_of, arena);
    ig_map_init(&lower->constant_of, arena);
    lower->b = ig_builder_at_end(&lower->kernel->body);
    lower->b.loc = compute->loc;
    lower->ins = take_operands(lower, 0, lower->in_count);
    lower->outs = take_operands(lower, lower->in_count, outs);
}

/* ---- the launch ---- */

static ig_maybe_int unless_zero(int64_t value) {
    return (ig_maybe_int){ value != 0, value };
}

/* The schedule's decisions. */
static ig_launch_attrs launch_of(const ig_lower *lower) {
    ig_launch_attrs attrs = {
        .kernel = lower->kernel->name,
        .outs = lower->out_count,
        .grid = lower->grid,
        .scratch = unless_zero(lower->scratch),
        .threads = unless_zero(lower->threads),
        .ranges = { lower->ranges.items, (uint32_t)lower->ranges.count },
        .offsets = { lower->offsets.items, (uint32_t)lower->offsets.count },
        .params = { lower->params.items, (uint32_t)lower->params.count },
        .wraps = lower->wraps,
        .cost = { !ig_dim_is(lower->cost, 0), lower->cost },
    };
    assert(attrs.ranges.count % 3 == 0 && "ranges are operand, low, high");
    assert(attrs.offsets.count % 2 == 0 && "offsets are operand, high");
    return attrs;
}

/* The launch in place of the compute op. */
static void make_launch(ig_pass_run *run, ig_op *from, const ig_launch_attrs *launch,
                        ig_arena *arena) {
    ig_value **operands = IG_NEW_ARRAY(arena, ig_value *, from->operand_count);
    for (uint32_t i = 0; i < from->operand_count; i++) {
        operands[i] = from->operands[i].value;
    }
    ig_work work = ig_work_of(from, run->options->target, arena);
    const ig_dim work_dims[] = { work.flops, work.bytes, work.lines };
    ig_launch_attrs attrs = *launch;
    attrs.work = (ig_dims){ work_dims, 3 };
    ig_builder b = ig_builder_before(from);
    ig_expr e = ig_expr_of(&b);
    (void)ig_build_launch(&e, operands, from->operand_count, attrs);
    assert(from->prev->code == IG_OP_launch && "it was built before the compute");
    ig_op_inherit(from->prev, from);
    ig_op_erase(from);
    run->changed = true;
}

static void finish_kernel(ig_lower *lower, ig_kernel_share *share) {
    assert(lower->name && "the family has named the kernel");
    assert(lower->scratch >= 0 && lower->threads >= 0 &&
           lower->threads <= IG_BLOCK_THREADS && "sizes of a launch");
    ig_make_ret(&lower->b, NULL, 0);
    ig_graph *equal = ig_kernel_share_find(share, lower->kernel);
    if (equal) {
        ig_graph_destroy(lower->kernel);
        lower->kernel = equal;
    } else {
        ig_graph_rename(lower->kernel, lower->name);
    }
}

static ig_status build_kernel(lowering *l, ig_op *compute, ig_arena *arena,
                              ig_str key) {
    const char *family = ig_attr_str(compute, IG_compute_family);
    ig_lower_fn fn = ig_lower_schedule(l->run->options->target, ig_op_family(compute));
    ig_lower lower;
    start_kernel(&lower, l->run, compute, arena);
    ig_status status = fn ? fn(&lower) : ig_lower_unsupported(&lower, family);
    if (status != IG_OK) {
        ig_graph_destroy(lower.kernel);
        return status;
    }
    finish_kernel(&lower, &l->share);
    ig_launch_attrs launch = launch_of(&lower);
    ig_kernel_share_keep(&l->share, key, &launch);
    return IG_OK;
}

static ig_status lower_compute(lowering *l, ig_op *compute) {
    ig_arena arena;
    ig_status status = ig_context_poll(ig_op_module(compute)->context);
    ig_arena_init(&arena, l->run->scratch->budget);
    ig_str key = ig_compute_key(compute, &arena);
    if (status == IG_OK && !ig_kernel_share_launch(&l->share, key)) {
        status = build_kernel(l, compute, &arena, key);
    }
    if (status == IG_OK) {
        make_launch(l->run, compute, ig_kernel_share_launch(&l->share, key), &arena);
    }
    ig_arena_fini(&arena);
    return status;
}

static ig_status lower_block(lowering *l, ig_block *block) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        if (op->code == IG_OP_compute) {
            IG_TRY(lower_compute(l, op));
            continue;
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(lower_block(l, op->bodies[i]));
        }
    }
    return IG_OK;
}

ig_status ig_pass_lower(ig_pass_run *run, ig_graph *graph) {
    if (!run->options->target) {
        return IG_OK;
    }
    lowering l = { .run = run };
    ig_kernel_share_init(&l.share, graph->module, run->scratch);
    return lower_block(&l, &graph->body);
}
