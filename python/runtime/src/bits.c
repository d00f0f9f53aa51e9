/* Elements of 4 and 2 bits: ml_dtypes has one in each byte, models pack them, low bits
 * first.  SPDX-License-Identifier: Apache-2.0 */
#include "python/runtime/src/binding.h"

#include <stdlib.h>

/* Bits of an element that is smaller than a byte, else 0. */
static uint32_t bits_of(int32_t dtype) {
    bool is_nibble = dtype == IG_F4E2M1 || dtype == IG_U4 || dtype == IG_I4;
    bool is_pair = dtype == IG_U2 || dtype == IG_I2;
    return is_nibble ? 4 : is_pair ? 2 : 0;
}

int pack_elements(borrowed *b, int32_t dtype) {
    int64_t count = ig_view_bytes(&b->view);
    uint32_t bits = bits_of(dtype), each = bits ? 8 / bits : 1;
    const uint8_t *from = b->view.data;
    b->view.dtype = dtype;
    if (bits == 0) {
        return 0;
    }
    uint8_t *packed = calloc((size_t)(count / each) + 1, 1);
    if (!packed) {
        PyErr_NoMemory();
        return -1;
    }
    for (int64_t i = 0; i < count; i++) {
        uint32_t element = from[i] & ((1u << bits) - 1);
        packed[i / each] |= (uint8_t)(element << (i % each * bits));
    }
    free(b->copy);
    b->copy = b->view.data = packed;
    b->is_readonly = true;
    return 0;
}

PyObject *unpack_elements(const ig_view *view) {
    ig_view bytes = *view;
    bytes.dtype = IG_U8;
    int64_t count = ig_view_bytes(&bytes);
    uint32_t bits = bits_of(view->dtype), each = bits ? 8 / bits : 1;
    bool is_signed = view->dtype == IG_I4 || view->dtype == IG_I2;
    uint32_t sign = is_signed ? 1u << (bits - 1) : 0;
    const uint8_t *from = view->data;
    uint8_t *out = malloc((size_t)count + 1);
    bytes.data = out;
    for (int64_t i = 0; out && i < count; i++) {
        uint32_t element = from[i / each] >> (i % each * bits) & ((1u << bits) - 1);
        out[i] = (uint8_t)((element ^ sign) - sign);
    }
    PyObject *tensor = out ? tensor_of_view(&bytes) : PyErr_NoMemory();
    free(out);
    return tensor;
}
