/* From a pickled tree of torch.nn modules to a program in TorchScript's terms.
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch.package pickles a module as its __dict__:
 *
 *     Linear { training, _parameters {weight, bias}, _buffers {}, _modules {}, hooks …,
 *              in_features, out_features }
 *
 * TorchScript's data.pkl has an object with one flat set of attributes and a class
 * whose source says what forward does.  So each module becomes such an object, of a
 * class of its own (`__torch__.torch.nn.modules.linear.___torch_mangle_3.Linear`: the
 * mangling keeps them apart, and messages leave it out), and the class gets the forward
 * of its row in modules.def.  The evaluator does the rest.  A module with two
 * parents stays one object.
 */
#include "frontend/torch/package/tree.h"

#include "base/vec.h"
#include "base/writer.h"

#include <assert.h>
#include <string.h>

/* A module that is not ours, and where in the tree it is. */
typedef struct unknown_module {
    const ig_py *module;
    const char *path;
    bool has_hooks; /* of a class that is known */
} unknown_module;

typedef struct builder {
    ig_package *package;
    ig_arena *arena;
    const char *resource;
    ig_map made;  /* module -> its object; container -> the same of objects */
    ig_map files; /* entry name -> ig_str, the source */
    ig_map told;  /* classes that were reported */
    IG_VEC(unknown_module) unknown;
    ig_ts_sources sources; /* of the classes that are written in the package */
    size_t count;
    bool has_python; /* are there such? */
} builder;

/* ---- values ---- */

static ig_py *make_value(builder *b, ig_py_kind kind, const ig_py *from) {
    assert(kind < IG_PY_KIND_COUNT && "values have one of our kinds");
    ig_py *value = IG_NEW(b->arena, ig_py);
    value->kind = kind;
    value->id = b->package->pickles->value_count++;
    value->offset = from->offset;
    return value;
}

static ig_py *make_text(builder *b, const char *text, const ig_py *from) {
    ig_py *value = make_value(b, IG_PY_STR, from);
    value->as.text = ig_str_of(text);
    return value;
}

static bool is_plain(const ig_py *value);

static bool are_plain(ig_py *const *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!is_plain(items[i])) {
            return false;
        }
    }
    return true;
}

/* Can the evaluator take it as an attribute?  Functions and the like are left out. */
static bool is_plain(const ig_py *value) {
    switch (value->kind) {
    case IG_PY_NONE:
    case IG_PY_BOOL:
    case IG_PY_INT:
    case IG_PY_FLOAT:
    case IG_PY_STR:
    case IG_PY_TENSOR:
        return true;
    case IG_PY_LIST:
    case IG_PY_TUPLE:
        return are_plain(value->as.list.items, value->as.list.count);
    case IG_PY_BIG:
    case IG_PY_COMPLEX:
    case IG_PY_BYTES:
    case IG_PY_SET:
    case IG_PY_DICT:
    case IG_PY_GLOBAL:
    case IG_PY_OBJECT:
    case IG_PY_ENUM:
    case IG_PY_CALL:
    case IG_PY_STORAGE:
    case IG_PY_DTYPE:
    case IG_PY_DEVICE:
    case IG_PY_KIND_COUNT:
        return false;
    }
    return false;
}

/* Tuples of integers (kernel_size, normalized_shape) are what operators take as
 * lists. */
static ig_py *as_list(builder *b, ig_py *value) {
    bool is_ints = value->kind == IG_PY_TUPLE && value->as.list.count > 0;
    for (size_t i = 0; is_ints && i < value->as.list.count; i++) {
        is_ints = value->as.list.items[i]->kind == IG_PY_INT;
    }
    if (!is_ints) {
        return value;
    }
    ig_py *list = make_value(b, IG_PY_LIST, value);
    list->as.list.items = value->as.list.items;
    list->as.list.count = value->as.list.count;
    list->type = "List[int]";
    return list;
}

/* ---- one module ---- */

/* The attributes under construction; room for all that can come. */
typedef struct attributes {
    ig_py **keys, **values;
    size_t count, capacity;
} attributes;

static void add_attribute(attributes *to, ig_py *key, ig_py *value) {
    assert(to->count < to->capacity && "start_attributes counted all that can come");
    assert(key->kind == IG_PY_STR && "attributes are named by text");
    to->keys[to->count] = key;
    to->values[to->count++] = value;
}

static size_t size_of(const ig_py *module, const char *group) {
    const ig_py *dict = ig_py_get(module, group);
    return dict && dict->kind == IG_PY_DICT ? dict->as.dict.count : 0;
}

static void add_group(attributes *to, const ig_py *module, const char *group) {
    const ig_py *dict = ig_py_get(module, group);
    for (size_t i = 0; i < size_of(module, group); i++) {
        add_attribute(to, dict->as.dict.keys[i], dict->as.dict.values[i]);
    }
}

/* Attributes that torch.nn.Module keeps about itself. */
static bool is_bookkeeping(ig_str name) {
    static const char *const kept[] = { "_reversed_padding_repeated_twice",
                                        "_qkv_same_embed_dim" };
    for (size_t i = 0; i < IG_COUNT_OF(kept); i++) {
        if (ig_str_is(name, kept[i])) {
            return false;
        }
    }
    return ig_str_starts(name, "_");
}

static void add_plain(builder *b, attributes *to, const ig_py *module) {
    const ig_py *state = module->as.object.state;
    if (state->kind == IG_PY_TUPLE) {
        state = state->as.list.items[0];
    }
    for (size_t i = 0; i < state->as.dict.count; i++) {
        ig_py *key = state->as.dict.keys[i], *value = state->as.dict.values[i];
        if (key->kind == IG_PY_STR && !is_bookkeeping(key->as.text) &&
            is_plain(value)) {
            add_attribute(to, key, as_list(b, value));
        }
    }
}

/* Buffers and attributes that older torch did not have. */
static void add_absent(builder *b, attributes *to, const ig_py *module) {
    const char *name;
    ig_py value;
    for (size_t i = 0; ig_package_absent(module->as.object.class, i, &name, &value);
         i++) {
        if (ig_py_get(module, name) || ig_package_member(module, "_buffers", name)) {
            continue;
        }
        bool is_buffer = ig_py_get(ig_py_get(module, "_buffers"), name) != NULL;
        ig_py *made = make_value(b, value.kind, module);
        made->as = value.as;
        if (!is_buffer) {
            add_attribute(to, make_text(b, name, module), made);
        }
    }
}

enum { MOST_ABSENT = 8 };

static attributes start_attributes(builder *b, const ig_py *module) {
    assert(ig_package_is_module(module) && "only modules have attributes to gather");
    const ig_py *state = module->as.object.state;
    if (state->kind == IG_PY_TUPLE) {
        state = state->as.list.items[0];
    }
    size_t most = state->as.dict.count + size_of(module, "_parameters") +
                  size_of(module, "_buffers") + size_of(module, "_modules") +
                  MOST_ABSENT;
    return (attributes){ .keys = IG_NEW_ARRAY(b->arena, ig_py *, most),
                         .values = IG_NEW_ARRAY(b->arena, ig_py *, most),
                         .capacity = most };
}

/* ---- source ---- */

static void put_names(ig_writer *out, const char *label, const ig_py *dict) {
    ig_put(out, "  %s = [", label);
    for (size_t i = 0; dict && i < dict->as.dict.count; i++) {
        if (dict->as.dict.values[i]->kind == IG_PY_TENSOR) {
            ig_put_quoted(out, dict->as.dict.keys[i]->as.text);
            ig_put(out, ", ");
        }
    }
    ig_put(out, "]\n");
}

/* Writes the class and returns its GLOBAL. */
static ig_py *write_class(builder *b, const ig_py *module,
                          const ig_package_class *row) {
    assert((row->body || row->write) &&
           "a row of modules.def has a body or writes one");
    ig_writer out;
    const ig_py *class = module->as.object.class;
    ig_str name = class->as.global.name;
    size_t number = b->count++;
    ig_writer_init(&out, b->arena);
    ig_put(&out, "class %.*s(Module):\n", IG_STR_ARG(name));
    put_names(&out, "__parameters__", ig_py_get(module, "_parameters"));
    put_names(&out, "__buffers__", ig_py_get(module, "_buffers"));
    ig_put(&out, "  def forward(self%s%s):\n", row->parameters[0] ? ", " : "",
           row->parameters);
    if (row->body) {
        ig_put(&out, "%s", row->body);
    } else {
        row->write(&out, module);
    }
    char *path = ig_arena_printf(b->arena, "%.*s", IG_STR_ARG(class->as.global.module));
    ig_py *made = make_value(b, IG_PY_GLOBAL, module);
    made->as.global.module = ig_str_of(
        ig_arena_printf(b->arena, "__torch__.%s.___torch_mangle_%zu", path, number));
    made->as.global.name = name;
    for (char *at = path; *at; at++) {
        *at = *at == '.' ? '/' : *at;
    }
    ig_str *text = IG_NEW(b->arena, ig_str);
    *text = ig_writer_str(&out);
    const char *entry = ig_arena_printf(
        b->arena, "code/__torch__/%s/___torch_mangle_%zu.py", path, number);
    ig_map_set(&b->files, ig_str_of(entry), text);
    return made;
}

static ig_status read_source(void *user, const char *name, ig_str *out_text,
                             bool *out_found) {
    const ig_map *files = user;
    const ig_str *text = ig_map_get(files, ig_str_of(name));
    *out_found = text != NULL;
    *out_text = text ? *text : IG_STR("");
    return IG_OK;
}

/* ---- what is not ours ---- */

/* The line of "class NAME" in a source of the package, and its entry; 0: it is not
 * in. */
static uint32_t find_definition(builder *b, const ig_py *class,
                                const char **out_entry) {
    ig_archive *archive = b->package->archive;
    ig_archive_entry *entry = ig_package_source(b->package, class->as.global.module);
    ig_str text;
    if (!entry || ig_archive_read_text(archive, entry, &text) != IG_OK) {
        return 0;
    }
    *out_entry = entry->name.data;
    const char *wanted = ig_arena_printf(b->arena, "class %.*s",
                                         IG_STR_ARG(class->as.global.name));
    size_t size = strlen(wanted);
    uint32_t line = 1;
    for (size_t at = 0; at < text.size; line++) {
        const char *begin = text.data + at;
        const char *end = memchr(begin, '\n', text.size - at);
        size_t length = end ? (size_t)(end - begin) : text.size - at;
        if (length > size && memcmp(begin, wanted, size) == 0 &&
            (begin[size] == '(' || begin[size] == ':')) {
            return line;
        }
        at += length + 1;
    }
    return 1;
}

static const char advice[] =
    "export the model: torch.jit.script or torch.jit.trace, or ONNX";

/* Once for each class; the tree is walked on, so that all are told. */
static void report_class(builder *b, const ig_py *class, const char *path) {
    const char *name = ig_py_path(class, b->arena);
    if (ig_map_get(&b->told, ig_str_of(name))) {
        return;
    }
    ig_map_set(&b->told, ig_str_of(name), b);
    ig_archive *archive = b->package->archive;
    ig_location where = { .file = archive->file, .graph = b->resource };
    const char *entry = NULL;
    uint32_t line = find_definition(b, class, &entry);
    const char *at = path[0] ? path : "the model itself";
    if (line) {
        where.file = ig_arena_printf(b->arena, "%s/%s", archive->file, entry);
        where.graph = NULL;
        where.line = line;
        ig_error_hint(&archive->context->diag, IG_UNSUPPORTED, &where, advice,
                      "class %s (%s in %s) is written in Python, which is not compiled",
                      name, at, b->resource);
        return;
    }
    bool is_torch = ig_str_starts(class->as.global.module, "torch.");
    if (ig_str_starts(class->as.global.module, "torch.fx.")) {
        ig_error_hint(
            &archive->context->diag, IG_UNSUPPORTED, &where, advice,
            "%s is a GraphModule of torch.fx (%s): its forward is generated Python, which is not compiled",
            at, name);
        return;
    }
    ig_error_hint(
        &archive->context->diag, IG_UNSUPPORTED, &where, advice,
        is_torch
            ? "class %s (%s) is not one of the torch.nn classes that are known"
            : "class %s (%s) is written in Python that is not in the package (extern)",
        name, at);
}

static bool has_hooks(const ig_py *module) {
    static const char *const groups[] = { "_forward_hooks", "_forward_pre_hooks" };
    for (size_t i = 0; i < IG_COUNT_OF(groups); i++) {
        if (size_of(module, groups[i]) > 0) {
            return true;
        }
    }
    return false;
}

static void report_hooks(builder *b, const ig_py *module, const char *path) {
    ig_archive *archive = b->package->archive;
    ig_location where = { .file = archive->file, .graph = b->resource };
    ig_error_hint(&archive->context->diag, IG_UNSUPPORTED, &where, advice,
                  "%s (%s) has forward hooks, which are Python functions",
                  path[0] ? path : "the model itself", ig_py_path(module, b->arena));
}

/* All at once, where nothing of the tree can be run without them; false: there is
 * nothing to tell. */
static bool report_unknown(builder *b) {
    bool has_told = false;
    for (size_t i = 0; i < b->unknown.count; i++) {
        const unknown_module *one = &b->unknown.items[i];
        const ig_py *module = one->module;
        const ig_py *function = module->kind == IG_PY_CALL ? module->as.call.function
                                                           : module;
        if (one->has_hooks) {
            report_hooks(b, module, one->path);
        } else if (function->kind == IG_PY_OBJECT) {
            report_class(b, function->as.object.class, one->path);
        } else if (function->kind == IG_PY_GLOBAL) {
            report_class(b, function, one->path);
        } else {
            continue;
        }
        has_told = true;
    }
    return has_told;
}

/* ---- classes of the package ---- */

static ig_status read_python(void *user, ig_str module, ig_ts_source *out,
                             bool *out_found) {
    builder *b = user;
    ig_archive_entry *entry = ig_package_source(b->package, module);
    *out_found = entry != NULL;
    if (!entry) {
        return IG_OK;
    }
    out->file = ig_arena_printf(b->arena, "%s/%s", b->package->archive->file,
                                entry->name.data);
    out->is_package = ig_str_ends(entry->name, "/__init__.py");
    return ig_archive_read_text(b->package->archive, entry, &out->text);
}

/* What torch.nn's class of that name computes, for those that derive from it. */
static const char *write_stock(void *user, ig_str name) {
    builder *b = user;
    const ig_package_class *row = ig_package_find_named(name);
    ig_writer out;
    if (!row || !row->body) {
        return NULL;
    }
    ig_writer_init(&out, b->arena);
    ig_put(&out, "class %.*s(Module):\n  def forward(self%s%s):\n%s", IG_STR_ARG(name),
           row->parameters[0] ? ", " : "", row->parameters, row->body);
    ig_str *text = IG_NEW(b->arena, ig_str);
    *text = ig_writer_str(&out);
    const char *entry = ig_arena_printf(b->arena, "code/__torch__/stock/%.*s.py",
                                        IG_STR_ARG(name));
    ig_map_set(&b->files, ig_str_of(entry), text);
    return ig_arena_printf(b->arena, "__torch__.stock.%.*s.%.*s", IG_STR_ARG(name),
                           IG_STR_ARG(name));
}

/* An object of a class whose source is in the package? */
static bool is_python(const builder *b, const ig_py *object) {
    const ig_py *class = object->as.object.class;
    return class->kind == IG_PY_GLOBAL &&
           ig_package_source(b->package, class->as.global.module) != NULL;
}

/* A GraphModule of torch.fx, pickled as its attributes and the module that holds its
 * generated forward, as an object of a class of that module; else NULL. */
static ig_py *graph_module(builder *b, ig_py *value) {
    bool is_graph = value->kind == IG_PY_CALL && value->as.call.is_package_reduce &&
                    ig_py_is_global(value->as.call.function, "torch.fx.graph_module",
                                    "reduce_package_graph_module");
    const ig_py *args = is_graph ? value->as.call.args : NULL;
    if (!args || args->kind != IG_PY_TUPLE || args->as.list.count != 2 ||
        args->as.list.items[0]->kind != IG_PY_DICT ||
        args->as.list.items[1]->kind != IG_PY_STR) {
        return NULL;
    }
    ig_py *object = make_value(b, IG_PY_OBJECT, value);
    ig_py *class = make_value(b, IG_PY_GLOBAL, value);
    class->as.global.module = args->as.list.items[1]->as.text;
    class->as.global.name = IG_STR("GraphModule");
    object->as.object.class = class;
    object->as.object.args = make_value(b, IG_PY_TUPLE, value);
    object->as.object.state = args->as.list.items[0];
    return ig_package_is_module(object) && is_python(b, object) ? object : NULL;
}

/* ---- the tree ---- */

static ig_py *build_module(builder *b, ig_py *module, const char *path);

/* Depth is bounded by the pickle's own (limits.pickle_depth). */
static void add_modules(builder *b, attributes *to, const ig_py *module,
                        const char *path) {
    const ig_py *members = ig_py_get(module, "_modules");
    for (size_t i = 0; i < members->as.dict.count; i++) {
        ig_py *key = members->as.dict.keys[i], *value = members->as.dict.values[i];
        if (key->kind != IG_PY_STR) {
            continue;
        }
        const char *inner = ig_arena_printf(b->arena, path[0] ? "%s.%.*s" : "%s%.*s",
                                            path, IG_STR_ARG(key->as.text));
        add_attribute(to, key, build_module(b, value, inner));
    }
}

static ig_py *build_value(builder *b, ig_py *value, const char *path);

static ig_py **build_all(builder *b, ig_py *const *values, size_t count,
                         const char *path) {
    ig_py **made = IG_NEW_ARRAY(b->arena, ig_py *, count + 1);
    for (size_t i = 0; i < count; i++) {
        made[i] = build_value(b, values[i], path);
    }
    return made;
}

static ig_py *build_container(builder *b, const ig_py *value, const char *path) {
    ig_py *made = make_value(b, value->kind, value);
    made->type = value->type;
    made->as = value->as;
    ig_map_set_id(&b->made, IG_MAP_PTR(value), made);
    if (value->kind == IG_PY_DICT) {
        made->as.dict.keys = build_all(b, value->as.dict.keys, value->as.dict.count,
                                       path);
        made->as.dict.values = build_all(b, value->as.dict.values, value->as.dict.count,
                                         path);
    } else if (value->kind == IG_PY_OBJECT) {
        made->as.object.state = value->as.object.state
                                    ? build_value(b, value->as.object.state, path)
                                    : NULL;
    } else {
        made->as.list.items = build_all(b, value->as.list.items, value->as.list.count,
                                        path);
    }
    return made;
}

/* An attribute of a class of the package: there may be modules in it. */
static ig_py *build_value(builder *b, ig_py *value, const char *path) {
    ig_py *known = ig_map_get_id(&b->made, IG_MAP_PTR(value));
    if (known) {
        return known;
    }
    switch ((int)value->kind) {
    case IG_PY_LIST:
    case IG_PY_TUPLE:
    case IG_PY_SET:
    case IG_PY_DICT:
        return build_container(b, value, path);
    case IG_PY_OBJECT:
        return ig_package_is_module(value) ? build_module(b, value, path)
               : is_python(b, value)       ? build_container(b, value, path)
                                           : value;
    case IG_PY_CALL:
        return graph_module(b, value) ? build_module(b, value, path) : value;
    default:
        return value;
    }
}

/* What torch.nn.Module itself keeps, which no author's code uses. */
static bool is_kept_by_torch(ig_str name) {
    static const char *const names[] = {
        "_parameters",
        "_buffers",
        "_modules",
        "_non_persistent_buffers_set",
        "_is_full_backward_hook",
        "_code",
        "_lineno_map",
        "_prologue_start",
        "_tracer_cls",
        "_tracer_extras",
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (ig_str_is(name, names[i])) {
            return true;
        }
    }
    return ig_str_starts(name, "_graphmodule") || ig_str_ends(name, "_hooks") ||
           ig_str_ends(name, "_hooks_with_kwargs") ||
           ig_str_ends(name, "_hooks_always_called");
}

static void add_python(builder *b, attributes *to, const ig_py *module,
                       const char *path) {
    const ig_py *state = module->as.object.state;
    for (size_t i = 0; i < state->as.dict.count; i++) {
        ig_py *key = state->as.dict.keys[i], *value = state->as.dict.values[i];
        if (key->kind == IG_PY_STR && !is_kept_by_torch(key->as.text)) {
            const char *inner = ig_arena_printf(b->arena,
                                                path[0] ? "%s.%.*s" : "%s%.*s", path,
                                                IG_STR_ARG(key->as.text));
            add_attribute(to, key, build_value(b, value, inner));
        }
    }
}

static void note_unknown(builder *b, const ig_py *module, const char *path,
                         bool with_hooks) {
    unknown_module one = { module, path, with_hooks };
    IG_PUSH(b->arena, &b->unknown, one);
}

static void fill_object(builder *b, ig_py *object, const ig_py *module,
                        const char *path) {
    attributes to = start_attributes(b, module);
    bool is_of_package = object->as.object.class == module->as.object.class;
    if (is_of_package) {
        add_python(b, &to, module, path);
    } else {
        add_plain(b, &to, module);
    }
    add_group(&to, module, "_parameters");
    add_group(&to, module, "_buffers");
    add_modules(b, &to, module, path);
    add_absent(b, &to, module);
    ig_py *state = make_value(b, IG_PY_DICT, module);
    state->as.dict.keys = to.keys;
    state->as.dict.values = to.values;
    state->as.dict.count = to.count;
    object->as.object.state = state;
}

/* Notes a module that stays as it is, and those below it that do. */
static ig_py *leave_module(builder *b, ig_py *module, const char *path,
                           bool with_hooks) {
    note_unknown(b, module, path, with_hooks);
    ig_map_set_id(&b->made, IG_MAP_PTR(module), module);
    if (ig_package_is_module(module)) {
        attributes to = start_attributes(b, module);
        add_modules(b, &to, module, path);
    }
    return module;
}

/* Whatever is not a module (None, as a rule) stays what it is. */
static ig_py *build_module(builder *b, ig_py *module, const char *path) {
    ig_py *known = ig_map_get_id(&b->made, IG_MAP_PTR(module));
    if (known || module->kind == IG_PY_NONE) {
        return known ? known : module;
    }
    ig_py *given = module;
    ig_py *graph = graph_module(b, module);
    module = graph ? graph : module;
    if (!ig_package_is_module(module)) {
        return leave_module(b, module, path, false);
    }
    const ig_package_class *row = ig_package_find_class(module->as.object.class);
    bool is_of_package = !row && is_python(b, module) &&
                         module->as.object.state->kind == IG_PY_DICT;
    if ((!row && !is_of_package) || has_hooks(module)) {
        return leave_module(b, module, path, row || is_of_package);
    }
    ig_py *object = make_value(b, IG_PY_OBJECT, module);
    ig_map_set_id(&b->made, IG_MAP_PTR(given), object);
    object->as.object.args = make_value(b, IG_PY_TUPLE, module);
    object->as.object.class = row ? write_class(b, module, row)
                                  : module->as.object.class;
    b->has_python = b->has_python || is_of_package;
    fill_object(b, object, module, path);
    return object;
}

static ig_status refuse_kind(builder *b, const ig_py *value) {
    ig_archive *archive = b->package->archive;
    ig_location where = { .file = archive->file, .graph = b->resource };
    return ig_error_hint(&archive->context->diag, IG_UNSUPPORTED, &where, advice,
                         "the pickle holds a %s, which cannot be run",
                         ig_py_kind_name(value->kind));
}

ig_status ig_package_build(ig_package *package, const char *resource, ig_py *module,
                           ig_ts_program *program) {
    builder *b = IG_NEW(package->archive->arena, builder);
    b->package = package;
    b->arena = package->archive->arena;
    b->resource = resource;
    b->sources =
        (ig_ts_sources){ .read = read_python, .stock = write_stock, .user = b };
    ig_map_init(&b->made, b->arena);
    ig_map_init(&b->files, b->arena);
    ig_map_init(&b->told, b->arena);
    program->root = build_module(b, module, "");
    program->constants = make_value(b, IG_PY_TUPLE, module);
    program->code_folder = "code/";
    program->read = read_source;
    program->user = &b->files;
    program->sources = b->has_python ? &b->sources : NULL;
    bool is_made = program->root->kind == IG_PY_OBJECT && program->root != module;
    if (is_made && (b->has_python || !b->unknown.count)) {
        return IG_OK;
    }
    return report_unknown(b) ? IG_UNSUPPORTED : refuse_kind(b, module);
}
