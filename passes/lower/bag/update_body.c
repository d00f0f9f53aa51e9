/* The body of an update, emitted for one row.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %n = reduce %g {op = sumsq, …} : [1, 1]     one number of the row
 *     %m = add %state, %n            : [1, 1]     another one
 *     %d = mul %g, (div %rate, %m)   : [1, D]     columns
 *     yield (sub %w, %d), %m
 *
 * Values of one element are computed once a row, in the order of the body; those that
 * depend on nothing of the row once a call.  Columns are computed where they are
 * needed, by a reduction or by the results: a row of few vectors keeps them from one
 * to the next (a map of values a vector), a longer one goes over its columns again.
 * The order of a sum depends on the row's length and the level alone.
 */
#include "passes/lower/bag/update.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_OPS = 256 };

/* Values of one row while its code is emitted. */
typedef struct row_values {
    const update_body *u;
    const update_row *row;
    ig_builder *b;
    ig_map single;                  /* of one element: scalars */
    ig_map columns[UPDATE_VECTORS]; /* of each vector */
} row_values;

static bool has_one_element(const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_is(type->dims[d], 1)) {
            return false;
        }
    }
    return true;
}

static const ig_value *single_view(const ig_op *op) {
    bool is_view = op->code == IG_OP_reshape || op->code == IG_OP_expand;
    return is_view ? op->operands[0].value : NULL;
}

static ig_value *known_in(const ig_map *map, const ig_value *value) {
    return ig_map_get_id(map, IG_MAP_PTR(value));
}

static void set_in(ig_map *map, const ig_value *value, ig_value *known) {
    ig_map_set_id(map, IG_MAP_PTR(value), known);
}

/* ---- ops of a body ---- */

static bool is_reduced(const update_body *u, const ig_op *op) {
    ig_reduce kind = (ig_reduce)ig_attr_int(op, IG_reduce_op, 0);
    const ig_type *x = op->operands[0].value->type;
    bool is_known = kind == IG_REDUCE_sum || kind == IG_REDUCE_mean ||
                    kind == IG_REDUCE_sumsq || kind == IG_REDUCE_l2 ||
                    kind == IG_REDUCE_max || kind == IG_REDUCE_min;
    return is_known && op->operand_count == 1 && x->dtype == u->dtype &&
           has_one_element(op->results->type);
}

/* Divisors of integers are reported where they are 0, which nothing is here. */
static bool is_elementwise(const ig_op *op) {
    bool divides = op->code == IG_OP_div || op->code == IG_OP_mod;
    return (ig_ops[op->code].traits & IG_MAP) &&
           !(divides && ig_dtype_is_int((ig_dtype)op->results->type->dtype));
}

/* Constants of many elements are of one number. */
static bool are_constants_plain(const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *x = op->operands[i].value;
        const ig_data *data = ig_def(x, IG_OP_const) ? ig_constant_of(x) : NULL;
        if (data && !data->is_splat && !has_one_element(x->type)) {
            return false;
        }
    }
    return true;
}

static bool may_hold(const update_body *u, const ig_op *op) {
    if (!are_constants_plain(op)) {
        return false;
    }
    const ig_value *seen = op->operand_count ? single_view(op) : NULL;
    if (seen) {
        return has_one_element(seen->type) && has_one_element(op->results->type);
    }
    return op->code == IG_OP_const || op->code == IG_OP_yield || is_elementwise(op) ||
           (op->code == IG_OP_reduce && is_reduced(u, op));
}

ig_status update_body_open(ig_lower *lower, const ig_op *op, update_body *out) {
    update_body *u = out;
    const ig_type *weight = op->operands[0].value->type;
    *u = (update_body){ .lower = lower,
                        .op = op,
                        .block = op->bodies[0],
                        .states = ig_bag_update_states(op),
                        .dtype = (ig_dtype)weight->dtype };
    ig_map_init(&u->shared, lower->arena);
    if (!ig_dim_constant(lower->module, weight->dims[1], &u->dim) || u->dim <= 0) {
        return ig_lower_unsupported(lower, "a table whose rows' length is not known");
    }
    uint32_t count = 0;
    for (const ig_op *inner = u->block->first; inner; inner = inner->next) {
        if (++count > MAX_OPS || !may_hold(u, inner)) {
            return ig_lower_unsupported(lower, "an update by such an op");
        }
    }
    for (uint32_t i = 0; i <= u->states; i++) {
        u->is_single[i] = has_one_element(u->block->args[i + (i > 0)]->type);
    }
    u->lanes = u->dim > 1 ? ig_lower_lanes(lower, u->dtype) : 1;
    u->vectors = (uint32_t)((u->dim + u->lanes - 1) / u->lanes);
    bool are_many = u->vectors > UPDATE_VECTORS;
    u->memory = are_many
                    ? k_local(lower->kernel, u->dtype, (int64_t)u->vectors * u->lanes)
                    : NULL;
    return IG_OK;
}

ig_value *update_lanes_at(const update_body *u, ig_builder *b, ig_value *column) {
    return u->dim % u->lanes == 0
               ? NULL
               : k_min(b, k_sub(b, k_i64(b, u->dim), column), k_i64(b, u->lanes));
}

/* ---- values of one element ---- */

static ig_value *value_at(const update_body *u, ig_builder *b, uint32_t lanes,
                          ig_map *known, const ig_value *value) {
    ig_site site = { .b = b, .lanes = lanes, .values = known };
    return ig_lower_value(u->lower, &site, value);
}

/* Is it computed from scalars of the call alone? */
static bool depends_on_call(const update_body *u, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *x = op->operands[i].value;
        if (!ig_def(x, IG_OP_const) && !known_in(&u->shared, x)) {
            return false;
        }
    }
    return op->operand_count > 0 && op->result_count == 1 &&
           has_one_element(op->results->type) && op->code != IG_OP_reduce;
}

/* An op of scalars; `known` has its operands, and takes its result. */
static void emit_single(const update_body *u, ig_builder *b, ig_map *known,
                        const ig_op *op) {
    const ig_value *seen = single_view(op);
    ig_value *x = value_at(u, b, 1, known, seen ? seen : op->results);
    set_in(known, op->results, x);
}

void update_body_share(update_body *u, ig_builder *b) {
    uint32_t first = ig_bag_update_scalars(u->op), own = 2 + u->states;
    for (uint32_t i = own; i < u->block->arg_count; i++) {
        const ig_lower_operand *in = ig_lower_input(u->lower, u->op, first + i - own);
        assert(in && "scalars are inputs of the region");
        set_in(&u->shared, u->block->args[i], k_load(b, in->buffer, k_i64(b, 0), 1));
    }
    for (const ig_op *op = u->block->first; op; op = op->next) {
        if (depends_on_call(u, op)) {
            emit_single(u, b, &u->shared, op);
        }
    }
}

/* ---- columns ---- */

static ig_value *load_column(const row_values *r, ig_builder *b, uint32_t index,
                             ig_value *column) {
    const update_body *u = r->u;
    ig_value *position = k_add(b, r->row->starts[index], column);
    return k_load_count(b, r->row->buffers[index], position, u->lanes,
                        update_lanes_at(u, b, column));
}

/* A vector of columns begins with the weight, the states and `sum`, that of its
 * gradients. */
static void start_columns(const row_values *r, ig_builder *b, ig_value *column,
                          ig_value *sum, ig_map *out) {
    const update_body *u = r->u;
    ig_map_init(out, u->lower->arena);
    set_in(out, u->block->args[1], sum);
    for (uint32_t i = 0; i <= u->states; i++) {
        if (!u->is_single[i]) {
            set_in(out, u->block->args[i + (i > 0)], load_column(r, b, i, column));
        }
    }
}

/* The row's scalars, in every lane. */
static void spread_singles(const row_values *r, ig_builder *b, ig_map *columns) {
    const update_body *u = r->u;
    for (uint32_t i = 0; i < u->block->arg_count; i++) {
        const ig_value *arg = u->block->args[i];
        ig_value *known = known_in(&r->single, arg);
        if (known && !known_in(columns, arg)) {
            set_in(columns, arg, k_splat(b, known, u->lanes));
        }
    }
    for (const ig_op *op = u->block->first; op; op = op->next) {
        ig_value *known = op->result_count ? known_in(&r->single, op->results) : NULL;
        if (known && !known_in(columns, op->results)) {
            set_in(columns, op->results, k_splat(b, known, u->lanes));
        }
    }
}

static ig_value *column_value(const row_values *r, ig_builder *b, ig_map *columns,
                              const ig_value *value) {
    spread_singles(r, b, columns);
    return value_at(r->u, b, r->u->lanes, columns, value);
}

/* Does something for each vector of columns, here and now or in a loop. */
typedef struct column_walk {
    k_loop loop;
    ig_map columns; /* in a loop */
    ig_value *column;
} column_walk;

static ig_map *enter_columns(row_values *r, column_walk *walk, ig_value *carried) {
    const update_body *u = r->u;
    ig_builder *b = r->b;
    ig_value *last = k_i64(b, u->dim), *step = k_i64(b, u->lanes);
    walk->loop = k_loop_open(b, k_i64(b, 0), last, step, &carried, carried ? 1 : 0);
    walk->column = walk->loop.index;
    ig_value *sum = k_load(&walk->loop.b, u->memory, walk->column, u->lanes);
    start_columns(r, &walk->loop.b, walk->column, sum, &walk->columns);
    return &walk->columns;
}

/* ---- reductions ---- */

static ig_reduce kind_of(const ig_op *reduce) {
    return (ig_reduce)ig_attr_int(reduce, IG_reduce_op, 0);
}

static bool is_extreme(ig_reduce kind) {
    return kind == IG_REDUCE_max || kind == IG_REDUCE_min;
}

static ig_value *start_of(const update_body *u, ig_builder *b, ig_reduce kind,
                          uint32_t lanes) {
    double infinite = kind == IG_REDUCE_max ? -(double)INFINITY : (double)INFINITY;
    return k_const_vector(b, u->dtype, lanes, is_extreme(kind) ? infinite : 0);
}

static ig_value *combine_values(ig_builder *b, ig_reduce kind, ig_value *sum,
                                ig_value *x) {
    if (is_extreme(kind)) {
        return k_binary(b, kind == IG_REDUCE_max ? IG_OP_max : IG_OP_min, sum, x);
    }
    bool is_square = kind == IG_REDUCE_sumsq || kind == IG_REDUCE_l2;
    return k_add(b, sum, is_square ? k_mul(b, x, x) : x);
}

/* Lanes beyond the row stay as they were. */
static ig_value *add_columns(const row_values *r, ig_builder *b, ig_reduce kind,
                             ig_value *sum, ig_value *x, ig_value *column) {
    const update_body *u = r->u;
    ig_value *next = combine_values(b, kind, sum, x);
    ig_value *count = update_lanes_at(u, b, column);
    if (!count) {
        return next;
    }
    ig_value *lane = k_iota(b, u->lanes);
    ig_value *is_meant = k_compare(b, IG_OP_lt, lane, k_splat(b, count, u->lanes));
    return k_where(b, is_meant, next, sum);
}

static ig_value *sum_in_loop(row_values *r, const ig_op *op) {
    ig_reduce kind = kind_of(op);
    column_walk walk;
    ig_map *columns = enter_columns(r, &walk, start_of(r->u, r->b, kind, r->u->lanes));
    ig_builder *in = &walk.loop.b;
    ig_value *x = column_value(r, in, columns, op->operands[0].value);
    ig_value *next = add_columns(r, in, kind, walk.loop.carried[0], x, walk.column);
    k_loop_close(&walk.loop, &next, 1);
    return walk.loop.results[0];
}

static ig_value *sum_at_once(row_values *r, const ig_op *op) {
    const update_body *u = r->u;
    ig_reduce kind = kind_of(op);
    ig_value *sum = start_of(u, r->b, kind, u->lanes);
    for (uint32_t v = 0; v < u->vectors; v++) {
        ig_value *x = column_value(r, r->b, &r->columns[v], op->operands[0].value);
        ig_value *column = k_i64(r->b, (int64_t)v * u->lanes);
        sum = add_columns(r, r->b, kind, sum, x, column);
    }
    return sum;
}

static ig_value *sum_single(row_values *r, const ig_op *op) {
    ig_value *x = value_at(r->u, r->b, 1, &r->single, op->operands[0].value);
    return combine_values(r->b, kind_of(op), start_of(r->u, r->b, kind_of(op), 1), x);
}

static void emit_reduce(row_values *r, const ig_op *op) {
    const update_body *u = r->u;
    ig_builder *b = r->b;
    ig_reduce kind = kind_of(op);
    bool is_row = !has_one_element(op->operands[0].value->type);
    ig_value *sum = !is_row     ? sum_single(r, op)
                    : u->memory ? sum_in_loop(r, op)
                                : sum_at_once(r, op);
    sum = k_hreduce(b, is_extreme(kind) ? kind : IG_REDUCE_sum, sum);
    if (kind == IG_REDUCE_mean && is_row) {
        sum = k_binary(b, IG_OP_div, sum, k_const(b, u->dtype, (double)u->dim));
    }
    sum = kind == IG_REDUCE_l2 ? k_unary(b, IG_OP_sqrt, sum) : sum;
    set_in(&r->single, op->results, sum);
}

/* ---- a row ---- */

static void store_single(const row_values *r, uint32_t index, ig_value *x) {
    k_store(r->b, x, r->row->buffers[index], r->row->starts[index]);
}

/* All results of a vector, before any is stored: they may read each other's rows. */
static void store_columns(const row_values *r, ig_builder *b, ig_map *columns,
                          ig_value *column) {
    const update_body *u = r->u;
    const ig_op *yield = u->block->last;
    ig_value *next[1 + UPDATE_STATES];
    for (uint32_t i = 0; i <= u->states; i++) {
        next[i] = u->is_single[i]
                      ? NULL
                      : column_value(r, b, columns, yield->operands[i].value);
    }
    for (uint32_t i = 0; i <= u->states; i++) {
        if (next[i]) {
            k_store_count(b, next[i], r->row->buffers[i],
                          k_add(b, r->row->starts[i], column),
                          update_lanes_at(u, b, column));
        }
    }
}

static void store_row(row_values *r) {
    const update_body *u = r->u;
    column_walk walk;
    for (uint32_t v = 0; !u->memory && v < u->vectors; v++) {
        store_columns(r, r->b, &r->columns[v], k_i64(r->b, (int64_t)v * u->lanes));
    }
    if (u->memory) {
        ig_map *columns = enter_columns(r, &walk, NULL);
        store_columns(r, &walk.loop.b, columns, walk.column);
        k_loop_close(&walk.loop, NULL, 0);
    }
    for (uint32_t i = 0; i <= u->states; i++) {
        const ig_value *next = u->block->last->operands[i].value;
        if (u->is_single[i]) {
            store_single(r, i, value_at(u, r->b, 1, &r->single, next));
        }
    }
}

/* The scalars of the call, and each state that is one number a row. */
static void start_singles(row_values *r) {
    const update_body *u = r->u;
    ig_map_init(&r->single, u->lower->arena);
    for (uint32_t i = 0; i < u->block->arg_count; i++) {
        ig_value *known = known_in(&u->shared, u->block->args[i]);
        if (known) {
            set_in(&r->single, u->block->args[i], known);
        }
    }
    for (const ig_op *op = u->block->first; op; op = op->next) {
        ig_value *known = op->result_count ? known_in(&u->shared, op->results) : NULL;
        if (known) {
            set_in(&r->single, op->results, known);
        }
    }
    if (u->dim == 1) {
        set_in(&r->single, u->block->args[1], r->row->sums[0]);
    }
    for (uint32_t i = 0; i <= u->states; i++) {
        if (u->is_single[i]) {
            ig_value *x = k_load(r->b, r->row->buffers[i], r->row->starts[i], 1);
            set_in(&r->single, u->block->args[i + (i > 0)], x);
        }
    }
}

void update_body_emit(const update_body *u, ig_builder *b, const update_row *row) {
    row_values r = { .u = u, .row = row, .b = b };
    start_singles(&r);
    for (uint32_t v = 0; !u->memory && v < u->vectors; v++) {
        ig_value *column = k_i64(b, (int64_t)v * u->lanes);
        start_columns(&r, b, column, row->sums[v], &r.columns[v]);
    }
    for (const ig_op *op = u->block->first; op != u->block->last; op = op->next) {
        bool is_done = op->code == IG_OP_const ||
                       known_in(&r.single, op->results) != NULL;
        if (!is_done && op->code == IG_OP_reduce) {
            emit_reduce(&r, op);
        } else if (!is_done && has_one_element(op->results->type)) {
            emit_single(u, b, &r.single, op);
        }
    }
    store_row(&r);
}
