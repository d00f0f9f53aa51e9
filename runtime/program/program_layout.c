/* Finds the code of each step and its indices in a session's arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plugin/plugin.h"
#include "runtime/program/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 1 << 24 }; /* operands and params of all steps together */

typedef struct layout {
    ig_program *program;
    const ig_program_options *options;
    const ig_plan *plan;
    const ig_message *message;
    uint64_t slots, params;
    uint32_t rows, rows_end; /* the open rows step, or IG_NONE */
    uint32_t flow_end;       /* of the outermost if or loop that is open */
} layout;

/* ---- late ---- */

static bool is_late_operand(const ig_plan *plan, const ig_plan_operand *operand) {
    if (operand->buffer == IG_NONE) {
        return false;
    }
    return ig_plan_expr_depends(plan, plan->buffers[operand->buffer].bytes,
                                IG_DEPENDS_LATE) ||
           ig_plan_expr_depends(plan, operand->offset, IG_DEPENDS_LATE) ||
           ig_plan_expr_depends(plan, operand->row_stride, IG_DEPENDS_LATE);
}

static bool is_late_variant(const ig_plan *plan, const ig_plan_variant *variant) {
    bool is_late = ig_plan_expr_depends(plan, variant->grid, IG_DEPENDS_LATE) ||
                   ig_plan_expr_depends(plan, variant->cost, IG_DEPENDS_LATE);
    for (uint32_t i = 0; i < variant->params.count; i++) {
        is_late |= ig_plan_expr_depends(plan, plan->lists[variant->params.first + i],
                                        IG_DEPENDS_LATE);
    }
    return is_late;
}

static bool is_late_step(const ig_plan *plan, const ig_plan_step *step,
                         const ig_exec *exec) {
    bool is_late = ig_plan_expr_depends(plan, step->value, IG_DEPENDS_LATE) ||
                   ig_plan_expr_depends(plan, step->block, IG_DEPENDS_LATE);
    for (uint32_t i = 0; i < step->operands.count; i++) {
        is_late |= is_late_operand(plan, &plan->operands[step->operands.first + i]);
    }
    return is_late || (exec->variant && is_late_variant(plan, exec->variant));
}

static bool is_loose_variant(const ig_plan *plan, const ig_plan_variant *variant) {
    bool is_loose = ig_plan_expr_depends(plan, variant->cost, IG_DEPENDS_LOOSE);
    for (uint32_t i = 0; i < variant->params.count; i++) {
        is_loose |= ig_plan_expr_depends(plan, plan->lists[variant->params.first + i],
                                         IG_DEPENDS_LOOSE);
    }
    return is_loose;
}

/* ---- code ---- */

/* A function of the runtime's own, of the ranks, or of a library beside it. */
static ig_status find_host(const layout *l, const ig_plan_host *host, ig_exec *exec) {
    const char *name = ig_plan_string(l->plan, host->name);
    const char *library = ig_plan_string(l->plan, host->library);
    bool is_ranks = strcmp(library, IG_RANKS_LIBRARY) == 0;
    l->program->needs_ranks |= is_ranks;
    ig_host_wanted wanted = { .name = name,
                              .version = host->version,
                              .options = l->options,
                              .message = l->message };
    if (library[0] && !is_ranks) {
        IG_TRY(ig_plugin_find_function(library, &wanted));
    } else {
        wanted.fn = is_ranks ? NULL : ig_host_find(name);
    }
    exec->host = wanted.fn;
    exec->closure = wanted.closure;
    bool is_there = (exec->host || is_ranks) &&
                    (exec->closure || host->version == IG_HOST_VERSION);
    return is_there
               ? IG_OK
               : ig_message_set(l->message, IG_UNSUPPORTED,
                                "the artifact calls host function '%s' (version %u), "
                                "which this runtime does not have",
                                name, (unsigned)host->version);
}

static ig_status find_function(const layout *l, const ig_plan_step *step,
                               ig_exec *exec) {
    const ig_plan *plan = l->plan;
    uint32_t level = step->variants.count > 1 ? l->program->level : 0;
    exec->variant = &plan->variants[step->variants.first + level];
    if (step->kind == IG_STEP_host) {
        return find_host(l, &plan->hosts[step->index], exec);
    }
    return ig_program_find_kernel(l->program, exec->variant->kernel, &exec->kernel,
                                  l->message);
}

/* ---- indices ---- */

static void assign_indices(layout *l, uint32_t index, ig_exec *exec) {
    const ig_plan_step *step = &l->plan->steps[index];
    ig_program *program = l->program;
    exec->slot = (uint32_t)l->slots;
    exec->param = (uint32_t)l->params;
    exec->launch = program->launch_count;
    exec->end = index + 1 + step->body_count + step->else_count;
    exec->rows = l->rows;
    assert(exec->end <= l->plan->steps_count && "a body reaches past the last step");
    l->slots += step->operands.count;
    if (exec->variant) {
        uint32_t copies = l->rows == IG_NONE ? 1 : 2;
        l->params += (uint64_t)copies * exec->variant->params.count;
        program->scratch = exec->variant->scratch > program->scratch
                               ? exec->variant->scratch
                               : program->scratch;
    }
    program->is_sanitized |= (step->flags & IG_STEP_CHECKS) != 0;
    program->launch_count += exec->variant != NULL || step->kind == IG_STEP_rows;
    if (l->rows != IG_NONE && step->operands.count > program->table_size) {
        program->table_size = step->operands.count;
    }
}

static ig_status lay_out_step(layout *l, uint32_t index) {
    const ig_plan_step *step = &l->plan->steps[index];
    ig_exec *exec = &l->program->execs[index];
    if (l->rows != IG_NONE && index == l->rows_end) {
        l->rows = IG_NONE;
    }
    if (step->kind == IG_STEP_launch || step->kind == IG_STEP_host) {
        IG_TRY(find_function(l, step, exec));
    }
    assign_indices(l, index, exec);
    exec->is_conditional = index < l->flow_end;
    if (!exec->is_conditional &&
        (step->kind == IG_STEP_if || step->kind == IG_STEP_loop)) {
        l->flow_end = exec->end;
    }
    exec->is_late = is_late_step(l->plan, step, exec);
    l->program->late_count += exec->is_late;
    exec->is_loose = exec->variant && is_loose_variant(l->plan, exec->variant);
    l->program->has_loose |= exec->is_loose;
    l->program->has_loops |= step->kind == IG_STEP_loop;
    if (step->kind == IG_STEP_rows) {
        l->rows = index;
        l->rows_end = exec->end;
    }
    if (l->slots > MAX_SLOTS || l->params > MAX_SLOTS) {
        return ig_message_set(l->message, IG_LIMIT,
                              "the plan has more than %d operands and parameters",
                              MAX_SLOTS);
    }
    return IG_OK;
}

/* A phase is a launch and those right after it that join it; a rows step with its body
 * is one too. */
static void find_phases(ig_program *program) {
    const ig_plan *plan = &program->plan;
    ig_exec *first = NULL;
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        const ig_plan_step *step = &plan->steps[i];
        ig_exec *exec = &program->execs[i];
        if (step->kind == IG_STEP_rows) {
            first = exec;
        } else if (step->kind != IG_STEP_launch) {
            first = NULL;
            continue;
        } else if (exec->rows == IG_NONE && !(step->flags & IG_STEP_JOINS)) {
            first = exec;
        }
        assert(first && "a launch joins no phase");
        first->phase_count += step->kind == IG_STEP_launch;
        first->has_late |= exec->is_late;
    }
}

/* ---- ports ---- */

static bool writes_outputs(const ig_plan *plan) {
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        bool is_in_place = ig_plan_is_in_place(plan, i);
        if ((!is_in_place && !ig_plan_has_own_buffer(plan, i)) ||
            ig_plan_is_late_output(plan, i)) {
            return false;
        }
    }
    return true;
}

static bool writes_weights(const ig_plan *plan) {
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        if (ig_plan_is_in_place(plan, i) &&
            (plan->inputs[plan->outputs[i].in_place_of].flags & IG_PORT_WEIGHT)) {
            return true;
        }
    }
    return false;
}

static bool is_port(const ig_plan *plan, uint32_t buffer) {
    return buffer != IG_NONE && (plan->buffers[buffer].space == IG_SPACE_INPUT ||
                                 plan->buffers[buffer].space == IG_SPACE_OUTPUT);
}

/* Lists the slots of ports, or only counts them. */
static void list_port_slots(ig_program *program, ig_port_slot *out_slots) {
    const ig_plan *plan = &program->plan;
    program->port_slot_count = 0;
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        const ig_plan_range range = plan->steps[i].operands;
        const ig_exec *exec = &program->execs[i];
        for (uint32_t o = 0; o < range.count && !exec->is_late; o++) {
            uint32_t buffer = plan->operands[range.first + o].buffer;
            if (!is_port(plan, buffer)) {
                continue;
            }
            assert(exec->slot + o < program->slot_count && "a slot was not counted");
            if (out_slots) {
                out_slots[program->port_slot_count] = (ig_port_slot){ exec->slot + o,
                                                                      buffer };
            }
            program->port_slot_count++;
        }
    }
}

static ig_status find_port_slots(ig_program *program, const ig_message *message) {
    list_port_slots(program, NULL);
    program->port_slots = calloc((size_t)program->port_slot_count + 1,
                                 sizeof *program->port_slots);
    if (!program->port_slots) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    list_port_slots(program, program->port_slots);
    return IG_OK;
}

static ig_status find_late_outputs(ig_program *program, const ig_message *message) {
    const ig_plan *plan = &program->plan;
    for (uint32_t i = 0; i < plan->outputs_count && !program->has_loops; i++) {
        uint32_t buffer = plan->outputs[i].buffer;
        if (!ig_plan_is_late_output(plan, i) ||
            plan->buffers[buffer].space != IG_SPACE_ARENA) {
            continue;
        }
        if (!program->late_outputs) {
            size_t bytes = (size_t)plan->buffers_count * sizeof *program->late_outputs;
            program->late_outputs = malloc(bytes);
            if (!program->late_outputs) {
                return ig_message_set(message, IG_LIMIT, "out of memory");
            }
            memset(program->late_outputs, 0xff, bytes); /* IG_NONE */
        }
        program->late_outputs[buffer] = i;
    }
    return IG_OK;
}

ig_status ig_program_lay_out(ig_program *program, const ig_program_options *options,
                             const ig_message *message) {
    const ig_plan *plan = &program->plan;
    layout l = { program, options, plan, message, 0, 0, IG_NONE, 0, 0 };
    program->execs = calloc((size_t)plan->steps_count + 1, sizeof *program->execs);
    if (!program->execs) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        IG_TRY(lay_out_step(&l, i));
    }
    program->slot_count = (uint32_t)l.slots;
    program->param_count = (uint32_t)l.params;
    program->writes_outputs = writes_outputs(plan);
    program->writes_weights = writes_weights(plan);
    find_phases(program);
    IG_TRY(find_late_outputs(program, message));
    return find_port_slots(program, message);
}
