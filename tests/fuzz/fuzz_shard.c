/* Fuzzes the planner's input: tables, topology, constraints and plans; and plans put
 * onto a model.  No crash; what is refused is refused with words.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_shard
 */
#include "ingot/shard.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_status(ig_context *context, ig_status status) {
    bool has_words = *ig_context_messages(context) != 0;
    if (status == IG_INTERNAL || (status != IG_OK && !has_words)) {
        abort();
    }
}

/* The text as the plan of a model with tables `users` and `items`. */
static void shard_model(ig_context *context, const char *text) {
    static const char model[] =
        "module @m {\n"
        "weight @users : f32[1000, 64] = splat(1)\n"
        "table @items : u4<rowwise f16>[2, 4] = inline(0x003c00001032003c00001032)\n"
        "graph @main(%ids: i64[N], %off: i64[B]) {\n"
        "%0, %1, %2 = bag @users, %ids, %off, @items, %ids, %off, @users, %ids\n"
        "    {operands = [1, 1, 0], pool = [mean, max, none]}\n"
        "ret %0, %1, %2\n}\n}\n";
    ig_module *module = NULL;
    if (ig_import_memory(context, model, strlen(model), "m.ig", NULL, &module) !=
        IG_OK) {
        abort();
    }
    check_status(context, ig_module_shard(module, "plan", text, 0, NULL));
    ig_module_close(module);
}

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
    check_status(context, status);
    if ((status == IG_OK) != (*out != 0)) {
        abort();
    }
    shard_model(context, text);
    free(text);
    return 0;
}
