/* What device.h promises, held against every device: the CPU, null, and CUDA on the
 * driver that stands in (tests/cuda_host).
 * SPDX-License-Identifier: Apache-2.0
 *
 * A new device is one more row of `rows`: how to open it, and its code of the kernel
 * `gather` (tests/unit/kernels/gather.c).
 */
#include "base/platform/platform.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cuda/cuda.h"
#include "runtime/null/null.h"
#include "runtime/program/program.h"
#include "runtime/session/session.h"
#include "tests/cuda_host/nvrtc/build.h"
#include "tests/unit/cuda/cuda_library.h"
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

enum { ELEMENTS = 16, TABLE = 8, MANY = 200 };

/* An allocation of 2^60 bytes is an error here, not the sanitizer's to report. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

typedef struct device_case {
    const ig_device *device;
    ig_memory host, memory;
    ig_queue *queue;
    ig_device_code image;
    ig_code_source code;
    bool computes;
    char words[512];
    char *y, *table, *ids;
    int64_t params[1];
} device_case;

/* ---- the devices ---- */

static build gather_image; /* no bytes without a C++ compiler */

static const char gather_text[] =
    "struct ig_kernel_report { long long operand, position, value; int lock, unused; };\n"
    "extern \"C\" __global__ void gather(void *const *buffers,\n"
    "        const long long *params, ig_kernel_report *report) {\n"
    "    float *y = (float *)buffers[0];\n"
    "    const float *table = (const float *)buffers[1];\n"
    "    long long i = blockIdx.x, id = ((const long long *)buffers[2])[i];\n"
    "    bool is_inside = id >= 0 && id < params[0];\n"
    "    y[i] = is_inside ? table[id] : 0;\n"
    "    if (!is_inside && report->operand < 0) {\n"
    "        report->operand = 2;\n"
    "        report->position = i;\n"
    "        report->value = id;\n"
    "    }\n"
    "}\n";

/* In the process that makes those of the tests. */
static void build_images(void) {
    if (cuda_find_compiler()) {
        gather_image = build_library(gather_text, "sm_90");
        cuda_open_stand_ins();
    }
}

static void drop_images(void) {
    build_drop(&gather_image);
}

static bool open_cpu(device_case *d) {
    static ig_file_map file;
    CHECK_OK(
        ig_file_map_open(INGOT_BINARY_DIR "/unit/kernels/gather.bin", &file, NULL));
    d->device = &ig_device_cpu;
    d->code = (ig_code_source){ .bytes = file.data, .size = file.size, .file = -1 };
    d->computes = true;
    return true;
}

static bool open_null(device_case *d) {
    d->device = &ig_device_null;
    d->code = (ig_code_source){ .bytes = "no code", .size = 8, .file = -1 };
    return true;
}

static bool open_cuda(device_case *d) {
    const ig_message message = { d->words, sizeof d->words, NULL };
    if (!gather_image.bytes) {
        unit_skip("CUDA on the driver that stands in: no C++ compiler");
        return false;
    }
    ig_status status = ig_cuda_open(0, &d->device, &message);
    CHECK_MSG(status == IG_OK, "%s", d->words);
    d->code = (ig_code_source){ .bytes = gather_image.bytes,
                                .size = gather_image.size,
                                .file = -1 };
    d->computes = true;
    return true;
}

static void close_nothing(const ig_device *device) {
    (void)device;
}

static const struct {
    bool (*open)(device_case *d);
    void (*close)(const ig_device *device);
} rows[] = {
    { open_cpu, close_nothing },
    { open_null, close_nothing },
    { open_cuda, ig_cuda_close },
};

/* ---- a case ---- */

#define CHECK_DONE(d, call)                                                  \
    do {                                                                     \
        ig_status got_status = (call);                                       \
        CHECK_MSG(got_status == IG_OK, "%s: %s", (d)->device->verbs->family, \
                  (d)->words);                                               \
    } while (0)

static ig_message message_of(device_case *d) {
    return (ig_message){ d->words, sizeof d->words, NULL };
}

static ig_queue_options options_of(device_case *d) {
    return (ig_queue_options){ .memory = &d->host, .message = message_of(d) };
}

/* Copies and waits. */
static void put(device_case *d, void *to, const void *from, int64_t size) {
    CHECK_DONE(d, ig_queue_copy(d->queue, IG_COPY_IN, to, from, size));
    CHECK_DONE(d, ig_queue_finish(d->queue));
}

static bool open_queue(device_case *d, int row) {
    *d = (device_case){ .host = ig_memory_host() };
    if (!rows[row].open(d)) {
        return false;
    }
    ig_queue_options options = options_of(d);
    d->memory = ig_device_memory(d->device);
    CHECK_DONE(d, d->device->verbs->open_queue(d->device, &options, &d->queue));
    return true;
}

/* With the image loaded, and y, table, ids in the device's memory. */
static bool open_case(device_case *d, int row) {
    float table[TABLE];
    if (!open_queue(d, row)) {
        return false;
    }
    ig_message message = message_of(d);
    CHECK_DONE(d, d->device->verbs->load(d->device, &d->code, &d->image, &message));
    d->y = ig_memory_take(&d->memory, ELEMENTS * sizeof(float));
    d->table = ig_memory_take(&d->memory, sizeof table);
    d->ids = ig_memory_take(&d->memory, ELEMENTS * sizeof(int64_t));
    d->params[0] = TABLE;
    for (int i = 0; i < TABLE; i++) {
        table[i] = (float)(10 * i);
    }
    put(d, d->table, table, sizeof table);
    return true;
}

static void close_case(device_case *d, int row) {
    ig_memory_give(&d->memory, d->y, ELEMENTS * sizeof(float));
    ig_memory_give(&d->memory, d->table, TABLE * sizeof(float));
    ig_memory_give(&d->memory, d->ids, ELEMENTS * sizeof(int64_t));
    CHECK_INT(d->memory.held, 0);
    d->device->verbs->close_queue(d->queue);
    CHECK_INT(d->host.held, 0);
    d->device->verbs->unload(d->device, &d->image);
    rows[row].close(d->device);
}

/* ids[i] = (first + i) % TABLE, and ids[bad] out of range. */
static void put_ids(device_case *d, int64_t first, int bad) {
    int64_t ids[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        ids[i] = i == bad ? TABLE + 90 : (first + i) % TABLE;
    }
    put(d, d->ids, ids, sizeof ids);
}

/* Submits y = table[ids] as step `step`. */
static ig_status gather(device_case *d, uint32_t step) {
    void *buffers[] = { d->y, d->table, d->ids };
    int64_t bounds[] = { 0, 3, ELEMENTS, ELEMENTS };
    ig_message message = message_of(d);
    ig_launch launch = { .buffers = buffers,
                         .params = d->params,
                         .grid = ELEMENTS,
                         .bounds = bounds,
                         .buffer_count = 3,
                         .param_count = 1,
                         .step = step,
                         .threads = 1 };
    CHECK_DONE(d, d->device->verbs->find(d->device, &d->image,
                                         (ig_kernel_id){ "gather", 0 }, &launch.kernel,
                                         &message));
    ig_phase phase = { .launches = &launch, .launch_count = 1, .is_parallel = true };
    ig_status status = d->queue->verbs->submit(d->queue, &phase);
    memset(buffers, 0, sizeof buffers); /* they were read */
    return status;
}

static void check_gathered(device_case *d, const float *y, int64_t first) {
    for (int i = 0; i < ELEMENTS && d->computes; i++) {
        CHECK_MSG(y[i] == (float)(10 * ((first + i) % TABLE)), "%s: y[%d] is %g",
                  d->device->verbs->family, i, (double)y[i]);
    }
}

static void check_y(device_case *d, int64_t first) {
    float y[ELEMENTS];
    CHECK_DONE(d, ig_queue_read(d->queue, y, d->y, sizeof y));
    check_gathered(d, y, first);
}

/* ---- levels ---- */

TEST(every_listed_level_has_a_rank) {
    device_case d;
    if (!open_queue(&d, _i)) {
        return;
    }
    const ig_device_verbs *verbs = d.device->verbs;
    char list[128];
    snprintf(list, sizeof list, "%s", verbs->levels(d.device));
    CHECK(verbs->family[0] != '\0' && list[0] != '\0');
    CHECK_INT(verbs->rank(d.device, "no such level"), 0);
    int last = 0;
    char *rest = NULL;
    for (char *name = strtok_r(list, ", ", &rest); name;
         name = strtok_r(NULL, ", ", &rest)) {
        int rank = verbs->rank(d.device, name);
        CHECK_MSG(rank > last, "%s: the rank of %s is %d", verbs->family, name, rank);
        last = rank;
    }
    close_case(&d, _i);
}
END_TEST

/* ---- memory ---- */

TEST(memory_of_any_size) {
    static const size_t sizes[] = { 0, 1, 63, 4096, (size_t)64 << 20 };
    static const size_t alignments[] = { 1, 64, 128, IG_MAX_ALIGN };
    device_case d;
    if (!open_queue(&d, _i)) {
        return;
    }
    const ig_device_verbs *verbs = d.device->verbs;
    void *owner = (void *)(uintptr_t)d.device;
    for (size_t s = 0; s < IG_COUNT_OF(sizes); s++) {
        char *blocks[IG_COUNT_OF(alignments)];
        for (size_t a = 0; a < IG_COUNT_OF(alignments); a++) {
            size_t alignment = alignments[a] < sizeof(void *) ? sizeof(void *)
                                                              : alignments[a];
            blocks[a] = verbs->allocate(owner, sizes[s], alignment);
            CHECK_MSG(blocks[a] != NULL, "%s: %zu bytes", verbs->family, sizes[s]);
            CHECK_INT((uintptr_t)blocks[a] % alignment, 0);
            CHECK(a == 0 || blocks[a] != blocks[a - 1]);
            if (sizes[s] > 0) {
                char byte = (char)a, back = 0;
                put(&d, blocks[a] + sizes[s] - 1, &byte, 1);
                CHECK_DONE(&d,
                           ig_queue_read(d.queue, &back, blocks[a] + sizes[s] - 1, 1));
                CHECK_INT(back, byte);
            }
        }
        for (size_t a = 0; a < IG_COUNT_OF(alignments); a++) {
            verbs->release(owner, blocks[a], sizes[s]);
        }
    }
    close_case(&d, _i);
}
END_TEST

TEST(too_much_memory) {
    device_case d;
    if (!open_queue(&d, _i)) {
        return;
    }
    CHECK_PTR(ig_memory_take(&d.memory, (size_t)1 << 60), NULL);
    CHECK_INT(d.memory.held, 0);
    void *block = ig_memory_take(&d.memory, 100);
    CHECK(block != NULL && d.memory.held == 100);
    ig_memory_give(&d.memory, block, 100);
    d.device->verbs->release((void *)(uintptr_t)d.device, NULL, 0);
    close_case(&d, _i);
}
END_TEST

static void *allocate_nothing(void *user, size_t size, size_t alignment) {
    (void)user;
    (void)size;
    (void)alignment;
    return NULL;
}

TEST(a_queue_without_memory) {
    device_case d;
    if (!open_queue(&d, _i)) {
        return;
    }
    ig_memory none = { .allocate = allocate_nothing,
                       .release = ig_memory_release_host };
    ig_queue_options options = options_of(&d);
    ig_queue *queue = d.queue;
    options.memory = &none;
    CHECK_STATUS(d.device->verbs->open_queue(d.device, &options, &queue), IG_LIMIT);
    CHECK(queue == NULL && strstr(d.words, "out of memory") != NULL);
    d.device->verbs->close_queue(NULL);
    close_case(&d, _i);
}
END_TEST

/* ---- copies ---- */

TEST(copies_both_ways) {
    static const int64_t sizes[] = { 0, 1, 7, 4097 };
    static char out[5000], back[5000];
    device_case d;
    if (!open_queue(&d, _i)) {
        return;
    }
    char *a = ig_memory_take(&d.memory, sizeof out);
    char *b = ig_memory_take(&d.memory, sizeof out);
    for (size_t s = 0; s < IG_COUNT_OF(sizes); s++) {
        int64_t size = sizes[s];
        for (int64_t i = 0; i < size + 2; i++) {
            out[i] = (char)(i * 7 + size);
            back[i] = 'x';
        }
        put(&d, b, out, size + 2);
        CHECK_DONE(&d, ig_queue_copy(d.queue, IG_COPY_IN, a + 3, out, size));
        CHECK_DONE(&d, ig_queue_copy(d.queue, IG_COPY_WITHIN, b + 1, a + 3, size));
        CHECK_DONE(&d, ig_queue_copy(d.queue, IG_COPY_OUT, back, b, size + 2));
        CHECK_DONE(&d, ig_queue_finish(d.queue));
        CHECK(back[0] == out[0] && memcmp(back + 1, out, (size_t)size) == 0);
        CHECK(back[size + 1] == out[size + 1]);
    }
    ig_memory_give(&d.memory, a, sizeof out);
    ig_memory_give(&d.memory, b, sizeof out);
    close_case(&d, _i);
}
END_TEST

/* Within one block, like memmove: apart, touching, overlapping either way, equal. */
TEST(copies_may_overlap) {
    static const int shifts[] = { -64, -63, -1, 0, 1, 63, 64 };
    device_case d;
    if (!open_queue(&d, _i)) {
        return;
    }
    char *memory = ig_memory_take(&d.memory, 192);
    for (size_t s = 0; s < IG_COUNT_OF(shifts); s++) {
        char bytes[192], back[192];
        for (int i = 0; i < 192; i++) {
            bytes[i] = (char)(i * 5);
        }
        put(&d, memory, bytes, sizeof bytes);
        CHECK_DONE(&d, ig_queue_copy(d.queue, IG_COPY_WITHIN, memory + 64 + shifts[s],
                                     memory + 64, 64));
        CHECK_DONE(&d, ig_queue_read(d.queue, back, memory, sizeof back));
        memmove(bytes + 64 + shifts[s], bytes + 64, 64);
        CHECK_MSG(memcmp(back, bytes, sizeof bytes) == 0, "%s: shift %d",
                  d.device->verbs->family, shifts[s]);
    }
    ig_memory_give(&d.memory, memory, 192);
    close_case(&d, _i);
}
END_TEST

/* ---- order ---- */

TEST(work_is_done_in_the_order_of_submission) {
    device_case d;
    if (!open_case(&d, _i)) {
        return;
    }
    static int64_t ids[MANY][ELEMENTS];
    static float y[MANY][ELEMENTS];
    ig_ticket first = d.queue->last;
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < ELEMENTS; k++) {
            ids[i][k] = (i + k) % TABLE;
        }
        CHECK_DONE(&d,
                   ig_queue_copy(d.queue, IG_COPY_IN, d.ids, ids[i], sizeof ids[i]));
        CHECK_DONE(&d, gather(&d, 1));
        CHECK_DONE(&d, ig_queue_copy(d.queue, IG_COPY_OUT, y[i], d.y, sizeof y[i]));
    }
    CHECK_INT(d.queue->last - first, 3 * MANY);
    CHECK_DONE(&d, ig_queue_finish(d.queue));
    CHECK(d.queue->done == d.queue->last && !d.queue->has_report);
    for (int i = 0; i < MANY; i++) {
        check_gathered(&d, y[i], i);
    }
    int64_t last[ELEMENTS];
    CHECK_DONE(&d, ig_queue_read(d.queue, last, d.ids, sizeof last));
    CHECK(memcmp(last, ids[MANY - 1], sizeof last) == 0);
    close_case(&d, _i);
}
END_TEST

TEST(tickets_in_any_order_and_twice) {
    device_case d;
    if (!open_case(&d, _i)) {
        return;
    }
    ig_ticket tickets[10];
    char bytes[10], back = 'x';
    for (int i = 0; i < 10; i++) {
        bytes[i] = (char)('a' + i);
        CHECK_DONE(&d, ig_queue_copy(d.queue, IG_COPY_IN, d.y + i, &bytes[i], 1));
        tickets[i] = d.queue->last;
        CHECK(i == 0 || tickets[i] == tickets[i - 1] + 1);
    }
    CHECK_DONE(&d, ig_queue_copy(d.queue, IG_COPY_OUT, &back, d.y + 9, 1));
    static const int order[] = { 3, 9, 0, 9, 5, 3 };
    ig_ticket done = 0;
    for (size_t i = 0; i < IG_COUNT_OF(order); i++) {
        CHECK_DONE(&d, ig_queue_wait(d.queue, tickets[order[i]]));
        CHECK_DONE(&d, d.queue->verbs->wait(d.queue, tickets[order[i]]));
        CHECK(d.queue->done >= tickets[order[i]] && d.queue->done >= done);
        done = d.queue->done;
    }
    CHECK_DONE(&d, ig_queue_wait(d.queue, 0));
    CHECK_DONE(&d, ig_queue_finish(d.queue));
    CHECK_DONE(&d, ig_queue_finish(d.queue));
    CHECK_INT(back, 'j');
    close_case(&d, _i);
}
END_TEST

/* Two queues of one device: each has its own tickets. */
TEST(queues_do_not_mix) {
    device_case d;
    if (!open_case(&d, _i)) {
        return;
    }
    ig_queue_options options = options_of(&d);
    ig_queue *other = NULL;
    CHECK_DONE(&d, d.device->verbs->open_queue(d.device, &options, &other));
    CHECK(other->last == 0 && other->done == 0 && d.queue->last > 0);
    char byte = 'b', back = 0;
    put(&d, d.y, &byte, 1);
    CHECK_DONE(&d, ig_queue_read(other, &back, d.y, 1));
    CHECK(back == 'b' && other->last == 1);
    d.device->verbs->close_queue(other);
    close_case(&d, _i);
}
END_TEST

/* ---- reports ---- */

TEST(the_first_report_counts) {
    device_case d;
    if (!open_case(&d, _i)) {
        return;
    }
    put_ids(&d, 0, 5);
    CHECK_DONE(&d, gather(&d, 41));
    if (!d.queue->has_report) { /* on the CPU it ends the run */
        CHECK_DONE(&d, gather(&d, 42));
    }
    CHECK_DONE(&d, ig_queue_finish(d.queue));
    CHECK_INT(d.queue->has_report, d.computes);
    if (d.computes) {
        const ig_queue_report *report = &d.queue->report;
        CHECK_INT(report->step, 41);
        CHECK_INT(report->kernel.operand, 2);
        CHECK_INT(report->kernel.position, 5);
        CHECK_INT(report->kernel.value, TABLE + 90);
    }
    d.queue->has_report = false;
    put_ids(&d, 0, -1);
    CHECK_DONE(&d, gather(&d, 43));
    check_y(&d, 0);
    CHECK(!d.queue->has_report);
    close_case(&d, _i);
}
END_TEST

/* ---- workers ---- */

/* Some of them claimed, all of them, or none: the same values. */
TEST(workers_share_a_phase) {
    device_case d;
    if (!open_case(&d, _i)) {
        return;
    }
    ig_queue *one = d.queue;
    ig_queue_options options = options_of(&d);
    options.threads = 3;
    CHECK_DONE(&d, d.device->verbs->open_queue(d.device, &options, &d.queue));
    int workers = d.queue->worker_count;
    CHECK(workers == 1 || workers == 3);
    CHECK((d.device->verbs->claim == NULL) == (d.device->verbs->unclaim == NULL));
    for (int i = 0; i < 4; i++) {
        ig_queue_claim(d.queue, workers > 1 && i % 2 == 0 ? 1e9 : 0);
        CHECK(d.queue->active_count == (i % 2 == 0 ? workers : 1));
        put_ids(&d, i, -1);
        CHECK_DONE(&d, gather(&d, 1));
        check_y(&d, i);
        ig_queue_release(d.queue);
        CHECK_INT(d.queue->active_count, 1);
    }
    d.device->verbs->close_queue(d.queue);
    d.queue = one;
    close_case(&d, _i);
}
END_TEST

/* ---- code ---- */

TEST(code_is_copied_and_found) {
    device_case d;
    if (!open_case(&d, _i)) {
        return;
    }
    const ig_device_verbs *verbs = d.device->verbs;
    ig_message message = message_of(&d);
    ig_device_kernel kernel;
    CHECK((const void *)d.image.bytes != d.code.bytes);
    CHECK(memcmp(d.image.bytes, d.code.bytes, d.code.size) == 0);
    CHECK(verbs->find(d.device, &d.image, (ig_kernel_id){ "nothing", UINT64_MAX },
                      &kernel, &message) != IG_OK);
    CHECK_MSG(strstr(d.words, "nothing") != NULL, "'%s'", d.words);
    ig_device_code more;
    CHECK_DONE(&d, verbs->load(d.device, &d.code, &more, &message));
    verbs->unload(d.device, &d.image);
    CHECK(d.image.bytes == NULL && d.image.handle == NULL);
    verbs->unload(d.device, &d.image);
    d.image = more; /* which still runs */
    put_ids(&d, 4, -1);
    CHECK_DONE(&d, gather(&d, 1));
    check_y(&d, 4);
    close_case(&d, _i);
}
END_TEST

/* ---- sessions on a device that is late ---- */

/* last = { trip, 7 }, for each trip of a loop; and y = trips. */
static rt_case *loop_case(void) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1));
    uint32_t trip = rt_late_symbol(c, "trip");
    uint32_t trips = rt_input(c, "trips", IG_I64, 1, &one);
    uint32_t two = RT_EXPR(c, RT_INT(2));
    uint32_t last = rt_output(c, "last", IG_I64, 1, &two);
    uint32_t go = rt_constant(c, "true", "\1", 1);
    uint32_t cond = rt_buffer(c, IG_SPACE_ARENA, one, 0, 9);
    rt_output_of(c, "y", IG_I64, 1, &one, trips);
    ig_plan_step step = rt_step(c, IG_STEP_copy, "cond = true");
    step.operands = RT_OPERANDS(c, RT_AT(cond), RT_AT(go));
    step.value = one;
    rt_push(c, step);
    step = rt_step(c, IG_STEP_loop, "loop");
    step.operands = RT_OPERANDS(c, RT_AT(trips), RT_AT(cond));
    step.symbol = trip;
    step.body_count = 2;
    rt_push(c, step);
    rt_launch(c, "count", RT_OPERANDS(c, RT_AT(last), RT_AT(cond)),
              RT_LIST(c, RT_EXPR(c, RT_INT(5))), IG_NONE, IG_NONE);
    step = rt_step(c, IG_STEP_store, "last = trip");
    step.operands = RT_OPERANDS(c, RT_AT(last));
    step.values = RT_LIST(c, RT_EXPR(c, RT_SYM(trip)), RT_EXPR(c, RT_INT(7)));
    rt_push(c, step);
    c->w.buffers.items[cond].last = (uint32_t)c->w.steps.count - 1;
    return c;
}

/* Null does a copy when it is waited for: where a session forgets to wait, it reads
 * what was there before. */
TEST(a_session_waits_before_the_host_reads) {
    rt_case *c = loop_case();
    ig_program *program = rt_open(c, NULL);
    ig_session *session = NULL;
    program->device = &ig_device_null; /* code stays the CPU's and is never called */
    CHECK_OK(ig_session_create(program, NULL, &session));
    for (int64_t trips = 1; trips < 6; trips++) {
        int64_t last[] = { -1, -1 }, y = -1;
        ig_view in = rt_view(&trips, IG_I64, 1);
        ig_view out[] = { rt_room(last, sizeof last), rt_room(&y, sizeof y) };
        ig_ticket before = session->queue->last;
        CHECK_OK(ig_session_run(session, &in, 1, out, 2));
        CHECK(last[0] == trips - 1 && last[1] == 7 && y == trips);
        CHECK(session->queue->done == session->queue->last);
        /* copy, trips; per trip: cond, launch, two values; then y */
        CHECK_INT(session->queue->last - before, 2 + 4 * trips + 1);
        const ig_null_work *launch = ig_null_recall(session->queue, before + 4);
        CHECK(launch && launch->launch_count == 1 && launch->step == 2);
        const ig_null_work *y_copy = ig_null_recall(session->queue,
                                                    session->queue->last);
        CHECK(y_copy && y_copy->copy.kind == IG_COPY_OUT && y_copy->copy.to == &y);
    }
    CHECK_PTR(ig_null_recall(session->queue, session->queue->last + 1), NULL);
    CHECK_PTR(ig_null_recall(session->queue, 0), NULL);
    ig_session_destroy(session);
    program->device = &ig_device_cpu;
    ig_program_close(program);
    rt_end(c);
}
END_TEST

static void add_for_each_device(TCase *tcase) {
    const TTest *const tests[] = { every_listed_level_has_a_rank,
                                   memory_of_any_size,
                                   too_much_memory,
                                   a_queue_without_memory,
                                   copies_both_ways,
                                   copies_may_overlap,
                                   work_is_done_in_the_order_of_submission,
                                   tickets_in_any_order_and_twice,
                                   queues_do_not_mix,
                                   the_first_report_counts,
                                   workers_share_a_phase,
                                   code_is_copied_and_found };
    tcase_add_unchecked_fixture(tcase, build_images, drop_images);
    for (size_t i = 0; i < IG_COUNT_OF(tests); i++) {
        tcase_add_loop_test(tcase, tests[i], 0, (int)IG_COUNT_OF(rows));
    }
}

UNIT_SUITE_WITH(devices, add_for_each_device, a_session_waits_before_the_host_reads)
