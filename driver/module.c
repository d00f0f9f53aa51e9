/* Questions about a module, passes on it, its text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile.h"
#include "ir/text.h"

#include <string.h>

/* ---- signature ---- */

size_t ig_module_input_count(const ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    return graph ? graph->body.arg_count : 0;
}

size_t ig_module_output_count(const ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    return graph && graph->body.last ? graph->body.last->operand_count : 0;
}

const char *ig_module_input_name(const ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool is_there = graph && graph->arg_names && index < graph->body.arg_count;
    return is_there && graph->arg_names[index] ? graph->arg_names[index] : "";
}

const char *ig_module_output_name(const ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool            is_there = graph && graph->result_names &&
                    index < ig_module_output_count(module);
    return is_there && graph->result_names[index] ? graph->result_names[index] : "";
}

static const char *type_text(ig_module *module, const ig_type *type) {
    ig_writer text;
    ig_writer_init(&text, &module->arena);
    ig_print_type(module, type, &text);
    return ig_writer_str(&text).data;
}

const char *ig_module_input_type(ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool            is_there = graph && index < graph->body.arg_count;
    return is_there ? type_text(module, graph->body.args[index]->type) : "";
}

const char *ig_module_output_type(ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool            is_there = graph && index < ig_module_output_count(module);
    return is_there ? type_text(module, graph->body.last->operands[index].value->type)
                    : "";
}

/* ---- passes ---- */

typedef struct run_call_arguments {
    ig_module  *module;
    const char *pipeline, *target;
} run_call_arguments;

static ig_status run_pipeline(void *arguments) {
    run_call_arguments *call = arguments;
    ig_pass_options     options = { 0 };
    if (call->target) {
        ig_target_list list;
        IG_TRY(ig_targets_parse(call->module->context, call->target, &list));
        options.target = list.targets[0];
    }
    return ig_run_passes(call->module, &options, call->pipeline);
}

ig_status ig_module_run(ig_module *module, const char *pipeline, const char *target) {
    run_call_arguments call = { module, pipeline, target };
    return ig_host_guard(module->context, run_pipeline, &call);
}

/* ---- text ---- */

typedef struct text_call {
    ig_module                *module;
    const char               *stage;
    const ig_compile_options *options;
    ig_format                 format;
    ig_arena                 *arena;
    ig_lowered                lowered;
    ig_str                    text;
} text_call;

static ig_status print_as(const text_call *call, const ig_module *module,
                          ig_writer *out) {
    if (call->format != IG_FORMAT_TEXT) {
        return ig_error(&call->module->context->diag, IG_UNSUPPORTED, NULL,
                        "only the text format can be written yet");
    }
    ig_print_module(module, out);
    return IG_OK;
}

static ig_status print_module(void *arguments) {
    text_call *call = arguments;
    ig_writer  out;
    ig_writer_init(&out, call->arena);
    IG_TRY(print_as(call, call->module, &out));
    call->text = ig_writer_str(&out);
    return IG_OK;
}

ig_status ig_module_print(ig_module *module, ig_format format, const char **out_text,
                          size_t *out_size) {
    text_call call = { .module = module,
                       .format = format,
                       .arena = ig_host_results(module) };
    ig_status status = ig_host_guard(module->context, print_module, &call);
    *out_text = call.text.data;
    *out_size = call.text.size;
    return status;
}

/* ---- dumps ---- */

/* Everything but kernels: what `--stage plan` shows. */
static void print_plan(const ig_module *module, ig_writer *out) {
    for (size_t i = 0; i < module->graphs.count; i++) {
        const ig_graph *graph = module->graphs.items[i];
        if (graph->stage == IG_STAGE_PLAN) {
            ig_print_graph(graph, out);
        }
    }
}

/* Kernels of every level as the backend prints them. */
static ig_status print_code(text_call *call, ig_emit what, ig_writer *out) {
    ig_context *context = call->module->context;
    for (uint32_t l = 0; l < call->lowered.count; l++) {
        const ig_backend *backend = NULL;
        void             *state = NULL;
        const ig_target  *target = call->lowered.targets.targets[l];
        IG_TRY(ig_host_backend(context, target, &backend));
        IG_TRY(backend->open(context, target, &state));
        const ig_module *module = call->lowered.modules[l];
        ig_status        status = IG_OK;
        for (size_t i = 0; i < module->graphs.count && status == IG_OK; i++) {
            if (module->graphs.items[i]->stage == IG_STAGE_KERNEL) {
                status = backend->emit(state, module->graphs.items[i], what, out);
            }
        }
        backend->close(state);
        IG_TRY(status);
    }
    return IG_OK;
}

typedef ig_status (*stage_fn)(text_call *call, ig_writer *out);

static ig_status stage_import(text_call *call, ig_writer *out) {
    return print_as(call, call->module, out);
}

static ig_status stage_tensor(text_call *call, ig_writer *out) {
    return print_as(call, call->lowered.modules[0], out);
}

static ig_status stage_plan(text_call *call, ig_writer *out) {
    print_plan(call->lowered.modules[0], out);
    return IG_OK;
}

static ig_status stage_text(text_call *call, ig_writer *out) {
    return print_code(call, IG_EMIT_TEXT, out);
}

static ig_status stage_asm(text_call *call, ig_writer *out) {
    return print_code(call, IG_EMIT_ASM, out);
}

typedef struct stage_row {
    const char *name, *lowered_to; /* NULL: as imported */
    stage_fn    print;
} stage_row;

static const stage_row stages[] = {
    { "import", NULL, stage_import }, { "tensor", "tensor", stage_tensor },
    { "plan", "kernel", stage_plan }, { "kernel", "kernel", stage_tensor },
    { "llvm", "kernel", stage_text }, { "asm", "kernel", stage_asm },
    { "cuda", "kernel", stage_text }, { "ptx", "kernel", stage_asm },
};

static ig_status dump(void *arguments) {
    text_call  *call = arguments;
    ig_context *context = call->module->context;
    for (size_t i = 0; i < IG_COUNT_OF(stages); i++) {
        if (strcmp(stages[i].name, call->stage) != 0) {
            continue;
        }
        if (stages[i].lowered_to) {
            IG_TRY(ig_lower_module(call->module, call->options, stages[i].lowered_to,
                                   &call->lowered));
        }
        ig_writer out;
        ig_writer_init(&out, call->arena);
        IG_TRY(stages[i].print(call, &out));
        call->text = ig_writer_str(&out);
        return IG_OK;
    }
    return ig_error_hint(&context->diag, IG_INVALID, NULL,
                         "import, tensor, plan, kernel, llvm, asm, cuda, ptx",
                         "there is no stage '%s'", call->stage);
}

ig_status ig_dump(ig_module *module, const char *stage,
                  const ig_compile_options *options, ig_format format,
                  const char **out_text, size_t *out_size) {
    text_call call = { .module = module,
                       .stage = stage,
                       .options = options,
                       .format = format,
                       .arena = ig_host_results(module) };
    ig_status status = ig_host_guard(module->context, dump, &call);
    ig_lowered_fini(&call.lowered);
    *out_text = call.text.data;
    *out_size = call.text.size;
    return status;
}
