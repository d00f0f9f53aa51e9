/* The content of an archive, without running its program: for `ingot inspect`.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The pickled values are walked once: modules by their classes, tensors as parameters
 * (by the class's own list) or others, tables of the classes that are embeddings and of
 * FBGEMM's look-ups.  Methods come from the source of the root's class.
 */
#include "frontend/torch/entry/describe.h"
#include "frontend/torch/entry/bound.h"
#include "frontend/torch/package/package.h"
#include "frontend/torch/entry/entry.h"

#include <string.h>

enum { CLASSES_MAX = 4096, NAME_MAX_SHOWN = 256 };

typedef struct tally {
    uint64_t count, bytes;
} tally;

typedef struct class_count {
    const char *name;
    uint64_t count;
} class_count;

typedef struct describer {
    ig_ts_program *program;
    ig_code *code;
    ig_arena *arena;
    ig_map seen; /* values that were walked */
    tally parameters, others;
    uint64_t modules;
    IG_VEC(class_count) classes; /* of modules, as they come */
    ig_ts_tables tables;
} describer;

/* ---- values ---- */

static void count_tensor(const ig_py_tensor *tensor, tally *to) {
    int64_t bytes = 0;
    bool is_known = !tensor->sparse &&
                    ig_torch_dtype_bytes(tensor->dtype, tensor->count, &bytes);
    to->count++;
    to->bytes += is_known ? (uint64_t)bytes : 0;
}

static void count_class(describer *d, const char *name) {
    d->modules++;
    for (size_t i = 0; i < d->classes.count; i++) {
        if (strcmp(d->classes.items[i].name, name) == 0) {
            d->classes.items[i].count++;
            return;
        }
    }
    if (d->classes.count < CLASSES_MAX) {
        class_count one = { name, 1 };
        IG_PUSH(d->arena, &d->classes, one);
    }
}

static bool is_embedding(const char *class) {
    const char *dot = strrchr(class, '.');
    const char *name = dot ? dot + 1 : class;
    return strcmp(name, "Embedding") == 0 || strcmp(name, "EmbeddingBag") == 0;
}

static void put_embedding(describer *d, const ig_py *module, const char *path) {
    const ig_py *weight = ig_py_get(module, "weight");
    if (weight && weight->kind == IG_PY_TENSOR && weight->as.tensor->rank == 2) {
        const ig_py_tensor *tensor = weight->as.tensor;
        ig_ts_put_table(&d->tables, ig_arena_printf(d->arena, "%sweight", path),
                        tensor->sizes[0], tensor->sizes[1], tensor->dtype->name);
    }
}

static bool is_parameter(const ig_class *class, const ig_py *value, const char *name) {
    for (size_t i = 0; class && i < class->parameter_count; i++) {
        if (strcmp(class->parameters[i], name) == 0) {
            return true;
        }
    }
    return value->as.tensor->is_parameter;
}

static ig_status walk_value(describer *d, const ig_py *value, const ig_class *owner,
                            const char *name, const char *path);

static ig_status walk_items(describer *d, ig_py *const *items, size_t count,
                            const char *path) {
    for (size_t i = 0; items && i < count; i++) {
        IG_TRY(walk_value(d, items[i], NULL, "", path));
    }
    return IG_OK;
}

static ig_status walk_state(describer *d, const ig_py *state, const ig_class *class,
                            const char *path) {
    if (state->kind != IG_PY_DICT) {
        return walk_value(d, state, NULL, "", path);
    }
    for (size_t i = 0; i < state->as.dict.count; i++) {
        const ig_py *key = state->as.dict.keys[i];
        const char *name = key->kind == IG_PY_STR
                               ? ig_arena_copy(d->arena, key->as.text.data,
                                               key->as.text.size < NAME_MAX_SHOWN
                                                   ? key->as.text.size
                                                   : NAME_MAX_SHOWN)
                               : "";
        IG_TRY(walk_value(d, state->as.dict.values[i], class, name,
                          ig_arena_printf(d->arena, "%s%s.", path, name)));
    }
    return IG_OK;
}

static ig_status walk_object(describer *d, const ig_py *value, const char *path) {
    const ig_class *class = NULL;
    const char *name = ig_py_path(value, d->arena);
    ig_location where = { .file = d->program->file };
    IG_TRY(ig_code_class(d->code, name ? name : "", &where, &class));
    if (class->kind == IG_CLASS_MODULE) {
        const char *plain = ig_code_plain_name(d->code, class->name);
        count_class(d, plain);
        if (is_embedding(plain)) {
            put_embedding(d, value, path);
        }
        ig_ts_put_lookups(&d->tables, class, value, path);
    }
    const ig_py *state = value->as.object.state;
    return state ? walk_state(d, state, class, path) : IG_OK;
}

/* Depth is bounded by the pickle's own; shared values are walked once. */
static ig_status walk_value(describer *d, const ig_py *value, const ig_class *owner,
                            const char *name, const char *path) {
    bool is_leaf = value->kind < IG_PY_LIST;
    if (is_leaf || ig_map_get_id(&d->seen, IG_MAP_PTR(value))) {
        return IG_OK;
    }
    ig_map_set_id(&d->seen, IG_MAP_PTR(value), (void *)(uintptr_t)value);
    switch ((int)value->kind) {
    case IG_PY_TENSOR:
        count_tensor(value->as.tensor,
                     is_parameter(owner, value, name) ? &d->parameters : &d->others);
        return IG_OK;
    case IG_PY_LIST:
    case IG_PY_TUPLE:
    case IG_PY_SET:
        return walk_items(d, value->as.list.items, value->as.list.count, path);
    case IG_PY_DICT:
        IG_TRY(walk_items(d, value->as.dict.keys, value->as.dict.count, path));
        return walk_items(d, value->as.dict.values, value->as.dict.count, path);
    case IG_PY_OBJECT:
        return walk_object(d, value, path);
    default:
        return IG_OK;
    }
}

/* ---- methods ---- */

static const char *type_name(describer *d, const ig_script_type *type) {
    bool is_class = type && type->kind == IG_SCRIPT_CLASS;
    return !type      ? "Tensor"
           : is_class ? ig_code_plain_name(d->code, type->name)
                      : type->name;
}

static void put_pair(ig_writer *out, const char *key, const char *text) {
    ig_put(out, "\"%s\": ", key);
    ig_put_json_string(out, ig_str_of(text));
}

static void put_argument(describer *d, const ig_param *param, ig_writer *out) {
    ig_writer text;
    ig_put(out, "{");
    put_pair(out, "name", param->name);
    ig_put(out, ", ");
    put_pair(out, "type", type_name(d, param->type));
    ig_writer_init(&text, d->arena);
    if (!param->value) {
        ig_ts_argument_example(param, &text);
    }
    ig_put(out, param->value ? ", \"default\": " : ", \"example\": ");
    ig_put_json_string(out, param->value ? param->value->source : ig_writer_str(&text));
    ig_put(out, "}");
}

/* Does the archive describe each argument, by a trace or a default? */
static bool is_typed(const describer *d, const ig_function *method, const char *name) {
    const ig_py *traced = d->program->traced ? ig_py_get(d->program->traced, name)
                                             : NULL;
    bool is_list = traced &&
                   (traced->kind == IG_PY_LIST || traced->kind == IG_PY_TUPLE);
    size_t known = is_list ? traced->as.list.count : 0;
    for (size_t i = 1; i < method->param_count; i++) {
        if (i > known && !method->params[i].value) {
            return false;
        }
    }
    return true;
}

static void put_method(describer *d, const ig_function *method, ig_writer *out) {
    const char *dot = strrchr(method->name, '.');
    const char *name = dot ? dot + 1 : method->name;
    ig_put(out, "\n  {");
    put_pair(out, "name", name);
    ig_put(out, ", \"arguments\": [");
    for (size_t i = 1; i < method->param_count; i++) {
        ig_put(out, i > 1 ? ",\n    " : "\n    ");
        put_argument(d, &method->params[i], out);
    }
    ig_put(out, "],\n   ");
    put_pair(out, "returns", method->returns ? type_name(d, method->returns) : "");
    ig_put(out, ", \"needs_types\": %s}", is_typed(d, method, name) ? "false" : "true");
}

/* ---- the listing ---- */

static void put_tally(ig_writer *out, const char *key, tally which) {
    ig_put(out, " \"%s\": {\"count\": %llu, \"bytes\": %llu},\n", key,
           (unsigned long long)which.count, (unsigned long long)which.bytes);
}

static ig_status put_listing(describer *d, ig_writer *out) {
    const ig_class *class = NULL;
    const char *name = ig_py_path(d->program->root, d->arena);
    ig_location where = { .file = d->program->file };
    IG_TRY(ig_code_class(d->code, name ? name : "", &where, &class));
    IG_TRY(walk_value(d, d->program->root, NULL, "", ""));
    IG_TRY(walk_value(d, d->program->constants, NULL, "", "CONSTANTS."));
    ig_put(out, "{\"format\": \"torchscript\", \"version\": %lld,\n ",
           (long long)d->program->version);
    put_pair(out, "class", ig_code_plain_name(d->code, class->name));
    ig_put(out, ",\n \"methods\": [");
    for (size_t i = 0; i < class->method_count; i++) {
        ig_put(out, i ? "," : "");
        put_method(d, &class->methods[i], out);
    }
    ig_put(out, "],\n \"modules\": {\"count\": %llu, \"classes\": [",
           (unsigned long long)d->modules);
    for (size_t i = 0; i < d->classes.count; i++) {
        ig_put(out, i ? ",\n  {" : "\n  {");
        put_pair(out, "name", d->classes.items[i].name);
        ig_put(out, ", \"count\": %llu}",
               (unsigned long long)d->classes.items[i].count);
    }
    ig_put(out, "]},\n");
    put_tally(out, "parameters", d->parameters);
    put_tally(out, "other_tensors", d->others);
    ig_put(out, " \"tables\": [%.*s]}", IG_STR_ARG(ig_writer_str(d->tables.out)));
    return IG_OK;
}

static ig_status describe_program(ig_context *context, ig_arena *arena,
                                  const char *path, ig_str bytes, ig_writer *out) {
    ig_ts_program program;
    ig_code code;
    ig_writer tables;
    IG_TRY(ig_ts_program_open(context, arena, path, bytes, NULL, &program));
    ig_code_init(&code, context, arena, path, program.code_folder);
    code.read = program.read;
    code.user = program.user;
    ig_writer_init(&tables, arena);
    describer d = { .program = &program,
                    .code = &code,
                    .arena = arena,
                    .tables = { .arena = arena, .out = &tables } };
    ig_map_init(&d.seen, arena);
    return put_listing(&d, out);
}

static ig_status describe_package(ig_context *context, ig_arena *arena,
                                  const char *path, ig_str bytes, ig_writer *out) {
    ig_archive archive;
    ig_pickle_set pickles;
    ig_package package;
    IG_TRY(ig_archive_open(&archive, context, arena, path, bytes));
    ig_pickle_set_init(&pickles, &archive);
    IG_TRY(ig_package_open(&package, &archive, &pickles));
    return ig_package_describe(&package, out);
}

typedef ig_status describe_fn(ig_context *context, ig_arena *arena, const char *path,
                              ig_str bytes, ig_writer *out);

/* Bounded as an import is. */
static ig_status describe_bounded(describe_fn *describe, ig_context *context,
                                  ig_arena *arena, const char *path, ig_str bytes,
                                  ig_writer *out) {
    ig_budget before = ig_ts_bound_begin(context, path, bytes.size);
    ig_status status = describe(context, arena, path, bytes, out);
    ig_ts_bound_end(context, &before);
    return status;
}

ig_status ig_torchscript_describe(ig_context *context, ig_arena *arena,
                                  const char *path, ig_str bytes, ig_writer *out) {
    return describe_bounded(describe_program, context, arena, path, bytes, out);
}

ig_status ig_torch_package_describe(ig_context *context, ig_arena *arena,
                                    const char *path, ig_str bytes, ig_writer *out) {
    return describe_bounded(describe_package, context, arena, path, bytes, out);
}
