/* The kernel interpreter's memory: regions, and the check of every access.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Races.  Between two barriers (one epoch) a byte that one thread writes must not be
 * touched by another.  A byte's shadow remembers the last epoch of writing and reading
 * and by whom; two readers are remembered as "more", since any writer then collides.
 */
#include "ir/interpret/kernel_state.h"

#include "base/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/text/text.h"

ig_status ig_kernel_alloc(ig_kernel_run *run, int64_t count, size_t size,
                          void *out_memory) {
    size_t bytes;
    void *memory = NULL;
    if (count >= 0 && ig_mul_size((size_t)count, size, &bytes)) {
        memory = ig_arena_try_alloc(&run->arena, bytes);
    }
    if (!memory) {
        return ig_error(&run->context->diag, IG_LIMIT, NULL,
                        "no memory left to interpret kernel '%s'", run->kernel->name);
    }
    memset(memory, 0, bytes);
    memcpy(out_memory, &memory, sizeof memory);
    return IG_OK;
}

ig_status ig_kernel_region_init(ig_kernel_run *run, ig_kernel_region *region,
                                const char *what, void *data, int64_t bytes) {
    *region = (ig_kernel_region){ .what = what, .data = data, .bytes = bytes };
    if (!run->call->check_races || run->call->threads < 2) {
        return IG_OK;
    }
    return ig_kernel_alloc(run, bytes, sizeof *region->shadow, &region->shadow);
}

ig_status ig_kernel_region_create(ig_kernel_run *run, ig_kernel_region *region,
                                  const char *what, int64_t bytes) {
    char *data = NULL;
    IG_TRY(ig_kernel_alloc(run, bytes, 1, &data));
    memset(data, 0xff, (size_t)bytes);
    return ig_kernel_region_init(run, region, what, data, bytes);
}

/* ---- errors ---- */

ig_status ig_kernel_error(const ig_kernel_thread *thread, const ig_op *op,
                          const char *format, ...) {
    ig_kernel_run *run = thread->run;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ig_error(&run->context->diag, IG_INTERNAL, ig_op_location(op),
                    "kernel '%s', thread %u, op %u (%s): %s", run->kernel->name,
                    thread->index, op->id, ig_ops[op->code].name, text);
}

/* ---- races ---- */

/* The thread that collides, or -1. */
static int64_t note_read(ig_shadow *shadow, uint32_t epoch, uint16_t thread) {
    if (shadow->written_at == epoch && shadow->writer != thread) {
        return shadow->writer;
    }
    bool is_known = shadow->read_at == epoch;
    shadow->has_more_readers = is_known &&
                               (shadow->has_more_readers || shadow->reader != thread);
    shadow->read_at = epoch;
    shadow->reader = thread;
    return -1;
}

static int64_t note_write(ig_shadow *shadow, uint32_t epoch, uint16_t thread) {
    if (shadow->written_at == epoch && shadow->writer != thread) {
        return shadow->writer;
    }
    bool is_read = shadow->read_at == epoch;
    if (is_read && (shadow->reader != thread || shadow->has_more_readers)) {
        return shadow->reader != thread ? shadow->reader : UINT16_MAX;
    }
    shadow->written_at = epoch;
    shadow->writer = thread;
    return -1;
}

static ig_status check_race(const ig_kernel_thread *thread, const ig_op *op,
                            const ig_kernel_region *region, int64_t from, int64_t bytes,
                            ig_access access) {
    uint32_t epoch = thread->run->epoch;
    uint16_t self = (uint16_t)thread->index;
    for (int64_t i = from; region->shadow && i < from + bytes; i++) {
        int64_t other = access == IG_ACCESS_READ
                            ? note_read(&region->shadow[i], epoch, self)
                            : note_write(&region->shadow[i], epoch, self);
        if (other >= 0) {
            return ig_kernel_error(
                thread, op,
                "byte %lld of %s was touched by another thread since the last barrier, and one of them stores",
                (long long)i, region->what);
        }
    }
    return IG_OK;
}

ig_status ig_kernel_touch(ig_kernel_thread *thread, const ig_op *op,
                          const ig_touch *touch, char **out_bytes) {
    const ig_value *buffer = op->operands[touch->operand].value;
    const ig_kernel_pointer *pointer = ig_kernel_value(thread, buffer);
    ig_kernel_region *region = pointer->region;
    int64_t size = ig_dtypes[buffer->type->dtype].bits / 8, from, bytes, end;
    bool is_good = ig_mul_i64(touch->index, size, &from) &&
                   ig_add_i64(from, pointer->offset, &from) &&
                   ig_mul_i64(touch->count, size, &bytes) &&
                   ig_add_i64(from, bytes, &end);
    if (!is_good || from < 0 || end > region->bytes) {
        return ig_kernel_error(
            thread, op,
            "%lld elements from %lld on, at byte %lld, leave %s of %lld bytes",
            (long long)touch->count, (long long)touch->index,
            (long long)pointer->offset, region->what, (long long)region->bytes);
    }
    IG_TRY(check_race(thread, op, region, from, bytes, touch->access));
    *out_bytes = region->data + from;
    return IG_OK;
}
