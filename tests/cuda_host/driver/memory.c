/* Blocks of memory.  SPDX-License-Identifier: Apache-2.0
 *
 * Each has pages of its own, which no other ever gets, and ends where they end, so what
 * uses it too early, too late or beyond its end faults:
 *
 *     pages   [ spoilt ……… | block, from 256 bytes on | < 256 ][ no access ]
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, ALIGNMENT = 256, SPOILT = 0x7f };

static uint64_t next_device = DEVICE_BASE, next_pinned = PINNED_BASE;
static uint64_t held; /* bytes of the device */

uint64_t held_bytes(void) {
    return held;
}

block *find_block(uint64_t address, size_t size) {
    for (object *o = objects; o; o = o->next) {
        block *b = (block *)(void *)o;
        bool is_inside = o->kind == OBJECT_BLOCK && address >= b->address &&
                         address - b->address <= b->size &&
                         size <= b->size - (address - b->address);
        if (is_inside) {
            return b;
        }
    }
    return NULL;
}

block *make_block(size_t size, bool is_pinned, int *out_error) {
    uint64_t room = (uint64_t)given("INGOT_STAND_IN_MEMORY", (int64_t)4 << 30);
    uint64_t *next = is_pinned ? &next_pinned : &next_device;
    uint64_t end = is_pinned ? PINNED_BASE + PINNED_BYTES : DEVICE_BASE + DEVICE_BYTES;
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t pages = (rounded + PAGE - 1) / PAGE * PAGE;
    *out_error = size == 0 ? INVALID_VALUE : OUT_OF_MEMORY;
    bool fits = size > 0 && size <= room && (is_pinned || held + size <= room) &&
                pages + PAGE <= end - *next;
    block *b = fits ? make_object(OBJECT_BLOCK, sizeof *b, current_context()) : NULL;
    if (b) {
        b->size = size;
        b->pages = *next;
        b->page_bytes = pages;
        b->address = *next + pages - rounded;
        b->is_pinned = is_pinned;
        *next += pages + PAGE;
        held += is_pinned ? 0 : size;
        *out_error = SUCCESS;
    }
    return b;
}

bool open_block(block *b) {
    b->is_open = open_pages(b->pages, b->page_bytes);
    return b->is_open;
}

static bool is_spoilt(const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != SPOILT) {
            return false;
        }
    }
    return true;
}

bool close_block(block *b) {
    if (!b->is_open) {
        return true;
    }
    const char *all = b->is_pinned ? (char *)(uintptr_t)b->pages : see_device(b->pages);
    size_t before = b->address - b->pages;
    bool is_clean = is_spoilt(all, before) &&
                    is_spoilt(all + before + b->size, b->page_bytes - before - b->size);
    if (!is_clean) {
        say("something was written beside a block of %zu bytes", b->size);
        counts.faults++;
    }
    close_pages(b->pages, b->page_bytes);
    b->is_open = false;
    return is_clean;
}

void drop_block(block *b) {
    held -= b->is_pinned ? 0 : b->size;
    drop_object(b);
}
