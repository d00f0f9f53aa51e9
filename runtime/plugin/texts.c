/* Memory of texts that functions of libingot-text make.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plugin/texts.h"

#include <assert.h>

static void free_blocks(ig_memory *memory, ig_text_block *block) {
    while (block) {
        ig_text_block *next = block->next;
        ig_memory_give(memory, block, block->size + sizeof *block);
        block = next;
    }
}

/* The first block is the largest, and the one that the next run begins with. */
void ig_texts_forget(ig_texts *texts) {
    assert(texts->memory && "a session has memory");
    ig_text_block *first = texts->blocks;
    if (first) {
        free_blocks(texts->memory, first->next);
        first->next = NULL;
        first->used = 0;
    }
}

void ig_texts_free(ig_texts *texts) {
    assert(texts->memory && "a session has memory");
    free_blocks(texts->memory, texts->blocks);
    texts->blocks = NULL;
}
