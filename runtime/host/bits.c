/* Host functions unpack_bits and pack_bits: integers of 2 or 4 bits and bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/host.h"

ig_host_fn ig_host_unpack_bits, ig_host_pack_bits;

/* Do `count` elements of `bits` fit the packed buffer, and as bytes the other? */
static bool fits_both(const ig_host_call *call, uint32_t packed) {
    int64_t count = call->params[0], bits = call->params[1];
    return count >= 0 && (bits == 2 || bits == 4) &&
           count / (8 / bits) + (count % (8 / bits) > 0) <= call->bytes[packed] &&
           count <= call->bytes[1 - packed];
}

bool ig_host_unpack_bits(const ig_host_call *call) {
    if (!fits_both(call, 1)) {
        return false;
    }
    uint8_t *y = call->buffers[0];
    const uint8_t *x = call->buffers[1];
    unsigned bits = (unsigned)call->params[1], each = 8 / bits, mask = (1u << bits) - 1;
    unsigned sign = call->params[2] ? 1u << (bits - 1) : 0;
    for (int64_t i = 0; i < call->params[0]; i++) {
        unsigned value = x[i / each] >> (i % each * bits) & mask;
        y[i] = (uint8_t)((value ^ sign) - sign);
    }
    return true;
}

bool ig_host_pack_bits(const ig_host_call *call) {
    if (!fits_both(call, 0)) {
        return false;
    }
    uint8_t *y = call->buffers[0];
    const uint8_t *x = call->buffers[1];
    unsigned bits = (unsigned)call->params[1], each = 8 / bits, mask = (1u << bits) - 1;
    for (int64_t i = 0; i < call->params[0]; i++) {
        unsigned first = i % each == 0 ? 0 : y[i / each];
        y[i / each] = (uint8_t)(first | (x[i] & mask) << (i % each * bits));
    }
    return true;
}
