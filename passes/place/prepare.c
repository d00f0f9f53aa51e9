/* prepare: values of opened weights alone are computed once after each change of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     compute %w, %0 {family = "copy"} …            %w: f32[512, 13] {opened}
 *     compute %x, %0, %1 {family = "gemm"} …
 *   becomes
 *     prepare {
 *       compute %w, %0 {family = "copy"} …
 *     }
 *     compute %x, %0, %1 {family = "gemm"} …
 *
 * A compute goes there when it reads opened weights, constants and prepared values,
 * knows all sizes, and all that it writes is written by such computes before anybody
 * else reads it.  Values read outside of the body are in a buffer before it, which the
 * session keeps from run to run; the others are the body's own.
 *
 * Plan stage, entry block, last of the place phase.
 */
#include "ir/build/expr.h"
#include "passes/engine/pass.h"
#include "passes/place/part.h"

#include <assert.h>

typedef struct preparer {
    ig_pass_run *run;
    ig_graph *graph;
    IG_VEC(ig_op *) computes; /* that may be prepared */
    ig_map is_chosen;         /* compute -> itself */
    ig_map order;             /* op of the entry block -> its number + 1 */
} preparer;

/* ---- sizes ---- */

static bool are_static(const ig_op *op) {
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        const ig_attr *attr = &op->attrs[i];
        const ig_dim *dims = attr->kind == IG_ATTR_DIM ? &attr->as.dim : attr->as.dims;
        uint32_t count = attr->kind == IG_ATTR_DIM    ? 1
                         : attr->kind == IG_ATTR_DIMS ? attr->count
                                                      : 0;
        for (uint32_t d = 0; d < count; d++) {
            if (!ig_dim_is_static(dims[d])) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!ig_type_is_static(op->results[i].type)) {
            return false;
        }
    }
    return true;
}

static bool knows_sizes(const ig_op *compute) {
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        const ig_value *value = compute->operands[i].value;
        if (!ig_type_is_static(value->type) ||
            (value->def && !are_static(value->def))) {
            return false;
        }
    }
    for (const ig_op *op = compute->bodies[0]->first; op; op = op->next) {
        if (op->body_count || !are_static(op)) {
            return false;
        }
    }
    return true;
}

/* ---- which ones ---- */

static bool is_chosen(const preparer *p, const ig_op *op) {
    return ig_map_get_id(&p->is_chosen, IG_MAP_PTR(op)) != NULL;
}

/* The op of the entry block that `op` is, or is in. */
static uintptr_t order_of(const preparer *p, const ig_op *op) {
    while (op->block->parent) {
        op = op->block->parent;
    }
    return (uintptr_t)ig_map_get_id(&p->order, IG_MAP_PTR(op));
}

typedef struct buffer_use {
    bool is_written, is_good; /* by chosen computes alone */
    uintptr_t last_write, first_read;
} buffer_use;

static bool is_read(const ig_use *use) {
    const ig_op *user = use->user;
    bool is_compute = user->code == IG_OP_compute;
    return is_compute && use - user->operands < (ptrdiff_t)ig_part_in_count(user);
}

/* Readers that are chosen stay in order with the writers. */
static void note_uses(const preparer *p, const ig_value *value, buffer_use *out) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        const ig_op *user = use->user;
        uintptr_t index = order_of(p, user);
        if (user->code == IG_OP_view) {
            note_uses(p, user->results, out);
        } else if (is_read(use)) {
            bool is_first = !is_chosen(p, user) && index < out->first_read;
            out->first_read = is_first ? index : out->first_read;
        } else if (is_chosen(p, user)) {
            out->is_written = true;
            out->last_write = index > out->last_write ? index : out->last_write;
        } else {
            out->is_good = false; /* written by others, or a result of the graph */
        }
    }
}

static bool is_prepared(const preparer *p, const ig_value *root) {
    buffer_use use = { .is_good = true, .first_read = UINTPTR_MAX };
    if (!ig_def(root, IG_OP_alloc)) {
        return false;
    }
    note_uses(p, root, &use);
    return use.is_good && use.is_written && use.last_write < use.first_read;
}

static bool may_read(const preparer *p, const ig_value *root) {
    bool is_constant = root->def &&
                       (ig_ops[root->def->code].traits & IG_CONSTANT) == IG_CONSTANT;
    return is_constant || ig_graph_is_opened(p->graph, root) || is_prepared(p, root);
}

static bool may_stay(const preparer *p, const ig_op *compute) {
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        const ig_value *root = ig_part_root(compute->operands[i].value);
        if (i < ig_part_in_count(compute) ? !may_read(p, root)
                                          : !is_prepared(p, root)) {
            return false;
        }
    }
    return true;
}

/* All whose sizes are known, less those that the others rule out, until none does. */
static void choose_computes(preparer *p) {
    uintptr_t index = 0;
    for (ig_op *op = p->graph->body.first; op; op = op->next) {
        ig_map_set_id(&p->order, IG_MAP_PTR(op), (void *)++index);
        if (op->code == IG_OP_compute && knows_sizes(op)) {
            IG_PUSH(p->run->scratch, &p->computes, op);
            ig_map_set_id(&p->is_chosen, IG_MAP_PTR(op), op);
        }
    }
    for (size_t before = SIZE_MAX; before != p->computes.count;) {
        size_t kept = 0;
        before = p->computes.count;
        for (size_t i = 0; i < before; i++) {
            ig_op *op = p->computes.items[i];
            if (may_stay(p, op)) {
                p->computes.items[kept++] = op;
            } else {
                ig_map_set_id(&p->is_chosen, IG_MAP_PTR(op), NULL);
            }
        }
        p->computes.count = kept;
    }
}

/* ---- making it ---- */

static bool is_used_outside(const ig_value *value, const ig_block *body) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        bool is_view = use->user->code == IG_OP_view;
        if (is_view ? is_used_outside(use->user->results, body)
                    : use->user->block != body) {
            return true;
        }
    }
    return false;
}

/* Views of a compute that moves are made anew in front of it. */
static void move_compute(preparer *p, ig_op *compute, ig_block *body) {
    ig_op_move(compute, body, NULL);
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        ig_op *view = ig_def(compute->operands[i].value, IG_OP_view);
        if (view) {
            ig_map none;
            ig_map_init(&none, p->run->scratch);
            ig_op *copy = ig_op_clone(view, body, compute, &none);
            ig_use_set(&compute->operands[i], copy->results);
            if (!view->results->uses) {
                ig_op_erase(view);
            }
        }
    }
}

static void place_buffers(const preparer *p, ig_op *prepare) {
    ig_block *body = prepare->bodies[0];
    for (size_t i = 0; i < p->computes.count; i++) {
        const ig_op *op = p->computes.items[i];
        for (uint32_t k = ig_part_in_count(op); k < op->operand_count; k++) {
            ig_value *root = ig_part_root(op->operands[k].value);
            bool is_own = !is_used_outside(root, body);
            if (root->def->block != body) {
                ig_op_move(root->def, is_own ? body : prepare->block,
                           is_own ? body->first : prepare);
            }
        }
    }
}

static void make_prepare(preparer *p) {
    ig_op *at = p->graph->body.first;
    while ((ig_ops[at->code].traits & IG_CONSTANT) == IG_CONSTANT) {
        at = at->next;
    }
    ig_builder b = ig_builder_before(at);
    b.loc = p->computes.items[0]->loc;
    ig_expr e = ig_expr_of(&b);
    ig_op_spec spec = { .body_count = 1 };
    ig_op *prepare = ig_build_prepare_op(&e, &spec);
    for (size_t i = 0; i < p->computes.count; i++) {
        move_compute(p, p->computes.items[i], prepare->bodies[0]);
    }
    place_buffers(p, prepare);
    ig_builder end = ig_builder_at_end(prepare->bodies[0]);
    ig_make_yield(&end, NULL, 0);
    p->run->changed = true;
}

ig_status ig_pass_prepare(ig_pass_run *run, ig_graph *graph) {
    preparer p = { .run = run, .graph = graph };
    if (graph->opened_count == 0) {
        return IG_OK;
    }
    ig_map_init(&p.is_chosen, run->scratch);
    ig_map_init(&p.order, run->scratch);
    choose_computes(&p);
    if (p.computes.count > 0) {
        make_prepare(&p);
    }
    return IG_OK;
}
