/* Running all ranks of a sharded collection in this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/cases/sharded.h"

#include <ingot/group.h>
#include <ingot/shard.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- programs ---- */

static bool open_rank(sharded_case *c, size_t rank, const char *text,
                      const char *plan) {
    sharded_rank *r = &c->ranks[rank];
    ig_compile_options how = compile_options(c->v->given);
    r->m.context = c->v->context;
    ig_status status = ig_import_memory(c->v->context, text, strlen(text), NULL, NULL,
                                        &r->m.module);
    if (status == IG_OK) {
        status = ig_module_shard(r->m.module, "plan", plan, rank, &how);
    }
    if (status == IG_OK && !is_interpret(c->v->given->target)) {
        status = ig_compile(r->m.module, &how, &r->m.program);
        c->v->compiled += status == IG_OK;
    }
    return status == IG_OK ? true : verify_fail(c->v, "the program of a rank", NULL);
}

/* ---- by the interpreter ---- */

static bool interpret_ranks(sharded_case *c, bool (*check)(const sharded_case *c)) {
    ig_module **modules = need(calloc(c->world, sizeof(ig_module *)));
    const ig_argument **inputs = need(calloc(c->world, sizeof *inputs));
    const ig_argument *const *outputs = NULL;
    size_t count = 0;
    for (size_t r = 0; r < c->world; r++) {
        modules[r] = c->ranks[r].m.module;
        inputs[r] = c->ranks[r].inputs;
    }
    ig_status status = ig_interpret_world(modules, c->world, inputs, c->input_count,
                                          &outputs, &count);
    bool is_good = status == IG_OK && count == c->output_count;
    for (size_t r = 0; is_good && r < c->world; r++) {
        memcpy(c->ranks[r].outputs, outputs[r], count * sizeof **outputs);
    }
    is_good = is_good ? check(c) : verify_fail(c->v, "interpreting", NULL);
    free(modules);
    free(inputs);
    return is_good;
}

/* ---- as threads ---- */

typedef struct rank_thread {
    sharded_case *c;
    uint32_t rank;
    char name[64]; /* of the group */
    pthread_t thread;
    ig_group *group;
    ig_session *session;
    ig_view *outputs;
    ig_status status;
    message why;
} rank_thread;

static void say_status(rank_thread *t, const char *said) {
    if (!t->why.text[0]) {
        snprintf(t->why.text, sizeof t->why.text, "%s",
                 said && said[0] ? said : ig_status_text(t->status));
    }
}

static void *run_rank(void *arguments) {
    enum { TIMEOUT_MS = 60000 };
    rank_thread *t = arguments;
    const sharded_rank *r = &t->c->ranks[t->rank];
    ig_group_options how = { .size = sizeof how,
                             .rank = t->rank,
                             .world = (uint32_t)t->c->world,
                             .timeout_ms = TIMEOUT_MS,
                             .message = t->why.text,
                             .message_size = sizeof t->why.text };
    t->status = ig_group_open(t->name, &how, &t->group);
    if (t->status == IG_OK) {
        ig_session_options options = { .size = sizeof options,
                                       .threads = (int)t->c->v->given->threads,
                                       .message = t->why.text,
                                       .message_size = sizeof t->why.text,
                                       .ranks = ig_group_ranks(t->group) };
        t->status = ig_session_create(r->m.program, &options, &t->session);
    }
    ig_view inputs[RANK_INPUTS];
    for (size_t i = 0; t->status == IG_OK && i < t->c->input_count; i++) {
        t->status = view_of(&r->inputs[i], &inputs[i]) ? IG_OK : IG_UNSUPPORTED;
    }
    if (t->status == IG_OK) {
        t->status = ig_session_run(t->session, inputs, t->c->input_count, t->outputs,
                                   t->c->output_count);
    }
    if (t->status != IG_OK) {
        say_status(t, t->session ? ig_session_error(t->session) : NULL);
    }
    return NULL;
}

static bool join_ranks(sharded_case *c, rank_thread *threads, size_t count) {
    bool is_good = true;
    for (size_t r = 0; r < count; r++) {
        rank_thread *t = &threads[r];
        pthread_join(t->thread, NULL);
        if (is_good && t->status != IG_OK) {
            char what[32];
            snprintf(what, sizeof what, "rank %zu", r);
            is_good = verify_fail(c->v, what, t->why.text);
        }
        for (size_t i = 0; t->status == IG_OK && i < c->output_count; i++) {
            argument_of(&t->outputs[i], &c->ranks[r].outputs[i]);
        }
    }
    return is_good;
}

static bool run_threads(sharded_case *c, bool (*check)(const sharded_case *c)) {
    rank_thread *threads = need(calloc(c->world, sizeof *threads));
    size_t started = 0;
    for (; started < c->world; started++) {
        rank_thread *t = &threads[started];
        t->c = c;
        t->rank = (uint32_t)started;
        snprintf(t->name, sizeof t->name, "shm:ingot-verify-%d", (int)getpid());
        t->outputs = need(calloc(c->output_count, sizeof *t->outputs));
        if (pthread_create(&t->thread, NULL, run_rank, t) != 0) {
            free(t->outputs);
            break; /* the others wait until their time is over */
        }
    }
    bool is_good = join_ranks(c, threads, started);
    if (is_good && started < c->world) {
        is_good = verify_fail(c->v, "ranks", "cannot start a thread for each");
    }
    is_good = is_good && check(c);
    for (size_t r = 0; r < started; r++) {
        ig_session_destroy(threads[r].session);
        ig_group_close(threads[r].group);
        free(threads[r].outputs);
    }
    free(threads);
    return is_good;
}

bool sharded_run(sharded_case *c, bool (*check)(const sharded_case *c)) {
    char *text = sharded_model_text(c), *plan = text ? sharded_plan_text(c) : NULL;
    bool is_good = plan != NULL;
    for (size_t r = 0; is_good && r < c->world; r++) {
        is_good = open_rank(c, r, text, plan);
    }
    if (is_good) {
        is_good = is_interpret(c->v->given->target) ? interpret_ranks(c, check)
                                                    : run_threads(c, check);
    }
    for (size_t r = 0; r < c->world; r++) {
        ig_program_close(c->ranks[r].m.program);
        ig_module_close(c->ranks[r].m.module);
    }
    free(text);
    free(plan);
    return is_good;
}
