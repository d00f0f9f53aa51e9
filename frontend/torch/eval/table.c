/* The rows of the op tables, by the name of the operator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/table.h"

#include "frontend/torch/eval/custom.h"

#include <assert.h>
#include <string.h>

/* Does `schema` start with `name`, and its overload or arguments follow?  (A class's
 * name may hold a dot.) */
static bool is_of(const char *schema, const char *name, size_t size) {
    return strncmp(schema, name, size) == 0 && strchr(".(", schema[size]);
}

static bool has_namespace(const char *name) {
    return strstr(name, "::") != NULL;
}

/* The rows of a name, which is asked for the first time. */
static ig_ts_overloads *collect_rows(ig_ts_eval *eval, const char *name) {
    assert(!ig_map_get(&eval->rows, ig_str_of(name)) &&
           "the rows of a name are collected once");
    ig_ts_overloads *found = IG_NEW(eval->arena, ig_ts_overloads);
    size_t size = strlen(name);
    const ig_ts_row *own = ig_ts_custom_row(eval, name);
    found->name = ig_arena_copy(eval->arena, name, size);
    for (size_t i = 0; has_namespace(name) && i < eval->table->count; i++) {
        found->count += is_of(eval->table->rows[i].schema, name, size);
    }
    found->rows = IG_NEW_ARRAY(eval->arena, const ig_ts_row *, found->count + 2);
    found->count = 0;
    if (own) { /* the user's word goes first */
        found->rows[found->count++] = own;
    }
    for (size_t i = 0; has_namespace(name) && i < eval->table->count; i++) {
        if (is_of(eval->table->rows[i].schema, name, size)) {
            found->rows[found->count++] = &eval->table->rows[i];
        }
    }
    ig_map_set(&eval->rows, ig_str_of(found->name), found);
    return found;
}

static ig_status read_schemas(ig_ts_eval *eval, ig_ts_overloads *overloads) {
    overloads->schemas = IG_NEW_ARRAY(eval->arena, const ig_schema *,
                                      overloads->count + 1);
    for (size_t i = 0; i < overloads->count; i++) {
        ig_location where = { .file = "op table", .op = overloads->name };
        ig_schema *schema;
        IG_TRY(ig_schema_parse(&eval->code->types, &eval->code->names,
                               overloads->rows[i]->schema, &where, &schema));
        overloads->schemas[i] = schema;
    }
    return IG_OK;
}

ig_status ig_ts_rows_find(ig_ts_eval *eval, const char *name,
                          ig_ts_overloads **out_overloads) {
    ig_ts_overloads *overloads = ig_map_get(&eval->rows, ig_str_of(name));
    if (!overloads) {
        overloads = collect_rows(eval, name);
        IG_TRY(read_schemas(eval, overloads));
    }
    *out_overloads = overloads->count ? overloads : NULL;
    return IG_OK;
}
