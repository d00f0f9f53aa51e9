/* The whole import of a TorchScript archive under libFuzzer: a program is refused with
 * words, or gives a module that verifies.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_script
 *
 * The input is the text of script_case.h.  Mutations know lines, numbers and names of
 * operators; what they leave is mutated byte by byte.
 */
#include "frontend/torch/entry/table.h"
#include "tests/fuzz/case/mutate_text.h"
#include "tests/fuzz/case/script_case.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ig_fuzz_import(data, size);
    return 0;
}

static void other_word(const char *word, size_t size, uint32_t *state, char *out,
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
    bool is_op = size > 6 && memcmp(word, "torch.", 6) == 0;
    if (is_op && ig_fuzz_draw(state, 4)) {
        size_t row = ig_fuzz_draw(state, ig_ts_operators.count);
        const char *schema = ig_ts_operators.rows[row].schema;
        size_t length = strcspn(schema, ".(");
        const char *plain = strncmp(schema, "aten::", 6) == 0 ? schema + 6 : schema;
        snprintf(out, room, "torch.%.*s", (int)(schema + length - plain), plain);
    } else {
        snprintf(out, room, "%s", words[ig_fuzz_draw(state, IG_COUNT_OF(words))]);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed) {
    return ig_fuzz_mutate_text(data, size, max_size, seed, other_word);
}
