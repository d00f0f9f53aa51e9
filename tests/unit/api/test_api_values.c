/* Values from text and files, as tools and tests read them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <unistd.h>

typedef struct value {
    ig_context *context;
    ig_arguments *owner;
    ig_argument is;
} value;

static value read_as(const char *text, const char *type) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    value v = { .context = ig_context_create(&options) };
    ig_status status = ig_arguments_parse(v.context, text, type, &v.owner);
    CHECK_MSG(status == IG_OK, "%s: %s", text, ig_context_messages(v.context));
    v.is = *ig_arguments_at(v.owner, 0);
    return v;
}

static void done(value *v) {
    ig_arguments_close(v->owner);
    ig_context_destroy(v->context);
}

/* The words of a value that is refused with `wanted`. */
static void check_refused(const char *text, const char *type, ig_status wanted,
                          const char *words) {
    ig_context *context = ig_context_create(NULL);
    ig_arguments *owner = NULL;
    ig_status status = ig_arguments_parse(context, text, type, &owner);
    CHECK_MSG(status == wanted, "%s gives %d", text, (int)status);
    CHECK_MSG(strstr(ig_context_messages(context), words), "%s: %s", text,
              ig_context_messages(context));
    CHECK(!owner);
    ig_context_destroy(context);
}

static void check_numbers(const value *v, const double *wanted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double got = ig_argument_number(&v->is, i);
        CHECK_MSG(got == wanted[i], "element %zu is %g, not %g", i, got, wanted[i]);
    }
}

/* ---- text ---- */

TEST(numbers_are_read_in_every_dtype) {
    static const char *const dtypes[] = { "i8",  "i16", "i32", "i64",  "u8",  "u16",
                                          "u32", "u64", "f16", "bf16", "f32", "f64" };
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s[2, 2]=1, 2,3,100", dtypes[i]);
        value v = read_as(text, NULL);
        CHECK_TEXT(v.is.dtype, dtypes[i]);
        CHECK_INT(v.is.rank, 2);
        check_numbers(&v, (double[]){ 1, 2, 3, 100 }, 4);
        done(&v);
    }
}

TEST(whole_numbers_keep_all_their_bits) {
    value v = read_as("i64[2]=9223372036854775807,-9223372036854775808", NULL);
    CHECK(((const int64_t *)v.is.data)[0] == INT64_MAX);
    CHECK(((const int64_t *)v.is.data)[1] == INT64_MIN);
    done(&v);
}

TEST(one_number_fills_and_none_may_be_there) {
    value v = read_as("f32[3]=2.5", NULL);
    check_numbers(&v, (double[]){ 2.5, 2.5, 2.5 }, 3);
    done(&v);
    v = read_as("f32[0,3]=0", NULL);
    CHECK_INT(v.is.size, 0);
    done(&v);
    v = read_as("f32[]=4", NULL);
    CHECK_INT(v.is.rank, 0);
    check_numbers(&v, (double[]){ 4 }, 1);
    done(&v);
}

TEST(generators_stay_in_their_range) {
    value v = read_as("i64[1000]=random:5:8", NULL);
    int seen[3] = { 0 };
    for (size_t i = 0; i < 1000; i++) {
        int64_t x = ((const int64_t *)v.is.data)[i];
        CHECK(x >= 5 && x < 8);
        seen[x - 5]++;
    }
    CHECK(seen[0] > 200 && seen[1] > 200 && seen[2] > 200);
    done(&v);
    v = read_as("i32[4]=iota:-3", NULL);
    check_numbers(&v, (double[]){ 0, -3, -6, -9 }, 4);
    done(&v);
}

TEST(json_takes_the_declared_dtype) {
    value v = read_as("[[1, 2], [3, 4]]", "u8[B, 2]");
    CHECK_TEXT(v.is.dtype, "u8");
    check_numbers(&v, (double[]){ 1, 2, 3, 4 }, 4);
    done(&v);
    v = read_as("[true, false]", "bool[2]");
    check_numbers(&v, (double[]){ 1, 0 }, 2);
    done(&v);
    v = read_as("[[1, 2], [3]]", "seq<i64[N]>");
    CHECK_INT(v.is.kind, IG_ARGUMENT_LIST);
    CHECK_INT(v.is.item_count, 2);
    CHECK_INT(v.is.items[0].dims[0], 2);
    CHECK_INT(v.is.items[1].dims[0], 1);
    done(&v);
}

TEST(wrong_text_is_refused) {
    check_refused("f32[2]=1,x", NULL, IG_INVALID, "not a number");
    check_refused("f32[2]=1,2,3", NULL, IG_INVALID, "3 numbers for 2");
    check_refused("f32[-2]=1", NULL, IG_INVALID, "is not a value");
    check_refused("f32[99999999999999999999]=1", NULL, IG_INVALID, "is not a value");
    check_refused("q7[2]=1", NULL, IG_INVALID, "is not a value");
    check_refused("", NULL, IG_INVALID, "is not a value");
    check_refused("[[1, 2], [3]]", "f32[2, 2]", IG_INVALID, "rectangular");
    check_refused("\"text\"", "f32[1]", IG_INVALID, "not a number");
    check_refused("i64[4]=random:9", NULL, IG_INVALID, "range");
    check_refused("f32[1099511627776]=0", NULL, IG_LIMIT,
                  "exceeds limit interpret_bytes");
    check_refused("@/nowhere/x.npy", NULL, IG_IO, "/nowhere/x.npy");
}

/* ---- files ---- */

typedef struct file {
    char path[64];
} file;

static file make_file(const char *name, const void *bytes, size_t size) {
    file f;
    FILE *stream;
    snprintf(f.path, sizeof f.path, "/tmp/ingot-%ld-%s", (long)getpid(), name);
    stream = fopen(f.path, "wb");
    CHECK(stream && fwrite(bytes, 1, size, stream) == size && fclose(stream) == 0);
    return f;
}

static value read_file(const file *f, const char *type) {
    char text[80];
    snprintf(text, sizeof text, "@%s", f->path);
    return read_as(text, type);
}

/* A .npy file of version 1 with this header and data. */
static file make_npy(const char *header, const void *data, size_t size) {
    char bytes[512] = "\x93NUMPY\1";
    size_t length = strlen(header);
    bytes[8] = (char)length;
    memcpy(bytes + 10, header, length);
    if (size) {
        memcpy(bytes + 10 + length, data, size);
    }
    return make_file("x.npy", bytes, 10 + length + size);
}

TEST(arrays_come_in_any_order) {
    float data[6] = { 1, 2, 3, 4, 5, 6 };
    file f = make_npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                      data, sizeof data);
    value v = read_file(&f, NULL);
    check_numbers(&v, (double[]){ 1, 3, 5, 2, 4, 6 }, 6);
    done(&v);
    unsigned char big[4] = { 0x01, 0x02, 0xff, 0xfe };
    f = make_npy("{\"shape\": (2,), \"descr\": \">i2\", \"fortran_order\": False}\n",
                 big, sizeof big);
    v = read_file(&f, NULL);
    check_numbers(&v, (double[]){ 258, -2 }, 2);
    done(&v);
    uint16_t bits[2] = { 0x3f80, 0xc000 };
    f = make_npy("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n", bits,
                 sizeof bits);
    v = read_file(&f, "bf16[N]");
    CHECK_TEXT(v.is.dtype, "bf16");
    check_numbers(&v, (double[]){ 1, -2 }, 2);
    done(&v);
    unlink(f.path);
}

TEST(damaged_arrays_are_refused) {
    static const struct {
        const char *header;
        size_t size;
        ig_status status;
    } rows[] = {
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8, IG_INVALID },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 8, IG_INVALID },
        { "{'descr': '<f4', 'fortran_order': False, }", 8, IG_INVALID },
        { "{'descr': '<f4', 'shape': (2,), 'shape': (2,), 'fortran_order': False}", 8,
          IG_INVALID },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8,
          IG_UNSUPPORTED },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8,
          IG_UNSUPPORTED },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, IG_INVALID },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
          0, IG_INVALID },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1, ", 0, IG_INVALID },
        { "{'descr: '<f4', 'fortran_order': False, 'shape': (2,), }", 8, IG_INVALID },
        { "", 0, IG_INVALID },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        file f = make_npy(rows[i].header, "12345678", rows[i].size);
        char text[80];
        snprintf(text, sizeof text, "@%s", f.path);
        check_refused(text, NULL, rows[i].status, f.path);
    }
    file f = make_file("x.npy", "\x93NUMPY\1\0\377\377{", 11);
    char text[80];
    snprintf(text, sizeof text, "@%s", f.path);
    check_refused(text, NULL, IG_INVALID, "cut off");
    unlink(f.path);
}

TEST(every_form_of_file_reads_back) {
    static const char *const endings[] = { "a.npy", "a.pb" };
    value v = read_as("f16[2,3]=1,-2,inf,nan,0.5,65504", NULL);
    for (size_t i = 0; i < 2; i++) {
        file f = make_file(endings[i], "", 0);
        const char *name = "a";
        CHECK_INT(ig_arguments_write(v.context, f.path, &v.is, &name, 1), IG_OK);
        value back = read_file(&f, "f16[2,3]");
        CHECK_INT(back.is.size, v.is.size);
        CHECK(memcmp(back.is.data, v.is.data, v.is.size) == 0);
        done(&back);
        unlink(f.path);
    }
    done(&v);
}

TEST(archives_keep_names_and_order) {
    value a = read_as("f32[2]=1,2", NULL), b = read_as("i64[3]=iota", NULL);
    const ig_argument both[] = { a.is, b.is };
    const char *const names[] = { "first", "second/part" };
    file f = make_file("a.npz", "", 0);
    ig_arguments *back = NULL;
    CHECK_MSG(ig_arguments_write(a.context, f.path, both, names, 2) == IG_OK, "%s",
              ig_context_messages(a.context));
    CHECK_MSG(ig_arguments_open(a.context, f.path, &back) == IG_OK, "%s",
              ig_context_messages(a.context));
    CHECK_INT(ig_arguments_count(back), 2);
    CHECK_TEXT(ig_arguments_name(back, 1), "second/part");
    CHECK(memcmp(ig_arguments_at(back, 0)->data, a.is.data, a.is.size) == 0);
    ig_arguments_close(back);
    unlink(f.path);
    f = make_file("a.npz", "not a zip", 9);
    CHECK_INT(ig_arguments_open(a.context, f.path, &back), IG_INVALID);
    unlink(f.path);
    CHECK_INT(ig_arguments_open(a.context, f.path, &back), IG_IO);
    done(&a);
    done(&b);
}

/* ---- metrics ---- */

TEST(areas_under_curves_count_pairs) {
    double scores[200], labels[200], wins = 0, pairs = 0;
    size_t order[200];
    for (size_t i = 0; i < 200; i++) {
        scores[i] = (double)(i * 37 % 23); /* with ties */
        labels[i] = i * i % 7 > 2;
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t k = 0; k < 200; k++) {
            if (labels[i] > labels[k]) {
                pairs++;
                wins += scores[i] > scores[k] ? 1 : scores[i] == scores[k] ? 0.5 : 0;
            }
        }
    }
    double area = ig_metric_auc(scores, labels, order, 200);
    CHECK_MSG(area == wins / pairs, "%.17g, not %.17g", area, wins / pairs);
    for (size_t i = 1; i < 200; i++) {
        CHECK(scores[order[i - 1]] <= scores[order[i]]);
    }
    CHECK(isnan(ig_metric_auc(scores, (double[3]){ 1, 1, 1 }, order, 3)));
    CHECK(isnan(ig_metric_auc(scores, labels, order, 0)));
}

UNIT_SUITE(api_values, numbers_are_read_in_every_dtype,
           whole_numbers_keep_all_their_bits, one_number_fills_and_none_may_be_there,
           generators_stay_in_their_range, json_takes_the_declared_dtype,
           wrong_text_is_refused, arrays_come_in_any_order, damaged_arrays_are_refused,
           every_form_of_file_reads_back, archives_keep_names_and_order,
           areas_under_curves_count_pairs)
