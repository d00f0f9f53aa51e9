/* The vocabulary that builds ops: failures, single ops, dtypes, constants, guards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"

#include "base/silence.h"
#include "ir/tensor/tensor.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static ig_expr open_expr(ig_builder *builder, ig_expr_policy policy) {
    return (ig_expr){ .builder = builder,
                      .module = builder->graph->module,
                      .policy = policy,
                      .status = IG_OK };
}

ig_expr ig_expr_of(ig_builder *builder) {
    return open_expr(builder, IG_EXPR_SURE);
}

ig_expr ig_expr_trying(ig_builder *builder) {
    return open_expr(builder, IG_EXPR_TRY);
}

ig_expr ig_expr_for(ig_builder *builder, const ig_expr_source *source, void *user) {
    ig_expr e = open_expr(builder, IG_EXPR_REPORT);
    assert(source && source->fail && source->explain && "a source has both functions");
    e.source = source;
    e.user = user;
    return e;
}

ig_value *ig_expr_fail(ig_expr *e, ig_status status, const char *format, ...) {
    char text[512];
    va_list args;
    assert(status != IG_OK && "a failure has a status");
    if (e->status != IG_OK) {
        return NULL;
    }
    e->status = status;
    if (e->policy == IG_EXPR_REPORT) {
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        e->status = e->source->fail(e->user, status, text);
    }
    return NULL;
}

bool ig_expr_note(ig_expr *e, ig_status status) {
    if (e->status == IG_OK) {
        e->status = status;
    }
    return e->status == IG_OK;
}

/* ---- any op ---- */

static bool has_all(ig_value *const *operands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!operands[i]) {
            return false;
        }
    }
    return true;
}

/* Operands of an elementwise op, each against those before it. */
static void guard_operands(ig_expr *e, ig_value *const *operands, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            ig_expr_guard_broadcast(e, operands[k], operands[i]);
        }
    }
}

ig_op *ig_expr_op(ig_expr *e, ig_opcode code, const ig_op_spec *spec) {
    ig_op *op = NULL;
    if (e->status != IG_OK || !has_all(spec->operands, spec->operand_count)) {
        return NULL;
    }
    if (e->policy == IG_EXPR_SURE) {
        return ig_make_op(e->builder, code, spec);
    }
    if (e->policy == IG_EXPR_REPORT) {
        return ig_expr_note(e, ig_build(e->builder, code, spec, &op)) ? op : NULL;
    }
    ig_silence silence = ig_silence_begin(e->module->context);
    e->status = ig_build(e->builder, code, spec, &op);
    ig_silence_end(&silence);
    return e->status == IG_OK ? op : NULL;
}

ig_value *ig_expr_make(ig_expr *e, ig_opcode code, ig_value *const *operands,
                       uint32_t count, const ig_attr *attrs) {
    ig_op_spec spec = { .operands = operands, .operand_count = count, .attrs = attrs };
    if (e->status != IG_OK || !has_all(operands, count)) {
        return NULL;
    }
    if (ig_ops[code].traits & IG_MAP) {
        guard_operands(e, operands, count);
    }
    spec.result_count = ig_ops[code].result_count == IG_MANY; /* bag: one per feature */
    ig_op *op = ig_expr_op(e, code, &spec);
    return op ? ig_op_result(op, 0) : NULL;
}

bool ig_expr_results(ig_value *first, ig_value **out_results) {
    assert((!first || first->index == 0) && "the first result of its op");
    for (uint32_t i = 0; first && i < first->def->result_count; i++) {
        out_results[i] = ig_op_result(first->def, i);
    }
    return first != NULL;
}

ig_value *ig_expr_map1(ig_expr *e, ig_opcode code, ig_value *x) {
    return ig_expr_make(e, code, &x, 1, NULL);
}

ig_value *ig_expr_map2(ig_expr *e, ig_opcode code, ig_value *x, ig_value *y) {
    return ig_expr_make(e, code, (ig_value *[]){ x, y }, 2, NULL);
}

ig_value *ig_expr_with(ig_expr *e, ig_opcode code, ig_value *x, double number) {
    return x ? ig_expr_map2(e, code, x,
                            ig_expr_number(e, (ig_dtype)x->type->dtype, number))
             : NULL;
}

ig_value *ig_expr_with_integer(ig_expr *e, ig_opcode code, ig_value *x,
                               int64_t number) {
    return x ? ig_expr_map2(e, code, x,
                            ig_expr_integer(e, (ig_dtype)x->type->dtype, number))
             : NULL;
}

ig_value *ig_expr_number_with(ig_expr *e, ig_opcode code, double number, ig_value *x) {
    return x ? ig_expr_map2(e, code,
                            ig_expr_number(e, (ig_dtype)x->type->dtype, number), x)
             : NULL;
}

ig_value *ig_expr_cast(ig_expr *e, ig_value *x, ig_dtype to) {
    bool is_same = !x || x->type->dtype == to;
    return is_same ? x : ig_build_cast(e, x, (ig_cast_attrs){ .to = to });
}

ig_value *ig_expr_like(ig_expr *e, ig_value *x, const ig_value *model) {
    return model ? ig_expr_cast(e, x, (ig_dtype)model->type->dtype) : NULL;
}

ig_op *ig_expr_open_loops(ig_expr *e, ig_value *const *operands, uint32_t count,
                          const ig_type *const *types, uint32_t scans) {
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_types = types,
                        .result_count = count - 2 + scans,
                        .body_count = 1,
                        .loc = e->builder->loc,
                        .origins = e->builder->origins };
    ig_attr attrs[IG_loop_attr_count] = { 0 };
    if (scans) {
        attrs[IG_loop_scans] = ig_attr_of_int(scans);
        spec.attrs = attrs;
    }
    ig_op *op = ig_expr_op(e, IG_OP_loop, &spec);
    if (!op) {
        return NULL;
    }
    ig_block_add_arg(op->bodies[0], operands[0]->type, NULL);
    ig_block_add_arg(op->bodies[0], operands[1]->type, NULL);
    for (uint32_t i = 2; i < count; i++) {
        ig_block_add_arg(op->bodies[0], types[i - 2], NULL);
    }
    *e->builder = ig_builder_at_end(op->bodies[0]);
    e->builder->loc = spec.loc;
    e->builder->origins = spec.origins;
    return op;
}

ig_op *ig_expr_open_loop(ig_expr *e, ig_value *const operands[3]) {
    const ig_type *carried = operands[2] ? operands[2]->type : NULL;
    return ig_expr_open_loops(e, operands, 3, &carried, 0);
}

/* ---- dtypes ---- */

bool ig_expr_is_float(const ig_value *x) {
    assert(x && "a value to ask about");
    return ig_dtype_is_float((ig_dtype)x->type->dtype);
}

ig_value *ig_expr_to_float(ig_expr *e, ig_value *x) {
    return !x || ig_expr_is_float(x) ? x : ig_expr_cast(e, x, IG_DT_f32);
}

ig_value *ig_expr_widen(ig_expr *e, ig_value *x) {
    bool is_narrow = x && ig_expr_is_float(x) && ig_dtypes[x->type->dtype].bits < 32;
    return is_narrow ? ig_expr_cast(e, x, IG_DT_f32) : x;
}

/* ---- constants ---- */

static ig_value *make_scalar(ig_expr *e, const ig_tensor *element) {
    const ig_type *type = ig_type_tensor(e->module, element->dtype, 0, NULL);
    return ig_make_const(e->builder, type, element->data);
}

/* A number among texts: what asks for it is meant for numbers. */
static ig_value *refuse_texts(ig_expr *e) {
    return ig_expr_fail(e, IG_INVALID, "its elements are texts, expected numbers");
}

ig_value *ig_expr_number(ig_expr *e, ig_dtype dtype, double value) {
    if (dtype == IG_DT_str) {
        return refuse_texts(e);
    }
    int64_t room = 0; /* as large as any element */
    ig_tensor element = {
        .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room
    };
    ig_tensor_set_f64(&element, 0, value);
    return make_scalar(e, &element);
}

ig_value *ig_expr_integer(ig_expr *e, ig_dtype dtype, int64_t value) {
    if (dtype == IG_DT_str) {
        return refuse_texts(e);
    }
    int64_t room = 0;
    ig_tensor element = {
        .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room
    };
    if (ig_dtype_is_float(dtype)) {
        ig_tensor_set_f64(&element, 0, (double)value);
    } else {
        ig_tensor_set_i64(&element, 0, dtype == IG_DT_bool ? value != 0 : value);
    }
    return make_scalar(e, &element);
}

ig_value *ig_expr_constant(ig_expr *e, const char *name, ig_dtype dtype, uint32_t rank,
                           const int64_t *extents, const void *bytes) {
    ig_dim dims[IG_TENSOR_RANK];
    int64_t count = 1, size = 0;
    assert(rank <= IG_TENSOR_RANK && "a constant's rank is a tensor's");
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = ig_dim_of(extents[i]);
        count *= extents[i];
    }
    bool has_size = ig_dtype_bytes(dtype, count, &size);
    assert(has_size && "a constant that is in memory has a size");
    (void)has_size;
    const ig_type *type = ig_type_tensor(e->module, dtype, rank, dims);
    const void *copy = ig_arena_copy(&e->module->arena, bytes, (size_t)size);
    ig_data data = { .type = type, .bytes = copy, .size = size };
    return ig_make_data(e->builder, name, &data);
}

ig_value *ig_expr_ints(ig_expr *e, const int64_t *values, uint32_t count) {
    return ig_expr_constant(e, "constant", IG_DT_i64, 1, (int64_t[]){ count }, values);
}

ig_value *ig_expr_dims(ig_expr *e, const ig_dim *dims, uint32_t count) {
    return ig_build_dims(e, (ig_dims_attrs){ .values = { dims, count } });
}

ig_value *ig_expr_dim(ig_expr *e, ig_dim dim, ig_dtype dtype) {
    int64_t number;
    if (ig_dim_constant(e->module, dim, &number)) {
        return ig_expr_integer(e, dtype, number);
    }
    ig_dims_attrs attrs = { .values = { &dim, 1 }, .scalar = true };
    return ig_expr_cast(e, ig_build_dims(e, attrs), dtype);
}

ig_value *ig_expr_fill(ig_expr *e, ig_dtype dtype, uint32_t rank, const ig_dim *dims,
                       double value) {
    return ig_expr_expand(e, ig_expr_number(e, dtype, value), rank, dims);
}

ig_value *ig_expr_iota(ig_expr *e, ig_dtype dtype, ig_dim count) {
    ig_value *start = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *limit = ig_expr_dim(e, count, IG_DT_i64);
    ig_value *step = ig_expr_integer(e, IG_DT_i64, 1);
    return ig_expr_cast(e, ig_build_range(e, start, limit, step), dtype);
}

ig_value *ig_expr_axis_iota(ig_expr *e, uint32_t rank, uint32_t axis, ig_dim extent) {
    return ig_expr_along(e, ig_expr_iota(e, IG_DT_i64, extent), axis, rank);
}

/* ---- checks of the run ---- */

static const char *explain_failure(const ig_expr *e, const char *what) {
    return e->policy == IG_EXPR_REPORT ? e->source->explain(e->user, what) : what;
}

/* In the entry block a claim that is provably false is the model's error; in a branch
 * it is one only when the branch is taken. */
static bool refuse_false(ig_expr *e, ig_truth truth, const char *what) {
    bool is_entry = e->builder->block == &e->builder->graph->body;
    if (truth == IG_NO && is_entry && e->policy != IG_EXPR_SURE) {
        ig_expr_fail(e, IG_INVALID, "%s", what);
        return true;
    }
    return false;
}

void ig_expr_guard_equal(ig_expr *e, ig_dim a, ig_dim b, const char *what) {
    ig_truth truth = ig_dim_equal(e->module, a, b);
    if (e->status != IG_OK || truth == IG_YES || refuse_false(e, truth, what)) {
        return;
    }
    ig_make_guard_equal(e->builder, a, b, explain_failure(e, what));
}

void ig_expr_guard_less_equal(ig_expr *e, ig_dim a, ig_dim b, const char *what) {
    ig_truth truth = ig_dim_less_equal(e->module, a, b);
    if (e->status != IG_OK || truth == IG_YES || refuse_false(e, truth, what)) {
        return;
    }
    ig_guard_attrs attrs = {
        .left = a, .right = b, .test = IG_GUARD_le, .message = explain_failure(e, what)
    };
    (void)ig_build_guard(e, attrs);
}

static const char no_broadcast[] = "the shapes of the operands do not broadcast";

typedef void (*guard_pair_fn)(ig_expr *e, ig_dim a, ig_dim b, const char *what);

/* Two extents broadcast when bcast(a, b) = bcast(b, a): either is 1, or they are equal.
 * Those that provably differ are for infer to report, which names the op. */
static void guard_pair(ig_expr *e, ig_dim a, ig_dim b, const char *what) {
    ig_module *m = e->module;
    if (ig_dim_is(a, 1) || ig_dim_is(b, 1) || ig_dim_equal(m, a, b) != IG_MAYBE) {
        return;
    }
    ig_make_guard_equal(e->builder, ig_dim_bcast(m, a, b), ig_dim_bcast(m, b, a),
                        explain_failure(e, what));
}

/* b broadcasts to a when bcast(b, a) = a: it is 1, or they are equal. */
static void guard_pair_to(ig_expr *e, ig_dim a, ig_dim b, const char *what) {
    ig_expr_guard_equal(e, ig_dim_bcast(e->module, b, a), a, what);
}

static void guard_pairs(ig_expr *e, const ig_value *x, const ig_value *y,
                        guard_pair_fn guard, const char *what) {
    if (e->policy != IG_EXPR_REPORT || !x || !y || x->type->kind != IG_TENSOR ||
        y->type->kind != IG_TENSOR) {
        return;
    }
    uint32_t rank = x->type->rank < y->type->rank ? x->type->rank : y->type->rank;
    for (uint32_t i = 1; i <= rank; i++) {
        guard(e, x->type->dims[x->type->rank - i], y->type->dims[y->type->rank - i],
              what);
    }
}

void ig_expr_guard_broadcast(ig_expr *e, const ig_value *x, const ig_value *y) {
    guard_pairs(e, x, y, guard_pair, no_broadcast);
}

void ig_expr_guard_broadcast_to(ig_expr *e, const ig_value *x, const ig_value *y,
                                const char *what) {
    guard_pairs(e, x, y, guard_pair_to, what);
}

/* One extent of two that are broadcast; false when they cannot be. */
static bool join_extents(ig_expr *e, ig_dim a, ig_dim b, ig_dim *out_joined) {
    int64_t p, q;
    *out_joined = ig_dim_is(a, 1) ? b : a;
    if (ig_dim_is(a, 1) || ig_dim_is(b, 1)) {
        return true;
    }
    if (ig_dim_known(a, &p) && ig_dim_known(b, &q) && p != q) {
        ig_expr_fail(e, IG_INVALID, "extents %lld and %lld do not broadcast",
                     (long long)p, (long long)q);
        return false;
    }
    if (ig_dim_equal(e->module, a, b) != IG_YES) {
        guard_pair(e, a, b, no_broadcast);
        *out_joined = ig_dim_bcast(e->module, a, b);
    }
    return true;
}

bool ig_expr_broadcast_dims(ig_expr *e, const ig_type *type, ig_dim *dims,
                            uint32_t *rank) {
    uint32_t wide = *rank > type->rank ? *rank : type->rank;
    ig_dim joined[IG_TENSOR_RANK], one = ig_dim_of(1);
    assert(wide <= IG_TENSOR_RANK && "broadcast dims are those of tensors");
    for (uint32_t i = 0; i < wide; i++) {
        ig_dim a = i + *rank < wide ? one : dims[i + *rank - wide];
        ig_dim b = i + type->rank < wide ? one : type->dims[i + type->rank - wide];
        if (!join_extents(e, a, b, &joined[i])) {
            return false;
        }
    }
    memcpy(dims, joined, wide * sizeof(*dims));
    *rank = wide;
    return true;
}

ig_dim ig_expr_symbol(ig_expr *e, const char *name, const char *origin) {
    ig_dim dim = ig_dim_symbol(e->module, name);
    ig_symbol *symbol = ig_dim_as_symbol(e->module, dim);
    symbol->origin = ig_module_string(e->module, ig_str_of(explain_failure(e, origin)));
    return dim;
}

void ig_expr_bind_dims(ig_expr *e, ig_value *vector, uint32_t count, const char *origin,
                       ig_dim *dims) {
    ig_dim length = ig_dim_of(count);
    for (uint32_t i = 0; i < count; i++) {
        dims[i] = ig_expr_symbol(e, "n", origin);
    }
    vector = ig_expr_reshape(e, vector, 1, &length);
    if (vector && count) {
        ig_bind_attrs attrs = { .symbols = { dims, count } };
        (void)ig_build_bind(e, vector, attrs);
    }
}
