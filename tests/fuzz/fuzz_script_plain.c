/* The import of a torch.package whose class is plain Python under libFuzzer: a program
 * is refused with words, or gives a module that verifies.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_script_plain
 *
 * The input is the text of script_case.h.  Mutations know lines and what Python's
 * authors write; what they leave is mutated byte by byte.
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
    ig_fuzz_import_plain(data, size);
    return 0;
}

/* What Python's authors write. */
static const char *const words[] = {
    "0",
    "1",
    "-1",
    "2",
    "3",
    "9223372036854775807",
    "1e300",
    "None",
    "True",
    "False",
    "[]",
    "[0]",
    "()",
    "(1, -1)",
    "{}",
    "x",
    "y",
    "self",
    "self.w",
    "self.n",
    "self.act",
    "self.lin",
    "self.lin(x)",
    "x.shape",
    "x.sum()",
    "x.sum() > 0",
    "x.size(0)",
    "x[0]",
    "x[:, 1:]",
    "x[x > 0]",
    "f'{x.shape[0]}'",
    "lambda a: a",
    "len(x)",
    "range(3)",
    "range(x.size(0))",
    "range(int(x.sum()))",
    "enumerate(x)",
    "zip(x, x)",
    "super()",
    "super().__init__()",
    "isinstance(x, torch.Tensor)",
    "helper(x)",
    "helper",
    "C",
    "C()",
    "M",
    "return",
    "break",
    "continue",
    "if",
    "while",
    "for",
    "else",
    "yield",
    "del",
    "try",
    "with",
    "raise",
    "global",
    "import",
    "from",
    "class",
    "def",
    "in",
    "is",
    "and",
    "or",
    "not",
    "F.softmax",
    "math.sqrt",
    "torch.zeros",
    "*x",
    "**{}",
    "...",
};

static void other_word(const char *word, size_t size, uint32_t *state, char *out,
                       size_t room) {
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
