/* The metadata of checkpoints under libFuzzer: it is refused with words, or says of
 * tensors whose chunks lie within them.  SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz fuzz_checkpoint
 */
#include "frontend/torch/checkpoint/checkpoint.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tensor(ig_checkpoint *checkpoint,
                         const ig_checkpoint_tensor *tensor) {
    int64_t count = tensor->dtype->bits;
    for (uint32_t i = 0; i < tensor->rank && count < 1 << 16; i++) {
        count = tensor->extents[i] < 1 << 16 ? count * tensor->extents[i] : 1 << 16;
    }
    for (size_t c = 0; c < tensor->chunk_count; c++) {
        for (uint32_t i = 0; i < tensor->rank; i++) {
            const ig_checkpoint_chunk *chunk = &tensor->chunks[c];
            if (chunk->begin[i] + chunk->extents[i] > tensor->extents[i]) {
                abort();
            }
        }
    }
    if (count < 1 << 16) { /* no such files are there */
        char *room = calloc(1, (size_t)count + 1);
        if (room && tensor->chunk_count > 0 &&
            ig_checkpoint_copy(checkpoint, tensor, room) == IG_OK) {
            abort();
        }
        free(room);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ig_context context;
    ig_arena arena;
    ig_checkpoint checkpoint;
    memset(&context, 0, sizeof(context));
    context.limits = ig_limits_default;
    ig_arena_init(&arena, NULL);
    ig_str bytes = { (const char *)data, size };
    ig_module *module = ig_module_create(&context, "checkpoint");
    ig_status status = ig_checkpoint_read(module, &arena, "/nowhere/.metadata", bytes,
                                          &checkpoint);
    if (status == IG_INTERNAL || (status != IG_OK && !context.diag.error_count)) {
        abort();
    }
    for (size_t i = 0; status == IG_OK && i < checkpoint.tensors.count; i++) {
        check_tensor(&checkpoint, &checkpoint.tensors.items[i]);
    }
    ig_module_destroy(module);
    ig_arena_fini(&arena);
    return 0;
}
