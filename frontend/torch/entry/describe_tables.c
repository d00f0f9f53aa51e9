/* Tables of FBGEMM's look-ups, for the listing of an archive.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The look-up's arguments are attributes of the module, directly or by way of a local
 * name:
 *
 *     _tensor_constant3 = self._tensor_constant3
 *     y = ops.fbgemm.int_nbit_split_embedding_codegen_lookup_function(…)
 *
 * Whatever is written otherwise is not listed.  Names are those of the IR: w.t0, w.t1.
 * A table's number of rows comes from a bounds_check_indices of as many tables, else
 * from the distance to the next table.
 */
#include "frontend/torch/entry/describe.h"

#include <assert.h>
#include <string.h>

enum { TABLES_MAX = 4096, LOCALS_MAX = 4096 };

/* By SparseType: the name of the elements, their bits, bytes of scale and bias. */
static const struct {
    const char *dtype;
    int64_t bits, extra;
} row_kinds[] = {
    { "float32", 32, 0 }, { "float16", 16, 0 },  { "int8", 8, 4 }, { "int4", 4, 4 },
    { "int2", 2, 4 },     { "bfloat16", 16, 0 }, { "fp8", 8, 0 },
};

/* The value of an expression, and its path below the root, without a final '.'. */
typedef struct known {
    const ig_py *value;
    const char *path;
} known;

typedef struct finder {
    ig_ts_tables *to;
    const ig_py *module;
    const char *path;  /* of the module: "" or with a final '.' */
    ig_map locals;     /* name -> known */
    const ig_py *rows; /* of the last check of bounds */
} finder;

typedef struct numbers {
    const int64_t *items;
    size_t count;
} numbers;

void ig_ts_put_table(ig_ts_tables *to, const char *name, int64_t rows, int64_t dim,
                     const char *dtype) {
    if (to->count++ >= TABLES_MAX) {
        return;
    }
    ig_put(to->out, to->count > 1 ? ",\n  {\"name\": " : "\n  {\"name\": ");
    ig_put_json_string(to->out, ig_str_of(name));
    ig_put(to->out, ", \"rows\": %lld, \"dim\": %lld, \"dtype\": \"%s\"}",
           (long long)rows, (long long)dim, dtype);
}

/* ---- values of expressions ---- */

/* self.a.b, or a local name for such; else a NULL value. */
static known find_value(const finder *f, const ig_ast *node) {
    known none = { NULL, "" };
    if (node->kind == IG_AST_NAME) {
        known *local = ig_map_get_id(&f->locals, IG_MAP_PTR(node->as.name));
        known self = { f->module, "" };
        return strcmp(node->as.name, "self") == 0 ? self : local ? *local : none;
    }
    if (node->kind != IG_AST_ATTRIBUTE || node->depth > 16) {
        return none;
    }
    known object = find_value(f, node->as.attribute.object);
    if (!object.value || object.value->kind != IG_PY_OBJECT) {
        return none;
    }
    const char *name = node->as.attribute.name;
    bool is_self = object.value == f->module;
    return (known){ ig_py_get(object.value, name),
                    ig_arena_printf(f->to->arena, "%s%s%s",
                                    is_self ? f->path : object.path, is_self ? "" : ".",
                                    name) };
}

static const ig_py *value_of(const finder *f, const ig_ast *node) {
    return find_value(f, node).value;
}

/* The elements of a small tensor of whole numbers; count 0: it is none. */
static numbers numbers_of(const finder *f, const ig_py *value) {
    numbers out = { 0 };
    if (!value || value->kind != IG_PY_TENSOR || value->as.tensor->rank != 1 ||
        value->as.tensor->count < 1 || value->as.tensor->count > TABLES_MAX) {
        return out;
    }
    const ig_py_tensor *tensor = value->as.tensor;
    int64_t size = tensor->dtype->bits / 8;
    bool is_whole = tensor->dtype->ir == IG_DT_i64 || tensor->dtype->ir == IG_DT_i32 ||
                    tensor->dtype->ir == IG_DT_u8;
    if (!is_whole || !tensor->storage || !tensor->storage->bytes ||
        !ig_py_tensor_is_contiguous(tensor)) {
        return out;
    }
    const char *bytes = (const char *)tensor->storage->bytes + tensor->offset * size;
    int64_t *items = IG_NEW_ARRAY(f->to->arena, int64_t, (size_t)tensor->count);
    for (int64_t i = 0; i < tensor->count; i++) {
        int32_t narrow = 0;
        if (size == 8) {
            memcpy(&items[i], bytes + i * 8, 8);
        } else if (size == 4) {
            memcpy(&narrow, bytes + i * 4, 4);
            items[i] = narrow;
        } else {
            items[i] = ((const uint8_t *)bytes)[i];
        }
    }
    return (numbers){ items, (size_t)tensor->count };
}

/* ---- a look-up ---- */

static bool has_bytes(const ig_py *value) {
    return value && value->kind == IG_PY_TENSOR && value->as.tensor->count > 0;
}

/* The tables' bytes: on the device, else in managed memory; FBGEMM's own module, whose
 * code chooses between them, calls them so. */
static known find_storage(const finder *f, const ig_ast_list *arguments) {
    static const char *const names[] = { "weights_dev", "weights_host", "weights_uvm" };
    for (size_t i = 0; i < 2; i++) {
        known flat = find_value(f, arguments->items[i]);
        if (has_bytes(flat.value)) {
            return flat;
        }
    }
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        const ig_py *value = ig_py_get(f->module, names[i]);
        if (has_bytes(value)) {
            return (known){ value,
                            ig_arena_printf(f->to->arena, "%s%s", f->path, names[i]) };
        }
    }
    return (known){ NULL, "" };
}

/* The rows that fit between the table's start and the next one's. */
static int64_t rows_that_fit(const numbers *starts, size_t at, int64_t row,
                             int64_t end) {
    assert(at < starts->count && "a table of the look-up");
    for (size_t i = 0; i < starts->count; i++) {
        if (starts->items[i] > starts->items[at] && starts->items[i] < end) {
            end = starts->items[i];
        }
    }
    return row > 0 && end > starts->items[at] ? (end - starts->items[at]) / row : 0;
}

static bool is_given(const numbers *starts, size_t at) {
    for (size_t i = 0; i < at; i++) {
        if (starts->items[i] == starts->items[at]) {
            return true;
        }
    }
    return false;
}

static void put_tables(finder *f, const ig_ast_list *arguments) {
    enum { STARTS = 3, KINDS = 4, COLUMNS = 5, ALIGN = 19 };
    numbers starts = numbers_of(f, value_of(f, arguments->items[STARTS]));
    numbers kinds = numbers_of(f, value_of(f, arguments->items[KINDS]));
    numbers columns = numbers_of(f, value_of(f, arguments->items[COLUMNS]));
    numbers rows = numbers_of(f, f->rows ? f->rows
                                         : ig_py_get(f->module, "rows_per_table"));
    known flat = find_storage(f, arguments);
    int64_t align = 1;
    if (arguments->count > ALIGN && arguments->items[ALIGN]->kind == IG_AST_INT) {
        align = arguments->items[ALIGN]->as.i;
    }
    if (!flat.value || starts.count == 0 || kinds.count != starts.count || align < 1 ||
        columns.count != starts.count + 1 || align > 4096) {
        return;
    }
    for (size_t i = 0; i < starts.count; i++) {
        int64_t dim = columns.items[i + 1] - columns.items[i], kind = kinds.items[i];
        if (kind < 0 || kind >= (int64_t)IG_COUNT_OF(row_kinds) || dim < 1 ||
            dim > INT32_MAX || is_given(&starts, i)) {
            continue;
        }
        int64_t row = (dim * row_kinds[kind].bits + 7) / 8 + row_kinds[kind].extra;
        row = (row + align - 1) / align * align;
        int64_t fits = rows_that_fit(&starts, i, row, flat.value->as.tensor->count);
        const char *name = ig_arena_printf(f->to->arena, "%s.t%zu", flat.path, i);
        ig_ts_put_table(f->to, name, rows.count == starts.count ? rows.items[i] : fits,
                        dim, row_kinds[kind].dtype);
    }
}

/* ---- statements ---- */

static void visit_call(finder *f, const ig_ast *call) {
    const ig_ast_list *arguments = &call->as.call.arguments;
    const ig_ast *function = call->as.call.function;
    if (function->kind != IG_AST_ATTRIBUTE) {
        return;
    }
    const char *name = function->as.attribute.name;
    if (strcmp(name, "bounds_check_indices") == 0 && arguments->count > 0) {
        f->rows = value_of(f, arguments->items[0]);
    } else if (strcmp(name, "int_nbit_split_embedding_codegen_lookup_function") == 0 &&
               arguments->count > 5) {
        put_tables(f, arguments);
    }
}

static void visit_node(finder *f, const ig_ast *statement) {
    const ig_ast *value = statement->kind == IG_AST_ASSIGN ? statement->as.assign.value
                          : statement->kind == IG_AST_EXPRESSION ? statement->as.value
                                                                 : NULL;
    if (!value) {
        return;
    }
    if (value->kind == IG_AST_CALL) {
        visit_call(f, value);
    }
    if (statement->kind != IG_AST_ASSIGN || statement->as.assign.targets.count != 1) {
        return;
    }
    const ig_ast *target = statement->as.assign.targets.items[0];
    known found = find_value(f, value);
    if (target->kind == IG_AST_NAME && found.value) {
        known *kept = IG_NEW(f->to->arena, known);
        *kept = found;
        ig_map_set_id(&f->locals, IG_MAP_PTR(target->as.name), kept);
    }
}

void ig_ts_put_lookups(ig_ts_tables *to, const ig_class *class, const ig_py *module,
                       const char *path) {
    for (size_t i = 0; i < class->method_count; i++) {
        const ig_ast *node = class->methods[i].node;
        finder f = { .to = to, .module = module, .path = path };
        ig_map_init(&f.locals, to->arena);
        for (size_t k = 0; node && k < node->as.def->body.count; k++) {
            visit_node(&f, node->as.def->body.items[k]);
        }
    }
}
