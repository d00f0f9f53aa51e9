/* Calls about memory.  SPDX-License-Identifier: Apache-2.0
 *
 * As the driver's documentation says under "API synchronization behavior": an
 * asynchronous copy from memory that is not pinned takes the bytes when it is asked
 * for, and one to such memory returns when it is done; all others are done later.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

static int allocate(uint64_t *out, size_t size, bool is_pinned) {
    int error;
    block *b = make_block(size, is_pinned, &error);
    if (b && !open_block(b)) {
        drop_block(b);
        b = NULL;
        error = OUT_OF_MEMORY;
    }
    counts.allocations += b && !is_pinned;
    counts.pinned_allocations += b && is_pinned;
    *out = b ? b->address : 0;
    return error;
}

/* The block that begins there, of this context, whose end was not asked for yet. */
static block *find_beginning(uint64_t address, bool is_pinned) {
    block *b = find_block(address, 0);
    bool is_good = b && b->address == address && b->is_pinned == is_pinned &&
                   !b->is_given_up && b->base.context == current_context();
    return is_good ? b : NULL;
}

/* Waits for nothing: what is queued and uses the block faults. */
static int release(uint64_t address, bool is_pinned) {
    block *b = find_beginning(address, is_pinned);
    if (!b) {
        return INVALID_VALUE;
    }
    counts.frees++;
    bool is_clean = close_block(b);
    drop_block(b);
    if (!is_clean) {
        current_context()->error = ILLEGAL_ADDRESS;
    }
    return is_clean ? SUCCESS : ILLEGAL_ADDRESS;
}

EXPORT_CALL(cuMemAlloc_v2, (uint64_t * out, size_t size), (out, size),
            IN_CONTEXT | NOT_IN_CAPTURE) {
    return allocate(out, size, false);
}

EXPORT_CALL(cuMemFree_v2, (uint64_t address), (address), IN_CONTEXT | NOT_IN_CAPTURE) {
    return address ? release(address, false) : SUCCESS;
}

EXPORT_CALL(cuMemHostAlloc, (void **out, size_t size, unsigned flags),
            (out, size, flags), IN_CONTEXT | NOT_IN_CAPTURE) {
    uint64_t address;
    int error = flags <= 7 ? allocate(&address, size, true) : INVALID_VALUE;
    *out = error ? NULL : (void *)(uintptr_t)address;
    return error;
}

EXPORT_CALL(cuMemAllocHost_v2, (void **out, size_t size), (out, size),
            IN_CONTEXT | NOT_IN_CAPTURE) {
    return do_cuMemHostAlloc(out, size, 0);
}

EXPORT_CALL(cuMemFreeHost, (void *memory), (memory), IN_CONTEXT | NOT_IN_CAPTURE) {
    return memory ? release((uint64_t)(uintptr_t)memory, true) : SUCCESS;
}

EXPORT_CALL(cuMemHostGetDevicePointer_v2,
            (uint64_t * out, void *memory, unsigned flags), (out, memory, flags),
            IN_CONTEXT) {
    uint64_t address = (uint64_t)(uintptr_t)memory;
    const block *b = flags == 0 ? find_block(address, 1) : NULL;
    *out = b && b->is_pinned ? address : 0;
    return *out ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuMemHostRegister_v2, (void *memory, size_t size, unsigned flags),
            (memory, size, flags), IN_CONTEXT | NOT_IN_CAPTURE) {
    (void)memory, (void)size, (void)flags;
    return NOT_SUPPORTED; /* the device's process cannot map it */
}

EXPORT_CALL(cuMemHostUnregister, (void *memory), (memory),
            IN_CONTEXT | NOT_IN_CAPTURE) {
    (void)memory;
    return NOT_REGISTERED;
}

EXPORT_CALL(cuMemGetInfo_v2, (size_t * out_free, size_t *out_all), (out_free, out_all),
            IN_CONTEXT) {
    *out_all = (size_t)given("INGOT_STAND_IN_MEMORY", (int64_t)4 << 30);
    *out_free = *out_all - held_bytes();
    return SUCCESS;
}

EXPORT_CALL(cuMemGetAddressRange_v2, (uint64_t * out, size_t *size, uint64_t address),
            (out, size, address), IN_CONTEXT) {
    const block *b = find_block(address, 0);
    if (b) {
        *out = b->address;
        *size = b->size;
    }
    return b ? SUCCESS : NOT_FOUND;
}

/* 1: context, 2: kind (1 host, 2 device), 3: device pointer, 4: host pointer,
 * 9: ordinal of the device. */
EXPORT_CALL(cuPointerGetAttribute, (void *out, int attribute, uint64_t address),
            (out, attribute, address), STARTED) {
    const block *b = find_block(address, 0);
    if (!b) {
        return INVALID_VALUE;
    }
    switch (attribute) {
    case 1:
        *(void **)out = b->base.context;
        return SUCCESS;
    case 2:
        *(unsigned *)out = b->is_pinned ? 1 : 2;
        return SUCCESS;
    case 3:
        *(uint64_t *)out = address;
        return SUCCESS;
    case 4:
        *(uint64_t *)out = address;
        return b->is_pinned ? SUCCESS : INVALID_VALUE;
    case 9:
        *(int *)out = b->base.context->device - 40;
        return SUCCESS;
    default:
        return INVALID_VALUE;
    }
}

/* ---- pools ---- */

static int allocate_later(uint64_t *out, size_t size, void *handle) {
    int error;
    stream *s = find_stream(handle);
    block *b = s ? make_block(size, false, &error) : NULL;
    *out = 0;
    if (!b) {
        return s ? error : INVALID_HANDLE;
    }
    work w = { .kind = WORK_OPEN, .block = b };
    error = enqueue(s, &w);
    if (error) {
        drop_block(b);
        return error;
    }
    counts.allocations++;
    *out = b->address;
    return SUCCESS;
}

EXPORT_CALL(cuMemAllocAsync, (uint64_t * out, size_t size, void *on), (out, size, on),
            IN_CONTEXT) {
    return allocate_later(out, size, on);
}

EXPORT_CALL(cuMemAllocFromPoolAsync,
            (uint64_t * out, size_t size, void *pool, void *on), (out, size, pool, on),
            IN_CONTEXT) {
    return find_object(OBJECT_POOL, pool) ? allocate_later(out, size, on)
                                          : INVALID_VALUE;
}

EXPORT_CALL(cuMemFreeAsync, (uint64_t address, void *on), (address, on), IN_CONTEXT) {
    stream *s = find_stream(on);
    block *b = find_beginning(address, false);
    if (!s || !b) {
        return s ? INVALID_VALUE : INVALID_HANDLE;
    }
    counts.frees++;
    int error = enqueue(s, &(work){ .kind = WORK_CLOSE, .block = b });
    b->is_given_up = !error;
    return error;
}

EXPORT_CALL(cuMemPoolCreate, (void **out, const void *properties), (out, properties),
            STARTED) {
    *out = properties ? make_object(OBJECT_POOL, sizeof(object), NULL) : NULL;
    return *out ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuMemPoolDestroy, (void *pool), (pool), STARTED) {
    object *found = find_object(OBJECT_POOL, pool);
    if (found) {
        drop_object(found);
    }
    return found ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuDeviceGetDefaultMemPool, (void **out, int device), (out, device),
            STARTED) {
    static object *pool;
    (void)device;
    pool = pool ? pool : make_object(OBJECT_POOL, sizeof *pool, NULL);
    *out = pool;
    return SUCCESS;
}

EXPORT_CALL(cuDeviceGetMemPool, (void **out, int device), (out, device), STARTED) {
    return do_cuDeviceGetDefaultMemPool(out, device);
}

EXPORT_CALL(cuMemPoolSetAttribute, (void *pool, int attribute, void *value),
            (pool, attribute, value), STARTED) {
    (void)attribute;
    return find_object(OBJECT_POOL, pool) && value ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuMemPoolTrimTo, (void *pool, size_t bytes), (pool, bytes), STARTED) {
    (void)bytes;
    return find_object(OBJECT_POOL, pool) ? SUCCESS : INVALID_VALUE;
}

/* ---- copies ---- */

typedef enum side { OF_HOST, OF_DEVICE, OF_EITHER } side;

static bool is_good_end(uint64_t address, size_t size, side of) {
    bool is_device = is_device_address(address);
    if (is_device || is_pinned_address(address)) {
        const block *b = find_block(address, size);
        return b && !b->is_given_up && (of != OF_HOST || !is_device);
    }
    return of != OF_DEVICE;
}

static bool is_plain(uint64_t address) {
    return !is_device_address(address) && !is_pinned_address(address);
}

/* Bytes of memory that may change are taken now; in a capture they are read when the
 * graph runs. */
static int stage(work *w, const stream *s) {
    if (!is_plain(w->from) || s->capture) {
        return SUCCESS;
    }
    w->staged = malloc(w->size);
    if (!w->staged) {
        return OUT_OF_MEMORY;
    }
    memcpy(w->staged, (const void *)(uintptr_t)w->from, w->size);
    return SUCCESS;
}

static int copy(work w, side to, side from, void *handle, bool is_done_now) {
    stream *s = find_stream(handle);
    bool overlaps = w.to < w.from + w.size && w.from < w.to + w.size; /* left open */
    if (!s) {
        return INVALID_HANDLE;
    }
    if (!is_good_end(w.to, w.size, to) || !is_good_end(w.from, w.size, from) ||
        overlaps || w.size == 0) {
        return INVALID_VALUE;
    }
    if (!s->capture) {
        count_work(&w, false);
    }
    bool waits = (is_done_now || is_plain(w.to)) && !s->capture;
    int error = stage(&w, s);
    error = error ? error : enqueue(s, &w);
    if (error) {
        free(w.staged);
    }
    counts.waits += waits && is_done_now;
    return error || !waits ? error : finish_stream(s);
}

#define COPY(to_end, from_end, bytes)                                              \
    (work) {                                                                       \
        .kind = WORK_COPY, .to = (uint64_t)(to_end), .from = (uint64_t)(from_end), \
        .size = (bytes)                                                            \
    }

EXPORT_CALL(cuMemcpyHtoDAsync_v2,
            (uint64_t to, const void *from, size_t size, void *on),
            (to, from, size, on), IN_CONTEXT) {
    return copy(COPY(to, (uintptr_t)from, size), OF_DEVICE, OF_HOST, on, false);
}

EXPORT_CALL(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t size, void *on),
            (to, from, size, on), IN_CONTEXT) {
    return copy(COPY((uintptr_t)to, from, size), OF_HOST, OF_DEVICE, on, false);
}

EXPORT_CALL(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t size, void *on),
            (to, from, size, on), IN_CONTEXT) {
    return copy(COPY(to, from, size), OF_DEVICE, OF_DEVICE, on, false);
}

EXPORT_CALL(cuMemcpyAsync, (uint64_t to, uint64_t from, size_t size, void *on),
            (to, from, size, on), IN_CONTEXT) {
    return copy(COPY(to, from, size), OF_EITHER, OF_EITHER, on, false);
}

EXPORT_CALL(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t size),
            (to, from, size), IN_CONTEXT | NOT_IN_CAPTURE) {
    return copy(COPY(to, (uintptr_t)from, size), OF_DEVICE, OF_HOST, NULL, true);
}

EXPORT_CALL(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t size), (to, from, size),
            IN_CONTEXT | NOT_IN_CAPTURE) {
    return copy(COPY((uintptr_t)to, from, size), OF_HOST, OF_DEVICE, NULL, true);
}

/* Not waited for, as the documentation has it. */
EXPORT_CALL(cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t size),
            (to, from, size), IN_CONTEXT | NOT_IN_CAPTURE) {
    return copy(COPY(to, from, size), OF_DEVICE, OF_DEVICE, NULL, false);
}

static int set(uint64_t to, unsigned value, unsigned width, size_t count, void *on) {
    stream *s = find_stream(on);
    bool is_good = count > 0 && to % width == 0 &&
                   is_good_end(to, count * width, OF_DEVICE);
    if (!s || !is_good) {
        return s ? INVALID_VALUE : INVALID_HANDLE;
    }
    work w = {
        .kind = WORK_SET, .to = to, .value = value, .width = width, .size = count
    };
    counts.sets += !s->capture;
    return enqueue(s, &w);
}

EXPORT_CALL(cuMemsetD8Async, (uint64_t to, unsigned char value, size_t count, void *on),
            (to, value, count, on), IN_CONTEXT) {
    return set(to, value, 1, count, on);
}

EXPORT_CALL(cuMemsetD32Async, (uint64_t to, unsigned value, size_t count, void *on),
            (to, value, count, on), IN_CONTEXT) {
    return set(to, value, 4, count, on);
}

EXPORT_CALL(cuMemsetD8_v2, (uint64_t to, unsigned char value, size_t count),
            (to, value, count), IN_CONTEXT | NOT_IN_CAPTURE) {
    return set(to, value, 1, count, NULL);
}
