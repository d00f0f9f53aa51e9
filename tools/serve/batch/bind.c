/* Binding requests to programs.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/batch/bind.h"

#include "tools/serve/call/datatype.h"

#include <stdio.h>
#include <string.h>

/* The index of the port of that name, tried at `guess` first; `count` when there is
 * none. */
static size_t find_port(const ig_port *ports, size_t count, const char *name,
                        size_t guess) {
    if (guess < count && strcmp(ports[guess].name, name) == 0) {
        return guess;
    }
    size_t i = 0;
    while (i < count && strcmp(ports[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* "[4, 13]" */
static const char *show_dims(char text[256], const int64_t *dims, uint32_t rank) {
    size_t at = 0;
    text[at++] = '[';
    for (uint32_t i = 0; i < rank; i++) {
        at += (size_t)snprintf(text + at, 256 - at, i ? ", %lld" : "%lld",
                               (long long)dims[i]);
    }
    text[at++] = ']';
    text[at] = '\0';
    return text;
}

static bool check_type(request *of, const tensor *given, const ig_port *port,
                       const served *to) {
    if (given->dtype != port->dtype) {
        return request_fail(
            of, CALL_INVALID, "input '%.100s' of model '%s' is %s, not %s", given->name,
            to->name, datatype_name(port->dtype), datatype_name(given->dtype));
    }
    bool is_good = given->rank == port->rank;
    for (uint32_t i = 0; is_good && i < port->rank; i++) {
        is_good = port->dims[i] < 0 || port->dims[i] == given->dims[i];
    }
    char got[256], want[256];
    return is_good ||
           request_fail(of, CALL_INVALID,
                        "input '%.100s' of model '%s' has shape %s, "
                        "expected %s",
                        given->name, to->name, show_dims(got, given->dims, given->rank),
                        show_dims(want, port->dims, port->rank));
}

/* ---- texts ---- */

/* Elements of BYTES become texts that end in a zero byte. */
static bool bind_texts(request *of, const tensor *from, size_t count, ig_view *to) {
    const char **texts = pool_take_array(&of->memory, count + 1, sizeof *texts);
    char *copies = pool_take(&of->memory,
                             from->size + 1); /* a zero byte for 4 of length */
    if (!texts || !copies) {
        return request_fail(of, CALL_FULL, "memory for input '%.100s' ran out",
                            from->name);
    }
    const uint8_t *at = from->data, *end = from->data + from->size;
    for (size_t i = 0; i < count; i++) {
        uint32_t length;
        const uint8_t *text = text_at(at, end, &length);
        if (!text) {
            return request_fail(of, CALL_INVALID,
                                "input '%.100s': element %zu of %zu does "
                                "not fit in its %zu bytes",
                                from->name, i, count, from->size);
        }
        memcpy(copies, text, length);
        copies[length] = '\0';
        if (memchr(copies, 0, length)) {
            return request_fail(of, CALL_UNSUPPORTED,
                                "input '%.100s': element %zu holds a "
                                "zero byte",
                                from->name, i);
        }
        texts[i] = copies;
        copies += length + 1;
        at = text + length;
    }
    to->data = texts;
    return at == end || request_fail(of, CALL_INVALID,
                                     "input '%.100s' has %zu bytes after its elements",
                                     from->name, (size_t)(end - at));
}

/* ---- inputs ---- */

static bool bind_numbers(request *of, const tensor *from, size_t count, ig_view *to) {
    size_t size = datatype_size(from->dtype);
    if (from->size != count * size) {
        return request_fail(of, CALL_INVALID,
                            "input '%.100s' has %zu bytes, expected %zu", from->name,
                            from->size, count * size);
    }
    to->data = (void *)from->data;
    if ((uintptr_t)from->data % size == 0) {
        return true;
    }
    to->data = pool_take(&of->memory, from->size);
    if (!to->data) {
        return request_fail(of, CALL_FULL, "memory for input '%.100s' ran out",
                            from->name);
    }
    memcpy(to->data, from->data, from->size);
    return true;
}

static bool bind_input(request *of, const tensor *from, const ig_port *port,
                       const served *model, ig_view *to) {
    if (!check_type(of, from, port, model)) {
        return false;
    }
    int64_t count = count_elements(from->dims, from->rank);
    size_t size = datatype_size(from->dtype);
    if (count < 0 || (uint64_t)count > SIZE_MAX / 16 ||
        (size_t)count > from->size / (size ? size : 4)) {
        char dims[256];
        return request_fail(of, CALL_INVALID,
                            "input '%.100s' has %zu bytes, too few for "
                            "%s",
                            from->name, from->size,
                            show_dims(dims, from->dims, from->rank));
    }
    *to = (ig_view){ .dtype = (int32_t)from->dtype, .rank = from->rank };
    memcpy(to->dims, from->dims, sizeof to->dims);
    return size ? bind_numbers(of, from, (size_t)count, to)
                : bind_texts(of, from, (size_t)count, to);
}

bool bind_inputs(request *of, const served *to) {
    of->views = pool_take_array(&of->memory, to->input_count + 1, sizeof *of->views);
    if (!of->views) {
        return request_fail(of, CALL_FULL, "memory for inputs ran out");
    }
    for (size_t i = 0; i < of->input_count; i++) {
        const tensor *given = &of->inputs[i];
        size_t port = find_port(to->inputs, to->input_count, given->name, i);
        if (port == to->input_count && to->config.then) {
            continue; /* the next model's */
        }
        if (port == to->input_count) {
            return request_fail(of, CALL_INVALID, "model '%s' has no input '%.100s'",
                                to->name, given->name);
        }
        if (of->views[port].dtype) {
            return request_fail(of, CALL_INVALID, "input '%.100s' is given twice",
                                given->name);
        }
        if (!bind_input(of, given, &to->inputs[port], to, &of->views[port])) {
            return false;
        }
    }
    for (size_t i = 0; i < to->input_count; i++) {
        if (!of->views[i].dtype) {
            return request_fail(of, CALL_INVALID, "input '%s' of model '%s' is missing",
                                to->inputs[i].name, to->name);
        }
    }
    return true;
}

/* ---- outputs ---- */

/* Outputs that are asked for twice are answered once. */
static void drop_repeated(request *of) {
    wanted *outputs = (wanted *)of->outputs; /* the request's own */
    size_t kept = 0;
    for (size_t i = 0; i < of->output_count; i++) {
        size_t same = 0;
        while (same < kept && strcmp(outputs[same].name, outputs[i].name) != 0) {
            same++;
        }
        if (same == kept) {
            outputs[kept++] = outputs[i];
        }
    }
    of->output_count = kept;
}

bool check_outputs(request *of, const served *to) {
    for (size_t i = 0; i < of->output_count && served_answers(to); i++) {
        if (find_port(to->outputs, to->output_count, of->outputs[i].name, i) ==
            to->output_count) {
            return request_fail(of, CALL_INVALID, "model '%s' has no output '%.100s'",
                                to->name, of->outputs[i].name);
        }
    }
    drop_repeated(of);
    return true;
}

/* Texts of a run, each after its length. */
static bool write_texts(request *of, const ig_view *from, size_t count, tensor *to) {
    const char *const *texts = from->data;
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += TEXT_HEAD + (texts[i] ? strlen(texts[i]) : 0);
    }
    uint8_t *out = pool_take(&of->memory, size);
    if (!out) {
        return request_fail(of, CALL_FULL, "memory for output '%s' ran out", to->name);
    }
    to->data = out;
    to->size = size;
    for (size_t i = 0; i < count; i++) {
        out = text_put(out, texts[i], texts[i] ? strlen(texts[i]) : 0);
    }
    return true;
}

bool give_results(request *of, const served *to, const ig_view *views) {
    bool is_picked = of->output_count && served_answers(to);
    size_t count = is_picked ? of->output_count : to->output_count;
    tensor *results = pool_take_array(&of->memory, count + 1, sizeof *results);
    if (!results) {
        return request_fail(of, CALL_FULL, "memory for outputs ran out");
    }
    for (size_t i = 0; i < count; i++) {
        size_t port = is_picked ? find_port(to->outputs, to->output_count,
                                            of->outputs[i].name, i)
                                : i;
        const ig_view *view = &views[port];
        int64_t size = ig_view_bytes(view);
        results[i] = (tensor){ .name = to->outputs[port].name,
                               .dtype = (ig_dtype_code)view->dtype,
                               .rank = view->rank,
                               .data = view->data,
                               .size = (size_t)size };
        memcpy(results[i].dims, view->dims, sizeof view->dims);
        if (view->dtype == IG_STR8 &&
            !write_texts(of, view, (size_t)count_elements(view->dims, view->rank),
                         &results[i])) {
            return false;
        }
    }
    of->results = results;
    of->result_count = count;
    of->answered = of->step ? of->answered : to->version;
    return true;
}

bool pick_results(request *of) {
    tensor *picked = request_take(of, (of->output_count + 1) * sizeof *picked);
    if (!picked) {
        return request_fail(of, CALL_FULL, "memory for outputs ran out");
    }
    for (size_t i = 0; i < of->output_count; i++) {
        size_t k = 0;
        while (k < of->result_count &&
               strcmp(of->results[k].name, of->outputs[i].name) != 0) {
            k++;
        }
        if (k == of->result_count) {
            return request_fail(of, CALL_INVALID,
                                "the script of model '%.100s' gives no output '%.100s'",
                                of->model, of->outputs[i].name);
        }
        picked[i] = of->results[k];
    }
    if (of->output_count) {
        of->results = picked;
        of->result_count = of->output_count;
    }
    return true;
}
