/* canonicalise: control flow whose way is known; and unroll, for loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"
#include "ir/verify/verify.h"
#include "passes/canonical/canonicalise.h"
#include "passes/engine/dead.h"
#include "passes/engine/extent_test.h"
#include "passes/engine/substitute.h"

/* Results of ops with several are replaced here, not by the driver. */
static void replace_result(ig_op *op, uint32_t index, ig_value *by) {
    ig_value *old = &op->results[index];
    if (old->type != by->type) {
        ig_value_retype(old, by->type);
    }
    ig_value_replace(old, by);
}

static bool types_agree(const ig_op *op, uint32_t result, const ig_value *by) {
    return ig_types_agree(ig_op_module(op), op->results[result].type, by->type);
}

/* An op that stays (a guard inside its body went elsewhere) must not match again. */
static bool is_spent(const ig_op *op) {
    return !ig_op_is_used(op) && ig_op_is_removable(op);
}

/* Moves the ops of a body, but its end, in front of the op itself. */
static void move_out(ig_op *op, ig_block *body) {
    for (ig_op *inner = body->first, *next; inner != body->last; inner = next) {
        next = inner->next;
        ig_op_move(inner, op->block, op);
    }
}

/* Empties a body that never runs, its guards and its end included; the op goes next. */
static void erase_body(ig_block *body) {
    while (body->last) {
        ig_op_erase(body->last);
    }
}

/* ---- if ---- */

/* Of an if whose condition is known one branch is left. */
static ig_value *if_with_known_condition(ig_builder *b, ig_op *op) {
    (void)b;
    int64_t is_true;
    if (is_spent(op) || !ig_constant_i64(ig_op_operand(op, 0), &is_true)) {
        return NULL;
    }
    ig_block *body = op->bodies[is_true ? 0 : 1];
    const ig_op *end = body->last;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!types_agree(op, i, ig_op_operand(end, i))) {
            return NULL;
        }
    }
    move_out(op, body);
    for (uint32_t i = 0; i < op->result_count; i++) {
        replace_result(op, i, ig_op_operand(end, i));
    }
    erase_body(op->bodies[is_true ? 1 : 0]);
    return ig_rule_done(op);
}

static bool is_outside(const ig_value *value, const ig_op *op) {
    return ig_value_is_outside(value, op->bodies[0]);
}

/* A result that both branches hand through from outside is that value. */
static ig_value *if_with_equal_results(ig_builder *b, ig_op *op) {
    (void)b;
    bool is_changed = false;
    const ig_op *first = op->bodies[0]->last, *second = op->bodies[1]->last;
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value *value = ig_op_operand(first, i);
        if (op->results[i].uses && value == ig_op_operand(second, i) &&
            is_outside(value, op) && types_agree(op, i, value)) {
            replace_result(op, i, value);
            is_changed = true;
        }
    }
    return is_changed ? ig_rule_done(op) : NULL;
}

/* ---- if, on an extent ---- */

enum { KNOWN_DEPTH = 32 };

/* A sum of nothing. */
static bool is_empty_sum(const ig_extent_test *e, const ig_op *reduce) {
    const ig_attr *axes = &reduce->attrs[IG_reduce_axes];
    const ig_type *type = ig_op_operand(reduce, 0)->type;
    bool is_sum = reduce->operand_count == 1 &&
                  ig_attr_int(reduce, IG_reduce_op, 0) == IG_REDUCE_sum;
    for (uint32_t i = 0; is_sum && i < axes->count; i++) {
        int64_t axis = axes->as.ints[i] + (axes->as.ints[i] < 0 ? type->rank : 0);
        if (ig_dim_is(ig_extent_test_apply(e, type->dims[axis]), 0)) {
            return true;
        }
    }
    return false;
}

/* By attributes alone, and without new elements. */
static bool moves_elements(const ig_op *op) {
    bool moves = op->code == IG_OP_reshape || op->code == IG_OP_slice ||
                 op->code == IG_OP_expand || op->code == IG_OP_cast;
    return moves && op->operand_count == 1;
}

/* Is every element of the value this integer where the extent is the number? */
static bool is_there(const ig_extent_test *e, const ig_value *value, int64_t number,
                     uint32_t depth) {
    const ig_op *op = value->def;
    int64_t known;
    if (!op || depth == KNOWN_DEPTH) {
        return false;
    }
    if (moves_elements(op)) {
        return is_there(e, ig_op_operand(op, 0), number, depth + 1);
    }
    if (op->code == IG_OP_reduce) {
        return number == 0 && is_empty_sum(e, op);
    }
    return ig_constant_i64(value, &known) && known == number;
}

/* Ops that may be computed in any case; their checks hold there. */
static bool may_always_run(const ig_extent_test *e) {
    const uint32_t bad = IG_STATE | IG_MAY_TRAP | IG_HOST;
    for (const ig_op *op = e->other->first; op != e->other->last; op = op->next) {
        if (op->code == IG_OP_guard) {
            ig_dim left = ig_extent_test_apply(e, op->attrs[IG_guard_left].as.dim);
            ig_dim right = ig_extent_test_apply(e, op->attrs[IG_guard_right].as.dim);
            if (ig_attr_int(op, IG_guard_test, 0) != 0 ||
                ig_dim_equal(e->module, left, right) != IG_YES) {
                return false;
            }
        } else if (op->body_count || ig_ops[op->code].traits & bad) {
            return false;
        }
    }
    return true;
}

/* An if that treats one number of an extent apart, where the other branch gives the
 * same for that number too, is the other branch: a sum of no elements is 0 anyway. */
static ig_value *if_on_extent(ig_builder *b, ig_op *op) {
    (void)b;
    ig_extent_test e;
    if (is_spent(op) || !ig_extent_test_read(op, &ig_op_module(op)->arena, &e) ||
        !may_always_run(&e)) {
        return NULL;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        int64_t number;
        const ig_value *value = ig_op_operand(e.other->last, i);
        bool fits = types_agree(op, i, value) && value->type->rank == 0 &&
                    ig_constant_i64(ig_op_operand(e.special->last, i), &number) &&
                    is_there(&e, value, number, 0);
        if (!fits) {
            return NULL;
        }
    }
    ig_block *other = op->bodies[e.other == op->bodies[0] ? 0 : 1];
    ig_block *special = op->bodies[e.other == op->bodies[0] ? 1 : 0];
    move_out(op, other);
    for (uint32_t i = 0; i < op->result_count; i++) {
        replace_result(op, i, ig_op_operand(other->last, i));
    }
    erase_body(special);
    return ig_rule_done(op);
}

/* ---- loop: a pass of its own; recognisers look for loops of one trip too ---- */

static uint32_t scans_of(const ig_op *loop) {
    return (uint32_t)ig_attr_int(loop, IG_loop_scans, 0);
}

/* A loop that never starts hands its carried values on. */
static ig_value *loop_without_trips(ig_builder *b, ig_op *op) {
    (void)b;
    int64_t trips = -1, condition = 1;
    bool has_trips = ig_constant_i64(ig_op_operand(op, 0), &trips);
    bool has_condition = ig_constant_i64(ig_op_operand(op, 1), &condition);
    bool is_never = (has_trips && trips == 0) || (has_condition && !condition);
    if (!is_never || is_spent(op) || scans_of(op)) {
        return NULL;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!types_agree(op, i, ig_op_operand(op, 2 + i))) {
            return NULL;
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        replace_result(op, i, ig_op_operand(op, 2 + i));
    }
    erase_body(op->bodies[0]);
    return ig_rule_done(op);
}

/* What scanned value `index` of a loop that ran once is: the value on a new axis 0. */
static ig_value *stack_one(ig_builder *b, ig_value *value) {
    ig_dim dims[IG_TENSOR_RANK + 1] = { ig_dim_of(1) };
    const ig_type *type = value->type;
    if (type->kind != IG_TENSOR || type->rank >= IG_TENSOR_RANK) {
        return NULL;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        dims[i + 1] = type->dims[i];
    }
    ig_expr e = ig_expr_trying(b);
    return ig_expr_reshape(&e, value, type->rank + 1, dims);
}

static bool runs_once(const ig_op *op) {
    int64_t trips, condition;
    return ig_constant_i64(ig_op_operand(op, 0), &trips) && trips == 1 &&
           ig_constant_i64(ig_op_operand(op, 1), &condition) && condition;
}

/* An extent that an argument binds in each trip equals, in a single trip, that of the
 * loop's initial value, also where the body's guards and shapes mention it. */
static void bind_extents(ig_op *op) {
    ig_module *module = ig_op_module(op);
    ig_block *body = op->bodies[0];
    ig_arena scratch;
    ig_arena_init(&scratch, module->arena.budget);
    ig_substitution s;
    ig_substitution_init(&s, module, &scratch);
    for (uint32_t i = 1; i < body->arg_count; i++) {
        const ig_type *argument = body->args[i]->type;
        const ig_type *type = ig_op_operand(op, i)->type;
        for (uint32_t d = 0; d < argument->rank; d++) {
            const ig_symbol *symbol = ig_dim_as_symbol(module, argument->dims[d]);
            if (symbol && !ig_dim_same(argument->dims[d], type->dims[d])) {
                s.by_symbol[ig_symbol_index(module, argument->dims[d])] = type->dims[d];
            }
        }
    }
    ig_substitute_block(&s, body);
    ig_arena_fini(&scratch);
}

/* Arguments take the loop's initial values; their types may be less precise. */
static bool bind_arguments(ig_builder *b, ig_op *op) {
    ig_block *body = op->bodies[0];
    ig_module *module = ig_op_module(op);
    const ig_type *scalar = ig_type_tensor(module, IG_DT_i64, 0, NULL);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        const ig_type *type = i == 0 ? scalar : ig_op_operand(op, i)->type;
        if (!ig_types_agree(module, body->args[i]->type, type)) {
            return false;
        }
    }
    bind_extents(op);
    ig_expr e = ig_expr_of(b);
    ig_value *index = ig_expr_integer(&e, IG_DT_i64, 0);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        ig_value *value = i == 0 ? index : ig_op_operand(op, i);
        ig_value_retype(body->args[i], value->type);
        ig_value_replace(body->args[i], value);
    }
    return true;
}

/* A loop of one trip is its body. */
static ig_value *loop_of_one_trip(ig_builder *b, ig_op *op) {
    if (!runs_once(op) || is_spent(op)) {
        return NULL;
    }
    ig_block *body = op->bodies[0];
    const ig_op *end = body->last;
    uint32_t carried = op->result_count - scans_of(op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_value *value = ig_op_operand(end, i + 1);
        if (i < carried ? !types_agree(op, i, value)
                        : value->type->kind != IG_TENSOR ||
                              value->type->rank >= IG_TENSOR_RANK) {
            return NULL;
        }
    }
    if (!bind_arguments(b, op)) {
        return NULL;
    }
    move_out(op, body);
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value *value = ig_op_operand(end, i + 1);
        replace_result(op, i, i < carried ? value : stack_one(b, value));
    }
    return ig_rule_done(op);
}

static const ig_rule rules[] = {
    RULE(if, if_with_known_condition),
    RULE(if, if_with_equal_results),
    RULE(if, if_on_extent),
};

const ig_rules ig_rules_flow = { rules, IG_COUNT_OF(rules) };

static const ig_rule loop_rules[] = {
    RULE(loop, loop_without_trips),
    RULE(loop, loop_of_one_trip),
};

ig_status ig_pass_unroll(ig_pass_run *run, ig_graph *graph) {
    return ig_rewrite(run, graph, loop_rules, IG_COUNT_OF(loop_rules));
}
