/* RotaryEmbedding and MRotaryEmbedding of com.microsoft: heads turned by the angles of
 * their positions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  One position is that of the first
 * row of each batch; x of rank 3 is [B, L, heads * E], of rank 4 [B, heads, L, E]. */
#include "compose/attention.h"
#include "frontend/onnx/ops/hooks.h"

enum { X, POSITIONS, COS, SIN };

typedef struct rotary {
    ig_onnx_node *node;
    ig_expr *e;
    ig_value *x, *at; /* [B, heads, L, E]; i64 [B or 1, L] */
    ig_dim turned;    /* elements of a head */
} rotary;

/* Heads of x, and how many elements of each are turned: the attribute says, or a row of
 * angles, of which a head has one for each two. */
static void read_heads(rotary *r) {
    ig_onnx_node *node = r->node;
    ig_value *x = ig_onnx_float_input(node, X);
    const ig_type *cos = ig_onnx_ranked_input(node, COS, 2)->type;
    int64_t heads = ig_onnx_attr_between(node, "num_heads", 0, 0, INT32_MAX);
    int64_t few = ig_onnx_attr_between(node, "rotary_embedding_dim", 0, 0, INT32_MAX);
    if (ig_onnx_has_failed(node)) {
        return;
    }
    r->turned = few ? ig_dim_of(few)
                    : ig_dim_mul(r->e->module, ig_onnx_extent_of(r->e, cos, 1),
                                 ig_dim_of(2));
    int64_t width, each;
    if (x->type->rank == 3 && heads == 0 && few == 0 &&
        ig_dim_constant(r->e->module, ig_onnx_extent(r->e, x, 2), &width) &&
        ig_dim_constant(r->e->module, r->turned, &each) && each > 0) {
        heads = width / each;
    }
    if (x->type->rank == 3 && heads > 0) {
        r->x = ig_compose_split_heads(r->e, x, heads);
    } else if (x->type->rank == 4) {
        r->x = x;
    } else {
        ig_onnx_fail(node, IG_UNSUPPORTED,
                     "input 0 has rank %u and num_heads is %lld; expected rank 4, or 3 "
                     "and how many heads there are",
                     x->type->rank, (long long)heads);
    }
}

static void read_positions(rotary *r) {
    ig_expr *e = r->e;
    ig_value *at = ig_expr_cast(e, r->node->inputs[POSITIONS], IG_DT_i64);
    uint32_t rank = at ? at->type->rank : 0;
    if (rank == 2) {
        r->at = at;
    } else if (rank == 1) { /* of the first row */
        ig_value *first = ig_onnx_scalar_input(r->node, POSITIONS);
        ig_value *row = ig_expr_axis_iota(e, 2, 1, ig_onnx_extent(e, r->x, 2));
        r->at = ig_build_add(e, ig_expr_cast(e, first, IG_DT_i64), row);
    } else {
        ig_onnx_fail(r->node, IG_INVALID, "positions have rank %u, expected 1 or 2",
                     rank);
    }
}

/* The angles of each row, [B or 1, 1, L, turned / 2]. */
static ig_value *read_angles(const rotary *r, uint32_t index) {
    ig_value *all = ig_onnx_float_input(r->node, index);
    (void)ig_onnx_ranked_input(r->node, index, 2);
    ig_value *rows = ig_expr_gather(r->e, all, r->at, 0, IG_NEGATIVE_error);
    return rows ? ig_expr_unsqueeze(r->e, ig_expr_widen(r->e, rows), 1) : NULL;
}

/* Rotates by the node's angles [B or 1, 1, L, turned / 2]. */
static ig_status turn_heads(const rotary *r, ig_value *cos, ig_value *sin) {
    ig_onnx_node *node = r->node;
    bool is_interleaved = ig_onnx_attr_bool(node, "interleaved", false);
    IG_TRY(node->e->status);
    ig_dim half = ig_dim_floor_div(r->e->module, r->turned, ig_dim_of(2));
    const char *what = "rows of angles must be half as long as the rotated elements";
    ig_expr_guard_equal(r->e, ig_onnx_extent(r->e, cos, 3), half, what);
    ig_expr_guard_equal(r->e, ig_onnx_extent(r->e, sin, 3), half, what);
    ig_expr_guard_less_equal(r->e, r->turned, ig_onnx_extent(r->e, r->x, 3),
                             "the rotated elements must fit into a head");
    IG_TRY(node->e->status);
    ig_value *y = ig_compose_rotate(r->e, r->x, cos, sin, r->turned, is_interleaved);
    bool is_flat = node->inputs[X]->type->rank == 3;
    return ig_onnx_give(node, is_flat && y ? ig_compose_join_heads(r->e, y) : y);
}

static ig_status check_packing(const ig_onnx_node *node) {
    return ig_onnx_attr_bool(node, "is_packed_batching", false)
               ? ig_onnx_fail(node, IG_UNSUPPORTED,
                              "is_packed_batching is not supported")
               : node->e->status;
}

ig_status ig_onnx_import_rotate_heads(ig_onnx_node *node) {
    rotary r = { .node = node, .e = node->e };
    IG_TRY(check_packing(node));
    read_heads(&r);
    IG_TRY(node->e->status);
    read_positions(&r);
    IG_TRY(node->e->status);
    ig_value *cos = read_angles(&r, COS), *sin = read_angles(&r, SIN);
    return turn_heads(&r, cos, sin);
}

/* ---- MRotaryEmbedding: an angle is of a place in time, in height or in width ---- */

enum { STREAMS = 3 };

/* Which stream each angle is of: sections one after the other, or streams by turns as
 * far as the section of each goes, and the first where they do not. */
static ig_value *find_streams(const ig_onnx_node *node, ig_ints sections,
                              int64_t *out_count) {
    bool is_alternate = ig_onnx_attr_between(node, "mrope_layout", 0, 0, 1) == 1;
    int64_t ends[STREAMS], count = 0;
    for (uint32_t i = 0; i < STREAMS; i++) {
        if (sections.items[i] < 0 || sections.items[i] > INT16_MAX) {
            ig_onnx_fail(node, IG_INVALID, "mrope_section has an entry %lld",
                         (long long)sections.items[i]);
            return NULL;
        }
        count += sections.items[i];
        ends[i] = count;
    }
    int64_t *streams = IG_NEW_ARRAY(node->import->arena, int64_t, (size_t)count + 1u);
    for (int64_t k = 0; k < count; k++) {
        int64_t turn = k % STREAMS;
        bool is_own = turn == 0 || k < sections.items[turn] * STREAMS;
        int64_t part = (k >= ends[0]) + (k >= ends[1]);
        streams[k] = is_alternate ? (is_own ? turn : 0) : part;
    }
    *out_count = count;
    return ig_expr_constant(node->e, "streams", IG_DT_i64, 1, &count, streams);
}

/* The angles of each row, [B, 1, L, turned / 2], each at the position of its stream. */
static ig_value *read_mixed_angles(const rotary *r, uint32_t index, ig_value *streams) {
    ig_expr *e = r->e;
    ig_value *all = ig_onnx_float_input(r->node, index), *y = NULL;
    (void)ig_onnx_ranked_input(r->node, index, 2);
    ig_value *rows = ig_expr_gather(e, all, r->at, 0, IG_NEGATIVE_error);
    for (int64_t i = 0; i < STREAMS && rows; i++) {
        ig_value *own = ig_expr_widen(e, ig_expr_select(e, rows, 0, ig_dim_of(i)));
        ig_value *is_own = ig_expr_with_integer(e, IG_OP_eq, streams, i);
        y = y ? ig_build_where(e, is_own, own, y) : own;
    }
    return y ? ig_expr_unsqueeze(e, y, 1) : NULL;
}

ig_status ig_onnx_import_rotate_by_streams(ig_onnx_node *node) {
    rotary r = { .node = node, .e = node->e };
    IG_TRY(check_packing(node));
    ig_ints sections = ig_onnx_attr_list_of(node, "mrope_section", STREAMS);
    (void)ig_onnx_ranked_input(node, POSITIONS, 3);
    (void)ig_onnx_ranked_input(node, COS, 2);
    IG_TRY(node->e->status);
    int64_t count = 0;
    ig_value *streams = find_streams(node, sections, &count);
    read_heads(&r);
    IG_TRY(node->e->status);
    r.at = ig_expr_cast(r.e, node->inputs[POSITIONS], IG_DT_i64);
    ig_expr_guard_equal(r.e, ig_onnx_extent(node->e, r.at, 0), ig_dim_of(STREAMS),
                        "positions must be of three streams");
    ig_expr_guard_equal(r.e, ig_onnx_extent(node->e, node->inputs[COS], 1),
                        ig_dim_of(count),
                        "mrope_section must have as many angles as a row");
    ig_value *cos = read_mixed_angles(&r, COS, streams);
    ig_value *sin = read_mixed_angles(&r, SIN, streams);
    return turn_heads(&r, cos, sin);
}
