/* Tensors of other libraries as views and back, by DLPack (dmlc/dlpack).
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_dlpack_facts facts = { .size = sizeof facts };
 *     if (ig_view_from_dlpack_versioned(capsule, &view, &facts) == IG_OK) {
 *         ig_session_run(session, &view, 1, &out, 1);     the tensor is read in place
 *     }
 *     ig_view_to_dlpack_versioned(&out, &options, &capsule);
 *
 * Ownership: a view borrows the tensor's memory, and nothing here calls the deleter of
 * a tensor that came in; a tensor that goes out borrows the view's memory until its
 * deleter has called `release`.  Errors: IG_UNSUPPORTED is a tensor that a view cannot
 * be, and that has to be copied by whoever made it.  Threads: no state.
 */
#ifndef INGOT_DLPACK_H
#define INGOT_DLPACK_H

#include <ingot/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack 1: DLManagedTensorVersioned ---- */

/* The fields of a tensor beside its view. */
typedef struct ig_dlpack_facts {
    size_t size;
    uint32_t major, minor;          /* version of the tensor */
    int32_t device_type, device_id; /* DLPack's numbers: 1 is the CPU */
    int is_read_only;               /* nobody may write to it */
    int is_copied;                  /* nobody else has this memory */
} ig_dlpack_facts;

/* `facts` may be NULL; they are filled for tensors that are refused too, but for the
 * version alone where it is not 1.x: of such a tensor nothing else is read, and its
 * deleter is all that may be used.  A view of memory that may be written has it as its
 * capacity, so that it can be an output as it is.  IG_UNSUPPORTED: another major
 * version, in memory neither of the host nor of a CUDA GPU, not row-major, not aligned
 * to its elements, of a type or rank that a view cannot have, or with padded sub-byte
 * elements.  IG_INVALID: a negative extent, no memory for elements that there are, or
 * facts without a size. */
IG_API IG_MUST_USE ig_status ig_view_from_dlpack_versioned(const void *managed_tensor,
                                                           ig_view *out_view,
                                                           ig_dlpack_facts *facts);

typedef struct ig_dlpack_options {
    size_t size;
    void (*release)(void *owner); /* called by the tensor's deleter; NULL: nothing */
    void *owner;
    int is_read_only, is_copied;
    int32_t device_type, device_id; /* of the same kind of memory as the view's; 0: the
                                     * CPU, or the view's GPU */
} ig_dlpack_options;

/* A new tensor of version 1.1; `options` may be NULL.  Strides are always given, and an
 * empty tensor has no address.  IG_UNSUPPORTED: a type that DLPack has no number
 * for. */
IG_API IG_MUST_USE ig_status ig_view_to_dlpack_versioned(
    const ig_view *view, const ig_dlpack_options *options, void **out_managed_tensor);

/* ---- DLPack 0: DLManagedTensor, without a version in front ---- */

IG_API IG_MUST_USE ig_status ig_view_from_dlpack(const void *managed_tensor,
                                                 ig_view *out_view);
/* The deleter calls release(owner) (NULL: nothing is called). */
IG_API IG_MUST_USE ig_status ig_view_to_dlpack(const ig_view *view,
                                               void (*release)(void *owner),
                                               void *owner, void **out_managed_tensor);

#ifdef __cplusplus
}
#endif
#endif
