/* The compiler as a host program sees it: memory, threads, cancelling, callbacks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

UNIT_WITH_LLVM

/* Enough kernels that several threads have something to do. */
static const char model[] =
    "module @m {\n"
    "  symbol B {min = 0}\n"
    "  graph @main(%x: f32[B, 4], %w: f32[4, 8]) -> (f32[B, 8] \"y\", f32[B] \"s\") {\n"
    "    %0 = relu %x : f32[B, 4]\n"
    "    %1 = matmul %0, %w : f32[B, 8]\n"
    "    %2 = tanh %1 : f32[B, 8]\n"
    "    %3 = reduce %2 {op = sum, axes = [1]} : f32[B]\n"
    "    ret %2, %3\n"
    "  }\n"
    "}\n";

static ig_context *open_context(void) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    CHECK(context);
    return context;
}

static ig_module *import(ig_context *context) {
    ig_module *module = NULL;
    ig_status status = ig_import_memory(context, model, sizeof model - 1, NULL, NULL,
                                        &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    return module;
}

/* y = tanh(relu(x) w) for x of ones and w of a half: tanh(2). */
static void check_program(ig_program *program) {
    float x[8], w[32];
    ig_session *session = NULL;
    for (int i = 0; i < 32; i++) {
        x[i % 8] = 1;
        w[i] = 0.5f;
    }
    ig_view in[] = { { .data = x, .dtype = IG_F32, .rank = 2, .dims = { 2, 4 } },
                     { .data = w, .dtype = IG_F32, .rank = 2, .dims = { 4, 8 } } };
    ig_view out[2] = { { 0 } };
    CHECK_INT(ig_session_create(program, NULL, &session), IG_OK);
    CHECK_MSG(ig_session_run(session, in, 2, out, 2) == IG_OK, "%s",
              ig_session_error(session));
    CHECK_INT(out[0].dims[1], 8);
    float y = *(float *)out[0].data, s = *(float *)out[1].data;
    CHECK_MSG(y > 0.96402f && y < 0.96403f, "%.9g", (double)y);
    CHECK_MSG(s > 7.7121f && s < 7.7123f, "%.9g", (double)s);
    ig_session_destroy(session);
}

TEST(a_program_outlives_module_and_context) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    CHECK_MSG(ig_compile(module, NULL, &program) == IG_OK, "%s",
              ig_context_messages(context));
    ig_module_close(module);
    ig_context_destroy(context);
    check_program(program);
    ig_program_close(program);
}

TEST(the_module_is_left_as_it_was) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    const char *text = NULL;
    size_t size = 0;
    CHECK_INT(ig_module_print(module, IG_FORMAT_TEXT, &text, &size), IG_OK);
    char *before = strdup(text);
    CHECK_INT(ig_compile(module, NULL, &program), IG_OK);
    CHECK_INT(ig_module_print(module, IG_FORMAT_TEXT, &text, &size), IG_OK);
    CHECK_TEXT(text, before);
    free(before);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

static void *compile_and_run(void *user) {
    (void)user;
    for (int i = 0; i < 2; i++) {
        ig_context *context = open_context();
        ig_module *module = import(context);
        ig_program *program = NULL;
        CHECK_MSG(ig_compile(module, NULL, &program) == IG_OK, "%s",
                  ig_context_messages(context));
        check_program(program);
        ig_program_close(program);
        ig_module_close(module);
        ig_context_destroy(context);
    }
    return NULL;
}

TEST(contexts_work_at_the_same_time) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        CHECK_INT(pthread_create(&threads[i], NULL, compile_and_run, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- cancelling ---- */

TEST(a_cancelled_context_stays_usable) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    ig_context_cancel(context);
    CHECK_INT(ig_compile(module, NULL, &program), IG_CANCELLED);
    CHECK(!program);
    CHECK_INT(ig_compile(module, NULL, &program), IG_OK);
    check_program(program);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

enum { LARGE = 20000 };

/* A chain that one pass after another walks for a while. */
static ig_module *import_large(ig_context *context) {
    size_t size = 0;
    char *text = NULL;
    ig_module *module = NULL;
    FILE *out = open_memstream(&text, &size);
    fputs("module @large {\n  symbol B {min = 0}\n"
          "  graph @main(%x: f32[B, 4]) -> (f32[B, 4] \"y\") {\n"
          "    %0 = relu %x : f32[B, 4]\n",
          out);
    for (int i = 1; i <= LARGE; i++) {
        fprintf(out, "    %%%d = %s %%%d, %%%d : f32[B, 4]\n", i, i % 2 ? "add" : "mul",
                i - 1, i > 7 ? i - 7 : 0);
    }
    fprintf(out, "    ret %%%d\n  }\n}\n", LARGE);
    fclose(out);
    ig_status status = ig_import_memory(context, text, size, NULL, NULL, &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    free(text);
    return module;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct canceller {
    ig_context *context;
    double at, cancelled_at; /* of CPU time */
    atomic_bool is_over;
} canceller;

static void *cancel_later(void *user) {
    canceller *c = user;
    while (cpu_seconds() < c->at && !atomic_load(&c->is_over)) {
        usleep(1000);
    }
    c->cancelled_at = cpu_seconds();
    ig_context_cancel(c->context);
    return NULL;
}

/* CPU time from cancelling, `after` seconds into the work, to its end; below 0 where
 * the work was over before. */
static double cancel_after(double after) {
    ig_context *context = open_context();
    ig_module *module = import_large(context);
    const char *text = NULL;
    size_t size = 0;
    pthread_t thread;
    canceller c = { .context = context, .at = cpu_seconds() + after };
    CHECK(pthread_create(&thread, NULL, cancel_later, &c) == 0);
    ig_status status = ig_dump(module, "plan", NULL, IG_FORMAT_TEXT, &text, &size);
    double end = cpu_seconds();
    atomic_store(&c.is_over, true);
    pthread_join(thread, NULL);
    CHECK_MSG(status == IG_CANCELLED || status == IG_OK, "%s", ig_status_text(status));
    ig_module_close(module);
    ig_context_destroy(context);
    return end - c.cancelled_at;
}

/* A pass that never looks is late at every try; a machine that others use is late at
 * some. */
enum { TRIES = 4 };

TEST(cancelling_ends_a_pass_of_a_large_graph) {
    ig_context *context = open_context();
    ig_module *module = import_large(context);
    const char *text = NULL;
    size_t size = 0;
    double begin = cpu_seconds();
    CHECK_INT(ig_dump(module, "plan", NULL, IG_FORMAT_TEXT, &text, &size), IG_OK);
    double whole = cpu_seconds() - begin, limit = 0.05 + whole / 8;
    ig_module_close(module);
    ig_context_destroy(context);
    for (int part = 1; part <= 6; part++) {
        double took = 2 * limit;
        for (int try = 0; try < TRIES && took >= limit; try++) {
            took = cancel_after(whole * part / 8);
        }
        CHECK_MSG(took < limit, "at %d/8 of %.2f s: %.3f s more", part, whole, took);
    }
}
END_TEST

static void cancel_at_kernels(void *user, const char *stage, uint64_t done,
                              uint64_t total) {
    (void)done;
    (void)total;
    ig_context **context = user;
    if (strcmp(stage, "kernels") == 0) {
        ig_context_cancel(*context);
    }
}

TEST(cancelling_from_a_callback_stops_before_the_next_kernel) {
    ig_context *context = NULL;
    ig_context_options options = { .size = sizeof options,
                                   .cache_folder = "",
                                   .compile_threads = 1,
                                   .progress = cancel_at_kernels,
                                   .progress_user = &context };
    context = ig_context_create(&options);
    ig_module *module = import(context);
    char path[] = "/tmp/ingot-api-XXXXXX/x.ingot";
    const char *folder = NULL;
    path[sizeof "/tmp/ingot-api-XXXXXX" - 1] = '\0';
    folder = mkdtemp(path);
    CHECK(folder);
    path[sizeof "/tmp/ingot-api-XXXXXX" - 1] = '/';
    CHECK_INT(ig_compile_file(module, path, NULL), IG_CANCELLED);
    path[sizeof "/tmp/ingot-api-XXXXXX" - 1] = '\0';
    CHECK_MSG(rmdir(path) == 0, "something was left in %s", path);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* Recipes are computed while other threads compile kernels. */
static const char packed[] =
    "module @p {\n"
    "  weight @w : f32[64, 64] = splat(0.5)\n"
    "  graph @main(%x: f32[B, 64]) -> (f32[B, 64] \"y\", f32[B] \"s\") {\n"
    "    %0 = matmul %x, @w : f32[B, 64]\n"
    "    %1 = tanh %0 : f32[B, 64]\n"
    "    %2 = reduce %1 {op = sum, axes = [1]} : f32[B]\n"
    "    ret %1, %2\n"
    "  }\n"
    "}\n";

static void cancel_at_weights(void *user, const char *stage, uint64_t done,
                              uint64_t total) {
    (void)done;
    (void)total;
    ig_context **context = user;
    if (context && strcmp(stage, "weights") == 0) {
        ig_context_cancel(*context);
    }
}

/* What the recipes meet ends the threads too, and the context stays usable. */
static void fail_at_recipes(int threads, bool is_cancelled, ig_status expected) {
    ig_context *context = NULL;
    ig_context_options options = { .size = sizeof options,
                                   .cache_folder = "",
                                   .compile_threads = threads,
                                   .progress = cancel_at_weights,
                                   .progress_user = is_cancelled ? &context : NULL };
    context = ig_context_create(&options);
    ig_module *module = NULL;
    ig_program *program = NULL;
    CHECK_INT(ig_import_memory(context, packed, sizeof packed - 1, NULL, NULL, &module),
              IG_OK);
    if (!is_cancelled) {
        CHECK_INT(ig_context_set_limit(context, "interpret_bytes", 10000), IG_OK);
    }
    CHECK_INT(ig_compile(module, NULL, &program), expected);
    if (!is_cancelled) {
        CHECK_INT(ig_context_set_limit(context, "interpret_bytes", 1 << 20), IG_OK);
        CHECK_INT(ig_compile(module, NULL, &program), IG_OK);
    }
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(recipes_that_fail_stop_the_threads) {
    for (int threads = 1; threads <= 4; threads++) {
        fail_at_recipes(threads, false, IG_LIMIT);
        fail_at_recipes(threads, true, IG_CANCELLED);
    }
}

/* ---- limits ---- */

TEST(exhausted_memory_is_a_status) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    CHECK_INT(ig_context_set_limit(context, "memory_bytes", 40000), IG_OK);
    CHECK_INT(ig_compile(module, NULL, &program), IG_LIMIT);
    CHECK(strstr(ig_context_messages(context), "memory"));
    CHECK_INT(ig_context_set_limit(context, "memory_bytes", 1 << 30), IG_OK);
    CHECK_INT(ig_compile(module, NULL, &program), IG_OK);
    check_program(program);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(memory_may_run_out_anywhere) {
    for (int64_t limit = 20000; limit < 600000; limit += 23000) {
        ig_context *context = open_context();
        ig_module *module = NULL;
        ig_program *program = NULL;
        CHECK_INT(ig_context_set_limit(context, "memory_bytes", limit), IG_OK);
        ig_status status = ig_import_memory(context, model, sizeof model - 1, NULL,
                                            NULL, &module);
        if (status == IG_OK) {
            status = ig_compile(module, NULL, &program);
        }
        CHECK_MSG(status == IG_OK || status == IG_LIMIT, "%s at %lld: %s",
                  ig_status_text(status), (long long)limit,
                  ig_context_messages(context));
        ig_program_close(program);
        ig_module_close(module);
        ig_context_destroy(context);
    }
}

TEST(a_kernel_beyond_the_limit_is_refused) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    CHECK_INT(ig_context_set_limit(context, "kernel_ops", 3), IG_OK);
    CHECK_INT(ig_compile(module, NULL, &program), IG_LIMIT);
    CHECK(strstr(ig_context_messages(context), "kernel_ops"));
    CHECK_INT(ig_context_set_limit(context, "no_such_limit", 3), IG_INVALID);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* ---- the rest ---- */

static void count_pass(void *user, const char *pass, unsigned index, const char *text) {
    (void)index;
    CHECK(pass[0] && strstr(text, "module @m"));
    ++*(int *)user;
}

TEST(passes_are_shown_as_they_are_done) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    int count = 0;
    ig_compile_options options = { .size = sizeof options,
                                   .after_pass = count_pass,
                                   .after_pass_user = &count };
    CHECK_INT(ig_compile(module, &options, &program), IG_OK);
    CHECK_MSG(count > 5, "%d passes", count);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(a_module_that_is_here_cannot_be_isolated) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    ig_compile_options options = { .size = sizeof options, .isolate = 1 };
    CHECK_INT(ig_compile(module, &options, &program), IG_INVALID);
    CHECK(strstr(ig_context_messages(context), "ig_compile_model"));
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(an_older_caller_gives_smaller_options) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    ig_program *program = NULL;
    ig_compile_options options = { .size = offsetof(ig_compile_options, weights),
                                   .target = "cpu" };
    memset((char *)&options + options.size, 0xff, sizeof options - options.size);
    CHECK_MSG(ig_compile(module, &options, &program) == IG_OK, "%s",
              ig_context_messages(context));
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(every_stage_can_be_dumped) {
    static const char *const stages[] = { "import", "tensor", "plan",
                                          "kernel", "llvm",   "asm" };
    ig_context *context = open_context();
    ig_module *module = import(context);
    const char *text = NULL;
    size_t size = 0;
    for (size_t i = 0; i < IG_COUNT_OF(stages); i++) {
        ig_status status = ig_dump(module, stages[i], NULL, IG_FORMAT_TEXT, &text,
                                   &size);
        CHECK_MSG(status == IG_OK && size == strlen(text) && size > 100, "%s: %s",
                  stages[i], ig_context_messages(context));
    }
    CHECK_INT(ig_dump(module, "wasm", NULL, IG_FORMAT_TEXT, &text, &size), IG_INVALID);
    CHECK_INT(ig_dump(module, "ptx", &(ig_compile_options){ .target = "cpu:v3" },
                      IG_FORMAT_TEXT, &text, &size),
              IG_INVALID);
    ig_module_close(module);
    ig_context_destroy(context);
}

UNIT_SUITE(api_compile, a_program_outlives_module_and_context,
           the_module_is_left_as_it_was, contexts_work_at_the_same_time,
           a_cancelled_context_stays_usable, cancelling_ends_a_pass_of_a_large_graph,
           cancelling_from_a_callback_stops_before_the_next_kernel,
           recipes_that_fail_stop_the_threads, exhausted_memory_is_a_status,
           memory_may_run_out_anywhere, a_kernel_beyond_the_limit_is_refused,
           passes_are_shown_as_they_are_done, a_module_that_is_here_cannot_be_isolated,
           an_older_caller_gives_smaller_options, every_stage_can_be_dumped)
