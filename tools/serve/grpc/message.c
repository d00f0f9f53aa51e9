/* Reading and writing messages.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/grpc/message.h"

enum { HEAD = 5 };

static void *take_memory(void *memory, size_t size) {
    return pool_take(memory, size);
}

static void leave_memory(void *memory, void *piece) {
    (void)memory; /* the pool ends as a whole */
    (void)piece;
}

void *message_read(pool *memory, const ProtobufCMessageDescriptor *type,
                   const uint8_t *data, size_t size) {
    static const uint8_t nothing[1];
    ProtobufCAllocator allocator = { take_memory, leave_memory, memory };
    return protobuf_c_message_unpack(type, &allocator, size, size ? data : nothing);
}

bool message_write(bytes *to, const ProtobufCMessage *from) {
    size_t size = protobuf_c_message_get_packed_size(from);
    if (size > UINT32_MAX || !bytes_reserve(to, HEAD + size)) {
        to->has_failed = true;
        return false;
    }
    uint8_t *head = to->data + to->size;
    head[0] = 0; /* not packed */
    for (int i = 0; i < 4; i++) {
        head[1 + i] = (uint8_t)(size >> (24 - 8 * i));
    }
    protobuf_c_message_pack(from, head + HEAD);
    to->size += HEAD + size;
    return true;
}
