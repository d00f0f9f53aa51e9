/* A variant of the model, run on batches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/quantise/quantise.h"

#include <string.h>

static bool is_interpreted(const ig_quantized *q) {
    return q->compile.target && strcmp(q->compile.target, "interpret") == 0;
}

typedef struct runner_call {
    quant_runner *runner;
    const char *batch, *text;
    ig_status status;
} runner_call;

static ig_status make_room(void *arguments) {
    quant_runner *r = ((runner_call *)arguments)->runner;
    ig_arena *arena = &r->module->arena;
    r->input_count = ig_module_input_count(r->module);
    r->output_count = ig_module_output_count(r->module);
    r->inputs = IG_NEW_ARRAY(arena, ig_view, r->input_count);
    r->arguments = IG_NEW_ARRAY(arena, ig_argument, r->input_count);
    r->views = IG_NEW_ARRAY(arena, ig_view, r->output_count);
    r->outputs = IG_NEW_ARRAY(arena, ig_argument, r->output_count);
    return IG_OK;
}

/* Of a batch that does not fit, or another failure of a run. */
static ig_status report_batch(void *arguments) {
    const runner_call *call = arguments;
    ig_location where = { .file = call->batch };
    return ig_error(&call->runner->q->context->diag, call->status, &where, "%s",
                    call->text);
}

static ig_status refuse_batch(quant_runner *r, size_t batch, ig_status status,
                              const char *text) {
    const char *name = r->q->batches[batch].name;
    runner_call call = { r, name ? name : "calibration data", text, status };
    return ig_driver_guard(r->q->context, report_batch, &call);
}

static ig_status open_session(quant_runner *r) {
    char text[512] = "";
    ig_session_options options = { .size = sizeof options,
                                   .message = text,
                                   .message_size = sizeof text,
                                   .threads = ig_cpu_count() };
    ig_status status = ig_session_create(r->program, &options, &r->session);
    return status == IG_OK ? IG_OK : refuse_batch(r, 0, status, text);
}

ig_status quant_open(quant_runner *runner, ig_quantized *q, ig_module *module) {
    *runner = (quant_runner){ .q = q, .module = module };
    runner_call call = { .runner = runner };
    IG_TRY(ig_driver_guard(q->context, make_room, &call));
    if (is_interpreted(q)) {
        return IG_OK;
    }
    IG_TRY(ig_compile(module, &q->compile, &runner->program));
    return open_session(runner);
}

/* ---- one batch ---- */

static bool take_view(const ig_argument *from, ig_view *out) {
    if (from->kind != IG_ARGUMENT_TENSOR || from->rank > IG_MAX_RANK) {
        return false;
    }
    *out = (ig_view){ .data = (void *)(uintptr_t)from->data,
                      .capacity = from->size,
                      .dtype = ig_dtype_number(from->dtype),
                      .rank = from->rank };
    for (uint32_t d = 0; d < from->rank; d++) {
        out->dims[d] = from->dims[d];
    }
    return true;
}

static ig_status run_session(quant_runner *r, size_t batch) {
    for (size_t i = 0; i < r->input_count; i++) {
        if (!take_view(&r->arguments[i], &r->inputs[i])) {
            return refuse_batch(
                r, batch, IG_UNSUPPORTED,
                "programs take neither lists nor tensors of more than 8 axes");
        }
    }
    for (size_t i = 0; i < r->output_count; i++) {
        r->views[i] = (ig_view){ 0 };
    }
    ig_status status = ig_session_run(r->session, r->inputs, r->input_count, r->views,
                                      r->output_count);
    if (status != IG_OK) {
        return refuse_batch(r, batch, status, ig_session_error(r->session));
    }
    for (size_t i = 0; i < r->output_count; i++) {
        r->outputs[i] = (ig_argument){ .kind = IG_ARGUMENT_TENSOR,
                                       .dtype = ig_dtype_text(r->views[i].dtype),
                                       .rank = r->views[i].rank,
                                       .dims = r->views[i].dims,
                                       .data = r->views[i].data };
    }
    return IG_OK;
}

static ig_status run_interpreter(quant_runner *r) {
    const ig_argument *outputs;
    size_t count;
    IG_TRY(ig_interpret_run(r->module, r->arguments, r->input_count, &outputs, &count));
    for (size_t i = 0; i < r->output_count; i++) {
        r->outputs[i] = outputs[i];
    }
    return IG_OK;
}

ig_status quant_run(quant_runner *runner, size_t batch, const uint8_t *flags,
                    size_t flag_count) {
    const ig_quantize_batch *from = &runner->q->batches[batch];
    IG_TRY(ig_context_poll(runner->q->context));
    if (from->input_count + flag_count != runner->input_count) {
        return refuse_batch(runner, batch, IG_INVALID,
                            "it does not have a value for each input of the model");
    }
    for (size_t i = 0; i < from->input_count; i++) {
        runner->arguments[i] = from->inputs[i];
    }
    for (size_t i = 0; i < flag_count; i++) {
        runner->arguments[from->input_count + i] = (ig_argument){
            .kind = IG_ARGUMENT_TENSOR, .dtype = "bool", .data = &flags[i], .size = 1
        };
    }
    return runner->session ? run_session(runner, batch) : run_interpreter(runner);
}

void quant_close(quant_runner *runner) {
    ig_session_destroy(runner->session);
    ig_program_close(runner->program);
    ig_module_close(runner->module);
    *runner = (quant_runner){ 0 };
}
