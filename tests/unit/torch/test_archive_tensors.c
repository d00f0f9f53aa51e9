/* Tensors of archives: views, dtypes, quantisation, byte order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/torch_case.h"
#include "tests/unit/unit.h"

/* One tensor, as torch.jit.save writes it: float32 [2, 2] of storage 0, transposed. */
static const char transposed[] =
    "\200\002ctorch._utils\n_rebuild_tensor_v2\n((X\007\000\000\000storagectorch\n"
    "FloatStorage\nX\001\000\000\0000X\003\000\000\000cpuK\004tQK\000(K\002K\002t"
    "(K\001K\002t\211ccollections\nOrderedDict\n)RtR.";

static ig_status read_tensor(torch_case *c, const char *order, const char *bytes,
                             const ig_py_tensor **out_tensor, ig_archive_span *out) {
    torch_entry entries[] = {
        { "net/data.pkl", { transposed, sizeof(transposed) - 1 } },
        { "net/constants.pkl", IG_STR("\200\002).") },
        { "net/version", IG_STR("3\n") },
        { "net/data/0", { bytes, 16 } },
        { "net/byteorder", ig_str_of(order) },
    };
    ig_archive *archive = IG_NEW(&c->arena, ig_archive);
    ig_pickle_set set;
    ig_py *value = NULL;
    ig_location where = { .file = "net.pt" };
    ig_str zip = torch_zip(&c->arena, entries, IG_COUNT_OF(entries));
    IG_TRY(ig_archive_open(archive, &c->context, &c->arena, "net.pt", zip));
    ig_pickle_set_init(&set, archive);
    IG_TRY(ig_pickle_read_torchscript(&set, "", "data.pkl", &value));
    CHECK_INT(value->kind, IG_PY_TENSOR);
    *out_tensor = value->as.tensor;
    return ig_py_tensor_bytes(&c->context, &c->arena, *out_tensor, &where, out);
}

/* 1 2 3 4 in the storage: [[1, 3], [2, 4]]. */
static void check_elements(const char *order, const char *bytes) {
    static const float want[] = { 1, 3, 2, 4 };
    torch_case c;
    const ig_py_tensor *tensor = NULL;
    ig_archive_span span = { 0 };
    torch_case_init(&c);
    CHECK_OK(read_tensor(&c, order, bytes, &tensor, &span));
    CHECK_INT(tensor->rank, 2);
    CHECK(!ig_py_tensor_is_contiguous(tensor));
    CHECK_INT(span.bytes.size, sizeof(want));
    CHECK(memcmp(span.bytes.data, want, sizeof(want)) == 0);
    torch_case_fini(&c);
}

TEST(strides_and_both_byte_orders) {
    check_elements("little", "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40");
    check_elements("big", "\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0\x40\x80\0\0");
}
END_TEST

/* The values that case.json states, which torch printed. */
TEST(package_of_many_dtypes) {
    torch_case c;
    ig_archive archive;
    ig_pickle_set set;
    ig_str bytes, text;
    ig_py *value;
    torch_case_init(&c);
    if (!torch_case_map(&c, "package/data_only/package.pt", &bytes)) {
        unit_skip("no package/data_only");
        torch_case_fini(&c);
        return;
    }
    CHECK_OK(ig_archive_open(&archive, &c.context, &c.arena, "p", bytes));
    ig_pickle_set_init(&set, &archive);
    ig_archive_entry *entry;
    CHECK_OK(ig_archive_need(&archive, IG_STR("data/objects.pkl"), &entry));
    CHECK_OK(ig_archive_read_text(&archive, entry, &text));
    ig_pickle_options options = { .file = "p",
                                  .name = "data/objects.pkl",
                                  .storage_prefix = ".data/",
                                  .storage_suffix = ".storage" };
    CHECK_OK(ig_pickle_read(&set, text, &options, &value));
    const ig_py_tensor *a = ig_py_get(value, "a")->as.tensor;
    const ig_py_tensor *row = ig_py_get(value, "row")->as.tensor;
    const ig_py_tensor *t = ig_py_get(value, "t")->as.tensor;
    CHECK_PTR(a->storage, row->storage);
    CHECK_PTR(a->storage, t->storage);
    CHECK_INT(row->offset, 6);
    CHECK_INT(t->strides[0], 1);
    CHECK(a->storage->offset > 0 && a->storage->offset % 64 == 0);
    float first;
    memcpy(&first, a->storage->bytes, sizeof(first));
    CHECK(first == 0.7093923091888428f);
    CHECK_STR(ig_py_get(value, "big")->as.text, "1180591620717411303424");
    CHECK(ig_py_get(value, "par")->as.tensor->is_parameter);
    CHECK_INT(ig_py_get(value, "c")->as.tensor->dtype->code, IG_TORCH_complex64);
    CHECK_INT(ig_py_get(value, "dt")->as.dtype->code, IG_TORCH_float16);
    CHECK_STR(ig_py_get(value, "dev")->as.text, "cpu");
    torch_case_fini(&c);
}
END_TEST

UNIT_SUITE(archive_tensors, strides_and_both_byte_orders, package_of_many_dtypes)
