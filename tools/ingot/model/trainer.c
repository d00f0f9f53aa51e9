/* Training a module step by step: see trainer.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/trainer.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHANGED = 2 }; /* of the outputs; before it the loss, and what it is of */

static bool fail(trainer *t, const char *what) {
    if (!t->why.text[0]) {
        snprintf(t->why.text, sizeof t->why.text, "%s", what);
    }
    return false;
}

/* ---- inputs ---- */

static size_t index_of(const trainer *t, const char *name) {
    size_t i = 0;
    while (i < t->with.count && strcmp(model_input_name(&t->m, i), name) != 0) {
        i++;
    }
    return i;
}

ig_argument *trainer_find(const trainer *t, const char *name) {
    size_t i = index_of(t, name);
    return i < t->with.count ? &t->with.inputs[i] : NULL;
}

/* Extents of a type as text, "f32[20, 4]"; false: not all are numbers. */
static bool read_extents(const char *type, int64_t *dims, uint32_t *out_rank) {
    const char *at = strchr(type, '[');
    *out_rank = 0;
    while (at && *at != ']' && strcmp(at, "[]") != 0 && *out_rank < IG_MAX_RANK) {
        char *end;
        dims[(*out_rank)++] = strtoll(at + 1, &end, 10);
        if (end == at + 1 || (*end != ',' && *end != ']')) {
            return false;
        }
        at = end;
    }
    return true;
}

static size_t bytes_of(const ig_argument *value) {
    return element_count(value) * element_bits(value->dtype) / 8;
}

/* Zeros of the input's type, when its extents are numbers. */
static bool make_zeros(trainer *t, size_t index) {
    ig_argument *input = &t->with.inputs[index];
    const char *type = model_input_type(&t->m, index);
    *input = (ig_argument){ .dtype = strncmp(type, "f64", 3) == 0 ? "f64" : "f32" };
    if (!read_extents(type, t->dims[index], &input->rank)) {
        snprintf(t->why.text, sizeof t->why.text,
                 "'%s' is %s: the extents of what is trained are to be numbers",
                 model_input_name(&t->m, index), type);
        return false;
    }
    input->dims = t->dims[index];
    input->size = bytes_of(input);
    input->data = t->memory[index] = need(calloc(1, input->size + 1));
    return true;
}

static bool copy_value(trainer *t, size_t index, const ig_argument *value) {
    void *memory = need(malloc(value->size + 1));
    memcpy(memory, value->data, value->size);
    free(t->memory[index]);
    t->memory[index] = memory;
    memcpy(t->dims[index], value->dims, value->rank * sizeof *value->dims);
    t->with.inputs[index] = *value;
    t->with.inputs[index].dims = t->dims[index];
    t->with.inputs[index].data = memory;
    return true;
}

bool trainer_set(trainer *t, const char *name, const ig_argument *value) {
    size_t i = index_of(t, name);
    return i < t->with.count ? copy_value(t, i, value)
                             : fail(t, "there is no such input");
}

/* A state is zeros at first; a weight is as in the model. */
static bool fill_changed(trainer *t, size_t index) {
    const char *name = model_input_name(&t->m, index), *dot = strrchr(name, '.');
    const ig_argument *value = NULL;
    if (dot && strncmp(dot, ".momentum", strlen(".momentum")) == 0) {
        return make_zeros(t, index);
    }
    return ig_module_weight_value(t->m.module, name, &value, NULL) == IG_OK &&
           copy_value(t, index, value);
}

static bool fill_inputs(trainer *t) {
    t->step_at = index_of(t, "step");
    t->data_count = t->step_at;
    if (t->step_at + 2 >= t->with.count) {
        return fail(t, "the module is no step of training");
    }
    ig_argument *own = &t->with.inputs[t->step_at];
    own[0] = (ig_argument){ .dtype = "i64", .data = &t->step, .size = 8 };
    t->dims[t->step_at][0] = (int64_t)t->group_count;
    own[1] = own[2] = (ig_argument){ .dtype = "f64",
                                     .rank = 1,
                                     .dims = t->dims[t->step_at],
                                     .size = 8 * t->group_count };
    own[1].data = t->rates;
    own[2].data = t->decays;
    for (size_t i = t->step_at + 3; i < t->with.count; i++) {
        if (!fill_changed(t, i)) {
            return false;
        }
    }
    return true;
}

/* ---- opening ---- */

static bool read_groups(trainer *t, const ig_train_options *how) {
    t->group_count = how->optimizer_count;
    t->rates = need(calloc(t->group_count + 1, sizeof *t->rates));
    t->decays = need(calloc(t->group_count + 1, sizeof *t->decays));
    for (size_t i = 0; i < t->group_count; i++) {
        t->status = ig_optimizer_read(t->m.context, how->optimizers[i], &t->rates[i],
                                      &t->decays[i]);
        if (t->status != IG_OK) {
            return false;
        }
    }
    return true;
}

bool trainer_open(trainer *t, const settings *given, ig_context *context,
                  ig_module *module, const ig_train_options *how) {
    *t = (trainer){ .given = given, .m = { .context = context, .module = module } };
    ig_compile_options options = compile_options(given);
    if (!read_groups(t, how)) {
        return false;
    }
    t->status = ig_module_train(module, how, &options);
    if (t->status != IG_OK) {
        return false;
    }
    call_init(&t->with, ig_module_input_count(module));
    t->memory = need(calloc(t->with.count + 1, sizeof *t->memory));
    t->dims = need(calloc(t->with.count + 1, sizeof *t->dims));
    if (!fill_inputs(t)) {
        return false;
    }
    if (is_interpret(given->target)) {
        return true;
    }
    t->status = ig_compile(module, &options, &t->m.program);
    if (t->status == IG_OK) {
        t->status = session_open(given, &t->m, &t->session, &t->why);
    }
    return t->status == IG_OK;
}

void trainer_close(trainer *t) {
    results_fini(&t->out);
    ig_session_destroy(t->session);
    ig_program_close(t->m.program);
    for (size_t i = 0; i < t->with.count; i++) {
        free(t->memory[i]);
    }
    free(t->memory);
    free(t->dims);
    call_fini(&t->with);
    free(t->rates);
    free(t->decays);
    ig_module_close(t->m.module);
}

/* ---- steps ---- */

/* The interpreter gives what it makes in memory of its own. */
static bool keep_changes(trainer *t) {
    for (size_t i = FIRST_CHANGED; i < t->out.count; i++) {
        const ig_argument *from = &t->out.items[i];
        size_t to = index_of(t, model_output_name(&t->m, i));
        if (to == t->with.count || t->with.inputs[to].size != from->size) {
            return fail(t, "a result of the step has no input");
        }
        if (t->with.inputs[to].data != from->data) {
            memcpy(t->memory[to], from->data, from->size);
        }
    }
    return true;
}

bool trainer_step(trainer *t) {
    t->step++;
    results_fini(&t->out);
    t->status = call_run(&t->m, t->session, &t->with, &t->out, &t->why);
    if (t->status != IG_OK) {
        t->step--;
        return false;
    }
    return keep_changes(t);
}

bool trainer_try(trainer *t) {
    void **kept = need(calloc(t->with.count + 1, sizeof *kept));
    int64_t step = t->step;
    for (size_t i = 0; i < t->with.count; i++) {
        size_t size = t->memory[i] ? t->with.inputs[i].size : 0;
        kept[i] = need(malloc(size + 1));
        memcpy(kept[i], size ? t->memory[i] : "", size);
    }
    bool is_good = trainer_step(t);
    for (size_t i = 0; i < t->with.count; i++) {
        size_t size = t->memory[i] ? t->with.inputs[i].size : 0;
        memcpy(size ? t->memory[i] : kept[i], kept[i], size);
        free(kept[i]);
    }
    free(kept);
    t->step = step;
    return is_good;
}

double trainer_loss(const trainer *t) {
    return t->out.count ? ig_argument_number(&t->out.items[0], 0) : 0;
}
