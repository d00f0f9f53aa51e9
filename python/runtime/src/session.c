/* Sessions of a program, one a call in progress.
 * SPDX-License-Identifier: Apache-2.0 */
#include "python/runtime/src/binding.h"
#include "python/log.h"

#include <stdlib.h>
#include <string.h>

session_slot *slot_create(ig_program *program, ig_thread_pool *pool, int threads) {
    char message[256] = "";
    ig_session_options options = { .size = sizeof options,
                                   .message = message,
                                   .message_size = sizeof message,
                                   .pool = pool,
                                   .threads = threads,
                                   .log = &python_log };
    ig_call_options call = { .size = sizeof call,
                             .message = message,
                             .message_size = sizeof message };
    session_slot *slot = calloc(1, sizeof *slot);
    size_t count = ig_program_output_count(program);
    if (slot) {
        slot->output_count = count;
        slot->is_flat = ig_program_node_count(program) &&
                        !ig_program_node(program, 0).name[0];
        slot->outputs = calloc(count + 1, sizeof *slot->outputs);
        slot->spares = spares_of(program);
        slot->maps = maps_of_outputs(program);
    }
    if (!slot || !slot->outputs || !slot->spares || !slot->maps) {
        slot_destroy(slot);
        PyErr_NoMemory();
        return NULL;
    }
    ig_status status = ig_session_create(program, &options, &slot->session);
    status = status == IG_OK ? ig_call_create(program, &call, &slot->call) : status;
    if (status != IG_OK) {
        slot_destroy(slot);
        raise_status(status, message);
        return NULL;
    }
    ig_session_facts facts = { .size = sizeof facts };
    ig_session_get_facts(slot->session, &facts);
    slot->stream = facts.stream;
    return slot;
}

void slot_destroy(session_slot *slot) {
    if (!slot) {
        return;
    }
    slot_release_outputs(slot);
    slot_release_inputs(slot);
    spares_release(slot->spares);
    ig_call_destroy(slot->call);
    ig_session_destroy(slot->session);
    Py_XDECREF(slot->maps);
    free(slot->outputs);
    free(slot->inputs);
    free(slot);
}

borrowed *slot_add_input(session_slot *slot) {
    if (slot->input_count == slot->input_room) {
        size_t room = slot->input_room ? 2 * slot->input_room : 8;
        borrowed *grown = realloc(slot->inputs, room * sizeof *grown);
        if (!grown) {
            PyErr_NoMemory();
            return NULL;
        }
        slot->inputs = grown;
        slot->input_room = room;
    }
    return &slot->inputs[slot->input_count++];
}

void slot_release_inputs(session_slot *slot) {
    for (size_t i = 0; i < slot->input_count; i++) {
        release_borrowed(&slot->inputs[i]);
    }
    slot->input_count = slot->target_count = 0;
    slot->make = NULL;
}

/* Is it the memory of an array of the caller? */
static bool is_target(const session_slot *slot, const void *data) {
    for (size_t i = slot->input_count - slot->target_count; i < slot->input_count;
         i++) {
        if (slot->inputs[i].view.data == data) {
            return true;
        }
    }
    return false;
}

void slot_release_outputs(session_slot *slot) {
    if (!slot->spares || !slot->outputs) {
        return;
    }
    for (size_t i = 0; i < slot->output_count; i++) {
        if (is_target(slot, slot->outputs[i].data)) {
            slot->outputs[i].capacity = 0;
        }
    }
    spares_take_back(slot->spares, slot->outputs);
    memset(slot->outputs, 0, slot->output_count * sizeof *slot->outputs);
}

int slot_run(session_slot *slot, const ig_view *inputs, size_t count) {
    ig_status status;
    if (spares_take(slot->spares, slot->outputs) < 0) {
        return -1;
    }
    ig_session_weights_changed(slot->session); /* arrays may be freed since */
    Py_BEGIN_ALLOW_THREADS;
    status = ig_session_run(slot->session, inputs, count, slot->outputs,
                            slot->output_count);
    Py_END_ALLOW_THREADS;
    if (status != IG_OK) {
        raise_status(status, ig_session_error(slot->session));
        return -1;
    }
    return 0;
}
