/* ingot inspect: the contents of a model or an artifact.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/info/info_archive.h"
#include "tools/ingot/info/inspect_facts.h"
#include "tools/ingot/info/inspect_roles.h"
#include "tools/ingot/values/show.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const option_row options[] = {
    FLAG("check", check, "compare the hash of every constant of an artifact"),
    FLAG("markdown", markdown, "tables for an issue or a page"),
    LIST("input", inputs, "NAME=TYPE", "fix an input's type"),
    ROW_ENTRY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROW_TARGET,
    ROW_LIMIT,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

/* ---- signatures ---- */

/* A line an argument, one for the result, one for each input that changes. */
static void print_tree(const model *m) {
    ig_tree_node root = model_node(m, 0);
    size_t at = 1;
    if (root.name[0]) {
        printf("method %s\n", root.name);
    }
    for (uint32_t i = 0; i < root.child_count; i++) {
        ig_tree_node node = model_node(m, at);
        char *text = tree_text(m, at);
        bool is_result = i == (uint32_t)root.integer;
        const char *what = i < root.integer ? "takes" : is_result ? "gives" : "changes";
        printf("  %-7s %s%s%s\n", what, node.name, node.name[0] ? ": " : "", text);
        free(text);
        at += node.size;
    }
    if (model_input_count(m) + model_output_count(m) > 0) {
        puts("flat:");
    }
}

/* The type of a leaf: as a compiled call has it where `facts` (NULL: none) tell that,
 * where extents that must be equal have one name. */
static const char *leaf_type(const json_t *facts, const char *list, size_t index,
                             const char *own) {
    const json_t *types = json_object_get(facts, list);
    return index < json_array_size(types)
               ? json_string_value(json_array_get(types, index))
               : own;
}

static const char *input_type(const model *m, const json_t *facts, size_t index) {
    return leaf_type(facts, "takes", index, model_input_type(m, index));
}

static const char *output_type(const model *m, const json_t *facts, size_t index) {
    return leaf_type(facts, "gives", index, model_output_type(m, index));
}

/* Inputs and outputs of an artifact have words of their own where they are weights, or
 * are in the memory of inputs. */
static void print_signature(const model *m, const json_t *facts) {
    if (tree_is_structured(m)) {
        print_tree(m);
    }
    for (size_t i = 0; i < model_input_count(m); i++) {
        bool is_weight = m->program && ig_program_input(m->program, i).is_weight;
        put_port(stdout, is_weight ? "weight  " : "input   ", model_input_name(m, i),
                 input_type(m, facts, i));
    }
    for (size_t i = 0; i < model_output_count(m); i++) {
        bool is_in_place = m->program &&
                           ig_program_output(m->program, i).in_place_of >= 0;
        put_port(stdout, is_in_place ? "in place " : "output  ",
                 model_output_name(m, i), output_type(m, facts, i));
    }
    for (size_t i = 0; i < model_state_count(m); i++) {
        size_t at = model_input_count(m) + i;
        put_port(stdout, "state   ", model_input_name(m, at), input_type(m, facts, at));
    }
}

static void put_json_port(size_t index, const char *name, const char *type) {
    fputs(index ? ",\n  {\"name\": " : "\n  {\"name\": ", stdout);
    put_json_text(stdout, name);
    fputs(", \"type\": ", stdout);
    put_json_text(stdout, type);
    putchar('}');
}

static void put_signature(const model *m, const json_t *facts) {
    fputs("\"inputs\": [", stdout);
    for (size_t i = 0; i < model_input_count(m); i++) {
        put_json_port(i, model_input_name(m, i), input_type(m, facts, i));
    }
    fputs("],\n \"outputs\": [", stdout);
    for (size_t i = 0; i < model_output_count(m); i++) {
        put_json_port(i, model_output_name(m, i), output_type(m, facts, i));
    }
    fputs("],\n \"states\": [", stdout);
    for (size_t i = 0; i < model_state_count(m); i++) {
        size_t at = model_input_count(m) + i;
        put_json_port(i, model_input_name(m, at), input_type(m, facts, at));
    }
    fputs("],\n \"tree\": ", stdout);
    put_tree_json(m, 0);
}

/* ---- artifacts and models ---- */

static void print_facts(const ig_program_facts *facts) {
    printf("artifact of model '%s', by compiler %s, format %u\n", facts->model,
           facts->build_id, (unsigned)facts->format);
    printf("levels: %s (here: %s)\n", facts->levels, facts->level);
    printf("%zu kernels, %zu steps, %zu of them launches\n", facts->kernel_count,
           facts->step_count, facts->launch_count);
    printf("code %llu bytes, plan %llu bytes, constants %llu bytes\n",
           (unsigned long long)facts->code_bytes, (unsigned long long)facts->plan_bytes,
           (unsigned long long)facts->weight_bytes);
    fputs(facts->is_sanitized ? "sanitized: kernels check each load and store; slow\n"
                              : "",
          stdout);
}

static void put_facts(const ig_program_facts *facts) {
    fputs("{\"model\": ", stdout);
    put_json_text(stdout, facts->model);
    fputs(", \"compiler\": ", stdout);
    put_json_text(stdout, facts->build_id);
    printf(
        ", \"level\": \"%s\", \"levels\": \"%s\",\n \"kernels\": %zu, \"steps\": %zu, \"launches\": %zu, \"code_bytes\": %llu, \"plan_bytes\": %llu, \"weight_bytes\": %llu, \"is_sanitized\": %s, \"format\": %u,\n ",
        facts->level, facts->levels, facts->kernel_count, facts->step_count,
        facts->launch_count, (unsigned long long)facts->code_bytes,
        (unsigned long long)facts->plan_bytes, (unsigned long long)facts->weight_bytes,
        facts->is_sanitized ? "true" : "false", (unsigned)facts->format);
}

static ig_status print_artifact(const settings *given, const char *path, message *why) {
    model m = { 0 };
    ig_program_options how = { .check_weights = given->check };
    ig_status status = program_open(path, &how, &m.program, why);
    if (status != IG_OK) {
        return status;
    }
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(m.program, &facts);
    json_t *sources = sources_of(m.program);
    if (given->json) {
        put_facts(&facts);
        put_signature(&m, NULL);
        roles_put_json(m.program);
        sources_put_json(sources);
        puts(given->check ? ",\n \"is_checked\": true}" : "}");
    } else {
        print_facts(&facts);
        print_signature(&m, NULL);
        roles_print(m.program);
        sources_print(sources);
        fputs(given->check ? "every hash is right\n" : "", stdout);
    }
    json_decref(sources);
    ig_program_close(m.program);
    return IG_OK;
}

/* A model from Python is listed; a call is described where the types of its inputs are
 * known: from --input, or from the archive. */
typedef struct listing {
    const char *package; /* the content of a package; "" for other files */
    const char *inspected;
    json_t *archive;   /* of TorchScript, or NULL: parsed */
    model m;           /* module NULL: not asked for, or types are missing */
    const char *text;  /* of ig_module_inspect */
    json_t *facts;     /* parsed */
    char *outline;     /* the text, of a model that is not imported; free() it */
    ig_context *quiet; /* the context of that: all was said before */
} listing;

static void put_listing(const listing *l) {
    const char *comma = "";
    putchar('{');
    if (l->package[0]) {
        fputs("\"package\": ", stdout);
        put_json_text(stdout, l->package);
        comma = ",\n ";
    }
    if (l->archive) {
        printf("\"archive\": %s", l->inspected);
        comma = ",\n ";
    }
    if (l->m.module) {
        fputs(comma, stdout);
        put_signature(&l->m, l->facts);
        printf(",\n \"facts\": %s", l->text);
    }
    puts("}");
}

static void print_listing(const settings *given, const listing *l, const char *path) {
    fputs(l->package, stdout);
    if (l->archive) {
        archive_print(l->archive, path);
    }
    if (l->m.module) {
        facts_print_head(l->facts, path, given->markdown);
        print_signature(&l->m, l->facts);
        facts_print(l->facts, given->markdown);
    } else if (l->archive && archive_has(l->archive, given->entry)) {
        archive_print_need(l->archive, path, given->entry);
    }
}

/* Of a method that there is not, the import says which there are. */
static bool is_call_wanted(const settings *given, const listing *l) {
    if (given->inputs.count > 0 || !l->archive) {
        return given->inputs.count > 0 || !l->package[0];
    }
    return (given->entry || archive_has(l->archive, NULL)) &&
           !archive_needs_types(l->archive, given->entry);
}

/* The messages, one an item: lines with blanks in front go with the one before. */
static json_t *messages_of(const char *text) {
    json_t *list = need(json_array());
    while (*text) {
        const char *end = strchrnul(text, '\n');
        while (end[0] && end[1] == ' ') {
            end = strchrnul(end + 1, '\n');
        }
        json_array_append_new(list, json_stringn(text, (size_t)(end - text)));
        text = *end ? end + 1 : end;
    }
    return list;
}

/* Of an ONNX model or a .pt2 that is not imported: its parts, beside the reason. */
static void take_outline(ig_context *context, const char *path, listing *l) {
    json_t *refused = messages_of(ig_context_messages(context));
    ig_import_options how = { .size = sizeof how, .is_outline = 1 };
    ig_context_options quiet = { .size = sizeof quiet, .cache_folder = "" };
    context = l->m.context = l->quiet = need(ig_context_create(&quiet));
    const char *text = "";
    const char *format = ig_model_format(path);
    bool has_outline = strcmp(format, "onnx") == 0 || strcmp(format, "pt2") == 0;
    if (has_outline && ig_import(context, path, &how, &l->m.module) == IG_OK &&
        ig_module_inspect(l->m.module, NULL, &text) == IG_OK) {
        l->facts = need(json_loads(text, 0, NULL));
        json_object_set_new(l->facts, "ops", json_array()); /* there are none */
        json_object_set(l->facts, "refused", refused);
        json_object_set_new(l->facts, "compiles", json_false());
        l->outline = need(json_dumps(l->facts, JSON_INDENT(1)));
        l->text = l->outline;
    }
    json_decref(refused);
}

static ig_status print_model(const settings *given, ig_context *context,
                             const char *path) {
    listing l = { .package = "", .inspected = "", .m.context = context };
    ig_import_options how = import_options(given);
    ig_status status = ig_model_describe(context, path, &l.package);
    if (status == IG_OK && !l.package[0]) {
        status = ig_model_inspect(context, path, &l.inspected);
        l.archive = l.inspected[0] ? need(json_loads(l.inspected, JSON_ALLOW_NUL, NULL))
                                   : NULL;
    }
    if (status == IG_OK && is_call_wanted(given, &l)) {
        status = ig_import(context, path, &how, &l.m.module);
    }
    if (status == IG_OK && l.m.module) {
        ig_compile_options as = compile_options(given);
        status = ig_module_inspect(l.m.module, &as, &l.text);
        l.facts = l.text[0] ? need(json_loads(l.text, 0, NULL)) : NULL;
    }
    bool is_refused = status == IG_UNSUPPORTED || status == IG_INVALID;
    if (is_refused && !l.m.module && !l.archive && !l.package[0]) {
        take_outline(context, path, &l);
    }
    progress_clear();
    if (given->json && (status == IG_OK || l.facts || l.archive)) {
        put_listing(&l);
    } else if (status == IG_OK || l.facts) {
        print_listing(given, &l, path);
    } else if (l.archive) {
        archive_print(l.archive, path); /* its content, whatever the call is */
    }
    free(l.outline);
    ig_module_close(l.m.module);
    ig_context_destroy(l.quiet);
    json_decref(l.archive);
    json_decref(l.facts);
    return status;
}

static int run_inspect(const settings *given) {
    int exit_status;
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    const char *path = given->arguments.items[0];
    message why = { "" };
    ig_status status = is_artifact(path) ? print_artifact(given, path, &why)
                                         : print_model(given, context, path);
    exit_status = report(status, &why);
    context_close(context);
    return exit_status;
}

const verb verb_inspect = {
    .name = "inspect",
    .arguments = "MODEL|ARTIFACT",
    .help = "lists the contents of a model or an artifact",
    .details =
        "Of a model: what a call takes and gives, operators, parameters, symbols and "
        "guards, and every reason why it would not compile. Of an artifact: levels, "
        "kernels, bytes, and what became of the model's nodes.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_inspect,
};
