/* Operators on strings, by values worked out by hand; hostile lists of strings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

enum { ONNX_STRING = 8, STRINGS = 8, STRING = 3 };

static onnx_model model;
static onnx_case run;
static ig_module *module; /* the last one that was read */

/* A node over an input x [A] of strings; versions below 10 are those of ai.onnx.ml. */
static Onnx__NodeProto *begin(int64_t version, const char *op) {
    onnx_case_init(&run);
    onnx_model_init(&model, version);
    if (version < 10) {
        model.opset.domain = ig_arena_strdup(&model.arena, "ai.onnx.ml");
    }
    onnx_input(&model, "x", ONNX_STRING, 1, "A");
    bool has_counts = strcmp(op, "StringSplit") == 0;
    Onnx__NodeProto *node = onnx_node(&model, op, "x", has_counts ? "y,n" : "y");
    node->domain = model.opset.domain;
    onnx_output(&model, "y");
    return node;
}

static void end(void) {
    ig_module_destroy(module);
    module = NULL;
    onnx_model_fini(&model);
    onnx_case_fini(&run);
}

static void set_string(Onnx__NodeProto *node, const char *name, const char *text,
                       size_t size) {
    Onnx__AttributeProto *attr = onnx_attr(&model, node, name, STRING);
    attr->has_s = 1;
    attr->s.len = size;
    attr->s.data = (uint8_t *)ig_arena_copy(&model.arena, text, size);
}

static void set_strings(Onnx__NodeProto *node, const char *name, size_t count,
                        const char *const *texts) {
    Onnx__AttributeProto *attr = onnx_attr(&model, node, name, STRINGS);
    attr->n_strings = count;
    attr->strings = ig_arena_alloc(&model.arena, count * sizeof *attr->strings);
    for (size_t i = 0; i < count; i++) {
        attr->strings[i] = (ProtobufCBinaryData){
            strlen(texts[i]), (uint8_t *)ig_arena_strdup(&model.arena, texts[i])
        };
    }
}

#define TEXTS(...)          \
    (const char *const[]) { \
        __VA_ARGS__         \
    }

static ig_status interpret(size_t count, const char *const *texts, ig_tensor *out) {
    int64_t dim = (int64_t)count;
    ig_tensor in;
    IG_TRY(ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module));
    CHECK_OK(ig_verify_module(module));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_str, 1, &dim, &in));
    memcpy(in.data, texts, count * sizeof *texts);
    return ig_interpret(ig_module_graph(module, "main"), &in, &run.arena, out);
}

static void expect_texts(size_t count, const char *const *texts, size_t wanted_count,
                         const char *const *wanted) {
    ig_tensor out[2];
    CHECK_MSG(interpret(count, texts, out) == IG_OK, "%s", run.why);
    CHECK_INT(out[0].dtype, IG_DT_str);
    CHECK_INT(out[0].count, (int64_t)wanted_count);
    for (size_t i = 0; i < wanted_count; i++) {
        const char *got = ((const char *const *)out[0].data)[i];
        CHECK_MSG(strcmp(got ? got : "", wanted[i]) == 0, "%zu is '%s', expected '%s'",
                  i, got, wanted[i]);
    }
    end();
}

static void expect_numbers(size_t count, const char *const *texts,
                           const double *wanted) {
    ig_tensor out;
    CHECK_MSG(interpret(count, texts, &out) == IG_OK, "%s", run.why);
    CHECK_INT(out.count, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        double got = ig_tensor_get_f64(&out, (int64_t)i);
        CHECK_MSG(got == wanted[i] || (isnan(got) && isnan(wanted[i])),
                  "%zu is %g, expected %g", i, got, wanted[i]);
    }
    end();
}

static void expect_refusal(size_t count, const char *const *texts, const char *words) {
    ig_tensor out;
    CHECK(interpret(count, texts, &out) != IG_OK);
    CHECK_MSG(strstr(run.why, words), "'%s' lacks '%s'", run.why, words);
    end();
}

TEST(casts_read_numbers_as_they_are_written) {
    onnx_attr_i(&model, begin(21, "Cast"), "to", 11);
    expect_numbers(6, TEXTS("3.5", "-1e-5", "+INF", "-inf", "NaN", " 7"),
                   (const double[]){ 3.5, -1e-5, INFINITY, -INFINITY, NAN, 7 });
    onnx_attr_i(&model, begin(21, "Cast"), "to", 7);
    expect_numbers(3, TEXTS("9223372036854775807", "-12", "100.5"),
                   (const double[]){ 9223372036854775807.0, -12, 100 });
    onnx_attr_i(&model, begin(21, "Cast"), "to", 1);
    expect_refusal(1, TEXTS("Hello"), "not a number");
    onnx_attr_i(&model, begin(21, "Cast"), "to", 1);
    expect_refusal(1, TEXTS("0x10"), "not a number");
    onnx_attr_i(&model, begin(21, "Cast"), "to", 1);
    expect_refusal(1, TEXTS(""), "not a number");
}
END_TEST

TEST(a_pattern_matches_whole_texts) {
    set_string(begin(20, "RegexFullMatch"), "pattern", "a|ab", 4);
    expect_numbers(4, TEXTS("a", "ab", "abc", ""), (const double[]){ 1, 1, 0, 0 });
    set_string(begin(20, "RegexFullMatch"), "pattern", "(", 1);
    expect_refusal(1, TEXTS("a"), "not a regular expression");
    set_string(begin(20, "RegexFullMatch"), "pattern", "(a|aa)+", 7);
    expect_refusal(1, TEXTS("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"),
                   "takes too long");
    set_string(begin(20, "RegexFullMatch"), "pattern", "a\0b", 3);
    expect_refusal(1, TEXTS("a"), "zero byte");
}
END_TEST

TEST(splits_leave_empty_parts_only_between_delimiters) {
    Onnx__NodeProto *node = begin(20, "StringSplit");
    set_string(node, "delimiter", ",", 1);
    expect_texts(3, TEXTS("a,,b", "", ","), 9,
                 TEXTS("a", "", "b", "", "", "", "", "", ""));
    node = begin(20, "StringSplit");
    onnx_attr_i(&model, node, "maxsplit", 1);
    expect_texts(3, TEXTS("  a  b c ", "", " "), 6, TEXTS("a", "b c", "", "", "", ""));
}
END_TEST

TEST(letters_beyond_ascii_change_too) {
    Onnx__NodeProto *node = begin(10, "StringNormalizer");
    set_string(node, "case_change_action", "UPPER", 5);
    set_strings(node, "stopwords", 1, TEXTS("\xc3\x84"));
    expect_texts(4, TEXTS("\xc3\xa9t\xc3\xa9", "\xc3\xa4", "\xff\xc3", "z"), 3,
                 TEXTS("\xc3\x89T\xc3\x89", "\xff\xc3", "Z"));
    node = begin(10, "StringNormalizer");
    set_strings(node, "stopwords", 1, TEXTS("a"));
    expect_texts(1, TEXTS("A"), 1, TEXTS(""));
}
END_TEST

TEST(labels_are_looked_up_both_ways) {
    Onnx__NodeProto *node = begin(2, "LabelEncoder");
    set_strings(node, "keys_strings", 3, TEXTS("b", "a", "b"));
    onnx_attr_ints(&model, node, "values_int64s", 3, (const int64_t[]){ 5, 6, 7 });
    expect_numbers(4, TEXTS("a", "b", "", "c"), (const double[]){ 6, 5, -1, -1 });
    node = begin(2, "LabelEncoder");
    set_strings(node, "keys_strings", 2, TEXTS("a", ""));
    set_strings(node, "values_strings", 2, TEXTS("x", "y"));
    expect_texts(3, TEXTS("a", "", "z"), 3, TEXTS("x", "y", "_Unused"));
    node = begin(1, "LabelEncoder");
    set_strings(node, "classes_strings", 2, TEXTS("a", "b"));
    expect_numbers(3, TEXTS("b", "a", "c"), (const double[]){ 1, 0, -1 });
    node = begin(1, "CategoryMapper");
    set_strings(node, "cats_strings", 2, TEXTS("a", "b"));
    onnx_attr_ints(&model, node, "cats_int64s", 2, (const int64_t[]){ 9, 8 });
    onnx_attr_i(&model, node, "default_int64", -5);
    expect_numbers(3, TEXTS("b", "a", "c"), (const double[]){ 8, 9, -5 });
    node = begin(1, "CategoryMapper");
    set_strings(node, "cats_strings", 2, TEXTS("a", "b"));
    onnx_attr_ints(&model, node, "cats_int64s", 1, (const int64_t[]){ 9 });
    expect_refusal(1, TEXTS("a"), "2 keys and 1 values");
}
END_TEST

TEST(categories_that_are_texts_get_a_column_each) {
    Onnx__NodeProto *node = begin(1, "OneHotEncoder");
    set_strings(node, "cats_strings", 2, TEXTS("m", "f"));
    ig_tensor out;
    CHECK_MSG(interpret(2, TEXTS("f", "?"), &out) == IG_OK, "%s", run.why);
    static const double wanted[] = { 0, 1, 0, 0 };
    CHECK_INT(out.count, 4);
    for (int64_t i = 0; i < 4; i++) {
        CHECK_INT((int64_t)ig_tensor_get_f64(&out, i), (int64_t)wanted[i]);
    }
    end();
}
END_TEST

TEST(texts_and_numbers_do_not_mix) {
    set_strings(begin(1, "OneHotEncoder"), "cats_strings", 0, TEXTS(""));
    ig_tensor out;
    CHECK_MSG(interpret(1, TEXTS("f"), &out) == IG_OK, "%s", run.why);
    CHECK_INT(out.count, 0);
    end();
    onnx_attr_ints(&model, begin(1, "OneHotEncoder"), "cats_int64s", 1,
                   (const int64_t[]){ 9 });
    expect_refusal(1, TEXTS("a"), "has no cats_strings");
    (void)begin(21, "Neg");
    expect_refusal(1, TEXTS("a"), "str");
    (void)begin(21, "NonZero");
    expect_refusal(1, TEXTS("a"), "string");
}
END_TEST

UNIT_SUITE(onnx_text, casts_read_numbers_as_they_are_written,
           a_pattern_matches_whole_texts,
           splits_leave_empty_parts_only_between_delimiters,
           letters_beyond_ascii_change_too, labels_are_looked_up_both_ways,
           categories_that_are_texts_get_a_column_each, texts_and_numbers_do_not_mix)
