/* TfIdfVectorizer: how often the n-grams of a pool occur in each row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An n-gram with skip s is elements p, p + s + 1, p + 2 (s + 1) … of a row.  All
 * n-grams of one length are compared with all places at once.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/text/text.h"

#include <string.h>

enum { TF, IDF, TFIDF };
enum { MAX_COLUMNS = 1 << 22 }; /* of the output */

typedef struct pool {
    ig_onnx_node *node;
    ig_expr *e;
    ig_ints starts, indexes, items; /* ngram_counts, ngram_indexes, pool_int64s */
    int64_t min, max, skips, outputs;
} pool;

/* Output columns, checked. */
static bool count_outputs(pool *p) {
    for (uint32_t i = 0; i < p->indexes.count; i++) {
        int64_t index = p->indexes.items[i];
        if (index < 0 || index >= MAX_COLUMNS) {
            ig_onnx_fail(p->node, index < 0 ? IG_INVALID : IG_LIMIT,
                         "ngram_indexes[%u] is %lld, expected 0 to %d", i,
                         (long long)index, MAX_COLUMNS - 1);
            return false;
        }
        p->outputs = index >= p->outputs ? index + 1 : p->outputs;
    }
    return true;
}

/* Where n-grams of length n begin in the pool, and how many there are. */
static bool find_ngrams(const pool *p, int64_t n, int64_t *out_first,
                        int64_t *out_count) {
    *out_first = *out_count = 0;
    if (n > p->starts.count) {
        return true;
    }
    int64_t first = p->starts.items[n - 1];
    int64_t end = n < p->starts.count ? p->starts.items[n] : p->items.count;
    if (first < 0 || end < first || end > p->items.count || (end - first) % n) {
        ig_onnx_fail(p->node, IG_INVALID,
                     "ngram_counts gives no whole number of %lld-grams", (long long)n);
        return false;
    }
    *out_first = first;
    *out_count = (end - first) / n;
    return true;
}

/* Counts [N, grams] of n-grams `grams` i64 [count, n] in rows x i64 [N, L]. */
static ig_value *count_grams(const pool *p, ig_value *x, ig_value *grams, int64_t n,
                             int64_t skip) {
    ig_expr *e = p->e;
    ig_module *m = e->module;
    ig_dim reach = ig_dim_of((n - 1) * (skip + 1));
    ig_dim positions = ig_dim_sub(m, ig_onnx_extent(e, x, 1), reach);
    positions = ig_dim_max(m, positions, ig_dim_of(0));
    ig_value *is_equal = NULL;
    for (int64_t k = 0; k < n; k++) {
        ig_value *at = ig_expr_iota(e, IG_DT_i64, positions);
        at = ig_expr_with_integer(e, IG_OP_add, at, k * (skip + 1));
        ig_value *own = ig_expr_gather(e, x, at, 1, IG_NEGATIVE_error);
        ig_value *wanted = ig_expr_select(e, grams, 1, ig_dim_of(k));
        own = ig_build_eq(e, ig_expr_unsqueeze(e, own, 2),
                          ig_expr_along(e, wanted, 2, 3));
        is_equal = is_equal ? ig_build_and(e, is_equal, own) : own;
    }
    is_equal = ig_expr_cast(e, is_equal, IG_DT_i64);
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, is_equal, 1, false);
}

/* Counts of the n-grams in the order of the pool, f32 [N, grams]. */
static ig_value *count_pool(const pool *p, ig_value *x, uint32_t *out_grams) {
    ig_expr *e = p->e;
    ig_value **parts = IG_NEW_ARRAY(p->node->import->arena, ig_value *,
                                    p->starts.count + 1u);
    uint32_t used = 0;
    for (int64_t n = 1; n <= p->starts.count; n++) {
        int64_t first, count;
        if (!find_ngrams(p, n, &first, &count)) {
            return NULL;
        }
        if (count == 0) {
            continue;
        }
        ig_value *grams = ig_expr_constant(
            e, "ngrams", IG_DT_i64, 2, (int64_t[]){ count, n }, p->items.items + first);
        ig_dim dims[] = { ig_onnx_extent(e, x, 0), ig_dim_of(count) };
        ig_value *sum = ig_expr_fill(e, IG_DT_i64, 2, dims, 0);
        int64_t skips = n == 1 ? 0 : p->skips;
        for (int64_t s = 0; n >= p->min && n <= p->max && s <= skips; s++) {
            sum = ig_build_add(e, sum, count_grams(p, x, grams, n, s));
        }
        parts[used++] = ig_expr_cast(e, sum, IG_DT_f32);
        *out_grams += (uint32_t)count;
    }
    return used ? ig_expr_concat(e, 1, parts, used) : NULL;
}

/* Counts by output column: that of the n-gram whose index it is, else 0. */
static ig_value *place_counts(const pool *p, ig_value *counts, uint32_t grams) {
    ig_expr *e = p->e;
    int64_t *from = IG_NEW_ARRAY(p->node->import->arena, int64_t,
                                 (size_t)p->outputs + 1);
    for (int64_t i = 0; i < p->outputs; i++) {
        from[i] = grams; /* the column of zeros at the end */
    }
    for (uint32_t i = 0; i < grams; i++) {
        from[p->indexes.items[i]] = i;
    }
    ig_dim none[] = { ig_dim_of(0), ig_dim_of(0) },
           one[] = { ig_dim_of(0), ig_dim_of(1) };
    counts = ig_expr_pad(e, counts, none, one, IG_PAD_constant, 0);
    ig_value *at = ig_expr_ints(e, from, (uint32_t)p->outputs);
    return ig_expr_gather(e, counts, at, 1, IG_NEGATIVE_error);
}

/* Counts by n-gram of the pool, as `weights` are. */
static ig_value *weigh_counts(const pool *p, ig_value *counts, uint32_t grams) {
    ig_expr *e = p->e;
    int64_t count = grams;
    uint32_t mode = ig_onnx_attr_choice(p->node, "mode", "TF IDF TFIDF");
    const Onnx__AttributeProto *attr = ig_onnx_attr(p->node, "weights", NULL);
    if (mode == TF) {
        return counts;
    }
    if (attr && (int64_t)attr->n_floats != count) {
        return ig_expr_fail(e, IG_INVALID, "weights has %zu entries, expected %lld",
                            attr->n_floats, (long long)count);
    }
    ig_value *weights = attr ? ig_expr_constant(e, "weights", IG_DT_f32, 1, &count,
                                                attr->floats)
                             : ig_expr_number(e, IG_DT_f32, 1);
    if (mode == TFIDF) {
        return ig_build_mul(e, counts, weights);
    }
    ig_value *zero = ig_expr_number(e, IG_DT_f32, 0);
    return ig_build_where(e, ig_expr_with(e, IG_OP_gt, counts, 0), weights, zero);
}

/* Texts by their first place in the pool, which becomes a pool of these numbers. */
static ig_value *index_texts(pool *p, ig_value *x) {
    ig_onnx_node *node = p->node;
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, "pool_strings", NULL);
    ig_value *list = ig_onnx_text_list_of(node, "pool_strings");
    if (!list || !attr || attr->n_strings > INT32_MAX) {
        return ig_expr_fail(p->e, IG_INVALID, "has no pool_strings");
    }
    ig_map first;
    ig_map_init(&first, node->import->arena);
    int64_t *items = IG_NEW_ARRAY(node->import->arena, int64_t, attr->n_strings);
    for (size_t i = 0; i < attr->n_strings; i++) {
        const ProtobufCBinaryData *text = &attr->strings[i];
        ig_str key = { text->len ? (const char *)text->data : "", text->len };
        int64_t *known = ig_map_get(&first, key);
        items[i] = known ? *known : (int64_t)i;
        ig_map_set(&first, key, known ? known : &items[i]);
    }
    p->items = (ig_ints){ items, (uint32_t)attr->n_strings };
    return ig_build_text_find(p->e, x, list);
}

ig_status ig_onnx_import_tfidf(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = node->inputs[0];
    uint32_t rank = x->type->rank, grams = 0;
    pool p = { .node = node, .e = e };
    p.starts = ig_onnx_attr_list(node, "ngram_counts");
    p.indexes = ig_onnx_attr_list(node, "ngram_indexes");
    p.items = ig_onnx_attr_list(node, "pool_int64s");
    p.min = ig_onnx_attr_between(node, "min_gram_length", 1, 1, INT32_MAX);
    p.max = ig_onnx_attr_between(node, "max_gram_length", 1, p.min, INT32_MAX);
    p.skips = ig_onnx_attr_between(node, "max_skip_count", 0, 0, 1024);
    IG_TRY(e->status);
    if (x->type->dtype == IG_DT_str) {
        x = index_texts(&p, x);
        IG_TRY(e->status);
    }
    if (!p.items.items || !ig_dtype_is_int((ig_dtype)x->type->dtype)) {
        return ig_onnx_fail(node, IG_INVALID,
                            "its pool is of another type than its input");
    }
    if (rank < 1 || rank > 2 || !count_outputs(&p)) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 1 or 2",
                            rank);
    }
    x = ig_expr_cast(e, x, IG_DT_i64);
    x = rank == 1 ? ig_expr_unsqueeze(e, x, 0) : x;
    IG_TRY(e->status);
    ig_value *counts = count_pool(&p, x, &grams);
    IG_TRY(e->status);
    if (!counts || grams != p.indexes.count) {
        return ig_onnx_fail(node, IG_INVALID,
                            "ngram_indexes has %u entries, the pool %u n-grams",
                            p.indexes.count, grams);
    }
    ig_value *y = place_counts(&p, weigh_counts(&p, counts, grams), grams);
    return ig_onnx_give(node, rank == 1 ? ig_expr_squeeze(e, y, 0) : y);
}
