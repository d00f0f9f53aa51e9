/* Views from DLPack tensors and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The structs are DLPack's (dmlc/dlpack, versions 0.x and the unversioned form of 1.x),
 * declared here from its documentation.
 */
#include "base/checked.h"
#include "ingot/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 }; /* memory of the host */

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

_Static_assert(sizeof(dl_tensor) == 48, "DLPack's ABI");

static const struct {
    uint8_t dtype, code, bits;
} types[] = {
    { IG_I8, 0, 8 },      { IG_I16, 0, 16 },        { IG_I32, 0, 32 },
    { IG_I64, 0, 64 },    { IG_U8, 1, 8 },          { IG_U16, 1, 16 },
    { IG_U32, 1, 32 },    { IG_U64, 1, 64 },        { IG_F16, 2, 16 },
    { IG_F32, 2, 32 },    { IG_F64, 2, 64 },        { IG_BF16, 4, 16 },
    { IG_BOOL8, 6, 8 },   { IG_F8E4M3FN, 10, 8 },   { IG_F8E4M3FNUZ, 11, 8 },
    { IG_F8E5M2, 12, 8 }, { IG_F8E5M2FNUZ, 13, 8 },
};

/* ---- in ---- */

static bool is_row_major(const dl_tensor *t) {
    int64_t expected = 1;
    for (int32_t i = t->ndim; t->strides && i-- > 0;) {
        if (t->shape[i] == 0) {
            return true;
        }
        if (t->shape[i] != 1 && t->strides[i] != expected) {
            return false;
        }
        if (!ig_mul_i64(expected, t->shape[i], &expected)) {
            return false;
        }
    }
    return true;
}

static bool is_host(int32_t device) {
    return device == DL_CPU || device == DL_CUDA_HOST || device == DL_ROCM_HOST;
}

ig_status ig_view_from_dlpack(const void *managed_tensor, ig_view *out_view) {
    const dl_tensor *t = &((const dl_managed_tensor *)managed_tensor)->tensor;
    memset(out_view, 0, sizeof *out_view);
    if (!is_host(t->device_type) || t->dtype.lanes != 1 || t->ndim < 0 ||
        t->ndim > IG_MAX_RANK || !is_row_major(t)) {
        return IG_UNSUPPORTED;
    }
    for (size_t i = 0; i < IG_COUNT_OF(types); i++) {
        if (types[i].code == t->dtype.code && types[i].bits == t->dtype.bits) {
            out_view->dtype = types[i].dtype;
        }
    }
    if (out_view->dtype == 0) {
        return IG_UNSUPPORTED;
    }
    out_view->data = t->data ? (char *)t->data + t->byte_offset : NULL;
    out_view->rank = (uint32_t)t->ndim;
    for (int32_t i = 0; i < t->ndim; i++) {
        out_view->dims[i] = t->shape[i];
    }
    return IG_OK;
}

/* ---- out ---- */

typedef struct exported {
    dl_managed_tensor managed; /* first: the deleter gets its address */
    int64_t shape[IG_MAX_RANK], strides[IG_MAX_RANK];
    void (*release)(void *owner);
    void *owner;
} exported;

static void delete_exported(dl_managed_tensor *self) {
    exported *e = (exported *)(void *)self;
    if (e->release) {
        e->release(e->owner);
    }
    free(e);
}

static void describe_tensor(exported *e, const ig_view *view) {
    dl_tensor *t = &e->managed.tensor;
    int64_t stride = 1;
    t->data = view->data;
    t->device_type = DL_CPU;
    t->ndim = (int32_t)view->rank;
    t->dtype.lanes = 1;
    t->shape = e->shape;
    t->strides = e->strides;
    for (uint32_t i = view->rank; i-- > 0;) {
        e->shape[i] = view->dims[i];
        e->strides[i] = stride;
        stride *= view->dims[i] > 0 ? view->dims[i] : 1;
    }
    e->managed.manager_ctx = e;
    e->managed.deleter = delete_exported;
}

ig_status ig_view_to_dlpack(const ig_view *view, void (*release)(void *owner),
                            void *owner, void **out_managed_tensor) {
    *out_managed_tensor = NULL;
    for (size_t i = 0; i < IG_COUNT_OF(types); i++) {
        if (types[i].dtype != view->dtype || view->rank > IG_MAX_RANK) {
            continue;
        }
        exported *e = calloc(1, sizeof *e);
        if (!e) {
            return IG_LIMIT;
        }
        describe_tensor(e, view);
        e->managed.tensor.dtype.code = types[i].code;
        e->managed.tensor.dtype.bits = types[i].bits;
        e->release = release;
        e->owner = owner;
        *out_managed_tensor = &e->managed;
        return IG_OK;
    }
    return IG_UNSUPPORTED;
}
