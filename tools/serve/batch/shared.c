/* Inputs and results in shared memory.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/batch/shared.h"

bool read_shared_inputs(request *of, regions *from) {
    char words[WORDS];
    for (size_t i = 0; i < of->input_count; i++) {
        tensor *input = (tensor *)&of->inputs[i]; /* the request's own */
        if (!input->region) {
            continue;
        }
        if (!from) {
            return request_fail(of, CALL_UNSUPPORTED,
                                "input '%.100s': the server was "
                                "started without --shared-memory",
                                input->name);
        }
        void *copy = pool_take(&of->memory, input->size);
        if (!copy) {
            return request_fail(of, CALL_FULL, "memory for input '%.100s' ran out",
                                input->name);
        }
        region part = { .name = input->region,
                        .offset = input->offset,
                        .size = input->size };
        call_status status = regions_read(from, &part, copy, words);
        if (status != CALL_OK) {
            return request_fail(of, status, "input '%.100s': %s", input->name, words);
        }
        input->data = copy;
    }
    return true;
}

bool write_shared_results(request *of, regions *to) {
    char words[WORDS];
    for (size_t i = 0; i < of->output_count && i < of->result_count; i++) {
        const wanted *output = &of->outputs[i];
        tensor *result = (tensor *)&of->results[i]; /* the request's own */
        if (!output->region) {
            continue;
        }
        if (!to || result->size > output->room) {
            return request_fail(of, to ? CALL_INVALID : CALL_UNSUPPORTED,
                                "output '%.100s': %s", output->name,
                                to ? "it has more bytes than shared_memory_byte_size"
                                   : "the server was started without --shared-memory");
        }
        region part = { .name = output->region,
                        .offset = output->offset,
                        .size = result->size };
        call_status status = regions_write(to, &part, result->data, words);
        if (status != CALL_OK) {
            return request_fail(of, status, "output '%.100s': %s", output->name, words);
        }
        result->region = output->region;
        result->offset = output->offset;
    }
    return true;
}
