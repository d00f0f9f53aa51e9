/* Types, symbols and constants as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/print.h"

#include "ir/tensor/element.h"

#include <string.h>

enum { LONGEST_LIST = 64 }; /* elements written as numbers; more are hexadecimal */

/* ---- types ---- */

static void put_extents(const ig_module *module, const ig_type *type, ig_writer *out) {
    ig_put_char(out, '[');
    for (uint32_t i = 0; i < type->rank; i++) {
        ig_put(out, "%s", i ? ", " : "");
        ig_dim_print(module, type->dims[i], out);
    }
    ig_put_char(out, ']');
}

static void put_table(const ig_module *module, const ig_type *type, ig_writer *out) {
    const char *format = ig_rows_formats[type->rows.format].text;
    ig_put(out, "%s<rowwise%s%s", ig_dtypes[type->dtype].name, *format ? " " : "",
           format);
    if (type->rows.exponent_bits) {
        ig_put(out, " float %u %u", type->rows.exponent_bits, type->rows.exponent_bias);
    }
    if (type->rows.stride) {
        ig_put(out, " stride %u", type->rows.stride);
    }
    ig_put_char(out, '>');
    put_extents(module, type, out);
}

static void put_vector(const ig_type *type, ig_writer *out) {
    ig_put(out, "%s", ig_dtypes[type->dtype].name);
    if (type->lanes != 1) {
        ig_put(out, "<%u>", type->lanes);
    }
}

void ig_print_type(const ig_module *module, const ig_type *type, ig_writer *writer) {
    uint32_t nested = 0;
    for (; type && (type->kind == IG_SEQUENCE || type->kind == IG_OPTIONAL); nested++) {
        ig_put(writer, "%s<", type->kind == IG_SEQUENCE ? "seq" : "opt");
        type = type->element;
    }
    if (!type) {
        ig_put_char(writer, '?');
    } else if (type->kind == IG_TABLE) {
        put_table(module, type, writer);
    } else if (type->kind == IG_VECTOR) {
        put_vector(type, writer);
    } else if (type->kind == IG_ANY) {
        ig_put(writer, "%s[*]", ig_dtypes[type->dtype].name);
    } else {
        bool is_buffer = type->kind == IG_BUFFER;
        ig_put(writer, "%s%s", is_buffer ? "&" : "", ig_dtypes[type->dtype].name);
        if (!is_buffer || type->rank) { /* &f32 is a pointer, or a buffer of one */
            put_extents(module, type, writer);
        }
    }
    while (nested--) {
        ig_put_char(writer, '>');
    }
}

/* ---- symbols ---- */

typedef struct symbol_marks {
    const ig_module *module;
    bool *is_used;
} symbol_marks;

static void mark_symbol(void *user, uint32_t symbol) {
    symbol_marks *marks = user;
    marks->is_used[symbol] = true;
}

static void mark_dims(symbol_marks *marks, const ig_dim *dims, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!ig_dim_is_static(dims[i])) {
            ig_dim_visit_symbols(marks->module, dims[i], mark_symbol, marks);
        }
    }
}

static void mark_type(symbol_marks *marks, const ig_type *type) {
    while (type && type->element) {
        type = type->element;
    }
    if (type) {
        mark_dims(marks, type->dims, type->rank);
    }
}

static void mark_attr(symbol_marks *marks, const ig_attr *attr) {
    if (attr->kind == IG_ATTR_DIM) {
        mark_dims(marks, &attr->as.dim, 1);
    } else if (attr->kind == IG_ATTR_DIMS) {
        mark_dims(marks, attr->as.dims, attr->count);
    } else if (attr->kind == IG_ATTR_DATA) {
        mark_type(marks, attr->as.data->type);
    }
}

static void mark_block(symbol_marks *marks, const ig_block *block);

static void mark_op(symbol_marks *marks, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        mark_type(marks, op->results[i].type);
    }
    uint32_t attr_count = op->code < IG_OP_COUNT ? ig_ops[op->code].attr_count : 0;
    for (uint32_t i = 0; i < attr_count; i++) {
        mark_attr(marks, &op->attrs[i]);
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        mark_block(marks, op->bodies[i]);
    }
}

static void mark_block(symbol_marks *marks, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        mark_type(marks, block->args[i]->type);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        mark_op(marks, op);
    }
}

static void put_fact(ig_writer *out, uint32_t *shown, const char *name, int64_t value) {
    ig_put(out, "%s%s = %lld", (*shown)++ ? ", " : " {", name, (long long)value);
}

static void put_symbol(ig_printer *p, const ig_symbol *symbol) {
    uint32_t shown = 0;
    ig_put(p->out, "  symbol %s", symbol->name);
    if (symbol->min != 0) {
        put_fact(p->out, &shown, "min", symbol->min);
    }
    if (symbol->max != INT64_MAX) {
        put_fact(p->out, &shown, "max", symbol->max);
    }
    if (symbol->multiple != 1) {
        put_fact(p->out, &shown, "multiple", symbol->multiple);
    }
    if (symbol->origin) {
        ig_put(p->out, "%sorigin = ", shown++ ? ", " : " {");
        ig_put_quoted(p->out, ig_str_of(symbol->origin));
    }
    if (ig_symbol_is_defined(symbol)) {
        ig_put(p->out, "%sdefined = ", shown++ ? ", " : " {");
        ig_dim_print(p->module, symbol->defined, p->out);
    }
    ig_put(p->out, "%s\n", shown ? "}" : "");
}

void ig_print_symbols(ig_printer *p) {
    const ig_module *module = p->module;
    uint32_t count = ig_symbol_count(module);
    symbol_marks marks = { module, IG_NEW_ARRAY(p->out->arena, bool, count) };
    for (size_t i = 0; i < module->weights.count; i++) {
        mark_type(&marks, module->weights.items[i]->type);
    }
    for (size_t i = 0; i < module->graphs.count; i++) {
        mark_block(&marks, &module->graphs.items[i]->body);
    }
    for (uint32_t i = 0; i < count; i++) {
        const ig_symbol *symbol = ig_symbol_at(module, i);
        bool is_default = symbol->min == 0 && symbol->max == INT64_MAX &&
                          symbol->multiple == 1 && !symbol->origin &&
                          !ig_symbol_is_defined(symbol);
        if (marks.is_used[i] && !is_default) {
            put_symbol(p, symbol);
        }
    }
}

/* ---- constants ---- */

static void put_hex(ig_writer *out, const void *bytes, int64_t size) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = bytes;
    ig_put(out, "inline(0x");
    for (int64_t i = 0; i < size; i++) {
        ig_put_char(out, digits[at[i] >> 4]);
        ig_put_char(out, digits[at[i] & 15]);
    }
    ig_put_char(out, ')');
}

/* Is the constant printed as numbers that people can read: few, and of a plain
 * dtype? */
static bool is_list(const ig_data *data, int64_t *out_count) {
    int64_t size;
    return data->type->kind != IG_TABLE && ig_type_known_count(data->type, out_count) &&
           *out_count <= LONGEST_LIST && ig_type_bytes(data->type, &size) &&
           size == data->size;
}

static void put_list(ig_printer *p, const ig_data *data, int64_t count) {
    ig_dtype dtype = (ig_dtype)data->type->dtype;
    if (data->type->rank == 0 && data->type->lanes <= 1) {
        ig_element_print(dtype, data->bytes, 0, p->out);
        return;
    }
    ig_put_char(p->out, '[');
    for (int64_t i = 0; i < count; i++) {
        ig_put(p->out, "%s", i ? ", " : "");
        ig_element_print(dtype, data->bytes, i, p->out);
    }
    ig_put_char(p->out, ']');
}

static void put_file_name(ig_printer *p, ig_str path) {
    size_t skipped = p->folder.size;
    if (skipped <= path.size && memcmp(path.data, p->folder.data, skipped) == 0) {
        path = (ig_str){ path.data + skipped, path.size - skipped };
    }
    ig_put_quoted(p->out, path);
}

static void put_content(ig_printer *p, const ig_data *data) {
    int64_t limit = p->options->data_bytes, count;
    if (data->file) {
        ig_put(p->out, "file(");
        put_file_name(p, ig_str_of(data->file));
        ig_put(p->out, ", %lld, %lld", (long long)data->offset, (long long)data->size);
        if (p->options->file_hashes && data->bytes) {
            uint64_t hash = ig_hash_bytes(data->bytes, (size_t)data->size, 0);
            ig_put(p->out, ", 0x%016llx", (unsigned long long)hash);
        }
        ig_put_char(p->out, ')');
    } else if (data->is_splat) {
        ig_put(p->out, "splat(");
        ig_element_print((ig_dtype)data->type->dtype, data->bytes, 0, p->out);
        ig_put_char(p->out, ')');
    } else if (limit && data->size > limit) {
        ig_put(p->out, "elided(%lld)", (long long)data->size);
    } else if (is_list(data, &count)) {
        put_list(p, data, count);
    } else {
        put_hex(p->out, data->bytes, data->size);
    }
}

void ig_print_data(ig_printer *p, const ig_data *data, const ig_type *implied) {
    if (data->type != implied) {
        ig_print_type(p->module, data->type, p->out);
        ig_put_char(p->out, ' ');
    }
    put_content(p, data);
}
