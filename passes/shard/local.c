/* Cutting a table: rows by borrowing, columns by copying.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whole rows that are next to each other stay where they are, in a mapped file mostly.
 * Columns of quantised rows take the row's scale and bias along; their codes are cut at
 * bytes.
 */
#include "passes/shard/local.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

#define CUT_ERROR(c, ...)                                 \
    ig_error(&(c)->module->context->diag, IG_UNSUPPORTED, \
             ig_op_location((c)->divided->op), "table '%s' " __VA_ARGS__)

typedef struct cutter {
    ig_module *module;
    const ig_divided *divided;
    const ig_shard_part *part;
    const ig_weight *weight;
    bool is_wide; /* all columns */
    ig_rows format;
    unsigned bits;
    ig_row_layout from, to; /* rows of the table, and of the part cut out */
} cutter;

/* Tensors have rows as plain tables do. */
static bool open_rows(cutter *c) {
    const ig_type *type = c->weight->type;
    int64_t dim;
    (void)ig_dim_known(type->dims[1], &dim); /* infer has seen that it is */
    c->bits = ig_dtypes[type->dtype].bits;
    c->is_wide = c->part->columns == dim;
    c->format = type->kind == IG_TABLE ? type->rows : (ig_rows){ 0 };
    bool is_packed = type->kind != IG_TABLE && dim * c->bits % 8 != 0;
    if (is_packed || !ig_row_layout_of(c->format, c->bits, dim, &c->from)) {
        return false;
    }
    if (!c->is_wide) {
        c->format.stride = 0;
    }
    c->to = c->from;
    bool is_cut = c->part->column * c->bits % 8 == 0 &&
                  (type->kind == IG_TABLE || c->part->columns * c->bits % 8 == 0);
    return c->is_wide ||
           (is_cut && ig_row_layout_of(c->format, c->bits, c->part->columns, &c->to));
}

static const ig_type *type_of(const cutter *c) {
    const ig_type *type = c->weight->type;
    ig_dim dims[] = { ig_dim_const(c->module, c->part->own),
                      ig_dim_const(c->module, c->part->columns) };
    return type->kind == IG_TABLE
               ? ig_type_table(c->module, (ig_dtype)type->dtype, c->format, dims[0],
                               dims[1])
               : ig_type_tensor(c->module, (ig_dtype)type->dtype, 2, dims);
}

static void copy_row(const cutter *c, const char *from, char *to) {
    const ig_row_info *info = &ig_rows_formats[c->format.format];
    int64_t first = c->part->column * c->bits / 8;
    int64_t codes = (c->part->columns * c->bits + 7) / 8;
    int64_t factors = info->side ? 2 * (ig_dtypes[info->dtype].bits / 8) : 0;
    memcpy(to + c->to.codes, from + c->from.codes + first, (size_t)codes);
    if (factors) {
        memcpy(to + c->to.factors, from + c->from.factors, (size_t)factors);
    }
}

static void copy_shard(const cutter *c, uint32_t shard, char *to) {
    const ig_shard_part *part = c->part;
    const char *from = (const char *)c->weight->data.bytes +
                       part->starts[shard] * c->from.stride;
    to += part->bases[shard] * c->to.stride;
    if (c->is_wide) {
        memcpy(to, from, (size_t)(part->rows[shard] * c->from.stride));
        return;
    }
    for (int64_t row = 0; row < part->rows[shard]; row++) {
        copy_row(c, from + row * c->from.stride, to + row * c->to.stride);
    }
}

/* The only shard of the rank, when there is but one; else the number of shards. */
static uint32_t find_shard(const cutter *c) {
    uint32_t found = c->part->count;
    for (uint32_t i = 0; i < c->part->count; i++) {
        if (c->part->ranks[i] == c->divided->rank) {
            if (found < c->part->count) {
                return c->part->count;
            }
            found = i;
        }
    }
    return found;
}

static void borrow_rows(const cutter *c, uint32_t shard, ig_data *data) {
    int64_t first = c->part->starts[shard] * c->from.stride;
    data->bytes = (const char *)c->weight->data.bytes + first;
    data->offset += data->file ? first : 0;
}

static void copy_shards(const cutter *c, ig_data *data) {
    char *bytes = ig_arena_alloc(&c->module->arena, (size_t)data->size);
    memset(bytes, 0, (size_t)data->size);
    for (uint32_t i = 0; i < c->part->count; i++) {
        if (c->part->ranks[i] == c->divided->rank) {
            copy_shard(c, i, bytes);
        }
    }
    data->bytes = bytes;
    data->file = NULL;
    data->offset = 0;
}

static ig_status cut_weight(const cutter *c, ig_data *data) {
    *data = c->weight->data;
    data->type = type_of(c);
    if (!ig_mul_i64(c->part->own, c->to.stride, &data->size)) {
        return CUT_ERROR(c, "is too large", c->weight->name);
    }
    if (data->is_splat) {
        return IG_OK;
    }
    if (!data->bytes) {
        return CUT_ERROR(c, "has no bytes here", c->weight->name);
    }
    uint32_t shard = find_shard(c);
    if (c->is_wide && shard < c->part->count) {
        borrow_rows(c, shard, data);
    } else {
        copy_shards(c, data);
    }
    return IG_OK;
}

/* A part of an opened table is opened too: an argument after all others. */
static ig_value *open_part(ig_graph *graph, const ig_weight *own) {
    uint32_t count = graph->body.arg_count;
    const char **names = IG_NEW_ARRAY(&graph->module->arena, const char *, count + 1);
    assert(graph->state_count == 0 && graph->arg_names && "as training has it");
    memcpy(names, graph->arg_names, count * sizeof *names);
    names[count] = own->name;
    graph->arg_names = names;
    graph->signature = NULL;
    graph->opened_count++;
    return ig_block_add_arg(&graph->body, own->type, own->name);
}

ig_status ig_make_local(ig_divided *divided, uint32_t index) {
    ig_shard_part *part = &divided->parts[index];
    ig_value *table = divided->op->operands[0].value;
    cutter c = { .module = ig_op_module(divided->op),
                 .divided = divided,
                 .part = part };
    c.weight = ig_module_weight(c.module, ig_table_name(table));
    if (!c.weight || c.weight->is_recipe) {
        return CUT_ERROR(&c, "is computed, and cannot be divided",
                         ig_table_name(table));
    }
    if (!open_rows(&c)) {
        return CUT_ERROR(
            &c,
            "cannot be cut at column %lld: its elements are of %u bits; cut "
            "it at whole bytes, or by rows",
            c.weight->name, (long long)part->column, c.bits);
    }
    ig_builder b = ig_builder_before(divided->op);
    if (part->own == divided->rows && c.is_wide) {
        part->table = table;
        return IG_OK;
    }
    ig_data data;
    IG_TRY(cut_weight(&c, &data));
    const char *name = ig_arena_printf(&c.module->arena, "%s.%u", c.weight->name,
                                       index);
    ig_weight *own = ig_module_add_weight(c.module, name, &data);
    own->is_parameter = c.weight->is_parameter;
    part->table = table->def ? ig_make_weight(&b, own) : open_part(b.graph, own);
    return IG_OK;
}
