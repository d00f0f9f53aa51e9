/* Gradients at a point other than that of the graph.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %y = f(%x)                       and %p in place of %x:
 *     %q = reshape %p                  a value of its own, by which gradients are
 *     %z = f(%q)                       what depends on x, again
 *     …                                gradients of the sum of z by q
 */
#include "passes/grad/reverse.h"

#include <assert.h>

static bool reads_any(ig_map *again, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (ig_map_get_id(again, IG_MAP_PTR(op->operands[i].value))) {
            return true;
        }
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *in = op->bodies[i]->first; in; in = in->next) {
            if (reads_any(again, in)) {
                return true;
            }
        }
    }
    return false;
}

/* Clones what depends on the xs, up to y; gives the y of the clones. */
static ig_value *clone_path(ig_builder *builder, const ig_gradient_at *what,
                            ig_map *again) {
    ig_op *end = what->y->def ? what->y->def->next : builder->block->first;
    ig_op *last = builder->block->last; /* clones come after it */
    for (ig_op *op = builder->block->first; op != end; op = op->next) {
        if (reads_any(again, op)) {
            (void)ig_op_clone(op, builder->block, builder->before, again);
        }
        if (op == last) {
            break;
        }
    }
    ig_value *y = ig_map_get_id(again, IG_MAP_PTR(what->y));
    return y ? y : what->y;
}

ig_status ig_gradients_at(ig_builder *builder, const ig_gradient_at *what,
                          ig_value **out) {
    ig_arena arena;
    ig_map again;
    ig_expr e = ig_expr_of(builder);
    ig_arena_init(&arena, &e.module->context->budget);
    ig_map_init(&again, &arena);
    ig_value **points = IG_NEW_ARRAY(&arena, ig_value *, what->count);
    for (uint32_t i = 0; i < what->count; i++) {
        const ig_type *type = what->xs[i]->type;
        assert(type->rank == what->points[i]->type->rank && "as the caller checked");
        ig_reshape_attrs same = { .to = { type->dims, type->rank } };
        points[i] = ig_build_reshape(&e, what->points[i], NULL, same);
        ig_map_set_id(&again, IG_MAP_PTR(what->xs[i]), points[i]);
    }
    ig_gradient_of of = { .y = clone_path(builder, what, &again),
                          .wanted = points,
                          .wanted_count = what->wanted_count };
    ig_status status = ig_gradients(builder, &of, out);
    ig_arena_fini(&arena);
    return status;
}
