/* Views from DLPack tensors and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The structs are DLPack's (dmlc/dlpack, versions 0.x and 1.x), declared here from its
 * documentation.
 */
#include "base/checked.h"
#include "base/sized.h"
#include "ingot/dlpack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 };
enum { DL_READ_ONLY = 1, DL_COPIED = 2, DL_PADDED = 4 }; /* flags */
enum { DL_MAJOR = 1, DL_MINOR = 1 };

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides in elements; NULL: row-major */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed_tensor dl_managed_tensor;
struct dl_managed_tensor {
    dl_tensor tensor;
    void *manager_ctx;
    void (*deleter)(dl_managed_tensor *self);
};

typedef struct dl_versioned_tensor dl_versioned_tensor;
struct dl_versioned_tensor {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(dl_versioned_tensor *self);
    uint64_t flags;
    dl_tensor tensor;
};

_Static_assert(sizeof(dl_tensor) == 48, "DLPack's ABI");
_Static_assert(sizeof(dl_versioned_tensor) == 80, "DLPack's ABI");
_Static_assert(offsetof(dl_versioned_tensor, tensor) == 32, "DLPack's ABI");

static const struct {
    uint8_t dtype, code, bits;
} types[] = {
    { IG_I8, 0, 8 },      { IG_I16, 0, 16 },        { IG_I32, 0, 32 },
    { IG_I64, 0, 64 },    { IG_U8, 1, 8 },          { IG_U16, 1, 16 },
    { IG_U32, 1, 32 },    { IG_U64, 1, 64 },        { IG_F16, 2, 16 },
    { IG_F32, 2, 32 },    { IG_F64, 2, 64 },        { IG_BF16, 4, 16 },
    { IG_BOOL8, 6, 8 },   { IG_F8E4M3FN, 10, 8 },   { IG_F8E4M3FNUZ, 11, 8 },
    { IG_F8E5M2, 12, 8 }, { IG_F8E5M2FNUZ, 13, 8 }, { IG_I4, 0, 4 },
    { IG_U4, 1, 4 },      { IG_I2, 0, 2 },          { IG_U2, 1, 2 },
    { IG_F8E8M0, 14, 8 }, { IG_F4E2M1, 17, 4 },
};

/* ---- in ---- */

static bool is_row_major(const dl_tensor *t) {
    int64_t expected = 1;
    for (int32_t i = t->ndim; t->strides && i-- > 0;) {
        if (t->shape[i] != 1 && t->strides[i] != expected) {
            return false;
        }
        if (!ig_mul_i64(expected, t->shape[i], &expected)) {
            return false;
        }
    }
    return true;
}

/* The ig_memory_kind of a device's memory; -1: a view has none such. */
static int32_t memory_of(int32_t device) {
    bool is_host = device == DL_CPU || device == DL_CUDA_HOST || device == DL_ROCM_HOST;
    return is_host ? IG_MEMORY_HOST : device == DL_CUDA ? IG_MEMORY_CUDA : -1;
}

/* Bits of all elements; false: no size at all. */
static bool count_bits(const dl_tensor *t, int64_t *out_bits) {
    bool is_good = true;
    *out_bits = t->dtype.bits;
    for (int32_t i = 0; i < t->ndim; i++) {
        is_good = is_good && t->shape[i] >= 0;
    }
    for (int32_t i = 0; i < t->ndim; i++) { /* 0 of anything is 0 */
        *out_bits = is_good && t->shape[i] == 0 ? 0 : *out_bits;
    }
    for (int32_t i = 0; i < t->ndim && is_good && *out_bits; i++) {
        is_good = ig_mul_i64(*out_bits, t->shape[i], out_bits);
    }
    return is_good && ig_add_i64(*out_bits, 7, out_bits);
}

static int32_t find_dtype(const dl_tensor *t, uint64_t flags) {
    for (size_t i = 0; i < IG_COUNT_OF(types); i++) {
        bool is_padded = types[i].bits < 8 && (flags & DL_PADDED);
        if (types[i].code == t->dtype.code && types[i].bits == t->dtype.bits) {
            return is_padded ? 0 : types[i].dtype;
        }
    }
    return 0;
}

static ig_status take_tensor(const dl_tensor *t, uint64_t flags, ig_view *out) {
    int64_t bits;
    memset(out, 0, sizeof *out);
    out->dtype = find_dtype(t, flags);
    out->memory = memory_of(t->device_type);
    out->device = t->device_id;
    if (out->memory < 0 || t->dtype.lanes != 1 || t->ndim < 0 ||
        t->ndim > IG_MAX_RANK || out->dtype == 0) {
        return IG_UNSUPPORTED;
    }
    if (!count_bits(t, &bits) || (bits >= 8 && !t->data)) {
        return IG_INVALID;
    }
    char *data = t->data ? (char *)t->data + t->byte_offset : NULL;
    bool is_empty = bits < 8;
    uintptr_t unit = (t->dtype.bits + 7u) / 8u; /* a power of two */
    if (!is_empty && (!is_row_major(t) || ((uintptr_t)data & (unit - 1)) != 0)) {
        return IG_UNSUPPORTED;
    }
    bool may_write = !is_empty && !(flags & DL_READ_ONLY);
    out->data = data;
    out->capacity = may_write ? (size_t)bits / 8 : 0;
    out->rank = (uint32_t)t->ndim;
    for (int32_t i = 0; i < t->ndim; i++) {
        out->dims[i] = t->shape[i];
    }
    return IG_OK;
}

ig_status ig_view_from_dlpack(const void *managed_tensor, ig_view *out_view) {
    const dl_tensor *t = &((const dl_managed_tensor *)managed_tensor)->tensor;
    return take_tensor(t, DL_READ_ONLY | DL_PADDED,
                       out_view); /* it says nothing of these */
}

ig_status ig_view_from_dlpack_versioned(const void *managed_tensor, ig_view *out_view,
                                        ig_dlpack_facts *facts) {
    const dl_versioned_tensor *t = managed_tensor;
    ig_dlpack_facts all = { .major = t->major, .minor = t->minor };
    bool is_known = t->major == DL_MAJOR;
    memset(out_view, 0, sizeof *out_view);
    if (facts && !ig_is_sized(facts)) {
        return IG_INVALID;
    }
    if (is_known) {
        all.device_type = t->tensor.device_type;
        all.device_id = t->tensor.device_id;
        all.is_read_only = (t->flags & DL_READ_ONLY) != 0;
        all.is_copied = (t->flags & DL_COPIED) != 0;
    }
    if (facts) {
        size_t size = facts->size;
        all.size = size;
        memcpy(facts, &all, size < sizeof all ? size : sizeof all);
    }
    return is_known ? take_tensor(&t->tensor, t->flags, out_view) : IG_UNSUPPORTED;
}

/* ---- out ---- */

typedef struct exported {
    union {
        dl_managed_tensor plain;
        dl_versioned_tensor versioned;
    } managed; /* first: the deleter gets its address */
    int64_t shape[IG_MAX_RANK], strides[IG_MAX_RANK];
    void (*release)(void *owner);
    void *owner;
} exported;

static void delete_exported(exported *e) {
    if (e->release) {
        e->release(e->owner);
    }
    free(e);
}

static void delete_plain(dl_managed_tensor *self) {
    delete_exported((exported *)(void *)self);
}

static void delete_versioned(dl_versioned_tensor *self) {
    delete_exported((exported *)(void *)self);
}

static void describe_tensor(exported *e, dl_tensor *t, const ig_view *view) {
    int64_t stride = 1;
    bool is_empty = false;
    assert(view->rank <= IG_MAX_RANK && "make_exported checked the rank");
    t->ndim = (int32_t)view->rank;
    t->dtype.lanes = 1;
    t->shape = e->shape;
    t->strides = e->strides;
    for (uint32_t i = view->rank; i-- > 0;) {
        e->shape[i] = view->dims[i];
        e->strides[i] = stride;
        stride *= view->dims[i] > 0 ? view->dims[i] : 1;
        is_empty |= view->dims[i] == 0;
    }
    t->data = is_empty ? NULL : view->data;
}

/* A tensor without an owner, of a type of at least `bits` bits. */
static ig_status make_exported(const ig_view *view, uint8_t bits, bool is_versioned,
                               exported **out) {
    size_t i = 0;
    while (i < IG_COUNT_OF(types) &&
           (types[i].dtype != view->dtype || types[i].bits < bits)) {
        i++;
    }
    if (i == IG_COUNT_OF(types) || view->rank > IG_MAX_RANK) {
        return IG_UNSUPPORTED;
    }
    exported *e = *out = calloc(1, sizeof *e);
    if (!e) {
        return IG_LIMIT;
    }
    dl_tensor *t = is_versioned ? &e->managed.versioned.tensor
                                : &e->managed.plain.tensor;
    describe_tensor(e, t, view);
    t->dtype.code = types[i].code;
    t->dtype.bits = types[i].bits;
    t->device_type = view->memory == IG_MEMORY_CUDA ? DL_CUDA : DL_CPU;
    t->device_id = view->device;
    return IG_OK;
}

ig_status ig_view_to_dlpack(const ig_view *view, void (*release)(void *owner),
                            void *owner, void **out_managed_tensor) {
    exported *e;
    *out_managed_tensor = NULL;
    IG_TRY(make_exported(view, 8, false, &e));
    e->release = release;
    e->owner = owner;
    e->managed.plain.manager_ctx = e;
    e->managed.plain.deleter = delete_plain;
    *out_managed_tensor = &e->managed.plain;
    return IG_OK;
}

ig_status ig_view_to_dlpack_versioned(const ig_view *view,
                                      const ig_dlpack_options *options,
                                      void **out_managed_tensor) {
    ig_dlpack_options how = { 0 };
    *out_managed_tensor = NULL;
    if (!ig_sized_take(&how, sizeof how, options)) {
        return IG_INVALID;
    }
    bool is_same = !how.device_type || memory_of(how.device_type) == view->memory;
    exported *e;
    IG_TRY(is_same ? IG_OK : IG_UNSUPPORTED);
    IG_TRY(make_exported(view, 0, true, &e));
    e->release = how.release;
    e->owner = how.owner;
    dl_versioned_tensor *managed = &e->managed.versioned;
    managed->major = DL_MAJOR;
    managed->minor = DL_MINOR;
    managed->manager_ctx = e;
    managed->deleter = delete_versioned;
    managed->flags = (how.is_read_only ? DL_READ_ONLY : 0u) |
                     (how.is_copied ? DL_COPIED : 0u);
    if (how.device_type) {
        managed->tensor.device_type = how.device_type;
        managed->tensor.device_id = how.device_id;
    }
    *out_managed_tensor = managed;
    return IG_OK;
}
