/* Attention on CPUs: scores, weights and results of a tile, without all scores in
 * memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   s = map(q k')        elementwise ops: scale, masks, a bias, silu …
 *   w = softmax(s), or s
 *   C = epilogue(w v)
 *
 *   grid       matrices of q x tiles of at most ROWS rows, evenly split
 *   tile       goes over blocks of KEYS keys; for each, its scores become weights in
 *              scratch memory, a row after the other, and these times the values are
 *              added to its results; both products as in dot_panels.c
 *
 * Blocks of keys begin at multiples of KEYS, so the bits of an element depend on the
 * number of keys, and not on how rows are split, nor on the batch.
 */
#include "base/checked.h"
#include "ir/families.h"
#include "passes/lower/cpu/attention.h"

#include <assert.h>
#include <string.h>

enum { ROWS = ATTENTION_ROWS, KEYS = ATTENTION_KEYS, COPIED_ROWS = 24 };

/* ---- blocks of keys ---- */

static void add_keys(const attention *a, ig_builder *b, const attention_tile *t,
                     const attention_keys *keys) {
    const dot *scores = &a->scores;
    attention_keys own = *keys;
    if (a->present) {
        own.end = k_max(b, own.first, k_min(b, own.end, a->present));
    }
    dot_range s = { .rows = { t->rows[0], t->rows[1] },
                    .columns = { own.first, own.end },
                    .index = t->index };
    s.a = dot_row_start(scores, b, scores->a, !scores->transpose_a, t->index,
                        k_i64(b, 0));
    attention_emit_scores(a, b, &s);
    if (a->present) {
        attention_clear_scores(a, b, t, keys, own.end);
    }
    ig_value *has_some = attention_emit_weights(a, b, t, keys);
    ig_value *is_any = k_compare(b, IG_OP_lt, own.first, own.end);
    has_some = a->present ? k_binary(b, IG_OP_and, has_some, is_any) : has_some;
    k_if wanted = k_if_open(b, has_some, NULL, 0);
    attention_add_values(a, &wanted.then, t, &own);
    k_if_close(&wanted, NULL, NULL);
}

static void emit_block(const attention *a, ig_builder *b, const attention_tile *t,
                       attention_keys keys) {
    keys = attention_trim(a, b, t, keys);
    ig_value *has_some = k_compare(b, IG_OP_lt, keys.first, keys.end);
    k_if wanted = k_if_open(b, has_some, NULL, 0);
    add_keys(a, &wanted.then, t, &keys);
    k_if_close(&wanted, NULL, NULL);
}

/* ---- results ---- */

/* `lanes` results of a row, of the product or after the epilogue. */
static ig_value *load_results(const attention *a, ig_builder *b, ig_value *const at[2],
                              uint32_t lanes, ig_value *sum) {
    ig_value *row = k_mul(b, at[0], k_i64(b, a->pitch));
    ig_value *x = k_load(b, a->results, k_add(b, row, at[1]), lanes);
    return sum ? k_binary(b, IG_OP_div, x, k_splat(b, sum, lanes)) : x;
}

static void store_results(const attention *a, ig_builder *b, const attention_tile *t,
                          ig_value *const at[2], uint32_t lanes, ig_value *x) {
    ig_value *index[IG_TENSOR_RANK];
    ig_map values;
    memcpy(index, t->index, a->rank * sizeof *index);
    index[a->rank - 2] = k_add(b, t->rows[0], at[0]);
    index[a->rank - 1] = at[1];
    ig_map_init(&values, a->lower->arena);
    ig_map_set_id(&values, IG_MAP_PTR(a->product.anchor->results), x);
    ig_site site = { .b = b,
                     .lanes = lanes,
                     .rank = a->rank,
                     .dims = a->product.type->dims,
                     .index = index,
                     .count = k_sub(b, a->product.n, at[1]),
                     .values = &values };
    if (!a->parts.offsets) {
        ig_lower_store_yields(a->lower, &site);
        return;
    }
    const ig_lower_operand *out = &a->lower->outs[0];
    ig_value *row = k_add(b, t->begin, index[a->rank - 2]);
    ig_value *column = k_mul(b, at[1],
                             ig_lower_dim(a->lower, out->strides[out->type->rank - 1]));
    ig_value *to = k_add(b, attention_jagged_start(a, b, t, row), column);
    x = ig_lower_value(a->lower, &site, a->result);
    k_store_count(b, x, out->buffer, to, lanes > 1 ? site.count : NULL);
}

/* The launch's inputs that nothing after the product reads, a bit each. */
static uint64_t inputs_before(const attention *a) {
    const ig_op *product = a->product.anchor;
    uint64_t inputs = 0;
    for (uint32_t i = 0; i < a->lower->in_count && i < 64; i++) {
        const ig_use *use = a->lower->body->args[i]->uses;
        while (use && (use->user == product || ig_op_is_before(use->user, product))) {
            use = use->next;
        }
        inputs |= use ? 0 : (uint64_t)1 << i;
    }
    return inputs;
}

/* Lanes of the epilogue and its stores. */
static uint32_t choose_lanes(const attention *a) {
    const ig_type *space = a->product.type;
    ig_lower epilogue = ig_lower_without(a->lower, inputs_before(a));
    bool has_vectors = ig_lower_is_vectorizable(&epilogue, space->rank, space->dims);
    for (uint32_t i = 0; i < epilogue.out_count; i++) {
        has_vectors &=
            ig_dim_is(epilogue.outs[i].strides[epilogue.outs[i].type->rank - 1], 1);
    }
    return has_vectors ? a->lanes : 1;
}

static void emit_results(const attention *a, ig_builder *b, const attention_tile *t) {
    uint32_t lanes = choose_lanes(a);
    ig_value *zero = k_i64(b, 0), *sum = NULL;
    k_loop rows = k_loop_open(b, zero, t->count, k_i64(b, 1), NULL, 0);
    ig_builder *in = &rows.b;
    if (a->softmax) {
        ig_value *none = k_const(in, IG_DT_f32, 0), *one = k_const(in, IG_DT_f32, 1);
        sum = k_load(in, a->sums, rows.index, 1);
        ig_value *is_none = k_compare(in, IG_OP_eq, sum, none);
        sum = a->is_empty_zero ? k_where(in, is_none, one, sum) : sum;
    }
    k_loop line = k_loop_open(in, zero, a->product.n, k_i64(in, lanes), NULL, 0);
    ig_value *at[2] = { rows.index, line.index };
    ig_value *x = load_results(a, &line.b, at, lanes, sum);
    store_results(a, &line.b, t, at, lanes, x);
    k_loop_close(&line, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}

/* ---- tiles ---- */

static void find_tile(const attention *a, ig_builder *b, ig_value *number,
                      attention_tile *t) {
    ig_lower *lower = a->lower;
    const ig_dim *dims = a->product.type->dims;
    ig_value *tiles = ig_lower_dim(lower, a->row_tiles);
    ig_cpu_split split = ig_cpu_open_split(b, ig_lower_dim(lower, dims[a->rank - 2]),
                                           tiles);
    ig_cpu_find_part(b, &split, k_mod(b, number, tiles), &t->rows[0], &t->count);
    t->rows[1] = k_add(b, t->rows[0], t->count);
    ig_value *rest = k_div(b, number, tiles);
    for (uint32_t d = a->rank - 2; d-- > 0;) {
        ig_value *extent = ig_lower_dim(lower, dims[d]);
        t->index[d] = k_mod(b, rest, extent);
        rest = k_div(b, rest, extent);
    }
}

static void emit_rows(const attention *a, ig_builder *b, const attention_tile *t) {
    attention_open_rows(a, b, t);
    ig_value *step = k_i64(b, KEYS);
    k_loop loop = k_loop_open(b, k_i64(b, 0), a->keys, step, NULL, 0);
    attention_keys keys = { loop.index,
                            k_min(&loop.b, a->keys, k_add(&loop.b, loop.index, step)) };
    emit_block(a, &loop.b, t, keys);
    k_loop_close(&loop, NULL, 0);
    emit_results(a, b, t);
}

static void emit_tile(void *user, ig_builder *b, ig_value *number) {
    const attention *a = user;
    ig_value *index[IG_TENSOR_RANK] = { 0 };
    attention_tile t = { .index = index };
    find_tile(a, b, number, &t);
    emit_rows(a, b, &t);
}

/* There is a tile for the checks even where there are no parts. */
static void emit_jagged_tile(void *user, ig_builder *b, ig_value *number) {
    const attention *a = user;
    attention own = *a;
    ig_value *index[IG_TENSOR_RANK] = { 0 };
    attention_tile t = { .index = index };
    ig_value *zero = k_i64(b, 0);
    k_if first = k_if_open(b, k_compare(b, IG_OP_eq, number, zero), NULL, 0);
    attention_check_parts(a, &first.then);
    k_if_close(&first, NULL, NULL);
    ig_value *tiles = ig_lower_dim(a->lower, a->tiles);
    k_if has = k_if_open(b, k_compare(b, IG_OP_lt, number, tiles), NULL, 0);
    ig_builder *in = &has.then;
    find_tile(a, in, number, &t);
    attention_open_part(&own, in, &t);
    k_if some = k_if_open(in, k_compare(in, IG_OP_lt, zero, t.count), NULL, 0);
    emit_rows(&own, &some.then, &t);
    k_if_close(&some, NULL, NULL);
    k_if_close(&has, NULL, NULL);
}

/* ---- the schedule ---- */

static const ig_op *next_op(const ig_op *op, ig_opcode code) {
    while (op && op->code != code) {
        op = op->next;
    }
    return op;
}

static dot_panels panels_of(const attention *a, ig_value *panel) {
    return (dot_panels){ .lanes = a->lanes,
                         .rows = dot_panel_rows(a->lower->target),
                         .row_tile = ROWS,
                         .wide = IG_DT_f32,
                         .sum = IG_DT_f32,
                         .is_staged = true,
                         .has_fewer_rows = a->parts.offsets != NULL,
                         .panel = panel };
}

/* Extents as numbers of the kernel. */
static void open_extents(dot *d) {
    dot_find_matrices(d);
    d->k = d->words = ig_lower_dim(d->lower, dot_depth(d));
    d->n = ig_lower_dim(d->lower, d->type->dims[d->rank - 1]);
}

/* The left factor of the second product, as a block of keys has it. */
static const ig_lower_operand *weights_operand(const attention *a, uint32_t rank) {
    ig_lower_operand *x = IG_NEW(a->lower->arena, ig_lower_operand);
    ig_dim *strides = IG_NEW_ARRAY(a->lower->arena, ig_dim, rank);
    for (uint32_t d = 0; d < rank; d++) {
        strides[d] = ig_dim_of(d + 1 == rank ? 1 : d + 2 == rank ? KEYS : 0);
    }
    *x = (ig_lower_operand){ .buffer = a->weights,
                             .type = a->product.anchor->operands[0].value->type,
                             .strides = strides };
    return x;
}

static void plan_scratch(attention *a) {
    ig_lower *lower = a->lower;
    int64_t values = 0, keys = 0, depth = 0;
    const dot *s = &a->scores;
    bool has_values = ig_dim_constant(lower->module, a->product.type->dims[a->rank - 1],
                                      &values);
    bool has_keys = ig_dim_constant(lower->module, s->type->dims[a->rank - 1], &keys);
    assert(has_values && values > 0 && "ig_fuse_attention looks for it");
    (void)has_values;
    a->pitch = ig_ceil_div(values, a->lanes) * a->lanes;
    a->is_long = !has_keys || keys > KEYS;
    a->is_ragged = !has_keys || keys % a->lanes != 0 || a->parts.offsets;
    a->may_have_few = attention_may_have_few(a);
    a->results = ig_cpu_scratch(lower, ROWS * a->pitch);
    if (a->softmax) {
        ig_value **const each[] = { &a->max, &a->origins, &a->factors, &a->sums };
        for (size_t i = 0; i < IG_COUNT_OF(each); i++) {
            *each[i] = ig_cpu_scratch(lower, ROWS);
        }
        a->totals = ig_cpu_scratch(lower, (int64_t)ROWS * a->lanes);
    }
    ig_value *panel = k_local(lower->kernel, IG_DT_f32,
                              KEYS * dot_panel_width(a->lanes));
    a->scores.panels = a->product.panels = panels_of(a, panel);
    a->scores.panels.is_deep = !ig_dim_constant(lower->module, dot_depth(s), &depth) ||
                               depth > DOT_K_BLOCK;
    a->product.panels.is_deep = a->is_long;
    a->scores.panels.has_fewer_columns = a->parts.offsets != NULL;
    a->scores.panels.stage = a->weights;
    a->scores.panels.stage_step = KEYS;
    bool is_even = values % a->lanes == 0 &&
                   ig_dim_is(dot_stride(a->product.b, false, a->product.transpose_b),
                             1);
    a->product.panels.direct_rows = !is_even       ? 0
                                    : values <= 64 ? ROWS + 1
                                                   : COPIED_ROWS;
    a->product.panels.stage = a->results;
    a->product.panels.stage_step = a->pitch;
}

static void choose_grid(attention *a) {
    ig_lower *lower = a->lower;
    const ig_type *scores = a->scores.type;
    ig_dim rows = scores->dims[a->rank - 2];
    a->row_tiles = ig_lower_ceil_div(lower, rows, ROWS);
    a->tiles = ig_lower_mul(
        lower, ig_dim_product(lower->module, scores->dims, a->rank - 2), a->row_tiles);
    lower->grid = a->parts.offsets ? ig_dim_max(lower->module, a->tiles, ig_dim_of(1))
                                   : a->tiles;
    ig_dim count = ig_type_count(lower->module, scores);
    ig_dim depth = ig_dim_add(lower->module, dot_depth(&a->scores),
                              a->product.type->dims[a->rank - 1]);
    depth = ig_dim_add(lower->module, depth, ig_dim_of(32)); /* of a weight */
    lower->cost = ig_lower_ceil_div(lower, ig_lower_mul(lower, count, depth), 32);
}

ig_status ig_lower_cpu_attention(ig_lower *lower) {
    const ig_op *scores = next_op(lower->body->first, IG_OP_matmul);
    const ig_op *product = next_op(scores->next, IG_OP_matmul);
    attention a = { .lower = lower,
                    .softmax = ig_lower_anchor(lower, IG_OP_softmax),
                    .lanes = ig_lower_lanes(lower, IG_DT_f32),
                    .mapped = product->operands[0].value };
    if (a.softmax) {
        a.mapped = a.softmax->operands[0].value;
        a.is_empty_zero = ig_attr_int(a.softmax, IG_softmax_empty_zero, 0) != 0;
    }
    a.scores = dot_read_matmul(lower, scores);
    a.product = dot_read_matmul(lower, product);
    a.rank = scores->results->type->rank;
    a.weights = ig_cpu_scratch(lower, ROWS * KEYS);
    a.product.a = weights_operand(&a, a.rank);
    a.scores.a = attention_read_factor(&a, scores, 0);
    a.scores.b = attention_read_factor(&a, scores, 1);
    a.product.b = attention_read_factor(&a, product, 1);
    if (a.parts.offsets) {
        attention_read_result(&a);
        ig_lower_offsets(lower, a.parts.offsets - lower->ins,
                         ig_dim_add(lower->module, a.parts.row_count, ig_dim_of(1)));
    }
    open_extents(&a.scores);
    open_extents(&a.product);
    a.keys = a.scores.n;
    attention_find_mask(&a);
    plan_scratch(&a);
    choose_grid(&a);
    lower->name = ig_lower_name(lower, "attention");
    ig_lower_each_tile(lower, a.parts.offsets ? emit_jagged_tile : emit_tile, &a);
    return IG_OK;
}
