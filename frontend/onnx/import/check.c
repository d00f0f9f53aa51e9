/* Every node of a file against the import table, before anything is built.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All graphs are visited: the main one, functions that nobody calls, branches nobody
 * takes.  Whatever is wrong is reported; nodes at fault are marked, so that building
 * can pass them over and go on to find more.  Operators that are valid but not imported
 * yet are counted, and reported once each at the end.
 */
#include "frontend/onnx/import/import.h"

#include "compose/custom.h"

#include "base/writer.h"

#include <stdio.h>
#include <string.h>

/* Where a node is met. */
typedef struct site {
    ig_onnx_import *import;
    const ig_onnx_opsets *opsets;
    ig_onnx_function
        *function;      /* whose body this is; a substitute for the main graph */
    const char *graph;  /* for messages; NULL: the main graph */
    ig_map *missing;    /* operators not imported: -> tally */
    ig_map *undeclared; /* domains that were reported */
} site;

typedef struct tally {
    ig_location first;
    const char *domain, *name;
    size_t count;
    int64_t opset;
} tally;

/* One node under check. */
typedef struct subject {
    const site *at;
    const Onnx__NodeProto *node;
    ig_location where;
} subject;

static void check_graph(const site *outer, const Onnx__GraphProto *graph,
                        const char *fallback);

static void mark_flaw(const subject *s, ig_status status) {
    ig_onnx_note(s->at->import, status);
    ig_map_set_id(&s->at->import->flawed, IG_MAP_PTR(s->node), (void *)1);
}

#define FLAW(s, ...)                                                                  \
    mark_flaw((s), ig_error(&(s)->at->import->context->diag, IG_INVALID, &(s)->where, \
                            __VA_ARGS__))

/* ---- attributes ---- */

static const char *type_name(int type) {
    static const char *const names[] = {
        "undefined",      "float", "int",     "string",  "tensor", "graph",
        "floats",         "ints",  "strings", "tensors", "graphs", "sparse tensor",
        "sparse tensors", "type",  "types",
    };
    return type >= 0 && type < (int)IG_COUNT_OF(names) ? names[type] : "unknown";
}

static bool names_attribute(const Onnx__FunctionProto *function, const char *name) {
    for (size_t i = 0; i < function->n_attribute; i++) {
        if (strcmp(function->attribute[i], name) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < function->n_attribute_proto; i++) {
        const char *other = function->attribute_proto[i]->name;
        if (other && strcmp(other, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A message that the type promises must be there. */
static bool has_promised_field(const Onnx__AttributeProto *attr, int type) {
    switch (type) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
        return attr->t != NULL;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH:
        return attr->g != NULL;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR:
        return attr->sparse_tensor != NULL;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO:
        return attr->tp != NULL;
    default:
        return true;
    }
}

static void check_reference(const subject *s, const Onnx__AttributeProto *attr) {
    const ig_onnx_function *function = s->at->function;
    if (!function->proto) {
        FLAW(
            s,
            "attribute '%s' refers to '%s', an attribute of a function, but is used outside of functions",
            attr->name, attr->ref_attr_name);
    } else if (!names_attribute(function->proto, attr->ref_attr_name)) {
        FLAW(s, "attribute '%s' refers to '%s', which function %s does not have",
             attr->name, attr->ref_attr_name, function->label);
    }
}

/* The checks that need no row: names, repetition, references, nested graphs. */
static void check_attribute_form(const subject *s, size_t index) {
    const Onnx__AttributeProto *attr = s->node->attribute[index];
    if (!attr->name || !attr->name[0]) {
        FLAW(s, "attribute %zu has no name", index);
        return;
    }
    for (size_t i = 0; i < index; i++) {
        const char *other = s->node->attribute[i]->name;
        if (other && strcmp(other, attr->name) == 0) {
            FLAW(s, "attribute '%s' is given twice", attr->name);
        }
    }
    if (attr->ref_attr_name && attr->ref_attr_name[0]) {
        check_reference(s, attr);
        return;
    }
    int type = ig_onnx_attr_type(attr);
    if (!has_promised_field(attr, type)) {
        FLAW(s, "attribute '%s' says it is a %s, but holds none", attr->name,
             type_name(type));
    }
    if (attr->g) {
        check_graph(s->at, attr->g, attr->name);
    }
    for (size_t i = 0; i < attr->n_graphs; i++) {
        check_graph(s->at, attr->graphs[i], attr->name);
    }
}

/* An attribute given against the one the row knows. */
static void check_given(const subject *s, const Onnx__AttributeProto *attr,
                        int wanted) {
    bool is_reference = attr->ref_attr_name && attr->ref_attr_name[0];
    int type = ig_onnx_attr_type(attr);
    if (is_reference && !attr->has_type) {
        return; /* the call's attribute is checked when it is inlined */
    }
    if (type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED) {
        bool is_list = wanted == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS ||
                       wanted == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS ||
                       wanted == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
        if (is_list) {
            return; /* an empty list in a file that gives no types */
        }
    }
    if (type != wanted) {
        FLAW(s, "attribute '%s' is a %s, expected %s", attr->name, type_name(type),
             type_name(wanted));
    }
}

static void check_attributes(const subject *s, const ig_onnx_row *row) {
    const Onnx__NodeProto *node = s->node;
    for (size_t i = 0; i < node->n_attribute; i++) {
        const char *name = node->attribute[i]->name;
        const ig_onnx_attr_row *known = row->attrs;
        while (name && known->name && strcmp(known->name, name) != 0) {
            known++;
        }
        if (name && !known->name) {
            FLAW(s, "has no attribute '%s' in version %u", name, row->since);
        } else if (name) {
            check_given(s, node->attribute[i], known->type);
        }
    }
    for (const ig_onnx_attr_row *a = row->attrs; a->name; a++) {
        bool is_there = !a->is_required;
        for (size_t i = 0; i < node->n_attribute; i++) {
            const char *name = node->attribute[i]->name;
            is_there = is_there || (name && strcmp(name, a->name) == 0);
        }
        if (!is_there) {
            FLAW(s, "lacks attribute '%s', which is required", a->name);
        }
    }
}

/* ---- inputs and outputs ---- */

static size_t count_names(char *const *names, size_t count) {
    while (count > 0 && names[count - 1][0] == 0) {
        count--;
    }
    return count;
}

static void check_counts(const subject *s, const ig_onnx_row *row) {
    size_t in = count_names(s->node->input, s->node->n_input);
    size_t out = count_names(s->node->output, s->node->n_output);
    if (in > row->max_in && row->max_in != IG_ONNX_MANY) {
        FLAW(s, "has %zu inputs, but version %u takes %s%u", in, row->since,
             row->min_in < row->max_in ? "at most " : "", row->max_in);
    }
    for (size_t i = 0; i < row->min_in; i++) {
        if (i >= in || s->node->input[i][0] == 0) {
            FLAW(s, "lacks input %zu, which is required (%zu given)", i, in);
        }
    }
    if (out > row->max_out && row->max_out != IG_ONNX_MANY) {
        FLAW(s, "has %zu outputs, but version %u gives at most %u", out, row->since,
             row->max_out);
    }
    if (s->node->n_output < row->min_out || out == 0) {
        FLAW(s, "has no output with a name");
    }
}

/* ---- operators ---- */

static void tally_missing(const subject *s, ig_str domain, const char *name) {
    const site *at = s->at;
    const char *key = ig_arena_printf(at->import->arena, "%.*s\n%s", IG_STR_ARG(domain),
                                      name);
    tally *known = ig_map_get(at->missing, ig_str_of(key));
    if (!known) {
        known = IG_NEW(at->import->arena, tally);
        *known = (tally){ .first = s->where,
                          .name = name,
                          .domain = ig_arena_copy(at->import->arena, domain.data,
                                                  domain.size),
                          .opset = ig_onnx_opset_of(at->opsets, domain) };
        ig_map_set(at->missing, ig_str_of(key), known);
    }
    known->count++;
    ig_map_set_id(&at->import->flawed, IG_MAP_PTR(s->node), (void *)1);
}

/* A domain without a version gives its operators no meaning; reported once. */
static void refuse_domain(const subject *s, ig_str domain) {
    ig_map_set_id(&s->at->import->flawed, IG_MAP_PTR(s->node), (void *)1);
    if (!ig_map_get(s->at->undeclared, domain)) {
        ig_map_set(s->at->undeclared, domain, (void *)1);
        FLAW(s, "opset_import lacks domain '%.*s'",
             IG_STR_ARG(domain.size ? domain : IG_STR("ai.onnx")));
    }
}

const ig_onnx_row *ig_onnx_row_of(ig_onnx_import *import, const ig_onnx_opsets *opsets,
                                  const Onnx__NodeProto *node) {
    ig_str domain = ig_onnx_domain(node->domain);
    char key[256];
    int length = snprintf(key, sizeof(key), "%.*s\n%s", IG_STR_ARG(domain),
                          node->op_type);
    if (length < 0 || length >= (int)sizeof(key)) {
        return NULL;
    }
    ig_str text = { key, (size_t)length };
    const ig_onnx_row *first = ig_map_get(&import->rows, text);
    if (!first) {
        first = ig_onnx_row_first(domain, ig_str_of(node->op_type));
        if (!first) {
            return NULL;
        }
        ig_map_set(&import->rows, text, (void *)(uintptr_t)first);
    }
    int64_t opset = ig_onnx_opset_of(opsets, domain);
    const ig_onnx_row *row = ig_onnx_row_at(first, opset);
    return row || !ig_onnx_row_is_early(first) ? row : first;
}

/* No row serves the node: why? */
static void explain_missing_row(const subject *s, ig_str domain) {
    const char *name = s->node->op_type;
    char label[128];
    const ig_onnx_row *first = ig_onnx_row_first(domain, ig_str_of(name));
    ig_onnx_domain_label(domain, label, sizeof(label));
    const char *domain_text = domain.size ? label : "ai.onnx";
    int64_t opset = ig_onnx_opset_of(s->at->opsets, domain);
    if (first) {
        FLAW(s, "exists since version %u of %s, but version %lld is imported",
             first->since, domain_text, (long long)opset);
    } else if (!ig_onnx_domain_is_known(domain)) {
        tally_missing(s, domain, name);
    } else {
        FLAW(s, "%s has no operator '%s'", domain_text, name);
    }
}

static void check_operator(const subject *s) {
    ig_str domain = ig_onnx_domain(s->node->domain);
    if (ig_onnx_opset_of(s->at->opsets, domain) == 0) {
        refuse_domain(s, domain);
        return;
    }
    const ig_onnx_row *row = ig_onnx_row_of(s->at->import, s->at->opsets, s->node);
    if (!row) {
        explain_missing_row(s, domain);
        return;
    }
    if (!row->import) {
        tally_missing(s, domain, s->node->op_type);
        return;
    }
    int64_t opset = ig_onnx_opset_of(s->at->opsets, domain);
    if (row->since > opset) {
        ig_warn(&s->at->import->context->diag, &s->where,
                "exists since version %u; taken as that", row->since);
    }
    check_counts(s, row);
    check_attributes(s, row);
}

static void check_call(const subject *s, ig_onnx_function *callee) {
    const Onnx__FunctionProto *function = callee->proto;
    ig_onnx_function *caller = s->at->function;
    IG_PUSH(s->at->import->arena, &caller->calls, callee);
    if (s->node->n_input > function->n_input) {
        FLAW(s, "has %zu inputs, but function %s takes %zu", s->node->n_input,
             callee->label, function->n_input);
    }
    if (s->node->n_output > function->n_output) {
        FLAW(s, "has %zu outputs, but function %s gives %zu", s->node->n_output,
             callee->label, function->n_output);
    }
    for (size_t i = 0; i < s->node->n_attribute; i++) {
        const char *name = s->node->attribute[i]->name;
        if (name && !names_attribute(function, name)) {
            FLAW(s, "function %s has no attribute '%s'", callee->label, name);
        }
    }
}

/* ---- graphs ---- */

static void check_nodes(const site *at, Onnx__NodeProto *const *nodes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        subject s = { .at = at, .node = nodes[i] };
        s.where = (ig_location){ .file = at->import->model->file,
                                 .graph = at->graph,
                                 .node = nodes[i]->name,
                                 .op = nodes[i]->op_type,
                                 .node_id = (uint32_t)i + 1 };
        if (!nodes[i]->op_type || !nodes[i]->op_type[0]) {
            FLAW(&s, "names no operator");
            continue;
        }
        for (size_t a = 0; a < nodes[i]->n_attribute; a++) {
            check_attribute_form(&s, a);
        }
        at->function->size++;
        ig_onnx_function *callee = ig_onnx_function_of(at->import, nodes[i]);
        if (callee) {
            check_call(&s, callee);
        } else if (!ig_onnx_custom_form(at->import, nodes[i], NULL)) {
            check_operator(&s);
        }
    }
}

static void check_graph(const site *outer, const Onnx__GraphProto *graph,
                        const char *fallback) {
    site at = *outer;
    at.graph = graph->name && graph->name[0] ? graph->name : fallback;
    check_nodes(&at, graph->node, graph->n_node);
}

/* So many missing operators are reported one by one, those beyond by name alone. */
enum { MAX_REPORTED = 12 };

static const char advice[] = IG_CUSTOM_ADVICE;

static void report_one(ig_onnx_import *import, const tally *t, bool is_last) {
    char label[128], many[64] = "";
    const char *domain = ig_onnx_domain_label(ig_str_of(t->domain), label,
                                              sizeof(label));
    if (t->count > 1) {
        snprintf(many, sizeof(many), " (%zu nodes, this is the first)", t->count);
    }
    ig_onnx_note(import,
                 ig_error_hint(&import->context->diag, IG_UNSUPPORTED, &t->first,
                               is_last ? advice : NULL,
                               "operator %s::%s (version %lld) is not supported yet%s",
                               domain, t->name, (long long)t->opset, many));
}

static void report_rest(ig_onnx_import *import, const ig_map *missing, size_t first) {
    ig_location where = { .file = import->model->file };
    ig_writer w;
    ig_writer_init(&w, import->arena);
    for (size_t i = first; i < missing->count; i++) {
        const tally *t = missing->entries[i].value;
        char label[128];
        ig_put(&w, "%s%s::%s", i > first ? ", " : "",
               ig_onnx_domain_label(ig_str_of(t->domain), label, sizeof(label)),
               t->name);
    }
    ig_onnx_note(import,
                 ig_error_hint(&import->context->diag, IG_UNSUPPORTED, &where, advice,
                               "%zu further operators are not supported yet: %s",
                               missing->count - first, w.data));
}

static void report_missing(ig_onnx_import *import, const ig_map *missing) {
    size_t max = missing->count > MAX_REPORTED ? MAX_REPORTED - 1 : missing->count;
    for (size_t i = 0; i < max; i++) {
        report_one(import, missing->entries[i].value, i + 1 == missing->count);
    }
    if (max < missing->count) {
        report_rest(import, missing, max);
    }
}

ig_status ig_onnx_check(ig_onnx_import *import) {
    ig_map missing, undeclared;
    ig_map_init(&missing, import->arena);
    ig_map_init(&undeclared, import->arena);
    IG_TRY(ig_onnx_functions_collect(import));
    ig_onnx_function main = { .label = "the main graph", .opsets = import->opsets };
    site at = { .import = import,
                .opsets = &import->opsets,
                .function = &main,
                .missing = &missing,
                .undeclared = &undeclared };
    const Onnx__GraphProto *graph = import->model->proto->graph;
    check_nodes(&at, graph->node, graph->n_node);
    for (size_t i = 0; i < import->functions.count; i++) {
        ig_onnx_function *function = import->functions.entries[i].value;
        at.function = function;
        at.opsets = &function->opsets;
        at.graph = function->label;
        check_nodes(&at, function->proto->node, function->proto->n_node);
        IG_TRY(ig_context_poll(import->context));
    }
    report_missing(import, &missing);
    return ig_onnx_functions_check(import, &main);
}
