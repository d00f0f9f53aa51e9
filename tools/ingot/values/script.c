/* Lua before and after a call of a model.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/script.h"

#include <ingot/interp.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct script {
    ig_interp_manager *manager;
    ig_interp *interp;
    ig_interp_object *hooks[2]; /* pre, post; NULL: the script has none */
    ig_interp_result *given[2]; /* by them; its content is used until the end */
    const char **names;         /* of the results of post */
} script;

static const char *const hook_names[2] = { "pre", "post" };

static ig_interp_call call_with(message *why) {
    return (ig_interp_call){ .size = sizeof(ig_interp_call),
                             .message = why->text,
                             .message_size = sizeof why->text };
}

/* ---- opening ---- */

static char *read_file(const char *path, message *why) {
    FILE *file = fopen(path, "rb");
    size_t size = 0, room = 1 << 16;
    char *text = need(malloc(room));
    while (file && !feof(file) && !ferror(file)) {
        size += fread(text + size, 1, room - size - 1, file);
        if (size + 1 == room) {
            room *= 2;
            text = need(realloc(text, room));
        }
    }
    if (!file || ferror(file)) {
        snprintf(why->text, sizeof why->text, "--script %s: cannot be read: %s", path,
                 strerror(errno));
        free(text);
        text = NULL;
    } else {
        text[size] = '\0';
    }
    if (file) {
        fclose(file);
    }
    return text;
}

/* The function of that name, or nothing. */
static ig_status find_hook(script *s, int index, message *why) {
    ig_interp_call how = call_with(why);
    ig_interp_object *found = NULL;
    ig_interp_result *read = NULL;
    ig_status status = ig_interp_global(s->interp, &how, "__main__", hook_names[index],
                                        &found);
    if (status == IG_OK) {
        status = ig_interp_read(s->interp, &how, found, &read);
    }
    bool is_there = status == IG_OK &&
                    ig_interp_result_value(read)->kind == IG_INTERP_OBJECT;
    ig_interp_result_free(read);
    if (is_there) {
        s->hooks[index] = found;
    } else {
        ig_interp_object_free(found);
    }
    return status;
}

static ig_status script_open(const settings *given, script *s, message *why) {
    ig_interp_call how = call_with(why);
    const char *slash = strrchr(given->script, '/');
    char *folder = slash ? text_of("%.*s", (int)(slash - given->script + 1),
                                   given->script)
                         : text_of("./");
    const char *const paths[] = { folder };
    ig_interp_options options = { .size = sizeof options,
                                  .engine = "lua",
                                  .count = 1,
                                  .paths = paths,
                                  .path_count = 1 };
    char *source = read_file(given->script, why);
    ig_status status = source ? ig_interp_create(&options, &how, &s->manager) : IG_IO;
    if (status == IG_OK) {
        status = ig_interp_acquire(s->manager, &how, -1, &s->interp);
    }
    if (status == IG_OK) {
        status = ig_interp_run(s->interp, &how, source, given->script);
    }
    if (status == IG_OK) { /* so that either may be asked for */
        status = ig_interp_run(
            s->interp, &how, "pre = pre or false; post = post or false", given->script);
    }
    for (int i = 0; i < 2 && status == IG_OK; i++) {
        status = find_hook(s, i, why);
    }
    if (status == IG_OK && !s->hooks[0] && !s->hooks[1]) {
        snprintf(why->text, sizeof why->text,
                 "--script %s: defines neither function pre(inputs) nor post(outputs)",
                 given->script);
        status = IG_INVALID;
    }
    free(source);
    free(folder);
    return status;
}

static void script_close(script *s) {
    for (int i = 0; i < 2; i++) {
        ig_interp_result_free(s->given[i]);
        ig_interp_object_free(s->hooks[i]);
    }
    ig_interp_release(s->interp);
    ig_interp_destroy(s->manager);
    free(s->names);
}

/* ---- a call of either ---- */

static ig_interp_value text_value(const char *text) {
    ig_interp_value value = { .kind = IG_INTERP_TEXT };
    value.as.text.data = text;
    value.as.text.size = strlen(text);
    return value;
}

/* Names and tensors in turn; those without a value are left out. */
static ig_status make_table(const ig_argument *values, const char *const *names,
                            size_t count, ig_interp_value *out, message *why) {
    *out = (ig_interp_value){ .kind = IG_INTERP_DICT };
    out->as.list.items = need(calloc(2 * count + 1, sizeof *out->as.list.items));
    for (size_t i = 0; i < count; i++) {
        ig_interp_value *pair = out->as.list.items + out->as.list.count;
        if (!input_is_given(&values[i])) {
            continue;
        }
        pair[0] = text_value(names[i]);
        pair[1].kind = IG_INTERP_TENSOR;
        if (!view_of(&values[i], &pair[1].as.tensor)) {
            snprintf(why->text, sizeof why->text,
                     "'%s' is a list or has a rank above %d: scripts do not take it",
                     names[i], IG_MAX_RANK);
            return IG_UNSUPPORTED;
        }
        out->as.list.count += 2;
    }
    return IG_OK;
}

/* Is it a table of names and tensors? */
static bool is_table(const ig_interp_value *value) {
    bool is_dict = value->kind == IG_INTERP_DICT;
    for (size_t i = 0; is_dict && i + 1 < value->as.list.count; i += 2) {
        is_dict = value->as.list.items[i].kind == IG_INTERP_TEXT &&
                  value->as.list.items[i + 1].kind == IG_INTERP_TENSOR;
    }
    return is_dict;
}

static ig_status call_hook(script *s, int index, const ig_argument *values,
                           const char *const *names, size_t count, message *why) {
    ig_interp_call how = call_with(why);
    ig_interp_value table;
    ig_status status = make_table(values, names, count, &table, why);
    if (status == IG_OK) {
        ig_interp_arguments arguments = { .values = &table, .count = 1 };
        status = ig_interp_invoke(s->interp, &how, s->hooks[index], &arguments,
                                  &s->given[index]);
    }
    free(table.as.list.items);
    if (status == IG_OK && !is_table(ig_interp_result_value(s->given[index]))) {
        snprintf(why->text, sizeof why->text,
                 "%s of the script gives no table of names and tensors",
                 hook_names[index]);
        status = IG_INVALID;
    }
    return status;
}

/* ---- before the call ---- */

static const char **input_names(const model *m) {
    const char **names = need(calloc(model_input_count(m) + 1, sizeof *names));
    for (size_t i = 0; i < model_input_count(m); i++) {
        names[i] = model_input_name(m, i);
    }
    return names;
}

static bool is_text(const ig_interp_value *value, const char *text) {
    return value->as.text.size == strlen(text) &&
           memcmp(value->as.text.data, text, value->as.text.size) == 0;
}

static ig_status take_input(const ig_interp_value *pair, const char *const *names,
                            call *with, message *why) {
    for (size_t i = 0; i < with->count; i++) {
        if (is_text(&pair[0], names[i])) {
            argument_of(&pair[1].as.tensor, &with->inputs[i]);
            return IG_OK;
        }
    }
    snprintf(why->text, sizeof why->text,
             "pre of the script gives '%.*s', which is not an input of the model",
             (int)pair[0].as.text.size, pair[0].as.text.data);
    return IG_INVALID;
}

static ig_status run_before(script *s, const model *m, call *with, message *why) {
    const char **names = input_names(m);
    ig_status status = call_hook(s, 0, with->inputs, names, with->count, why);
    const ig_interp_value *made = status == IG_OK ? ig_interp_result_value(s->given[0])
                                                  : NULL;
    for (size_t i = 0; made && i + 1 < made->as.list.count && status == IG_OK; i += 2) {
        status = take_input(&made->as.list.items[i], names, with, why);
    }
    free(names);
    return status;
}

/* ---- after it ---- */

static int compare_pairs(const void *a, const void *b) {
    const ig_interp_value *x = a, *y = b;
    return strcmp(x->as.text.data, y->as.text.data);
}

/* In the order of names: tables have none. */
static void take_results(script *s, const ig_interp_value *made, results *got) {
    size_t count = made->as.list.count / 2;
    if (count) {
        qsort(made->as.list.items, count, 2 * sizeof *made->as.list.items,
              compare_pairs);
    }
    results_fini(got);
    got->items = need(calloc(count + 1, sizeof *got->items));
    s->names = need(calloc(count + 1, sizeof *s->names));
    for (size_t i = 0; i < count; i++) {
        const ig_interp_value *pair = &made->as.list.items[2 * i];
        s->names[i] = pair[0].as.text.data;
        argument_of(&pair[1].as.tensor, &got->items[i]);
    }
    got->count = count;
    got->names = s->names;
}

static ig_status run_after(script *s, const model *m, results *got, message *why) {
    const char **names = need(calloc(got->count + 1, sizeof *names));
    for (size_t i = 0; i < got->count; i++) {
        names[i] = model_output_name(m, i);
    }
    ig_status status = call_hook(s, 1, got->items, names, got->count, why);
    free(names);
    if (status == IG_OK) {
        take_results(s, ig_interp_result_value(s->given[1]), got);
    }
    return status;
}

/* ---- the whole ---- */

static ig_status run_between(script *s, const model *m, ig_session *session, call *with,
                             results *got, message *why) {
    ig_status status = s->hooks[0] ? run_before(s, m, with, why) : IG_OK;
    if (status == IG_OK) {
        status = inputs_check(m, with);
    }
    if (status == IG_OK) {
        status = call_run(m, session, with, got, why);
    }
    return status == IG_OK && s->hooks[1] ? run_after(s, m, got, why) : status;
}

ig_status run_scripted(const settings *given, const model *m, bound_inputs *values,
                       results_work work, message *why) {
    script s = { 0 };
    results got = { 0 };
    ig_session *session = NULL;
    ig_status status = script_open(given, &s, why);
    if (status == IG_OK) {
        status = bind_inputs(given, m, NULL, values);
    }
    if (status == IG_OK) {
        status = session_open(given, m, &session, why);
    }
    if (status == IG_OK) {
        status = run_between(&s, m, session, &values->with, &got, why);
    }
    if (status == IG_OK) {
        status = work(given, m, &got, values);
    }
    results_fini(&got);
    ig_session_destroy(session);
    script_close(&s);
    return status;
}
