/* Training a module step by step: see trainer.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/trainer.h"

#include "tools/ingot/model/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHANGED = 2 }; /* of the outputs; before it the loss, and its operands */

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

/* Somebody else keeps it. */
static bool is_placed(const trainer *t, const char *name) {
    for (size_t i = 0; t->others && i < t->others->place_count; i++) {
        if (strcmp(t->others->places[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool trainer_has(const trainer *t, size_t index) {
    const trainer_values *others = t->others;
    bool is_computed = others && index >= others->computed_at &&
                       index < others->computed_at + others->computed_count;
    return t->memory[index] || is_computed ||
           is_placed(t, model_input_name(&t->m, index));
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
                 "'%s' is %s: extents of trained values must be numbers",
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

/* Where the library keeps it. */
static bool set_own(trainer *t, const char *name, const ig_argument *value) {
    int index = ig_trainer_find(t->own, name);
    ig_view view;
    if (index < 0 || !view_of(value, &view)) {
        return fail(t, "there is no such input");
    }
    t->status = ig_trainer_set(t->own, (size_t)index, &view);
    return t->status == IG_OK || fail(t, ig_trainer_error(t->own));
}

bool trainer_set(trainer *t, const char *name, const ig_argument *value) {
    if (t->own) {
        return set_own(t, name, value);
    }
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

/* The numbers of the trainer that a step takes. */
static bool fill_own(trainer *t) {
    t->step_at = index_of(t, "step");
    t->data_count = t->step_at;
    if (t->step_at + 2 >= t->with.count) {
        return fail(t, "the module is not a step of training");
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
    return true;
}

/* ---- opening: interpreted ---- */

static bool read_groups(trainer *t) {
    t->group_count = t->how.optimizer_count;
    t->rates = need(calloc(t->group_count + 1, sizeof *t->rates));
    t->decays = need(calloc(t->group_count + 1, sizeof *t->decays));
    for (size_t i = 0; i < t->group_count; i++) {
        t->status = ig_optimizer_read(t->m.context, t->how.optimizers[i], &t->rates[i],
                                      &t->decays[i]);
        if (t->status != IG_OK) {
            return false;
        }
    }
    return true;
}

static void make_room(trainer *t) {
    call_init(&t->with, model_input_count(&t->m));
    t->memory = need(calloc(t->with.count + 1, sizeof *t->memory));
    t->dims = need(calloc(t->with.count + 1, sizeof *t->dims));
    t->views = need(calloc(t->with.count + 1, sizeof *t->views));
}

static bool open_interpreted(trainer *t) {
    ig_compile_options options = compile_options(t->given);
    if (!read_groups(t)) {
        return false;
    }
    t->m.module = t->module;
    t->status = ig_module_train(t->module, &t->how, &options);
    if (t->status != IG_OK) {
        return false;
    }
    make_room(t);
    bool is_good = fill_own(t);
    for (size_t i = t->step_at + 3; i < t->with.count && is_good; i++) {
        is_good = fill_changed(t, i);
    }
    return is_good;
}

/* ---- opening: compiled ---- */

static ig_trainer_options trainer_options(trainer *t) {
    t->why = (message){ "" };
    return (ig_trainer_options){ .size = sizeof(ig_trainer_options),
                                 .message = t->why.text,
                                 .message_size = sizeof t->why.text,
                                 .threads = (int)t->given->threads,
                                 .ranks = t->ranks };
}

/* Programs are there: no rank waits while another one compiles. */
static bool meet_ranks(trainer *t) {
    t->status = ranks_meet(t->given, &t->ranks, &t->why);
    return t->status == IG_OK;
}

/* The inputs of the step are those that the library keeps. */
static bool take_inputs(trainer *t) {
    t->m.program = (ig_program *)(uintptr_t)ig_trainer_program(t->own, IG_TRAIN_STEP);
    t->group_count = ig_trainer_group_count(t->own);
    t->rates = ig_trainer_rates(t->own);
    t->decays = ig_trainer_decays(t->own);
    make_room(t);
    for (size_t i = 0; i < ig_trainer_count(t->own); i++) {
        ig_trained value = ig_trainer_get(t->own, i);
        size_t at = index_of(t, value.name);
        if (is_placed(t, value.name)) {
            continue;
        }
        memcpy(t->dims[at], value.view.dims, sizeof value.view.dims);
        argument_of(&value.view, &t->with.inputs[at]);
        t->with.inputs[at].dims = t->dims[at];
        t->memory[at] = value.view.data;
    }
    t->out = (results){ .count = 2,
                        .items = need(calloc(2, sizeof *t->out.items)),
                        .views = need(calloc(2, sizeof *t->out.views)) };
    t->out.items[0] = (ig_argument){ .dtype = "f64", .data = &t->loss, .size = 8 };
    return fill_own(t);
}

static ig_status compile_part(trainer *t, ig_train_part part) {
    ig_compile_options options = compile_options(t->given);
    return ig_compile_train(t->module, &t->how, &options, part, &t->parts[part]);
}

static bool open_compiled(trainer *t) {
    t->status = compile_part(t, IG_TRAIN_STEP);
    if (t->status == IG_OK) {
        t->status = compile_part(t, IG_TRAIN_INITIAL);
    }
    if (t->status != IG_OK || !meet_ranks(t)) {
        return false;
    }
    ig_trainer_options options = trainer_options(t);
    if (t->others &&
        !t->others->open(t->others->user, t->parts[IG_TRAIN_STEP], &t->why)) {
        t->status = IG_INVALID;
        return false;
    }
    options.places = t->others ? t->others->places : NULL;
    options.place_count = t->others ? t->others->place_count : 0;
    t->status = ig_trainer_create(t->parts, &options, &t->own);
    return t->status == IG_OK && take_inputs(t);
}

bool trainer_open(trainer *t, const settings *given, ig_context *context,
                  ig_module *module, const ig_train_options *how,
                  trainer_values *others) {
    *t = (trainer){ .given = given,
                    .m = { .context = context },
                    .module = module,
                    .how = *how,
                    .others = others };
    return is_interpret(given->target) ? open_interpreted(t) : open_compiled(t);
}

bool trainer_open_file(trainer *t, const settings *given, ig_context *context,
                       const char *path) {
    *t = (trainer){ .given = given, .m = { .context = context } };
    if (!meet_ranks(t)) {
        return false;
    }
    ig_trainer_options options = trainer_options(t);
    t->status = ig_trainer_open(path, &options, &t->own);
    return t->status == IG_OK && take_inputs(t);
}

void trainer_close(trainer *t) {
    results_fini(&t->out);
    for (size_t i = 0; !t->own && i < t->with.count; i++) {
        free(t->memory[i]);
    }
    if (!t->own) {
        free(t->rates);
        free(t->decays);
    }
    ig_trainer_close(t->own);
    for (size_t i = 0; i < IG_TRAIN_PARTS; i++) {
        ig_program_close(t->parts[i]);
    }
    free(t->memory);
    free(t->dims);
    free(t->views);
    call_fini(&t->with);
    ig_module_close(t->module);
}

/* ---- steps: interpreted ---- */

/* The interpreter's results have memory of their own. */
static bool keep_changes(trainer *t) {
    for (size_t i = FIRST_CHANGED; i < t->out.count; i++) {
        const ig_argument *from = &t->out.items[i];
        size_t to = index_of(t, model_output_name(&t->m, i));
        if (to == t->with.count || t->with.inputs[to].size != from->size) {
            return fail(t, "a state that the step returns has no input");
        }
        memcpy(t->memory[to], from->data, from->size);
    }
    return true;
}

static bool interpret_step(trainer *t) {
    results_fini(&t->out);
    t->status = call_run(&t->m, NULL, &t->with, &t->out, &t->why);
    t->loss = t->status == IG_OK ? ig_argument_number(&t->out.items[0], 0) : 0;
    return t->status == IG_OK;
}

/* ---- steps: compiled ---- */

/* The call's data as views; their count. */
static size_t view_data(trainer *t) {
    size_t count = 0;
    for (size_t i = 0; i < t->data_count; i++) {
        bool is_kept = t->memory[i] || is_placed(t, model_input_name(&t->m, i));
        if (!is_kept && !view_of(&t->with.inputs[i], &t->views[count++])) {
            t->status = IG_UNSUPPORTED;
            (void)fail(t, "programs take no lists");
        }
    }
    return count;
}

typedef ig_status run_part(ig_trainer *own, const ig_view *inputs, size_t count,
                           double *out_loss, ig_view *output);

static bool run_compiled(trainer *t, run_part *run) {
    t->status = IG_OK;
    size_t count = view_data(t);
    if (t->status != IG_OK) {
        return false;
    }
    ig_trainer_set_step_count(t->own, t->step);
    t->status = run(t->own, t->views, count, &t->loss, &t->out.views[1]);
    if (t->status != IG_OK) {
        snprintf(t->why.text, sizeof t->why.text, "%s", ig_trainer_error(t->own));
        return false;
    }
    argument_of(&t->out.views[1], &t->out.items[1]);
    return true;
}

static bool evaluate(trainer *t) {
    if (!ig_trainer_program(t->own, IG_TRAIN_EVALUATE)) {
        t->status = compile_part(t, IG_TRAIN_EVALUATE);
        if (t->status == IG_OK) {
            t->status = ig_trainer_add(t->own, IG_TRAIN_EVALUATE,
                                       t->parts[IG_TRAIN_EVALUATE]);
        }
    }
    return t->status == IG_OK && run_compiled(t, ig_trainer_evaluate);
}

/* ---- steps ---- */

bool trainer_step(trainer *t) {
    t->step += !t->own;
    bool is_good = t->own ? run_compiled(t, ig_trainer_step)
                          : interpret_step(t) && keep_changes(t);
    t->step += t->own ? is_good : -!is_good;
    return is_good;
}

bool trainer_try(trainer *t) {
    return t->own ? evaluate(t) : interpret_step(t);
}

double trainer_loss(const trainer *t) {
    return t->loss;
}
