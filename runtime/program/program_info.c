/* Facts about a program.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/program/program.h"
#include "runtime/stored_format.h"

#include <string.h>

/* The last ports are state, which is not a concern of callers. */
static uint32_t own_count(const ig_program *program, uint32_t count) {
    return count - program->plan.states_count;
}

size_t ig_program_input_count(const ig_program *program) {
    return own_count(program, program->plan.inputs_count);
}

size_t ig_program_output_count(const ig_program *program) {
    return own_count(program, program->plan.outputs_count);
}

size_t ig_program_state_count(const ig_program *program) {
    return program->plan.states_count;
}

static ig_port describe_port(const ig_plan *plan, const ig_plan_port *port) {
    ig_port result = { .name = ig_plan_string(plan, port->name),
                       .type = ig_plan_string(plan, port->type),
                       .dtype = (ig_dtype_code)port->dtype,
                       .rank = port->rank,
                       .in_place_of = (int32_t)port->in_place_of,
                       .role = (ig_port_role)port->role,
                       .keys = (int32_t)port->keys,
                       .partner = (int32_t)port->partner,
                       .is_weight = (port->flags & IG_PORT_WEIGHT) != 0 };
    for (uint32_t i = 0; i < port->rank; i++) {
        if (!ig_plan_expr_is_constant(plan, plan->lists[port->dims + i],
                                      &result.dims[i])) {
            result.dims[i] = -1;
        }
    }
    return result;
}

ig_port ig_program_input(const ig_program *program, size_t index) {
    return describe_port(&program->plan, &program->plan.inputs[index]);
}

ig_port ig_program_output(const ig_program *program, size_t index) {
    return describe_port(&program->plan, &program->plan.outputs[index]);
}

ig_port ig_program_state(const ig_program *program, size_t index) {
    return ig_program_input(program, ig_program_input_count(program) + index);
}

static int find_port(const ig_plan *plan, const ig_plan_port *ports, uint32_t count,
                     const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(ig_plan_string(plan, ports[i].name), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int ig_program_find_input(const ig_program *program, const char *name) {
    const ig_plan *plan = &program->plan;
    return find_port(plan, plan->inputs, own_count(program, plan->inputs_count), name);
}

int ig_program_find_output(const ig_program *program, const char *name) {
    const ig_plan *plan = &program->plan;
    return find_port(plan, plan->outputs, own_count(program, plan->outputs_count),
                     name);
}

size_t ig_program_node_count(const ig_program *program) {
    return program->plan.nodes_count;
}

ig_tree_node ig_program_node(const ig_program *program, size_t index) {
    const ig_plan *plan = &program->plan;
    const ig_plan_node *node = &plan->nodes[index];
    ig_tree_node out = { .kind = (ig_tree_kind)node->kind,
                         .child_count = node->count,
                         .size = plan->node_sizes[index],
                         .leaf = plan->node_leaves[index],
                         .name = ig_plan_string(plan, node->name),
                         .text = ig_plan_string(plan, node->text) };
    if (out.kind == IG_TREE_FLOAT) {
        memcpy(&out.real, &node->value, sizeof out.real);
    } else {
        out.integer = node->value;
    }
    return out;
}

static size_t count_launches(const ig_plan *plan) {
    size_t count = 0;
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        count += plan->steps[i].kind == IG_STEP_launch;
    }
    return count;
}

void ig_program_get_facts(const ig_program *program, ig_program_facts *facts) {
    const ig_plan *plan = &program->plan;
    ig_program_facts all = {
        .size = facts->size,
        .model = ig_plan_string(plan, plan->header->model),
        .build_id = ig_plan_string(plan, plan->header->build_id),
        .level = program->level == IG_NONE
                     ? ""
                     : ig_plan_string(plan, plan->levels[program->level]),
        .levels = program->levels,
        .kernel_count = plan->kernels_count,
        .step_count = plan->steps_count,
        .launch_count = count_launches(plan),
        .code_bytes = program->code_bytes,
        .plan_bytes = plan->header->plan_bytes,
        .is_sanitized = program->is_sanitized,
        .format = plan->header->version,
        .device = program->device->verbs->family,
        .ordinal = program->device->ordinal,
    };
    for (uint32_t i = 0; i < plan->constants_count; i++) {
        all.weight_bytes += plan->constants[i].bytes;
    }
    memcpy(facts, &all, facts->size < sizeof all ? facts->size : sizeof all);
}

const void *ig_program_stored(const ig_program *program, size_t *out_size) {
    ig_str stored = { NULL, 0 };
    (void)ig_container_find(&program->container, IG_ENTRY_STORED, &stored);
    *out_size = stored.size;
    return stored.data;
}

const char *ig_program_sources(const ig_program *program, size_t *out_size) {
    ig_str sources = { NULL, 0 };
    (void)ig_container_find(&program->container, IG_ENTRY_SOURCES, &sources);
    *out_size = sources.size;
    return sources.data;
}
