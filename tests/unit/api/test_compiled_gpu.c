/* Sessions on a GPU that stands in (tests/cuda_host): its memory is another process's,
 * and work is done late.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/cuda_host/driver/stand_in.h"
#include "tests/unit/cuda/cuda_library.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <unistd.h>

UNIT_WITH_LLVM

enum { WORDS = 512, MAX = 4096 };

static char words[WORDS], folder[64];

/* ---- artifacts and sessions ---- */

static ig_status compile(ig_context *context, ig_module *module, const char *target,
                         const char *path) {
    ig_compile_options how = { .size = sizeof how, .target = target };
    ig_status status = ig_compile_file(module, path, &how);
    snprintf(words, sizeof words, "%s", ig_context_messages(context));
    return status;
}

/* The path of an artifact of the text (or of the file that it names) in a folder of the
 * test's own. */
static const char *make(const char *text, const char *target) {
    static char path[96];
    bool is_text = strncmp(text, "module", 6) == 0;
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    ig_module *module = NULL;
    snprintf(folder, sizeof folder, "/tmp/ingot-gpu-session-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/x.ingot", folder);
    ig_status status = is_text ? ig_import_memory(context, text, strlen(text), NULL,
                                                  NULL, &module)
                               : ig_import(context, text, NULL, &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    CHECK_MSG(compile(context, module, target, path) == IG_OK, "%s", words);
    ig_module_close(module);
    ig_context_destroy(context);
    return path;
}

static void forget(const char *path) {
    unlink(path);
    rmdir(folder);
}

typedef struct opened {
    ig_program *program;
    ig_session *session;
} opened;

static ig_status try_open(const char *path, const char *device, opened *out) {
    ig_program_options how = {
        .size = sizeof how, .message = words, .message_size = WORDS, .device = device
    };
    ig_session_options with = { .size = sizeof with,
                                .message = words,
                                .message_size = WORDS };
    *out = (opened){ NULL, NULL };
    IG_TRY(ig_program_open(path, &how, &out->program));
    return ig_session_create(out->program, &with, &out->session);
}

static opened open_on(const char *path, const char *device) {
    opened o;
    ig_status status = try_open(path, device, &o);
    CHECK_MSG(status == IG_OK, "%s: %s", device, words);
    return o;
}

static void close_opened(opened *o) {
    ig_session_destroy(o->session);
    ig_program_close(o->program);
}

#define CHECK_RUN(o, ins, in_count, outs, out_count)                                 \
    do {                                                                             \
        ig_status got = ig_session_run((o).session, ins, in_count, outs, out_count); \
        CHECK_MSG(got == IG_OK, "%s", ig_session_error((o).session));                \
    } while (0)

/* ---- the stand-in ---- */

static stand_in_counts counts_now(void) {
    stand_in_get_counts_fn *get;
    stand_in_counts counts;
    *(void **)&get = cuda_stand_in("stand_in_get_counts");
    get(&counts);
    return counts;
}

static void clear_counts(void) {
    stand_in_clear_counts_fn *clear;
    *(void **)&clear = cuda_stand_in("stand_in_clear_counts");
    clear();
}

static uint64_t device_memory(void) {
    stand_in_memory_fn *held;
    *(void **)&held = cuda_stand_in("stand_in_memory");
    return held();
}

/* ---- a DLRM ---- */

enum { BATCH = 5, FEATURES = 26, DENSE = 13 };

static float dense[BATCH * DENSE];
static int64_t ids[BATCH * FEATURES];

static void fill_dlrm(ig_view ins[2], int64_t batch) {
    for (int i = 0; i < BATCH * DENSE; i++) {
        dense[i] = (float)(i % 7) - 3;
    }
    for (int i = 0; i < BATCH * FEATURES; i++) {
        ids[i] = i * 31 % 100;
    }
    ins[0] = (ig_view){
        .data = dense, .dtype = IG_F32, .rank = 2, .dims = { batch, DENSE }
    };
    ins[1] = (ig_view){
        .data = ids, .dtype = IG_I64, .rank = 2, .dims = { batch, FEATURES }
    };
}

static void check_near(const float *got, const float *expected, int count) {
    for (int i = 0; i < count; i++) {
        CHECK_MSG(fabsf(got[i] - expected[i]) <= 1e-5F * (1 + fabsf(expected[i])),
                  "element %d is %g, not %g", i, (double)got[i], (double)expected[i]);
    }
}

/* One copy in, one launch of a graph, one copy out, one wait, and no allocation. */
TEST(a_dlrm_in_steady_state) {
    float cpu[BATCH], gpu[BATCH];
    ig_view ins[2], out = { .data = cpu, .capacity = sizeof cpu };
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(INGOT_SOURCE_DIR "/tests/models/dlrm_onehot.ig",
                            "cpu,cuda:sm_90a");
    opened host = open_on(path, NULL), far = open_on(path, "cuda");
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(host.program, &facts);
    CHECK(strcmp(facts.device, "cpu") == 0);
    ig_program_get_facts(far.program, &facts);
    CHECK(strcmp(facts.device, "cuda") == 0 && strcmp(facts.level, "sm_90a") == 0);
    fill_dlrm(ins, BATCH);
    CHECK_RUN(host, ins, 2, &out, 1);
    for (int run = 0; run < 4; run++) {
        out = (ig_view){ .data = gpu, .capacity = sizeof gpu };
        memset(gpu, 0x7f, sizeof gpu);
        clear_counts();
        CHECK_RUN(far, ins, 2, &out, 1);
        check_near(gpu, cpu, BATCH);
    }
    stand_in_counts c = counts_now();
    CHECK_INT(c.copies_in, 1);
    CHECK_INT(c.copies_out, 1);
    CHECK_INT(c.copies_within + c.sets, 0);
    CHECK_INT(c.launches, 0);
    CHECK_INT(c.graph_launches, 1);
    CHECK_INT(c.graph_kernels, 8);
    CHECK_INT(c.waits, 1);
    CHECK_INT(c.allocations + c.pinned_allocations + c.frees + c.captures, 0);
    close_opened(&host);
    close_opened(&far);
    CHECK_INT(device_memory(), 0);
    forget(path);
}
END_TEST

TEST(shapes_alternate_and_reports_name_the_element) {
    float first[BATCH], again[BATCH];
    ig_view ins[2], out;
    char expected[WORDS];
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(INGOT_SOURCE_DIR "/tests/models/dlrm_onehot.ig",
                            "cpu,cuda:sm_90a");
    opened host = open_on(path, "cpu"), far = open_on(path, "cuda");
    for (int run = 0; run < 9; run++) {
        int64_t batch = 1 + run % 3;
        fill_dlrm(ins, batch);
        out = (ig_view){ .data = again, .capacity = sizeof again };
        CHECK_RUN(far, ins, 2, &out, 1);
        CHECK_INT(out.dims[0], batch);
        run < 3 && batch == 3 ? (void)memcpy(first, again, sizeof first) : (void)0;
    }
    CHECK(memcmp(first, again, 3 * sizeof *first) == 0);
    for (int run = 0; run < 3; run++) {
        ids[FEATURES + 3] = 591;
        out = (ig_view){ .data = again, .capacity = sizeof again };
        CHECK_STATUS(ig_session_run(host.session, ins, 2, &out, 1), IG_INVALID);
        snprintf(expected, sizeof expected, "%s", ig_session_error(host.session));
        CHECK_STATUS(ig_session_run(far.session, ins, 2, &out, 1), IG_INVALID);
        CHECK_MSG(strcmp(expected, ig_session_error(far.session)) == 0,
                  "'%s', not '%s'", ig_session_error(far.session), expected);
        ids[FEATURES + 3] = 1;
        CHECK_RUN(far, ins, 2, &out, 1);
    }
    close_opened(&host);
    close_opened(&far);
    CHECK_INT(device_memory(), 0);
    forget(path);
}
END_TEST

/* ---- small ones ---- */

static const char chain[] = "module @m {\n"
                            "  weight @w : f32[4] = splat(2)\n"
                            "  graph @main(%x: f32[B, 4]) -> (f32[B, 4] \"y\") {\n"
                            "    %0 = mul %x, @w : f32[B, 4]\n"
                            "    %1 = tanh %0 : f32[B, 4]\n"
                            "    ret %1\n  }\n}\n";

/* A run of the chain with rows, on memory of the session. */
static ig_status run_chain(opened *o, int64_t rows, float *out_first) {
    static float x[4 * 64] = { 0.25F, -1, 3, 0 };
    ig_view in = { .data = x, .dtype = IG_F32, .rank = 2, .dims = { rows, 4 } };
    ig_view out = { 0 };
    IG_TRY(ig_session_run(o->session, &in, 1, &out, 1));
    *out_first = rows > 0 ? *(const float *)out.data : 0;
    return IG_OK;
}

/* A graph is of the shape that it was captured for, also when another one has that
 * shape's place.  The result's size does not tell them apart, and of rows behind a grid
 * the last shape's are summed. */
TEST(shapes_lose_their_slots) {
    enum { SHAPES = 11, ROWS = 256 };
    static const char model[] = "module @m {\n"
                                "  graph @main(%x: f32[B, 4]) -> (f32[4] \"y\") {\n"
                                "    %0 = abs %x : f32[B, 4]\n"
                                "    %1 = reduce %0 {op = sum, axes = [0]} : f32[4]\n"
                                "    ret %1\n  }\n}\n";
    static float x[SHAPES * ROWS * 4];
    float y[4];
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(model, "cuda:sm_90a");
    opened far = open_on(path, NULL);
    for (int run = 0; run < 6 * SHAPES; run++) {
        int64_t rows = ROWS * (1 + (run / 2 + run / (2 * SHAPES) * 5) % SHAPES);
        ig_view in = { .data = x, .dtype = IG_F32, .rank = 2, .dims = { rows, 4 } };
        ig_view out = { .data = y, .capacity = sizeof y };
        for (int64_t i = 0; i < rows * 4; i++) {
            x[i] = (float)-(run % 7);
        }
        CHECK_RUN(far, &in, 1, &out, 1);
        for (int i = 0; i < 4; i++) {
            CHECK_MSG(y[i] == (float)(rows * (run % 7)), "run %d of %lld rows: %g", run,
                      (long long)rows, (double)y[i]);
        }
    }
    close_opened(&far);
    forget(path);
}
END_TEST

static ig_status run_through(const char *path, float *out_first) {
    opened o;
    ig_status status = try_open(path, NULL, &o);
    for (int run = 0; run < 3 && status == IG_OK; run++) {
        status = run_chain(&o, run < 2 ? 2 : 64, out_first);
        float after = 0;
        if (status != IG_OK) { /* it is usable, or every run is refused */
            *out_first = run_chain(&o, 2, &after) == IG_OK ? after : tanhf(0.5F);
        }
    }
    close_opened(&o);
    return status;
}

/* Calls that give something back, or only tell: a failure leaves it where it was. */
static bool gives_back(const char *call) {
    static const char *const words_of[] = { "Free",    "Destroy", "Unload",
                                            "Release", "Pop",     "ErrorString" };
    bool is_any = false;
    for (size_t i = 0; i < IG_COUNT_OF(words_of); i++) {
        is_any |= strstr(call, words_of[i]) != NULL;
    }
    return is_any;
}

/* The nth such call fails; false when there are not so many.  Nothing is left. */
static bool survives(const char *path, const char *call, unsigned nth) {
    stand_in_fail_fn *fail_call;
    stand_in_has_failed_fn *has_failed;
    float first = 0;
    *(void **)&fail_call = cuda_stand_in("stand_in_fail");
    *(void **)&has_failed = cuda_stand_in("stand_in_has_failed");
    fail_call(call, nth, 2);
    ig_status status = run_through(path, &first);
    bool came = has_failed();
    fail_call(NULL, 0, 0);
    CHECK_MSG(fabsf(first - tanhf(0.5F)) < 1e-6F || (first == 0 && status != IG_OK),
              "%s %u: %g", call, nth, (double)first);
    CHECK_MSG(status == IG_OK || words[0], "%s %u: no words", call, nth);
    CHECK_MSG(device_memory() == 0, "%s %u leaves memory", call, nth);
    return came;
}

/* Whichever call of the driver fails, once, is a status. */
TEST(every_call_of_the_driver_fails_once) {
    static const char *const calls[] = {
#define DRIVER(name, symbol, parameters) #symbol,
#include "runtime/cuda/driver.def"
#undef DRIVER
    };
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(chain, "cuda:sm_90a");
    unsigned failed = 0;
    for (size_t i = 0; i < IG_COUNT_OF(calls); i++) {
        unsigned nth = 1;
        while (!gives_back(calls[i]) && survives(path, calls[i], nth)) {
            nth++;
        }
        failed += nth - 1;
    }
    CHECK_MSG(failed >= 50, "%u calls failed", failed);
    forget(path);
}
END_TEST

/* A caller of the driver, who has the primary context and two blocks in it. */
typedef struct caller {
    int (*get)(int *, int), (*push)(void *), (*pop)(void **), (*retain)(void **, int);
    int (*allocate)(uint64_t *, size_t), (*release)(uint64_t), (*let_go)(int);
    int (*create)(void **, unsigned), (*destroy)(void *);
    int (*copy_in)(uint64_t, const void *, size_t, void *);
    stand_in_see_fn *see;
    void *context;
    int device;
    uint64_t x, y;
} caller;

static caller call_driver(size_t bytes) {
    caller c = { .x = 0 };
    *(void **)&c.push = cuda_stand_in("cuCtxPushCurrent_v2");
    *(void **)&c.pop = cuda_stand_in("cuCtxPopCurrent_v2");
    *(void **)&c.retain = cuda_stand_in("cuDevicePrimaryCtxRetain");
    *(void **)&c.let_go = cuda_stand_in("cuDevicePrimaryCtxRelease_v2");
    *(void **)&c.allocate = cuda_stand_in("cuMemAlloc_v2");
    *(void **)&c.release = cuda_stand_in("cuMemFree_v2");
    *(void **)&c.create = cuda_stand_in("cuStreamCreate");
    *(void **)&c.destroy = cuda_stand_in("cuStreamDestroy_v2");
    *(void **)&c.copy_in = cuda_stand_in("cuMemcpyHtoDAsync_v2");
    *(void **)&c.see = cuda_stand_in("stand_in_see");
    *(void **)&c.get = cuda_stand_in("cuDeviceGet");
    CHECK(c.get(&c.device, 0) == 0 && c.retain(&c.context, c.device) == 0);
    CHECK(c.push(c.context) == 0 && c.allocate(&c.x, bytes) == 0);
    CHECK(c.allocate(&c.y, bytes) == 0);
    return c;
}

/* Our context is the current one again, as at the end of call_driver. */
static void hang_up(caller *c) {
    CHECK(c->release(c->x) == 0 && c->release(c->y) == 0 && c->pop(&c->context) == 0);
    CHECK(c->let_go(c->device) == 0);
    CHECK_INT(device_memory(), 0);
}

static ig_view far_view(uint64_t data, size_t capacity, int64_t rows) {
    return (ig_view){ .data = (void *)(uintptr_t)data,
                      .capacity = capacity,
                      .dtype = IG_F32,
                      .rank = 2,
                      .dims = { rows, 4 },
                      .memory = IG_MEMORY_CUDA };
}

/* Inputs and outputs in the GPU's memory are used where they are. */
TEST(memory_of_the_gpu) {
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(chain, "cuda:sm_90a");
    opened far = open_on(path, NULL);
    caller c = call_driver(32);
    uint64_t x = c.x, y = c.y;
    stand_in_see_fn *see = c.see;
    float *seen = see(x);
    for (int i = 0; i < 8; i++) {
        seen[i] = (float)i / 8;
    }
    ig_view in = far_view(x, 0, 2);
    for (int run = 0; run < 3; run++) {
        ig_view out = far_view(y, 32, 0);
        CHECK_RUN(far, &in, 1, &out, 1);
        CHECK(out.data == (void *)(uintptr_t)y);
        for (int i = 0; i < 8; i++) {
            float got = ((float *)see(y))[i], expected = tanhf((float)i / 4);
            CHECK_MSG(fabsf(got - expected) < 1e-6F, "%d: %g", i, (double)got);
        }
    }
    in.device = 1;
    ig_view out = { 0 };
    CHECK_STATUS(ig_session_run(far.session, &in, 1, &out, 1), IG_INVALID);
    CHECK(strstr(ig_session_error(far.session), "nor in that of the GPU") != NULL);
    close_opened(&far);
    hang_up(&c);
    forget(path);
}
END_TEST

/* A run comes behind what the caller has put into its stream, without a wait between
 * them, and brings nothing of the tensors anywhere. */
TEST(streams_of_the_caller) {
    enum { ROWS = 4096, COUNT = ROWS * 4, BYTES = COUNT * 4 };
    static float from[COUNT];
    void *stream = NULL;
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(chain, "cuda:sm_90a");
    opened far = { NULL, NULL };
    CHECK_OK(ig_program_open(path, NULL, &far.program));
    caller c = call_driver(BYTES);
    CHECK(c.create(&stream, 1) == 0);
    ig_session_options with = { .size = sizeof with, .stream = stream };
    ig_session_facts facts = { .size = sizeof facts };
    CHECK_OK(ig_session_create(far.program, &with, &far.session));
    ig_session_get_facts(far.session, &facts);
    CHECK_PTR(facts.stream, stream);
    ig_view in = far_view(c.x, 0, ROWS);
    for (int run = 0; run < 4; run++) {
        ig_view out = far_view(c.y, BYTES, 0);
        for (int i = 0; i < COUNT; i++) {
            from[i] = (float)((i + run) % 32) / 32;
        }
        clear_counts();
        CHECK(c.copy_in(c.x, from, BYTES, stream) == 0);
        CHECK_RUN(far, &in, 1, &out, 1);
        const float *y = c.see(c.y);
        for (int i = 0; i < COUNT; i++) {
            CHECK_MSG(fabsf(y[i] - tanhf(2 * from[i])) < 1e-6F, "run %d: y[%d] is %g",
                      run, i, (double)y[i]);
        }
    }
    stand_in_counts n = counts_now();
    CHECK_INT(n.waits, 1);
    CHECK_INT(n.graph_launches, 1);
    CHECK_INT(n.copies_in, 2); /* the caller's, and tables */
    CHECK(n.bytes_in < BYTES + 1024 && n.bytes_out < 1024 && n.copies_within == 0);
    close_opened(&far);
    CHECK(c.destroy(stream) == 0);
    with.stream = &c; /* none */
    CHECK_OK(ig_program_open(path, NULL, &far.program));
    CHECK_STATUS(ig_session_create(far.program, &with, &far.session), IG_INTERNAL);
    ig_program_close(far.program);
    hang_up(&c);
    forget(path);
}
END_TEST

/* Stream 1 is the driver's oldest: no capture of it. */
TEST(the_oldest_stream_is_not_captured) {
    float first = 0;
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(chain, "cuda:sm_90a");
    opened far = { NULL, NULL };
    ig_session_options with = { .size = sizeof with, .stream = (void *)1 };
    CHECK_OK(ig_program_open(path, NULL, &far.program));
    CHECK_OK(ig_session_create(far.program, &with, &far.session));
    for (int run = 0; run < 3; run++) {
        CHECK_OK(run_chain(&far, 2, &first));
        CHECK(fabsf(first - tanhf(0.5F)) < 1e-6F);
    }
    CHECK_INT(counts_now().captures, 0);
    close_opened(&far);
    forget(path);
}
END_TEST

TEST(a_card_that_is_too_small) {
    static const char large[] = "module @m {\n"
                                "  weight @t : f32[100000, 16] = splat(0.5)\n"
                                "  graph @main(%i: i64[B]) -> (f32[B, 16] \"y\") {\n"
                                "    %0 = gather @t, %i {axis = 0} : f32[B, 16]\n"
                                "    ret %0\n  }\n}\n";
    setenv("INGOT_STAND_IN_MEMORY", "4000000", 1);
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(large, "cuda:sm_90a");
    opened o;
    clear_counts();
    CHECK_STATUS(try_open(path, NULL, &o), IG_LIMIT);
    CHECK_MSG(strstr(words, "the model's weights take ") != NULL, "%s", words);
    CHECK_INT(counts_now().allocations, 0);
    close_opened(&o);
    forget(path);
}
END_TEST

/* The larger table stays in the host's memory, where the kernel reads it; the rest is
 * on the card, which has room for no more. */
TEST(a_table_in_the_host_s_memory) {
    static const char model[] = "module @m {\n"
                                "  weight @t : f32[50000, 16] = splat(0.5)\n"
                                "  weight @u : f32[25000, 16] = splat(6)\n"
                                "  weight @w : f32[16] = splat(3)\n"
                                "  graph @main(%i: i64[B]) -> (f32[B, 16] \"y\") {\n"
                                "    %0 = gather @t, %i {axis = 0} : f32[B, 16]\n"
                                "    %1 = mul %0, @w : f32[B, 16]\n"
                                "    %2 = gather @u, %i {axis = 0} : f32[B, 16]\n"
                                "    %3 = mul %1, %2 : f32[B, 16]\n"
                                "    ret %3\n  }\n}\n";
    int64_t rows[] = { 0, 24999, 7, 5 };
    float y[4 * 16];
    setenv("INGOT_STAND_IN_MEMORY", "4000000", 1);
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(model, "cuda:sm_90a");
    ig_program_options how = { .size = sizeof how,
                               .message = words,
                               .message_size = WORDS,
                               .device_memory = 2000000 };
    opened far = { NULL, NULL };
    CHECK_MSG(ig_program_open(path, &how, &far.program) == IG_OK, "%s", words);
    CHECK_OK(ig_session_create(far.program, NULL, &far.session));
    CHECK(counts_now().pinned_allocations > 0);
    for (int run = 0; run < 3; run++) {
        ig_view in = { .data = rows, .dtype = IG_I64, .rank = 1, .dims = { 4 } };
        ig_view out = { .data = y, .capacity = sizeof y };
        CHECK_RUN(far, &in, 1, &out, 1);
        for (int i = 0; i < 4 * 16; i++) {
            CHECK_MSG(y[i] == 9, "y[%d] is %g", i, (double)y[i]);
        }
    }
    close_opened(&far);
    CHECK_INT(device_memory(), 0);
    how.device_memory = 10000000; /* all of it would be on the card */
    CHECK_STATUS(ig_program_open(path, &how, &far.program), IG_LIMIT);
    CHECK_MSG(strstr(words, "device_memory") != NULL, "%s", words);
    forget(path);
}
END_TEST

/* A counter, and a log that grows by each call's input. */
static const char log_model[] =
    "module @m {\n"
    "  weight @calls : i64[] = 5\n"
    "  weight @seen : f32[0] = []\n"
    "  graph @main(%x: f32[N], %calls: i64[] = @calls, %seen: f32[S] = @seen)\n"
    "      -> (f32[N] \"y\", i64[], f32[N + S]) as step(x: tensor) -> {\"y\": tensor} {\n"
    "    %0 = const {value = 1} : i64[]\n"
    "    %1 = add %calls, %0 : i64[]\n"
    "    %2 = cast %1 {to = f32} : f32[]\n"
    "    %3 = mul %x, %2 : f32[N]\n"
    "    %4 = concat %x, %seen {axis = 0} : f32[N + S]\n"
    "    %5 = reduce %seen {op = sum, axes = [0]} : f32[]\n"
    "    %6 = add %3, %5 : f32[N]\n"
    "    ret %6, %1, %4\n  }\n}\n";

/* Calls in order, from 5 and nothing; after a reset the same again. */
TEST(state_stays_on_the_gpu) {
    static const float xs[3][3] = { { 1, 2 }, { 1 }, { 1, 0, -1 } };
    static const float ys[3][3] = { { 6, 12 }, { 10 }, { 12, 4, -4 } };
    static const int64_t counts[] = { 2, 1, 3 };
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(log_model, "cuda:sm_90a");
    opened far = open_on(path, NULL);
    for (int call = 0; call < 6; call++) {
        const float *x = xs[call % 3], *y = ys[call % 3];
        ig_view in = { .data = (void *)(uintptr_t)x,
                       .dtype = IG_F32,
                       .rank = 1,
                       .dims = { counts[call % 3] } };
        ig_view out = { 0 };
        CHECK_RUN(far, &in, 1, &out, 1);
        for (int i = 0; i < counts[call % 3]; i++) {
            CHECK_MSG(((float *)out.data)[i] == y[i], "call %d: y[%d] is %g", call, i,
                      (double)((float *)out.data)[i]);
        }
        call == 2 ? ig_session_reset(far.session) : (void)0;
    }
    close_opened(&far);
    CHECK_INT(device_memory(), 0);
    forget(path);
}
END_TEST

/* A host step reads what a kernel made, and says how large its result is. */
TEST(sizes_that_a_run_finds) {
    static const char model[] =
        "module @m {\n"
        "  graph @main(%x: f32[B, 4]) -> (i64[nonzero, 2] \"at\") {\n"
        "    %0 = relu %x : f32[B, 4]\n"
        "    %1 = nonzero %0 : i64[nonzero, 2]\n"
        "    ret %1\n  }\n}\n";
    static float x[] = { 1, -1, 0, 2, -3, 4, 0, 0, -1, -1, -1, -1 };
    static const int64_t expected[] = { 0, 0, 0, 3, 1, 1 };
    if (!cuda_open_stand_ins()) {
        return;
    }
    const char *path = make(model, "cuda:sm_90a");
    opened far = open_on(path, NULL);
    for (int64_t rows = 3; rows >= 0; rows--) {
        ig_view in = { .data = x, .dtype = IG_F32, .rank = 2, .dims = { rows, 4 } };
        ig_view out = { 0 };
        CHECK_RUN(far, &in, 1, &out, 1);
        int64_t found = rows >= 2 ? 3 : rows == 1 ? 2 : 0;
        CHECK(out.rank == 2 && out.dims[1] == 2);
        CHECK_INT(out.dims[0], found);
        CHECK(found == 0 || memcmp(out.data, expected, (size_t)found * 16) == 0);
    }
    close_opened(&far);
    CHECK_INT(device_memory(), 0);
    forget(path);
}
END_TEST

UNIT_SUITE(compiled_gpu, a_dlrm_in_steady_state,
           shapes_alternate_and_reports_name_the_element, shapes_lose_their_slots,
           every_call_of_the_driver_fails_once, memory_of_the_gpu,
           streams_of_the_caller, the_oldest_stream_is_not_captured,
           a_card_that_is_too_small, a_table_in_the_host_s_memory,
           state_stays_on_the_gpu, sizes_that_a_run_finds)
