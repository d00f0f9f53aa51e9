/* Calls: values in, results out, by a program or by the interpreter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/ahead.h"
#include "tools/ingot/model/lists.h"

#include <stdlib.h>
#include <string.h>

void call_init(call *which, size_t count) {
    *which = (call){ .count = count };
    which->inputs = need(calloc(count + 1, sizeof *which->inputs));
    which->owners = need(calloc(count + 1, sizeof(ig_arguments *)));
}

void call_fini(call *which) {
    for (size_t i = 0; which->owners && i < which->count; i++) {
        ig_arguments_close(which->owners[i]);
    }
    free(which->inputs);
    free(which->owners);
    ig_call_destroy(which->tree);
    *which = (call){ 0 };
}

void results_fini(results *which) {
    for (size_t i = 0; i < which->made_count; i++) {
        free(which->made[i]);
    }
    free(which->made);
    free(which->items);
    free(which->views);
    *which = (results){ 0 };
}

/* ---- programs ---- */

bool view_of(const ig_argument *tensor, ig_view *out) {
    if (tensor->kind != IG_ARGUMENT_TENSOR || tensor->rank > IG_MAX_RANK) {
        return false;
    }
    *out = (ig_view){ .data = (void *)(uintptr_t)tensor->data,
                      .capacity = tensor->size,
                      .dtype = ig_dtype_number(tensor->dtype),
                      .rank = tensor->rank };
    for (uint32_t d = 0; d < tensor->rank; d++) {
        out->dims[d] = tensor->dims[d];
    }
    return true;
}

void argument_of(const ig_view *view, ig_argument *out) {
    *out = (ig_argument){ .kind = IG_ARGUMENT_TENSOR,
                          .dtype = ig_dtype_text(view->dtype),
                          .rank = view->rank,
                          .dims = view->dims,
                          .data = view->data };
    out->size = element_count(out) * element_bits(out->dtype) / 8;
}

static ig_status make_views(const model *m, const call *with, ig_view *out,
                            message *why) {
    for (size_t i = 0; i < with->count; i++) {
        if (!view_of(&with->inputs[i], &out[i])) {
            snprintf(
                why->text, sizeof why->text,
                "%s: input '%s' is a list or has a rank above %d: programs do not take it",
                m->path ? m->path : "", model_input_name(m, i), IG_MAX_RANK);
            return IG_UNSUPPORTED;
        }
    }
    return IG_OK;
}

void message_of_session(const model *m, const ig_session *session, ig_status status,
                        message *why) {
    const char *said = status == IG_OK ? "" : ig_session_error(session);
    bool has_path = said[0] && m->path;
    snprintf(why->text, sizeof why->text, "%s%s%.900s", has_path ? m->path : "",
             has_path ? ": " : "", said);
}

static ig_status run_program(const model *m, ig_session *session, const call *with,
                             results *out, message *why) {
    ig_view *inputs = need(calloc(with->count + 1, sizeof *inputs));
    out->count = ig_program_output_count(m->program);
    out->views = need(calloc(out->count + 1, sizeof *out->views));
    out->items = need(calloc(out->count + 1, sizeof *out->items));
    ig_status status = make_views(m, with, inputs, why);
    if (status == IG_OK) {
        interrupt_also(session);
        status = ig_session_run(session, inputs, with->count, out->views, out->count);
        interrupt_also(NULL);
        message_of_session(m, session, status, why);
    }
    for (size_t i = 0; i < out->count && status == IG_OK; i++) {
        argument_of(&out->views[i], &out->items[i]);
    }
    free(inputs);
    return status;
}

/* The same where some values are lists. */
static ig_status run_lists(const model *m, ig_session *session, const call *with,
                           results *out, message *why) {
    call flat = { .count = with->count };
    flat.inputs = need(calloc(with->count + 1, sizeof *flat.inputs));
    memcpy(flat.inputs, with->inputs, with->count * sizeof *flat.inputs);
    ig_status status = lists_to_tensors(m, &flat, out, why)
                           ? run_program(m, session, &flat, out, why)
                           : IG_INVALID;
    if (status == IG_OK && !lists_from_tensors(m, out, why)) {
        status = IG_INVALID;
    }
    free(flat.inputs);
    return status;
}

/* One batch, and none ahead of it. */
static ig_status run_ahead(const model *m, const call *with, results *out,
                           message *why) {
    ig_view *inputs = need(calloc(with->count + 1, sizeof *inputs));
    out->count = model_output_count(m);
    out->views = need(calloc(out->count + 1, sizeof *out->views));
    out->items = need(calloc(out->count + 1, sizeof *out->items));
    ig_status status = make_views(m, with, inputs, why);
    if (status == IG_OK) {
        interrupt_lookahead(m->ahead);
        status = ahead_run(m->ahead, inputs, with->count, m->deadline, out);
        interrupt_lookahead(NULL);
        if (status != IG_OK) {
            snprintf(why->text, sizeof why->text, "%s: %.900s", m->path ? m->path : "",
                     ig_lookahead_error(m->ahead));
        }
    }
    for (size_t i = 0; i < out->count && status == IG_OK; i++) {
        argument_of(&out->views[i], &out->items[i]);
    }
    free(inputs);
    return status;
}

ig_status call_views(const model *m, const call *with, ig_view *out, message *why) {
    return make_views(m, with, out, why);
}

ig_status call_bind(const model *m, ig_session *session, const call *with, results *out,
                    message *why) {
    call flat = { .count = with->count };
    flat.inputs = need(calloc(with->count + 1, sizeof *flat.inputs));
    memcpy(flat.inputs, with->inputs, with->count * sizeof *flat.inputs);
    bool is_flat = !model_has_lists(m) || lists_to_tensors(m, &flat, out, why);
    ig_view *inputs = need(calloc(flat.count + 1, sizeof *inputs));
    size_t count = ig_program_output_count(m->program);
    out->views = need(calloc(count + 1, sizeof *out->views));
    ig_status status = is_flat ? make_views(m, &flat, inputs, why) : IG_INVALID;
    if (status == IG_OK) {
        status = ig_session_bind(session, inputs, flat.count, out->views, count);
        message_of_session(m, session, status, why);
    }
    free(inputs);
    free(flat.inputs);
    return status;
}

/* ---- the interpreter ---- */

static ig_status run_interpreter(const model *m, const call *with, results *out) {
    const ig_argument *outputs = NULL;
    ig_status status = ig_interpret_run(m->module, with->inputs, with->count, &outputs,
                                        &out->count);
    if (status == IG_OK) {
        out->items = need(calloc(out->count + 1, sizeof *out->items));
        out->views = need(calloc(out->count + 1, sizeof *out->views));
        memcpy(out->items, outputs, out->count * sizeof *out->items);
    }
    for (size_t i = 0; i < out->count && status == IG_OK; i++) {
        (void)view_of(&out->items[i], &out->views[i]); /* lists stay without */
    }
    return status;
}

ig_status call_run(const model *m, ig_session *session, const call *with, results *out,
                   message *why) {
    *out = (results){ 0 };
    *why = (message){ "" };
    ig_status status = session ? (model_has_lists(m) ? run_lists : run_program)(
                                     m, session, with, out, why)
                       : m->ahead ? run_ahead(m, with, out, why)
                                  : run_interpreter(m, with, out);
    if (status == IG_OK && was_interrupted()) {
        status = IG_CANCELLED; /* one launch does not stop in the middle */
    }
    if (status != IG_OK) {
        results_fini(out);
    }
    return status;
}

/* ---- trees ---- */

ig_status model_call_create(const model *m, ig_call **out, message *why) {
    ig_call_options how = { sizeof how, why->text, sizeof why->text };
    if (m->program && !m->ahead) {
        return ig_call_create(m->program, &how, out);
    }
    size_t count = model_node_count(m), input_count = model_input_count(m);
    ig_tree_node *nodes = need(calloc(count + 1, sizeof *nodes));
    ig_port *inputs = need(calloc(input_count + 1, sizeof *inputs));
    for (size_t i = 0; i < count; i++) {
        nodes[i] = model_node(m, i);
    }
    for (size_t i = 0; i < input_count; i++) { /* the interpreter checks types */
        inputs[i] = (ig_port){ .name = model_input_name(m, i),
                               .type = model_input_type(m, i) };
    }
    ig_status status = ig_call_create_from_nodes(nodes, count, inputs, &how, out);
    free(nodes);
    free(inputs);
    return status;
}

/* ---- elements ---- */

size_t element_count(const ig_argument *tensor) {
    size_t count = 1;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        count *= (size_t)tensor->dims[d];
    }
    return count;
}

bool holds_texts(const char *dtype) {
    return dtype && strcmp(dtype, "str") == 0;
}

const char *element_text_at(const ig_argument *tensor, size_t index) {
    const char *text = ((const char *const *)tensor->data)[index];
    return text ? text : "";
}

/* The number in a dtype's name: "f8e4m3fn" has 8 bits, "bool" is a byte. */
size_t element_bits(const char *dtype) {
    if (holds_texts(dtype)) {
        return 8 * sizeof(char *);
    }
    size_t at = strcspn(dtype ? dtype : "", "0123456789");
    size_t bits = dtype && dtype[at] ? (size_t)strtoul(dtype + at, NULL, 10) : 8;
    return bits;
}

bool is_real(const char *dtype) {
    return dtype[0] == 'f' || strcmp(dtype, "bf16") == 0;
}
