/* The whole import of an exported program (.pt2) under libFuzzer: it is refused with
 * words, or gives a module that verifies.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_pt2
 *
 * The input is the text of the archive's entries, each behind a line with its name:
 *
 *     @models/model.json
 *     {"graph_module": …
 *     @data/weights/model_weights_config.json
 *     {"config": …
 *
 * The storages that a configuration may name are given: data/weights/weight_0 … 7 and
 * data/constants/tensor_0 … 7, of 4 KiB each.
 */
#include "frontend/pt2/pt2.h"
#include "frontend/torch/entry/table.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/case/mutate_text.h"
#include "tests/fuzz/reach.h"
#include "tests/fuzz/report.h"
#include "tests/fuzz/case/stored_zip.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

enum { MEMORY = 256 << 20, STORAGES = 8, STORAGE_FLOATS = 1024 };

/* ---- the archive ---- */

static const char *end_of_line(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

/* The line behind `at` that names an entry, or `end`. */
static const char *next_entry(const char *at, const char *end) {
    while (at < end && *at != '@') {
        at = end_of_line(at, end);
    }
    return at;
}

static void add_entry(ig_stored_zip *zip, const char *folder, ig_str name,
                      const void *data, size_t size) {
    char path[256];
    int length = snprintf(path, sizeof path, "m/%s%.*s", folder, IG_STR_ARG(name));
    if (length > 0 && (size_t)length < sizeof path) {
        ig_stored_zip_add(zip, (ig_str){ path, (size_t)length }, data, size);
    }
}

static void add_storages(ig_stored_zip *zip, const char *folder, const char *form) {
    static float values[STORAGE_FLOATS] = { 1, -2, 3, 0.5f };
    for (int i = 0; i < STORAGES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_%d", form, i);
        add_entry(zip, folder, ig_str_of(name), values, sizeof values);
    }
}

static ig_str make_archive(ig_stored_zip *zip, const char *text, size_t size) {
    const char *end = text + size;
    ig_stored_zip_begin(zip);
    for (const char *at = next_entry(text, end); at < end;) {
        const char *line = end_of_line(at, end), *next = next_entry(line, end);
        size_t name = (size_t)(line - at) - (line[-1] == '\n');
        add_entry(zip, "", (ig_str){ at + 1, name ? name - 1 : 0 }, line,
                  (size_t)(next - line));
        at = next;
    }
    add_entry(zip, "", IG_STR("archive_format"), "pt2", 3);
    add_entry(zip, "", IG_STR("byteorder"), "little", 6);
    add_storages(zip, "data/weights/", "weight");
    add_storages(zip, "data/constants/", "tensor");
    return ig_stored_zip_end(zip);
}

/* ---- what inputs reach ---- */

/* Members of the schema's unions, and higher-order operators: programs that are
 * imported have each. */
static const char *const schema_words[] = {
    "as_bool",
    "as_bools",
    "as_complex",
    "as_device",
    "as_expr",
    "as_float",
    "as_floats",
    "as_graph",
    "as_int",
    "as_ints",
    "as_layout",
    "as_memory_format",
    "as_name",
    "as_none",
    "as_optional_tensor",
    "as_optional_tensors",
    "as_scalar_type",
    "as_string",
    "as_strings",
    "as_sym_bool",
    "as_sym_float",
    "as_sym_floats",
    "as_sym_int",
    "as_sym_ints",
    "as_tensor",
    "as_tensors",
    "parameter",
    "buffer",
    "tensor_constant",
    "constant_input",
    "user_input",
    "user_output",
    "buffer_mutation",
    "user_input_mutation",
    "torch.ops.higher_order.cond",
    "torch.ops.higher_order.map_impl",
    "torch.ops.higher_order.scan",
    "torch.ops.higher_order.while_loop",
    "torch.ops.higher_order.wrap_with_set_grad_enabled",
};

static const char *word_at(size_t i) {
    return schema_words[i];
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    ig_fuzz_reach_begin(IG_COUNT_OF(schema_words), word_at);
    return 0;
}

static void note_reach(ig_str archive) {
    for (size_t i = 0; i < IG_COUNT_OF(schema_words); i++) {
        char quoted[64];
        int length = snprintf(quoted, sizeof quoted, "\"%s\"", schema_words[i]);
        if (memmem(archive.data, archive.size, quoted, (size_t)length)) {
            ig_fuzz_reach(i);
        }
    }
}

/* ---- one run ---- */

typedef struct fuzz_case {
    ig_context context;
    ig_module *module;
    jmp_buf recovery;
} fuzz_case;

static void import(fuzz_case *c, ig_str archive) {
    ig_torchscript_options options = { 0 };
    size_t *errors = &c->context.diag.error_count;
    ig_status status = ig_import_pt2_memory(&c->context, archive, "f.pt2", &options,
                                            &c->module);
    if (status == IG_INTERNAL || (status == IG_OK) == (*errors != 0) ||
        (status == IG_OK) != (c->module != NULL)) {
        fprintf(stderr, "status %d, %zu errors\n", (int)status, *errors);
        abort();
    }
    if (c->module && ig_verify_module(c->module) != IG_OK) {
        abort();
    }
    if (c->module) {
        note_reach(archive);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ig_stored_zip zip;
    static fuzz_case c;
    if (size > IG_STORED_ZIP_BYTES / 2) {
        return -1;
    }
    memset(&c, 0, sizeof c);
    c.context.limits = ig_limits_default;
    c.context.limits.script_steps = 20000;
    c.context.limits.script_bytes = MEMORY / 2;
    c.context.diag.sink = ig_fuzz_note_internal;
    c.context.budget.limit = MEMORY;
    c.context.budget.recovery = &c.recovery;
    uint64_t mark = c.context.budget.arenas;
    ig_str archive = make_archive(&zip, (const char *)data, size);
    if (!setjmp(c.recovery)) {
        import(&c, archive);
    }
    ig_module_destroy(c.module);
    ig_budget_sweep(&c.context.budget, mark);
    return 0;
}

/* ---- mutations ---- */

static void other_operator(uint32_t *state, char *out, size_t room) {
    size_t row = ig_fuzz_draw(state, ig_ts_operators.count);
    const char *schema = ig_ts_operators.rows[row].schema;
    const char *space = strstr(schema, "::");
    size_t length = strcspn(schema, "(");
    bool has_overload = memchr(schema, '.', length) != NULL;
    if (space && space < schema + length) {
        snprintf(out, room, "torch.ops.%.*s.%.*s%s", (int)(space - schema), schema,
                 (int)(schema + length - space - 2), space + 2,
                 has_overload ? "" : ".default");
    } else {
        snprintf(out, room, "torch.ops.higher_order.cond");
    }
}

static void other_word(const char *word, size_t size, uint32_t *state, char *out,
                       size_t room) {
    static const char *const words[] = { "0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "7",
                                         "8",
                                         "-9223372036854775808",
                                         "4294967296",
                                         "1e300",
                                         "NaN",
                                         "-Infinity",
                                         "true",
                                         "false",
                                         "null",
                                         "[]",
                                         "{}",
                                         "[1, -1]",
                                         "as_int",
                                         "as_ints",
                                         "as_tensor",
                                         "as_tensors",
                                         "as_none",
                                         "as_sym_int",
                                         "as_float",
                                         "as_bool",
                                         "as_string",
                                         "as_graph",
                                         "as_name",
                                         "as_expr",
                                         "as_sym_bool",
                                         "as_nested_tensors",
                                         "weight_0",
                                         "tensor_0",
                                         "user_input",
                                         "buffer_mutation",
                                         "parameter",
                                         "s0",
                                         "Symbol('s0')",
                                         "Mul(Integer(2), Symbol('s0'))" };
    bool is_op = size > 6 && memcmp(word, "torch.", 6) == 0;
    if (is_op && ig_fuzz_draw(state, 4)) {
        other_operator(state, out, room);
    } else {
        snprintf(out, room, "%s", words[ig_fuzz_draw(state, IG_COUNT_OF(words))]);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed) {
    return ig_fuzz_mutate_text(data, size, max_size, seed, other_word);
}
