/* Messages of the profiling service: they are read, and what is read is written again.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/serve/grpc/message.h"

#include <stdlib.h>
#include <tools/serve/profile/profile.pb-c.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_and_write(const ProtobufCMessageDescriptor *type, const uint8_t *data,
                           size_t size, size_t limit) {
    budget all = { .limit = limit };
    pool memory = { .limit = limit, .from = &all };
    bytes out = { 0 };
    const ProtobufCMessage *read = message_read(&memory, type, data, size);
    if (read && !message_write(&out, read)) {
        abort();
    }
    bytes_free(&out);
    pool_free(&memory);
    if (all.held != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const ProtobufCMessageDescriptor *const types[] = {
        &profile__run_request__descriptor,
        &profile__component_part__descriptor,
        &profile__component__descriptor,
        &profile__load_model_request__descriptor,
        &profile__create_session_request__descriptor,
        &profile__session_name__descriptor,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        read_and_write(types[i], data, size, 16 * size + (2 << 20));
        read_and_write(types[i], data, size, size); /* and without enough memory */
    }
    return 0;
}
