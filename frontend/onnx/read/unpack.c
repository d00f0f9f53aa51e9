/* Skeleton to messages: protobuf-c over an arena that may say no.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/read/wire.h"

/* Small, mostly empty messages may grow a hundredfold when unpacked.  More than this
 * for a file of the size at hand is no model. */
enum { GROWTH = 32, GROWTH_FREE = 32 << 20 };

typedef struct allowance {
    ig_arena *arena;
    size_t left;
} allowance;

static void *allocate_some(void *user, size_t size) {
    allowance *a = user;
    if (size > a->left) {
        return NULL;
    }
    void *memory = ig_arena_try_alloc(a->arena, size);
    a->left -= memory ? size : 0;
    return memory;
}

static void release_none(void *user, void *memory) {
    (void)user; /* the arena's */
    (void)memory;
}

ig_status ig_onnx_wire_unpack(ig_context *context, ig_arena *arena, const char *file,
                              const ig_onnx_wire *wire,
                              const ProtobufCMessageDescriptor *root,
                              ProtobufCMessage **out_message) {
    ig_location where = { .file = file };
    size_t left = wire->size * GROWTH + GROWTH_FREE;
    if (wire->memory > left) {
        return ig_error(&context->diag, IG_LIMIT, &where,
                        "%zu bytes of messages would take %zu bytes of memory",
                        wire->size, wire->memory);
    }
    allowance a = { .arena = arena, .left = left };
    ProtobufCAllocator allocator = { allocate_some, release_none, &a };
    ig_budget_enter_foreign(&context->budget);
    *out_message = protobuf_c_message_unpack(root, &allocator, wire->skeleton.size,
                                             (const uint8_t *)wire->skeleton.data);
    ig_budget_leave_foreign(&context->budget);
    if (*out_message) {
        return IG_OK;
    }
    if (a.left < 4096 || (context->budget.limit &&
                          context->budget.limit - context->budget.used < 4096)) {
        return ig_error(&context->diag, IG_LIMIT, &where,
                        "the model's messages do not fit into memory");
    }
    return ig_error(&context->diag, IG_INVALID, &where,
                    "the file is not a well-formed ONNX message");
}
