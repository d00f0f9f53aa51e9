/* resolve_shapes: extents that the model computes become symbols bound during the run.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = tile %x, %r : f32[n, n2]
 *   becomes
 *     %s = measure %d, %r {function = "tile_bounds", params = [2]} : i64[4]
 *     bind %s {symbols = [by, by2, n, n2]}
 *     %2 = reshape %x {to = [1, A, 1, B]} : f32[1, A, 1, B]
 *     %3 = expand %2 {to = [by, A, by2, B]} : f32[by, A, by2, B]
 *     %4 = reshape %3 {to = [n, n2]} : f32[n, n2]
 *
 * Ops in operand form (slice, pad, tile, reshape, expand, a reduction with computed
 * axes, range) become the form by attributes, over symbols.  A host function, which
 * checks the data, finds the values; bind gives them to the symbols from there on.  So
 * every schedule sees symbolic extents only.
 *
 * An extent of the result that is known already keeps its expression; the value found
 * for it is not used.
 *
 * Needs the tensor stage.  Keeps values and types.
 */
#include "passes/place/resolve.h"

#include "ir/text/text.h"

#include <assert.h>
#include <string.h>

/* ---- values from host functions ---- */

static ig_value *as_i64(ig_resolver *m, uint32_t operand) {
    return ig_expr_cast(&m->e, ig_op_operand(m->op, operand), IG_DT_i64);
}

static ig_value *extents_of(ig_resolver *m, const ig_value *x) {
    return ig_expr_dims(&m->e, x->type->dims, x->type->rank);
}

/* first, first + step … as an i64 vector of `count`. */
static ig_value *make_integers(ig_resolver *m, ig_dim count, int64_t first,
                               int64_t step) {
    assert(ig_dim_is_static(count) && "a list of known length");
    uint32_t length = (uint32_t)ig_dim_value(count);
    ig_dim *dims = IG_NEW_ARRAY(m->run->scratch, ig_dim, length);
    for (uint32_t i = 0; i < length; i++) {
        dims[i] = ig_dim_const(m->module, first + i * step);
    }
    return ig_expr_dims(&m->e, dims, length);
}

/* A host function and how many values it finds. */
typedef struct shape_query {
    const char *function;
    uint32_t found, param_count;
    const ig_dim *params;
} shape_query;

/* Entries that are there for sure: an axis is named once at most, so no more than the
 * rank are read, and the host function checks how many there are. */
static ig_dim count_entries(ig_dim count, uint32_t rank) {
    return ig_dim_is_static(count) ? count : ig_dim_of(rank);
}

static ig_value *make_measure(ig_resolver *m, const shape_query *query,
                              ig_value *const *operands, uint32_t operand_count) {
    assert(query->found > 0 && "a host function finds values");
    ig_dim count = ig_dim_of(query->found);
    const ig_type *type = ig_type_tensor(m->module, IG_DT_i64, 1, &count);
    ig_op_spec spec = { .operands = operands,
                        .operand_count = operand_count,
                        .result_types = &type,
                        .result_count = 1 };
    ig_measure_attrs attrs = { .function = query->function,
                               .params = { query->params, query->param_count } };
    m->run->changed = true;
    return ig_build_measure_op(&m->e, &spec, attrs)->results;
}

void ig_resolver_bind(ig_resolver *m, ig_value *found, const ig_dim *symbols,
                      uint32_t count) {
    assert(found->type->rank == 1 && found->type->dtype == IG_DT_i64 &&
           "values of symbols are an i64 vector");
    assert(count > 0 && "a bind gives symbols values");
    (void)ig_build_bind(&m->e, found, (ig_bind_attrs){ .symbols = { symbols, count } });
}

static ig_dim new_symbol(ig_resolver *m, const char *name, int64_t min) {
    ig_dim dim = ig_dim_symbol(m->module, name);
    ig_dim_as_symbol(m->module, dim)->min = min;
    ig_dim_as_symbol(m->module, dim)->origin = "a number that the model computes";
    return dim;
}

static bool is_known(const ig_resolver *m, uint32_t symbol) {
    return ig_map_get_id(&m->known, symbol) != NULL ||
           ig_symbol_is_defined(ig_symbol_at(m->module, symbol));
}

static void note_known(void *user, uint32_t symbol) {
    ig_resolver *m = user;
    ig_map_set_id(&m->known, symbol, m);
}

static void know_dims(ig_resolver *m, const ig_dim *dims, uint32_t count) {
    for (uint32_t d = 0; d < count; d++) {
        ig_dim_visit_symbols(m->module, dims[d], note_known, m);
    }
}

ig_dim ig_resolver_extent(ig_resolver *m, uint32_t result, uint32_t d) {
    assert(result < m->op->result_count && "a result of the op");
    assert(d < m->op->results[result].type->rank && "an axis of the result");
    ig_dim dim = m->op->results[result].type->dims[d];
    ig_symbol *symbol = ig_dim_as_symbol(m->module, dim);
    if (!symbol || is_known(m, ig_symbol_index(m->module, dim))) {
        return new_symbol(m, "extent", 0);
    }
    symbol->origin = symbol->origin ? symbol->origin
                                    : "an extent that the model computes";
    return dim;
}

/* The symbol that extent `d` of the first result is and that has no value yet, or one
 * that is not read. */
static ig_dim extent_symbol(ig_resolver *m, uint32_t d) {
    return ig_resolver_extent(m, 0, d);
}

static ig_value *take_element(ig_resolver *m, ig_value *vector, int64_t index) {
    assert(vector->type->rank == 1 && index >= 0 && "an element of a vector");
    ig_dim start = ig_dim_of(index), size = ig_dim_of(1);
    ig_value *one = ig_expr_slice(&m->e, vector, 0, start, size, 1);
    return ig_expr_reshape(&m->e, one, 0, NULL);
}

void ig_resolver_replace(ig_resolver *m, uint32_t result, ig_value *value) {
    assert(result < m->op->result_count && "a result of the op");
    ig_value *old = &m->op->results[result];
    const ig_type *type = old->type;
    if (value->type != type) {
        ig_dims to = { type->dims, type->rank };
        value = ig_build_reshape(&m->e, value, NULL, (ig_reshape_attrs){ .to = to });
    }
    value->name = old->name;
    ig_value_replace(old, value);
    m->run->changed = true;
}

/* The only result. */
static void finish_op(ig_resolver *m, ig_value *value) {
    ig_resolver_replace(m, 0, value);
    ig_op_erase(m->op);
}

/* ---- tile ---- */

/* To extents that were found, so no broadcast is left open. */
static ig_value *make_expand(ig_resolver *m, ig_value *x, const ig_type *type) {
    ig_op_spec spec = {
        .operands = &x, .operand_count = 1, .result_types = &type, .result_count = 1
    };
    ig_expand_attrs attrs = { .to = { type->dims, type->rank } };
    return ig_build_expand_op(&m->e, &spec, attrs)->results;
}

static ig_status resolve_tile(ig_resolver *m) {
    ig_value *x = m->op->operands[0].value;
    const ig_type *type = x->type;
    uint32_t rank = type->rank;
    ig_dim symbols[2 * IG_TENSOR_RANK], ones[2 * IG_TENSOR_RANK];
    ig_dim wide[2 * IG_TENSOR_RANK], params[1] = { ig_dim_of(rank) };
    if (rank == 0) {
        finish_op(m, x);
        return IG_OK;
    }
    ig_value *operands[] = { extents_of(m, x), as_i64(m, 1) };
    ig_value *found = make_measure(
        m, &(shape_query){ "tile_bounds", 2 * rank, 1, params }, operands, 2);
    for (uint32_t d = 0; d < rank; d++) {
        symbols[d] = new_symbol(m, "repeat", 0);
        symbols[rank + d] = extent_symbol(m, d);
        ones[2 * d] = ig_dim_of(1);
        wide[2 * d] = symbols[d];
        ones[2 * d + 1] = wide[2 * d + 1] = type->dims[d];
    }
    ig_resolver_bind(m, found, symbols, 2 * rank);
    ig_value *apart = ig_expr_reshape(&m->e, x, 2 * rank, ones);
    finish_op(
        m, make_expand(m, apart, ig_type_with_dims(m->module, type, 2 * rank, wide)));
    return IG_OK;
}

/* ---- reshape and expand ---- */

static ig_status resolve_shape(ig_resolver *m, const char *function) {
    ig_value *x = m->op->operands[0].value;
    const ig_type *type = m->op->results[0].type;
    ig_dim symbols[IG_TENSOR_RANK];
    ig_dim params[] = { ig_dim_of(x->type->rank),
                        m->op->operands[1].value->type->dims[0] };
    uint32_t rank = type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        symbols[d] = extent_symbol(m, d);
    }
    if (rank) {
        ig_value *operands[] = { extents_of(m, x), as_i64(m, 1) };
        ig_resolver_bind(
            m,
            make_measure(m, &(shape_query){ function, rank, 2, params }, operands, 2),
            symbols, rank);
    }
    ig_reshape_attrs attrs = { .to = { type->dims, rank } };
    finish_op(m, m->op->code == IG_OP_reshape ? ig_build_reshape(&m->e, x, NULL, attrs)
                                              : make_expand(m, x, type));
    return IG_OK;
}

static ig_status resolve_reshape(ig_resolver *m) {
    return resolve_shape(m, "reshape_bounds");
}

static ig_status resolve_expand(ig_resolver *m) {
    return resolve_shape(m, "expand_bounds");
}

/* ---- slice ---- */

/* Steps that are computed too: every axis is gathered by start + i * step. */
static ig_value *gather_axes(ig_resolver *m, ig_value *x, ig_value *found) {
    uint32_t rank = x->type->rank;
    const ig_type *type = m->op->results[0].type;
    for (uint32_t d = 0; d < rank; d++) {
        ig_value *zero = ig_expr_integer(&m->e, IG_DT_i64, 0);
        ig_value *one = ig_expr_integer(&m->e, IG_DT_i64, 1);
        ig_value *size = ig_expr_dims(&m->e, &type->dims[d], 1);
        ig_value *range = ig_build_range(&m->e, zero,
                                         ig_expr_reshape(&m->e, size, 0, NULL), one);
        ig_value *at = ig_build_mul(&m->e, range,
                                    take_element(m, found, 2 * (int64_t)rank + d));
        at = ig_build_add(&m->e, at, take_element(m, found, d));
        x = ig_expr_gather(&m->e, x, at, d, IG_NEGATIVE_error);
    }
    return x;
}

static ig_value *slice_by_symbols(ig_resolver *m, ig_value *x, const ig_dim *starts) {
    const ig_type *type = m->op->results[0].type;
    return ig_expr_slices(&m->e, x, starts, type->dims, NULL);
}

static ig_status resolve_slice(ig_resolver *m) {
    ig_op *op = m->op;
    ig_value *x = op->operands[0].value;
    uint32_t rank = x->type->rank;
    ig_dim count = op->operands[1].value->type->dims[0];
    ig_dim params[] = { ig_dim_of(rank), count }, symbols[2 * IG_TENSOR_RANK];
    if (rank == 0) {
        return IG_OK;
    }
    bool has_steps = op->operand_count > 4;
    ig_value *operands[] = {
        extents_of(m, x), as_i64(m, 1), as_i64(m, 2),
        op->operand_count > 3 ? as_i64(m, 3)
                              : make_integers(m, count_entries(count, rank), 0, 1),
        has_steps ? as_i64(m, 4) : make_integers(m, count_entries(count, rank), 1, 0)
    };
    ig_value *found = make_measure(
        m, &(shape_query){ "slice_bounds", 3 * rank, 2, params }, operands, 5);
    for (uint32_t d = 0; d < rank; d++) {
        symbols[d] = new_symbol(m, "start", 0);
        symbols[rank + d] = extent_symbol(m, d);
    }
    ig_resolver_bind(m, found, symbols, 2 * rank);
    finish_op(m,
              has_steps ? gather_axes(m, x, found) : slice_by_symbols(m, x, symbols));
    return IG_OK;
}

/* ---- pad ---- */

static ig_status resolve_pad(ig_resolver *m) {
    ig_op *op = m->op;
    ig_value *x = op->operands[0].value;
    uint32_t rank = x->type->rank;
    bool has_axes = op->operand_count > 3;
    ig_dim count = has_axes ? op->operands[3].value->type->dims[0] : ig_dim_of(rank);
    ig_dim params[] = { ig_dim_of(rank), count,
                        ig_dim_of(ig_attr_int(op, IG_pad_mode, 0) != IG_PAD_constant) };
    ig_dim symbols[3 * IG_TENSOR_RANK];
    if (rank == 0) {
        return IG_OK;
    }
    ig_value *operands[] = { extents_of(m, x), as_i64(m, 1),
                             has_axes
                                 ? as_i64(m, 3)
                                 : make_integers(m, count_entries(count, rank), 0, 1) };
    ig_value *found = make_measure(
        m, &(shape_query){ "pad_bounds", 3 * rank, 3, params }, operands, 3);
    for (uint32_t d = 0; d < rank; d++) {
        symbols[d] = new_symbol(m, "before", INT64_MIN / 2);
        symbols[rank + d] = new_symbol(m, "after", INT64_MIN / 2);
        symbols[2 * rank + d] = extent_symbol(m, d);
    }
    ig_resolver_bind(m, found, symbols, 3 * rank);
    ig_pad_attrs attrs = { .before = { symbols, rank },
                           .after = { symbols + rank, rank },
                           .mode = ig_pad_attrs_of(op).mode };
    ig_value *inputs[] = { x, ig_op_operand(op, 2) };
    ig_op_spec spec = { .operands = inputs,
                        .operand_count = inputs[1] ? 2 : 1,
                        .result_types = &op->results[0].type,
                        .result_count = 1 };
    finish_op(m, ig_build_pad_op(&m->e, &spec, attrs)->results);
    return IG_OK;
}

/* ---- reductions ---- */

/* There is no axis to be named; attributes say the known facts of the rest. */
static ig_status resolve_reduce_of_scalar(ig_resolver *m) {
    ig_op *op = m->op;
    ig_dim none = ig_dim_of(0), count = op->operands[1].value->type->dims[0];
    ig_reduce_attrs attrs = ig_reduce_attrs_of(op);
    ig_expr_guard_equal(&m->e, count, none, "an axis of a scalar is not there");
    finish_op(m, ig_build_reduce(&m->e, op->operands[0].value, NULL, attrs));
    return IG_OK;
}

/* Each axis becomes two, one kept and one reduced; the data decides which of them has
 * the extent and which is 1. */
static ig_status resolve_reduce(ig_resolver *m) {
    ig_op *op = m->op;
    ig_value *x = op->operands[0].value;
    uint32_t rank = x->type->rank;
    ig_dim count = op->operands[1].value->type->dims[0];
    int64_t none_is_none = ig_attr_int(op, IG_reduce_noop_if_empty, 0) != 0;
    ig_dim symbols[3 * IG_TENSOR_RANK], apart[2 * IG_TENSOR_RANK];
    int64_t axes[IG_TENSOR_RANK];
    bool keeps = ig_attr_int(op, IG_reduce_keep, 0) != 0;
    ig_dim params[] = { ig_dim_of(rank), count,
                        ig_dim_of(none_is_none + (keeps ? 2 : 0)) };
    if (rank == 0) {
        return resolve_reduce_of_scalar(m);
    }
    ig_value *operands[] = { extents_of(m, x), as_i64(m, 1) };
    uint32_t out_rank = op->results[0].type->rank;
    ig_value *found = make_measure(
        m, &(shape_query){ "reduce_bounds", 3 * rank, 3, params }, operands, 2);
    for (uint32_t d = 0; d < rank; d++) {
        axes[d] = 2 * (int64_t)d + 1;
        apart[2 * d] = symbols[d] = new_symbol(m, "kept", 0);
        apart[2 * d + 1] = symbols[rank + d] = new_symbol(m, "reduced", 0);
    }
    ig_resolver_bind(m, found, symbols, 2 * rank);
    for (uint32_t d = 0; d < out_rank; d++) {
        symbols[d] = extent_symbol(m, d);
    }
    ig_dim first = ig_dim_of(keeps ? 0 : 2 * rank), size = ig_dim_of(out_rank);
    if (out_rank) {
        ig_value *extents = ig_expr_slice(&m->e, found, 0, first, size, 1);
        ig_resolver_bind(m, extents, symbols, out_rank);
    }
    ig_value *pairs = ig_expr_reshape(&m->e, x, 2 * rank, apart);
    ig_reduce_attrs attrs = { .op = (int)ig_attr_int(op, IG_reduce_op, 0),
                              .axes = { axes, rank },
                              .empty_zero = ig_attr_int(op, IG_reduce_empty_zero, 0) !=
                                            0 };
    finish_op(m, ig_build_reduce(&m->e, pairs, NULL, attrs));
    return IG_OK;
}

/* ---- range ---- */

static ig_status resolve_range(ig_resolver *m) {
    ig_op *op = m->op;
    ig_dtype dtype = (ig_dtype)op->operands[0].value->type->dtype;
    bool is_real = ig_dtype_is_float(dtype);
    ig_dim symbol = extent_symbol(m, 0);
    if (!ig_dim_same(symbol, op->results[0].type->dims[0])) {
        return IG_OK; /* its size is known */
    }
    ig_value *operands[3];
    for (uint32_t i = 0; i < 3; i++) {
        operands[i] = ig_expr_cast(&m->e, op->operands[i].value,
                                   is_real ? IG_DT_f64 : IG_DT_i64);
    }
    const char *function = is_real ? "range_count_real" : "range_count";
    ig_resolver_bind(
        m, make_measure(m, &(shape_query){ function, 1, 0, NULL }, operands, 3),
        &symbol, 1);
    return IG_OK; /* the op itself stays */
}

/* ---- padded_to_jagged ---- */

/* As many rows as a range up to the number has elements. */
static ig_status resolve_rows(ig_resolver *m) {
    ig_op *op = m->op;
    ig_dim rows = op->results[0].type->dims[0];
    ig_dim bound = extent_symbol(m, 0);
    if (ig_dim_same(bound, rows)) {
        ig_value *operands[] = { ig_expr_integer(&m->e, IG_DT_i64, 0),
                                 op->operands[2].value,
                                 ig_expr_integer(&m->e, IG_DT_i64, 1) };
        const shape_query query = { "range_count", 1, 0, NULL };
        ig_resolver_bind(m, make_measure(m, &query, operands, 3), &bound, 1);
    }
    ig_padded_to_jagged_attrs attrs = { .rows = (ig_maybe_dim)IG_SET(rows) };
    finish_op(m, ig_build_padded_to_jagged(&m->e, op->operands[0].value,
                                           op->operands[1].value, NULL, attrs));
    return IG_OK;
}

/* ---- texts ---- */

/* How many parts or texts there are; the op itself stays. */
static ig_status resolve_texts(ig_resolver *m, const shape_query *query) {
    uint32_t count = m->op->operand_count;
    ig_value *operands[3];
    assert(count <= IG_COUNT_OF(operands) && "room for all operands");
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = m->op->operands[i].value;
    }
    uint32_t last = m->op->results[0].type->rank - 1;
    ig_dim symbol = extent_symbol(m, last);
    if (ig_dim_same(symbol, m->op->results[0].type->dims[last])) {
        ig_resolver_bind(m, make_measure(m, query, operands, count), &symbol, 1);
    }
    return IG_OK;
}

static ig_status resolve_text_split(ig_resolver *m) {
    ig_dim params[] = { ig_type_count(m->module, m->op->operands[0].value->type),
                        ig_dim_const(m->module,
                                     ig_attr_int(m->op, IG_text_split_max, -1)) };
    return resolve_texts(m, &(shape_query){ "text_split_count", 1, 2, params });
}

static ig_status resolve_text_clean(ig_resolver *m) {
    const ig_type *x = m->op->operands[0].value->type;
    if (x->rank == 2) {
        ig_guard_attrs check = { .left = x->dims[0],
                                 .right = ig_dim_of(1),
                                 .message = "texts are cleaned in one row" };
        ig_build_guard(&m->e, check);
    }
    ig_dim params[] = { ig_type_count(m->module, x),
                        ig_dim_of(ig_attr_int(m->op, IG_text_clean_insensitive, 0)) };
    return resolve_texts(m, &(shape_query){ "text_clean_count", 1, 2, params });
}

/* ---- images ---- */

/* The head of the file tells height and width; the op itself stays. */
static ig_status resolve_image(ig_resolver *m) {
    ig_value *file = m->op->operands[0].value;
    ig_dim params[] = { ig_type_count(m->module, file->type) };
    shape_query query = { "image_extents", 2, 1, params };
    ig_dim symbols[] = { extent_symbol(m, 0), extent_symbol(m, 1) };
    ig_resolver_bind(m, make_measure(m, &query, &file, 1), symbols, 2);
    return IG_OK;
}

/* ---- the walk ---- */

static bool has_operand(const ig_op *op, uint32_t slot) {
    return op->operand_count > 1 && !ig_attr_is_set(op, slot);
}

typedef struct resolution {
    ig_opcode code;
    uint32_t slot; /* the attribute of the other form, or NONE */
    ig_status (*fn)(ig_resolver *m);
} resolution;

#define NONE UINT32_MAX

static const resolution rows[] = {
    { IG_OP_tile, NONE, resolve_tile },
    { IG_OP_reshape, IG_reshape_to, resolve_reshape },
    { IG_OP_expand, IG_expand_to, resolve_expand },
    { IG_OP_slice, IG_slice_starts, resolve_slice },
    { IG_OP_pad, IG_pad_before, resolve_pad },
    { IG_OP_reduce, IG_reduce_axes, resolve_reduce },
    { IG_OP_range, NONE, resolve_range },
    { IG_OP_topk, IG_topk_k, ig_resolve_topk },
    { IG_OP_padded_to_jagged, IG_padded_to_jagged_rows, resolve_rows },
    { IG_OP_nonzero, NONE, ig_resolve_nonzero },
    { IG_OP_unique, NONE, ig_resolve_unique },
    { IG_OP_custom, NONE, ig_resolve_custom },
    { IG_OP_text_split, NONE, resolve_text_split },
    { IG_OP_text_clean, NONE, resolve_text_clean },
    { IG_OP_image_decode, NONE, resolve_image },
    { IG_OP_bag_ids, NONE, ig_resolve_bag_ids },
    { IG_OP_deal, NONE, ig_resolve_deal },
    { IG_OP_all_to_all, NONE, ig_resolve_all_to_all },
    { IG_OP_reduce_scatter, NONE, ig_resolve_reduce_scatter },
};

typedef struct search {
    const ig_resolver *m;
    bool is_missing;
} search;

static void check_symbol(void *user, uint32_t symbol) {
    search *s = user;
    s->is_missing = s->is_missing || !is_known(s->m, symbol);
}

/* Branches and loops give extents of their results values when they become steps. */
static bool sets_own_extents(const ig_op *op) {
    return op->code == IG_OP_if || op->code == IG_OP_loop;
}

/* Extents that nothing has given a value cannot be compiled. */
static ig_status check_known(ig_resolver *m, const ig_op *op) {
    search s = { .m = m };
    for (uint32_t i = 0; sets_own_extents(op) && i < op->result_count; i++) {
        know_dims(m, op->results[i].type->dims, op->results[i].type->rank);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        for (uint32_t d = 0; d < type->rank; d++) {
            ig_dim_visit_symbols(m->module, type->dims[d], check_symbol, &s);
        }
    }
    return s.is_missing
               ? ig_error_hint(
                     &m->module->context->diag, IG_UNSUPPORTED, ig_op_location(op),
                     "run it with --target interpret, or report the model",
                     "'%s' cannot be compiled yet where the size of its result depends on data",
                     ig_ops[op->code].name)
               : IG_OK;
}

static ig_status resolve_op(ig_resolver *m, ig_op *op) {
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (rows[i].code == op->code &&
            (rows[i].slot == NONE || has_operand(op, rows[i].slot))) {
            m->b = ig_builder_before(op);
            m->op = op;
            return rows[i].fn(m);
        }
    }
    return IG_OK;
}

/* The ops from `from` up to `end` use only symbols that have a value. */
static ig_status check_made(ig_resolver *m, ig_op *from, const ig_op *end) {
    for (const ig_op *op = from; op && op != end; op = op->next) {
        if (op->code == IG_OP_bind) {
            const ig_attr *symbols = &op->attrs[IG_bind_symbols];
            know_dims(m, symbols->as.dims, symbols->count);
        }
        IG_TRY(check_known(m, op));
    }
    return IG_OK;
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static ig_status resolve_block(ig_resolver *m, ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        know_dims(m, block->args[i]->type->dims, block->args[i]->type->rank);
    }
    for (ig_op *op = block->first, *next; op; op = next) {
        ig_op *before = op->prev;
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(resolve_block(m, op->bodies[i]));
        }
        IG_TRY(resolve_op(m, op));
        IG_TRY(check_made(m, before ? before->next : block->first, next));
    }
    return IG_OK;
}

ig_status ig_pass_resolve_shapes(ig_pass_run *run, ig_graph *graph) {
    ig_resolver m = { .run = run,
                      .module = graph->module,
                      .b = ig_builder_at_end(&graph->body) };
    m.e = ig_expr_of(&m.b);
    ig_map_init(&m.known, run->scratch);
    return resolve_block(&m, &graph->body);
}
