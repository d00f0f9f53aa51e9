/* Memory of results, which a session writes to and Tensors take over.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Results whose extents every call has alike are written where their Tensors keep them,
 * with no copy.  The block of a Tensor that is gone serves the next call: the kernel
 * gives and clears no pages for gradients, which a step drops and makes again. */
#include "python/runtime/src/binding.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that the output has in each call; 0: they differ, or are no plain elements. */
static size_t fixed_bytes(const ig_port *port) {
    ig_view view = { .dtype = (int32_t)port->dtype, .rank = port->rank };
    for (uint32_t i = 0; i < port->rank; i++) {
        view.dims[i] = port->dims[i];
    }
    int64_t size = view.dtype == IG_STR8 || port->in_place_of >= 0
                       ? 0
                       : ig_view_bytes(&view);
    return size > 0 ? (size_t)size : 0;
}

spare_blocks *spares_of(const ig_program *program) {
    size_t count = ig_program_output_count(program);
    spare_blocks *s = calloc(1, sizeof *s + count * sizeof *s->blocks);
    for (size_t i = 0; s && i < count; i++) {
        ig_port port = ig_program_output(program, i);
        s->blocks[i].size = fixed_bytes(&port);
    }
    if (s) {
        s->owners = 1;
        s->count = count;
    }
    return s;
}

void spares_release(spare_blocks *s) {
    if (!s || --s->owners > 0) {
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        free(s->blocks[i].memory);
    }
    free(s);
}

void spares_give(spare_blocks *s, size_t index, void *memory) {
    assert(index < s->count && "a block of another program");
    if (s->blocks[index].memory) {
        free(memory);
    } else {
        s->blocks[index].memory = memory;
    }
}

int spares_take(spare_blocks *s, ig_view *outputs) {
    for (size_t i = 0; i < s->count; i++) {
        size_t size = s->blocks[i].size;
        if (size == 0 || outputs[i].data) {
            continue;
        }
        void *memory = s->blocks[i].memory;
        memory = memory ? memory : aligned_alloc(64, (size + 64) / 64 * 64);
        if (!memory) {
            PyErr_NoMemory();
            return -1;
        }
        s->blocks[i].memory = NULL;
        outputs[i].data = memory;
        outputs[i].capacity = size;
    }
    return 0;
}

void spares_take_back(spare_blocks *s, ig_view *outputs) {
    for (size_t i = 0; i < s->count; i++) {
        if (outputs[i].capacity > 0) {
            spares_give(s, i, outputs[i].data);
            outputs[i].capacity = 0;
        }
    }
}
