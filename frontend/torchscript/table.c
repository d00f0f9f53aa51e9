/* The op tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torchscript/builtin.h"
#include "frontend/torchscript/table.h"

#include <string.h>

#define OP(schema, hook, variant) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torchscript/families.def"
#undef OP

const ig_ts_row ig_ts_rows[] = {
#define OP(schema, hook, variant) { schema, ig_ts_op_##hook, variant },
#include "frontend/torchscript/families.def"
#undef OP
};
const size_t ig_ts_row_count = IG_COUNT_OF(ig_ts_rows);

/* "aten::add" of "aten::add.Tensor(Tensor self …"; a class's name may hold a dot. */
static ig_str name_of(const ig_ts_row *row) {
    const char *colon = strstr(row->schema, "::");
    size_t      ns = colon ? (size_t)(colon - row->schema) : 0;
    return (ig_str){ row->schema, ns + strcspn(row->schema + ns, ".(") };
}

void ig_ts_rows_index(ig_ts_eval *eval) {
    ig_map_init(&eval->rows, eval->arena);
    for (size_t i = 0; i < ig_ts_row_count; i++) {
        ig_str           name = name_of(&ig_ts_rows[i]);
        ig_ts_overloads *overloads = ig_map_get(&eval->rows, name);
        if (!overloads) {
            overloads = IG_NEW(eval->arena, ig_ts_overloads);
            overloads->name = ig_arena_copy(eval->arena, name.data, name.size);
            ig_map_set(&eval->rows, name, overloads);
        }
        overloads->count++;
    }
    for (size_t i = 0; i < ig_ts_row_count; i++) {
        ig_ts_overloads *overloads = ig_map_get(&eval->rows, name_of(&ig_ts_rows[i]));
        if (!overloads->rows) {
            overloads->rows = IG_NEW_ARRAY(eval->arena, const ig_ts_row *,
                                           overloads->count);
            overloads->count = 0;
        }
        overloads->rows[overloads->count++] = &ig_ts_rows[i];
    }
    ig_ts_needs_index(eval);
}

ig_status ig_ts_rows_find(ig_ts_eval *eval, const char *name,
                          ig_ts_overloads **out_overloads) {
    ig_ts_overloads *overloads = ig_map_get(&eval->rows, ig_str_of(name));
    *out_overloads = overloads;
    if (!overloads || overloads->is_read) {
        return IG_OK;
    }
    overloads->schemas = IG_NEW_ARRAY(eval->arena, const ig_schema *, overloads->count);
    for (size_t i = 0; i < overloads->count; i++) {
        ig_location where = { .file = "op table", .op = name };
        ig_schema  *schema;
        IG_TRY(ig_schema_parse(&eval->code->types, &eval->code->names,
                               overloads->rows[i]->schema, &where, &schema));
        overloads->schemas[i] = schema;
    }
    overloads->is_read = true;
    return IG_OK;
}
