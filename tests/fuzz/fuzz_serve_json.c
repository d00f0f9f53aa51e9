/* Requests of HTTP: JSON, and tensors behind it.  What is read is the same the second
 * time, when its JSON may be known, and is answered as JSON.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The JSON ends at the first zero byte; the tensors begin behind it.
 */
#include "tools/serve/http/answer.h"
#include "tools/serve/http/layout.h"
#include "tools/serve/model/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool claim) {
    if (!claim) {
        abort();
    }
}

/* Bytes of each tensor, and a hash of them. */
static uint64_t sum_inputs(const request *of) {
    uint64_t sum = 1;
    for (size_t i = 0; i < of->input_count; i++) {
        /* What lies in shared memory is not there yet. */
        size_t size = of->inputs[i].region ? 0 : of->inputs[i].size;
        for (size_t k = 0; k < size; k++) {
            sum = sum * 31 + of->inputs[i].data[k];
        }
        sum = sum * 31 + strlen(of->inputs[i].name);
    }
    return sum;
}

/* Texts must be whole before they are written: binding sees to it. */
static bool has_texts(const request *of) {
    for (size_t i = 0; i < of->input_count; i++) {
        if (of->inputs[i].dtype == IG_STR8) {
            return true;
        }
    }
    return false;
}

static void answer_with_inputs(request *of) {
    bytes out = { 0 };
    size_t json_size;
    of->model = "m";
    of->results = of->inputs;
    of->result_count = of->input_count;
    of->output_count = 0;
    for (size_t i = 0; i < of->input_count; i++) { /* as a run gives them */
        tensor *result = (tensor *)&of->inputs[i];
        result->size -= result->size % 8;
    }
    if (answer_write(&out, of, &json_size)) {
        expect(json_size <= out.size);
    }
    bytes_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t json_size = zero ? (size_t)(zero - data) : size;
    layout_cache *cache = layout_cache_create();
    budget all = { .limit = 1 << 26 };
    uint64_t sums[2] = { 0 };
    call_status status[2];
    for (int turn = 0; turn < 2; turn++) {
        request of = { .memory = { .limit = 8 * size + (1 << 20), .from = &all } };
        layout_read(cache, &of, data, size, json_size);
        status[turn] = of.status;
        if (of.status == CALL_OK) {
            sums[turn] = sum_inputs(&of);
            if (!has_texts(&of)) {
                answer_with_inputs(&of);
            }
        } else {
            expect(of.words != NULL);
        }
        pool_free(&of.memory);
    }
    expect(status[0] == status[1] && sums[0] == sums[1]);
    layout_cache_destroy(cache);
    expect(all.held == 0);
    model_config config;
    char words[WORDS];
    config_read(&config, (const char *)data, json_size, words);
    config_free(&config);
    return 0;
}
