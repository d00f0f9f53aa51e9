/* auto_functionalized: operators that write to their arguments, without writes.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     r, b0, b1 = auto_functionalized_v2(mine.bump_, by=2.5, _x_base_index=0,
 *         _x_slice_dim=0, _x_slice_start=1, _x_slice_end=2, _y_base_index=1,
 *         _all_bases=[a, b])
 *
 * The arguments x and y that are written to are views of new copies of the bases; the
 * results are those of the operator, and after them the copies:
 *
 *     base = torch.clone(a)
 *     base0 = torch.clone(b)
 *     r = ops.mine.bump_(by=2.5, x=torch.slice(base, 0, 1, 2), y=base0)
 *     b0 = base
 *     b1 = base0
 *
 * The first form (torch 2.3 to 2.5) has the arguments themselves, and does not say
 * which are written to: read where all of them are.  Forms:
 * torch/_higher_order_ops/auto_functionalize.py.
 */
#include "frontend/pt2/graph.h"

#include <string.h>

enum { LAYOUT = 3 }; /* size, stride, offset */

/* A view whose elements do not follow a slice: written back after the call. */
typedef struct strided_view {
    int64_t base;
    ig_ts_value view, layout[LAYOUT];
} strided_view;

typedef struct functionalized {
    const ig_pt2_scope *scope;
    ig_arena *arena;
    const char *name; /* of the higher-order operator */
    const ig_json *inputs, *outputs;
    ig_ts_value *bases; /* the copies */
    size_t base_count;
    ig_ts_arguments call; /* all by name */
    IG_VEC(strided_view) strided;
} functionalized;

/* ---- the node's arguments ---- */

static const char *input_name(const functionalized *f, size_t index) {
    return ig_json_text(ig_json_get(ig_json_at(f->inputs, index), "name"));
}

static const ig_json *input_at(const functionalized *f, size_t index) {
    return ig_json_get(ig_json_at(f->inputs, index), "arg");
}

/* The argument of this name, or NULL. */
static const ig_json *input_of(const functionalized *f, const char *name) {
    for (size_t i = 0; i < ig_json_count(f->inputs); i++) {
        if (strcmp(input_name(f, i), name) == 0) {
            return input_at(f, i);
        }
    }
    return NULL;
}

/* A fact about a view: "_x" and "slice_dim" -> the argument "_x_slice_dim", or NULL. */
static const ig_json *fact_of(const functionalized *f, const char *prefix,
                              const char *fact) {
    return input_of(f, ig_arena_printf(f->arena, "%s_%s", prefix, fact));
}

static ig_status fact_value(const functionalized *f, const char *prefix,
                            const char *fact, ig_ts_value *out) {
    return ig_pt2_argument(f->scope, fact_of(f, prefix, fact), out);
}

/* ---- copies of the bases ---- */

static ig_status copy_base(functionalized *f, const ig_ts_value *value) {
    return ig_pt2_call(f->scope, "aten::clone", value, 1, &f->bases[f->base_count++]);
}

static const char *base_in_graph(const functionalized *f, size_t index) {
    const ig_json *list = ig_json_get(input_of(f, "_all_bases"), "as_tensors");
    return ig_json_text(ig_json_get(ig_json_at(list, index), "name"));
}

static ig_status copy_bases(functionalized *f, const ig_json *list) {
    for (size_t i = 0; i < ig_json_count(list); i++) {
        ig_ts_value value;
        IG_TRY(ig_pt2_get(f->scope, base_in_graph(f, i), &value));
        IG_TRY(copy_base(f, &value));
    }
    return IG_OK;
}

/* ---- views of them ---- */

/* Are the elements of a value row-major, as ours are?  Extents and strides are of its
 * meta data; open ones are not told. */
static bool is_row_major(const functionalized *f, const char *name) {
    const ig_json *value = ig_json_get(ig_json_get(f->scope->graph, "tensor_values"),
                                       name);
    const ig_json *inner = ig_json_get(value, "meta");
    const ig_json *sizes = ig_json_get(inner ? inner : value, "sizes");
    const ig_json *strides = ig_json_get(inner ? inner : value, "strides");
    int64_t run = 1, size, stride;
    if (!sizes || ig_json_count(sizes) != ig_json_count(strides)) {
        return false;
    }
    for (size_t i = ig_json_count(sizes); i-- > 0;) {
        bool is_known =
            ig_json_int(ig_json_get(ig_json_at(sizes, i), "as_int"), &size) &&
            ig_json_int(ig_json_get(ig_json_at(strides, i), "as_int"), &stride);
        if (!is_known || (size != 1 && stride != run) ||
            __builtin_mul_overflow(run, size, &run)) {
            return false;
        }
    }
    return true;
}

/* A copy of the elements, which goes back after the call. */
static ig_status make_strided(functionalized *f, const char *prefix, int64_t base,
                              ig_ts_value *out) {
    strided_view view = { .base = base };
    IG_TRY(fact_value(f, prefix, "size", &view.layout[0]));
    IG_TRY(fact_value(f, prefix, "stride", &view.layout[1]));
    IG_TRY(fact_value(f, prefix, "storage_offset", &view.layout[2]));
    bool is_alone = is_row_major(f, base_in_graph(f, (size_t)base));
    for (size_t i = 0; i < f->strided.count; i++) {
        is_alone = is_alone && f->strided.items[i].base != base;
    }
    if (!is_alone) {
        return ig_pt2_error(f->scope, IG_UNSUPPORTED,
                            "it writes to a strided view of '%.100s', which is not "
                            "row-major or has another such view: write to a copy",
                            base_in_graph(f, (size_t)base));
    }
    ig_ts_value args[1 + LAYOUT] = { f->bases[base] };
    memcpy(args + 1, view.layout, sizeof view.layout);
    IG_TRY(ig_pt2_call(f->scope, "aten::as_strided", args, 1 + LAYOUT, &view.view));
    IG_TRY(ig_pt2_call(f->scope, "aten::clone", &view.view, 1, &view.view));
    IG_PUSH(f->arena, &f->strided, view);
    *out = view.view;
    return IG_OK;
}

static ig_status make_slice(functionalized *f, const char *prefix, int64_t base,
                            ig_ts_value *out) {
    ig_ts_value args[] = { f->bases[base], { 0 }, { 0 }, { 0 } };
    IG_TRY(fact_value(f, prefix, "slice_dim", &args[1]));
    IG_TRY(fact_value(f, prefix, "slice_start", &args[2]));
    IG_TRY(fact_value(f, prefix, "slice_end", &args[3]));
    return ig_pt2_call(f->scope, "aten::slice", args, IG_COUNT_OF(args), out);
}

static ig_status make_view(functionalized *f, const char *prefix, ig_ts_value *out) {
    const ig_json *index = fact_of(f, prefix, "base_index");
    int64_t base = -1;
    *out = ig_ts_none();
    if (ig_json_get(index, "as_none")) {
        return IG_OK;
    }
    bool is_known = ig_json_int(ig_json_get(index, "as_int"), &base) && base >= 0 &&
                    (uint64_t)base < f->base_count;
    if (!is_known) {
        return ig_pt2_error(f->scope, IG_INVALID,
                            "argument %.100s is a view of a base that it does not have",
                            prefix + 1);
    }
    if (fact_of(f, prefix, "storage_offset")) {
        return make_strided(f, prefix, base, out);
    }
    if (fact_of(f, prefix, "slice_dim")) {
        return make_slice(f, prefix, base, out);
    }
    *out = f->bases[base];
    return IG_OK;
}

static ig_status make_views(functionalized *f, const char *prefix, ig_ts_value *out) {
    int64_t count = 0;
    const ig_json *length = fact_of(f, prefix, "length");
    *out = ig_ts_none();
    if (ig_json_get(length, "as_none")) {
        return IG_OK;
    }
    bool is_known = ig_json_int(ig_json_get(length, "as_int"), &count) && count >= 0 &&
                    (uint64_t)count <= ig_json_count(f->inputs);
    if (!is_known) {
        return ig_pt2_error(f->scope, IG_INVALID,
                            "argument %.100s is a list without a length", prefix + 1);
    }
    ig_ts_list *list = ig_pt2_tensor_list(f->scope->eval, (size_t)count);
    list->type = count ? NULL : list->type;
    for (int64_t i = 0; i < count; i++) {
        ig_ts_value item;
        IG_TRY(make_view(f, ig_arena_printf(f->arena, "%s_%lld", prefix, (long long)i),
                         &item));
        ig_ts_list_add(f->scope->eval, list, item);
    }
    *out = ig_ts_of_list(list);
    return IG_OK;
}

/* ---- the call ---- */

/* "_x_base_index" -> "_x" where the name ends so, else NULL. */
static const char *prefix_before(const functionalized *f, const char *name,
                                 const char *end) {
    size_t size = strlen(name), tail = strlen(end);
    bool is_it = name[0] == '_' && size > tail + 1 &&
                 strcmp(name + size - tail, end) == 0;
    return is_it ? ig_arena_copy(f->arena, name, size - tail) : NULL;
}

static bool is_list_item(const functionalized *f, const char *prefix) {
    size_t size = strlen(prefix);
    while (size > 0 && strchr("0123456789", prefix[size - 1])) {
        size--;
    }
    bool is_numbered = prefix[size] && size > 2 && prefix[size - 1] == '_';
    return is_numbered &&
           fact_of(f, ig_arena_copy(f->arena, prefix, size - 1), "length");
}

/* Is this one of the facts about a view, which are not arguments of the operator? */
static bool is_fact(const functionalized *f, const char *name) {
    static const char *const ends[] = { "_alias",      "_size",          "_stride",
                                        "_slice_dim",  "_slice_start",   "_slice_end",
                                        "_base_index", "_storage_offset" };
    for (size_t i = 0; i < IG_COUNT_OF(ends); i++) {
        const char *prefix = prefix_before(f, name, ends[i]);
        if (prefix && fact_of(f, prefix, "base_index")) {
            return true;
        }
    }
    return strcmp(name, "_all_bases") == 0;
}

/* The next argument of the call. */
static ig_ts_value *add_argument(functionalized *f, const char *name) {
    f->call.names[f->call.keywords] = name;
    return &f->call.values[f->call.keywords++];
}

static ig_status put_argument(functionalized *f, size_t index) {
    const char *name = input_name(f, index);
    const char *list = prefix_before(f, name, "_length");
    const char *view = prefix_before(f, name, "_base_index");
    if (list) {
        return make_views(f, list, add_argument(f, list + 1));
    }
    if (view && !is_list_item(f, view)) {
        return make_view(f, view, add_argument(f, view + 1));
    }
    return is_fact(f, name)
               ? IG_OK
               : ig_pt2_argument(f->scope, input_at(f, index), add_argument(f, name));
}

/* Of the first form: each tensor is a copy, a base of its own. */
static ig_status put_old_argument(functionalized *f, size_t index) {
    ig_ts_value *value = add_argument(f, input_name(f, index));
    IG_TRY(ig_pt2_argument(f->scope, input_at(f, index), value));
    if (ig_json_get(input_at(f, index), "as_tensor")) {
        IG_TRY(copy_base(f, value));
        *value = f->bases[f->base_count - 1];
    }
    return IG_OK;
}

static ig_status put_arguments(functionalized *f, bool is_old) {
    const ig_json *list = ig_json_get(input_of(f, "_all_bases"), "as_tensors");
    size_t max = ig_json_count(is_old ? f->inputs : list);
    f->bases = IG_NEW_ARRAY(f->arena, ig_ts_value, max + 1);
    f->call.values = IG_NEW_ARRAY(f->arena, ig_ts_value, ig_json_count(f->inputs) + 1);
    f->call.names = IG_NEW_ARRAY(f->arena, const char *, ig_json_count(f->inputs) + 1);
    IG_TRY(is_old ? IG_OK : copy_bases(f, list));
    for (size_t i = 1; i < ig_json_count(f->inputs); i++) {
        IG_TRY(is_old ? put_old_argument(f, i) : put_argument(f, i));
    }
    return IG_OK;
}

/* ---- results ---- */

static bool is_nothing(const ig_json *output) {
    return ig_json_get(output, "as_none") != NULL;
}

static ig_status run_call(functionalized *f, const char *target, size_t own) {
    const ig_json *items = f->outputs->as.list.items;
    ig_ts_eval *eval = f->scope->eval;
    uint32_t count = (uint32_t)own + 1;
    ig_ts_value *results = IG_NEW_ARRAY(f->arena, ig_ts_value, count);
    for (size_t i = 0; i < own; i++) {
        if (!ig_pt2_argument_name(&items[i]) && !is_nothing(&items[i])) {
            return ig_pt2_error(f->scope, IG_UNSUPPORTED,
                                "result %zu of %s is neither a tensor nor a number", i,
                                f->name);
        }
    }
    const char *name = ig_pt2_operator(f->arena, target);
    if (!name) {
        return ig_pt2_error(f->scope, IG_INVALID, "%s names no operator", f->name);
    }
    IG_TRY(ig_ts_call_op(eval, name, &f->call, results, &count));
    return own == 1 && is_nothing(items)
               ? IG_OK
               : ig_pt2_bind(f->scope, items, own, results, count);
}

static ig_status write_back(functionalized *f) {
    for (size_t i = 0; i < f->strided.count; i++) {
        const strided_view *view = &f->strided.items[i];
        ig_ts_value args[2 + LAYOUT] = { f->bases[view->base], view->view };
        memcpy(args + 2, view->layout, sizeof view->layout);
        IG_TRY(ig_pt2_call(f->scope, "aten::as_strided_scatter", args, 2 + LAYOUT,
                           &f->bases[view->base]));
    }
    return IG_OK;
}

ig_status ig_pt2_functionalized(const ig_pt2_scope *scope, const char *name,
                                const ig_json *node) {
    functionalized f = { .scope = scope,
                         .arena = scope->eval->arena,
                         .name = name,
                         .inputs = ig_json_get(node, "inputs"),
                         .outputs = ig_json_get(node, "outputs") };
    size_t outputs = ig_json_count(f.outputs);
    const char *target = ig_json_count(f.inputs)
                             ? ig_json_text(ig_json_get(input_at(&f, 0), "as_operator"))
                             : "";
    if (!ig_str_starts(ig_str_of(target), "torch.ops.")) {
        return ig_pt2_error(scope, IG_INVALID, "%s names no operator", name);
    }
    bool is_old = !ig_str_ends(ig_str_of(name), "_v2");
    IG_TRY(put_arguments(&f, is_old));
    if (outputs <= f.base_count ||
        (is_old &&
         (outputs != f.base_count + 1 || !is_nothing(ig_json_at(f.outputs, 0))))) {
        return is_old
                   ? ig_pt2_error(scope, IG_UNSUPPORTED,
                                  "it does not say which arguments '%.100s' writes to: "
                                  "export it with torch 2.6 or newer",
                                  target)
                   : ig_pt2_error(scope, IG_INVALID,
                                  "%s writes to %zu bases and has %zu results", name,
                                  f.base_count, outputs);
    }
    size_t own = outputs - f.base_count;
    IG_TRY(run_call(&f, target, own));
    IG_TRY(write_back(&f));
    for (size_t i = 0; i < f.base_count; i++) {
        ig_pt2_set(scope, ig_pt2_argument_name(ig_json_at(f.outputs, own + i)),
                   f.bases[i]);
    }
    return IG_OK;
}
