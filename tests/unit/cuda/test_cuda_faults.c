/* The faults of tests/cuda_host/faults.def, each made in a session of plain calls of
 * the driver: the stand-ins find every one of them, and nothing where there is none.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The session is what runtime/cuda does for a model, without the model: one copy in of
 * ids and arguments through pinned memory, a kernel that looks up and one that sums, on
 * a stream of its own, and one copy out; the first call launches, later ones launch a
 * graph.  What each call must give is computed beside it.
 */
#include "tests/cuda_host/driver/stand_in.h"
#include "tests/cuda_host/nvrtc/build.h"
#include "tests/unit/cuda/cuda_library.h"
#include "tests/unit/unit.h"

typedef enum fault {
    NO_FAULT,
#define FAULT(name, words, found_by) FAULT_##name,
#include "tests/cuda_host/faults.def"
#undef FAULT
    FAULT_COUNT
} fault;

enum { RESULT = 1, STATUS = 2, CLOSE = 4 };

static const struct {
    const char *name, *words;
    int found_by;
} faults[FAULT_COUNT] = {
    { "none", "nothing is wrong", 0 },
#define FAULT(name, words, found_by) { #name, words, found_by },
#include "tests/cuda_host/faults.def"
#undef FAULT
};

enum { ROWS = 16, MAX = 64, THREADS = 64, SEEDS = 12, CALLS = 3 };

/* gather: y[i] = table[ids[i]].  sum: each block adds what its threads have read, in
 * shared memory, to the sum behind the outputs. */
static const char text[] =
    "extern \"C\" __global__ void gather(void *const *buffers, const long long *params) {\n"
    "    const float *table = (const float *)buffers[0];\n"
    "    const long long *ids = (const long long *)buffers[1];\n"
    "    float *y = (float *)buffers[2];\n"
    "    long long i = threadIdx.x;\n"
    "    if (i < params[0]) y[i] = table[ids[i]];\n"
    "}\n"
    "extern \"C\" __global__ void sum(void *const *buffers, const long long *params) {\n"
    "    __shared__ float all[64];\n"
    "    float *y = (float *)buffers[2];\n"
    "    int i = threadIdx.x;\n"
    "    all[i] = i < params[0] ? y[i] : 0.0f;\n"
    "    BARRIER\n"
    "    float total = 0;\n"
    "    for (int k = 0; k < 64; k++) total += all[k];\n"
    "    if (i == 0) y[64] += total;\n"
    "}\n";

/* ---- the driver ---- */

static struct calls {
#define CALL(name, parameters) int(*name) parameters;
#define CALLS_OF_DRIVER                                                             \
    CALL(cuInit, (unsigned))                                                        \
    CALL(cuDeviceGet, (int *, int))                                                 \
    CALL(cuDevicePrimaryCtxRetain, (void **, int))                                  \
    CALL(cuDevicePrimaryCtxRelease_v2, (int))                                       \
    CALL(cuCtxPushCurrent_v2, (void *))                                             \
    CALL(cuCtxPopCurrent_v2, (void **))                                             \
    CALL(cuStreamCreate, (void **, unsigned))                                       \
    CALL(cuStreamDestroy_v2, (void *))                                              \
    CALL(cuStreamSynchronize, (void *))                                             \
    CALL(cuStreamWaitEvent, (void *, void *, unsigned))                             \
    CALL(cuEventCreate, (void **, unsigned))                                        \
    CALL(cuEventDestroy_v2, (void *))                                               \
    CALL(cuEventRecord, (void *, void *))                                           \
    CALL(cuEventSynchronize, (void *))                                              \
    CALL(cuMemAlloc_v2, (uint64_t *, size_t))                                       \
    CALL(cuMemFree_v2, (uint64_t))                                                  \
    CALL(cuMemAllocHost_v2, (void **, size_t))                                      \
    CALL(cuMemFreeHost, (void *))                                                   \
    CALL(cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *))                \
    CALL(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))            \
    CALL(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))                  \
    CALL(cuModuleLoadData, (void **, const void *))                                 \
    CALL(cuModuleUnload, (void *))                                                  \
    CALL(cuModuleGetFunction, (void **, void *, const char *))                      \
    CALL(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, \
                          unsigned, unsigned, void *, void **, void **))            \
    CALL(cuStreamBeginCapture_v2, (void *, int))                                    \
    CALL(cuStreamEndCapture, (void *, void **))                                     \
    CALL(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))        \
    CALL(cuGraphLaunch, (void *, void *))                                           \
    CALL(cuGraphDestroy, (void *))                                                  \
    CALL(cuGraphExecDestroy, (void *))
    CALLS_OF_DRIVER
#undef CALL
} cuda;

static void find_calls(void) {
#define CALL(name, parameters) *(void **)&cuda.name = cuda_stand_in(#name);
    CALLS_OF_DRIVER
#undef CALL
}

/* ---- a session ---- */

/* What one copy moves in. */
typedef struct arguments {
    uint64_t buffers[3];
    int64_t params[1];
    int64_t ids[MAX];
} arguments;

typedef struct session {
    fault fault;
    int error; /* the first of the driver's */
    int device;
    void *context, *stream, *copies, *copied, *done, *module, *gather, *sum, *graph;
    uint64_t table, far, y; /* on the device: arguments and outputs of a call */
    arguments *near;        /* pinned */
    float *out;
    float first_table[ROWS];
} session;

#define TRY(s, call)                                     \
    do {                                                 \
        int got_error = (s)->error ? 0 : (call);         \
        (s)->error = got_error ? got_error : (s)->error; \
    } while (0)

static bool has(const session *s, fault which) {
    return s->fault == which;
}

static build build_kernels(bool has_barrier) {
    char source[sizeof text + 32];
    const char *at = strstr(text, "BARRIER");
    snprintf(source, sizeof source, "%.*s%s%s", (int)(at - text), text,
             has_barrier ? "__syncthreads();" : "", at + strlen("BARRIER"));
    return build_library(source, "sm_90");
}

static void open_memory(session *s) {
    for (int i = 0; i < ROWS; i++) {
        s->first_table[i] = (float)(i * i + 1);
    }
    TRY(s, cuda.cuMemAlloc_v2(&s->table, sizeof s->first_table));
    TRY(s, cuda.cuMemAlloc_v2(&s->far, sizeof(arguments)));
    TRY(s, cuda.cuMemAlloc_v2(&s->y, (MAX + 1) * sizeof(float)));
    TRY(s, cuda.cuMemAllocHost_v2((void **)&s->near, sizeof(arguments)));
    TRY(s, cuda.cuMemAllocHost_v2((void **)&s->out, (MAX + 1) * sizeof(float)));
    TRY(s, cuda.cuMemcpyHtoDAsync_v2(s->table, s->first_table, sizeof s->first_table,
                                     s->stream));
}

static void open_session(session *s, const build *kernels) {
    TRY(s, cuda.cuInit(0));
    TRY(s, cuda.cuDeviceGet(&s->device, 0));
    TRY(s, cuda.cuDevicePrimaryCtxRetain(&s->context, s->device));
    TRY(s, cuda.cuCtxPushCurrent_v2(s->context));
    TRY(s, cuda.cuStreamCreate(&s->stream, 1));
    TRY(s, cuda.cuStreamCreate(&s->copies, 1));
    TRY(s, cuda.cuEventCreate(&s->copied, 2));
    TRY(s, cuda.cuEventCreate(&s->done, 2));
    TRY(s, cuda.cuModuleLoadData(&s->module, kernels->bytes));
    TRY(s, cuda.cuModuleGetFunction(&s->gather, s->module, "gather"));
    TRY(s, cuda.cuModuleGetFunction(&s->sum, s->module, "sum"));
    open_memory(s);
}

static void launch(session *s, void *kernel, void *stream) {
    uint64_t buffers = s->far + offsetof(arguments, buffers);
    uint64_t params = s->far + offsetof(arguments, params);
    if (has(s, FAULT_host_argument)) {
        params = (uint64_t)(uintptr_t)&faults; /* of the host */
    }
    void *parameters[] = { &buffers, &params };
    TRY(s, cuda.cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, stream, parameters,
                               NULL));
}

static void launch_both(session *s) {
    void *first = has(s, FAULT_wrong_stream) ? s->copies : s->stream;
    if (!has(s, FAULT_memory_not_cleared)) {
        TRY(s, cuda.cuMemsetD8Async(s->y, 0, (MAX + 1) * sizeof(float), first));
    }
    launch(s, s->gather, first);
    launch(s, s->sum, s->stream);
}

static void capture(session *s) {
    void *graph = NULL;
    TRY(s, cuda.cuStreamBeginCapture_v2(s->stream, 1));
    launch_both(s);
    if (has(s, FAULT_wait_in_capture)) {
        TRY(s, cuda.cuStreamSynchronize(s->stream));
    }
    TRY(s, cuda.cuStreamEndCapture(s->stream, &graph));
    TRY(s, cuda.cuGraphInstantiateWithFlags(&s->graph, graph, 0));
    TRY(s, cuda.cuGraphDestroy(graph));
}

/* ---- a call ---- */

static void write_arguments(session *s, int call, int rows) {
    if (has(s, FAULT_stale_arguments) && call > 0) {
        rows = (int)s->near->params[0];
    }
    uint64_t table = has(s, FAULT_host_in_table) ? (uint64_t)(uintptr_t)s->first_table
                                                 : s->table;
    *s->near = (arguments){
        .buffers = { table, s->far + offsetof(arguments, ids), s->y },
        .params = { rows },
    };
    for (int i = 0; i < MAX; i++) {
        s->near->ids[i] = (3 * i + call) % ROWS;
    }
}

/* On a stream of its own; that of the launches waits for its event. */
static void copy_in(session *s, int call) {
    bool is_left_out = has(s, FAULT_input_not_copied) && call > 0;
    size_t bytes = is_left_out ? offsetof(arguments, ids) : sizeof(arguments);
    TRY(s, cuda.cuMemcpyHtoDAsync_v2(s->far, s->near, bytes, s->copies));
    TRY(s, cuda.cuEventRecord(s->copied, s->copies));
    if (!has(s, FAULT_event_not_waited)) {
        TRY(s, cuda.cuStreamWaitEvent(s->stream, s->copied, 0));
    }
    if (has(s, FAULT_staging_reused)) {
        write_arguments(s, call + 1, MAX); /* for the next call */
    }
}

static void run_kernels(session *s, int call) {
    if (call == 1) {
        capture(s);
    }
    if (call >= 1) {
        TRY(s, cuda.cuGraphLaunch(s->graph, s->stream));
    } else {
        launch_both(s);
    }
    if (has(s, FAULT_early_free) && call == CALLS - 1) {
        TRY(s, cuda.cuMemFree_v2(s->table));
        s->table = 0;
    }
}

/* A graph of the first block of arguments is launched for those of another one. */
static void move_arguments(session *s, int call) {
    if (has(s, FAULT_graph_of_other_input) && call == CALLS - 1) {
        TRY(s, cuda.cuMemFree_v2(s->y));
        TRY(s, cuda.cuMemAlloc_v2(&s->y, (MAX + 1) * sizeof(float)));
    }
}

static void copy_out(session *s, float *y) {
    memset(s->out, 0, (MAX + 1) * sizeof(float));
    if (!has(s, FAULT_output_not_copied)) {
        TRY(s, cuda.cuMemcpyDtoHAsync_v2(s->out, s->y, (MAX + 1) * sizeof(float),
                                         s->stream));
    }
    TRY(s, cuda.cuEventRecord(s->done, s->stream));
    if (!has(s, FAULT_output_before_event)) {
        TRY(s, cuda.cuEventSynchronize(s->done));
    }
    memcpy(y, s->out, (MAX + 1) * sizeof(float));
}

static bool is_right(const session *s, const float *y, int call, int rows) {
    float sum = 0;
    bool is_same = true;
    for (int i = 0; i < rows; i++) {
        float value = s->first_table[(3 * i + call) % ROWS];
        sum += value;
        is_same = is_same && y[i] == value;
    }
    return is_same && y[MAX] == sum;
}

/* RESULT, STATUS or 0. */
static int run_call(session *s, int call) {
    static const int rows[CALLS] = { 7, 20, 40 };
    float y[MAX + 1];
    move_arguments(s, call);
    write_arguments(s, call, rows[call]);
    copy_in(s, call);
    run_kernels(s, call);
    copy_out(s, y);
    return s->error ? STATUS : is_right(s, y, call, rows[call]) ? 0 : RESULT;
}

static void close_session(session *s) {
    void *left = NULL;
    cuda.cuStreamSynchronize(s->stream);
    cuda.cuStreamSynchronize(s->copies);
    cuda.cuGraphExecDestroy(s->graph);
    cuda.cuEventDestroy_v2(s->copied);
    cuda.cuEventDestroy_v2(s->done);
    cuda.cuStreamDestroy_v2(s->stream);
    cuda.cuStreamDestroy_v2(s->copies);
    cuda.cuModuleUnload(s->module);
    cuda.cuMemFree_v2(s->table);
    cuda.cuMemFree_v2(s->far);
    if (!has(s, FAULT_memory_left)) {
        cuda.cuMemFree_v2(s->y);
    }
    cuda.cuMemFreeHost(s->near);
    cuda.cuMemFreeHost(s->out);
    cuda.cuCtxPopCurrent_v2(&left);
    cuda.cuDevicePrimaryCtxRelease_v2(s->device);
}

/* How it shows with this seed. */
static int look_for(fault which, uint64_t seed, const build *kernels) {
    session s = { .fault = which };
    int found = 0;
    stand_in_counts counts;
    stand_in_seed_fn *set_seed;
    stand_in_get_counts_fn *get_counts;
    stand_in_clear_counts_fn *clear_counts;
    *(void **)&set_seed = cuda_stand_in("stand_in_seed");
    *(void **)&get_counts = cuda_stand_in("stand_in_get_counts");
    *(void **)&clear_counts = cuda_stand_in("stand_in_clear_counts");
    set_seed(seed);
    clear_counts();
    open_session(&s, kernels);
    for (int call = 0; call < CALLS && !found; call++) {
        found = run_call(&s, call);
    }
    bool is_dead = found == STATUS;
    close_session(&s);
    get_counts(&counts);
    return found | (counts.left > 0 && !is_dead ? CLOSE : 0);
}

/* ---- tests ---- */

/* In some orders of work, as a fault hides in others. */
TEST(each_fault_is_found) {
    fault which = (fault)_i;
    unsigned found = 0;
    stand_in_allow_left_fn *allow_left;
    if (!cuda_open_stand_ins()) {
        return;
    }
    find_calls();
    *(void **)&allow_left = cuda_stand_in("stand_in_allow_left");
    allow_left(true);
    build kernels = build_kernels(which != FAULT_barrier_removed);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int how = look_for(which, seed, &kernels);
        CHECK_MSG(which != NO_FAULT || how == 0, "something is found: %d", how);
        CHECK_MSG((how & ~faults[which].found_by) == 0, "%s shows by %d, not %d",
                  faults[which].name, how, faults[which].found_by);
        found += how != 0;
    }
    build_drop(&kernels);
    CHECK_MSG(which == NO_FAULT || 4 * found >= SEEDS,
              "%s: %s: found with %u of %d seeds", faults[which].name,
              faults[which].words, found, SEEDS);
}
END_TEST

static void add_faults(TCase *tcase) {
    tcase_add_loop_test(tcase, each_fault_is_found, 0, FAULT_COUNT);
}

TEST(there_are_fifteen) {
    CHECK_INT(FAULT_COUNT, 16);
}
END_TEST

UNIT_SUITE_WITH(cuda_faults, add_faults, there_are_fifteen)
