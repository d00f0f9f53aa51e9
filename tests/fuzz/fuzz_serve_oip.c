/* Messages of the Open Inference Protocol: what is read as a request is answered with
 * its own
 * inputs, and the other messages are read.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/serve/grpc/infer.h"
#include "tools/serve/grpc/message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink; /* whatever a reader gives is read */

static void answer_with_inputs(request *of) {
    bytes out = { 0 };
    of->results = of->inputs;
    of->result_count = of->input_count;
    for (int is_stream = 0; is_stream < 2; is_stream++) {
        if (!infer_write(&out, of, is_stream)) {
            abort();
        }
    }
    bytes_free(&out);
}

static void read_request(const uint8_t *data, size_t size, size_t limit) {
    budget all = { .limit = limit };
    request of = { .memory = { .limit = limit, .from = &all } };
    if (infer_read(&of, data, size)) {
        for (size_t i = 0; i < of.input_count; i++) {
            /* What lies in shared memory is not there yet. */
            size_t bytes_there = of.inputs[i].region ? 0 : of.inputs[i].size;
            for (size_t k = 0; k < bytes_there; k++) {
                sink = of.inputs[i].data[k];
            }
        }
    }
    if (of.status != CALL_OK && !of.words) {
        abort();
    }
    if (limit > 8 * size + (1 << 20)) {
        answer_with_inputs(&of);
    }
    pool_free(&of.memory);
    if (all.held != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const ProtobufCMessageDescriptor *const types[] = {
        &oip__model_control__descriptor, &oip__model_name__descriptor,
        &oip__index_request__descriptor
    };
    read_request(data, size, 16 * size + (2 << 20));
    read_request(data, size, size); /* and without enough memory */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        pool memory = { .limit = 8 * size + (1 << 20) };
        message_read(&memory, types[i], data, size);
        pool_free(&memory);
    }
    return 0;
}
