/* Archives of torch.export: which model, its program, its tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/pt2.h"

#include "frontend/pt2/call.h"
#include "frontend/pt2/weights.h"

#include <string.h>

/* The schema's major version: torch's own loader takes no other than its own. */
enum { NEWEST_MAJOR = 8 };

/* ---- which model ---- */

/* "models/NAME.json" -> "NAME" */
static const char *model_name(ig_archive *archive, const ig_archive_entry *entry) {
    static const char folder[] = "models/", end[] = ".json";
    ig_str name = entry->name;
    bool is_model = ig_str_starts(name, folder) && ig_str_ends(name, end) &&
                    name.size > sizeof folder + sizeof end - 2;
    return is_model ? ig_arena_copy(archive->arena, name.data + sizeof folder - 1,
                                    name.size - (sizeof folder + sizeof end - 2))
                    : NULL;
}

static ig_status report_models(ig_archive *archive, const char *names) {
    ig_location where = { .file = archive->file };
    if (*names) {
        return ig_error_hint(&archive->context->diag, IG_INVALID, &where,
                             "choose one with --resource NAME",
                             "the archive holds several models: %s", names);
    }
    return ig_error_hint(
        &archive->context->diag, IG_UNSUPPORTED, &where,
        "save the exported program itself: torch.export.save(program, path)",
        "the archive holds no exported program: AOTInductor's packages hold machine code, "
        "and the graph that it was made from cannot be recovered");
}

static ig_status find_model(ig_archive *archive, const char *wanted,
                            const char **out_name, ig_archive_entry **out_entry) {
    ig_writer names;
    size_t count = 0;
    ig_writer_init(&names, archive->arena);
    ig_put(&names, "%s", "");
    *out_entry = NULL;
    for (size_t i = 0; i < archive->entry_count; i++) {
        const char *name = model_name(archive, &archive->entries[i]);
        if (!name) {
            continue;
        }
        ig_put(&names, "%s%s", count++ ? ", " : "", name);
        if (!*out_entry || strcmp(name, wanted ? wanted : "model") == 0) {
            *out_name = name;
            *out_entry = &archive->entries[i];
        }
    }
    bool is_it = *out_entry && strcmp(*out_name, wanted ? wanted : "model") == 0;
    return is_it || (count == 1 && !wanted) ? IG_OK
                                            : report_models(archive, names.data);
}

/* The flat archives of torch 2.1 to 2.7 hold one program, without a name. */
static ig_status find_program(ig_archive *archive, const char *wanted,
                              const char **out_name, ig_archive_entry **out_entry) {
    *out_name = "model";
    *out_entry = ig_archive_find(archive, IG_STR("serialized_exported_program.json"));
    return *out_entry ? IG_OK : find_model(archive, wanted, out_name, out_entry);
}

/* ---- the program ---- */

static ig_status check_version(ig_archive *archive, const ig_json *exported) {
    const ig_json *version = ig_json_get(exported, "schema_version");
    int64_t major = 0;
    bool is_given = ig_json_int(ig_json_get(version, "major"), &major) ||
                    ig_json_int(version, &major);
    ig_location where = { .file = archive->file };
    if (is_given && major <= NEWEST_MAJOR) {
        return IG_OK;
    }
    return is_given ? ig_error_hint(&archive->context->diag, IG_UNSUPPORTED, &where,
                                    "save it with a torch that writes schema 8",
                                    "its schema is of version %lld, which is not known",
                                    (long long)major)
                    : ig_error(&archive->context->diag, IG_INVALID, &where,
                               "it does not say the version of its schema");
}

/* The classes of TorchRec have source; the program itself has none. */
static ig_status read_source(void *user, const char *name, ig_str *out_text,
                             bool *out_found) {
    (void)user;
    *out_found = strcmp(name, ig_pt2_jagged_file) == 0;
    *out_text = ig_str_of(*out_found ? ig_pt2_jagged_source : "");
    return IG_OK;
}

static ig_py *make_object(ig_pickle_set *set, ig_py *state) {
    ig_py *values = IG_NEW_ARRAY(set->arena, ig_py, 3);
    for (uint32_t i = 0; i < 3; i++) {
        values[i].id = set->value_count++;
    }
    values[0].kind = IG_PY_OBJECT;
    values[0].as.object.class = &values[1];
    values[0].as.object.args = &values[2];
    values[0].as.object.state = state;
    values[1].kind = IG_PY_GLOBAL;
    values[1].as.global.module = IG_STR("__torch__");
    values[1].as.global.name = ig_str_of(ig_pt2_class);
    values[2].kind = IG_PY_TUPLE;
    return values;
}

static ig_status read_program(ig_ts_program *out, const ig_json *exported) {
    ig_archive *archive = out->archive;
    ig_pt2_program *program = IG_NEW(archive->arena, ig_pt2_program);
    program->reader =
        (ig_pt2_reader){ archive->context, archive->arena, { .file = archive->file } };
    IG_TRY(ig_pt2_read_call(program, exported));
    out->trees = program->trees.items;
    out->tree_count = program->trees.count;
    out->ranges = program->ranges.items;
    out->range_count = program->ranges.count;
    out->code_folder = "";
    out->read = read_source;
    out->declare = ig_pt2_declare;
    out->user = program;
    return IG_OK;
}

static void mark_parameter(const ig_py *state, const ig_json *name) {
    const ig_py *tensor = ig_py_get(state, ig_json_text(name));
    if (tensor && tensor->kind == IG_PY_TENSOR) {
        tensor->as.tensor->is_parameter = true;
    }
}

/* By the signature: the weights of most versions are plain tensors. */
static void mark_parameters(const ig_py *state, const ig_json *exported) {
    const ig_json *module = ig_json_get(exported, "graph_module");
    const ig_json *signature = ig_json_get(module, "signature");
    const ig_json *specs = ig_json_get(signature, "input_specs");
    const ig_json *names = ig_json_get(signature, "inputs_to_parameters");
    for (size_t i = 0; i < ig_json_count(specs); i++) {
        const ig_json *held = ig_json_get(ig_json_at(specs, i), "parameter");
        mark_parameter(state, ig_json_get(held, "parameter_name"));
    }
    for (size_t i = 0; i < ig_json_count(names); i++) {
        mark_parameter(state, ig_json_at(names, i));
    }
}

/* An opener of frontend/torch/eval/program.h. */
static ig_status open_pt2(ig_context *context, ig_arena *arena, const char *file,
                          ig_str bytes, const char *resource,
                          ig_ts_program *out_program) {
    const char *model;
    ig_archive_entry *entry;
    ig_str text;
    const ig_json *exported;
    ig_py *state;
    *out_program = (ig_ts_program){ .file = file, .resource = resource };
    ig_archive *archive = out_program->archive = IG_NEW(arena, ig_archive);
    IG_TRY(ig_archive_open(archive, context, arena, file, bytes));
    out_program->version = 10; /* of the operators: they are the newest */
    out_program->pickles = IG_NEW(arena, ig_pickle_set);
    ig_pickle_set_init(out_program->pickles, archive);
    IG_TRY(find_program(archive, resource, &model, &entry));
    IG_TRY(ig_archive_read_text(archive, entry, &text));
    ig_location where = ig_archive_where(archive, entry);
    IG_TRY(ig_json_read(context, arena, &where, text, &exported));
    IG_TRY(check_version(archive, exported));
    IG_TRY(read_program(out_program, exported));
    IG_TRY(ig_pt2_weights(archive, out_program->pickles, model, &state));
    mark_parameters(state, exported);
    out_program->root = make_object(out_program->pickles, state);
    return IG_OK;
}

ig_status ig_import_pt2(ig_context *context, const char *path,
                        const ig_torchscript_options *options, ig_module **out_module) {
    return ig_import_program(context, open_pt2, path, NULL, options, out_module);
}

ig_status ig_import_pt2_memory(ig_context *context, ig_str bytes, const char *path,
                               const ig_torchscript_options *options,
                               ig_module **out_module) {
    return ig_import_program(context, open_pt2, path, &bytes, options, out_module);
}
