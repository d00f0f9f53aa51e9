/* Fuzzes values: numpy's arrays, and what people write on the command line.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte chooses the reader and the type that the model declares.
 */
#include "driver/values/argument.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = { NULL,     "f32[B, 3]",   "bf16[N]",
                                     "i4[8]",  "seq<i64[N]>", "bool[]",
                                     "u64[2]", "f8e5m2[4]",   "str[B]" };

static ig_status read_value(ig_context *context, ig_arena *arena, uint8_t choice,
                            ig_str bytes) {
    const char *type = types[choice % IG_COUNT_OF(types)];
    ig_tensor value;
    if (choice & 0x80) {
        const char *text = ig_arena_copy(arena, bytes.data, bytes.size);
        return ig_argument_parse(context, arena, text, type, &value);
    }
    ig_kind kind;
    ig_dtype dtype = IG_DT_COUNT;
    if (!ig_declared_type(type, &kind, &dtype)) {
        dtype = IG_DT_COUNT;
    }
    ig_status status = ig_npy_read(context, arena, "x.npy", bytes, dtype, &value);
    if (status == IG_OK) { /* what was read can be written */
        ig_writer out;
        ig_writer_init(&out, arena);
        status = ig_npy_write(context, "y.npy", &value, &out);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    jmp_buf recovery;
    ig_context context = { .limits = ig_limits_default,
                           .budget = { .limit = 64 << 20, .recovery = &recovery } };
    ig_arena arena;
    context.limits.interpret_bytes = 16 << 20;
    ig_arena_init(&arena, &context.budget);
    if (setjmp(recovery) == 0) {
        ig_str bytes = { (const char *)data + 1, size - 1 };
        (void)!read_value(&context, &arena, data[0], bytes);
    }
    ig_arena_fini(&arena);
    ig_budget_sweep(&context.budget, 0);
    return 0;
}
