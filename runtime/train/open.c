/* Opening and closing trainers.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/train/trainer.h"

#include "base/sized.h"
#include "runtime/train_format.h"

#include <stdlib.h>
#include <string.h>

static ig_status no_memory(const ig_message *message) {
    return ig_message_set(message, IG_LIMIT, "out of memory for a trainer");
}

/* ---- inputs ---- */

/* Is it the trainer's own number of that name?  `out` says which. */
static bool find_own(const char *name, ig_trainer_source *out) {
    static const char *const names[] = {
        [IG_FROM_STEP] = "step", [IG_FROM_RATES] = "rates", [IG_FROM_DECAYS] = "decays"
    };
    for (ig_trainer_origin kind = IG_FROM_STEP; kind <= IG_FROM_DECAYS; kind++) {
        if (strcmp(names[kind], name) == 0) {
            *out = (ig_trainer_source){ .kind = kind };
            return true;
        }
    }
    return false;
}

static bool is_changed(const ig_program *step, size_t input) {
    for (size_t i = 0; i < ig_program_output_count(step); i++) {
        if (ig_program_output(step, i).in_place_of == (int32_t)input) {
            return true;
        }
    }
    return false;
}

static ig_status check_step(const ig_trainer *trainer, const ig_message *message) {
    const ig_program *step = trainer->parts[IG_TRAIN_STEP].program;
    int own = ig_program_find_input(step, "step");
    bool is_step = own >= 0 && ig_program_find_input(step, "rates") == own + 1 &&
                   ig_program_find_input(step, "decays") == own + 2 &&
                   ig_program_output_count(step) > IG_STEP_OUTPUT;
    if (!is_step) {
        return ig_message_set(message, IG_INVALID,
                              "the program is not a step of training");
    }
    ig_dtype_code loss = ig_program_output(step, IG_STEP_LOSS).dtype;
    return loss == IG_F32 || loss == IG_F64
               ? IG_OK
               : ig_message_set(message, IG_UNSUPPORTED,
                                "the loss is not of f32 or f64");
}

/* The step's inputs from `step` on are the trainer's; those before it that no step
 * changes are data. */
static ig_status list_data(ig_trainer *trainer, const ig_message *message) {
    const ig_program *step = trainer->parts[IG_TRAIN_STEP].program;
    size_t count = (size_t)ig_program_find_input(step, "step");
    trainer->data = calloc(count + 1, sizeof *trainer->data);
    if (!trainer->data) {
        return no_memory(message);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_changed(step, i)) {
            trainer->data[trainer->data_count++] = i;
        }
    }
    return IG_OK;
}

static bool find_source(const ig_trainer *trainer, ig_train_part part, size_t input,
                        ig_trainer_source *out) {
    const ig_program *step = trainer->parts[IG_TRAIN_STEP].program;
    ig_port port = ig_program_input(trainer->parts[part].program, input);
    for (size_t i = 0; i < trainer->data_count; i++) {
        if (strcmp(ig_program_input(step, trainer->data[i]).name, port.name) == 0) {
            *out = (ig_trainer_source){ .kind = IG_FROM_DATA, .index = i };
            return true;
        }
    }
    int value = ig_trainer_find(trainer, port.name);
    *out = (ig_trainer_source){ .kind = IG_FROM_TRAINED, .index = (size_t)value };
    return value >= 0 || (part == IG_TRAIN_STEP && find_own(port.name, out));
}

/* Data come with each call; the rest stays. */
static void set_input(ig_trainer *trainer, ig_view *view, ig_trainer_source source) {
    *view = (ig_view){ .dtype = IG_F64,
                       .rank = 1,
                       .dims = { (int64_t)trainer->group_count } };
    switch (source.kind) {
    case IG_FROM_TRAINED:
        *view = trainer->values[source.index].is.view;
        break;
    case IG_FROM_STEP:
        *view = (ig_view){ .data = &trainer->step, .dtype = IG_I64 };
        break;
    case IG_FROM_RATES:
        view->data = trainer->rates;
        break;
    case IG_FROM_DECAYS:
        view->data = trainer->decays;
        break;
    case IG_FROM_DATA:
        break;
    }
}

static ig_status set_inputs(ig_trainer *trainer, ig_train_part part,
                            const ig_message *message) {
    ig_trainer_slot *p = &trainer->parts[part];
    for (size_t i = 0; i < p->input_count; i++) {
        ig_trainer_source *source = &p->sources[i];
        if (!find_source(trainer, part, i, source)) {
            return ig_message_set(message, IG_INVALID,
                                  "the step has no '%s', which another part takes",
                                  ig_program_input(p->program, i).name);
        }
        if (source->kind == IG_FROM_DATA && source->index >= p->data_needed) {
            p->data_needed = source->index + 1;
        }
        set_input(trainer, &p->inputs[i], *source);
    }
    return IG_OK;
}

/* ---- parts ---- */

static ig_status open_part(ig_trainer *trainer, ig_train_part part,
                           const ig_message *message) {
    ig_trainer_slot *p = &trainer->parts[part];
    ig_session_options how = trainer->how;
    how.message = message->text;
    how.message_size = message->size;
    p->input_count = ig_program_input_count(p->program);
    p->output_count = ig_program_output_count(p->program);
    p->inputs = calloc(p->input_count + 1, sizeof *p->inputs);
    p->outputs = calloc(p->output_count + 1, sizeof *p->outputs);
    p->sources = calloc(p->input_count + 1, sizeof *p->sources);
    p->is_stale = true;
    if (!p->inputs || !p->outputs || !p->sources) {
        return no_memory(message);
    }
    IG_TRY(set_inputs(trainer, part, message));
    return ig_session_create(p->program, &how, &p->session);
}

static void close_part(ig_trainer_slot *p, bool owns_program) {
    ig_session_destroy(p->session);
    if (owns_program) {
        ig_program_close(p->program);
    }
    free(p->inputs);
    free(p->outputs);
    free(p->sources);
    *p = (ig_trainer_slot){ 0 };
}

static ig_status open_parts(ig_trainer *trainer, const ig_trainer_options *options,
                            const ig_message *message) {
    if (!trainer->parts[IG_TRAIN_STEP].program ||
        !trainer->parts[IG_TRAIN_INITIAL].program) {
        return ig_message_set(message, IG_INVALID,
                              "a trainer needs a step and the values to begin with");
    }
    IG_TRY(check_step(trainer, message));
    IG_TRY(list_data(trainer, message));
    IG_TRY(ig_trainer_find_values(trainer, options, message));
    IG_TRY(ig_trainer_fill_values(trainer, message));
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_INITIAL; part++) {
        if (trainer->parts[part].program) {
            IG_TRY(open_part(trainer, part, message));
        }
    }
    return IG_OK;
}

static ig_status open_programs(ig_trainer *trainer, const char *path,
                               const ig_trainer_options *options,
                               const ig_message *message) {
    static const char *const names[] = { [IG_TRAIN_EVALUATE] = IG_ENTRY_EVALUATE,
                                         [IG_TRAIN_PREDICT] = IG_ENTRY_PREDICT,
                                         [IG_TRAIN_INITIAL] = IG_ENTRY_INITIAL };
    ig_program_options how = { .size = sizeof how,
                               .message = options->message,
                               .message_size = options->message_size,
                               .log = options->log,
                               .level = options->level };
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_PARTS; part++) {
        how.part = names[part];
        IG_TRY(ig_program_open(path, &how, &trainer->parts[part].program));
        IG_TRY(part == IG_TRAIN_STEP ? check_step(trainer, message) : IG_OK);
    }
    return IG_OK;
}

static ig_status open_trainer(const char *path, ig_program *const *programs,
                              const ig_trainer_options *given,
                              ig_trainer **out_trainer) {
    ig_trainer_options options = { .size = sizeof options };
    *out_trainer = NULL;
    bool is_sized = ig_sized_take(&options, sizeof options, given);
    const ig_trainer_options *heard = is_sized ? &options : given;
    ig_message message = { heard->message, heard->message_size, options.log };
    if (!is_sized) {
        return ig_message_set(&message, IG_INVALID, IG_UNSIZED_WORDS,
                              "ig_trainer_options");
    }
    ig_trainer *trainer = calloc(1, sizeof *trainer);
    if (!trainer) {
        return no_memory(&message);
    }
    trainer->message = (ig_message){ trainer->text, sizeof trainer->text, options.log };
    trainer->owns_programs = path != NULL;
    trainer->how = (ig_session_options){ .size = sizeof trainer->how,
                                         .pool = options.pool,
                                         .threads = options.threads,
                                         .ranks = options.ranks };
    for (size_t i = 0; programs && i < IG_TRAIN_PARTS; i++) {
        trainer->parts[i].program = programs[i];
    }
    ig_status status = path ? open_programs(trainer, path, &options, &message) : IG_OK;
    status = status == IG_OK ? open_parts(trainer, &options, &message) : status;
    if (status != IG_OK) {
        ig_trainer_close(trainer);
        return status;
    }
    *out_trainer = trainer;
    return IG_OK;
}

ig_status ig_trainer_open(const char *path, const ig_trainer_options *options,
                          ig_trainer **out_trainer) {
    return open_trainer(path, NULL, options, out_trainer);
}

ig_status ig_trainer_create(ig_program *const *programs,
                            const ig_trainer_options *options,
                            ig_trainer **out_trainer) {
    return open_trainer(NULL, programs, options, out_trainer);
}

ig_status ig_trainer_add(ig_trainer *trainer, ig_train_part part, ig_program *program) {
    ig_trainer_slot *p = &trainer->parts[part];
    if (!ig_trainer_enter(trainer)) {
        return IG_INVALID;
    }
    ig_status status = IG_OK;
    if ((part != IG_TRAIN_EVALUATE && part != IG_TRAIN_PREDICT) || p->program) {
        status = ig_message_set(&trainer->message, IG_INVALID,
                                "the trainer has that part already");
    } else {
        p->program = program;
        status = open_part(trainer, part, &trainer->message);
        if (status != IG_OK) {
            close_part(p, false);
        }
    }
    ig_trainer_leave(trainer);
    return status;
}

void ig_trainer_close(ig_trainer *trainer) {
    if (!trainer) {
        return;
    }
    for (size_t i = 0; i < IG_TRAIN_PARTS; i++) {
        close_part(&trainer->parts[i], trainer->owns_programs);
    }
    for (size_t i = 0; i < trainer->value_count; i++) {
        free(trainer->values[i].memory);
    }
    free(trainer->values);
    free(trainer->data);
    free(trainer->rates);
    free(trainer->decays);
    free(trainer);
}

size_t ig_trainer_input_count(const ig_trainer *trainer) {
    return trainer->data_count;
}

ig_port ig_trainer_input(const ig_trainer *trainer, size_t index) {
    return ig_program_input(trainer->parts[IG_TRAIN_STEP].program,
                            trainer->data[index]);
}

const ig_program *ig_trainer_program(const ig_trainer *trainer, ig_train_part part) {
    return trainer->parts[part].program;
}
