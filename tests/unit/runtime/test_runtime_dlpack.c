/* DLPack's tensors, with and without a version, made here as a framework makes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/dlpack.h"

#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#include <stddef.h>
#include <string.h>

/* ---- without a version ---- */

/* As a framework would declare it. */
typedef struct foreign_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
    void *manager;
    void (*deleter)(struct foreign_tensor *self);
} foreign_tensor;

TEST(dlpack_tensors_become_views) {
    float data[12];
    int64_t shape[] = { 2, 1, 3 }, strides[] = { 3, 77, 1 };
    foreign_tensor t = { .data = data,
                         .device_type = 1,
                         .ndim = 3,
                         .code = 2,
                         .bits = 32,
                         .lanes = 1,
                         .shape = shape,
                         .strides = strides,
                         .byte_offset = 8 };
    ig_view view;
    CHECK_OK(ig_view_from_dlpack(&t, &view));
    CHECK_PTR(view.data, data + 2);
    CHECK_INT(view.dtype, IG_F32);
    CHECK_INT(view.rank, 3);
    CHECK_INT(view.dims[2], 3);
    t.strides = NULL;
    CHECK_OK(ig_view_from_dlpack(&t, &view));
    t.strides = strides;
    strides[0] = 4;
    CHECK_STATUS(ig_view_from_dlpack(&t, &view), IG_UNSUPPORTED);
    shape[1] = 0; /* of an empty tensor strides do not matter */
    CHECK_OK(ig_view_from_dlpack(&t, &view));
    t.device_type = 7;
    CHECK_STATUS(ig_view_from_dlpack(&t, &view), IG_UNSUPPORTED);
    t.device_type = 1;
    t.code = 5; /* complex */
    CHECK_STATUS(ig_view_from_dlpack(&t, &view), IG_UNSUPPORTED);
    t.code = 2;
    t.ndim = 9;
    CHECK_STATUS(ig_view_from_dlpack(&t, &view), IG_UNSUPPORTED);
}
END_TEST

static void count_release(void *owner) {
    ++*(int *)owner;
}

TEST(views_become_dlpack_tensors) {
    int64_t data[6];
    int released = 0;
    ig_view view = rt_view2(data, IG_I64, 2, 3), back;
    void *managed = NULL;
    CHECK_OK(ig_view_to_dlpack(&view, count_release, &released, &managed));
    foreign_tensor *t = managed;
    CHECK_INT(t->code, 0);
    CHECK_INT(t->bits, 64);
    CHECK_INT(t->strides[0], 3);
    CHECK_OK(ig_view_from_dlpack(managed, &back));
    CHECK_PTR(back.data, data);
    CHECK_INT(back.dims[1], 3);
    CHECK_INT(released, 0);
    t->deleter(t);
    CHECK_INT(released, 1);
    view.dtype = IG_I4;
    CHECK_STATUS(ig_view_to_dlpack(&view, NULL, NULL, &managed), IG_UNSUPPORTED);
}
END_TEST

/* ---- with a version ---- */

/* The layout of DLManagedTensorVersioned, as another library declares it. */
typedef struct peer_tensor {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct peer_tensor *self);
    uint64_t flags;
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} peer_tensor;

_Static_assert(offsetof(peer_tensor, flags) == 24 &&
                   offsetof(peer_tensor, data) == 32 &&
                   offsetof(peer_tensor, shape) == 56 && sizeof(peer_tensor) == 80,
               "the public header's layout");

enum { READ_ONLY = 1, COPIED = 2, PADDED = 4 };

typedef struct peer {
    peer_tensor tensor;
    int64_t shape[9], strides[9];
    _Alignas(64) char data[512];
} peer;

/* f32[2, 3] at the CPU, version 1.1. */
static void peer_init(peer *p) {
    *p = (peer){ .shape = { 2, 3 }, .strides = { 3, 1 } };
    p->tensor = (peer_tensor){ .major = 1,
                               .minor = 1,
                               .data = p->data,
                               .device_type = 1,
                               .ndim = 2,
                               .code = 2,
                               .bits = 32,
                               .lanes = 1,
                               .shape = p->shape,
                               .strides = p->strides };
}

static ig_status take(const peer *p, ig_view *out, ig_dlpack_facts *facts) {
    facts->size = sizeof *facts;
    return ig_view_from_dlpack_versioned(&p->tensor, out, facts);
}

TEST(versioned_tensors_become_views) {
    peer p;
    ig_view view;
    ig_dlpack_facts facts;
    peer_init(&p);
    CHECK_OK(take(&p, &view, &facts));
    CHECK_PTR(view.data, p.data);
    CHECK_INT(view.dtype, IG_F32);
    CHECK_INT(view.dims[0], 2);
    CHECK_INT(view.dims[1], 3);
    CHECK_INT(view.capacity, 24); /* may be an output */
    CHECK_INT(facts.major, 1);
    CHECK_INT(facts.minor, 1);
    CHECK_INT(facts.device_type, 1);
    CHECK_INT(facts.is_read_only, 0);
    CHECK_INT(facts.is_copied, 0);
    p.tensor.flags = READ_ONLY | COPIED;
    CHECK_OK(take(&p, &view, &facts));
    CHECK_INT(view.capacity, 0); /* may not */
    CHECK_INT(facts.is_read_only, 1);
    CHECK_INT(facts.is_copied, 1);
    CHECK_OK(ig_view_from_dlpack_versioned(&p.tensor, &view, NULL));
    p.tensor.byte_offset = 8;
    CHECK_OK(take(&p, &view, &facts));
    CHECK_PTR(view.data, p.data + 8);
    p.tensor.minor = 77; /* a minor version only adds */
    CHECK_OK(take(&p, &view, &facts));
    CHECK_INT(facts.minor, 77);
}
END_TEST

/* Behind another major version nothing is known: nothing is read. */
TEST(another_major_version_is_refused_unread) {
    uint32_t head[2] = { 2, 0 };
    ig_view view = { .rank = 5 };
    ig_dlpack_facts facts = { .size = sizeof facts, .device_type = 9 };
    CHECK_STATUS(ig_view_from_dlpack_versioned(head, &view, &facts), IG_UNSUPPORTED);
    CHECK_INT(facts.major, 2);
    CHECK_INT(facts.device_type, 0);
    CHECK_INT(view.rank, 0);
    head[0] = 0;
    CHECK_STATUS(ig_view_from_dlpack_versioned(head, &view, NULL), IG_UNSUPPORTED);
}
END_TEST

static const struct {
    ig_dtype_code dtype;
    uint8_t code, bits;
} rows[] = {
    { IG_BOOL8, 6, 8 },   { IG_I8, 0, 8 },          { IG_I16, 0, 16 },
    { IG_I32, 0, 32 },    { IG_I64, 0, 64 },        { IG_U8, 1, 8 },
    { IG_U16, 1, 16 },    { IG_U32, 1, 32 },        { IG_U64, 1, 64 },
    { IG_F16, 2, 16 },    { IG_F32, 2, 32 },        { IG_F64, 2, 64 },
    { IG_BF16, 4, 16 },   { IG_F8E4M3FN, 10, 8 },   { IG_F8E4M3FNUZ, 11, 8 },
    { IG_F8E5M2, 12, 8 }, { IG_F8E5M2FNUZ, 13, 8 }, { IG_I4, 0, 4 },
    { IG_U4, 1, 4 },      { IG_I2, 0, 2 },          { IG_U2, 1, 2 },
    { IG_F8E8M0, 14, 8 }, { IG_F4E2M1, 17, 4 },
};

TEST(every_type_goes_both_ways) {
    peer p;
    ig_dlpack_facts facts;
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        ig_view view;
        void *managed = NULL;
        peer_init(&p);
        p.tensor.code = rows[i].code;
        p.tensor.bits = rows[i].bits;
        CHECK_OK(take(&p, &view, &facts));
        CHECK_INT(view.dtype, (int)rows[i].dtype);
        CHECK_INT(view.capacity, (6 * rows[i].bits + 7) / 8);
        CHECK_OK(ig_view_to_dlpack_versioned(&view, NULL, &managed));
        peer_tensor *back = managed;
        CHECK_INT(back->code, rows[i].code);
        CHECK_INT(back->bits, rows[i].bits);
        CHECK_INT(back->lanes, 1);
        back->deleter(back);
        p.tensor.flags = PADDED; /* a byte for each element of fewer bits */
        CHECK_INT(take(&p, &view, &facts), rows[i].bits < 8 ? IG_UNSUPPORTED : IG_OK);
        bool is_old = rows[i].bits >= 8;
        view = rt_view(p.data, (int32_t)rows[i].dtype, 6);
        CHECK_INT(ig_view_to_dlpack(&view, NULL, NULL, &managed),
                  is_old ? IG_OK : IG_UNSUPPORTED);
        if (managed) {
            ((foreign_tensor *)managed)->deleter(managed);
        }
    }
    static const uint8_t others[][2] = { { 5, 64 }, { 3, 64 }, { 7, 8 },   { 15, 6 },
                                         { 16, 6 }, { 2, 8 },  { 0, 128 }, { 200, 8 } };
    for (size_t i = 0; i < IG_COUNT_OF(others); i++) {
        ig_view view;
        peer_init(&p);
        p.tensor.code = others[i][0];
        p.tensor.bits = others[i][1];
        CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    }
}
END_TEST

TEST(strides_shapes_and_memory_are_checked) {
    peer p;
    ig_view view;
    ig_dlpack_facts facts;
    peer_init(&p);
    p.tensor.strides = NULL; /* row-major */
    CHECK_OK(take(&p, &view, &facts));
    peer_init(&p);
    p.strides[0] = 4; /* with a gap */
    CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    p.strides[0] = 1, p.strides[1] = 2; /* transposed */
    CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    p.strides[0] = 0, p.strides[1] = 0; /* broadcast */
    CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    p.shape[0] = 1, p.strides[0] = -7, p.strides[1] = 1; /* of one, any will do */
    CHECK_OK(take(&p, &view, &facts));
    peer_init(&p);
    p.shape[1] = -1;
    CHECK_STATUS(take(&p, &view, &facts), IG_INVALID);
    p.shape[0] = p.shape[1] = INT64_MAX / 2;
    CHECK_STATUS(take(&p, &view, &facts), IG_INVALID);
    peer_init(&p);
    p.tensor.lanes = 4;
    CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    peer_init(&p);
    p.tensor.ndim = -1;
    CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    p.tensor.ndim = 9;
    CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    peer_init(&p);
    p.tensor.data = NULL;
    CHECK_STATUS(take(&p, &view, &facts), IG_INVALID);
    peer_init(&p);
    p.tensor.byte_offset = 2; /* half an element */
    CHECK_STATUS(take(&p, &view, &facts), IG_UNSUPPORTED);
    p.tensor.bits = 16;
    CHECK_OK(take(&p, &view, &facts));
    peer_init(&p);
    p.tensor.ndim = 0; /* one number, without a shape */
    p.tensor.shape = p.tensor.strides = NULL;
    CHECK_OK(take(&p, &view, &facts));
    CHECK_INT(view.rank, 0);
    CHECK_INT(view.capacity, 4);
}
END_TEST

TEST(devices_are_taken) {
    peer p;
    ig_view view;
    ig_dlpack_facts facts;
    for (int32_t device = 0; device < 20; device++) {
        bool is_host = device == 1 || device == 3 || device == 11, is_gpu = device == 2;
        peer_init(&p);
        p.tensor.device_type = device;
        p.tensor.device_id = 6;
        CHECK_INT(take(&p, &view, &facts), is_host || is_gpu ? IG_OK : IG_UNSUPPORTED);
        CHECK(is_host || is_gpu ? view.memory == (is_gpu ? IG_MEMORY_CUDA : 0) : true);
        CHECK_INT(view.device, 6);
        CHECK_INT(facts.device_type, device); /* told of what is refused, too */
        CHECK_INT(facts.device_id, 6);
    }
}
END_TEST

TEST(empty_tensors_need_no_memory) {
    peer p;
    ig_view view;
    ig_dlpack_facts facts;
    peer_init(&p);
    p.shape[0] = 0;
    p.shape[1] = INT64_MAX; /* 0 of anything */
    p.strides[0] = 99;
    p.tensor.data = NULL;
    CHECK_OK(take(&p, &view, &facts));
    CHECK_PTR(view.data, NULL);
    CHECK_INT(view.capacity, 0);
    CHECK_INT(view.dims[1], INT64_MAX);
    ig_view empty = rt_view2(p.data, IG_F32, 0, 5);
    void *managed = NULL;
    CHECK_OK(ig_view_to_dlpack_versioned(&empty, NULL, &managed));
    peer_tensor *t = managed;
    CHECK_PTR(t->data, NULL);
    CHECK_INT(t->shape[0], 0);
    CHECK_INT(t->strides[0], 5);
    CHECK_INT(t->strides[1], 1);
    t->deleter(t);
}
END_TEST

TEST(views_become_versioned_tensors) {
    float data[6] = { 1, 2, 3, 4, 5, 6 };
    int released = 0;
    ig_view view = rt_view2(data, IG_F32, 2, 3), back;
    ig_dlpack_options options = { .size = sizeof options,
                                  .release = count_release,
                                  .owner = &released,
                                  .is_read_only = 1 };
    void *managed = NULL;
    CHECK_OK(ig_view_to_dlpack_versioned(&view, &options, &managed));
    peer_tensor *t = managed;
    CHECK_INT(t->major, 1);
    CHECK_INT(t->minor, 1);
    CHECK_INT(t->flags, READ_ONLY);
    CHECK_INT(t->device_type, 1);
    CHECK_INT(t->ndim, 2);
    CHECK_INT(t->shape[1], 3);
    CHECK_INT(t->strides[0], 3);
    CHECK_INT(t->byte_offset, 0);
    CHECK_PTR(t->data, data);
    CHECK_OK(ig_view_from_dlpack_versioned(t, &back, NULL));
    CHECK_PTR(back.data, data);
    t->deleter(t);
    CHECK_INT(released, 1);
    options.is_read_only = 0;
    options.is_copied = 1;
    options.device_type = 3;
    options.device_id = 2;
    CHECK_OK(ig_view_to_dlpack_versioned(&view, &options, &managed));
    t = managed;
    CHECK_INT(t->flags, COPIED);
    CHECK_INT(t->device_type, 3);
    CHECK_INT(t->device_id, 2);
    t->deleter(t);
    CHECK_INT(released, 2);
    options.device_type = 2; /* memory of a GPU is not what this view has */
    CHECK_STATUS(ig_view_to_dlpack_versioned(&view, &options, &managed),
                 IG_UNSUPPORTED);
    CHECK_PTR(managed, NULL);
    view.memory = IG_MEMORY_CUDA;
    view.device = 3;
    options.device_type = 0;
    CHECK_OK(ig_view_to_dlpack_versioned(&view, &options, &managed));
    t = managed;
    CHECK_INT(t->device_type, 2);
    CHECK_INT(t->device_id, 3);
    t->deleter(t);
    options.device_type = 3;
    CHECK_STATUS(ig_view_to_dlpack_versioned(&view, &options, &managed),
                 IG_UNSUPPORTED);
    view.dtype = IG_STR8;
    CHECK_STATUS(ig_view_to_dlpack_versioned(&view, NULL, &managed), IG_UNSUPPORTED);
}
END_TEST

UNIT_SUITE(runtime_dlpack, dlpack_tensors_become_views, views_become_dlpack_tensors,
           versioned_tensors_become_views, another_major_version_is_refused_unread,
           every_type_goes_both_ways, strides_shapes_and_memory_are_checked,
           devices_are_taken, empty_tensors_need_no_memory,
           views_become_versioned_tensors)
