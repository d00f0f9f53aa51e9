/* Text mutated by lines and words.  SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/case/mutate_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

uint32_t ig_fuzz_draw(uint32_t *state, size_t below) {
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % (uint32_t)below : 0;
}

typedef struct span {
    size_t begin, end;
} span;

/* A random line, or word, that `text` has. */
static span pick_line(const char *text, size_t size, uint32_t *state) {
    span at = { ig_fuzz_draw(state, size), 0 };
    while (at.begin > 0 && text[at.begin - 1] != '\n') {
        at.begin--;
    }
    const char *end = memchr(text + at.begin, '\n', size - at.begin);
    at.end = end ? (size_t)(end - text) + 1 : size;
    return at;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static span pick_word(const char *text, size_t size, uint32_t *state) {
    size_t from = ig_fuzz_draw(state, size);
    while (from < size && !is_word(text[from])) {
        from++;
    }
    span at = { from, from };
    while (at.begin > 0 && is_word(text[at.begin - 1])) {
        at.begin--;
    }
    while (at.end < size && is_word(text[at.end])) {
        at.end++;
    }
    return at;
}

/* text[at] becomes `by`; the size stays within `room`. */
static size_t replace(char *text, size_t size, size_t room, span at, const char *by,
                      size_t by_size) {
    size_t left = size - (at.end - at.begin);
    if (left + by_size > room) {
        return size;
    }
    memmove(text + at.begin + by_size, text + at.end, size - at.end);
    memcpy(text + at.begin, by, by_size);
    return left + by_size;
}

static size_t mutate_lines(char *text, size_t size, size_t room, uint32_t *state) {
    char copy[512];
    span from = pick_line(text, size, state), to = pick_line(text, size, state);
    size_t length = from.end - from.begin;
    if (length > sizeof(copy)) {
        return size;
    }
    memcpy(copy, text + from.begin, length);
    uint32_t way = ig_fuzz_draw(state, 3);
    if (way == 0) {
        to.end = to.begin; /* doubled, elsewhere */
    } else if (way == 1) {
        return replace(text, size, room, from, "", 0);
    }
    return replace(text, size, room, to, copy, length);
}

size_t ig_fuzz_mutate_text(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                           ig_fuzz_other_word *other) {
    uint32_t state = seed;
    char *text = (char *)data, word[256], copy[256];
    if (size == 0 || ig_fuzz_draw(&state, 8) == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    for (uint32_t i = 0; i <= ig_fuzz_draw(&state, 3); i++) {
        span at = pick_word(text, size, &state), from = pick_word(text, size, &state);
        size_t length = from.end - from.begin;
        if (ig_fuzz_draw(&state, 4) == 0) {
            size = mutate_lines(text, size, max_size, &state);
        } else if (ig_fuzz_draw(&state, 3) == 0 && length < sizeof(copy)) {
            memcpy(copy, text + from.begin, length);
            size = replace(text, size, max_size, at, copy, length);
        } else {
            other(text + at.begin, at.end - at.begin, &state, word, sizeof(word));
            size = replace(text, size, max_size, at, word, strlen(word));
        }
    }
    return size;
}
