/* Failures, symbols and joined types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ig_status ig_onnx_fail(const ig_onnx_node *node, ig_status status, const char *format,
                       ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ig_expr_fail(node->e, status, "%s", text);
    return node->e->status;
}

/* ---- symbols ---- */

/* An identifier made of a name: other characters than letters, digits and _ become
 * _. */
static const char *identifier_of(ig_arena *arena, const char *name) {
    enum { LONGEST = 32 };
    char text[LONGEST + 1];
    size_t size = 0;
    for (; *name && size < LONGEST; name++) {
        char c = *name;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool is_digit = c >= '0' && c <= '9';
        if (is_letter || (is_digit && size > 0)) {
            text[size++] = c;
        } else if (size > 0 && text[size - 1] != '_') {
            text[size++] = '_';
        }
    }
    while (size > 0 && text[size - 1] == '_') {
        size--;
    }
    return size ? ig_arena_copy(arena, text, size) : "n";
}

ig_dim ig_onnx_symbol(ig_onnx_import *import, const char *name, const char *origin) {
    ig_dim dim = ig_dim_symbol(import->module, identifier_of(import->arena, name));
    ig_symbol *symbol = ig_dim_as_symbol(import->module, dim);
    symbol->origin = ig_module_string(import->module, ig_str_of(origin));
    return dim;
}

static bool is_item(const ig_type *type) {
    return type->kind == IG_TENSOR || type->kind == IG_ANY;
}

const ig_type *ig_onnx_any_item(const ig_onnx_import *import, const ig_type *a,
                                const ig_type *b) {
    bool are_items = is_item(a) && is_item(b) && a->dtype == b->dtype;
    bool differ = a->kind != b->kind || a->rank != b->rank || a->kind == IG_ANY;
    return are_items && differ ? ig_type_any(import->module, (ig_dtype)a->dtype) : NULL;
}

ig_status ig_onnx_join_types(const ig_onnx_node *node, const char *what,
                             const ig_type *a, const ig_type *b,
                             const ig_type **out_type) {
    ig_module *module = node->import->module;
    *out_type = a;
    if (a == b) {
        return IG_OK;
    }
    if (a->kind == IG_ANY || b->kind == IG_ANY) {
        *out_type = ig_onnx_any_item(node->import, a, b);
    }
    if (*out_type && (*out_type)->kind == IG_ANY) {
        return IG_OK;
    }
    if (a->kind != b->kind || (a->kind == IG_TENSOR && a->dtype != b->dtype)) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "output '%s' has one type in one branch and another in the other", what);
    }
    if (a->kind != IG_TENSOR) {
        const ig_type *element = ig_onnx_any_item(node->import, a->element, b->element);
        if (!element) {
            IG_TRY(ig_onnx_join_types(node, what, a->element, b->element, &element));
        }
        *out_type = ig_type_host(module, (ig_kind)a->kind, element);
        return IG_OK;
    }
    if (a->rank != b->rank) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "output '%s' has rank %u in one branch and %u in the other",
                            what, a->rank, b->rank);
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < a->rank; i++) {
        dims[i] = a->dims[i];
        if (ig_dim_equal(module, a->dims[i], b->dims[i]) != IG_YES) {
            const char *name = ig_arena_printf(node->import->arena, "%s_d%u", what, i);
            dims[i] = ig_onnx_symbol(node->import, name,
                                     "an extent in which two branches differ");
        }
    }
    *out_type = ig_type_with_dims(module, a, a->rank, dims);
    return IG_OK;
}
