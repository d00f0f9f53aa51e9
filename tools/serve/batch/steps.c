/* Steps of a request.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/batch/steps.h"

#include "tools/serve/batch/bind.h"
#include "tools/serve/batch/shared.h"
#include "tools/serve/model/join.h"

#include <string.h>

enum { MAX_STEPS = 8 };

static bool measure_rows(request *what) {
    const served *to = what->served;
    int64_t max = to->config.has_max_batch_size ? to->config.max_batch_size : 0;
    what->rows = to->max_batch_size ? join_rows(to, what) : -1;
    return max == 0 || what->rows <= max ||
           request_fail(what, CALL_INVALID,
                        "%lld rows, more than the max_batch_size of model '%s', %lld",
                        (long long)what->rows, to->name, (long long)max);
}

bool step_begin(request *of, const lane *in) {
    const served *to = of->served;
    return (!script_has(to->script, SCRIPT_PRE) ||
            script_call(to->script, in->index, SCRIPT_PRE, of)) &&
           bind_inputs(of, to) && check_outputs(of, to) && measure_rows(of);
}

/* ---- after a run ---- */

static bool has_tensor(const tensor *all, size_t count, const char *name) {
    size_t i = 0;
    while (i < count && strcmp(all[i].name, name) != 0) {
        i++;
    }
    return i < count;
}

/* Results become inputs; after them those of the client that are not among them. */
static bool keep_results(request *of) {
    size_t count = of->result_count;
    tensor *made = request_take(of, (count + of->input_count + 1) * sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        void *copy = request_take(of, of->results[i].size);
        if (!copy) {
            made = NULL;
            break;
        }
        if (of->results[i].size) {
            memcpy(copy, of->results[i].data, of->results[i].size);
        }
        made[i] = of->results[i];
        made[i].data = copy;
    }
    if (!made) {
        return request_fail(of, CALL_FULL,
                            "memory for the outputs of model '%s' ran out",
                            of->served->name);
    }
    of->made_count = count;
    for (size_t i = 0; i < of->input_count; i++) {
        if (!has_tensor(made, of->made_count, of->inputs[i].name)) {
            made[count++] = of->inputs[i];
        }
    }
    of->results = made;
    of->result_count = count;
    return true;
}

bool step_end(request *of, const lane *in, const ig_view *views) {
    const served *from = of->served;
    if (!give_results(of, from, views) ||
        (script_has(from->script, SCRIPT_POST) &&
         !script_call(from->script, in->index, SCRIPT_POST, of))) {
        return false;
    }
    if (from->config.then) {
        return keep_results(of);
    }
    return (served_answers(from) || pick_results(of)) &&
           write_shared_results(of, in->regions);
}

/* ---- the next model ---- */

/* Leaves out the tensors that the model before took or gave and this one has no use
 * for. */
static void drop_inputs(request *of, const served *before) {
    const served *to = of->served;
    tensor *kept = (tensor *)of->results; /* the request's own */
    size_t count = 0;
    for (size_t i = 0; i < of->result_count; i++) {
        bool is_wanted = script_has(to->script, SCRIPT_PRE), is_known = false;
        for (size_t k = 0; k < to->input_count; k++) {
            is_wanted |= strcmp(to->inputs[k].name, kept[i].name) == 0;
        }
        for (size_t k = 0; k < before->input_count; k++) {
            is_known |= strcmp(before->inputs[k].name, kept[i].name) == 0;
        }
        is_known |= i < of->made_count;
        if (is_wanted || !is_known) {
            kept[count++] = kept[i];
        }
    }
    of->inputs = kept;
    of->input_count = count;
}

bool step_next(request *of, const lane *in) {
    char words[WORDS];
    call_status status = CALL_OK;
    const served *before = of->served;
    const char *name = before->config.then;
    if (++of->step == MAX_STEPS) {
        return request_fail(of, CALL_INTERNAL,
                            "a chain of more than %d models: '%s' goes on with '%s'",
                            MAX_STEPS, before->name, name);
    }
    served *next = catalog_find(in->catalog, name, "", &status, words);
    if (!next) {
        return request_fail(of, CALL_UNAVAILABLE,
                            "model '%s' goes on with '%s': %.800s", before->name, name,
                            words);
    }
    of->served = next;
    drop_inputs(of, before);
    return step_begin(of, in);
}
