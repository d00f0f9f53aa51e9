/* Rules of look-ups in embedding tables, in gradients of whole tables, and of interact.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row's gradient is the sum of those of the bags that read it. */
#include "passes/grad/bag_list.h"
#include "passes/grad/rule.h"

#include <string.h>

/* By the weight of each id: its row times what its bag gets. */
static void give_weights(ig_grad *g, const ig_bag_list *f, ig_value *d) {
    ig_expr *e = f->e;
    ig_value *weights = ig_grad_x(g, f->at.weights);
    ig_value *product = ig_build_mul(e, ig_bag_list_rows(f), d);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, product, 1, false);
    sum = f->is_row ? ig_grad_when(e, f->is_row, sum) : sum;
    if (f->position) {
        const ig_type *line = ig_type_with_dims(e->module, sum->type, 1, &f->ids);
        sum = ig_grad_add_rows(e, line, f->position, NULL, sum);
    }
    sum = ig_expr_reshape(e, sum, weights->type->rank, weights->type->dims);
    ig_grad_give(g, f->at.weights, ig_expr_like(e, sum, weights));
}

static void give_feature(ig_grad *g, const ig_bag_list *f) {
    ig_expr *e = f->e;
    ig_value *d = ig_bag_list_spread(f, ig_grad_of_result(g, f->index));
    if (f->at.weights && ig_grad_wants(g, f->at.weights)) {
        give_weights(g, f, d);
    }
    if (ig_grad_wants(g, f->at.table)) {
        ig_value *weights = ig_bag_list_weights(f);
        d = ig_expr_like(e, weights ? ig_build_mul(e, d, weights) : d, f->table);
        const ig_type *type = f->table->type;
        ig_grad_give(g, f->at.table, ig_grad_add_rows(e, type, f->id, f->is_row, d));
    }
}

void ig_grad_bag(ig_grad *g) {
    for (uint32_t i = 0; i < ig_bag_feature_count(g->op); i++) {
        ig_bag_feature at = ig_bag_feature_at(g->op, i);
        bool is_wanted = ig_grad_wants(g, at.table) ||
                         (at.weights && ig_grad_wants(g, at.weights));
        if (!is_wanted || !ig_grad_of_result(g, i)) {
            continue;
        }
        const char *fault = ig_bag_list_fault(g->op, i);
        if (fault) {
            ig_grad_refuse(g, fault);
            return;
        }
        if (!ig_dim_is(ig_type_count(g->e->module, ig_grad_x(g, at.ids)->type), 0)) {
            ig_bag_list ids;
            ig_bag_list_open(g->e, g->op, i, false, &ids);
            give_feature(g, &ids);
        }
    }
}

/* ---- interact ----
 *
 * Where pair k is of rows p and q, dy_k is at [p, q] and at [q, p] of a matrix S, added
 * where several pairs are of the same rows; dx = S x.
 */

enum { FEW = 4 }; /* elements of S for each that a pair is at */

static int64_t turn_pair(int64_t pair, int64_t rows) {
    return pair % rows * rows + pair / rows;
}

/* For each element of S the pair whose dy is there, or -1: of a row with itself, pairs
 * are counted on after the others, since its dy is there twice.  NULL where two pairs
 * are of the same rows, or S is nearly empty. */
static int64_t *find_pairs(ig_grad *g, const ig_attr *pairs, int64_t rows) {
    int64_t count = pairs->count, size = rows * rows;
    if (size / FEW > 2 * count) {
        return NULL;
    }
    int64_t *found = IG_NEW_ARRAY(&g->e->module->arena, int64_t, (size_t)size);
    memset(found, -1, (size_t)size * sizeof *found);
    for (int64_t k = 0; k < count; k++) {
        int64_t pair = pairs->as.ints[k], turned = turn_pair(pair, rows);
        if (found[pair] >= 0) {
            return NULL;
        }
        found[pair] = found[turned] = pair == turned ? count + k : k;
    }
    return found;
}

/* S, as rows of its elements. */
static ig_value *gather_pairs(ig_grad *g, const int64_t *found, int64_t size) {
    ig_expr *e = g->e;
    int64_t count = ig_dim_value(g->dy->type->dims[1]), last = -1;
    for (int64_t i = 0; i < size; i++) {
        last = found[i] > last ? found[i] : last;
    }
    ig_value *dy = g->dy;
    if (last >= count) {
        dy = ig_expr_concat(e, 1, (ig_value *[]){ dy, ig_build_add(e, dy, dy) }, 2);
    }
    ig_value *index = ig_expr_ints(e, found, (uint32_t)size);
    return ig_expr_gather(e, dy, index, 1, IG_NEGATIVE_skip);
}

/* The same by sums, for whatever pairs there are. */
static ig_value *add_pairs(ig_grad *g, const ig_attr *pairs, int64_t rows) {
    ig_expr *e = g->e;
    int64_t *positions = IG_NEW_ARRAY(&e->module->arena, int64_t, 2 * pairs->count);
    for (uint32_t k = 0; k < pairs->count; k++) {
        positions[k] = pairs->as.ints[k];
        positions[pairs->count + k] = turn_pair(pairs->as.ints[k], rows);
    }
    ig_value *index = ig_expr_ints(e, positions, 2 * pairs->count);
    ig_value *both = ig_expr_concat(e, 1, (ig_value *[]){ g->dy, g->dy }, 2);
    ig_dim dims[] = { ig_dim_of(rows * rows), g->dy->type->dims[0] };
    const ig_type *flat = ig_type_with_dims(e->module, g->dy->type, 2, dims);
    ig_value *sums = ig_grad_add_rows(e, flat, index, NULL,
                                      ig_expr_swap(e, both, 0, 1));
    return ig_expr_swap(e, sums, 0, 1);
}

void ig_grad_interact(ig_grad *g) {
    ig_expr *e = g->e;
    const ig_attr *pairs = &g->op->attrs[IG_interact_pairs];
    ig_value *x = ig_grad_x(g, 0);
    const ig_type *type = x->type;
    int64_t rows;
    if (!ig_dim_constant(e->module, type->dims[1], &rows) || pairs->count == 0) {
        ig_grad_refuse(g, "its number of rows is computed, or it has no pair");
        return;
    }
    const int64_t *found = find_pairs(g, pairs, rows);
    ig_value *sums = found ? gather_pairs(g, found, rows * rows)
                           : add_pairs(g, pairs, rows);
    ig_dim square[] = { type->dims[0], type->dims[1], type->dims[1] };
    ig_grad_give(g, 0, ig_expr_matmul(e, ig_expr_reshape(e, sums, 3, square), x));
}

/* ---- forest ---- */

/* Steps of x. */
void ig_grad_forest(ig_grad *g) {
    for (uint32_t i = 1; i < g->op->operand_count; i++) {
        if (ig_grad_wants(g, i)) {
            ig_grad_refuse(g, "its trees cannot be trained");
        }
    }
}
