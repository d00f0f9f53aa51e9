/* Fuzzes the planner's input: tables, topology, constraints and plans.  No crash; what
 * is refused is refused with words.  SPDX-License-Identifier: Apache-2.0
 *
 *     build/fuzz/fuzz/fuzz_shard -max_total_time=60 tests/fuzz/corpus/fuzz_shard
 */
#include "ingot/shard.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ig_context *context;
    if (!context) {
        ig_context_options options = { .size = sizeof options, .cache_folder = "" };
        context = ig_context_create(&options);
    }
    char *text = malloc(size + 1);
    if (!context || !text) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = 0;
    const char *out;
    ig_status status = ig_shard_plan(context, "input", text, IG_SHARD_CRITICAL_PATH,
                                     &out);
    bool has_words = *ig_context_messages(context) != 0;
    if (status == IG_INTERNAL || (status == IG_OK) != (*out != 0) ||
        (status != IG_OK && !has_words)) {
        abort();
    }
    free(text);
    return 0;
}
