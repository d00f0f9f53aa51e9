/* Programs that call functions on texts: libingot-text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plugin/plugin.h"
#include "runtime/session.h"

#include <assert.h>
#include <string.h>

ig_status ig_program_find_texts(const char *name, ig_host_fn **out_fn,
                                const ig_message *message) {
    ig_host_fn *(*find)(const char *name);
    void *symbol;
    IG_TRY(ig_plugin_find("strings", "libingot-text.so", "ig_texts_find", &symbol,
                          message));
    memcpy(&find, &symbol, sizeof find);
    *out_fn = find(name);
    return IG_OK;
}

static void free_blocks(ig_memory *memory, ig_text_block *block) {
    while (block) {
        ig_text_block *next = block->next;
        ig_memory_give(memory, block, block->size + sizeof *block);
        block = next;
    }
}

/* The first block is the largest, and the one that the next run begins with. */
void ig_session_forget_texts(ig_session *session) {
    assert(session->texts.memory && "a session has memory");
    ig_text_block *first = session->texts.blocks;
    if (first) {
        free_blocks(&session->host, first->next);
        first->next = NULL;
        first->used = 0;
    }
}

void ig_session_free_texts(ig_session *session) {
    assert(session->texts.memory && "a session has memory");
    free_blocks(&session->host, session->texts.blocks);
    session->texts.blocks = NULL;
}
