/* Lua before and after runs.  SPDX-License-Identifier: Apache-2.0
 *
 * Tensors go to a function as a table by name: numbers as tensors over the request's
 * own memory, texts (BYTES) as lists of strings, and come back so.
 */
#include "tools/serve/model/script.h"

#include "tools/serve/call/datatype.h"

#include <ingot/interp.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct script_seat {
    ig_interp_manager *manager; /* of this one: a manager has no more than 64 */
    ig_interp *interp;
    ig_interp_object *hooks[SCRIPT_HOOKS]; /* NULL: there is none */
} script_seat;

struct script {
    char *name;         /* of its file */
    script_seat *seats; /* one a loop */
    size_t seat_count;
};

static const char *const hook_names[SCRIPT_HOOKS] = { "pre", "post" };

/* ---- opening ---- */

static char *read_text(const char *path, char *words) {
    enum { LARGEST = 1 << 20 };
    FILE *from = fopen(path, "rbe");
    char *text = from ? malloc(LARGEST + 1) : NULL;
    size_t size = text ? fread(text, 1, LARGEST + 1, from) : 0;
    int failed = !from || ferror(from) ? errno : size > LARGEST ? EFBIG : 0;
    if (from) {
        fclose(from);
    }
    if (!text || failed) {
        snprintf(words, WORDS, "%.900s: %s", path, strerror(failed ? failed : ENOMEM));
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

/* The function of that name, or nothing. */
static ig_status find_hook(script_seat *of, script_hook which,
                           const ig_interp_call *how) {
    ig_interp_object *found = NULL;
    ig_interp_result *value = NULL;
    ig_status status = ig_interp_global(of->interp, how, "__main__", hook_names[which],
                                        &found);
    if (status == IG_OK) {
        status = ig_interp_read(of->interp, how, found, &value);
    }
    bool is_there = status == IG_OK &&
                    ig_interp_result_value(value)->kind == IG_INTERP_OBJECT;
    ig_interp_result_free(value);
    if (is_there) {
        of->hooks[which] = found;
    } else {
        ig_interp_object_free(found);
    }
    return status;
}

static bool open_seat(const script *of, script_seat *seat, const model_config *config,
                      const char *text, const ig_interp_call *how) {
    const ig_interp_options options = { .size = sizeof options,
                                        .engine = "lua",
                                        .count = 1,
                                        .instructions = config->script_instructions,
                                        .memory = config->script_memory };
    ig_status status = ig_interp_create(&options, how, &seat->manager);
    if (status == IG_OK) {
        status = ig_interp_acquire(seat->manager, how, 0, &seat->interp);
    }
    if (status == IG_OK) {
        status = ig_interp_run(seat->interp, how, text, of->name);
    }
    if (status == IG_OK) { /* so that either may be asked for */
        status = ig_interp_run(seat->interp, how,
                               "pre = pre or false; post = post or false", of->name);
    }
    for (script_hook i = 0; i < SCRIPT_HOOKS && status == IG_OK; i++) {
        status = find_hook(seat, i, how);
    }
    return status == IG_OK;
}

static bool open_seats(script *of, const model_config *config, const char *text,
                       char *words) {
    const ig_interp_call how = { .size = sizeof how,
                                 .message = words,
                                 .message_size = WORDS };
    bool is_open = true;
    for (size_t i = 0; is_open && i < of->seat_count; i++) {
        is_open = open_seat(of, &of->seats[i], config, text, &how);
    }
    return is_open;
}

script *script_open(const model_config *config, size_t loop_count, char words[WORDS]) {
    char *text = read_text(config->script_path, words);
    script *of = text ? calloc(1, sizeof *of) : NULL;
    bool is_open = false;
    if (of) {
        of->name = strdup(config->script);
        of->seats = calloc(loop_count, sizeof *of->seats);
        of->seat_count = loop_count;
        is_open = of->name && of->seats && open_seats(of, config, text, words);
    }
    if (is_open && !of->seats->hooks[SCRIPT_PRE] && !of->seats->hooks[SCRIPT_POST]) {
        snprintf(words, WORDS,
                 "%.200s defines neither function pre(inputs) nor post(outputs)",
                 of->name);
        is_open = false;
    }
    if (!is_open) {
        script_close(of);
        of = NULL;
    }
    free(text);
    return of;
}

void script_close(script *of) {
    if (!of) {
        return;
    }
    for (size_t i = 0; of->seats && i < of->seat_count; i++) {
        for (script_hook k = 0; k < SCRIPT_HOOKS; k++) {
            ig_interp_object_free(of->seats[i].hooks[k]);
        }
        ig_interp_release(of->seats[i].interp);
        ig_interp_destroy(of->seats[i].manager);
    }
    free(of->seats);
    free(of->name);
    free(of);
}

bool script_has(const script *of, script_hook which) {
    return of && of->seats->hooks[which];
}

/* ---- tensors for it ---- */

static bool refuse_memory(request *what) {
    return request_fail(what, CALL_FULL, "memory for the script's tensors ran out");
}

static bool refuse_size(request *what, const tensor *from) {
    return request_fail(
        what, CALL_INVALID,
        "input '%.100s' has %zu bytes, which are not those of its shape", from->name,
        from->size);
}

static bool give_texts(request *what, const tensor *from, size_t count,
                       ig_interp_value *out) {
    const uint8_t *at = from->data, *end = from->data + from->size;
    if (count > from->size / TEXT_HEAD) {
        return refuse_size(what, from);
    }
    ig_interp_value *items = request_take(what, (count + 1) * sizeof *items);
    if (!items) {
        return refuse_memory(what);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t size;
        const uint8_t *text = text_at(at, end, &size);
        if (!text) {
            return refuse_size(what, from);
        }
        items[i] = (ig_interp_value){ .kind = IG_INTERP_BYTES };
        items[i].as.text.data = (const char *)text;
        items[i].as.text.size = size;
        at = text + size;
    }
    *out = (ig_interp_value){ .kind = IG_INTERP_LIST };
    out->as.list.items = items;
    out->as.list.count = count;
    return at == end || refuse_size(what, from);
}

static bool give_tensor(request *what, const tensor *from, ig_interp_value *out) {
    int64_t count = count_elements(from->dims, from->rank);
    size_t size = datatype_size(from->dtype);
    if (count < 0 || (uint64_t)count > SIZE_MAX / 16) {
        return refuse_size(what, from);
    }
    if (size == 0) {
        return give_texts(what, from, (size_t)count, out);
    }
    if (from->size != (size_t)count * size) {
        return refuse_size(what, from);
    }
    *out = (ig_interp_value){ .kind = IG_INTERP_TENSOR };
    out->as.tensor = (ig_view){ .data = (void *)(uintptr_t)from->data,
                                .dtype = (int32_t)from->dtype,
                                .rank = from->rank };
    memcpy(out->as.tensor.dims, from->dims, sizeof from->dims);
    return true;
}

static bool give_table(request *what, const tensor *from, size_t count,
                       ig_interp_value *out) {
    *out = (ig_interp_value){ .kind = IG_INTERP_DICT };
    out->as.list.items = request_take(what,
                                      (2 * count + 1) * sizeof *out->as.list.items);
    out->as.list.count = 2 * count;
    if (!out->as.list.items) {
        return refuse_memory(what);
    }
    for (size_t i = 0; i < count; i++) {
        ig_interp_value *pair = &out->as.list.items[2 * i];
        pair[0] = (ig_interp_value){ .kind = IG_INTERP_TEXT };
        pair[0].as.text.data = from[i].name;
        pair[0].as.text.size = strlen(from[i].name);
        if (!give_tensor(what, &from[i], &pair[1])) {
            return false;
        }
    }
    return true;
}

/* ---- tensors of it ---- */

static bool is_text(const ig_interp_value *of) {
    return of->kind == IG_INTERP_TEXT || of->kind == IG_INTERP_BYTES;
}

static bool take_texts(request *what, const ig_interp_value *from, tensor *to) {
    size_t size = 0;
    for (size_t i = 0; i < from->as.list.count; i++) {
        if (!is_text(&from->as.list.items[i])) {
            return request_fail(
                what, CALL_INTERNAL,
                "the script gives '%.100s', a list that holds a value that is not a string",
                to->name);
        }
        size += TEXT_HEAD + from->as.list.items[i].as.text.size;
    }
    uint8_t *at = request_take(what, size);
    if (!at) {
        return refuse_memory(what);
    }
    to->dtype = IG_STR8;
    to->rank = 1;
    to->dims[0] = (int64_t)from->as.list.count;
    to->data = at;
    to->size = size;
    for (size_t i = 0; i < from->as.list.count; i++) {
        const ig_interp_value *each = &from->as.list.items[i];
        at = text_put(at, each->as.text.data, each->as.text.size);
    }
    return true;
}

static bool take_tensor(request *what, const ig_interp_value *from, tensor *to) {
    if (from->kind == IG_INTERP_LIST) {
        return take_texts(what, from, to);
    }
    if (from->kind != IG_INTERP_TENSOR ||
        !datatype_name((ig_dtype_code)from->as.tensor.dtype)) {
        return request_fail(
            what, CALL_INTERNAL,
            "the script gives '%.100s', which is neither a tensor of a type that the "
            "protocol has nor a list of strings",
            to->name);
    }
    const ig_view *view = &from->as.tensor;
    to->dtype = (ig_dtype_code)view->dtype;
    to->rank = view->rank;
    memcpy(to->dims, view->dims, sizeof to->dims);
    to->size = (size_t)ig_view_bytes(view);
    void *copy = request_take(what, to->size);
    if (!copy) {
        return refuse_memory(what);
    }
    if (to->size) {
        memcpy(copy, view->data, to->size);
    }
    to->data = copy;
    return true;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const tensor *)a)->name, ((const tensor *)b)->name);
}

/* Copies of a table's tensors; NULL: the request has failed. */
static tensor *take_table(request *what, const ig_interp_value *from,
                          size_t *out_count) {
    bool is_empty = from->kind == IG_INTERP_LIST && from->as.list.count == 0;
    size_t count = from->kind == IG_INTERP_DICT ? from->as.list.count / 2 : 0;
    if (from->kind != IG_INTERP_DICT && !is_empty) {
        request_fail(what, CALL_INTERNAL, "the script gives no table by name");
        return NULL;
    }
    tensor *made = request_take(what, (count + 1) * sizeof *made);
    if (!made) {
        refuse_memory(what);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const ig_interp_value *pair = &from->as.list.items[2 * i];
        if (!is_text(&pair[0])) {
            request_fail(what, CALL_INTERNAL, "the script gives no table by name");
            return NULL;
        }
        made[i] =
            (tensor){ .name = pool_copy_text(&what->memory, pair[0].as.text.data) };
        if (!made[i].name) {
            refuse_memory(what);
            return NULL;
        }
        if (!take_tensor(what, &pair[1], &made[i])) {
            return NULL;
        }
    }
    if (count) {
        qsort(made, count, sizeof *made, compare_names);
    }
    *out_count = count;
    return made;
}

/* ---- calls ---- */

static bool tell_failure(request *what, script_hook which, ig_status status,
                         char *words) {
    words[strcspn(words, "\n")] = '\0'; /* the trace is for nobody outside */
    bool is_late = status == IG_LIMIT && what->deadline &&
                   clock_now() >= what->deadline;
    bool is_clients = status == IG_INVALID && which == SCRIPT_PRE;
    return request_fail(what,
                        is_late      ? CALL_LATE
                        : is_clients ? CALL_INVALID
                                     : CALL_INTERNAL,
                        "%s of the script: %.900s", hook_names[which], words);
}

bool script_call(const script *of, size_t loop, script_hook which, request *what) {
    bool is_pre = which == SCRIPT_PRE;
    const script_seat *seat = &of->seats[loop];
    char words[WORDS] = "";
    const ig_interp_call how = { .size = sizeof how,
                                 .message = words,
                                 .message_size = WORDS,
                                 .deadline_ns = what->deadline };
    ig_interp_value table;
    ig_interp_result *given = NULL;
    if (!give_table(what, is_pre ? what->inputs : what->results,
                    is_pre ? what->input_count : what->result_count, &table)) {
        return false;
    }
    const ig_interp_arguments arguments = { .values = &table, .count = 1 };
    ig_status status = ig_interp_invoke(seat->interp, &how, seat->hooks[which],
                                        &arguments, &given);
    if (status != IG_OK) {
        return tell_failure(what, which, status, words);
    }
    size_t count = 0;
    tensor *made = take_table(what, ig_interp_result_value(given), &count);
    ig_interp_result_free(given);
    if (made && is_pre) {
        what->inputs = made;
        what->input_count = count;
    } else if (made) {
        what->results = made;
        what->result_count = count;
    }
    return made;
}
