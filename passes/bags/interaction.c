/* interaction: chosen elements of a matrix times its own transpose become an interact
 * op.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = transpose %x {perm = [0, 2, 1]} : f32[B, 64, 27]        %x: f32[B, 27, 64]
 *     %1 = matmul %x, %0 : f32[B, 27, 27]
 *     %2 = transpose %1 {perm = [1, 2, 0]} : f32[27, 27, B]
 *     %3 = gather_nd %2, [[1, 0], [2, 0], [2, 1], …] : f32[351, B]
 *     %4 = transpose %3 {perm = [1, 0]} : f32[B, 351]
 *   becomes
 *     %4 = interact %x {pairs = [27, 54, 55, …]} : f32[B, 351]
 *
 * Half of the product is never read, and nothing is moved.  Which elements are
 * chosen is computed, not matched: from the product on, every op that only moves
 * elements (transpose, reshape, slice, gather, gather_nd, concat) is carried out on the
 * numbers 0 … F * F - 1 in place of the elements, with one axis kept apart, the
 * samples.  So all spellings come to the same list of pairs.  Values that something
 * else uses are made from an interact op each; when one of them holds as many elements
 * as the product has, the product is wanted as such, and everything stays.
 *
 * Needs canonicalise and fold, for constant indices.  Keeps the results.
 */
#include "ir/build/expr.h"
#include "passes/bags/recognise.h"

#include <string.h>

enum { ROWS_MAX = 80, CHOSEN_MAX = 1 << 16, RUNS_MAX = 512 };

/* A value made of elements of the product: all axes but that of the samples have known
 * extents, and `pairs` are its elements of one sample in row-major order. */
typedef struct chosen {
    uint32_t rank, batch; /* which axis is that of the samples */
    ig_dim dims[IG_TENSOR_RANK];
    int64_t *pairs;
    int64_t count;
} chosen;

typedef struct interaction {
    ig_recogniser *r;
    ig_op *matmul;
    ig_value *x;
    ig_dim batch;  /* number of samples */
    int64_t rows;  /* F */
    ig_map values; /* value -> chosen */
} interaction;

static chosen *chosen_of(const interaction *n, const ig_value *value) {
    return ig_map_get_id(&n->values, IG_MAP_PTR(value));
}

static int64_t *new_numbers(const interaction *n, int64_t count) {
    return IG_NEW_ARRAY(n->r->arena, int64_t, (size_t)count);
}

/* ---- moving numbers ---- */

/* Elements of one sample: extents with 1 for the samples' axis; false when there are
 * too many or one is not known. */
static bool count_elements(chosen *c) {
    c->count = 1;
    for (uint32_t d = 0; d < c->rank; d++) {
        int64_t extent = 1;
        bool is_known = d == c->batch || ig_dim_known(c->dims[d], &extent);
        if (!is_known || extent > CHOSEN_MAX || c->count * extent > CHOSEN_MAX) {
            return false;
        }
        c->count *= extent;
    }
    return true;
}

static void strides_of(const chosen *c, int64_t *strides) {
    int64_t stride = 1;
    for (uint32_t d = c->rank; d-- > 0;) {
        strides[d] = d == c->batch ? 0 : stride;
        stride *= d == c->batch ? 1 : ig_dim_value(c->dims[d]);
    }
}

/* A walk over the elements of one sample of `to`: at each, the number of an element of
 * another value is the sum of the steps of its indices. */
typedef struct moving {
    const chosen *from;
    chosen *to;
    const int64_t *steps[IG_TENSOR_RANK]; /* by axis of `to`: one entry an index */
    int64_t start;
} moving;

static bool move_elements(const interaction *n, const moving *m) {
    chosen *to = m->to;
    if (!count_elements(to)) {
        return false;
    }
    to->pairs = new_numbers(n, to->count);
    int64_t index[IG_TENSOR_RANK] = { 0 };
    for (int64_t i = 0; i < to->count; i++) {
        int64_t at = m->start;
        for (uint32_t d = 0; d < to->rank; d++) {
            at += d == to->batch ? 0 : m->steps[d][index[d]];
        }
        if (at < 0 || at >= m->from->count) {
            return false;
        }
        to->pairs[i] = m->from->pairs[at];
        for (uint32_t d = to->rank; d-- > 0;) {
            if (d != to->batch && ++index[d] < ig_dim_value(to->dims[d])) {
                break;
            }
            index[d] = 0;
        }
    }
    return true;
}

/* Steps of an axis whose index i means i * by. */
static int64_t *even_steps(const interaction *n, int64_t extent, int64_t by) {
    int64_t *steps = new_numbers(n, extent);
    for (int64_t i = 0; i < extent; i++) {
        steps[i] = i * by;
    }
    return steps;
}

/* ---- constant indices ---- */

typedef struct indices {
    const int64_t *items;
    int64_t count;
} indices;

static bool read_indices(const interaction *n, const ig_value *value, indices *out) {
    const ig_data *data = ig_constant_of(value);
    int64_t count = 1;
    if (!data || !data->bytes || !ig_dtype_is_int((ig_dtype)data->type->dtype)) {
        return false;
    }
    for (uint32_t d = 0; d < data->type->rank; d++) {
        int64_t extent = ig_dim_value(data->type->dims[d]);
        count = extent > CHOSEN_MAX ? CHOSEN_MAX + 1 : count * extent;
        if (count > CHOSEN_MAX) {
            return false;
        }
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count,
                         .data = (void *)(uintptr_t)data->bytes }; /* only read */
    int64_t *items = new_numbers(n, count);
    for (int64_t i = 0; i < count; i++) {
        items[i] = ig_tensor_get_i64(&tensor, data->is_splat ? 0 : i);
    }
    *out = (indices){ items, count };
    return true;
}

/* ---- ops that move elements ---- */

typedef bool (*move_fn)(const interaction *n, const ig_op *op, const chosen *from,
                        chosen *to);

static bool move_whole(const interaction *n, const ig_op *op, const chosen *from,
                       chosen *to) {
    (void)n;
    *to = *from;
    return op->operands[0].value->type->dtype == op->results[0].type->dtype;
}

static bool move_transpose(const interaction *n, const ig_op *op, const chosen *from,
                           chosen *to) {
    const int64_t *perm = op->attrs[IG_transpose_perm].as.ints;
    int64_t strides[IG_TENSOR_RANK];
    moving m = { .from = from, .to = to };
    strides_of(from, strides);
    to->rank = from->rank;
    for (uint32_t d = 0; d < to->rank; d++) {
        bool is_batch = perm[d] == from->batch;
        to->dims[d] = from->dims[perm[d]];
        to->batch = is_batch ? d : to->batch;
        m.steps[d] = is_batch
                         ? NULL
                         : even_steps(n, ig_dim_value(to->dims[d]), strides[perm[d]]);
    }
    return move_elements(n, &m);
}

/* Elements of one sample before the axis of the samples. */
static int64_t count_before(const chosen *c, uint32_t axis) {
    int64_t count = 1;
    for (uint32_t d = 0; d < axis && count >= 0; d++) {
        int64_t extent;
        bool is_small = ig_dim_known(c->dims[d], &extent) && extent <= CHOSEN_MAX;
        count = is_small && count <= CHOSEN_MAX ? count * extent : -1;
    }
    return count;
}

/* The order of elements stays when the samples' axis stays between the same ones. */
static bool move_reshape(const interaction *n, const ig_op *op, const chosen *from,
                         chosen *to) {
    const ig_type *type = op->results[0].type;
    int64_t before = count_before(from, from->batch);
    *to = (chosen){ .rank = type->rank, .pairs = from->pairs };
    memcpy(to->dims, type->dims, type->rank * sizeof *to->dims);
    for (uint32_t d = 0; d < type->rank; d++) {
        bool is_batch = ig_dim_equal(n->r->module, to->dims[d], n->batch) == IG_YES;
        to->batch = d;
        if (is_batch && count_before(to, d) == before && count_elements(to) &&
            to->count == from->count) {
            return true;
        }
    }
    return false;
}

static bool is_small(int64_t number) {
    return number <= CHOSEN_MAX && number >= -CHOSEN_MAX;
}

static bool move_slice(const interaction *n, const ig_op *op, const chosen *from,
                       chosen *to) {
    const ig_attr *starts = &op->attrs[IG_slice_starts];
    const ig_attr *steps = &op->attrs[IG_slice_steps];
    int64_t strides[IG_TENSOR_RANK];
    moving m = { .from = from, .to = to };
    if (starts->kind != IG_ATTR_DIMS) {
        return false;
    }
    strides_of(from, strides);
    *to = *from;
    for (uint32_t d = 0; d < to->rank; d++) {
        int64_t step = steps->kind == IG_ATTR_INTS ? steps->as.ints[d] : 1;
        int64_t start, extent;
        to->dims[d] = op->attrs[IG_slice_sizes].as.dims[d];
        bool is_known = ig_dim_constant(n->r->module, starts->as.dims[d], &start);
        bool is_whole = is_known && start == 0 && step == 1 &&
                        ig_dim_equal(n->r->module, to->dims[d], from->dims[d]) ==
                            IG_YES;
        bool is_good = is_known && is_small(start) && is_small(step) &&
                       ig_dim_known(to->dims[d], &extent) && is_small(extent);
        if (d == from->batch ? !is_whole : !is_good) {
            return false;
        }
        m.start += d == from->batch ? 0 : start * strides[d];
        m.steps[d] = d == from->batch
                         ? NULL
                         : even_steps(n, ig_dim_value(to->dims[d]), step * strides[d]);
    }
    return move_elements(n, &m);
}

/* Axes first … first + depth become one that walks over the tuples of `at`, each of
 * which has one index an axis; then that axis gets the extents that the tuples have. */
typedef struct selection {
    uint32_t first, depth;
    indices at;
    const ig_dim *dims; /* of the tuples */
    uint32_t rank;
} selection;

static const int64_t *tuple_steps(const interaction *n, const chosen *from,
                                  const selection *s) {
    int64_t strides[IG_TENSOR_RANK], tuples = s->at.count / s->depth;
    int64_t *steps = new_numbers(n, tuples);
    strides_of(from, strides);
    for (int64_t i = 0; i < tuples; i++) {
        for (uint32_t k = 0; k < s->depth; k++) {
            int64_t index = s->at.items[i * s->depth + k];
            int64_t extent = ig_dim_value(from->dims[s->first + k]);
            index += index < 0 && is_small(index) ? extent : 0;
            if (index < 0 || index >= extent) {
                return NULL;
            }
            steps[i] += index * strides[s->first + k];
        }
    }
    return steps;
}

static bool select_elements(const interaction *n, const chosen *from,
                            const selection *s, chosen *to) {
    int64_t strides[IG_TENSOR_RANK];
    moving m = { .from = from, .to = to };
    bool has_batch = from->batch >= s->first && from->batch < s->first + s->depth;
    if (has_batch || s->depth == 0 || s->at.count % s->depth != 0) {
        return false;
    }
    strides_of(from, strides);
    *to = (chosen){ 0 };
    for (uint32_t d = 0; d < from->rank; d++) {
        bool is_selected = d >= s->first && d < s->first + s->depth;
        if (is_selected && d > s->first) {
            continue;
        }
        uint32_t at = to->rank++;
        to->batch = d == from->batch ? at : to->batch;
        to->dims[at] = is_selected ? ig_dim_of(s->at.count / s->depth) : from->dims[d];
        m.steps[at] = is_selected ? tuple_steps(n, from, s)
                      : d == from->batch
                          ? NULL
                          : even_steps(n, ig_dim_value(to->dims[at]), strides[d]);
        if (is_selected && !m.steps[at]) {
            return false;
        }
    }
    return move_elements(n, &m);
}

/* The axis of tuples as several, or as none. */
static void shape_tuples(const selection *s, chosen *to) {
    chosen flat = *to;
    to->rank = flat.rank - 1 + s->rank;
    to->batch = flat.batch < s->first ? flat.batch : flat.batch - 1 + s->rank;
    for (uint32_t d = 0; d < s->rank; d++) {
        to->dims[s->first + d] = s->dims[d];
    }
    for (uint32_t d = s->first + 1; d < flat.rank; d++) {
        to->dims[d - 1 + s->rank] = flat.dims[d];
    }
}

static bool move_gather(const interaction *n, const ig_op *op, const chosen *from,
                        chosen *to) {
    const ig_value *index = op->operands[1].value;
    selection s = { .depth = 1, .dims = index->type->dims, .rank = index->type->rank };
    int64_t axis = ig_attr_int(op, IG_gather_axis, 0);
    s.first = (uint32_t)(axis < 0 ? axis + from->rank : axis);
    if (from->rank - 1 + s.rank > IG_TENSOR_RANK || !read_indices(n, index, &s.at) ||
        !select_elements(n, from, &s, to)) {
        return false;
    }
    shape_tuples(&s, to);
    return true;
}

/* Indices [..., k] from axis 0 on; or from axis 1 on, the same ones for each sample. */
static bool move_gather_nd(const interaction *n, const ig_op *op, const chosen *from,
                           chosen *to) {
    ig_value *index = op->operands[1].value;
    const ig_type *type = index->type;
    uint32_t batch = (uint32_t)ig_attr_int(op, IG_gather_nd_batch, 0);
    selection s = { .first = batch,
                    .dims = type->dims + batch,
                    .rank = type->rank - 1 - batch };
    if (batch > 1 || (batch == 1 && from->batch != 0) ||
        !ig_dim_is_static(type->dims[type->rank - 1])) {
        return false;
    }
    s.depth = (uint32_t)ig_dim_value(type->dims[type->rank - 1]);
    const ig_op *expand = ig_def(index, IG_OP_expand);
    if (batch == 1 && !expand) {
        return false;
    }
    index = batch == 1 ? expand->operands[0].value : index;
    bool is_same = batch == 0 || index->type->rank < type->rank ||
                   ig_dim_is(index->type->dims[0], 1);
    for (uint32_t d = 1; is_same && d <= s.rank + 1 && batch == 1; d++) {
        is_same = d <= index->type->rank &&
                  ig_dim_same(index->type->dims[index->type->rank - d],
                              type->dims[type->rank - d]);
    }
    if (!is_same || !read_indices(n, index, &s.at) ||
        !select_elements(n, from, &s, to)) {
        return false;
    }
    shape_tuples(&s, to);
    return true;
}

/* All operands are of the product and neighbours along another axis. */
static bool move_concat(const interaction *n, const ig_op *op, const chosen *from,
                        chosen *to) {
    uint32_t axis = (uint32_t)ig_attr_int(op, IG_concat_axis, 0);
    *to = *from;
    to->dims[axis] = ig_dim_of(0);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const chosen *part = chosen_of(n, op->operands[i].value);
        if (!part || part->rank != from->rank || part->batch != from->batch ||
            axis == from->batch) {
            return false;
        }
        to->dims[axis] =
            ig_dim_of(ig_dim_value(to->dims[axis]) + ig_dim_value(part->dims[axis]));
    }
    if (!count_elements(to)) {
        return false;
    }
    to->pairs = new_numbers(n, to->count);
    int64_t outer = 1, at = 0;
    for (uint32_t d = 0; d < axis; d++) {
        outer *= d == to->batch ? 1 : ig_dim_value(to->dims[d]);
    }
    for (int64_t o = 0; o < outer; o++) {
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const chosen *part = chosen_of(n, op->operands[i].value);
            int64_t block = part->count / outer;
            memcpy(to->pairs + at, part->pairs + o * block,
                   (size_t)block * sizeof *to->pairs);
            at += block;
        }
    }
    return true;
}

static const move_fn movers[IG_OP_COUNT] = {
    [IG_OP_cast] = move_whole,      [IG_OP_transpose] = move_transpose,
    [IG_OP_reshape] = move_reshape, [IG_OP_slice] = move_slice,
    [IG_OP_gather] = move_gather,   [IG_OP_gather_nd] = move_gather_nd,
    [IG_OP_concat] = move_concat,
};

/* ---- the product ---- */

/* x of x times its own transpose, in any of four spellings; NULL: something else. */
static ig_value *square_of(const ig_op *matmul) {
    static const int64_t swap[] = { 0, 2, 1 };
    ig_value *side[2];
    bool is_transposed[2];
    for (uint32_t i = 0; i < 2; i++) {
        side[i] = matmul->operands[i].value;
        is_transposed[i] =
            ig_attr_int(matmul, i ? IG_matmul_transpose_b : IG_matmul_transpose_a, 0);
        const ig_op *transpose = ig_def(side[i], IG_OP_transpose);
        bool is_swap = transpose && side[i]->type->rank == 3 &&
                       memcmp(transpose->attrs[IG_transpose_perm].as.ints, swap,
                              sizeof swap) == 0;
        if (is_swap && is_transposed[i] != (i == 1)) {
            side[i] = transpose->operands[0].value;
            is_transposed[i] = !is_transposed[i];
        }
    }
    bool is_square = side[0] == side[1] && !is_transposed[0] && is_transposed[1];
    return is_square && side[0]->type->rank == 3 ? side[0] : NULL;
}

/* Runs of pairs that neighbour each other, which is how they are computed. */
static int64_t count_runs(const chosen *c, int64_t rows, bool is_swapped) {
    int64_t runs = 0, last_row = -1, next = -1;
    for (int64_t k = 0; k < c->count; k++) {
        int64_t i = c->pairs[k] / rows, j = c->pairs[k] % rows;
        int64_t row = is_swapped ? j : i, column = is_swapped ? i : j;
        runs += row != last_row || column != next;
        last_row = row;
        next = column + 1;
    }
    return runs;
}

static bool is_worth_it(const interaction *n, const chosen *c) {
    return c->count > 0 && c->count < n->rows * n->rows &&
           (count_runs(c, n->rows, false) <= RUNS_MAX ||
            count_runs(c, n->rows, true) <= RUNS_MAX);
}

/* Does something use the value that does not only move it on? */
static bool is_needed(const interaction *n, const ig_value *value) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        const ig_op *user = use->user;
        if (user->result_count != 1 || !chosen_of(n, user->results)) {
            return true;
        }
    }
    return false;
}

static void follow_movers(interaction *n) {
    for (ig_op *op = n->matmul->next; op; op = op->next) {
        chosen *from = op->operand_count && movers[op->code]
                           ? chosen_of(n, op->operands[0].value)
                           : NULL;
        chosen to = { 0 };
        if (from && movers[op->code](n, op, from, &to)) {
            chosen *kept = IG_NEW(n->r->arena, chosen);
            *kept = to;
            ig_map_set_id(&n->values, IG_MAP_PTR(op->results), kept);
        }
    }
}

/* ---- making ---- */

static ig_value *make_chosen(const interaction *n, ig_builder *b, const chosen *c) {
    ig_expr e = ig_expr_of(b);
    ig_ints pairs = { c->pairs, (uint32_t)c->count };
    ig_value *value = ig_build_interact(&e, n->x, (ig_interact_attrs){ pairs });
    ig_dim dims[IG_TENSOR_RANK] = { value->type->dims[0] };
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t d = 0, at = 1; d < c->rank; d++) {
        perm[d] = d == c->batch ? 0 : at;
        if (d != c->batch) {
            dims[at++] = c->dims[d];
        }
    }
    value = c->rank == 2 ? value : ig_expr_reshape(&e, value, c->rank, dims);
    return c->batch == 0 ? value : ig_expr_transpose(&e, value, perm);
}

static void replace_chosen(interaction *n) {
    IG_VEC(ig_value *) needed = { 0 };
    for (size_t i = 0; i < n->values.count; i++) {
        ig_value *value = (ig_value *)(uintptr_t)n->values.entries[i].id;
        if (is_needed(n, value)) {
            IG_PUSH(n->r->arena, &needed, value);
        }
    }
    for (size_t i = 0; i < needed.count; i++) {
        if (!is_worth_it(n, chosen_of(n, needed.items[i]))) {
            return;
        }
    }
    for (size_t i = 0; i < needed.count; i++) {
        ig_value *value = needed.items[i];
        ig_builder b = ig_builder_before(value->def);
        ig_value *made = make_chosen(n, &b, chosen_of(n, value));
        ig_recogniser_replace(n->r, value, made);
    }
}

static void match_matmul(ig_recogniser *r, ig_op *matmul) {
    interaction n = { .r = r, .matmul = matmul, .x = square_of(matmul) };
    int64_t depth;
    if (!n.x || n.x->type->dtype != IG_DT_f32 || !matmul->results->uses ||
        !ig_dim_constant(r->module, n.x->type->dims[1], &n.rows) ||
        !ig_dim_constant(r->module, n.x->type->dims[2], &depth) || n.rows > ROWS_MAX) {
        return;
    }
    n.batch = n.x->type->dims[0];
    chosen *all = IG_NEW(r->arena, chosen);
    *all = (chosen){ .rank = 3,
                     .dims = { n.batch, ig_dim_of(n.rows), ig_dim_of(n.rows) } };
    if (!count_elements(all)) {
        return;
    }
    all->pairs = even_steps(&n, all->count, 1);
    ig_map_init(&n.values, r->arena);
    ig_map_set_id(&n.values, IG_MAP_PTR(matmul->results), all);
    follow_movers(&n);
    replace_chosen(&n);
}

ig_status ig_pass_interaction(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_matmul, match_matmul);
}
