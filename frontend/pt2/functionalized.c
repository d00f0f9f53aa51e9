/* auto_functionalized: operators that write to their arguments, without writes.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     r, b0, b1 = auto_functionalized_v2(mine.bump_, by=2.5, _x_base_index=0,
 *         _x_slice_dim=0, _x_slice_start=1, _x_slice_end=2, _y_base_index=1,
 *         _all_bases=[a, b])
 *
 * The arguments x and y that are written to are views of new copies of the bases; the
 * results are those of the operator, and behind them the copies:
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
#include "frontend/pt2/source.h"

#include <string.h>

/* A view whose elements do not follow a slice: written back behind the call. */
typedef struct strided_view {
    int64_t base;
    const char *name, *place; /* "size, stride, offset" */
} strided_view;

typedef struct functionalized {
    ig_pt2_source *source;
    ig_pt2_scope *scope;
    const char *name; /* of the higher-order operator */
    const ig_json *inputs, *outputs;
    const char **bases; /* names of the copies */
    size_t base_count, argument_count;
    ig_writer call;
    IG_VEC(strided_view) strided;
} functionalized;

/* ---- what the node is given ---- */

static const char *input_name(const functionalized *f, size_t index) {
    return ig_json_text(ig_json_get(&f->inputs->as.list.items[index], "name"));
}

static const ig_json *input_at(const functionalized *f, size_t index) {
    return ig_json_get(&f->inputs->as.list.items[index], "arg");
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
    return input_of(f, ig_arena_printf(f->source->arena, "%s_%s", prefix, fact));
}

static ig_status fact_text(const functionalized *f, const char *prefix,
                           const char *fact, const char **out) {
    return ig_pt2_argument(f->source, f->scope, fact_of(f, prefix, fact), out);
}

/* ---- copies of the bases ---- */

static void copy_base(functionalized *f, const char *expression) {
    const char *copy = ig_pt2_fresh(f->source, "base");
    ig_pt2_line(f->source, "%s = torch.clone(%s)", copy, expression);
    f->bases[f->base_count++] = copy;
}

static const char *base_in_graph(const functionalized *f, int64_t index) {
    const ig_json *list = ig_json_get(input_of(f, "_all_bases"), "as_tensors");
    return ig_json_text(ig_json_get(&list->as.list.items[index], "name"));
}

static ig_status copy_bases(functionalized *f, const ig_json *list) {
    for (size_t i = 0; i < ig_json_count(list); i++) {
        const char *name = base_in_graph(f, (int64_t)i);
        const char *known = ig_map_get(&f->scope->names, ig_str_of(name));
        if (!known) {
            return ig_pt2_error(f->source, IG_INVALID,
                                "it writes to '%.100s', which nothing before it gives",
                                name);
        }
        copy_base(f, known);
    }
    return IG_OK;
}

/* ---- views of them ---- */

/* Do the elements of a value lie row-major, as ours do?  Extents and strides are of its
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
            ig_json_int(ig_json_get(&sizes->as.list.items[i], "as_int"), &size) &&
            ig_json_int(ig_json_get(&strides->as.list.items[i], "as_int"), &stride);
        if (!is_known || (size != 1 && stride != run) ||
            __builtin_mul_overflow(run, size, &run)) {
            return false;
        }
    }
    return true;
}

/* A copy of the elements, which goes back behind the call. */
static ig_status put_strided(functionalized *f, const char *prefix, int64_t base,
                             ig_writer *out) {
    const char *size, *stride, *offset;
    IG_TRY(fact_text(f, prefix, "size", &size));
    IG_TRY(fact_text(f, prefix, "stride", &stride));
    IG_TRY(fact_text(f, prefix, "storage_offset", &offset));
    bool is_alone = is_row_major(f, base_in_graph(f, base));
    for (size_t i = 0; i < f->strided.count; i++) {
        is_alone = is_alone && f->strided.items[i].base != base;
    }
    if (!is_alone) {
        return ig_pt2_error(f->source, IG_UNSUPPORTED,
                            "it writes to a strided view of '%.100s', which is not "
                            "row-major or has another such view: write to a copy",
                            base_in_graph(f, base));
    }
    strided_view view = { base, ig_pt2_fresh(f->source, "view"),
                          ig_arena_printf(f->source->arena, "%s, %s, %s", size, stride,
                                          offset) };
    ig_pt2_line(f->source, "%s = torch.clone(torch.as_strided(%s, %s))", view.name,
                f->bases[base], view.place);
    IG_PUSH(f->source->arena, &f->strided, view);
    ig_put(out, "%s", view.name);
    return IG_OK;
}

static ig_status put_slice(functionalized *f, const char *prefix, int64_t base,
                           ig_writer *out) {
    const char *dim, *start, *end;
    IG_TRY(fact_text(f, prefix, "slice_dim", &dim));
    IG_TRY(fact_text(f, prefix, "slice_start", &start));
    IG_TRY(fact_text(f, prefix, "slice_end", &end));
    ig_put(out, "torch.slice(%s, %s, %s, %s)", f->bases[base], dim, start, end);
    return IG_OK;
}

static ig_status put_view(functionalized *f, const char *prefix, ig_writer *out) {
    const ig_json *index = fact_of(f, prefix, "base_index");
    int64_t base = -1;
    if (ig_json_get(index, "as_none")) {
        ig_put(out, "None");
        return IG_OK;
    }
    bool is_known = ig_json_int(ig_json_get(index, "as_int"), &base) && base >= 0 &&
                    (uint64_t)base < f->base_count;
    if (!is_known) {
        return ig_pt2_error(f->source, IG_INVALID,
                            "argument %.100s is a view of a base that it has not",
                            prefix + 1);
    }
    if (fact_of(f, prefix, "storage_offset")) {
        return put_strided(f, prefix, base, out);
    }
    if (fact_of(f, prefix, "slice_dim")) {
        return put_slice(f, prefix, base, out);
    }
    ig_put(out, "%s", f->bases[base]);
    return IG_OK;
}

static ig_status put_views(functionalized *f, const char *prefix, ig_writer *out) {
    int64_t count = 0;
    const ig_json *length = fact_of(f, prefix, "length");
    if (ig_json_get(length, "as_none")) {
        ig_put(out, "None");
        return IG_OK;
    }
    bool is_known = ig_json_int(ig_json_get(length, "as_int"), &count) && count >= 0 &&
                    (uint64_t)count <= ig_json_count(f->inputs);
    if (!is_known) {
        return ig_pt2_error(f->source, IG_INVALID,
                            "argument %.100s is a list of no length", prefix + 1);
    }
    ig_put(out, count ? "[" : "annotate(List[Tensor], [");
    for (int64_t i = 0; i < count; i++) {
        ig_put(out, "%s", i ? ", " : "");
        IG_TRY(put_view(
            f, ig_arena_printf(f->source->arena, "%s_%lld", prefix, (long long)i),
            out));
    }
    ig_put(out, count ? "]" : "])");
    return IG_OK;
}

/* ---- the call ---- */

/* "_x_base_index" -> "_x" where the name ends so, else NULL. */
static const char *prefix_before(const functionalized *f, const char *name,
                                 const char *end) {
    size_t size = strlen(name), tail = strlen(end);
    bool is_it = name[0] == '_' && size > tail + 1 &&
                 strcmp(name + size - tail, end) == 0;
    return is_it ? ig_arena_copy(f->source->arena, name, size - tail) : NULL;
}

static bool is_list_item(const functionalized *f, const char *prefix) {
    size_t size = strlen(prefix);
    while (size > 0 && strchr("0123456789", prefix[size - 1])) {
        size--;
    }
    bool is_numbered = prefix[size] && size > 2 && prefix[size - 1] == '_';
    return is_numbered &&
           fact_of(f, ig_arena_copy(f->source->arena, prefix, size - 1), "length");
}

/* Is this one of the facts about a view, which are no arguments of the operator? */
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

static void start_argument(functionalized *f, const char *name) {
    ig_put(&f->call, "%s%s=", f->argument_count++ ? ", " : "", name);
}

static ig_status put_argument(functionalized *f, size_t index) {
    const char *name = input_name(f, index);
    const char *list = prefix_before(f, name, "_length");
    const char *view = prefix_before(f, name, "_base_index");
    const char *text;
    if (list) {
        start_argument(f, list + 1);
        return put_views(f, list, &f->call);
    }
    if (view && !is_list_item(f, view)) {
        start_argument(f, view + 1);
        return put_view(f, view, &f->call);
    }
    if (is_fact(f, name)) {
        return IG_OK;
    }
    IG_TRY(ig_pt2_argument(f->source, f->scope, input_at(f, index), &text));
    start_argument(f, name);
    ig_put(&f->call, "%s", text);
    return IG_OK;
}

/* Of the first form: each tensor is a copy, a base of its own. */
static ig_status put_old_argument(functionalized *f, size_t index) {
    const char *text;
    IG_TRY(ig_pt2_argument(f->source, f->scope, input_at(f, index), &text));
    start_argument(f, input_name(f, index));
    if (ig_json_get(input_at(f, index), "as_tensor")) {
        copy_base(f, text);
        text = f->bases[f->base_count - 1];
    }
    ig_put(&f->call, "%s", text);
    return IG_OK;
}

static ig_status put_arguments(functionalized *f, bool is_old) {
    const ig_json *list = ig_json_get(input_of(f, "_all_bases"), "as_tensors");
    size_t most = ig_json_count(is_old ? f->inputs : list);
    f->bases = IG_NEW_ARRAY(f->source->arena, const char *, most + 1);
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

/* "r, s = ", defined; nothing where the operator gives nothing. */
static ig_status name_results(functionalized *f, size_t count, ig_writer *out) {
    const ig_json *items = f->outputs->as.list.items;
    ig_put(out, "%s", "");
    for (size_t i = 0; i < count && !(count == 1 && is_nothing(items)); i++) {
        const char *name = ig_pt2_argument_name(&items[i]);
        if (!name && !is_nothing(&items[i])) {
            return ig_pt2_error(f->source, IG_UNSUPPORTED,
                                "result %zu of %s is no tensor or number", i, f->name);
        }
        ig_put(out, "%s%s", i ? ", " : "",
               name ? ig_pt2_define(f->source, f->scope, name)
                    : ig_pt2_fresh(f->source, "unused"));
    }
    ig_put(out, out->size ? " = " : "");
    return IG_OK;
}

static void write_back(functionalized *f) {
    for (size_t i = 0; i < f->strided.count; i++) {
        const strided_view *view = &f->strided.items[i];
        const char *base = f->bases[view->base];
        ig_pt2_line(f->source, "%s = torch.as_strided_scatter(%s, %s, %s)", base, base,
                    view->name, view->place);
    }
}

ig_status ig_pt2_functionalized(ig_pt2_source *source, ig_pt2_scope *scope,
                                const char *name, const ig_json *node) {
    functionalized f = { .source = source,
                         .scope = scope,
                         .name = name,
                         .inputs = ig_json_get(node, "inputs"),
                         .outputs = ig_json_get(node, "outputs") };
    size_t outputs = ig_json_count(f.outputs);
    const char *target = ig_json_count(f.inputs)
                             ? ig_json_text(ig_json_get(input_at(&f, 0), "as_operator"))
                             : "";
    if (!ig_str_starts(ig_str_of(target), "torch.ops.")) {
        return ig_pt2_error(source, IG_INVALID, "%s names no operator", name);
    }
    bool is_old = !ig_str_ends(ig_str_of(name), "_v2");
    ig_writer results;
    ig_writer_init(&f.call, source->arena);
    ig_writer_init(&results, source->arena);
    IG_TRY(put_arguments(&f, is_old));
    if (outputs <= f.base_count ||
        (is_old &&
         (outputs != f.base_count + 1 || !is_nothing(f.outputs->as.list.items)))) {
        return is_old
                   ? ig_pt2_error(source, IG_UNSUPPORTED,
                                  "it does not say which arguments '%.100s' writes to: "
                                  "export it with torch 2.6 or newer",
                                  target)
                   : ig_pt2_error(source, IG_INVALID,
                                  "%s writes to %zu bases and has %zu results", name,
                                  f.base_count, outputs);
    }
    size_t own = outputs - f.base_count, size = strlen(target);
    size -= ig_str_ends(ig_str_of(target), ".default") ? strlen(".default") : 0;
    IG_TRY(name_results(&f, own, &results));
    ig_pt2_line(source, "%s%s(%s)", results.data,
                ig_arena_copy(source->arena, target + strlen("torch."),
                              size - strlen("torch.")),
                f.call.data);
    write_back(&f);
    for (size_t i = 0; i < f.base_count; i++) {
        const char *result = ig_pt2_argument_name(&f.outputs->as.list.items[own + i]);
        if (result) {
            ig_pt2_line(source, "%s = %s", ig_pt2_define(source, scope, result),
                        f.bases[i]);
        }
    }
    return IG_OK;
}
