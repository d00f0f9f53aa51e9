/* IR text on its whole way under libFuzzer (compile_case.h): graphs that no importer
 * makes as small, and ops that ONNX has no names for.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_lower
 *
 * Mutations know lines, words, names of ops, dtypes and extents.
 */
#include "driver/host.h"
#include "ir/parse/read.h"
#include "tests/fuzz/case/compile_case.h"
#include "tests/fuzz/case/mutate_text.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

/* ---- graphs that can be compiled ---- */

typedef struct symbols {
    const ig_module *module;
    bool *has_value, is_missing;
} symbols;

static void use_symbol(void *user, uint32_t symbol) {
    symbols *s = user;
    s->is_missing |= !s->has_value[symbol];
}

static void use_dims(symbols *s, const ig_dim *dims, uint32_t count) {
    for (uint32_t d = 0; d < count; d++) {
        ig_dim_visit_symbols(s->module, dims[d], use_symbol, s);
    }
}

/* Extents that are a symbol alone give it its value. */
static void bind_type(symbols *s, const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (ig_dim_as_symbol(s->module, type->dims[d])) {
            s->has_value[ig_symbol_index(s->module, type->dims[d])] = true;
        }
    }
}

/* Has each symbol a value?  The reader bounds how deep blocks nest. */
static bool is_bound(symbols *s, const ig_block *block) {
    bool is_good = true;
    for (uint32_t i = 0; i < block->arg_count; i++) {
        bind_type(s, block->args[i]->type);
    }
    for (const ig_op *op = block->first; op && is_good; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            bind_type(s, op->results[i].type);
        }
        for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
            const ig_attr *attr = &op->attrs[i];
            bool is_list = attr->kind == IG_ATTR_DIMS;
            use_dims(s, is_list ? attr->as.dims : &attr->as.dim,
                     is_list ? attr->count : attr->kind == IG_ATTR_DIM);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            is_good = is_good && is_bound(s, op->bodies[i]);
        }
    }
    return is_good && !s->is_missing;
}

/* As the driver reads text. */
static ig_status read_text(ig_context *context, ig_str bytes, ig_module **out_module) {
    IG_TRY(ig_parse_module(context, "fuzz.ig", bytes, out_module));
    const ig_graph *entry = ig_entry_of(*out_module);
    symbols s = { .module = *out_module };
    s.has_value = IG_NEW_ARRAY(&(*out_module)->arena, bool,
                               ig_symbol_count(*out_module) + 1);
    bool is_good = entry && entry->stage == IG_STAGE_TENSOR;
    for (size_t i = 0; is_good && i < (*out_module)->graphs.count; i++) {
        is_good = is_bound(&s, &(*out_module)->graphs.items[i]->body);
    }
    return is_good
               ? IG_OK
               : ig_error(&context->diag, IG_UNSUPPORTED, NULL, "no graph to compile");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ig_fuzz_compile((ig_str){ (const char *)data, size }, read_text);
    return 0;
}

static void other_word(const char *word, size_t size, uint32_t *state, char *out,
                       size_t room) {
    static const char *const words[] = { "0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "4",
                                         "7",
                                         "8",
                                         "16",
                                         "17",
                                         "64",
                                         "130",
                                         "300",
                                         "B",
                                         "N",
                                         "S",
                                         "0.5",
                                         "-inf",
                                         "nan",
                                         "1e9",
                                         "true",
                                         "f32",
                                         "f64",
                                         "f16",
                                         "bf16",
                                         "i64",
                                         "i32",
                                         "i8",
                                         "bool",
                                         "%0",
                                         "9223372036854775807",
                                         "4294967296" };
    bool is_op = size > 2 && word[0] >= 'a' && word[0] <= 'z';
    if (is_op && ig_fuzz_draw(state, 2)) {
        snprintf(out, room, "%s", ig_ops[ig_fuzz_draw(state, IG_OP_COUNT)].name);
    } else {
        snprintf(out, room, "%s", words[ig_fuzz_draw(state, IG_COUNT_OF(words))]);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed) {
    return ig_fuzz_mutate_text(data, size, max_size, seed, other_word);
}
