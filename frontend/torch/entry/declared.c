/* A file's declarations about its arguments, and the caller's specifications.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both are trees of the same form.  A symbol that the file declares becomes the
 * caller's specification in its place, a number or a symbol of the caller's; then every
 * declared extent either equals the given one, or contradicts it.
 */
#include "frontend/torch/entry/entry.h"

#include "ir/parse/read.h"

#include <assert.h>
#include <string.h>

typedef struct merger {
    const ig_ts_entry *entry;
    ig_module *module;
    const char *name;  /* of the parameter at hand */
    ig_dim *by_symbol; /* of the file; IG_DIM_KEEP: open */
    uint32_t symbol_count;
    bool is_binding; /* the first of two walks */
} merger;

static ig_status fail_argument(const merger *m, const char *what) {
    ig_location where = { .file = m->entry->eval->file, .graph = m->entry->name };
    return ig_error(&m->entry->eval->context->diag, IG_INVALID, &where,
                    "argument '%s': %s", m->name, what);
}

static const char *dim_text(const merger *m, ig_dim dim) {
    ig_writer w;
    ig_writer_init(&w, m->entry->eval->arena);
    ig_dim_print(m->module, dim, &w);
    return w.data;
}

/* ---- extents ---- */

/* The symbols of a type that was read a moment ago are new ones of the module; there is
 * room for those that the file's own types have. */
static void bind_extent(merger *m, ig_dim declared, ig_dim given) {
    if (!ig_dim_as_symbol(m->module, declared)) {
        return;
    }
    uint32_t index = ig_symbol_index(m->module, declared);
    if (index < m->symbol_count && ig_dim_same(m->by_symbol[index], IG_DIM_KEEP)) {
        m->by_symbol[index] = given;
    }
}

static ig_status merge_extent(const merger *m, uint32_t axis, ig_dim declared,
                              ig_dim *given) {
    int64_t is, expected;
    ig_dim dim = ig_dim_substitute(m->module, declared, m->by_symbol);
    bool is_known = ig_dim_constant(m->module, *given, &is);
    if (!is_known) {
        *given = dim;
        return IG_OK;
    }
    if (!ig_dim_constant(m->module, dim, &expected) || is == expected) {
        return IG_OK;
    }
    return fail_argument(
        m, ig_arena_printf(
               m->entry->eval->arena,
               "dim %u is %lld, but the program was exported for %s%s%lld", axis,
               (long long)is, ig_dim_same(dim, declared) ? "" : dim_text(m, declared),
               ig_dim_same(dim, declared) ? "" : " = ", (long long)expected));
}

static ig_status merge_type(merger *m, ig_str declared, ig_str *given) {
    const ig_type *is, *expected;
    ig_dim dims[IG_TENSOR_RANK];
    IG_TRY(ig_parse_type(m->module, declared, &expected));
    IG_TRY(ig_parse_type(m->module, *given, &is));
    if (is->rank != expected->rank || is->dtype != expected->dtype) {
        return fail_argument(
            m, ig_arena_printf(m->entry->eval->arena, "expected %.*s, got %.*s",
                               IG_STR_ARG(declared), IG_STR_ARG(*given)));
    }
    assert(is->rank <= IG_TENSOR_RANK && "types are no deeper");
    for (uint32_t i = 0; i < is->rank; i++) {
        dims[i] = is->dims[i];
        if (m->is_binding) {
            bind_extent(m, expected->dims[i], dims[i]);
        } else {
            IG_TRY(merge_extent(m, i, expected->dims[i], &dims[i]));
        }
    }
    if (!m->is_binding) {
        ig_writer w;
        ig_writer_init(&w, m->entry->eval->arena);
        const ig_type *merged = ig_type_tensor(m->module, (ig_dtype)is->dtype, is->rank,
                                               dims);
        ig_print_type(m->module, merged, &w);
        *given = ig_writer_str(&w);
    }
    return IG_OK;
}

/* ---- trees ---- */

static bool is_same_kind(const ig_node *declared, const ig_node *given) {
    bool is_tuple = declared->kind == IG_NODE_RECORD && given->kind == IG_NODE_TUPLE;
    return declared->count == given->count &&
           (declared->kind == given->kind || is_tuple || declared->count == 0);
}

static ig_status merge_tree(merger *m, const ig_node_list *declared,
                            const ig_node_list *given) {
    bool is_same = declared->count == given->count;
    for (size_t i = 0; is_same && i < given->count; i++) {
        const ig_node *expected = &declared->items[i];
        ig_node *node = &given->items[i];
        is_same = is_same_kind(expected, node);
        if (is_same && expected->kind == IG_NODE_TENSOR &&
            node->kind == IG_NODE_TENSOR) {
            IG_TRY(merge_type(m, expected->text, &node->text));
        }
        bool is_text = is_same && expected->kind == IG_NODE_STR &&
                       node->kind == IG_NODE_STR;
        if (is_text && !ig_str_equal(expected->text, node->text)) {
            return fail_argument(
                m, ig_arena_printf(m->entry->eval->arena,
                                   "has \"%.*s\", but the program was exported for "
                                   "\"%.*s\"",
                                   IG_STR_ARG(node->text), IG_STR_ARG(expected->text)));
        }
    }
    return is_same ? IG_OK
                   : fail_argument(m, "is of another structure than the program was "
                                      "exported for");
}

static ig_status merge_trees(merger *m, ig_node_list *trees) {
    const ig_ts_entry *entry = m->entry;
    const ig_node_list *declared = entry->program->trees;
    for (size_t i = 0; i < entry->program->tree_count; i++) {
        m->name = entry->method->params[i + 1].name;
        if (trees[i].count && declared[i].count) {
            IG_TRY(merge_tree(m, &declared[i], &trees[i]));
        }
    }
    return IG_OK;
}

/* ---- ranges ---- */

/* An extent as a type, so that the parser of types reads it. */
static ig_status read_extent(const merger *m, const ig_ts_range *range,
                             const ig_type **out_type) {
    const char *text = ig_arena_printf(m->entry->eval->arena, "f32[%s]", range->extent);
    return ig_parse_type(m->module, ig_str_of(text), out_type);
}

static ig_status check_range(const merger *m, const ig_ts_range *range) {
    const ig_type *type;
    int64_t value;
    IG_TRY(read_extent(m, range, &type));
    ig_dim dim = ig_dim_substitute(m->module, type->dims[0], m->by_symbol);
    ig_symbol *symbol = ig_dim_as_symbol(m->module, dim);
    if (symbol) {
        symbol->min = symbol->min > range->min ? symbol->min : range->min;
        symbol->max = symbol->max < range->max ? symbol->max : range->max;
    }
    if (!ig_dim_constant(m->module, dim, &value) ||
        (value >= range->min && value <= range->max)) {
        return IG_OK;
    }
    ig_location where = { .file = m->entry->eval->file, .graph = m->entry->name };
    return ig_error(&m->entry->eval->context->diag, IG_INVALID, &where,
                    "extent %s is %lld, but the program was exported for %lld to %lld",
                    range->extent, (long long)value, (long long)range->min,
                    (long long)range->max);
}

/* ---- the whole ---- */

/* All that is read later is read once, so that no symbol is new then. */
static ig_status make_symbols(merger *m, ig_node_list *trees) {
    const ig_ts_program *program = m->entry->program;
    const ig_type *unused;
    IG_TRY(merge_trees(m, trees));
    for (size_t i = 0; i < program->range_count; i++) {
        IG_TRY(read_extent(m, &program->ranges[i], &unused));
    }
    m->symbol_count = ig_symbol_count(m->module);
    m->by_symbol = IG_NEW_ARRAY(m->entry->eval->arena, ig_dim, m->symbol_count + 1);
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        m->by_symbol[i] = IG_DIM_KEEP;
    }
    return IG_OK;
}

ig_status ig_ts_entry_declared(const ig_ts_entry *entry, ig_node_list *trees) {
    const ig_ts_program *program = entry->program;
    merger m = { .entry = entry, .module = entry->eval->module, .is_binding = true };
    assert(program->tree_count < entry->method->param_count && "a tree a parameter");
    IG_TRY(make_symbols(&m, trees));
    IG_TRY(merge_trees(&m, trees));
    m.is_binding = false;
    IG_TRY(merge_trees(&m, trees));
    for (size_t i = 0; i < program->tree_count; i++) {
        trees[i] = trees[i].count ? trees[i] : program->trees[i];
    }
    for (size_t i = 0; i < program->range_count; i++) {
        IG_TRY(check_range(&m, &program->ranges[i]));
    }
    return IG_OK;
}
