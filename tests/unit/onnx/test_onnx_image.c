/* ImageDecoder: pixels in the order that the node names, files that are no images.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

enum { ONNX_UINT8 = 2, STRING = 3 };

static onnx_model model;
static onnx_case run;
static ig_module *module; /* the last one that was read */

/* `format` may be NULL: the attribute is absent. */
static void begin(const char *format) {
    onnx_case_init(&run);
    onnx_model_init(&model, 20);
    onnx_input(&model, "x", ONNX_UINT8, 1, "N");
    Onnx__NodeProto *node = onnx_node(&model, "ImageDecoder", "x", "y");
    node->name = ig_arena_strdup(&model.arena, "photo");
    if (format) {
        Onnx__AttributeProto *attr = onnx_attr(&model, node, "pixel_format", STRING);
        attr->has_s = 1;
        attr->s.len = strlen(format);
        attr->s.data = (uint8_t *)ig_arena_strdup(&model.arena, format);
    }
    onnx_output(&model, "y");
}

static void end(void) {
    ig_module_destroy(module);
    module = NULL;
    onnx_model_fini(&model);
    onnx_case_fini(&run);
}

static ig_status interpret(ig_str file, ig_tensor *out) {
    int64_t dim = (int64_t)file.size;
    ig_tensor in;
    IG_TRY(ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module));
    CHECK_OK(ig_verify_module(module));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_u8, 1, &dim, &in));
    memcpy(in.data, file.data, file.size);
    return ig_interpret(ig_module_graph(module, "main"), &in, &run.arena, out);
}

static void expect_pixels(const char *format, int64_t channels, const uint8_t *wanted) {
    ig_tensor out;
    begin(format);
    CHECK_MSG(interpret(IG_STR("P6 2 1 255\n\x0a\xc8\x1e\xff\x00\x07"), &out) == IG_OK,
              "%s", run.why);
    CHECK_INT(out.dtype, IG_DT_u8);
    CHECK_INT(out.rank, 3);
    CHECK_INT(out.dims[0], 1);
    CHECK_INT(out.dims[1], 2);
    CHECK_INT(out.dims[2], channels);
    for (int64_t i = 0; i < out.count; i++) {
        CHECK_INT(ig_tensor_get_i64(&out, i), wanted[i]);
    }
    end();
}

TEST(channels_are_in_the_order_that_the_node_names) {
    static const uint8_t rgb[] = { 10, 200, 30, 255, 0, 7 };
    static const uint8_t bgr[] = { 30, 200, 10, 7, 0, 255 }, gray[] = { 124, 77 };
    expect_pixels(NULL, 3, rgb);
    expect_pixels("RGB", 3, rgb);
    expect_pixels("BGR", 3, bgr);
    expect_pixels("Grayscale", 1, gray);
}
END_TEST

static void expect_refusal(const char *format, ig_str file, ig_status wanted,
                           const char *words) {
    ig_tensor out;
    begin(format);
    CHECK_INT(interpret(file, &out), wanted);
    CHECK_MSG(strstr(run.why, words), "'%s' lacks '%s'", run.why, words);
    CHECK_MSG(strstr(run.why, "photo"), "'%s' does not name the node", run.why);
    end();
}

TEST(damaged_files_are_refused_with_the_name_of_the_node) {
    ig_str bomb = IG_STR("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\0\0\0\x7f\0\0\0\1\0\0\0\0"
                         "\0\0\0\0");
    expect_refusal("RGB", IG_STR(""), IG_INVALID, "there are 0 bytes");
    expect_refusal("RGB", IG_STR("no image"), IG_INVALID, "the 8 bytes are not a BMP");
    expect_refusal("BGR", IG_STR("P6 2 1 255\n12345"), IG_INVALID, "ends too early");
    expect_refusal("RGB", bomb, IG_INVALID, "PNG: the file ends too early");
    expect_refusal("CMYK", IG_STR("P5 1 1 255\n."), IG_INVALID, "pixel_format");
}
END_TEST

TEST(a_run_holds_no_more_than_its_limit) {
    ig_tensor out;
    begin("Grayscale");
    run.context.limits.interpret_bytes = 2;
    CHECK_INT(interpret(IG_STR("P5 1 1 255\n."), &out), IG_LIMIT);
    CHECK_MSG(strstr(run.why, "takes 3 bytes, there are 2"), "%s", run.why);
    end();
}
END_TEST

UNIT_SUITE(onnx_image, channels_are_in_the_order_that_the_node_names,
           damaged_files_are_refused_with_the_name_of_the_node,
           a_run_holds_no_more_than_its_limit)
