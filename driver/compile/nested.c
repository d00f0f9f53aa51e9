/* Artifacts that hold artifacts: see nested.h.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/nested.h"

#include "driver/cache/cache.h"

#include <string.h>

static ig_status check_options(const ig_nested *nested) {
    const ig_compile_options *options = &nested->outer->options;
    ig_diag *diag = &nested->outer->module->context->diag;
    if (options->emit && strcmp(options->emit, "ingot") != 0) {
        return ig_error(diag, IG_UNSUPPORTED, NULL,
                        "%s can be compiled to an artifact only", nested->what);
    }
    return options->isolate ? ig_error(diag, IG_UNSUPPORTED, NULL,
                                       "%s is not compiled in isolation", nested->what)
                            : IG_OK;
}

static ig_status compile_inner(const ig_nested *nested, ig_artifact_entry *entries) {
    for (size_t i = 0; i < nested->inner_count; i++) {
        ig_compilation *inner = &nested->inner[i];
        inner->folder = nested->outer->folder;
        inner->path = nested->path;
        IG_TRY(ig_compilation_run(inner));
        entries[i] = (ig_artifact_entry){ .name = ig_str_of(nested->names[i]),
                                          .parts = inner->parts,
                                          .part_count = inner->part_count };
    }
    return IG_OK;
}

ig_status ig_nested_write(const ig_nested *nested) {
    ig_compilation *outer = nested->outer;
    ig_diag *diag = &outer->module->context->diag;
    ig_location where = { .file = nested->path };
    size_t count = nested->inner_count + nested->more_count;
    ig_artifact_entry *entries = IG_NEW_ARRAY(&outer->arena, ig_artifact_entry, count);
    char why[128];
    IG_TRY(check_options(nested));
    IG_TRY(ig_check_output_path(outer->module, nested->path));
    ig_file_remove_stale(nested->path);
    if (!outer->options.no_cache) { /* of kernels */
        outer->folder = ig_cache_folder(outer->module->context, &outer->arena);
    }
    IG_TRY(compile_inner(nested, entries));
    for (size_t i = 0; i < nested->more_count; i++) {
        entries[nested->inner_count + i] = nested->more[i];
    }
    outer->path = nested->path;
    outer->extra = entries;
    outer->extra_count = count;
    IG_TRY(ig_compilation_run(outer));
    ig_status status = ig_file_publish(nested->path, outer->parts, outer->part_count,
                                       why);
    return status == IG_OK ? IG_OK
                           : ig_error(diag, status, &where, "cannot write: %s", why);
}
