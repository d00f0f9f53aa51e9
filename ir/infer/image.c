/* Result types of ops on encoded images.  SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"
#include "media/image.h"

ig_status ig_infer_image_decode(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_rank(op, 0, 1));
    IG_TRY(ig_check_dtype(op, 0, IG_DT_u8));
    int64_t order = ig_attr_int(op, IG_image_decode_order, 0);
    ig_dim dims[] = { ig_result_symbol(op, 0, 0, "height"),
                      ig_result_symbol(op, 0, 1, "width"),
                      ig_dim_of(ig_image_channels((ig_image_order)order)) };
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_u8, 3, dims);
    return IG_OK;
}
