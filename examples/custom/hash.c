/* The operator acme::Hash as C: (id * 2654435761) mod buckets.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc -O2 -shared -fPIC examples/custom/hash.c -o libhash.so
 *     ingot run model.onnx --ops libhash.so --input 'x=i64[3]=1,2,99999'
 */
#include <ingot/custom.h>

#include <stdio.h>

static ig_status hash(const ig_custom_call *call) {
    const int64_t *id = call->inputs[0].data, *buckets = call->inputs[1].data;
    int64_t *out = call->outputs[0].data;
    if (*buckets <= 0) {
        snprintf(call->reason, call->reason_size, "there are %lld buckets",
                 (long long)*buckets);
        return IG_INVALID;
    }
    for (int64_t i = 0; i < call->outputs[0].count; i++) {
        int64_t product = (int64_t)((uint64_t)id[i] * 2654435761u);
        int64_t rest = product % *buckets;
        out[i] = rest < 0 ? rest + *buckets : rest;
    }
    return IG_OK;
}

static const ig_custom_op ops[] = {
    { .name = "acme::Hash",
      .version = 1,
      .run = hash,
      .signature = "(%id: i64[N], %buckets: i64[]) -> (i64[N])" },
    { .name = "acme::Hash.rows",
      .version = 1,
      .run = hash,
      .signature = "(%id: i64[B, N], %buckets: i64[]) -> (i64[B, N])" },
};

IG_CUSTOM_LIBRARY(ops, sizeof ops / sizeof *ops)
