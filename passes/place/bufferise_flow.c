/* bufferise: branches and loops.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %r, %y = loop %n, %c, %x {scans = 1} (%i, %go, %s: f32[4]) { … yield %c2, %t, %u
 *     }
 *   becomes
 *     a buffer for the condition and one for each carried value, with copies of %c, %x;
 *     a buffer for each scanned value: of as many rows as there are trips where their
 *     number is known, else of one row more each trip, for which the runtime makes room
 *     loop %n, %condition {trip = t} {
 *       …
 *       copies of the yielded values: the condition, carried values, rows number t
 *     }
 *
 * A yielded value in the buffer of a carried one (values may change places)
 * is copied aside first.  The number of trips is counted in memory and then bound to
 * the symbol that the results' extents use.
 *
 * A scanned value's extent that only a trip knows is set by the first, held by others.
 *
 * Carried values may change their extents: each such extent is a symbol of the body,
 * which gets its next value when the trip is over.  Extents of a branch's results that
 * depend on the branch are symbols that the branch sets.
 */
#include "ir/build/expr.h"
#include "passes/place/bufferise.h"

#include <assert.h>

/* ---- ops that the runtime does ---- */

void ig_bufferise_let(ig_builder *b, ig_dim symbol, ig_dim value) {
    ig_expr e = ig_expr_of(b);
    assert(ig_dim_as_symbol(e.module, symbol) && "a symbol is given a value");
    (void)ig_build_let(&e, (ig_let_attrs){ .symbol = symbol, .value = value });
}

void ig_bufferise_bind(ig_builder *b, ig_value *vector, const ig_dim *symbols,
                       uint32_t count) {
    ig_expr e = ig_expr_of(b);
    (void)ig_build_bind(&e, vector, (ig_bind_attrs){ .symbols = { symbols, count } });
}

void ig_bufferise_store_dims(ig_builder *b, ig_value *buffer, const ig_dim *dims,
                             uint32_t count) {
    ig_expr e = ig_expr_of(b);
    ig_store_dims_attrs attrs = { .values = { dims, count } };
    assert(buffer->type->kind == IG_BUFFER && "values are stored into a buffer");
    (void)ig_build_store_dims(&e, buffer, attrs);
}

static ig_dim new_symbol(ig_buffers *s, const char *name) {
    ig_dim dim = ig_dim_symbol(s->module, name);
    ig_dim_as_symbol(s->module, dim)->origin =
        "a number of trips or elements of a loop";
    return dim;
}

/* ---- bodies ---- */

static void move_ops(ig_block *from, ig_block *to) {
    while (from->first != from->last) {
        ig_op_move(from->first, to, NULL);
    }
}

static bool is_tensor(const ig_type *type) {
    return type->kind == IG_TENSOR;
}

/* One byte that the runtime can look at, which may be a view of a [1, 1]. */
static ig_value *load_single(ig_buffers *s, ig_builder *b, ig_value *value) {
    return ig_place_value(b, ig_buffers_place(s, value));
}

static bool is_same(const ig_buffers *s, ig_dim a, ig_dim b) {
    return ig_dim_equal(s->module, a, b) == IG_YES;
}

static bool dims_agree(const ig_buffers *s, const ig_type *a, const ig_type *b) {
    bool agree = a->rank == b->rank;
    for (uint32_t d = 0; agree && d < a->rank; d++) {
        agree = is_same(s, a->dims[d], b->dims[d]);
    }
    return agree;
}

/* ---- if ---- */

/* A symbol whose value is ours to set. */
static bool is_settable(const ig_buffers *s, ig_dim dim) {
    const ig_symbol *symbol = ig_dim_as_symbol(s->module, dim);
    return symbol && !ig_symbol_is_defined(symbol) &&
           !ig_map_get_id(&s->bound, ig_symbol_index(s->module, dim));
}

/* Symbols of the result's type get the extents of the branch's value. */
static void set_extents(ig_buffers *s, ig_builder *b, const ig_type *result,
                        const ig_type *value) {
    for (uint32_t d = 0; d < result->rank; d++) {
        bool is_known = is_same(s, result->dims[d], value->dims[d]);
        if (!is_known && is_settable(s, result->dims[d])) {
            ig_bufferise_let(b, result->dims[d], value->dims[d]);
        }
    }
}

static bool can_set(ig_buffers *s, const ig_type *result, const ig_type *value) {
    for (uint32_t d = 0; d < result->rank; d++) {
        bool is_known = is_same(s, result->dims[d], value->dims[d]);
        if (!is_known && !is_settable(s, result->dims[d])) {
            return false;
        }
    }
    return result->rank == value->rank;
}

static ig_status rewrite_branch(ig_buffers *s, ig_op *op, uint32_t body, ig_block *to,
                                ig_place *const *results) {
    ig_block *from = op->bodies[body];
    IG_TRY(ig_bufferise_block(s, from));
    ig_op *yield = from->last;
    ig_builder b = ig_builder_before(yield);
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value *value = yield->operands[i].value;
        if (!can_set(s, op->results[i].type, value->type)) {
            return ig_buffers_unsupported(op,
                                          " where the extents of its result differ");
        }
        set_extents(s, &b, op->results[i].type, value->type);
        ig_place to_here = *results[i];
        to_here.dims = ig_buffers_place(s, value)->dims;
        ig_buffers_copy(s, &b, ig_buffers_place(s, value), &to_here);
    }
    move_ops(from, to);
    ig_op_erase(yield);
    ig_builder end = ig_builder_at_end(to);
    ig_make_yield(&end, NULL, 0);
    return IG_OK;
}

ig_status ig_bufferise_if(ig_buffers *s, ig_op *op) {
    ig_builder b = ig_builder_before(op);
    ig_place **results = IG_NEW_ARRAY(s->arena, ig_place *, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        if (!is_tensor(type)) {
            return ig_buffers_unsupported(op, " for sequences");
        }
        results[i] = ig_buffers_alloc(s, &b, (ig_dtype)type->dtype, type->rank,
                                      type->dims);
        ig_buffers_set_place(s, &op->results[i], results[i]);
    }
    ig_value *condition = load_single(s, &b, op->operands[0].value);
    ig_expr e = ig_expr_of(&b);
    ig_op_spec spec = { .operands = &condition, .operand_count = 1, .body_count = 2 };
    ig_op *branch = ig_build_if_op(&e, &spec);
    ig_map_set_id(&s->steps, IG_MAP_PTR(branch), branch);
    for (uint32_t body = 0; body < 2; body++) {
        IG_TRY(rewrite_branch(s, op, body, branch->bodies[body], results));
    }
    return IG_OK;
}

/* ---- loop ---- */

typedef struct loop {
    ig_buffers *s;
    ig_op *op, *plan;
    ig_block *body; /* of op */
    uint32_t carried;
    ig_place *condition, *count; /* i64: trips done */
    ig_place **buffers;          /* carried, then scanned */
    ig_dim trip, rows;           /* symbols; rows of scanned values that grow */
    bool grows;
    ig_map local; /* symbols that the body sets */
} loop;

static const ig_type *yielded_type(const loop *l, uint32_t index) {
    return l->body->last->operands[index + 1].value->type;
}

/* ---- extents that only the body knows ---- */

static void note_local(void *user, uint32_t symbol) {
    loop *l = user;
    ig_map_set_id(&l->local, symbol, l);
}

static void note_dims(loop *l, const ig_dim *dims, uint32_t count) {
    for (uint32_t d = 0; d < count; d++) {
        if (ig_dim_as_symbol(l->s->module, dims[d])) {
            note_local(l, ig_symbol_index(l->s->module, dims[d]));
        }
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void find_local(loop *l, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        note_dims(l, block->args[i]->type->dims, block->args[i]->type->rank);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_bind) {
            const ig_attr *symbols = &op->attrs[IG_bind_symbols];
            note_dims(l, symbols->as.dims, symbols->count);
        }
        bool is_flow = op->code == IG_OP_if || op->code == IG_OP_loop;
        for (uint32_t i = 0; is_flow && i < op->result_count; i++) {
            note_dims(l, op->results[i].type->dims, op->results[i].type->rank);
        }
        for (uint32_t i = 0; is_flow && i < op->body_count; i++) {
            find_local(l, op->bodies[i]);
        }
    }
}

typedef struct mention {
    const loop *l;
    bool found;
} mention;

static void note_mention(void *user, uint32_t symbol) {
    mention *m = user;
    m->found = m->found || ig_map_get_id(&m->l->local, symbol);
}

/* May `dim` be another number in another trip? */
static bool mentions_local(const loop *l, ig_dim dim) {
    mention m = { .l = l };
    ig_dim_visit_symbols(l->s->module, dim, note_mention, &m);
    return m.found;
}

/* Is extent `d` of the rows of result `index` one that only a trip knows? */
static bool is_late_extent(const loop *l, uint32_t index, uint32_t d) {
    ig_dim row = yielded_type(l, index)->dims[d];
    ig_dim whole = l->op->results[index].type->dims[d + 1];
    return !is_same(l->s, row, whole) && mentions_local(l, row);
}

/* Scanned values have one shape; a carried extent that changes is a symbol of the
 * body's argument. */
static ig_status check_shapes(const loop *l) {
    for (uint32_t i = 0; i < l->carried; i++) {
        const ig_type *arg = l->body->args[i + 2]->type;
        const ig_type *first = l->op->operands[i + 2].value->type;
        if (!is_tensor(arg)) {
            return ig_buffers_unsupported(l->op, " for sequences");
        }
        if (!can_set(l->s, arg, first) || !can_set(l->s, arg, yielded_type(l, i)) ||
            !can_set(l->s, l->op->results[i].type, yielded_type(l, i))) {
            return ig_buffers_unsupported(l->op, " where extents change in this way");
        }
    }
    for (uint32_t i = l->carried; i < l->op->result_count; i++) {
        const ig_type *row = yielded_type(l, i), *whole = l->op->results[i].type;
        for (uint32_t d = 0; d < row->rank; d++) {
            if (!is_same(l->s, row->dims[d], whole->dims[d + 1]) &&
                !is_settable(l->s, whole->dims[d + 1])) {
                return ig_buffers_unsupported(
                    l->op, " where the shape of a scanned value is not known before");
            }
        }
    }
    return IG_OK;
}

enum { MAX_EARLY_BYTES = 1 << 16 };

/* Rows of a scanned value of fewer bytes than this are there before the first trip. */
static bool is_small(const loop *l, ig_dim max, uint32_t index) {
    const ig_type *row = yielded_type(l, index);
    ig_dim count = ig_dim_mul(l->s->module, max,
                              ig_dim_product(l->s->module, row->dims, row->rank));
    int64_t bytes;
    return ig_dim_is_static(count) &&
           ig_dtype_bytes((ig_dtype)row->dtype, ig_dim_value(count), &bytes) &&
           bytes <= MAX_EARLY_BYTES;
}

/* Rows that the buffer of a scanned value has before the loop.  A trip count is a
 * maximum, and may be as large as i64 holds: where the loop may end before, rows are
 * added as trips are made. */
static ig_dim early_rows(loop *l, ig_builder *b, uint32_t index) {
    ig_dim trips = l->op->results[index].type->dims[0];
    ig_dims_value known;
    bool has_max = ig_value_dims(l->op->operands[0].value, &known) && known.count == 1;
    if (!is_settable(l->s, trips) || (has_max && is_same(l->s, known.dims[0], trips))) {
        return trips;
    }
    if (has_max && is_small(l, known.dims[0], index)) {
        return known.dims[0];
    }
    if (!l->grows) {
        l->grows = true;
        l->rows = new_symbol(l->s, "rows");
        ig_bufferise_let(b, l->rows, ig_dim_of(0));
    }
    return l->rows;
}

static void make_buffers(loop *l, ig_builder *b) {
    ig_buffers *s = l->s;
    l->condition = ig_buffers_alloc(s, b, IG_DT_bool, 0, NULL);
    ig_place *first = ig_buffers_place(s, l->op->operands[1].value);
    ig_place to = *l->condition;
    if (first->rank) {
        first = ig_place_reshape(s->arena, s->module, first, 0, NULL);
    }
    ig_buffers_copy(s, b, first, &to);
    for (uint32_t i = 0; i < l->carried; i++) {
        const ig_type *type = l->body->args[i + 2]->type;
        ig_value *init = l->op->operands[i + 2].value;
        set_extents(s, b, type, init->type);
        l->buffers[i] = ig_buffers_alloc(s, b, (ig_dtype)type->dtype, type->rank,
                                         type->dims);
        ig_place whole = *l->buffers[i];
        whole.dims = ig_buffers_place(s, init)->dims;
        ig_buffers_copy(s, b, ig_buffers_place(s, init), &whole);
        ig_buffers_set_place(s, l->body->args[i + 2], l->buffers[i]);
    }
    for (uint32_t i = l->carried; i < l->op->result_count; i++) {
        const ig_type *type = l->op->results[i].type, *row = yielded_type(l, i);
        ig_dim dims[IG_TENSOR_RANK] = { early_rows(l, b, i) };
        for (uint32_t d = 1; d < type->rank; d++) {
            bool is_late = is_late_extent(l, i, d - 1);
            dims[d] = row->dims[d - 1];
            if (!is_same(l->s, dims[d], type->dims[d])) {
                ig_bufferise_let(b, type->dims[d], is_late ? ig_dim_of(0) : dims[d]);
            }
            dims[d] = is_late ? type->dims[d] : dims[d];
        }
        l->buffers[i] = ig_buffers_alloc(s, b, (ig_dtype)type->dtype, type->rank, dims);
    }
}

/* The body's own arguments: the number of the trip, and the condition. */
static void place_args(loop *l) {
    ig_buffers *s = l->s;
    ig_builder b = ig_builder_before(l->body->first);
    ig_place *trip = ig_buffers_alloc(s, &b, IG_DT_i64, 0, NULL);
    ig_bufferise_store_dims(&b, trip->root, &l->trip, 1);
    for (uint32_t i = 0; i < 2; i++) {
        const ig_type *type = l->body->args[i]->type;
        ig_place *place = i ? l->condition : trip;
        if (type->rank) {
            place = ig_place_reshape(s->arena, s->module, place, type->rank,
                                     type->dims);
        }
        ig_buffers_set_place(s, l->body->args[i], place);
    }
}

/* Yielded value `index` in a buffer that this trip does not write. */
static ig_place *set_aside(loop *l, ig_builder *b, uint32_t index) {
    ig_buffers *s = l->s;
    ig_place *from = ig_buffers_place(s, l->body->last->operands[index + 1].value);
    if (ig_place_equal(s->module, from, l->buffers[index])) {
        return NULL;
    }
    const ig_type *arg = l->body->args[index + 2]->type;
    bool moves = !dims_agree(s, arg, yielded_type(l, index)) ||
                 from->root == l->condition->root;
    for (uint32_t i = 0; i < l->carried; i++) {
        moves = moves || from->root == l->buffers[i]->root;
    }
    if (!moves) {
        return from;
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < from->rank; d++) {
        dims[d] = from->dims[d];
        if (!is_same(s, dims[d], arg->dims[d])) {
            dims[d] = new_symbol(s, "next");
            ig_bufferise_let(b, dims[d], from->dims[d]);
        }
    }
    ig_place *aside = ig_buffers_alloc(s, b, (ig_dtype)from->root->type->dtype,
                                       from->rank, dims);
    ig_buffers_copy(s, b, from, aside);
    return aside;
}

/* The first trip says how long rows are; from then on that is checked. */
static void set_late_extents(loop *l, ig_builder *b, uint32_t index) {
    ig_module *module = l->s->module;
    const ig_type *row = yielded_type(l, index);
    const ig_dim *whole = l->op->results[index].type->dims;
    ig_dim is_later = ig_dim_min(module, l->trip, ig_dim_of(1));
    ig_expr e = ig_expr_of(b);
    for (uint32_t d = 0; d < row->rank; d++) {
        if (!is_late_extent(l, index, d)) {
            continue;
        }
        ig_guard_attrs check = {
            .left = ig_dim_mul(module, is_later, whole[d + 1]),
            .right = ig_dim_mul(module, is_later, row->dims[d]),
            .message = "a value that a loop collects changes its extents"
        };
        (void)ig_build_guard(&e, check);
        ig_bufferise_let(b, whole[d + 1], row->dims[d]);
    }
}

static void copy_scanned(loop *l, ig_builder *b) {
    ig_buffers *s = l->s;
    if (l->grows) {
        ig_bufferise_let(b, l->rows, ig_dim_add(s->module, l->trip, ig_dim_of(1)));
    }
    for (uint32_t i = l->carried; i < l->op->result_count; i++) {
        set_late_extents(l, b, i);
        const ig_place *whole = l->buffers[i];
        ig_place row = { .root = whole->root,
                         .rank = whole->rank - 1,
                         .dims = whole->dims + 1,
                         .strides = whole->strides + 1 };
        row.offset = ig_dim_mul(s->module, l->trip, whole->strides[0]);
        ig_buffers_copy(s, b, ig_buffers_place(s, l->body->last->operands[i + 1].value),
                        &row);
    }
}

/* Everything yielded goes to where the next trip, or the results, will look. */
static void end_trip(loop *l) {
    ig_buffers *s = l->s;
    ig_builder b = ig_builder_before(l->body->last);
    ig_place **from = IG_NEW_ARRAY(s->arena, ig_place *, l->carried);
    copy_scanned(l, &b);
    for (uint32_t i = 0; i < l->carried; i++) {
        from[i] = set_aside(l, &b, i);
    }
    ig_place *go_on = ig_buffers_place(s, l->body->last->operands[0].value);
    if (go_on->rank) {
        go_on = ig_place_reshape(s->arena, s->module, go_on, 0, NULL);
    }
    if (!ig_place_equal(s->module, go_on, l->condition)) {
        ig_buffers_copy(s, &b, go_on, l->condition);
    }
    for (uint32_t i = 0; i < l->carried; i++) {
        const ig_type *arg = l->body->args[i + 2]->type;
        for (uint32_t d = 0; from[i] && d < arg->rank; d++) {
            if (!is_same(s, from[i]->dims[d], arg->dims[d])) {
                ig_bufferise_let(&b, arg->dims[d], from[i]->dims[d]);
            }
        }
    }
    for (uint32_t i = 0; i < l->carried; i++) {
        if (from[i]) {
            ig_place to = *l->buffers[i];
            to.dims = from[i]->dims;
            ig_buffers_copy(s, &b, from[i], &to);
        }
    }
    ig_dim done = ig_dim_add(s->module, l->trip, ig_dim_of(1));
    ig_bufferise_store_dims(&b, l->count->root, &done, 1);
}

/* The buffers hold the results, whose extents are known now. */
static void place_results(loop *l, ig_builder *b) {
    ig_buffers *s = l->s;
    bool has_count = false;
    for (uint32_t i = 0; i < l->op->result_count; i++) {
        const ig_type *type = l->op->results[i].type;
        ig_place *place = l->buffers[i];
        if (i < l->carried) {
            set_extents(s, b, type, l->body->args[i + 2]->type);
        } else {
            ig_dim trips = type->dims[0];
            if (!has_count && is_settable(s, trips)) {
                ig_dim one = ig_dim_of(1);
                ig_place *vector = ig_place_reshape(s->arena, s->module, l->count, 1,
                                                    &one);
                ig_bufferise_bind(b, ig_place_value(b, vector), &trips, 1);
                has_count = true;
            }
            place = IG_NEW(s->arena, ig_place);
            *place = *l->buffers[i];
        }
        place->dims = IG_NEW_ARRAY(s->arena, ig_dim, type->rank);
        for (uint32_t d = 0; d < type->rank; d++) {
            place->dims[d] = type->dims[d];
        }
        ig_buffers_set_place(s, &l->op->results[i], place);
    }
}

ig_status ig_bufferise_loop(ig_buffers *s, ig_op *op) {
    loop l = {
        .s = s, .op = op, .body = op->bodies[0], .carried = op->operand_count - 2u
    };
    ig_map_init(&l.local, s->arena);
    find_local(&l, l.body);
    IG_TRY(check_shapes(&l));
    ig_builder b = ig_builder_before(op);
    ig_dim zero = ig_dim_of(0);
    l.buffers = IG_NEW_ARRAY(s->arena, ig_place *, op->result_count);
    l.trip = new_symbol(s, "trip");
    make_buffers(&l, &b);
    l.count = ig_buffers_alloc(s, &b, IG_DT_i64, 0, NULL);
    ig_bufferise_store_dims(&b, l.count->root, &zero, 1);
    ig_value *operands[] = { load_single(s, &b, op->operands[0].value),
                             l.condition->root };
    ig_expr e = ig_expr_of(&b);
    ig_op_spec spec = { .operands = operands, .operand_count = 2, .body_count = 1 };
    l.plan = ig_build_loop_op(&e, &spec, (ig_loop_attrs){ .trip = IG_SET(l.trip) });
    ig_map_set_id(&s->steps, IG_MAP_PTR(l.plan), l.plan);
    place_args(&l);
    IG_TRY(ig_bufferise_block(s, l.body));
    end_trip(&l);
    ig_block *to = l.plan->bodies[0];
    for (uint32_t i = 0; i < 2; i++) {
        ig_block_add_arg(to, l.body->args[i]->type, NULL);
    }
    ig_op *yield = l.body->last;
    move_ops(l.body, to);
    ig_op_erase(yield);
    ig_builder end = ig_builder_at_end(to);
    ig_make_yield(&end, &l.condition->root, 1);
    place_results(&l, &b);
    return IG_OK;
}
