/* The memory and the values of what training changes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/train/trainer.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_ALIGN = 64 };

static ig_status no_memory(const ig_message *message, const char *name) {
    return ig_message_set(message, IG_LIMIT, "out of memory for '%s'", name);
}

/* ---- memory ---- */

static const ig_trainer_place *find_place(const ig_trainer_options *options,
                                          const char *name) {
    for (size_t i = 0; i < options->place_count; i++) {
        if (strcmp(options->places[i].name, name) == 0) {
            return &options->places[i];
        }
    }
    return NULL;
}

static bool is_like(const ig_view *value, const ig_view *own) {
    bool is = value->dtype == own->dtype && value->rank == own->rank &&
              value->memory == IG_MEMORY_HOST;
    for (uint32_t d = 0; is && d < own->rank; d++) {
        is = own->dims[d] < 0 ? value->dims[d] >= 0 : value->dims[d] == own->dims[d];
    }
    return is &&
           (value->capacity == 0 || (int64_t)value->capacity >= ig_view_bytes(value));
}

/* Zeros, on a cache line of their own: pages that nobody touches take no memory. */
static ig_status make_memory(ig_trainer_value *value, const ig_message *message) {
    int64_t bytes = ig_view_bytes(&value->is.view);
    if (bytes < 0) {
        return ig_message_set(
            message, IG_INVALID,
            "'%s' is trained: its extents must be numbers, or it must have a place",
            value->is.name);
    }
    value->memory = calloc(1, (size_t)bytes + VALUE_ALIGN);
    if (!value->memory) {
        return no_memory(message, value->is.name);
    }
    size_t skip = (size_t) - (uintptr_t)value->memory % VALUE_ALIGN;
    value->is.view.data = (char *)value->memory + skip;
    return IG_OK;
}

static ig_status place_value(ig_trainer_value *value, const ig_trainer_options *options,
                             const ig_message *message) {
    const ig_trainer_place *place = find_place(options, value->is.name);
    value->is.is_set = value->is.is_state || place;
    if (!place) {
        return make_memory(value, message);
    }
    if (!is_like(&place->view, &value->is.view)) {
        return ig_message_set(message, IG_INVALID,
                              "the place of '%s' has another dtype or other extents",
                              place->name);
    }
    value->is.view = place->view;
    return IG_OK;
}

static ig_status check_places(const ig_trainer *trainer,
                              const ig_trainer_options *options,
                              const ig_message *message) {
    for (size_t i = 0; i < options->place_count; i++) {
        if (ig_trainer_find(trainer, options->places[i].name) < 0) {
            return ig_message_set(message, IG_INVALID,
                                  "'%s' is not a weight or state of this training",
                                  options->places[i].name);
        }
    }
    return IG_OK;
}

/* States come between the trainer's own numbers and the weights; opened weights are
 * marked, so are no states. */
static bool is_state(const ig_program *step, int32_t input) {
    return input > ig_program_find_input(step, "decays") &&
           !ig_program_input(step, (size_t)input).is_weight;
}

ig_status ig_trainer_find_values(ig_trainer *trainer, const ig_trainer_options *options,
                                 const ig_message *message) {
    const ig_program *step = trainer->parts[IG_TRAIN_STEP].program;
    size_t count = ig_program_output_count(step);
    trainer->values = calloc(count + 1, sizeof *trainer->values);
    if (!trainer->values) {
        return no_memory(message, "weights");
    }
    for (size_t i = 0; i < count; i++) {
        int32_t input = ig_program_output(step, i).in_place_of;
        if (input < 0) {
            continue;
        }
        ig_port port = ig_program_input(step, (size_t)input);
        ig_trainer_value *value = &trainer->values[trainer->value_count++];
        value->is = (ig_trained){ .name = port.name,
                                  .is_state = is_state(step, input) };
        value->is.view = (ig_view){ .dtype = (int32_t)port.dtype, .rank = port.rank };
        memcpy(value->is.view.dims, port.dims, sizeof port.dims);
        IG_TRY(place_value(value, options, message));
    }
    return check_places(trainer, options, message);
}

/* ---- first values ---- */

static ig_status make_groups(ig_trainer *trainer, const ig_message *message) {
    const ig_program *initial = trainer->parts[IG_TRAIN_INITIAL].program;
    int rates = ig_program_find_output(initial, "rates");
    int decays = ig_program_find_output(initial, "decays");
    if (rates < 0 || decays < 0 || ig_program_input_count(initial) > 0) {
        return ig_message_set(message, IG_INVALID,
                              "the program gives no values to begin with");
    }
    ig_port port = ig_program_output(initial, (size_t)rates);
    int64_t count = port.rank == 1 ? port.dims[0] : -1;
    if (count < 0 || port.dtype != IG_F64) {
        return ig_message_set(message, IG_INVALID, "there are no learning rates");
    }
    trainer->group_count = (size_t)count;
    trainer->rates = calloc(trainer->group_count + 1, sizeof *trainer->rates);
    trainer->decays = calloc(trainer->group_count + 1, sizeof *trainer->decays);
    return trainer->rates && trainer->decays ? IG_OK : no_memory(message, "rates");
}

/* Where a first value goes; no memory: it has a place, which holds one already. */
static ig_view first_view(ig_trainer *trainer, const char *name) {
    ig_view view = { 0 };
    int index = ig_trainer_find(trainer, name);
    size_t bytes = trainer->group_count * sizeof *trainer->rates;
    if (strcmp(name, "rates") == 0) {
        view = (ig_view){ .data = trainer->rates, .capacity = bytes };
    } else if (strcmp(name, "decays") == 0) {
        view = (ig_view){ .data = trainer->decays, .capacity = bytes };
    } else if (index >= 0 && trainer->values[index].memory) {
        view = trainer->values[index].is.view;
        view.capacity = (size_t)ig_view_bytes(&view);
        trainer->values[index].is.is_set = 1;
    }
    return view;
}

ig_status ig_trainer_fill_values(ig_trainer *trainer, const ig_message *message) {
    ig_trainer_slot *p = &trainer->parts[IG_TRAIN_INITIAL];
    ig_session *session = NULL;
    ig_session_options how = { .size = sizeof how,
                               .message = message->text,
                               .message_size = message->size };
    IG_TRY(make_groups(trainer, message));
    size_t count = ig_program_output_count(p->program);
    ig_view *views = calloc(count + 1, sizeof *views);
    if (!views) {
        return no_memory(message, "weights");
    }
    for (size_t i = 0; i < count; i++) {
        views[i] = first_view(trainer, ig_program_output(p->program, i).name);
    }
    ig_status status = ig_session_create(p->program, &how, &session);
    if (status == IG_OK) {
        status = ig_session_run(session, NULL, 0, views, count);
        if (status != IG_OK) {
            status = ig_message_set(message, status, "%s", ig_session_error(session));
        }
    }
    ig_session_destroy(session);
    free(views);
    return status;
}

/* ---- reading and setting ---- */

size_t ig_trainer_count(const ig_trainer *trainer) {
    return trainer->value_count;
}

ig_trained ig_trainer_get(const ig_trainer *trainer, size_t index) {
    return trainer->values[index].is;
}

int ig_trainer_find(const ig_trainer *trainer, const char *name) {
    for (size_t i = 0; i < trainer->value_count; i++) {
        if (strcmp(trainer->values[i].is.name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

void ig_trainer_changed(ig_trainer *trainer) {
    for (size_t i = 0; i < IG_TRAIN_PARTS; i++) {
        trainer->parts[i].is_stale = true;
    }
}

ig_status ig_trainer_set(ig_trainer *trainer, size_t index, const ig_view *value) {
    if (!ig_trainer_enter(trainer)) {
        return IG_INVALID;
    }
    ig_status status = IG_OK;
    ig_trained *own = &trainer->values[index].is;
    if (is_like(value, &own->view)) {
        memcpy(own->view.data, value->data, (size_t)ig_view_bytes(&own->view));
        own->is_set = 1;
        ig_trainer_changed(trainer);
    } else {
        status = ig_message_set(&trainer->message, IG_INVALID,
                                "the value of '%s' has another dtype or other extents",
                                own->name);
    }
    ig_trainer_leave(trainer);
    return status;
}

int64_t ig_trainer_step_count(const ig_trainer *trainer) {
    return trainer->step;
}

void ig_trainer_set_step_count(ig_trainer *trainer, int64_t count) {
    trainer->step = count;
}

size_t ig_trainer_group_count(const ig_trainer *trainer) {
    return trainer->group_count;
}

double *ig_trainer_rates(ig_trainer *trainer) {
    return trainer->rates;
}

double *ig_trainer_decays(ig_trainer *trainer) {
    return trainer->decays;
}
