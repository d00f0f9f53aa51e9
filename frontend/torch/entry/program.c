/* Opening programs: TorchScript archives and torch.packages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/package/package.h"
#include "frontend/torch/entry/torchscript.h"

ig_status ig_ts_program_open(ig_context *context, ig_arena *arena, const char *file,
                             ig_str bytes, const char *resource,
                             ig_ts_program *out_program) {
    *out_program = (ig_ts_program){ .file = file };
    ig_archive *archive = out_program->archive = IG_NEW(arena, ig_archive);
    IG_TRY(ig_archive_open(archive, context, arena, file, bytes));
    out_program->pickles = IG_NEW(arena, ig_pickle_set);
    ig_pickle_set_init(out_program->pickles, archive);
    out_program->version = archive->version;
    if (archive->format == IG_ARCHIVE_torchscript) {
        return ig_ts_program_of_script(out_program, "");
    }
    if (archive->format == IG_ARCHIVE_package) {
        return ig_package_program(out_program, resource);
    }
    return ig_archive_refuse(context, file, archive->format);
}
