/* Rules of what ranks exchange.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loss is the sum over all ranks of theirs, so gradients go the way back: a part
 * returns to the rank it came from, and a sum goes to all ranks whose terms were added.
 */
#include "ir/dim/dim.h"
#include "ir/shard.h"
#include "passes/grad/rule.h"

#include <string.h>

/* Its value is the table. */
void ig_grad_shard(ig_grad *g) {
    ig_grad_give(g, 0, g->dy);
}

/* ---- weights of ids ---- */

/* The numbers of the weights, counted from 1, are taken in their place; 0 is of ids
 * that have none. */
void ig_grad_bag_ids(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *operands[4], *dy = ig_grad_of_result(g, 2);
    uint32_t last = g->op->operand_count - 1u;
    const ig_type *type = ig_grad_x(g, last)->type;
    ig_dim count = ig_type_count(e->module, type);
    for (uint32_t i = 0; i < last; i++) {
        operands[i] = ig_grad_x(g, i);
    }
    ig_value *numbers = ig_expr_iota(e, IG_DT_i64, count);
    numbers = ig_expr_cast(e, ig_expr_with_integer(e, IG_OP_add, numbers, 1),
                           IG_DT_f64);
    operands[last] = ig_expr_reshape(e, numbers, type->rank, type->dims);
    ig_op_spec spec = { .operands = operands,
                        .operand_count = last + 1,
                        .result_count = 3 };
    ig_op *again = ig_build_bag_ids_op(e, &spec, ig_bag_ids_attrs_of(g->op));
    ig_value *index = ig_expr_cast(e, ig_op_result(again, 2), IG_DT_i64);
    index = ig_expr_with_integer(e, IG_OP_sub, index, 1);
    const ig_type *line = ig_type_with_dims(e->module, type, 1, &count);
    ig_value *is_live = ig_expr_with(e, IG_OP_ge, index, 0);
    ig_value *d = ig_grad_add_rows(e, line, index, is_live, dy);
    ig_grad_give(g, last, ig_expr_reshape(e, d, type->rank, type->dims));
}

/* Each goes back from where it went; an id that became -1 went nowhere: to a 0 after
 * all. */
void ig_grad_deal(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *became = ig_op_result(g->op, 4), *dy = ig_grad_of_result(g, 5);
    ig_dim none = ig_dim_of(0), one = ig_dim_of(1);
    ig_value *end = ig_expr_dim(e, dy->type->dims[0], IG_DT_i64);
    ig_value *is_live = ig_expr_with(e, IG_OP_ge, became, 0);
    dy = ig_expr_pad(e, dy, &none, &one, IG_PAD_constant, 0);
    became = ig_build_where(e, is_live, became, end);
    ig_grad_give(g, 2, ig_expr_gather(e, dy, became, 0, IG_NEGATIVE_error));
}

/* ---- collectives ---- */

/* All have the sum of all, so each one's part goes into all. */
void ig_grad_all_reduce(ig_grad *g) {
    uint32_t count = g->op->operand_count;
    ig_value **dys = IG_NEW_ARRAY(&g->e->module->arena, ig_value *, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *dy = ig_grad_of_result(g, i);
        dys[i] = dy ? dy : ig_grad_zeros(g->e, ig_grad_x(g, i)->type);
    }
    ig_op_spec spec = { .operands = dys,
                        .operand_count = count,
                        .result_count = count };
    ig_op *sums = ig_build_all_reduce_op(g->e, &spec, ig_all_reduce_attrs_of(g->op));
    for (uint32_t i = 0; i < count; i++) {
        ig_grad_give(g, i, ig_op_result(sums, i));
    }
}

/* Lists on their way back: as triples, since how much comes is known. */
typedef struct way_back {
    ig_value **operands;
    uint32_t *lists; /* whose gradient each is, by the op's lists */
    uint32_t count;
} way_back;

static way_back begin_way(const ig_grad *g) {
    uint32_t lists = ig_list_count(g->op);
    ig_arena *arena = &g->e->module->arena;
    return (way_back){ .operands = IG_NEW_ARRAY(arena, ig_value *, 3 * lists),
                       .lists = IG_NEW_ARRAY(arena, uint32_t, lists) };
}

static void send_back(way_back *way, uint32_t list, ig_value *d, ig_value *counts,
                      ig_value *known) {
    ig_value *triple[] = { d, counts, known };
    memcpy(way->operands + 3 * way->count, triple, sizeof triple);
    way->lists[way->count++] = list;
}

/* One exchange, which every rank makes, whatever it has of the lists. */
static void end_way(ig_grad *g, const way_back *way, int64_t rank) {
    if (way->count == 0) {
        return;
    }
    ig_op_spec spec = { .operands = way->operands,
                        .operand_count = 3 * way->count,
                        .result_count = 2 * way->count };
    ig_all_to_all_attrs attrs = { .rank = rank, .known = true };
    ig_op *back = ig_build_all_to_all_op(g->e, &spec, attrs);
    for (uint32_t i = 0; back && i < way->count; i++) {
        uint32_t index = way->lists[i] * ig_list_stride(g->op);
        const ig_type *type = ig_grad_x(g, index)->type;
        ig_value *came = ig_op_result(back, 2 * i);
        ig_grad_give(g, index, ig_expr_reshape(g->e, came, type->rank, type->dims));
    }
}

/* The gradient of what came of list i.  Lists on their way there go back on all ranks
 * or on none: zeros where this one does not read what came. */
static ig_value *gradient_of_list(const ig_grad *g, uint32_t i) {
    ig_value *dy = ig_grad_of_result(g, 2 * i);
    if (ig_list_stride(g->op) == 3) {
        return dy;
    }
    bool is_wanted = ig_grad_wants(g, 2 * i);
    return !is_wanted ? NULL
           : dy       ? dy
                      : ig_grad_zeros(g->e, ig_op_result(g->op, 2 * i)->type);
}

void ig_grad_all_to_all(ig_grad *g) {
    uint32_t stride = ig_list_stride(g->op);
    way_back way = begin_way(g);
    for (uint32_t i = 0; i < ig_list_count(g->op); i++) {
        ig_value *dy = gradient_of_list(g, i);
        if (dy) {
            send_back(&way, i, dy, ig_op_result(g->op, 2 * i + 1),
                      ig_grad_x(g, i * stride + 1));
        }
    }
    end_way(g, &way, ig_attr_int(g->op, IG_all_to_all_rank, 0));
}

/* Every rank's terms are in this one's sums. */
void ig_grad_reduce_scatter(ig_grad *g) {
    ig_expr *e = g->e;
    way_back way = begin_way(g);
    for (uint32_t i = 0; i < ig_list_count(g->op); i++) {
        ig_value *dy = ig_grad_of_result(g, i), *counts = ig_grad_x(g, 2 * i + 1);
        if (!dy) {
            continue;
        }
        ig_dim dims[IG_TENSOR_RANK + 1], world = counts->type->dims[0];
        ig_dim own = dy->type->dims[0];
        dims[0] = world;
        memcpy(dims + 1, dy->type->dims, dy->type->rank * sizeof *dims);
        ig_value *all = ig_expr_expand(e, ig_expr_unsqueeze(e, dy, 0),
                                       dy->type->rank + 1u, dims);
        ig_value *each = ig_expr_expand(e, ig_expr_dim(e, own, IG_DT_i64), 1, &world);
        send_back(&way, i, ig_expr_merge_axes(e, all, 0, 1), each, counts);
    }
    end_way(g, &way, ig_attr_int(g->op, IG_reduce_scatter_rank, 0));
}
