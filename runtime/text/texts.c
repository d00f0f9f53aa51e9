/* Texts compared, joined, looked up; and their memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/system/regex.h"
#include "runtime/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, HASHED_FROM = 16 /* keys */ };

/* Checked before the function is called, so that it need not. */
#define CHECKED(name, buffers, params)                                             \
    static bool check_##name(const ig_host_call *call) {                           \
        return call->buffer_count == (buffers) && call->param_count == (params) && \
               ig_host_##name(call);                                               \
    }
IG_TEXT_FUNCTIONS(CHECKED)
#undef CHECKED

ig_status ig_texts_find(ig_host_wanted *wanted) {
#define ROW(function, buffers, params) { #function, check_##function },
    static const struct {
        const char *name;
        ig_host_fn *fn;
    } rows[] = { IG_TEXT_FUNCTIONS(ROW) };
#undef ROW
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].name, wanted->name) == 0) {
            wanted->fn = rows[i].fn;
        }
    }
    return IG_OK;
}

/* ---- memory ---- */

static bool add_block(ig_texts *texts, size_t size) {
    size_t last = texts->blocks ? texts->blocks->size : FIRST_BLOCK / 2;
    size_t room = size > last * 2 ? size : last * 2,
           bytes = room + sizeof *texts->blocks;
    ig_memory *memory = texts->memory;
    bool is_allowed = memory->limit == 0 || (memory->held <= memory->limit &&
                                             bytes <= memory->limit - memory->held);
    ig_text_block *block = is_allowed && room >= size && bytes > room
                               ? memory->allocate(memory->user, bytes, IG_MEMORY_ALIGN)
                               : NULL;
    if (!block) {
        return false;
    }
    memory->held += bytes;
    *block = (ig_text_block){ texts->blocks, room, 0 };
    texts->blocks = block;
    return true;
}

bool ig_text_refuse(const ig_host_call *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(call->reason, IG_HOST_REASON_BYTES, format, args);
    va_end(args);
    return false;
}

char *ig_text_take(const ig_host_call *call, size_t size) {
    ig_texts *texts = call->texts;
    ig_text_block *block = texts->blocks;
    if (!block || block->size - block->used <= size) {
        if (size == SIZE_MAX || !add_block(texts, size + 1)) {
            *call->status = IG_LIMIT;
            (void)ig_text_refuse(call, "no memory for texts");
            return NULL;
        }
        block = texts->blocks;
    }
    char *text = (char *)(block + 1) + block->used;
    block->used += size + 1;
    text[size] = 0;
    return text;
}

const char *ig_text_copy(const ig_host_call *call, const char *bytes, size_t size) {
    char *text = ig_text_take(call, size);
    return text ? memcpy(text, bytes, size) : NULL;
}

const char *ig_text_next(const ig_host_call *call, uint32_t buffer, const char *text) {
    if (call->bytes[buffer] <= 0) {
        return NULL;
    }
    const char *start = call->buffers[buffer], *end = start + call->bytes[buffer];
    const char *at = text ? text + strlen(text) + 1 : start;
    return at < end && memchr(at, 0, (size_t)(end - at)) ? at : NULL;
}

/* ---- addresses ---- */

bool ig_host_text_same(const ig_host_call *call) {
    int64_t count = call->params[0];
    if (!ig_text_fits(call, 0, count, 8) || !ig_text_fits(call, 1, count, 8)) {
        return false;
    }
    if (count > 0) {
        memcpy(call->buffers[0], call->buffers[1], (size_t)count * 8);
    }
    return true;
}

/* The list is a constant of the program, which outlives the results of a run. */
bool ig_host_text_of(const ig_host_call *call) {
    const char **y = call->buffers[0], *text = NULL;
    if (!ig_text_fits(call, 0, call->params[0], 8)) {
        return false;
    }
    for (int64_t i = 0; i < call->params[0]; i++) {
        text = ig_text_next(call, 1, text);
        if (!text) {
            return ig_text_refuse(call, "a list has fewer texts than the plan says");
        }
        y[i] = text;
    }
    return true;
}

/* ---- pairs ---- */

bool ig_host_text_eq(const ig_host_call *call) {
    int64_t count = call->params[0];
    char *y = call->buffers[0];
    if (!ig_text_fits(call, 0, count, 1) || !ig_text_fits(call, 1, count, 8) ||
        !ig_text_fits(call, 2, count, 8)) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        y[i] = strcmp(ig_text_at(call, 1, i), ig_text_at(call, 2, i)) == 0;
    }
    return true;
}

bool ig_host_text_join(const ig_host_call *call) {
    int64_t count = call->params[0];
    char **y = call->buffers[0];
    if (!ig_text_fits(call, 0, count, 8) || !ig_text_fits(call, 1, count, 8) ||
        !ig_text_fits(call, 2, count, 8)) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        const char *a = ig_text_at(call, 1, i), *b = ig_text_at(call, 2, i);
        size_t a_size = strlen(a), b_size = strlen(b);
        y[i] = ig_text_take(call, a_size + b_size);
        if (!y[i]) {
            return false;
        }
        memcpy(y[i], a, a_size);
        memcpy(y[i] + a_size, b, b_size);
    }
    return true;
}

/* ---- look-ups ---- */

/* Keys by hash, in slots of a power of two; a slot is 0 or the number of a key + 1. */
typedef struct keys {
    const char **texts;
    uint32_t *slots;
    size_t count, slot_count;
} keys;

static uint64_t hash_text(const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 32;
}

static size_t slot_of(const keys *k, const char *text) {
    size_t at = hash_text(text) & (k->slot_count - 1);
    while (k->slots[at] && strcmp(k->texts[k->slots[at] - 1], text) != 0) {
        at = (at + 1) & (k->slot_count - 1);
    }
    return at;
}

/* In the session's memory of texts, so it goes with the next run. */
static bool read_keys(const ig_host_call *call, keys *k) {
    *k = (keys){ .slot_count = 1 };
    for (const char *key = NULL; (key = ig_text_next(call, 2, key));) {
        k->count++;
    }
    while (k->slot_count < 2 * k->count + 1) {
        k->slot_count *= 2;
    }
    size_t bytes = k->count * sizeof *k->texts + k->slot_count * sizeof *k->slots;
    char *memory = ig_text_take(call, bytes + sizeof(void *));
    if (!memory || k->count >= UINT32_MAX) {
        return false;
    }
    memory += -(uintptr_t)memory % sizeof(void *);
    k->texts = (const char **)(void *)memory;
    k->slots = (uint32_t *)(void *)(k->texts + k->count);
    memset(k->slots, 0, k->slot_count * sizeof *k->slots);
    const char *key = NULL;
    for (uint32_t i = 0; (key = ig_text_next(call, 2, key)); i++) {
        k->texts[i] = key;
        size_t at = slot_of(k, key);
        k->slots[at] = k->slots[at] ? k->slots[at]
                                    : i + 1; /* the first of equal ones */
    }
    return true;
}

static int64_t search_list(const ig_host_call *call, const char *text) {
    int64_t index = 0;
    for (const char *key = NULL; (key = ig_text_next(call, 2, key)); index++) {
        if (strcmp(key, text) == 0) {
            return index;
        }
    }
    return -1;
}

/* Few texts do not pay for a table of keys. */
bool ig_host_text_find(const ig_host_call *call) {
    int64_t count = call->params[0], *y = call->buffers[0];
    keys k = { 0 };
    if (!ig_text_fits(call, 0, count, 8) || !ig_text_fits(call, 1, count, 8) ||
        (count >= HASHED_FROM && !read_keys(call, &k))) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        const char *text = ig_text_at(call, 1, i);
        y[i] = k.slots ? (int64_t)k.slots[slot_of(&k, text)] - 1
                       : search_list(call, text);
    }
    return true;
}

/* ---- order ---- */

typedef struct placed_text {
    const char *text;
    int64_t index;
} placed_text;

/* Puts the first entry of a heap, the largest on top, where it belongs. */
static void sift_down(placed_text *heap, int64_t at, int64_t count) {
    placed_text moved = heap[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count &&
                 strcmp(heap[child].text, heap[child + 1].text) < 0;
        if (strcmp(moved.text, heap[child].text) >= 0) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* In place: a call takes no memory but the session's. */
static void sort_texts(placed_text *texts, int64_t count) {
    for (int64_t i = count / 2; i-- > 0;) {
        sift_down(texts, i, count);
    }
    for (int64_t left = count; left-- > 1;) {
        placed_text largest = texts[0];
        texts[0] = texts[left];
        texts[left] = largest;
        sift_down(texts, 0, left);
    }
}

bool ig_host_text_order(const ig_host_call *call) {
    int64_t count = call->params[0], *y = call->buffers[0], before = 0;
    if (!ig_text_fits(call, 0, count, 8) || !ig_text_fits(call, 1, count, 8)) {
        return false;
    }
    char *memory = ig_text_take(call, ((size_t)count + 1) * sizeof(placed_text));
    if (!memory) {
        return false;
    }
    memory += -(uintptr_t)memory % sizeof(void *);
    placed_text *texts = (placed_text *)(void *)memory;
    for (int64_t i = 0; i < count; i++) {
        texts[i] = (placed_text){ ig_text_at(call, 1, i), i };
    }
    sort_texts(texts, count);
    for (int64_t i = 0; i < count; i++) {
        before += i > 0 && strcmp(texts[i - 1].text, texts[i].text) != 0;
        y[texts[i].index] = before;
    }
    return true;
}

/* ---- patterns ---- */

bool ig_host_text_match(const ig_host_call *call) {
    int64_t count = call->params[0];
    char *y = call->buffers[0], why[IG_REGEX_WHY_BYTES];
    const char *pattern = ig_text_next(call, 2, NULL);
    ig_regex *regex;
    if (!ig_text_fits(call, 0, count, 1) || !ig_text_fits(call, 1, count, 8)) {
        return false;
    }
    ig_status status = ig_regex_open(pattern ? pattern : "", &regex, why);
    if (status != IG_OK) {
        *call->status = status;
        return ig_text_refuse(call, "%s", why);
    }
    for (int64_t i = 0; status == IG_OK && i < count; i++) {
        bool matches = false;
        status = ig_regex_match(regex, ig_text_at(call, 1, i), &matches);
        y[i] = matches;
    }
    ig_regex_close(regex);
    *call->status = status == IG_OK ? *call->status : status;
    return status == IG_OK || ig_text_refuse(call, "a match takes too long");
}
