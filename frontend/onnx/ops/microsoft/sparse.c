/* SparseAttention of com.microsoft: groups of queries that see blocks of keys alone,
 * each head by one of a few masks.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  A mask is [blocks, blocks],
 * given by the ends of its rows among the columns that are set (CSR). */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/microsoft/group.h"

enum { ROW_ENDS = IG_ONNX_G_PAST_VALUE + 1, COLUMNS, TOTAL, LENGTHS, COS, SIN };

/* Masks as bool [masks, blocks, blocks]: each column that is given is put into its row;
 * elements after the last row are padding. */
static ig_value *read_masks(const ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *ends = ig_onnx_ranked_input(node, ROW_ENDS, 2);
    ig_value *columns = ig_onnx_ranked_input(node, COLUMNS, 2);
    if (ig_onnx_has_failed(node)) {
        return NULL;
    }
    ig_onnx_guard_extents(node, ROW_ENDS, 0, COLUMNS, 0);
    ig_dim one = ig_dim_of(1), masks = ig_onnx_extent(e, ends, 0);
    ig_dim blocks = ig_dim_sub(e->module, ig_onnx_extent(e, ends, 1), one);
    ig_dim given[] = { masks, ig_onnx_extent(e, columns, 1) };
    ig_value *count = ig_expr_dim(e, blocks, IG_DT_i64);
    ends = ig_expr_slice(e, ig_expr_cast(e, ends, IG_DT_i64), 1, one, blocks, 1);
    ig_value *at = ig_expr_expand(e, ig_expr_axis_iota(e, 2, 1, given[1]), 2, given);
    ig_value *row = ig_build_bucketize(e, at, ends,
                                       (ig_bucketize_attrs){ .right = true });
    ig_value *column = ig_expr_cast(e, columns, IG_DT_i64);
    ig_value *is_set = ig_build_and(e, ig_build_lt(e, row, count),
                                    ig_expr_with_integer(e, IG_OP_ge, column, 0));
    ig_value *position = ig_build_mul(e, ig_expr_axis_iota(e, 2, 0, masks), count);
    position = ig_build_mul(e, ig_build_add(e, position, row), count);
    position = ig_build_add(e, position, column);
    ig_dim cells = ig_dim_mul(e->module, masks, ig_dim_mul(e->module, blocks, blocks));
    ig_value *beyond = ig_expr_dim(e, cells, IG_DT_i64); /* a cell for padding */
    position = ig_expr_flatten(e, ig_build_where(e, is_set, position, beyond));
    ig_dim more = ig_dim_add(e->module, cells, one);
    ig_dim all = ig_dim_mul(e->module, given[0], given[1]);
    ig_value *y = ig_build_scatter_elements(e, ig_expr_fill(e, IG_DT_u8, 1, &more, 0),
                                            position,
                                            ig_expr_fill(e, IG_DT_u8, 1, &all, 1),
                                            (ig_scatter_elements_attrs){ .axis = 0 });
    y = ig_expr_slice(e, y, 0, ig_dim_of(0), cells, 1);
    y = ig_expr_reshape(e, y, 3, (ig_dim[]){ masks, blocks, blocks });
    return ig_expr_with_integer(e, IG_OP_ne, y, 0);
}

/* Rows of the cache as blocks, of which there are `blocks`. */
static ig_value *block_of(ig_expr *e, ig_value *row, int64_t size, ig_dim blocks) {
    ig_dim last = ig_dim_sub(e->module, blocks, ig_dim_of(1));
    row = ig_build_div(e, row, ig_expr_integer(e, IG_DT_i64, size));
    return ig_build_min(e, row, ig_expr_dim(e, last, IG_DT_i64));
}

/* bool [B, heads, rows, all]: masks go to heads by turns, and no key is after its
 * query. */
static ig_value *find_seen(const ig_onnx_group *g, ig_value *masks, int64_t size) {
    ig_expr *e = g->h.e;
    ig_dim blocks = ig_onnx_extent(e, masks, 1);
    ig_value *own = ig_onnx_own_rows(g);
    ig_value *row = ig_expr_squeeze(e, ig_expr_squeeze(e, own, 3), 1); /* [B, rows] */
    ig_value *column = ig_expr_iota(e, IG_DT_i64, g->all);
    ig_value *seen = ig_expr_gather(e, masks, block_of(e, row, size, blocks), 1,
                                    IG_NEGATIVE_error); /* [masks, B, rows, blocks] */
    seen = ig_expr_gather(e, seen, block_of(e, column, size, blocks), 3,
                          IG_NEGATIVE_error);
    ig_value *head = ig_build_mod(
        e, ig_expr_iota(e, IG_DT_i64, ig_dim_of(g->h.count)),
        ig_expr_dim(e, ig_onnx_extent(e, masks, 0), IG_DT_i64), (ig_mod_attrs){ 0 });
    seen = ig_expr_gather(e, seen, head, 0, IG_NEGATIVE_error);
    ig_value *is_past = ig_build_le(e, ig_expr_axis_iota(e, 4, 3, g->all), own);
    return ig_build_and(e, ig_expr_swap(e, seen, 0, 1), is_past);
}

ig_status ig_onnx_import_sparse_attention(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_onnx_group g = { .h = { .node = node, .e = e } };
    int64_t size = ig_onnx_attr_between(node, "sparse_block_size", 0, 1, INT32_MAX);
    for (uint32_t i = IG_ONNX_G_PAST_KEY; i <= LENGTHS; i++) {
        IG_TRY(ig_onnx_needs_input(node, i) ? IG_OK : e->status);
    }
    ig_value *masks = read_masks(node);
    if (!masks || !ig_onnx_read_group(&g)) {
        return e->status;
    }
    ig_value *lengths = ig_onnx_ranked_input(node, LENGTHS, 1);
    IG_TRY(e->status);
    ig_onnx_find_past(&g, ig_expr_cast(e, lengths, IG_DT_i64),
                      ig_onnx_count_input(node, TOTAL));
    if (ig_onnx_attr_bool(node, "do_rotary", false)) {
        ig_onnx_rotate_group(&g, COS, SIN);
    }
    IG_TRY(e->status);
    ig_onnx_extend_caches(&g);
    IG_TRY(e->status);
    ig_attention a = ig_onnx_open_attention(&g.h);
    IG_TRY(e->status);
    a.mask = find_seen(&g, masks, size);
    return ig_onnx_give_attention(&g.h, &a);
}
