/* The whole import of a TorchScript archive under libFuzzer: a program is refused with
 * words, or gives a module that verifies.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     build/fuzz/fuzz/fuzz_script -max_total_time=60 tests/fuzz/corpus/fuzz_script
 *
 * The input is the text of script_case.h.  Mutations know lines, numbers and names of
 * operators; what they leave is mutated byte by byte.
 */
#include "frontend/torch/eval/table.h"
#include "tests/fuzz/script_case.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ig_fuzz_import(data, size);
    return 0;
}

/* ---- mutations ---- */

static uint32_t draw(uint32_t *state, size_t below) {
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % (uint32_t)below : 0;
}

typedef struct span {
    size_t begin, end;
} span;

/* A random line, or word, that `text` has. */
static span pick_line(const char *text, size_t size, uint32_t *state) {
    span at = { draw(state, size), 0 };
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
    size_t from = draw(state, size);
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

static void other_word(const char *text, span at, uint32_t *state, char *out,
                       size_t room) {
    static const char *const words[] = { "0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "7",
                                         "-9223372036854775808",
                                         "9223372036854775807",
                                         "4294967296",
                                         "1099511627776",
                                         "0.",
                                         "-1.5",
                                         "1e300",
                                         "None",
                                         "True",
                                         "False",
                                         "[]",
                                         "[0]",
                                         "[1, -1]",
                                         "[0, 0]",
                                         "[3, 4294967296]",
                                         "x",
                                         "self.w",
                                         "self.n",
                                         "\"\"",
                                         "\"a\"",
                                         "torch.zeros([0])",
                                         "torch.arange(4)",
                                         "torch.sum(x)",
                                         "int(torch.sum(x))",
                                         "torch.size(x, 0)",
                                         "if",
                                         "while",
                                         "for",
                                         "4",
                                         "6",
                                         "11" };
    bool is_op = at.end - at.begin > 6 && memcmp(text + at.begin, "torch.", 6) == 0;
    if (is_op && draw(state, 4)) {
        const char *schema = ig_ts_rows[draw(state, ig_ts_row_count)].schema;
        size_t length = strcspn(schema, ".(");
        const char *plain = strncmp(schema, "aten::", 6) == 0 ? schema + 6 : schema;
        snprintf(out, room, "torch.%.*s", (int)(schema + length - plain), plain);
    } else {
        snprintf(out, room, "%s", words[draw(state, IG_COUNT_OF(words))]);
    }
}

static size_t mutate_lines(char *text, size_t size, size_t room, uint32_t *state) {
    char copy[512];
    span from = pick_line(text, size, state), to = pick_line(text, size, state);
    size_t length = from.end - from.begin;
    if (length > sizeof(copy)) {
        return size;
    }
    memcpy(copy, text + from.begin, length);
    uint32_t way = draw(state, 3);
    if (way == 0) {
        to.end = to.begin; /* doubled, elsewhere */
    } else if (way == 1) {
        return replace(text, size, room, from, "", 0);
    }
    return replace(text, size, room, to, copy, length);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed) {
    uint32_t state = seed;
    char *text = (char *)data, word[256], copy[256];
    if (size == 0 || draw(&state, 8) == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    for (uint32_t i = 0; i <= draw(&state, 3); i++) {
        span at = pick_word(text, size, &state), other = pick_word(text, size, &state);
        size_t length = other.end - other.begin;
        if (draw(&state, 4) == 0) {
            size = mutate_lines(text, size, max_size, &state);
        } else if (draw(&state, 3) == 0 && length < sizeof(copy)) {
            memcpy(copy, text + other.begin, length);
            size = replace(text, size, max_size, at, copy, length);
        } else {
            other_word(text, at, &state, word, sizeof(word));
            size = replace(text, size, max_size, at, word, strlen(word));
        }
    }
    return size;
}
