/* Tensors in files: every way a payload may be written, and what must not pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

static onnx_case run;
static ig_tensor got;

static ig_status read_proto(const Onnx__TensorProto *proto) {
    size_t size = onnx__tensor_proto__get_packed_size(proto);
    uint8_t *bytes = malloc(size + 1); /* of its own, so that reads past it show */
    onnx__tensor_proto__pack(proto, bytes);
    run.why[0] = 0;
    ig_status status = ig_onnx_tensor_read(&run.context, &run.arena, "t.pb",
                                           (ig_str){ (const char *)bytes, size },
                                           IG_TENSOR, &got);
    free(bytes);
    return status;
}

static Onnx__TensorProto proto_of(int type, size_t rank, int64_t *dims) {
    Onnx__TensorProto proto;
    onnx__tensor_proto__init(&proto);
    proto.has_data_type = 1;
    proto.data_type = type;
    proto.n_dims = rank;
    proto.dims = dims;
    return proto;
}

static void expect_values(ig_dtype dtype, size_t count, const double *values) {
    CHECK_INT(got.dtype, dtype);
    CHECK_INT(got.count, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        double value = ig_tensor_get_f64(&got, (int64_t)i);
        CHECK_MSG(value == values[i], "element %zu is %g, not %g", i, value, values[i]);
    }
}

#define VALUES(...)    \
    (const double[]) { \
        __VA_ARGS__    \
    }

TEST(typed_fields_of_every_width) {
    int64_t three = 3, five = 5;
    onnx_case_init(&run);
    Onnx__TensorProto proto = proto_of(1, 1, &three);
    proto.float_data = (float[]){ 1, -2.5F, 3 };
    proto.n_float_data = 3;
    CHECK_OK(read_proto(&proto));
    expect_values(IG_DT_f32, 3, VALUES(1, -2.5, 3));

    proto = proto_of(11, 1, &three);
    proto.double_data = (double[]){ 1, 1e300, -3 };
    proto.n_double_data = 3;
    CHECK_OK(read_proto(&proto));
    expect_values(IG_DT_f64, 3, VALUES(1, 1e300, -3));

    proto = proto_of(7, 1, &three);
    proto.int64_data = (int64_t[]){ -1, 1LL << 40, 7 };
    proto.n_int64_data = 3;
    CHECK_OK(read_proto(&proto));
    expect_values(IG_DT_i64, 3, VALUES(-1, (double)(1LL << 40), 7));

    proto = proto_of(12, 1, &three);
    proto.uint64_data = (uint64_t[]){ 4000000000U, 0, 1 };
    proto.n_uint64_data = 3;
    CHECK_OK(read_proto(&proto));
    expect_values(IG_DT_u32, 3, VALUES(4000000000.0, 0, 1));

    static const struct {
        int type;
        ig_dtype dtype;
        int32_t bits[3];
        double values[3];
    } narrow[] = {
        { 3, IG_DT_i8, { -128, 5, 127 }, { -128, 5, 127 } },
        { 5, IG_DT_i16, { -300, 5, 300 }, { -300, 5, 300 } },
        { 2, IG_DT_u8, { 255, 0, 1 }, { 255, 0, 1 } },
        { 4, IG_DT_u16, { 65535, 0, 1 }, { 65535, 0, 1 } },
        { 9, IG_DT_bool, { 1, 0, 7 }, { 1, 0, 1 } },
        { 10, IG_DT_f16, { 0x3c00, 0xc000, 0x3800 }, { 1, -2, 0.5 } },
        { 16, IG_DT_bf16, { 0x3f80, 0xc000, 0x3f00 }, { 1, -2, 0.5 } },
        { 19, IG_DT_f8e5m2, { 0x3c, 0xc0, 0x38 }, { 1, -2, 0.5 } },
    };
    for (size_t i = 0; i < IG_COUNT_OF(narrow); i++) {
        int32_t bits[3];
        memcpy(bits, narrow[i].bits, sizeof(bits));
        proto = proto_of(narrow[i].type, 1, &three);
        proto.int32_data = bits;
        proto.n_int32_data = 3;
        CHECK_OK(read_proto(&proto));
        expect_values(narrow[i].dtype, 3, narrow[i].values);
    }

    proto = proto_of(22, 1, &five); /* i4: two an entry, low nibble first */
    proto.int32_data = (int32_t[]){ 0xf1, 0x78, 0xe2 };
    proto.n_int32_data = 3;
    CHECK_OK(read_proto(&proto));
    expect_values(IG_DT_i4, 5, VALUES(1, -1, -8, 7, 2));
    proto = proto_of(25, 1, &five); /* u2: four an entry */
    proto.int32_data = (int32_t[]){ 0xe4, 0x02 };
    proto.n_int32_data = 2;
    CHECK_OK(read_proto(&proto));
    expect_values(IG_DT_u2, 5, VALUES(0, 1, 2, 3, 2));
    onnx_case_fini(&run);
}
END_TEST

TEST(empty_and_scalar_tensors) {
    int64_t dims[2] = { 3, 0 };
    onnx_case_init(&run);
    Onnx__TensorProto proto = proto_of(1, 2, dims);
    CHECK_OK(read_proto(&proto));
    CHECK(got.count == 0 && got.rank == 2);
    proto = proto_of(1, 0, NULL);
    proto.float_data = (float[]){ 4 };
    proto.n_float_data = 1;
    CHECK_OK(read_proto(&proto));
    expect_values(IG_DT_f32, 1, VALUES(4));
    onnx_case_fini(&run);
}
END_TEST

TEST(what_does_not_fit_is_refused) {
    int64_t three = 3, huge[2] = { 1LL << 40, 1LL << 40 }, large = 1LL << 50;
    onnx_case_init(&run);
    Onnx__TensorProto proto = proto_of(1, 1, &three);
    CHECK_STATUS(read_proto(&proto), IG_INVALID); /* no data */
    proto.float_data = (float[]){ 1, 2 };
    proto.n_float_data = 2;
    CHECK_STATUS(read_proto(&proto), IG_INVALID); /* too few */
    proto.int64_data = (int64_t[]){ 1 };
    proto.n_int64_data = 1;
    CHECK_STATUS(read_proto(&proto), IG_INVALID); /* two payloads */
    CHECK(strstr(run.why, "float_data") && strstr(run.why, "int64_data"));
    proto.n_float_data = 0;
    CHECK_STATUS(read_proto(&proto), IG_INVALID); /* the wrong field */
    proto = proto_of(7, 1, &large);
    proto.int64_data = (int64_t[]){ 1 };
    proto.n_int64_data = 1;
    CHECK_STATUS(read_proto(&proto), IG_INVALID); /* nothing of that size is made */
    proto = proto_of(1, 2, huge);
    CHECK_STATUS(read_proto(&proto), IG_INVALID);
    proto = proto_of(8, 1, &three);
    CHECK_STATUS(read_proto(&proto), IG_INVALID); /* strings, but none are there */
    proto = proto_of(99, 1, &three);
    CHECK_STATUS(read_proto(&proto), IG_INVALID);
    onnx_case_fini(&run);
}
END_TEST

static void check_round_trip(const ig_tensor *tensor) {
    ig_writer text;
    ig_writer_init(&text, &run.arena);
    CHECK_OK(ig_onnx_tensor_write(&run.context, tensor, "name", &text));
    CHECK_OK(ig_onnx_tensor_read(&run.context, &run.arena, "t.pb", ig_writer_str(&text),
                                 tensor->kind, &got));
    CHECK_MSG(onnx_case_equal(&run, &got, tensor), "%s", run.why);
}

TEST(what_is_written_reads) {
    int64_t dims[2] = { 2, 300 };
    ig_tensor items[2];
    onnx_case_init(&run);
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, dims, &items[0]));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 0, NULL, &items[1]));
    ig_tensor_set_f64(&items[0], 599, 2.5);
    ig_tensor_set_f64(&items[1], 0, -1);
    check_round_trip(&items[0]);
    check_round_trip(&items[1]);
    ig_tensor sequence = { .kind = IG_SEQUENCE, .items = items, .count = 2 };
    check_round_trip(&sequence);
    ig_tensor some = { .kind = IG_OPTIONAL, .items = items, .count = 1 };
    check_round_trip(&some);
    ig_tensor none = { .kind = IG_OPTIONAL };
    check_round_trip(&none);
    ig_tensor list = { .kind = IG_OPTIONAL, .items = &sequence, .count = 1 };
    check_round_trip(&list);
    ig_tensor lists = { .kind = IG_SEQUENCE, .items = &sequence, .count = 1 };
    ig_writer text;
    ig_writer_init(&text, &run.arena);
    CHECK_STATUS(ig_onnx_tensor_write(&run.context, &lists, "name", &text),
                 IG_UNSUPPORTED);
    onnx_case_fini(&run);
}
END_TEST

UNIT_SUITE(onnx_tensor, typed_fields_of_every_width, empty_and_scalar_tensors,
           what_does_not_fit_is_refused, what_is_written_reads)
