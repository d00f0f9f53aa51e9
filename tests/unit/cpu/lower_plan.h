/* How test_cpu_lower_* runs a tensor graph: its inputs, the passes, the plan.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The plan is executed here by the plainest means (a buffer an alloc, launches in
 * order, two calls a launch so that tile ranges are exercised): schedules are tested
 * without the artifact and the runtime.
 *
 * It is executed by code where the level runs here, and by the interpreter of kernel
 * form, which checks each access, where it does not or where there is little to do.
 * Where both have run they must give the same bits, but for what a NaN holds; on v2
 * muladd rounds twice in code, and results may differ by that.
 */
#ifndef IG_TESTS_UNIT_CPU_LOWER_PLAN_H
#define IG_TESTS_UNIT_CPU_LOWER_PLAN_H

#include "base/checked.h"
#include "ir/data.h"
#include "ir/interpret/interpret.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"
#include "passes/engine/pass.h"
#include "tests/unit/cpu/cpu_case.h"
#include "tests/unit/cpu/lower_fill.h"

#include <math.h>

typedef struct lower_memory {
    char *data;
    int64_t bytes;
} lower_memory;

typedef struct lower_case {
    cpu_case cpu;
    ig_module *module;
    const ig_graph *graph; /* main: tensor stage, then plan */
    ig_tensor inputs[64];
    ig_tensor expected[16], got[16];
    int64_t symbols[256];
    bool runs_form;  /* kernel form, not code */
    bool decomposes; /* composites first, as the pipeline does */
    ig_map memory;   /* root value -> lower_memory */
    const ig_tensor *recipes;
    ig_map code; /* kernel -> cpu_code, mapped until the end */
    IG_VEC(cpu_code *) codes;
    ig_kernel_report_v0 report; /* of the last run */
    uint32_t launches;
} lower_case;

/* ---- inputs ---- */

/* Inputs of the extents that the symbols say, the same numbers each time. */
static inline void lower_inputs(lower_case *c, lower_values values, int64_t bound) {
    uint64_t state = 7;
    for (uint32_t i = 0; i < c->graph->body.arg_count; i++) {
        const ig_type *type = c->graph->body.args[i]->type;
        int64_t dims[IG_TENSOR_RANK];
        for (uint32_t d = 0; d < type->rank; d++) {
            CHECK(ig_dim_evaluate(c->module, type->dims[d], c->symbols, &dims[d]));
        }
        CHECK_OK(ig_tensor_alloc(&c->cpu.arena, NULL, (ig_dtype)type->dtype, type->rank,
                                 dims, &c->inputs[i]));
        if (values == LOWER_SPECIAL) {
            lower_fill_special(&c->inputs[i], &state);
        } else {
            lower_fill(&c->inputs[i], bound, &state);
        }
    }
}

/* Reads `text`; every symbol gets the value of `extents` in order of appearance. */
static inline void lower_open_values(lower_case *c, const char *level, const char *text,
                                     const int64_t *extents, lower_values values,
                                     int64_t bound) {
    memset(c, 0, sizeof *c);
    cpu_case_open(&c->cpu, level);
    ig_str name = ig_str_of(level);
    c->cpu.target = *ig_target_find(name);
    ig_status status = ig_parse_module(&c->cpu.context, "test", ig_str_of(text),
                                       &c->module);
    CHECK_MSG(status == IG_OK, "%s", c->cpu.last);
    c->graph = ig_module_graph(c->module, "main");
    for (uint32_t i = 0; i < ig_symbol_count(c->module); i++) {
        c->symbols[i] = extents[i];
    }
    ig_map_init(&c->code, &c->cpu.arena);
    lower_inputs(c, values, bound);
}

static inline void lower_open(lower_case *c, const char *level, const char *text,
                              const int64_t *extents, int64_t bound) {
    lower_open_values(c, level, text, extents, LOWER_PLAIN, bound);
}

static inline void lower_close(lower_case *c) {
    for (size_t i = 0; i < c->codes.count; i++) {
        cpu_code_unmap(c->codes.items[i]);
    }
    ig_module_destroy(c->module);
    cpu_case_close(&c->cpu);
}

/* ---- the plan ---- */

static inline int64_t lower_dim(lower_case *c, ig_dim dim) {
    int64_t value = 0;
    CHECK(ig_dim_evaluate(c->module, dim, c->symbols, &value));
    return value;
}

static inline void lower_passes(lower_case *c) {
    ig_pass_options options = { .target = &c->cpu.target };
    ig_pass_run run = { .options = &options, .scratch = &c->cpu.arena };
    ig_graph *graph = ig_module_graph(c->module, "main");
    ig_status (*const passes[])(ig_pass_run *, ig_graph *) = {
        ig_pass_decompose, ig_pass_fold, ig_pass_cse,       ig_pass_channels_last,
        ig_pass_dce,       ig_pass_pack, ig_pass_dce,       ig_pass_dequantise,
        ig_pass_decompose, ig_pass_fuse, ig_pass_bufferise, ig_pass_lower,
    };
    const size_t pack = 5, fuse = 9;
    for (size_t i = 0; i < IG_COUNT_OF(passes); i++) {
        if (!c->decomposes && i < fuse && i != pack) {
            continue;
        }
        ig_status status = passes[i](&run, graph);
        CHECK_MSG(status == IG_OK, "pass %zu: %s", i, c->cpu.last);
        status = ig_verify_module(c->module);
        CHECK_MSG(status == IG_OK, "after pass %zu: %s", i, c->cpu.last);
    }
    ig_graph *weights = ig_module_graph(c->module, "weights");
    if (weights) {
        ig_tensor *values = IG_NEW_ARRAY(&c->cpu.arena, ig_tensor,
                                         weights->body.last->operand_count);
        CHECK_OK(ig_interpret(weights, NULL, &c->cpu.arena, values));
        c->recipes = values;
    }
}

static inline lower_memory lower_constant(lower_case *c, const ig_op *op) {
    const ig_weight *weight = ig_module_weight(c->module,
                                               ig_attr_str(op, IG_weight_name));
    ig_tensor value;
    if (weight->is_recipe) {
        value = c->recipes[weight->index];
    } else {
        CHECK_OK(
            ig_tensor_of_data(&weight->data, &c->cpu.arena, &c->cpu.context, &value));
    }
    int64_t bytes = op->code == IG_OP_table ? (int64_t)weight->data.size
                                            : ig_tensor_bytes(&value);
    return (lower_memory){ value.data, bytes };
}

static inline lower_memory *lower_root(lower_case *c, const ig_value *root) {
    lower_memory *known = ig_map_get_id(&c->memory, IG_MAP_PTR(root));
    if (known) {
        return known;
    }
    const ig_op *op = root->def;
    known = IG_NEW(&c->cpu.arena, lower_memory);
    if (!op) {
        const ig_tensor *input = &c->inputs[root->index];
        *known = (lower_memory){ input->data, ig_tensor_bytes(input) };
    } else if (op->code == IG_OP_weight || op->code == IG_OP_table) {
        *known = lower_constant(c, op);
    } else {
        int64_t count = lower_dim(c, ig_type_count(c->module, root->type));
        known->bytes = count * (ig_dtypes[root->type->dtype].bits / 8);
        known->data = ig_arena_alloc(&c->cpu.arena, (size_t)known->bytes + 64);
        memset(known->data, 0x7f, (size_t)known->bytes); /* what is not written shows */
    }
    ig_map_set_id(&c->memory, IG_MAP_PTR(root), known);
    return known;
}

/* An operand of a launch: from where it starts to the end of its buffer. */
static inline lower_memory lower_operand(lower_case *c, const ig_value *value) {
    const ig_op *view = ig_def(value, IG_OP_view);
    if (!view) {
        return *lower_root(c, value);
    }
    int64_t offset = lower_dim(c, view->attrs[IG_view_offset].as.dim) *
                     (ig_dtypes[value->type->dtype].bits / 8);
    lower_memory root = *lower_root(c, view->operands[0].value);
    return (lower_memory){ root.data + offset, root.bytes - offset };
}

/* The kernel's code, compiled when it is first launched. */
static inline const cpu_code *lower_code(lower_case *c, const ig_graph *kernel) {
    cpu_code *code = ig_map_get_id(&c->code, IG_MAP_PTR(kernel));
    if (!code) {
        code = IG_NEW(&c->cpu.arena, cpu_code);
        *code = cpu_case_compile(&c->cpu, kernel);
        ig_map_set_id(&c->code, IG_MAP_PTR(kernel), code);
        IG_PUSH(&c->cpu.arena, &c->codes, code);
    }
    return code;
}

static inline void lower_call(lower_case *c, const ig_graph *kernel,
                              const ig_kernel_call_v0 *call, const int64_t *bytes) {
    if (c->runs_form) {
        cpu_call_form(kernel, call, bytes);
    } else {
        lower_code(c, kernel)->entry(call);
    }
}

static inline void lower_launch(lower_case *c, const ig_op *launch) {
    void *buffers[CPU_BUFFERS];
    int64_t params[1024], bytes[CPU_BUFFERS];
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        lower_memory operand = lower_operand(c, launch->operands[i].value);
        buffers[i] = operand.data;
        bytes[i] = operand.bytes;
    }
    const ig_attr *dims = &launch->attrs[IG_launch_params];
    for (uint32_t i = 0; dims->kind == IG_ATTR_DIMS && i < dims->count; i++) {
        params[i] = lower_dim(c, dims->as.dims[i]);
    }
    int64_t grid = lower_dim(c, launch->attrs[IG_launch_grid].as.dim);
    int64_t scratch = ig_attr_int(launch, IG_launch_scratch, 0);
    char *room = ig_arena_alloc(&c->cpu.arena, (size_t)scratch + 128);
    room = (char *)ig_align_up((size_t)room, 64);
    const ig_graph *kernel = ig_module_graph(c->module,
                                             ig_attr_str(launch, IG_launch_kernel));
    ig_kernel_call_v0 call = {
        .buffers = buffers, .params = params, .scratch = room, .report = &c->report
    };
    call.tile_begin = grid / 3;
    call.tile_end = grid;
    lower_call(c, kernel, &call, bytes);
    call.tile_begin = 0;
    call.tile_end = grid / 3;
    lower_call(c, kernel, &call, bytes);
    c->launches++;
}

static inline void lower_interpret(lower_case *c) {
    ig_status status = ig_interpret(c->graph, c->inputs, &c->cpu.arena, c->expected);
    CHECK_MSG(status == IG_OK, "interpreter: %s", c->cpu.last);
}

/* Runs the plan; results are in got. */
static inline uint32_t lower_launch_some(lower_case *c, bool runs_form) {
    uint32_t outputs = c->graph->body.last->operand_count;
    ig_map_init(&c->memory, &c->cpu.arena);
    c->report = (ig_kernel_report_v0){ .operand = -1 };
    c->runs_form = runs_form;
    for (const ig_op *op = c->graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_launch) {
            lower_launch(c, op);
        }
    }
    for (uint32_t i = 0; i < outputs; i++) {
        c->got[i] = c->expected[i];
        c->got[i].data = lower_root(c, c->graph->body.last->operands[i].value)->data;
    }
    return outputs;
}

/* FLOPs and bytes of the plan, of which kernel form does some ten million a second. */
static inline int64_t lower_work(lower_case *c) {
    int64_t work = 0;
    for (const ig_op *op = c->graph->body.first; op; op = op->next) {
        const ig_attr *attr = &op->attrs[op->code == IG_OP_launch ? IG_launch_work : 0];
        for (uint32_t i = 0; op->code == IG_OP_launch && i < attr->count; i++) {
            work += lower_dim(c, attr->as.dims[i]);
        }
    }
    return work;
}

/* By code, or where that cannot run, in kernel form. */
static inline uint32_t lower_launch_all(lower_case *c) {
    bool runs = cpu_level_runs(c->cpu.target.level);
    if (!runs) {
        cpu_note_missing(c->cpu.target.level);
    }
    return lower_launch_some(c, !runs);
}

#endif
