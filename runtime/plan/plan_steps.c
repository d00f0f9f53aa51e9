/* The checks of a plan's steps: their nesting, and the rules of each kind.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Steps are stored depth first, so a body is the next body_count steps.  The walk keeps
 * the ends of the open bodies on a small stack; a body must end before its parent does.
 */
#include "runtime/plan/plan.h"

enum { MANY = 255, NO_SYMBOL = 255 };

/* Requirements of each kind of step. */
typedef struct step_rule {
    uint8_t operand_min, operand_max;
    uint8_t symbol; /* ig_symbol_kind, or NO_SYMBOL */
    bool has_body, has_variants, has_value;
} step_rule;

static const step_rule rules[IG_STEP_COUNT] = {
    [IG_STEP_launch] = { 0, MANY, NO_SYMBOL, .has_variants = true },
    [IG_STEP_rows] = { 0, 0, IG_SYMBOL_ROWS, .has_body = true, .has_value = true },
    [IG_STEP_if] = { 1, 1, NO_SYMBOL, .has_body = true },
    [IG_STEP_loop] = { 2, 2, IG_SYMBOL_LATE, .has_body = true },
    [IG_STEP_host] = { 0, MANY, NO_SYMBOL, .has_variants = true },
    [IG_STEP_copy] = { 2, 2, NO_SYMBOL, .has_value = true },
    [IG_STEP_store] = { 1, 1, NO_SYMBOL, .has_body = false },
    [IG_STEP_set] = { 0, 0, IG_SYMBOL_LATE, .has_value = true },
    [IG_STEP_read] = { 1, 1, IG_SYMBOL_LATE, .has_body = false },
    [IG_STEP_guard] = { 0, 0, NO_SYMBOL, .has_body = false },
    [IG_STEP_commit] = { 0, 0, NO_SYMBOL, .has_body = false },
    [IG_STEP_prepare] = { 0, MANY, NO_SYMBOL, .has_body = true },
};

typedef struct walk {
    const ig_plan *plan;
    uint32_t ends[IG_STEP_DEPTH]; /* one past the last step of each open body */
    uint32_t depth;
    uint32_t index;          /* of the step that is checked */
    uint32_t rows, rows_end; /* the open rows step, or IG_NONE */
    uint32_t prepare, prepare_end;
    bool has_begun;     /* a step that is done in each run came before */
    bool after_body;    /* a body has ended just before this step */
    bool has_committed; /* the commit step came before this one */
} walk;

static bool in_range(ig_plan_range range, uint32_t count) {
    return range.first <= count && range.count <= count - range.first;
}

/* ---- expressions where they are allowed ---- */

/* Does `expr` (or IG_NONE) have the same value whatever the shapes of a call are? */
static bool is_fixed(const ig_plan *plan, uint32_t expr) {
    const ig_plan_range range = expr == IG_NONE ? (ig_plan_range){ 0, 0 }
                                                : plan->exprs[expr];
    for (uint32_t i = 0; i < range.count; i++) {
        const ig_plan_code *code = &plan->codes[range.first + i];
        if (code->opcode == IG_CODE_SYMBOL &&
            plan->symbols[code->value].kind != IG_SYMBOL_ROWS) {
            return false;
        }
    }
    return true;
}

/* May `expr` (or IG_NONE) be evaluated here?  Only inside a rows step may it depend on
 * rows, and only on those of that step.  Prepared values hold for calls of all
 * shapes. */
static bool may_use(const walk *w, uint32_t expr) {
    const ig_plan *plan = w->plan;
    if (w->prepare != IG_NONE && !is_fixed(plan, expr)) {
        return false;
    }
    if (!ig_plan_expr_depends(plan, expr, IG_DEPENDS_ROWS)) {
        return true;
    }
    if (w->rows == IG_NONE) {
        return false;
    }
    const ig_plan_range range = plan->exprs[expr];
    for (uint32_t i = 0; i < range.count; i++) {
        const ig_plan_code *code = &plan->codes[range.first + i];
        if (code->opcode == IG_CODE_SYMBOL &&
            plan->symbols[code->value].kind == IG_SYMBOL_ROWS &&
            code->value != plan->steps[w->rows].symbol) {
            return false;
        }
    }
    return true;
}

/* ---- work done once a change of weights ---- */

static bool is_prepared_from(const walk *w, uint32_t buffer) {
    const ig_plan_range range = w->plan->steps[w->prepare].operands;
    for (uint32_t i = 0; i < range.count; i++) {
        if (w->plan->operands[range.first + i].buffer == buffer) {
            return true;
        }
    }
    return false;
}

/* A body of a prepare step uses the weights that it names, constants, kept buffers, and
 * buffers that live inside of it. */
static bool may_prepare_with(const walk *w, uint32_t index) {
    const ig_plan_buffer *buffer = &w->plan->buffers[index];
    if (buffer->space == IG_SPACE_INPUT) {
        return is_prepared_from(w, index);
    }
    if (buffer->space == IG_SPACE_ARENA) {
        return buffer->first > w->prepare && buffer->last < w->prepare_end &&
               is_fixed(w->plan, buffer->bytes);
    }
    return buffer->space != IG_SPACE_OUTPUT;
}

/* Prepare steps come before all others, and have work alone in their bodies. */
static const char *check_prepare(const walk *w, const ig_plan_step *step) {
    const ig_plan *plan = w->plan;
    bool is_inside = w->prepare != IG_NONE;
    if (step->kind != IG_STEP_prepare) {
        bool is_work = step->kind == IG_STEP_launch || step->kind == IG_STEP_rows ||
                       step->kind == IG_STEP_copy;
        return is_inside && !is_work ? "prepared step" : NULL;
    }
    for (uint32_t i = 0; i < step->operands.count; i++) {
        const ig_plan_operand *operand = &plan->operands[step->operands.first + i];
        const ig_plan_buffer *buffer = &plan->buffers[operand->buffer];
        if (buffer->space != IG_SPACE_INPUT ||
            !(plan->inputs[buffer->index].flags & IG_PORT_WEIGHT)) {
            return "opened weight";
        }
    }
    return is_inside || w->has_begun ? "prepare" : NULL;
}

/* ---- operands ---- */

/* A worker's buffer lives inside one block of rows.  Buffers that the blocks share live
 * as long as the rows step: one block may be at its last step while another is at its
 * first. */
static bool may_use_buffer(const walk *w, uint32_t index) {
    const ig_plan_buffer *buffer = &w->plan->buffers[index];
    bool is_in_rows = w->rows != IG_NONE;
    if (w->prepare != IG_NONE && !may_prepare_with(w, index)) {
        return false;
    }
    if (buffer->space == IG_SPACE_WORKER) {
        return is_in_rows && buffer->first > w->rows && buffer->last < w->rows_end &&
               may_use(w, buffer->bytes);
    }
    uint32_t begin = is_in_rows ? w->rows : w->index;
    uint32_t end = is_in_rows ? w->rows_end - 1 : w->index;
    return buffer->space != IG_SPACE_ARENA ||
           (buffer->first <= begin && buffer->last >= end);
}

static const char *check_operands(const walk *w, const ig_plan_step *step) {
    const ig_plan *plan = w->plan;
    const step_rule *rule = &rules[step->kind];
    if (!in_range(step->operands, plan->operands_count) ||
        step->operands.count < rule->operand_min ||
        (rule->operand_max != MANY && step->operands.count > rule->operand_max)) {
        return "operands";
    }
    for (uint32_t i = 0; i < step->operands.count; i++) {
        const ig_plan_operand *operand = &plan->operands[step->operands.first + i];
        if (operand->buffer == IG_NONE) {
            if (step->kind != IG_STEP_loop) {
                return "operand buffer";
            }
            continue;
        }
        if (!may_use_buffer(w, operand->buffer) || !may_use(w, operand->offset) ||
            !may_use(w, operand->low) || !may_use(w, operand->high) ||
            !may_use(w, operand->row_stride) ||
            ig_plan_expr_depends(plan, operand->row_stride, IG_DEPENDS_ROWS)) {
            return "operand";
        }
    }
    return NULL;
}

/* ---- the rules of each kind ---- */

static const char *check_variants(const walk *w, const ig_plan_step *step) {
    const ig_plan *plan = w->plan;
    uint32_t count = step->variants.count;
    bool is_host = step->kind == IG_STEP_host;
    if (!in_range(step->variants, plan->variants_count) || count == 0 ||
        (count != 1 && (is_host || count != plan->levels_count))) {
        return "variants";
    }
    for (uint32_t i = 0; i < count; i++) {
        const ig_plan_variant *variant = &plan->variants[step->variants.first + i];
        if ((variant->kernel == IG_NONE) != is_host || !may_use(w, variant->grid) ||
            !may_use(w, variant->cost)) {
            return "variant";
        }
        for (uint32_t k = 0; k < variant->params.count; k++) {
            if (!may_use(w, plan->lists[variant->params.first + k])) {
                return "parameter";
            }
        }
    }
    return NULL;
}

static bool is_written_in_place(const ig_plan *plan, uint32_t input) {
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        if (plan->outputs[i].in_place_of == input) {
            return true;
        }
    }
    return false;
}

/* Constants are never written; inputs are written after the commit step where an output
 * is in their memory, and kept buffers where they are prepared. */
static bool may_write(const walk *w, const ig_plan_operand *operand) {
    const ig_plan_buffer *buffer = &w->plan->buffers[operand->buffer];
    if (buffer->space == IG_SPACE_INPUT) {
        return w->has_committed && is_written_in_place(w->plan, buffer->index);
    }
    return buffer->space == IG_SPACE_KEPT ? w->prepare != IG_NONE
                                          : buffer->space != IG_SPACE_CONSTANT;
}

static bool writes_well(const walk *w, const ig_plan_step *step) {
    const ig_plan_operand *operands = w->plan->operands + step->operands.first;
    uint32_t count = step->operands.count;
    bool is_launch = step->kind == IG_STEP_launch;
    bool has_outs = is_launch || step->kind == IG_STEP_host;
    bool writes_first = step->kind == IG_STEP_copy || step->kind == IG_STEP_store;
    if (step->outs > (has_outs ? count : 0)) {
        return false;
    }
    uint32_t outs = writes_first ? 1 : step->outs;
    for (uint32_t i = 0; i < outs; i++) {
        if (!may_write(w, &operands[is_launch ? count - outs + i : i])) {
            return false;
        }
    }
    return true;
}

/* ---- after the commit step ---- */

static bool is_late_operand(const ig_plan *plan, const ig_plan_operand *operand) {
    return ig_plan_expr_depends(plan, plan->buffers[operand->buffer].bytes,
                                IG_DEPENDS_LATE) ||
           ig_plan_expr_depends(plan, operand->offset, IG_DEPENDS_LATE) ||
           ig_plan_expr_depends(plan, operand->row_stride, IG_DEPENDS_LATE);
}

static bool has_late_list(const ig_plan *plan, ig_plan_range range) {
    for (uint32_t i = 0; i < range.count; i++) {
        if (ig_plan_expr_depends(plan, plan->lists[range.first + i], IG_DEPENDS_LATE)) {
            return true;
        }
    }
    return false;
}

/* May the step still fail?  By a report of a kernel, or a size known only while
 * running. */
static bool may_fail(const ig_plan *plan, const ig_plan_step *step) {
    bool may = ig_plan_expr_depends(plan, step->value, IG_DEPENDS_LATE) ||
               ig_plan_expr_depends(plan, step->block, IG_DEPENDS_LATE);
    for (uint32_t i = 0; i < step->operands.count; i++) {
        const ig_plan_operand *operand = &plan->operands[step->operands.first + i];
        may = may || operand->low != IG_NONE || operand->high != IG_NONE ||
              is_late_operand(plan, operand);
    }
    for (uint32_t i = 0; i < step->variants.count; i++) {
        const ig_plan_variant *variant = &plan->variants[step->variants.first + i];
        may = may || ig_plan_expr_depends(plan, variant->grid, IG_DEPENDS_LATE) ||
              has_late_list(plan, variant->params);
    }
    return may;
}

/* Nothing after the commit step fails, so there are only launches and copies. */
static const char *check_commit(const walk *w, const ig_plan_step *step) {
    if (step->kind == IG_STEP_commit) {
        return w->has_committed || w->depth > 0 ? "commit" : NULL;
    }
    bool is_work = step->kind == IG_STEP_launch || step->kind == IG_STEP_rows ||
                   step->kind == IG_STEP_copy;
    bool is_good = !w->has_committed || (is_work && !may_fail(w->plan, step));
    return is_good ? NULL : "after commit";
}

/* Outputs in place wait for the commit step, and no output asks for memory after it. */
static bool commits_outputs(const walk *w) {
    const ig_plan *plan = w->plan;
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        bool is_in_place = plan->outputs[i].in_place_of != IG_NONE;
        if (w->has_committed ? ig_plan_is_late_output(plan, i) : is_in_place) {
            return false;
        }
    }
    return true;
}

static const char *check_values(const walk *w, const ig_plan_step *step) {
    const ig_plan *plan = w->plan;
    const step_rule *rule = &rules[step->kind];
    if (rule->has_value != (step->value != IG_NONE) ||
        (step->value != IG_NONE && step->value >= plan->exprs_count) ||
        !may_use(w, step->value)) {
        return "value";
    }
    bool is_rows = step->kind == IG_STEP_rows;
    if (is_rows != (step->block != IG_NONE) ||
        (is_rows && (step->block >= plan->exprs_count ||
                     plan->expr_flags[step->block] || !may_use(w, step->block)))) {
        return "block";
    }
    if (!in_range(step->values, plan->lists_count) ||
        (step->kind != IG_STEP_store && step->values.count > 0)) {
        return "values";
    }
    for (uint32_t i = 0; i < step->values.count; i++) {
        if (!may_use(w, plan->lists[step->values.first + i])) {
            return "values";
        }
    }
    return NULL;
}

static const char *check_numbers(const walk *w, const ig_plan_step *step) {
    const ig_plan *plan = w->plan;
    const step_rule *rule = &rules[step->kind];
    if (rule->symbol == NO_SYMBOL
            ? step->symbol != IG_NONE
            : step->symbol >= plan->symbols_count ||
                  plan->symbols[step->symbol].kind != rule->symbol) {
        return "symbol";
    }
    if (step->kind == IG_STEP_host) {
        return step->index < plan->hosts_count ? NULL : "host function";
    }
    if (step->kind == IG_STEP_guard) {
        return step->index < plan->guards_count ? NULL : "guard";
    }
    return step->index == IG_NONE ? NULL : "index";
}

/* ---- nesting ---- */

static const char *check_nesting(const walk *w, uint32_t index) {
    const ig_plan *plan = w->plan;
    const ig_plan_step *step = &plan->steps[index];
    uint32_t end = w->depth ? w->ends[w->depth - 1] : plan->steps_count;
    uint64_t nested = (uint64_t)step->body_count + step->else_count;
    bool may_else = step->kind == IG_STEP_if;
    if (nested > end - index - 1 || (!rules[step->kind].has_body && nested > 0) ||
        (!may_else && step->else_count > 0)) {
        return "body";
    }
    if (w->depth + 2 > IG_STEP_DEPTH) {
        return "depth";
    }
    if (w->rows != IG_NONE && step->kind != IG_STEP_launch) {
        return "step among rows";
    }
    bool is_launch = step->kind == IG_STEP_launch;
    bool may_join = is_launch && index > 0 && !w->after_body &&
                    plan->steps[index - 1].kind == IG_STEP_launch;
    uint32_t allowed = (is_launch ? IG_STEP_CHECKS : 0u) |
                       (may_join ? IG_STEP_JOINS : 0u);
    return step->flags & ~allowed ? "flags" : NULL;
}

static const char *check_step(const walk *w, uint32_t index) {
    const ig_plan *plan = w->plan;
    const ig_plan_step *step = &plan->steps[index];
    if (step->kind >= IG_STEP_COUNT) {
        return "kind";
    }
    if (!ig_plan_has_text(plan, step->name) || !ig_plan_has_text(plan, step->source)) {
        return "name";
    }
    const char *why = check_nesting(w, index);
    if (!why) {
        why = check_numbers(w, step);
    }
    if (!why) {
        why = check_values(w, step);
    }
    if (!why) {
        why = check_operands(w, step);
    }
    if (!why && rules[step->kind].has_variants) {
        why = check_variants(w, step);
    }
    if (!why && !writes_well(w, step)) {
        why = "destination";
    }
    if (!why) {
        why = check_prepare(w, step);
    }
    if (!why) {
        why = check_commit(w, step);
    }
    return why;
}

static void close_bodies(walk *w, uint32_t index) {
    w->after_body = false;
    while (w->depth > 0 && w->ends[w->depth - 1] == index) {
        w->depth--;
        w->after_body = true;
    }
    if (w->rows != IG_NONE && index == w->rows_end) {
        w->rows = IG_NONE;
    }
    if (w->prepare != IG_NONE && index == w->prepare_end) {
        w->prepare = IG_NONE;
    }
}

static void open_bodies(walk *w, uint32_t index) {
    const ig_plan_step *step = &w->plan->steps[index];
    uint32_t body = index + 1 + step->body_count;
    if (step->else_count > 0) {
        w->ends[w->depth++] = body + step->else_count;
    }
    if (step->body_count > 0) {
        w->ends[w->depth++] = body;
    }
    if (step->kind == IG_STEP_rows && step->body_count > 0) {
        w->rows = index;
        w->rows_end = body;
    }
    if (step->kind == IG_STEP_prepare && step->body_count > 0) {
        w->prepare = index;
        w->prepare_end = body;
    }
    w->has_begun |= step->kind != IG_STEP_prepare && w->prepare == IG_NONE;
}

ig_status ig_plan_check_steps(const ig_plan *plan, const ig_message *message) {
    walk w = { .plan = plan, .rows = IG_NONE, .prepare = IG_NONE };
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        w.index = i;
        close_bodies(&w, i);
        const char *why = check_step(&w, i);
        if (why) {
            return ig_message_set(message, IG_INVALID,
                                  "the plan is damaged: step %u: %s", (unsigned)i, why);
        }
        open_bodies(&w, i);
        w.has_committed |= plan->steps[i].kind == IG_STEP_commit;
    }
    return commits_outputs(&w)
               ? IG_OK
               : ig_message_set(message, IG_INVALID,
                                "the plan is damaged: outputs and its commit step");
}
