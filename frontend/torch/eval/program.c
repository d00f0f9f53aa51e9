/* The program of a ScriptModule: its pickles, and the sources beside them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/program.h"

static ig_status read_entry(void *user, const char *name, ig_str *out_text,
                            bool *out_found) {
    ig_archive *archive = user;
    ig_archive_entry *entry = ig_archive_find(archive, ig_str_of(name));
    *out_found = entry != NULL;
    *out_text = IG_STR("");
    return entry ? ig_archive_read_text(archive, entry, out_text) : IG_OK;
}

ig_status ig_ts_program_of_script(ig_ts_program *program, const char *folder) {
    ig_archive *archive = program->archive;
    program->code_folder = folder[0] ? ".data/ts_code/code/" : "code/";
    program->read = read_entry;
    program->user = archive;
    ig_pickle_set *set = program->pickles;
    IG_TRY(ig_pickle_read_torchscript(set, folder, "data.pkl", &program->root));
    IG_TRY(
        ig_pickle_read_torchscript(set, folder, "constants.pkl", &program->constants));
    ig_location where = { .file = program->file };
    if (program->root->kind != IG_PY_OBJECT ||
        program->constants->kind != IG_PY_TUPLE) {
        return ig_error_hint(
            &archive->context->diag, IG_INVALID, &where,
            "the file is damaged, hostile or not made by PyTorch",
            "data.pkl holds a %s and constants.pkl a %s, not an object and a tuple",
            ig_py_kind_name(program->root->kind),
            ig_py_kind_name(program->constants->kind));
    }
    bool has_traced = !folder[0] &&
                      ig_archive_find(archive, IG_STR("traced_inputs.pkl"));
    return has_traced ? ig_pickle_read_torchscript(set, folder, "traced_inputs.pkl",
                                                   &program->traced)
                      : IG_OK;
}
