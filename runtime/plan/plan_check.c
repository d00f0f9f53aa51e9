/* The checks of a plan's records: indices, ranges, kinds.  Steps are in plan_steps.c.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One function a section, each called for every record in order; a table lists them.
 * Records are hostile until their function has returned NULL for them.
 */
#include "runtime/plan/plan.h"

#include "base/checked.h"
#include "ingot/runtime.h"

#include <string.h>

/* ---- texts, lists, expressions ---- */

bool ig_plan_has_text(const ig_plan *plan, ig_plan_text text) {
    return text.offset < plan->text_count &&
           text.size < plan->text_count - text.offset &&
           plan->text[text.offset + text.size] == 0 &&
           memchr(plan->text + text.offset, 0, text.size) == NULL;
}

static bool has_expr(const ig_plan *plan, uint32_t expr) {
    return expr < plan->exprs_count;
}

static bool has_expr_or_none(const ig_plan *plan, uint32_t expr) {
    return expr == IG_NONE || has_expr(plan, expr);
}

static bool in_range(ig_plan_range range, uint32_t count) {
    return range.first <= count && range.count <= count - range.first;
}

static const char *check_level(ig_plan *plan, uint32_t i) {
    return ig_plan_has_text(plan, plan->levels[i]) ? NULL : "level name";
}

static const char *check_kernel(ig_plan *plan, uint32_t i) {
    return ig_plan_has_text(plan, plan->kernels[i]) ? NULL : "kernel name";
}

static const char *check_host(ig_plan *plan, uint32_t i) {
    const ig_plan_host *host = &plan->hosts[i];
    bool is_good = ig_plan_has_text(plan, host->name) &&
                   ig_plan_has_text(plan, host->library) && host->version > 0;
    return is_good ? NULL : "host function";
}

static const char *check_list(ig_plan *plan, uint32_t i) {
    return has_expr(plan, plan->lists[i]) ? NULL : "list";
}

/* Simulates the stack, so that evaluation need not check it. */
static const char *check_expr(ig_plan *plan, uint32_t i) {
    const ig_plan_range range = plan->exprs[i];
    if (!in_range(range, plan->codes_count)) {
        return "expression";
    }
    size_t depth = 0;
    for (uint32_t k = 0; k < range.count; k++) {
        const ig_plan_code *code = &plan->codes[range.first + k];
        if (code->opcode < 0 || code->opcode >= IG_CODE_COUNT) {
            return "expression opcode";
        }
        if (code->opcode == IG_CODE_SYMBOL &&
            (code->value < 0 || code->value >= plan->symbols_count)) {
            return "expression symbol";
        }
        if (code->opcode == IG_CODE_CONST || code->opcode == IG_CODE_SYMBOL) {
            depth++;
        } else if (depth < 2) {
            return "expression stack";
        } else {
            depth--;
        }
        if (depth > IG_EXPR_DEPTH) {
            return "expression depth";
        }
    }
    return depth == 1 ? NULL : "expression result";
}

/* ---- symbols ---- */

/* Dependencies of the symbols of a checked expression; IG_NONE in `limit` for any
 * symbol, else only symbols below it are allowed and others give 255. */
static uint8_t expr_flags(const ig_plan *plan, uint32_t expr, uint32_t limit) {
    const ig_plan_range range = plan->exprs[expr];
    uint8_t flags = 0;
    for (uint32_t k = 0; k < range.count; k++) {
        const ig_plan_code *code = &plan->codes[range.first + k];
        if (code->opcode != IG_CODE_SYMBOL) {
            continue;
        }
        if (code->value >= limit) {
            return UINT8_MAX;
        }
        flags |= plan->symbol_flags[code->value];
    }
    return flags;
}

static bool is_just_symbol(const ig_plan *plan, uint32_t expr, uint32_t symbol) {
    const ig_plan_range range = plan->exprs[expr];
    return range.count == 1 && plan->codes[range.first].opcode == IG_CODE_SYMBOL &&
           plan->codes[range.first].value == symbol;
}

static const char *check_binding(const ig_plan *plan, uint32_t i) {
    const ig_plan_symbol *symbol = &plan->symbols[i];
    if (symbol->input >= plan->inputs_count) {
        return "symbol's input";
    }
    const ig_plan_port *port = &plan->inputs[symbol->input];
    if (symbol->axis >= port->rank || port->dims >= plan->lists_count ||
        symbol->axis >= plan->lists_count - port->dims) {
        return "symbol's axis";
    }
    uint32_t expr = plan->lists[port->dims + symbol->axis];
    return is_just_symbol(plan, expr, i) ? NULL : "symbol's extent";
}

static const char *check_symbol(ig_plan *plan, uint32_t i) {
    const ig_plan_symbol *symbol = &plan->symbols[i];
    if (!ig_plan_has_text(plan, symbol->name) ||
        !ig_plan_has_text(plan, symbol->origin)) {
        return "symbol name";
    }
    if (symbol->min > symbol->max || symbol->multiple < 1) {
        return "symbol range";
    }
    switch ((ig_symbol_kind)symbol->kind) {
    case IG_SYMBOL_INPUT:
        return check_binding(plan, i);
    case IG_SYMBOL_LATE:
        plan->symbol_flags[i] = IG_DEPENDS_LATE;
        return NULL;
    case IG_SYMBOL_ROWS:
        plan->symbol_flags[i] = IG_DEPENDS_ROWS;
        return NULL;
    case IG_SYMBOL_DEFINED:
        if (!has_expr(plan, symbol->expr)) {
            return "symbol definition";
        }
        plan->symbol_flags[i] = expr_flags(plan, symbol->expr, i);
        return (plan->symbol_flags[i] & ~IG_DEPENDS_LATE) ? "symbol definition" : NULL;
    }
    return "symbol kind";
}

/* ---- ports ---- */

static const char *check_port(const ig_plan *plan, const ig_plan_port *port) {
    if (!ig_plan_has_text(plan, port->name) || !ig_plan_has_text(plan, port->type)) {
        return "port name";
    }
    if (ig_dtype_code_bits(port->dtype) == 0) {
        return "port dtype";
    }
    if (port->kind != 0 || port->rank > IG_PLAN_RANK) {
        return "port kind";
    }
    if (!in_range((ig_plan_range){ port->dims, port->rank }, plan->lists_count)) {
        return "port dims";
    }
    if (port->role >= IG_ROLE_COUNT || port->keys > INT32_MAX ||
        (port->partner != IG_NONE && port->partner >= plan->inputs_count) ||
        (port->flags & ~(uint32_t)IG_PORT_WEIGHT)) {
        return "port role";
    }
    return port->buffer < plan->buffers_count ? NULL : "port buffer";
}

/* An output in place is the buffer of an input of its type, which no other output is
 * in place of. */
static bool is_well_in_place(const ig_plan *plan, uint32_t i) {
    const ig_plan_port *port = &plan->outputs[i];
    if (port->in_place_of >= plan->inputs_count - plan->states_count ||
        i >= plan->outputs_count - plan->states_count) {
        return false;
    }
    const ig_plan_port *input = &plan->inputs[port->in_place_of];
    bool is_same = input->buffer == port->buffer && input->dtype == port->dtype &&
                   input->rank == port->rank;
    for (uint32_t axis = 0; is_same && axis < port->rank; axis++) {
        is_same = plan->lists[port->dims + axis] == plan->lists[input->dims + axis];
    }
    for (uint32_t k = 0; is_same && k < i; k++) {
        is_same = plan->outputs[k].in_place_of != port->in_place_of;
    }
    return is_same;
}

static const char *check_input(ig_plan *plan, uint32_t i) {
    const ig_plan_port *port = &plan->inputs[i];
    const char *why = check_port(plan, port);
    if (why) {
        return why;
    }
    for (uint32_t axis = 0; axis < port->rank; axis++) {
        uint32_t expr = plan->lists[port->dims + axis];
        int64_t extent;
        if (plan->expr_flags[expr] ||
            ((port->flags & IG_PORT_WEIGHT) &&
             !ig_plan_expr_is_constant(plan, expr, &extent))) {
            return "input extent";
        }
    }
    const ig_plan_buffer *buffer = &plan->buffers[port->buffer];
    bool is_own = buffer->space == IG_SPACE_INPUT && buffer->index == i &&
                  port->in_place_of == IG_NONE;
    return is_own ? NULL : "input buffer";
}

static const char *check_output(ig_plan *plan, uint32_t i) {
    const ig_plan_port *port = &plan->outputs[i];
    const char *why = check_port(plan, port);
    if (why) {
        return why;
    }
    const ig_plan_buffer *buffer = &plan->buffers[port->buffer];
    bool is_late = false;
    for (uint32_t axis = 0; axis < port->rank; axis++) {
        uint8_t flags = plan->expr_flags[plan->lists[port->dims + axis]];
        if (flags & IG_DEPENDS_ROWS) {
            return "output extent";
        }
        is_late |= flags != 0;
    }
    if (port->in_place_of != IG_NONE && !is_well_in_place(plan, i)) {
        return "output in place";
    }
    if (buffer->space == IG_SPACE_WORKER ||
        (is_late && buffer->space == IG_SPACE_OUTPUT)) {
        return "output buffer";
    }
    return NULL;
}

/* ---- guards, files, constants ---- */

static const char *check_guard(ig_plan *plan, uint32_t i) {
    const ig_plan_guard *guard = &plan->guards[i];
    if (!has_expr(plan, guard->left) || !has_expr(plan, guard->right) ||
        !ig_plan_has_text(plan, guard->message) || guard->test > 1 ||
        guard->at_bind > 1) {
        return "guard";
    }
    int flags = plan->expr_flags[guard->left] | plan->expr_flags[guard->right];
    return flags & (guard->at_bind ? IG_DEPENDS_LATE | IG_DEPENDS_ROWS
                                   : IG_DEPENDS_ROWS)
               ? "guard expression"
               : NULL;
}

static const char *check_file(ig_plan *plan, uint32_t i) {
    const ig_plan_file *file = &plan->files[i];
    bool is_good = ig_plan_has_text(plan, file->path) && file->path.size > 0;
    return is_good ? NULL : "file name";
}

static const char *check_constant(ig_plan *plan, uint32_t i) {
    const ig_plan_constant *constant = &plan->constants[i];
    uint64_t end;
    if (!ig_plan_has_text(plan, constant->name) ||
        constant->source > IG_CONSTANT_FILE ||
        __builtin_add_overflow(constant->offset, constant->bytes, &end) ||
        end > INT64_MAX) {
        return "constant";
    }
    if (constant->source == IG_CONSTANT_FILE) {
        return constant->file < plan->files_count ? NULL : "constant's file";
    }
    return constant->offset % IG_ENTRY_ALIGN == 0 ? NULL : "constant's offset";
}

/* ---- buffers, operands, variants ---- */

/* Of a size that no call changes, and there in all steps. */
static const char *check_kept_buffer(const ig_plan *plan,
                                     const ig_plan_buffer *buffer) {
    int64_t bytes;
    bool is_good = ig_plan_expr_is_constant(plan, buffer->bytes, &bytes) &&
                   buffer->first == 0 && buffer->last < plan->steps_count &&
                   buffer->last == plan->steps_count - 1 && buffer->offset == -1;
    return is_good ? NULL : "kept buffer";
}

static const char *check_arena_buffer(const ig_plan *plan,
                                      const ig_plan_buffer *buffer) {
    bool is_worker = buffer->space == IG_SPACE_WORKER;
    int allowed = is_worker ? IG_DEPENDS_ROWS : IG_DEPENDS_LATE;
    if (plan->expr_flags[buffer->bytes] & ~allowed) {
        return "buffer size";
    }
    if (buffer->first > buffer->last || buffer->last >= plan->steps_count) {
        return "buffer life";
    }
    bool is_late = plan->expr_flags[buffer->bytes] & IG_DEPENDS_LATE;
    bool is_fixed = !is_worker && !is_late && plan->header->arena_bytes >= 0;
    if (is_fixed ? buffer->offset < 0 || buffer->offset % IG_ENTRY_ALIGN != 0
                 : buffer->offset != -1) {
        return "buffer offset";
    }
    return NULL;
}

static const char *check_buffer(ig_plan *plan, uint32_t i) {
    const ig_plan_buffer *buffer = &plan->buffers[i];
    if (!ig_plan_has_text(plan, buffer->name) || !has_expr(plan, buffer->bytes)) {
        return "buffer";
    }
    bool is_own = false;
    switch ((ig_space)buffer->space) {
    case IG_SPACE_INPUT: /* the one buffer of its input */
        is_own = buffer->index < plan->inputs_count &&
                 plan->inputs[buffer->index].buffer == i;
        break;
    case IG_SPACE_OUTPUT: /* or the runtime could not tell where to copy */
        is_own = buffer->index < plan->outputs_count &&
                 plan->outputs[buffer->index].buffer == i;
        break;
    case IG_SPACE_CONSTANT:
        is_own = buffer->index < plan->constants_count;
        break;
    case IG_SPACE_ARENA:
    case IG_SPACE_WORKER:
        return check_arena_buffer(plan, buffer);
    case IG_SPACE_KEPT:
        return check_kept_buffer(plan, buffer);
    default:
        return "buffer space";
    }
    if (plan->expr_flags[buffer->bytes]) {
        return "buffer size";
    }
    return is_own ? NULL : "buffer index";
}

static const char *check_operand(ig_plan *plan, uint32_t i) {
    const ig_plan_operand *operand = &plan->operands[i];
    bool is_good =
        (operand->buffer == IG_NONE || operand->buffer < plan->buffers_count) &&
        has_expr_or_none(plan, operand->offset) &&
        has_expr_or_none(plan, operand->row_stride) &&
        has_expr_or_none(plan, operand->low) && has_expr_or_none(plan, operand->high);
    return is_good ? NULL : "operand";
}

static const char *check_variant(ig_plan *plan, uint32_t i) {
    const ig_plan_variant *variant = &plan->variants[i];
    bool is_good = (variant->kernel == IG_NONE ||
                    variant->kernel < plan->kernels_count) &&
                   has_expr_or_none(plan, variant->grid) &&
                   has_expr_or_none(plan, variant->cost) &&
                   in_range(variant->params, plan->lists_count) &&
                   in_range(variant->work, plan->lists_count) &&
                   (variant->work.count == 0 || variant->work.count == IG_WORK_COUNT) &&
                   variant->scratch <= 1u << 30 && variant->threads <= 1024 &&
                   variant->shared <= 1u << 20;
    return is_good ? NULL : "launch variant";
}

/* ---- all of them ---- */

typedef const char *check_fn(ig_plan *plan, uint32_t index);

static ig_status check_all(ig_plan *plan, uint32_t count, check_fn *check,
                           const ig_message *message) {
    for (uint32_t i = 0; i < count; i++) {
        const char *why = check(plan, i);
        if (why) {
            return ig_message_set(message, IG_INVALID,
                                  "the plan is damaged: %s (number %u) is out of range",
                                  why, (unsigned)i);
        }
    }
    return IG_OK;
}

/* Expressions first: symbols use them, and their flags come from the symbols. */
ig_status ig_plan_check_records(ig_plan *plan, const ig_message *message) {
    if (!ig_plan_has_text(plan, plan->header->build_id) ||
        !ig_plan_has_text(plan, plan->header->family) ||
        !ig_plan_has_text(plan, plan->header->model)) {
        return ig_message_set(message, IG_INVALID, "the plan is damaged: model name");
    }
    if (plan->states_count > plan->inputs_count ||
        plan->states_count > plan->outputs_count) {
        return ig_message_set(message, IG_INVALID, "the plan is damaged: states");
    }
    IG_TRY(check_all(plan, plan->exprs_count, check_expr, message));
    IG_TRY(check_all(plan, plan->lists_count, check_list, message));
    IG_TRY(check_all(plan, plan->symbols_count, check_symbol, message));
    for (uint32_t i = 0; i < plan->exprs_count; i++) {
        plan->expr_flags[i] = expr_flags(plan, i, IG_NONE);
    }
    const struct {
        uint32_t count;
        check_fn *check;
    } sections[] = {
        { plan->levels_count, check_level },
        { plan->kernels_count, check_kernel },
        { plan->hosts_count, check_host },
        { plan->inputs_count, check_input },
        { plan->outputs_count, check_output },
        { plan->guards_count, check_guard },
        { plan->files_count, check_file },
        { plan->constants_count, check_constant },
        { plan->buffers_count, check_buffer },
        { plan->operands_count, check_operand },
        { plan->variants_count, check_variant },
    };
    for (size_t i = 0; i < IG_COUNT_OF(sections); i++) {
        IG_TRY(check_all(plan, sections[i].count, sections[i].check, message));
    }
    return IG_OK;
}
