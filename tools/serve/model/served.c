/* Versions of models: opening, and holding against their config.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/served.h"

#include "tools/serve/call/datatype.h"
#include "tools/serve/guest/warm.h"
#include "tools/serve/model/join.h"
#include "tools/serve/model/log.h"
#include "tools/serve/model/trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BATCH = 64 }; /* rows that requests are joined to, where nothing says */

IG_PRINTF(2, 3)
static bool refuse_model(char *words, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(words, WORDS, format, args);
    va_end(args);
    return false;
}

/* ---- ports ---- */

static bool copy_ports(served *to, char *words) {
    to->input_count = to->stored ? stored_input_count(to->stored)
                                 : ig_program_input_count(to->program);
    to->output_count = ig_program_output_count(to->program);
    to->inputs = calloc(to->input_count + 1, sizeof *to->inputs);
    to->outputs = calloc(to->output_count + 1, sizeof *to->outputs);
    if (!to->inputs || !to->outputs) {
        return refuse_model(words, "memory ran out");
    }
    for (size_t i = 0; i < to->input_count; i++) {
        to->inputs[i] = ig_program_input(to->program, i);
        if (to->inputs[i].is_weight) {
            return refuse_model(words,
                                "'%s' is a weight that each call gives; compile "
                                "without --open-weights",
                                to->inputs[i].name);
        }
    }
    for (size_t i = 0; i < to->output_count; i++) {
        to->outputs[i] = ig_program_output(to->program, i);
    }
    return true;
}

static bool have_names(const ig_port *ports, size_t count, char *words) {
    for (size_t i = 0; i < count; i++) {
        if (!datatype_name(ports[i].dtype)) {
            return refuse_model(words, "'%s' is %s, which the protocol has no name for",
                                ports[i].name, ports[i].type);
        }
    }
    return true;
}

static bool dims_agree(const config_port *said, const ig_port *port, bool has_batch) {
    uint32_t first = has_batch ? 1 : 0;
    if (!said->has_dims || said->rank + first != port->rank) {
        return !said->has_dims;
    }
    for (uint32_t i = 0; i < said->rank; i++) {
        int64_t dim = port->dims[i + first];
        if (said->dims[i] >= 0 && dim >= 0 && said->dims[i] != dim) {
            return false;
        }
    }
    return true;
}

/* The config's facts about ports must not contradict the program. */
static bool ports_agree(const config_port *said, size_t said_count,
                        const ig_port *ports, size_t count, bool has_batch,
                        char *words) {
    for (size_t i = 0; i < said_count; i++) {
        const ig_port *port = NULL;
        for (size_t k = 0; k < count && !port; k++) {
            port = strcmp(ports[k].name, said[i].name) == 0 ? &ports[k] : NULL;
        }
        if (!port) {
            return refuse_model(words,
                                "config.json names '%s', which the model does not "
                                "have",
                                said[i].name);
        }
        const char *type = datatype_config_name(port->dtype);
        if (*said[i].data_type && strcmp(said[i].data_type, type) != 0) {
            return refuse_model(words, "config.json says that '%s' is %s; it is %s",
                                said[i].name, said[i].data_type, type);
        }
        if (!dims_agree(&said[i], port, has_batch)) {
            return refuse_model(words,
                                "config.json has other dims for '%s', which is %s",
                                said[i].name, port->type);
        }
    }
    return true;
}

/* The ports of a model with a script are those of its config. */
static bool tell_ports(const config_port *said, size_t count, bool has_batch,
                       ig_port **out, char *words) {
    *out = calloc(count + 1, sizeof **out);
    for (size_t i = 0; *out && i < count; i++) {
        uint32_t first = has_batch ? 1 : 0;
        ig_port *to = &(*out)[i];
        *to = (ig_port){ .name = said[i].name,
                         .type = said[i].data_type,
                         .dtype = datatype_find_config(said[i].data_type),
                         .rank = said[i].rank + first };
        if (!to->dtype || to->rank > IG_MAX_RANK) {
            return refuse_model(words, "config.json: '%s' has no type that there is",
                                said[i].name);
        }
        to->dims[0] = -1;
        memcpy(to->dims + first, said[i].dims, said[i].rank * sizeof *said[i].dims);
    }
    return *out || refuse_model(words, "memory ran out");
}

/* The config's facts about ports are the program's, or those of the script between it
 * and clients. */
static bool take_config_ports(served *of, char *words) {
    const model_config *said = &of->config;
    bool has_batch = said->max_batch_size > 0;
    bool has_own_inputs = said->input_count &&
                          (said->then || script_has(of->script, SCRIPT_PRE)),
         has_own_outputs = said->output_count && !served_answers(of);
    of->shown_input_count = has_own_inputs ? said->input_count : of->input_count;
    of->shown_output_count = has_own_outputs ? said->output_count : of->output_count;
    of->shown_inputs = has_own_inputs ? NULL : of->inputs;
    of->shown_outputs = has_own_outputs ? NULL : of->outputs;
    bool is_good = has_own_inputs
                       ? tell_ports(said->inputs, said->input_count, has_batch,
                                    &of->shown_inputs, words)
                       : ports_agree(said->inputs, said->input_count, of->inputs,
                                     of->input_count, has_batch, words);
    return is_good && (has_own_outputs
                           ? tell_ports(said->outputs, said->output_count, has_batch,
                                        &of->shown_outputs, words)
                           : ports_agree(said->outputs, said->output_count, of->outputs,
                                         of->output_count, has_batch, words));
}

static bool open_script(served *of, char *words) {
    if (of->config.script) {
        of->script = script_open(&of->config, of->loop_count, words);
    }
    return !of->config.script || of->script;
}

bool served_answers(const served *of) {
    return !of->config.then && !script_has(of->script, SCRIPT_POST);
}

/* ---- sessions ---- */

static bool open_counts(served *of, char *words) {
    of->counts = aligned_alloc(64,
                               (of->loop_count * sizeof *of->counts + 63) / 64 * 64);
    if (!of->counts) {
        return refuse_model(words, "memory ran out");
    }
    memset(of->counts, 0, of->loop_count * sizeof *of->counts);
    return true;
}

static bool open_sessions(served *of, char *words) {
    of->sessions = calloc(of->loop_count, sizeof *of->sessions);
    if (!of->sessions) {
        return refuse_model(words, "memory ran out");
    }
    ig_session_options options = {
        .size = sizeof options, .message = words, .message_size = WORDS, .threads = 1
    };
    for (size_t i = 0; i < of->loop_count; i++) {
        if (ig_session_create(of->program, &options, &of->sessions[i]) != IG_OK) {
            return false;
        }
        warm_up(of->program, of->sessions[i]);
    }
    return true;
}

/* Sessions in this process, or a process that has them. */
static bool open_runs(served *of, const run_options *how, const char *path,
                      char *words) {
    if (of->stored) {
        return !how->is_isolated ||
               refuse_model(
                   words,
                   "its tables are in stores, which an isolated process may not ask");
    }
    if (!how->is_isolated) {
        return open_sessions(of, words);
    }
    const guest_model model = { path, of->inputs, of->outputs, of->input_count,
                                of->output_count };
    of->guest = guest_open(how, &model, words);
    return of->guest;
}

ig_status served_run(served *of, size_t loop, const ig_view *inputs, ig_view *outputs,
                     int64_t left) {
    if (of->guest) {
        return guest_run(of->guest, loop, inputs, outputs, left);
    }
    if (of->stored) {
        return stored_run(of->stored, inputs, outputs, left);
    }
    ig_session *session = of->sessions[loop];
    if (ig_program_state_count(of->program)) {
        ig_session_reset(session); /* what one request left is no other's */
    }
    ig_session_set_deadline(session, left);
    return ig_session_run(session, inputs, of->input_count, outputs, of->output_count);
}

const char *served_error(const served *of, size_t loop) {
    return of->guest    ? guest_error(of->guest, loop)
           : of->stored ? stored_error(of->stored)
                        : ig_session_error(of->sessions[loop]);
}

void served_release(served *of) {
    if (of->stored) {
        stored_release(of->stored);
    }
}

static bool open_program(served *of, const char *path, char *words) {
    ig_program_options options = { .size = sizeof options,
                                   .message = words,
                                   .message_size = WORDS };
    if (ig_program_open(path, &options, &of->program) != IG_OK) {
        return false;
    }
    size_t size = 0;
    of->stored = ig_program_stored(of->program, &size)
                     ? stored_open(path, &of->config, words)
                     : NULL;
    return size == 0 || of->stored;
}

/* Joins requests where the artifact says how, and a trial does not say otherwise. */
static void settle_batch(served *of) {
    int64_t max = of->config.has_max_batch_size ? of->config.max_batch_size
                                                : DEFAULT_BATCH;
    if (max == 0 || !joins_rows(of)) {
        return;
    }
    trial_verdict verdict = trial_run(of);
    if (verdict == TRIAL_NONE) {
        log_event(
            IG_LOG_INFO, "batches untried", of->name, of->version,
            "no drawn request ran; the artifact's description of its inputs is believed");
    }
    if (verdict == TRIAL_DIFFERS) {
        log_event(
            IG_LOG_ERROR, "no batches", of->name, of->version,
            "drawn requests gave other bits together than alone: the artifact describes its inputs along the batch wrongly; please report it");
        return;
    }
    of->max_batch_size = max;
}

served *served_open(const char *name, int64_t version, const char *path,
                    model_config *config, const run_options *how, char words[WORDS]) {
    served *of = calloc(1, sizeof *of);
    if (!of) {
        config_free(config);
        refuse_model(words, "memory ran out");
        return NULL;
    }
    of->config = *config;
    *config = (model_config){ 0 };
    of->version = version;
    of->loop_count = how->loop_count;
    of->name = strdup(name);
    of->platform = "ingot";
    if (!of->name || !open_program(of, path, words) || !copy_ports(of, words) ||
        !have_names(of->inputs, of->input_count, words) ||
        !have_names(of->outputs, of->output_count, words) || !open_script(of, words) ||
        !take_config_ports(of, words) || !open_counts(of, words) ||
        !open_runs(of, how, path, words)) {
        served_close(of);
        return NULL;
    }
    settle_batch(of);
    /* A shadow opens a session a run, and each would begin to write calls down. */
    if (of->config.shadow && of->config.shadow != version && !getenv("INGOT_CAPTURE")) {
        of->shadow = shadow_open();
    }
    return of;
}

void served_end_shadow(served *of) {
    if (of) {
        shadow_close(of->shadow);
        of->shadow = NULL;
    }
}

void served_close(served *of) {
    for (size_t i = 0; of->sessions && i < of->loop_count; i++) {
        ig_session_destroy(of->sessions[i]);
    }
    guest_close(of->guest);
    stored_close(of->stored);
    script_close(of->script);
    served_end_shadow(of);
    ig_program_close(of->program);
    config_free(&of->config);
    free(of->sessions);
    free(of->counts);
    free(of->shown_inputs == of->inputs ? NULL : of->shown_inputs);
    free(of->shown_outputs == of->outputs ? NULL : of->shown_outputs);
    free(of->inputs);
    free(of->outputs);
    free(of->name);
    free(of);
}
