/* Encoded images, decoded.  SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"
#include "media/image.h"

ig_status ig_fold_image_decode(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out) {
    ig_image_order order = (ig_image_order)ig_attr_int(op, IG_image_decode_order, 0);
    ig_str file = { in[0]->data, (size_t)in[0]->count };
    int64_t room = eval->context->limits.interpret_bytes;
    char why[IG_IMAGE_WHY_BYTES];
    ig_image_extents extents;
    ig_status status = ig_image_measure(file, room, &extents, why);
    if (status == IG_OK) {
        int64_t dims[] = { extents.height, extents.width, ig_image_channels(order) };
        IG_TRY(ig_eval_alloc(eval, op, IG_DT_u8, 3, dims, out));
        status = ig_image_decode(file, extents, order, out->data, why);
    }
    return status == IG_OK ? IG_OK
                           : FOLD_FAIL(eval, op, status, "image_decode: %s", why);
}
