/* Building a loop whose carried values must have types that hold for every trip.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first attempt gives each argument the type of its initial value.  Where the body
 * then yields another extent, the argument's extent becomes a symbol of its own, which
 * may change from trip to trip, and the body is built again.  Each attempt frees at
 * least one extent, and nearly always the second is the last.  The freed extents are
 * remembered per body, so that the attempts of nested loops do not multiply.
 */
#include "frontend/onnx/import/loop.h"

#include <assert.h>

ig_value *ig_onnx_one_element(ig_expr *e, ig_value *x, ig_dtype dtype,
                              const char *what) {
    if (!x) {
        return NULL;
    }
    bool fits = x->type->kind == IG_TENSOR && x->type->dtype == dtype &&
                ig_dim_equal(e->module, ig_type_count(e->module, x->type),
                             ig_dim_of(1)) != IG_NO;
    return fits ? ig_expr_reshape(e, x, 0, NULL)
                : ig_expr_fail(e, IG_INVALID, "%s must be one element of type %s", what,
                               ig_dtypes[dtype].name);
}

/* ---- symbols that belong to the body ---- */

/* Does `dim` mention a symbol that was made inside the loop? */
static bool is_own(const ig_onnx_loop *loop, ig_dim dim) {
    return ig_dim_mentions_since(loop->node->import->module, dim, loop->first_symbol);
}

/* An extent of an argument that may change from trip to trip. */
static bool is_free(const ig_onnx_loop *loop, ig_dim dim) {
    return ig_dim_as_symbol(loop->node->import->module, dim) && is_own(loop, dim);
}

static ig_dim free_extent(const ig_onnx_loop *loop, uint32_t index, uint32_t axis) {
    const char *name = ig_arena_printf(loop->node->import->arena, "carried%u_d%u",
                                       index, axis);
    return ig_onnx_symbol(loop->node->import, name,
                          "an extent that changes from trip to trip");
}

/* One bit for each axis of each carried value that an earlier import freed. */
static uint32_t *freed_axes(const ig_onnx_loop *loop) {
    ig_map *freed = &loop->node->import->freed;
    uint32_t *axes = ig_map_get_id(freed, IG_MAP_PTR(loop->graph));
    if (!axes) {
        axes = IG_NEW_ARRAY(loop->node->import->arena, uint32_t,
                            loop->carried_count + 1u);
        ig_map_set_id(freed, IG_MAP_PTR(loop->graph), axes);
    }
    return axes;
}

/* The type to begin with: that of the initial value, freed where it is known to
 * need. */
static const ig_type *first_type(const ig_onnx_loop *loop, uint32_t index,
                                 uint32_t axes) {
    const ig_type *type = loop->carried[index]->type;
    ig_dim dims[IG_TENSOR_RANK];
    if (type->kind != IG_TENSOR || axes == 0) {
        return type;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        dims[i] = axes >> i & 1 ? free_extent(loop, index, i) : type->dims[i];
    }
    return ig_type_with_dims(loop->node->import->module, type, type->rank, dims);
}

/* ---- one attempt ---- */

/* This trip's part of a scanned input. */
static ig_value *slice_trip(const ig_onnx_loop *loop, uint32_t index, ig_value *i) {
    ig_expr *e = loop->node->e;
    assert(index < loop->scanned_count && "a slice of each scanned input");
    if (loop->scan_backwards[index]) {
        i = ig_build_sub(e, ig_expr_with(e, IG_OP_sub, loop->trips, 1), i);
    }
    return ig_expr_gather(e, loop->scanned[index], i, loop->scan_axes[index],
                          IG_NEGATIVE_wrap);
}

/* Formal inputs: i, cond, carried values, slices. */
static void define_inputs(ig_onnx_loop *loop, ig_onnx_scope *scope) {
    ig_block *body = loop->op->bodies[0];
    ig_onnx_import *import = loop->node->import;
    uint32_t formal = loop->has_cond ? 2 : 0, first = loop->has_cond ? 0 : 2;
    for (uint32_t i = 0; i < loop->graph->n_input; i++) {
        const char *name = loop->graph->input[i]->name;
        name = name ? name : "";
        bool is_slice = i >= formal + loop->carried_count;
        ig_value *value = is_slice ? slice_trip(loop, i - formal - loop->carried_count,
                                                body->args[0])
                                   : body->args[i + first];
        if (!is_slice) {
            value->name = ig_module_string(import->module, ig_str_of(name));
        }
        if (name[0]) {
            ig_onnx_define_value(
                scope, name, value,
                ig_arena_printf(import->arena, "input %u of the body", i));
        }
    }
}

static void add_arguments(ig_onnx_loop *loop) {
    ig_module *module = loop->node->import->module;
    ig_block *body = loop->op->bodies[0];
    ig_block_add_arg(body, ig_type_tensor(module, IG_DT_i64, 0, NULL), NULL);
    ig_block_add_arg(body, ig_type_tensor(module, IG_DT_bool, 0, NULL), NULL);
    for (uint32_t i = 0; i < loop->carried_count; i++) {
        ig_value *arg = ig_block_add_arg(body, loop->types[i], NULL);
        bool is_untyped = loop->types[i] == loop->carried[i]->type &&
                          ig_onnx_is_untyped(loop->node->import, loop->carried[i]);
        ig_onnx_set_untyped(loop->node->import, arg, is_untyped);
    }
}

static void clear_body(ig_onnx_loop *loop) {
    ig_block *body = loop->op->bodies[0];
    while (body->last) {
        ig_op_erase(body->last);
    }
    while (body->arg_count > 0) {
        ig_block_remove_arg(body, body->arg_count - 1);
    }
}

/* The state of a Scan, which keeps its shape ("required to have the same shape in each
 * iteration"): where that is not known the run checks it. */
static ig_value *keep_shape(const ig_onnx_loop *loop, uint32_t index, ig_value *next) {
    ig_expr *e = loop->node->e;
    const ig_type *type = loop->types[index];
    bool is_known = true;
    if (!loop->scanned_count || type->kind != IG_TENSOR ||
        next->type->kind != IG_TENSOR || next->type->rank != type->rank) {
        return next;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        ig_truth same = ig_dim_equal(e->module, next->type->dims[i], type->dims[i]);
        if (same == IG_NO) {
            return next; /* another type than the first trip's will do */
        }
        is_known = is_known && same == IG_YES;
    }
    for (uint32_t i = 0; i < type->rank && !is_known; i++) {
        ig_expr_guard_equal(e, next->type->dims[i], type->dims[i],
                            "the state must keep its shape from trip to trip");
    }
    return is_known ? next : ig_expr_reshape(e, next, type->rank, type->dims);
}

/* What begins as an optional, which the body takes the value of and yields another: in
 * the IR it stays one.  Whoever reads the loop's result gets the value. */
static ig_value *keep_optional(const ig_onnx_loop *loop, uint32_t index,
                               ig_value *next) {
    const ig_type *type = loop->types[index];
    loop->is_wrapped[index] = type->kind == IG_OPTIONAL &&
                              next->type->kind != IG_OPTIONAL;
    return loop->is_wrapped[index] ? ig_build_opt_make(loop->node->e, next) : next;
}

static void set_yields(ig_onnx_loop *loop, ig_value *const *outputs) {
    ig_expr *e = loop->node->e;
    loop->yields[0] = loop->has_cond ? ig_onnx_one_element(e, outputs[0], IG_DT_bool,
                                                           "the body's condition")
                                     : ig_expr_number(e, IG_DT_bool, 1);
    for (uint32_t i = 0; i < loop->carried_count + loop->stacked_count; i++) {
        ig_value *next = outputs[loop->has_cond + i];
        next = i < loop->carried_count ? keep_optional(loop, i, next) : next;
        loop->yields[1 + i] = next && i < loop->carried_count
                                  ? keep_shape(loop, i, next)
                                  : next;
    }
}

/* Builds the body's nodes.  Slices and the condition are built by the node's
 * expression, whose builder is in the body meanwhile. */
static ig_status build_body(ig_onnx_loop *loop, ig_builder *builder) {
    ig_onnx_node *node = loop->node;
    ig_onnx_import *import = node->import;
    const Onnx__GraphProto *graph = loop->graph;
    ig_onnx_scope scope;
    const char *label = graph->name && graph->name[0] ? graph->name : "body";
    ig_onnx_scope_init(&scope, import, loop->outer, label);
    scope.builder = builder;
    add_arguments(loop);
    node->e->builder = builder;
    define_inputs(loop, &scope);
    node->e->builder = node->builder;
    IG_TRY(node->e->status);
    ig_value **outputs = IG_NEW_ARRAY(import->arena, ig_value *, graph->n_output + 1);
    IG_TRY(ig_onnx_import_body(&scope, graph, outputs));
    for (size_t i = 0; i < graph->n_output; i++) {
        if (!outputs[i]) {
            return import->worst; /* reported where it is flawed */
        }
    }
    builder->loc = ig_module_location(import->module, &node->where);
    node->e->builder = builder;
    set_yields(loop, outputs);
    node->e->builder = node->builder;
    return node->e->status;
}

/* ---- types that hold for every trip ---- */

static ig_status check_kind(const ig_onnx_loop *loop, uint32_t index, const ig_type *a,
                            const ig_type *b) {
    if (a->kind == b->kind && a->dtype == b->dtype && a->kind == IG_TENSOR &&
        a->rank != b->rank) {
        return ig_onnx_fail(loop->node, IG_UNSUPPORTED,
                            "carried value %u changes its rank from %u to %u", index,
                            a->rank, b->rank);
    }
    if (a->kind != b->kind || a->kind == IG_ANY ||
        (a->kind == IG_TENSOR && a->dtype != b->dtype)) {
        return ig_onnx_fail(
            loop->node, IG_INVALID,
            "carried value %u changes its element type or kind in the body", index);
    }
    return IG_OK;
}

/* Frees the extents of an argument that the body changes. */
static ig_status widen_tensor(ig_onnx_loop *loop, uint32_t index, const ig_type *arg,
                              const ig_type *yield, const ig_type **out_type) {
    ig_module *module = loop->node->import->module;
    ig_dim dims[IG_TENSOR_RANK];
    IG_TRY(check_kind(loop, index, arg, yield));
    for (uint32_t i = 0; i < arg->rank; i++) {
        dims[i] = arg->dims[i];
        if (!is_free(loop, dims[i]) &&
            ig_dim_equal(module, dims[i], yield->dims[i]) != IG_YES) {
            dims[i] = free_extent(loop, index, i);
            freed_axes(loop)[index] |= 1u << i;
        }
    }
    *out_type = ig_type_with_dims(module, arg, arg->rank, dims);
    return IG_OK;
}

/* Symbolic extents of a sequence's items may be anything already. */
static ig_status widen_items(ig_onnx_loop *loop, uint32_t index, const ig_type *a,
                             const ig_type *b, const ig_type **out_type) {
    ig_module *module = loop->node->import->module;
    ig_dim dims[IG_TENSOR_RANK];
    *out_type = ig_onnx_any_item(loop->node->import, a, b);
    if (*out_type) {
        return IG_OK;
    }
    IG_TRY(check_kind(loop, index, a, b));
    for (uint32_t i = 0; i < a->rank; i++) {
        bool is_kept = !ig_dim_is_static(a->dims[i]) ||
                       ig_dim_same(a->dims[i], b->dims[i]);
        dims[i] = is_kept ? a->dims[i] : ig_dim_symbol(module, "s");
    }
    *out_type = ig_type_with_dims(module, a, a->rank, dims);
    return IG_OK;
}

/* A sequence or an optional, which may hold a sequence. */
static ig_status widen_host(ig_onnx_loop *loop, uint32_t index, const ig_value *arg,
                            const ig_value *yield, const ig_type **out_type) {
    ig_module *module = loop->node->import->module;
    const ig_type *a = arg->type->element, *b = yield->type->element, *inner = NULL;
    *out_type = arg->type;
    if (ig_onnx_is_untyped(loop->node->import, yield)) {
        return IG_OK;
    }
    if (ig_onnx_is_untyped(loop->node->import, arg)) {
        *out_type = yield->type;
        return IG_OK;
    }
    if (a->kind == IG_SEQUENCE && b->kind == IG_SEQUENCE) {
        IG_TRY(widen_items(loop, index, a->element, b->element, &inner));
        inner = ig_type_host(module, IG_SEQUENCE, inner);
    } else if (arg->type->kind == IG_SEQUENCE) {
        IG_TRY(widen_items(loop, index, a, b, &inner));
    } else {
        IG_TRY(check_kind(loop, index, a, b));
        IG_TRY(widen_items(loop, index, a, b, &inner));
    }
    *out_type = ig_type_host(module, (ig_kind)arg->type->kind, inner);
    return IG_OK;
}

static ig_status widen_carried(ig_onnx_loop *loop, bool *out_changed) {
    const ig_block *body = loop->op->bodies[0];
    *out_changed = false;
    for (uint32_t i = 0; i < loop->carried_count; i++) {
        const ig_value *arg = body->args[2 + i], *yield = loop->yields[1 + i];
        const ig_type *type;
        if (arg->type->element && arg->type->kind == yield->type->kind) {
            IG_TRY(widen_host(loop, i, arg, yield, &type));
        } else {
            IG_TRY(widen_tensor(loop, i, arg->type, yield->type, &type));
        }
        *out_changed = *out_changed || type != arg->type;
        loop->types[i] = type;
    }
    return IG_OK;
}

/* ---- results ---- */

static bool is_true_constant(const ig_value *value) {
    double number = 0;
    while (value->def &&
           (value->def->code == IG_OP_cast || value->def->code == IG_OP_reshape)) {
        value = value->def->operands[0].value;
    }
    return ig_constant_f64(value, &number) && number != 0;
}

/* Does nothing end the loop before its trips are over? */
static bool runs_all_trips(const ig_onnx_loop *loop) {
    const ig_value *cond = loop->op->bodies[0]->args[1];
    const ig_value *next = loop->yields[0];
    return is_true_constant(loop->cond) && (next == cond || is_true_constant(next));
}

static ig_dim count_trips(const ig_onnx_loop *loop) {
    ig_module *module = loop->node->import->module;
    ig_dims_value trips;
    int64_t min, max;
    if (runs_all_trips(loop) && ig_value_dims(loop->trips, &trips)) {
        ig_dim_range(module, trips.dims[0], &min, &max);
        if (min >= 0) {
            return trips.dims[0];
        }
    }
    return ig_onnx_symbol(loop->node->import, "trips", "number of trips of a loop");
}

/* As seen from outside: extents of the body's own become symbols of the result's. */
static void give_outside(const ig_onnx_loop *loop, const ig_type *type, ig_dim *dims) {
    for (uint32_t i = 0; i < type->rank; i++) {
        dims[i] = type->dims[i];
        if (is_own(loop, dims[i])) {
            dims[i] = ig_onnx_symbol(loop->node->import, "loop",
                                     "an extent that a loop computes");
        }
    }
}

static ig_status type_results(ig_onnx_loop *loop) {
    ig_module *module = loop->node->import->module;
    const ig_block *body = loop->op->bodies[0];
    ig_dim dims[IG_TENSOR_RANK + 1];
    for (uint32_t i = 0; i < loop->carried_count; i++) {
        const ig_type *type = body->args[2 + i]->type;
        if (type->kind == IG_TENSOR) {
            give_outside(loop, type, dims);
            type = ig_type_with_dims(module, type, type->rank, dims);
        }
        ig_value_retype(&loop->op->results[i], type);
        bool is_untyped = ig_onnx_is_untyped(loop->node->import, body->args[2 + i]);
        ig_onnx_set_untyped(loop->node->import, &loop->op->results[i], is_untyped);
    }
    dims[0] = loop->stacked_count ? count_trips(loop) : ig_dim_of(0);
    for (uint32_t i = 0; i < loop->stacked_count; i++) {
        const ig_type *type = loop->yields[1 + loop->carried_count + i]->type;
        IG_TRY(ig_onnx_check_stacked(loop->node, i, type));
        give_outside(loop, type, dims + 1);
        ig_value_retype(&loop->op->results[loop->carried_count + i],
                        ig_type_with_dims(module, type, type->rank + 1, dims));
    }
    return IG_OK;
}

/* Empty sequences whose type the body taught take that type before the loop, and in
 * its yields. */
static ig_status settle_sequences(ig_onnx_loop *loop, ig_builder *in_body) {
    ig_onnx_import *import = loop->node->import;
    ig_builder before = ig_builder_before(loop->op);
    for (uint32_t i = 0; i < loop->carried_count; i++) {
        const ig_type *type = loop->op->bodies[0]->args[2 + i]->type;
        if (ig_onnx_is_untyped(import, loop->op->bodies[0]->args[2 + i])) {
            continue;
        }
        if (ig_onnx_is_untyped(import, loop->carried[i])) {
            ig_value *typed = loop->carried[i];
            IG_TRY(ig_onnx_settle(loop->node, &before, type, &typed));
            ig_use_set(&loop->op->operands[2 + i], typed);
        }
        if (ig_onnx_is_untyped(import, loop->yields[1 + i])) {
            IG_TRY(ig_onnx_settle(loop->node, in_body, type, &loop->yields[1 + i]));
        }
    }
    return IG_OK;
}

/* ---- the whole ---- */

static void place_op(ig_onnx_loop *loop) {
    ig_onnx_import *import = loop->node->import;
    uint32_t results = loop->carried_count + loop->stacked_count;
    ig_value **operands = IG_NEW_ARRAY(import->arena, ig_value *,
                                       2 + loop->carried_count);
    const ig_type **types = IG_NEW_ARRAY(import->arena, const ig_type *, results + 1u);
    const ig_type *unknown = ig_type_tensor(import->module, IG_DT_f32, 0, NULL);
    operands[0] = loop->trips;
    operands[1] = loop->cond;
    for (uint32_t i = 0; i < results; i++) {
        types[i] = unknown; /* until the body is known */
    }
    for (uint32_t i = 0; i < loop->carried_count; i++) {
        operands[2 + i] = loop->carried[i];
        loop->types[i] = first_type(loop, i, freed_axes(loop)[i]);
    }
    ig_attr attrs[IG_loop_attr_count] = { 0 };
    if (loop->stacked_count) {
        attrs[IG_loop_scans] = ig_attr_of_int(loop->stacked_count);
    }
    ig_op_spec spec = { .operands = operands,
                        .operand_count = 2 + loop->carried_count,
                        .result_types = types,
                        .result_count = results,
                        .attrs = attrs };
    loop->op = ig_make_op(loop->node->builder, IG_OP_loop, &spec);
}

ig_status ig_onnx_loop_build(ig_onnx_loop *loop) {
    ig_onnx_import *import = loop->node->import;
    uint32_t count = loop->carried_count + loop->stacked_count;
    loop->types = IG_NEW_ARRAY(import->arena, const ig_type *,
                               loop->carried_count + 1u);
    loop->yields = IG_NEW_ARRAY(import->arena, ig_value *, 1u + count);
    loop->is_wrapped = IG_NEW_ARRAY(import->arena, bool, loop->carried_count + 1u);
    loop->first_symbol = ig_symbol_count(import->module);
    place_op(loop);
    ig_builder builder = ig_builder_at_end(loop->op->bodies[0]);
    builder.loc = loop->op->loc;
    IG_TRY(build_body(loop, &builder));
    for (bool has_changed = true;;) {
        IG_TRY(widen_carried(loop, &has_changed));
        if (!has_changed) {
            break;
        }
        clear_body(loop);
        IG_TRY(build_body(loop, &builder));
    }
    IG_TRY(settle_sequences(loop, &builder));
    ig_make_yield(&builder, loop->yields, 1 + count);
    return type_results(loop);
}
