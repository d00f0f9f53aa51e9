/* The public functions that print modules at each stage of compilation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/dump/dump.h"
#include "driver/dump/page.h"
#include "ingot/page.h"

#include "driver/compile/compile.h"
#include "driver/compile/isolate.h"
#include "ir/text/text.h"

#include <assert.h>
#include <string.h>

enum { ALL_STAGES = IG_STAGE_TENSOR | IG_STAGE_PLAN | IG_STAGE_KERNEL };

typedef struct text_call {
    ig_module *module;
    const char *stage;
    ig_compile_options options;
    ig_format format;
    ig_arena *arena;
    ig_lowered lowered;
    const ig_backend *backend; /* opened, with its state; or NULL */
    void *state;
    ig_str text;
} text_call;

static void print_as(const text_call *call, const ig_module *module, uint32_t stages,
                     ig_writer *out) {
    if (call->format == IG_FORMAT_DOT) {
        ig_dump_dot(module, stages, out);
    } else if (call->format == IG_FORMAT_JSON) {
        ig_dump_json(module, stages, out);
    } else if (call->format == IG_FORMAT_MODEL_EXPLORER) {
        ig_dump_explorer(module, stages, out);
    } else if (call->format == IG_FORMAT_ONNX) {
        ig_dump_onnx(module, ig_entry_of(module), out);
    } else if (stages == ALL_STAGES) {
        ig_print_module(module, out);
    } else {
        for (size_t i = 0; i < module->graphs.count; i++) {
            if (module->graphs.items[i]->stage & stages) {
                ig_print_graph(module->graphs.items[i], out);
            }
        }
    }
}

static ig_status print_module(void *arguments) {
    text_call *call = arguments;
    ig_writer out;
    ig_writer_init(&out, call->arena);
    print_as(call, call->module, ALL_STAGES, &out);
    call->text = ig_writer_str(&out);
    return IG_OK;
}

ig_status ig_module_print(ig_module *module, ig_format format, const char **out_text,
                          size_t *out_size) {
    if (format == IG_FORMAT_HTML) {
        return ig_page_of(module, out_text, out_size);
    }
    text_call call = { .module = module,
                       .format = format,
                       .arena = ig_driver_results(module) };
    ig_status status = ig_driver_guard(module->context, print_module, &call);
    *out_text = call.text.data;
    *out_size = call.text.size;
    return ig_driver_settle(module->context, status);
}

/* ---- stages ---- */

static ig_status print_kernels(const ig_backend *backend, void *state,
                               const ig_module *module, ig_code_form what,
                               ig_writer *out) {
    for (size_t i = 0; i < module->graphs.count; i++) {
        if (module->graphs.items[i]->stage == IG_STAGE_KERNEL) {
            IG_TRY(backend->emit(state, module->graphs.items[i], what, out));
        }
    }
    return IG_OK;
}

/* One image of all kernels, for forms that cannot be concatenated. */
static ig_status assemble_kernels(const ig_backend *backend, void *state,
                                  const ig_module *module, ig_code_form what,
                                  ig_writer *out) {
    ig_writer text;
    ig_writer_init(&text, out->arena);
    IG_TRY(print_kernels(backend, state, module, IG_EMIT_TEXT, &text));
    return backend->assemble(state, ig_writer_str(&text), what, out);
}

static void close_backend(text_call *call) {
    if (call->backend) {
        call->backend->close(call->state);
        call->backend = NULL;
    }
}

/* Kernels of one level as its backend prints them. */
static ig_status print_level(text_call *call, uint32_t level, ig_code_form what,
                             ig_writer *out) {
    assert(level < call->lowered.count && !call->backend &&
           "one backend is open at a time");
    ig_context *context = call->module->context;
    const ig_target *target = call->lowered.targets.targets[level];
    const ig_module *module = call->lowered.modules[level];
    const ig_backend *backend = NULL;
    IG_TRY(ig_driver_backend(context, target, &backend));
    IG_TRY(backend->open(context, target, &call->state));
    call->backend = backend;
    bool is_whole = backend->assemble && what != IG_EMIT_TEXT;
    ig_status status = is_whole
                           ? assemble_kernels(backend, call->state, module, what, out)
                           : print_kernels(backend, call->state, module, what, out);
    close_backend(call);
    return status;
}

static ig_status print_code(text_call *call, bool of_gpus, ig_code_form what,
                            ig_writer *out) {
    const ig_target_list *targets = &call->lowered.targets;
    bool is_any = false;
    for (uint32_t l = 0; l < call->lowered.count; l++) {
        if ((targets->targets[l]->family == IG_FAMILY_GPU) == of_gpus) {
            is_any = true;
            IG_TRY(print_level(call, l, what, out));
        }
    }
    return is_any ? IG_OK
                  : ig_error(&call->module->context->diag, IG_INVALID, NULL,
                             "there is no stage '%s' on the way to %s", call->stage,
                             targets->targets[0]->name);
}

typedef ig_status stage_fn(text_call *call, ig_writer *out);

static ig_status stage_import(text_call *call, ig_writer *out) {
    print_as(call, call->module, ALL_STAGES, out);
    return IG_OK;
}

static ig_status stage_all(text_call *call, ig_writer *out) {
    assert(call->lowered.count > 0 && "the stage's row lowers the module");
    print_as(call, call->lowered.modules[0], ALL_STAGES, out);
    return IG_OK;
}

static ig_status stage_plan(text_call *call, ig_writer *out) {
    assert(call->lowered.count > 0 && "the stage's row lowers the module");
    print_as(call, call->lowered.modules[0], IG_STAGE_PLAN, out);
    return IG_OK;
}

static ig_status stage_llvm(text_call *call, ig_writer *out) {
    return print_code(call, false, IG_EMIT_TEXT, out);
}

static ig_status stage_asm(text_call *call, ig_writer *out) {
    return print_code(call, false, IG_EMIT_ASM, out);
}

static ig_status stage_cuda(text_call *call, ig_writer *out) {
    return print_code(call, true, IG_EMIT_TEXT, out);
}

static ig_status stage_ptx(text_call *call, ig_writer *out) {
    return print_code(call, true, IG_EMIT_ASM, out);
}

static ig_status stage_cubin(text_call *call, ig_writer *out) {
    if (call->lowered.count > 1) {
        return ig_error_hint(&call->module->context->diag, IG_INVALID, NULL,
                             "name one, for example cuda:sm_90a",
                             "a cubin is for one architecture");
    }
    return print_code(call, true, IG_EMIT_IMAGE, out);
}

typedef struct stage_row {
    const char *name, *lowered_to; /* NULL: as imported */
    stage_fn *print;
    const char *target; /* where the caller names none */
} stage_row;

static const stage_row stages[] = {
    { "import", NULL, stage_import, NULL },
    { "tensor", "tensor", stage_all, NULL },
    { "plan", "kernel", stage_plan, NULL },
    { "kernel", "kernel", stage_all, NULL },
    { "llvm", "kernel", stage_llvm, NULL },
    { "asm", "kernel", stage_asm, NULL },
    { "cuda", "kernel", stage_cuda, "cuda:sm_90a" },
    { "ptx", "kernel", stage_ptx, "cuda:sm_90a" },
    { "cubin", "kernel", stage_cubin, "cuda:sm_90a" },
};

static ig_status dump_stage(text_call *call, const stage_row *row) {
    if (!call->options.target) {
        call->options.target = row->target;
    }
    const char *to = call->options.stop_after ? "kernel" : row->lowered_to;
    if (to) {
        IG_TRY(ig_module_lower(call->module, &call->options, to, &call->lowered));
    }
    ig_writer out;
    ig_writer_init(&out, call->arena);
    IG_TRY(call->lowered.is_stopped ? stage_all(call, &out) : row->print(call, &out));
    call->text = ig_writer_str(&out);
    return IG_OK;
}

static ig_status dump_module(void *arguments) {
    text_call *call = arguments;
    for (size_t i = 0; i < IG_COUNT_OF(stages); i++) {
        if (strcmp(stages[i].name, call->stage) == 0) {
            return dump_stage(call, &stages[i]);
        }
    }
    return ig_error_hint(&call->module->context->diag, IG_INVALID, NULL,
                         "import, tensor, plan, kernel, llvm, asm, cuda, ptx, cubin",
                         "there is no stage '%s'", call->stage);
}

/* ---- public ---- */

ig_status ig_dump(ig_module *module, const char *stage,
                  const ig_compile_options *options, ig_format format,
                  const char **out_text, size_t *out_size) {
    if (format == IG_FORMAT_HTML) {
        ig_page_options page = { sizeof page, stage, options, NULL };
        return ig_module_page(module, &page, out_text, out_size);
    }
    text_call call = { .module = module,
                       .stage = stage,
                       .format = format,
                       .arena = ig_driver_results(module) };
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_status status = ig_driver_guard(module->context, dump_module, &call);
    close_backend(&call);
    ig_lowered_fini(&call.lowered);
    *out_text = call.text.data;
    *out_size = call.text.size;
    return ig_driver_settle(module->context, status);
}

typedef struct isolated_call {
    ig_context *context;
    ig_isolated_work work;
    ig_module *files;
    ig_file_map made;
    ig_str text;
} isolated_call;

static ig_status dump_isolated(void *arguments) {
    isolated_call *call = arguments;
    ig_arena *arena = &ig_driver_of(call->context)->arena;
    IG_TRY(ig_isolate(call->context, &call->work, call->files, &call->made));
    size_t size = call->made.size;
    call->text = (ig_str){ ig_arena_copy(arena, call->made.data, size), size };
    return IG_OK;
}

ig_status ig_dump_isolated(ig_context *context, const char *path,
                           const ig_isolated_dump *what, const char **out_text,
                           size_t *out_size) {
    ig_isolated_dump given = { 0 };
    ig_import_options import = { .size = sizeof import };
    ig_compile_options compile = { .size = sizeof compile };
    ig_options_take(context, &given, sizeof given, what);
    ig_options_take(context, &import, sizeof import, given.import);
    ig_options_take(context, &compile, sizeof compile, given.compile);
    isolated_call call = { .context = context,
                           .work = { .model = path,
                                     .import = &import,
                                     .compile = &compile,
                                     .stage = given.stage,
                                     .format = given.format },
                           .files = ig_module_create_for(context, path) };
    ig_status status = ig_driver_guard(context, dump_isolated, &call);
    ig_file_map_close(&call.made);
    ig_module_close(call.files);
    *out_text = call.text.data;
    *out_size = call.text.size;
    return ig_driver_settle(context, status);
}
