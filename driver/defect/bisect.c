/* Which pass changed an answer.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   import ─ clean, understand ─ … fuse ─┬─ bufferise, order, tile_rows, lower ─ code
 *   the interpreter runs copies of the   │  the program is compiled and run; then anew
 *   module as it was after each pass     │  without each pass that can be left out
 *
 * Copies share their constants with the model, so keeping one for each pass that
 * changed something is cheap.
 */
#include "ingot/defect.h"

#include "driver/compile/compile.h"
#include "ingot/runtime.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <string.h>

enum { PIPELINE_BYTES = 4096, NO_ANSWER = -1, BAD = 0, GOOD = 1 };

typedef struct pass_state {
    const char *pass;
    uint32_t index;
    ig_module *module; /* after it; NULL: it was at work on a plan */
} pass_state;

typedef struct bisection {
    ig_module *module;
    ig_compile_options options;
    const ig_argument *inputs;
    size_t input_count;
    ig_answer_judge judge;
    ig_arena arena; /* outside of the recovery point, as the next three */
    IG_VEC(pass_state) states;
    ig_lowered lowered;
    uint64_t hash;
    ig_arena *results;
    const pass_state *shown[2]; /* to print: before, after */
    const char *texts[2];
} bisection;

/* ---- the states ---- */

static uint64_t hash_of(const ig_module *module) {
    uint64_t hash = 0;
    for (size_t i = 0; i < module->graphs.count; i++) {
        hash = hash * 31 + ig_graph_hash(module->graphs.items[i]);
    }
    return hash;
}

static void keep_state(void *user, const char *pass, uint32_t index,
                       const ig_module *module) {
    bisection *b = user;
    const ig_graph *entry = ig_entry_of(module);
    bool is_plan = !entry || entry->stage != IG_STAGE_TENSOR;
    uint64_t hash = is_plan ? 0 : hash_of(module);
    if (!is_plan && hash == b->hash) {
        return;
    }
    b->hash = hash;
    IG_PUSH(&b->arena, &b->states, (pass_state){ .pass = pass, .index = index });
    if (!is_plan) {
        b->states.items[b->states.count - 1].module = ig_module_clone(module);
    }
}

static ig_status run_passes(void *arguments) {
    bisection *b = arguments;
    b->hash = hash_of(b->module);
    IG_PUSH(&b->arena, &b->states,
            (pass_state){ .pass = "import", .module = ig_module_clone(b->module) });
    b->lowered.watch = keep_state;
    b->lowered.watch_user = b;
    return ig_module_lower(b->module, &b->options, "kernel", &b->lowered);
}

static ig_status print_states(void *arguments) {
    bisection *b = arguments;
    for (int i = 0; i < 2; i++) {
        ig_writer text;
        ig_writer_init(&text, b->results);
        ig_print_module(b->shown[i]->module, &text);
        b->texts[i] = ig_writer_str(&text).data;
    }
    return IG_OK;
}

/* ---- their answers ---- */

/* A module that cannot be run at all counts as a wrong answer too. */
static int judge_state(const bisection *b, const pass_state *state) {
    const ig_argument *outputs;
    size_t count;
    ig_status status = ig_interpret_run(state->module, b->inputs, b->input_count,
                                        &outputs, &count);
    bool is_lost = status == IG_LIMIT || status == IG_CANCELLED;
    return is_lost           ? NO_ANSWER
           : status != IG_OK ? BAD
                             : b->judge.outputs(b->judge.user, outputs, count);
}

static size_t count_tensor_states(const bisection *b) {
    size_t count = 0;
    while (count < b->states.count && b->states.items[count].module) {
        count++;
    }
    return count;
}

/* The first state that is bad, where states[good] is good and states[bad] is not. */
static size_t search_states(const bisection *b, size_t good, size_t bad) {
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        int answer = judge_state(b, &b->states.items[middle]);
        if (answer == NO_ANSWER) {
            return 0;
        }
        good = answer == GOOD ? middle : good;
        bad = answer == GOOD ? bad : middle;
    }
    return bad;
}

/* ---- passes of the plan ---- */

static int judge_passes(const bisection *b, const char *passes) {
    ig_compile_options options = b->options;
    ig_program *program = NULL;
    options.passes = passes;
    int answer = ig_compile(b->module, &options, &program) == IG_OK
                     ? b->judge.program(b->judge.user, program)
                     : NO_ANSWER;
    ig_program_close(program);
    return answer;
}

/* The pipeline without ",pass"; false where it is not there in that form. */
static bool leave_out(char *pipeline, const char *pass) {
    size_t size = strlen(pass);
    for (char *at = pipeline; (at = strstr(at, pass)); at += size) {
        bool is_word = at > pipeline && at[-1] == ',' &&
                       (at[size] == ',' || at[size] == '\0');
        if (is_word) {
            memmove(at - 1, at + size, strlen(at + size) + 1);
            return true;
        }
    }
    return false;
}

static void write_pipeline(const bisection *b, char *out) {
    if (b->options.passes) {
        snprintf(out, PIPELINE_BYTES, "%s", b->options.passes);
    } else {
        snprintf(out, PIPELINE_BYTES, "%s,%s,%s,%s", ig_pipeline_clean,
                 ig_pipeline_understand, ig_pipeline_place, ig_pipeline_lower);
    }
}

/* The plan is bad: which of its passes made it so?  Leaving out one that only orders
 * or groups launches leaves a program that answers. */
static void blame_plan(const bisection *b, size_t first, ig_guilty_pass *out) {
    for (size_t i = first; i < b->states.count; i++) {
        char pipeline[PIPELINE_BYTES];
        write_pipeline(b, pipeline);
        bool can_try = strcmp(b->states.items[i].pass, "order") == 0 ||
                       strcmp(b->states.items[i].pass, "tile_rows") == 0;
        if (can_try && leave_out(pipeline, b->states.items[i].pass) &&
            judge_passes(b, pipeline) == GOOD) {
            out->pass = b->states.items[i].pass;
            return;
        }
    }
    out->pass = "lower";
    out->others = "bufferise, or the code of its kernels";
}

/* ---- all of it ---- */

static ig_status blame_state(bisection *b, size_t bad, ig_guilty_pass *out) {
    out->pass = b->states.items[bad].pass;
    out->index = b->states.items[bad].index;
    b->shown[0] = &b->states.items[bad ? bad - 1 : 0];
    b->shown[1] = &b->states.items[bad];
    IG_TRY(ig_driver_guard(b->module->context, print_states, b));
    out->before = b->texts[0];
    out->after = b->texts[1];
    return IG_OK;
}

static ig_status find_guilty(bisection *b, ig_guilty_pass *out) {
    size_t count = count_tensor_states(b);
    int first = judge_state(b, &b->states.items[0]);
    int last = count > 1 ? judge_state(b, &b->states.items[count - 1]) : first;
    if (first == NO_ANSWER || last == NO_ANSWER) {
        return IG_OK;
    }
    if (first == BAD) {
        return blame_state(b, 0, out);
    }
    if (last == BAD) {
        size_t bad = search_states(b, 0, count - 1);
        return bad ? blame_state(b, bad, out) : IG_OK;
    }
    if (count < b->states.count && b->judge.program &&
        judge_passes(b, b->options.passes) == BAD) {
        blame_plan(b, count, out);
    }
    return IG_OK;
}

static void bisection_close(bisection *b) {
    for (size_t i = 0; i < b->states.count; i++) {
        ig_module_close(b->states.items[i].module);
    }
    ig_lowered_fini(&b->lowered);
    ig_arena_fini(&b->arena);
}

ig_status ig_module_bisect(ig_module *module, const ig_compile_options *options,
                           const ig_argument *inputs, size_t input_count,
                           const ig_answer_judge *judge, ig_guilty_pass *out_guilty) {
    bisection b = { .module = module, .inputs = inputs, .input_count = input_count };
    ig_guilty_pass found = { .size = sizeof found, .pass = "", .others = "" };
    ig_guilty_pass asked = { 0 };
    ig_options_take(module->context, &asked, sizeof asked, out_guilty);
    ig_options_take(module->context, &b.options, sizeof b.options, options);
    ig_options_take(module->context, &b.judge, sizeof b.judge, judge);
    ig_arena_init(&b.arena, &module->context->budget);
    b.results = ig_driver_results(module);
    ig_status status = ig_driver_guard(module->context, run_passes, &b);
    status = status == IG_OK ? find_guilty(&b, &found) : status;
    bisection_close(&b);
    found.size = out_guilty->size;
    size_t room = found.size < sizeof found ? found.size : sizeof found;
    memcpy(out_guilty, &found, room);
    return ig_driver_settle(module->context, status);
}
