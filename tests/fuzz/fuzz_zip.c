/* The archive reader under libFuzzer: bytes are refused with words, or every entry can
 * be
 * read and lies where it says.  SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_zip
 */
#include "frontend/torch/package/package.h"
#include "frontend/torch/entry/torchscript.h"

#include "base/writer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_entries(ig_archive *archive) {
    for (size_t i = 0; i < archive->entry_count; i++) {
        ig_archive_span span;
        if (ig_archive_read(archive, &archive->entries[i], &span) != IG_OK) {
            continue;
        }
        (void)ig_hash_bytes(span.bytes.data, span.bytes.size, 0);
        if (span.bytes.size != archive->entries[i].size ||
            (span.offset >= 0 &&
             span.bytes.data != archive->bytes.data + span.offset)) {
            abort();
        }
    }
}

static void describe(ig_archive *archive) {
    ig_pickle_set set;
    ig_package package;
    ig_writer out;
    ig_pickle_set_init(&set, archive);
    ig_writer_init(&out, archive->arena);
    if (ig_package_open(&package, archive, &set) == IG_OK) {
        (void)ig_package_describe(&package, &out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ig_context context;
    memset(&context, 0, sizeof(context));
    context.limits = ig_limits_default;
    context.limits.inflate_bytes = 1 << 20;
    context.limits.source_bytes = 1 << 18;
    context.limits.pickle_values = 10000;
    ig_arena arena;
    ig_arena_init(&arena, &context.budget);
    ig_str bytes = { (const char *)data, size };
    ig_archive archive;
    ig_ts_program program;
    ig_status status = ig_archive_open(&archive, &context, &arena, "f.pt", bytes);
    if (status == IG_INTERNAL || (status != IG_OK && !context.diag.error_count)) {
        abort();
    }
    if (status == IG_OK) {
        read_entries(&archive);
        describe(&archive);
        (void)ig_ts_program_open(&context, &arena, "f.pt", bytes, NULL, &program);
    }
    ig_arena_fini(&arena);
    return 0;
}
