/* Building ops: the helpers of op.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/eval.h"

#include <string.h>

/* Constants of this size stand in the graph as they are. */
enum { INLINE_BYTES = 1024 };

ig_status ig_ts_build(ig_ts_call *call, ig_opcode code, uint32_t count,
                      ig_value *const *operands, const ig_attr *attrs,
                      ig_value **out_value) {
    ig_op_spec spec = { .operands = operands, .operand_count = count, .attrs = attrs };
    ig_op *op = NULL;
    spec.result_count = ig_ops[code].result_count == IG_MANY;
    ig_status status = ig_build(call->builder, code, &spec, &op);
    if (status != IG_OK) {
        call->eval->has_failed = true;
        return status;
    }
    *out_value = ig_op_result(op, 0);
    return IG_OK;
}

ig_status ig_ts_build1(ig_ts_call *call, ig_opcode code, ig_value *x,
                       ig_value **out_value) {
    return ig_ts_build(call, code, 1, &x, NULL, out_value);
}

ig_status ig_ts_build2(ig_ts_call *call, ig_opcode code, ig_value *x, ig_value *y,
                       ig_value **out_value) {
    IG_TRY(ig_ts_guard_broadcast(call, x, y));
    return ig_ts_build(call, code, 2, (ig_value *[]){ x, y }, NULL, out_value);
}

/* ---- constants ---- */

ig_value *ig_ts_scalar(ig_ts_call *call, ig_dtype dtype, double value) {
    int64_t room = 0;
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room };
    ig_tensor_set_f64(&tensor, 0, value);
    const ig_type *type = ig_type_tensor(call->module, dtype, 0, NULL);
    return ig_make_const(call->builder, type, &room);
}

ig_value *ig_ts_scalar_int(ig_ts_call *call, ig_dtype dtype, int64_t value) {
    int64_t room = 0;
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room };
    if (ig_dtype_is_float(dtype)) {
        ig_tensor_set_f64(&tensor, 0, (double)value);
    } else {
        ig_tensor_set_i64(&tensor, 0, dtype == IG_DT_bool ? value != 0 : value);
    }
    const ig_type *type = ig_type_tensor(call->module, dtype, 0, NULL);
    return ig_make_const(call->builder, type, &room);
}

ig_value *ig_ts_constant(ig_ts_call *call, ig_dtype dtype, uint32_t rank,
                         const int64_t *dims, const void *bytes) {
    const ig_type *type = ig_type_of_extents(call->module, dtype, rank, dims);
    int64_t count = 1, size = 0;
    for (uint32_t i = 0; i < rank; i++) {
        count *= dims[i];
    }
    ig_dtype_bytes(dtype, count, &size);
    if (size <= INLINE_BYTES && rank <= 1) {
        return ig_make_const(call->builder, type, bytes);
    }
    const void *copy = ig_arena_copy(&call->module->arena, bytes, (size_t)size);
    ig_data data = { .type = type, .bytes = copy, .size = size };
    return ig_make_weight(call->builder,
                          ig_module_add_weight(call->module, "constant", &data));
}

ig_status ig_ts_full(ig_ts_call *call, ig_value *scalar, uint32_t rank,
                     const ig_dim *dims, ig_value **out_value) {
    return ig_ts_expand(call, scalar, rank, dims, out_value);
}

ig_status ig_ts_cast(ig_ts_call *call, ig_value *x, ig_dtype dtype,
                     ig_value **out_value) {
    (void)call;
    *out_value = ig_make_cast(call->builder, x, dtype);
    return IG_OK;
}

/* ---- movement ---- */

ig_status ig_ts_reshape(ig_ts_call *call, ig_value *x, uint32_t rank,
                        const ig_dim *dims, ig_value **out_value) {
    ig_module *module = call->module;
    *out_value = x;
    if (x->type->rank == rank && ig_dims_same(x->type->dims, dims, rank)) {
        return IG_OK;
    }
    IG_TRY(ig_ts_guard_equal(call, ig_type_count(module, x->type),
                             ig_dim_product(module, dims, rank),
                             "the tensor has not as many elements as the new shape"));
    ig_attr attrs[IG_reshape_attr_count] = { [IG_reshape_to] =
                                                 ig_attr_of_dims(module, dims, rank) };
    return ig_ts_build(call, IG_OP_reshape, 1, &x, attrs, out_value);
}

ig_status ig_ts_transpose(ig_ts_call *call, ig_value *x, const int64_t *perm,
                          ig_value **out_value) {
    ig_attr attrs[IG_transpose_attr_count] = { [IG_transpose_perm] = ig_attr_of_ints(
                                                   call->module, perm, x->type->rank) };
    return ig_ts_build(call, IG_OP_transpose, 1, &x, attrs, out_value);
}

ig_status ig_ts_expand(ig_ts_call *call, ig_value *x, uint32_t rank, const ig_dim *dims,
                       ig_value **out_value) {
    *out_value = x;
    if (x->type->rank == rank && ig_dims_same(x->type->dims, dims, rank)) {
        return IG_OK;
    }
    ig_attr attrs[IG_expand_attr_count] = { [IG_expand_to] = ig_attr_of_dims(
                                                call->module, dims, rank) };
    return ig_ts_build(call, IG_OP_expand, 1, &x, attrs, out_value);
}

ig_status ig_ts_slice(ig_ts_call *call, ig_value *x, ig_ts_range range,
                      ig_value **out_value) {
    ig_module *module = call->module;
    uint32_t rank = x->type->rank;
    ig_dim starts[IG_TENSOR_RANK] = { 0 }, sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    *out_value = x;
    if (ig_dim_is(range.start, 0) && range.step == 1 &&
        ig_dim_same(range.size, x->type->dims[range.axis])) {
        return IG_OK;
    }
    for (uint32_t i = 0; i < rank; i++) {
        sizes[i] = x->type->dims[i];
        steps[i] = 1;
    }
    starts[range.axis] = range.start;
    sizes[range.axis] = range.size;
    steps[range.axis] = range.step;
    ig_attr attrs[IG_slice_attr_count] = {
        [IG_slice_starts] = ig_attr_of_dims(module, starts, rank),
        [IG_slice_sizes] = ig_attr_of_dims(module, sizes, rank),
    };
    if (range.step != 1) {
        attrs[IG_slice_steps] = ig_attr_of_ints(module, steps, rank);
    }
    return ig_ts_build(call, IG_OP_slice, 1, &x, attrs, out_value);
}

/* ---- guards ---- */

static const char *guard_text(const ig_ts_call *call, const char *what) {
    return ig_arena_printf(call->arena, "%s, line %u (%s): %s",
                           call->where.graph ? call->where.graph : "?",
                           call->where.line, call->where.op ? call->where.op : "?",
                           what);
}

ig_status ig_ts_guard_equal(ig_ts_call *call, ig_dim a, ig_dim b, const char *what) {
    ig_truth truth = ig_dim_equal(call->module, a, b);
    if (truth == IG_NO && call->builder->block == &call->eval->graph->body) {
        return ig_ts_fail(call, IG_INVALID, "%s", what);
    }
    if (truth != IG_YES) {
        ig_make_guard_equal(call->builder, a, b, guard_text(call, what));
    }
    return IG_OK;
}

ig_status ig_ts_guard_less(ig_ts_call *call, ig_dim a, ig_dim b, const char *what) {
    ig_truth truth = ig_dim_less_equal(call->module, a, b);
    if (truth == IG_NO && call->builder->block == &call->eval->graph->body) {
        return ig_ts_fail(call, IG_INVALID, "%s", what);
    }
    if (truth == IG_YES) {
        return IG_OK;
    }
    ig_attr attrs[IG_guard_attr_count] = {
        [IG_guard_left] = ig_attr_of_dim(a),
        [IG_guard_right] = ig_attr_of_dim(b),
        [IG_guard_test] = ig_attr_of_enum(1),
        [IG_guard_message] = ig_attr_of_str(call->module,
                                            ig_str_of(guard_text(call, what))),
    };
    (void)ig_make(call->builder, IG_OP_guard, 0, NULL, attrs);
    return IG_OK;
}

ig_status ig_ts_guard_broadcast(ig_ts_call *call, const ig_value *x,
                                const ig_value *y) {
    ig_module *m = call->module;
    uint32_t rank = x->type->rank < y->type->rank ? x->type->rank : y->type->rank;
    for (uint32_t i = 1; i <= rank; i++) {
        ig_dim a = x->type->dims[x->type->rank - i];
        ig_dim b = y->type->dims[y->type->rank - i];
        bool is_sure = ig_dim_is(a, 1) || ig_dim_is(b, 1) ||
                       ig_dim_equal(m, a, b) != IG_MAYBE;
        if (!is_sure) {
            ig_make_guard_equal(
                call->builder, ig_dim_bcast(m, a, b), ig_dim_bcast(m, b, a),
                guard_text(call, "the shapes of the operands do not broadcast"));
        }
    }
    return IG_OK;
}

bool ig_ts_fixes_means(const ig_ts_call *call) {
    return call->eval->fixes_rowwise_mean;
}

ig_dim ig_ts_symbol(ig_ts_call *call, const char *name) {
    ig_dim dim = ig_dim_symbol(call->module, name);
    ig_symbol *symbol = ig_dim_as_symbol(call->module, dim);
    symbol->origin = ig_module_string(
        call->module, ig_str_of(guard_text(call, "a number that the data tell")));
    return dim;
}

typedef struct open_dim {
    const ig_module *module;
    ig_writer *text;
    bool has_any, is_of_data;
} open_dim;

static void put_symbol(void *user, uint32_t index) {
    open_dim *d = user;
    const ig_symbol *symbol = ig_symbol_at(d->module, index);
    const char *origin = symbol->origin ? symbol->origin : "of no input";
    ig_put(d->text, "%s%s: %s", d->has_any ? "; " : " (", symbol->name, origin);
    d->has_any = true;
    d->is_of_data = d->is_of_data || strncmp(origin, "dim ", 4) != 0;
}

const char *ig_ts_open_dim(const ig_module *module, ig_arena *arena, ig_dim dim) {
    ig_writer text;
    open_dim d = { .module = module, .text = &text };
    ig_writer_init(&text, arena);
    ig_dim_print(module, dim, &text);
    ig_dim_visit_symbols(module, dim, put_symbol, &d);
    ig_put(&text, "%s%s", d.has_any ? ")" : "",
           d.is_of_data ? ", which only the run learns"
                        : ": give numbers for these extents with --input");
    return text.data;
}

/* ---- calling other operators ---- */

ig_ts_value ig_ts_tensor_value(ig_ts_call *call, ig_value *value) {
    return ig_ts_of_tensor(ig_ts_tensor_create(call->eval, value, NULL));
}

ig_value *ig_ts_read(ig_ts_call *call, const ig_ts_value *tensor) {
    ig_value *value = NULL;
    if (call->status != IG_OK) {
        return NULL;
    }
    if (tensor->kind != IG_TS_TENSOR) {
        call->status = ig_ts_fail(call, IG_INVALID, "got %s where a tensor is expected",
                                  ig_ts_kind_name(tensor));
        return NULL;
    }
    call->status = ig_ts_tensor_read(call->eval, tensor->as.tensor, &value);
    return value;
}

ig_status ig_ts_invoke(ig_ts_call *call, const char *name, const ig_ts_value *args,
                       uint32_t count, ig_ts_value *out_results,
                       uint32_t result_count) {
    ig_ts_value *values = IG_NEW_ARRAY(call->arena, ig_ts_value, count + 1u);
    ig_ts_arguments arguments = { .values = values, .positional = count };
    uint32_t got = result_count;
    if (count) {
        memcpy(values, args, count * sizeof(*args));
    }
    IG_TRY(ig_ts_call_op(call->eval, name, &arguments, out_results, &got));
    return got >= result_count
               ? IG_OK
               : ig_ts_fail(call, IG_INTERNAL, "%s gives %u results, expected %u", name,
                            got, result_count);
}
