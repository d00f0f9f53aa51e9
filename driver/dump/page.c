/* A page that shows what became of a model: one file that needs nothing else.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     head of page/ | the JSON of states.h, the profile | code of kernels | tail
 *
 * Data and code are deflated, in base64; code apart, since it is large and read only
 * when someone asks for it.
 */
#include "driver/dump/page.h"

#include "ingot/page.h"

#include "driver/compile/compile.h"
#include "driver/dump/states.h"
#include "frontend/pt2/json.h"
#include "ir/text/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

enum { GRAPHS = IG_STAGE_TENSOR | IG_STAGE_PLAN };

typedef struct page_call {
    ig_module *module;
    ig_page_options options;
    ig_compile_options compile;
    ig_arena *results, arena; /* arena: outside of the recovery point, as the next */
    ig_lowered lowered;
    const ig_backend *backend; /* opened, with its state; or NULL */
    void *state;
    ig_states *states;
    uint32_t stages; /* of the graphs that are drawn */
    ig_writer data, code;
    ig_writer out;
} page_call;

/* How far a page goes. */
typedef struct page_stage {
    const char *name, *lowered_to; /* NULL: as imported */
    bool has_kernels, has_llvm, has_asm;
} page_stage;

static const page_stage stages[] = {
    { "import", NULL, false, false, false },
    { "tensor", "tensor", false, false, false },
    { "plan", "kernel", false, false, false },
    { "kernel", "kernel", true, false, false },
    { "llvm", "kernel", true, true, false },
    { "asm", "kernel", true, true, true },
};

static ig_status find_stage(const page_call *call, const page_stage **out) {
    const char *name = call->options.stage ? call->options.stage : "asm";
    for (size_t i = 0; i < IG_COUNT_OF(stages); i++) {
        if (strcmp(stages[i].name, name) == 0) {
            *out = &stages[i];
            return IG_OK;
        }
    }
    return ig_error_hint(&call->module->context->diag, IG_INVALID, NULL,
                         "import, tensor, plan, kernel, llvm, asm",
                         "a page has no stage '%s'", name);
}

/* ---- states ---- */

/* Of the first target alone: its module is the only one so far. */
static void add_state(void *user, const char *pass, uint32_t index,
                      const ig_module *module) {
    page_call *call = user;
    if (call->lowered.count == 1) {
        ig_states_add(call->states, pass, index, module, call->stages);
    }
}

static ig_status lower_module(page_call *call, const char *to) {
    ig_states_add(call->states, "import", 0, call->module, call->stages);
    if (!to) {
        return IG_OK;
    }
    call->lowered.watch = add_state;
    call->lowered.watch_user = call;
    return ig_module_lower(call->module, &call->compile, to, &call->lowered);
}

/* ---- the profile ---- */

static void put_number(const ig_json *step, const char *key, ig_writer *out) {
    double value = 0;
    bool is_number = ig_json_real(ig_json_get(step, key), &value) && isfinite(value);
    ig_put(out, ", \"%s\": %.9g", key, is_number ? value : 0.0);
}

static void put_text(const ig_json *step, const char *key, ig_writer *out) {
    ig_put(out, ", \"%s\": ", key);
    ig_put_json_string(out, ig_str_of(ig_json_text(ig_json_get(step, key))));
}

static void put_step(const ig_json *step, int64_t index, ig_writer *out) {
    static const char *const numbers[] = { "seconds", "p95_seconds", "flops",
                                           "bytes",   "lines",       "limit_seconds" };
    ig_put(out, "{\"step\": %lld", (long long)index);
    put_text(step, "name", out);
    put_text(step, "kind", out);
    put_text(step, "bound", out);
    for (size_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        put_number(step, numbers[i], out);
    }
    ig_put_char(out, '}');
}

/* Writes the members of a profile that the page reads; others in the text are left
 * out. */
static ig_status put_profile(page_call *call) {
    ig_location where = { .file = "profile" };
    const ig_json *profile = NULL;
    if (!call->options.profile) {
        return IG_OK;
    }
    IG_TRY(ig_json_read(call->module->context, &call->arena, &where,
                        ig_str_of(call->options.profile), &profile));
    const ig_json *steps = ig_json_get(profile, "steps");
    if (!steps || steps->kind != IG_JSON_ARRAY) {
        return ig_error_hint(&call->module->context->diag, IG_INVALID, &where,
                             "ingot profile MODEL --json writes one",
                             "this is not a profile: it has no list of steps");
    }
    ig_put(&call->data, ",\n\"profile\": [");
    for (size_t i = 0; i < ig_json_count(steps); i++) {
        int64_t index = (int64_t)i;
        (void)ig_json_int(ig_json_get(&steps->as.list.items[i], "step"), &index);
        ig_put(&call->data, "%s", i ? ",\n" : "");
        put_step(&steps->as.list.items[i], index, &call->data);
    }
    ig_put_char(&call->data, ']');
    return IG_OK;
}

/* ---- code ---- */

static void put_member(page_call *call, const char *name, const ig_writer *text) {
    ig_put(&call->code, "%s\"%s\": ", strcmp(name, "kernel") == 0 ? "" : ",\n ", name);
    ig_put_json_string(&call->code, ig_writer_str(text));
}

static ig_status put_code(page_call *call, const ig_graph *kernel, ig_code_form what,
                          const char *name) {
    ig_writer text;
    ig_writer_init(&text, &call->arena);
    IG_TRY(ig_context_poll(call->module->context));
    IG_TRY(call->backend->emit(call->state, kernel, what, &text));
    put_member(call, name, &text);
    return IG_OK;
}

static ig_status put_kernel(page_call *call, const page_stage *stage,
                            const ig_graph *kernel) {
    ig_writer text;
    bool is_gpu = call->lowered.targets.targets[0]->family == IG_FAMILY_GPU;
    ig_put_json_string(&call->code, ig_str_of(kernel->name));
    ig_put(&call->code, ": {");
    ig_writer_init(&text, &call->arena);
    ig_print_graph(kernel, &text);
    put_member(call, "kernel", &text);
    if (stage->has_llvm) {
        IG_TRY(put_code(call, kernel, IG_EMIT_TEXT, is_gpu ? "cuda" : "llvm"));
    }
    if (stage->has_asm && !is_gpu) { /* PTX wants NVIDIA's compiler */
        IG_TRY(put_code(call, kernel, IG_EMIT_ASM, "asm"));
    }
    ig_put_char(&call->code, '}');
    return IG_OK;
}

static ig_status open_backend(page_call *call) {
    ig_context *context = call->module->context;
    const ig_target *target = call->lowered.targets.targets[0];
    const ig_backend *backend = NULL;
    IG_TRY(ig_driver_backend(context, target, &backend));
    IG_TRY(backend->open(context, target, &call->state));
    call->backend = backend;
    return IG_OK;
}

static ig_status put_kernels(page_call *call, const page_stage *stage) {
    const char *comma = "";
    ig_put_char(&call->code, '{');
    if (stage->has_kernels && !call->lowered.is_stopped) {
        const ig_module *module = call->lowered.modules[0];
        IG_TRY(stage->has_llvm ? open_backend(call) : IG_OK);
        for (size_t i = 0; i < module->graphs.count; i++) {
            ig_context_progress(module->context, "printing kernels", i,
                                module->graphs.count);
            if (module->graphs.items[i]->stage == IG_STAGE_KERNEL) {
                ig_put(&call->code, "%s", comma);
                IG_TRY(put_kernel(call, stage, module->graphs.items[i]));
                comma = ",\n";
            }
        }
    }
    ig_put_char(&call->code, '}');
    return IG_OK;
}

/* ---- the page ---- */

static void put_base64(ig_writer *out, const unsigned char *bytes, size_t size) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t b = i + 1 < size ? bytes[i + 1] : 0,
                 c = i + 2 < size ? bytes[i + 2] : 0;
        uint32_t word = (uint32_t)bytes[i] << 16 | b << 8 | c;
        ig_put_char(out, digits[word >> 18]);
        ig_put_char(out, digits[word >> 12 & 63]);
        ig_put_char(out, i + 1 < size ? digits[word >> 6 & 63] : '=');
        ig_put_char(out, i + 2 < size ? digits[word & 63] : '=');
    }
}

static ig_status put_deflated(page_call *call, const ig_writer *json) {
    uLongf size = compressBound((uLong)json->size);
    unsigned char *deflated = ig_arena_alloc(&call->arena, size);
    if (compress2(deflated, &size, (const unsigned char *)json->data, (uLong)json->size,
                  Z_DEFAULT_COMPRESSION) != Z_OK) {
        return ig_error(&call->module->context->diag, IG_LIMIT, NULL,
                        "no memory to deflate the page's data");
    }
    put_base64(&call->out, deflated, size);
    return IG_OK;
}

static ig_status write_page(page_call *call, const ig_module *last) {
    ig_put(&call->data, "{");
    ig_states_write(call->states, last, &call->data);
    IG_TRY(put_profile(call));
    ig_put(&call->data, "}");
    ig_put_bytes(&call->out, ig_page_head, ig_page_head_size);
    IG_TRY(put_deflated(call, &call->data));
    ig_put_bytes(&call->out, ig_page_middle, ig_page_middle_size);
    IG_TRY(put_deflated(call, &call->code));
    ig_put_bytes(&call->out, ig_page_tail, ig_page_tail_size);
    return IG_OK;
}

static void begin_page(page_call *call) {
    call->states = ig_states_create(&call->arena);
    ig_writer_init(&call->data, &call->arena);
    ig_writer_init(&call->code, &call->arena);
    ig_writer_init(&call->out, call->results);
}

static ig_status make_page(void *arguments) {
    page_call *call = arguments;
    const page_stage *stage = NULL;
    IG_TRY(find_stage(call, &stage));
    begin_page(call);
    IG_TRY(lower_module(call, call->compile.stop_after ? "kernel" : stage->lowered_to));
    IG_TRY(put_kernels(call, stage));
    return write_page(call,
                      call->lowered.count ? call->lowered.modules[0] : call->module);
}

/* The module as it is, kernels too. */
static ig_status make_still(void *arguments) {
    page_call *call = arguments;
    begin_page(call);
    call->stages = GRAPHS | IG_STAGE_KERNEL;
    ig_states_add(call->states, "", 0, call->module, call->stages);
    ig_put(&call->code, "{}");
    return write_page(call, call->module);
}

static ig_status run_call(page_call *call, ig_status (*work)(void *arguments),
                          const char **out_html, size_t *out_size) {
    ig_module *module = call->module;
    call->results = ig_driver_results(module);
    ig_arena_init(&call->arena, &module->context->budget);
    ig_status status = ig_driver_guard(module->context, work, call);
    if (call->backend) {
        call->backend->close(call->state);
    }
    ig_lowered_fini(&call->lowered);
    ig_arena_fini(&call->arena);
    bool is_good = status == IG_OK;
    *out_html = is_good ? call->out.data : NULL;
    *out_size = is_good ? call->out.size : 0;
    return ig_driver_settle(module->context, status);
}

ig_status ig_module_page(ig_module *module, const ig_page_options *options,
                         const char **out_html, size_t *out_size) {
    page_call call = { .module = module, .stages = GRAPHS };
    ig_options_take(module->context, &call.options, sizeof call.options, options);
    ig_options_take(module->context, &call.compile, sizeof call.compile,
                    call.options.compile);
    return run_call(&call, make_page, out_html, out_size);
}

ig_status ig_page_of(ig_module *module, const char **out_html, size_t *out_size) {
    page_call call = { .module = module };
    return run_call(&call, make_still, out_html, out_size);
}
