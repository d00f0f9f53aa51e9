/* A rank that is killed, or stopped, at any collective of a run: the others end by the
 * deadline and a second with a message that names it, and no shared memory is left.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A few trials; with INGOT_FULL=1 (scripts/test --full) three hundred.
 */
#include "ingot/group.h"
#include "ingot/shard.h"
#include "runtime/host/ranks.h"
#include "tests/unit/unit.h"
#include "tests/unit/watch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORLD = 3, TIMEOUT_MS = 700, SLACK_MS = 1000, MEETINGS = 3 };
enum { CHUNKS = 2, MEETINGS_OF_CHUNKS = 7 }; /* the last one takes the last chunk */
enum { FEW = 6, MANY = 300 };

static const char model[] =
    "module @t {\nweight @a : f32[6, 2] = splat(1)\n"
    "graph @main(%ids: i64[N], %off: i64[B]) {\n"
    "%1 = bag @a, %ids, %off {operands = [1], pool = [sum]}\nret %1\n}\n}\n";
static const char plan[] =
    "{\"chunks\": %d, \"world_size\": 3, \"tables\": [{\"name\": \"a\", \"sharding_type\": \"row_wise\", "
    "\"shards\": [{\"rank\": 0, \"size\": [2, 2], \"offset\": [0, 0]}, "
    "{\"rank\": 1, \"size\": [2, 2], \"offset\": [2, 0]}, "
    "{\"rank\": 2, \"size\": [2, 2], \"offset\": [4, 0]}]}]}";

/* What survivors tell, in memory that all share. */
typedef struct rank_word {
    ig_status status;
    int64_t ms; /* that the run took */
    char message[512];
} rank_word;

typedef struct trial {
    ig_program *programs[WORLD];
    rank_word *words;
    char name[64];
    uint32_t victim;
    int meeting, signal; /* raised by the victim at that collective of its second run */
} trial;

/* ---- a rank ---- */

/* Raises the trial's signal at one of the collectives. */
typedef struct wrapper {
    ig_ranks ranks; /* first */
    ig_ranks *inner;
    const trial *trial;
    int met, run;
} wrapper;

static bool call_inner(ig_ranks *ranks, const char *function,
                       const ig_host_call *call) {
    wrapper *w = (wrapper *)ranks;
    bool is_met = strstr(function, "rank_meet") || strstr(function, "rank_reduce");
    if (is_met && w->run == 1 && w->met++ == w->trial->meeting) {
        (void)raise(w->trial->signal);
    }
    return w->inner->call(w->inner, function, call);
}

static ig_status agree_inner(ig_ranks *ranks, char reason[IG_HOST_REASON_BYTES]) {
    wrapper *w = (wrapper *)ranks;
    return w->inner->agree(w->inner, reason);
}

static void leave_inner(ig_ranks *ranks) {
    wrapper *w = (wrapper *)ranks;
    w->inner->leave(w->inner);
}

static ig_status run_twice(ig_session *session, wrapper *w, rank_word *word) {
    int64_t ids[] = { 0, 2, 4, 5 }, begins[] = { 0, 2 };
    ig_view in[] = { { .data = ids, .dtype = IG_I64, .rank = 1, .dims = { 4 } },
                     { .data = begins, .dtype = IG_I64, .rank = 1, .dims = { 2 } } };
    ig_view out = { 0 };
    ig_status status = IG_OK;
    for (w->run = 0; w->run < 2 && status == IG_OK; w->run++) {
        unit_watch watch = unit_watch_start();
        w->met = 0;
        status = ig_session_run(session, in, 2, &out, 1);
        word->ms = unit_watch_ms(&watch);
    }
    return status;
}

/* In a process of its own. */
static void run_rank(const trial *t, uint32_t rank) {
    rank_word *word = &t->words[rank];
    ig_group *group = NULL;
    ig_session *session = NULL;
    ig_group_options how = { .size = sizeof how,
                             .rank = rank,
                             .world = WORLD,
                             .timeout_ms = 20000,
                             .message = word->message,
                             .message_size = sizeof word->message };
    word->status = ig_group_open(t->name, &how, &group);
    if (word->status != IG_OK) {
        _exit(1);
    }
    char name[80]; /* the first meeting may take its time, the others not */
    ig_group_close(group);
    how.timeout_ms = TIMEOUT_MS;
    snprintf(name, sizeof name, "%s-2", t->name);
    word->status = ig_group_open(name, &how, &group);
    if (word->status != IG_OK) {
        _exit(1);
    }
    wrapper w = { .ranks = { IG_RANKS_VERSION, call_inner, agree_inner, leave_inner },
                  .inner = ig_group_ranks(group),
                  .trial = rank == t->victim ? t : NULL };
    ig_session_options options = { .size = sizeof options,
                                   .message = word->message,
                                   .message_size = sizeof word->message };
    options.ranks = rank == t->victim ? &w.ranks : w.inner;
    word->status = ig_session_create(t->programs[rank], &options, &session);
    word->status = word->status == IG_OK ? run_twice(session, &w, word) : word->status;
    if (word->status != IG_OK && session) {
        snprintf(word->message, sizeof word->message, "%s", ig_session_error(session));
    }
    _exit(0);
}

/* ---- a trial ---- */

static void check_survivor(const trial *t, uint32_t rank) {
    const rank_word *word = &t->words[rank];
    char late[64];
    snprintf(late, sizeof late, "rank %u of %d did not arrive within %d ms", t->victim,
             WORLD, TIMEOUT_MS);
    bool is_named = strstr(word->message, late) != NULL;
    bool is_second = strstr(word->message, "has failed") != NULL; /* by a survivor */
    snprintf(late, sizeof late, "the memory of rank %u is gone", t->victim);
    is_named = is_named || strstr(word->message, late);
    CHECK_MSG(word->status != IG_OK && (is_named || is_second),
              "signal %d at %d of rank %u; rank %u says: %s", t->signal, t->meeting,
              t->victim, rank, word->message);
    CHECK_MSG(word->ms <= TIMEOUT_MS + SLACK_MS, "rank %u ended after %lld ms", rank,
              (long long)word->ms);
}

static void run_trial(trial *t) {
    pid_t children[WORLD];
    memset(t->words, 0, WORLD * sizeof *t->words);
    for (uint32_t r = 0; r < WORLD; r++) {
        children[r] = fork();
        CHECK(children[r] >= 0);
        if (children[r] == 0) {
            run_rank(t, r);
        }
    }
    for (uint32_t r = 0; r < WORLD; r++) {
        if (r != t->victim) {
            CHECK_INT(waitpid(children[r], NULL, 0), children[r]);
        }
    }
    (void)kill(children[t->victim], SIGKILL);
    CHECK_INT(waitpid(children[t->victim], NULL, 0), children[t->victim]);
    bool is_named = false;
    for (uint32_t r = 0; r < WORLD; r++) {
        if (r != t->victim) {
            check_survivor(t, r);
            is_named |= strstr(t->words[r].message, "did not arrive") ||
                        strstr(t->words[r].message, "is gone");
        }
    }
    CHECK(is_named);
    char path[128];
    for (int i = 1; i <= 2; i++) {
        snprintf(path, sizeof path, "/dev/shm/%s%s", strchr(t->name, ':') + 1,
                 i == 2 ? "-2" : "");
        CHECK(access(path, F_OK) != 0);
    }
}

static ig_program *compile_rank(ig_context *context, size_t rank, int chunks) {
    char text[sizeof plan + 16];
    ig_module *module = NULL;
    ig_program *program = NULL;
    snprintf(text, sizeof text, plan, chunks);
    CHECK_OK(ig_import_memory(context, model, strlen(model), "case.ig", NULL, &module));
    CHECK_OK(ig_module_shard(module, "plan", text, rank, NULL));
    CHECK_OK(ig_compile(module, NULL, &program));
    ig_module_close(module);
    return program;
}

/* A signal at each of so many collectives, of each rank. */
static void run_trials(int chunks, int meetings) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    const char *full = getenv("INGOT_FULL");
    int trials = full && strcmp(full, "1") == 0 ? MANY : FEW;
    trial t = { .words = mmap(NULL, sizeof *t.words * WORLD, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0) };
    CHECK(t.words != MAP_FAILED);
    snprintf(t.name, sizeof t.name, "shm:ingot-killed-%d", (int)getpid());
    for (size_t r = 0; r < WORLD; r++) {
        t.programs[r] = compile_rank(context, r, chunks);
    }
    trials = trials < meetings ? meetings : trials;
    for (int i = 0; i < trials; i++) {
        t.meeting = i % meetings;
        t.victim = (uint32_t)(i / meetings % WORLD);
        t.signal = i % 2 ? SIGSTOP : SIGKILL;
        run_trial(&t);
    }
    for (size_t r = 0; r < WORLD; r++) {
        ig_program_close(t.programs[r]);
    }
    (void)munmap(t.words, sizeof *t.words * WORLD);
    ig_context_destroy(context);
}

TEST(the_others_end_by_the_deadline) {
    run_trials(1, MEETINGS);
}

TEST(and_so_they_do_with_chunks_under_way) {
    run_trials(CHUNKS, MEETINGS_OF_CHUNKS);
}

UNIT_SUITE(ranks_killed, the_others_end_by_the_deadline,
           and_so_they_do_with_chunks_under_way)
