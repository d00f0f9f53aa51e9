/* Kernels as shim_kernel, by the types of their parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_CUDA_HOST_SHIM_KERNELS_H
#define IG_TESTS_CUDA_HOST_SHIM_KERNELS_H

#include "threads.h"

template <class... Left> struct shim_apply;
template <> struct shim_apply<> {
    template <class Kernel, class... Got>
    static void to(Kernel kernel, void *const *, Got... got) {
        kernel(got...);
    }
};
template <class Next, class... Left> struct shim_apply<Next, Left...> {
    template <class Kernel, class... Got>
    static void to(Kernel kernel, void *const *parameters, Got... got) {
        shim_apply<Left...>::to(kernel, parameters + 1, got...,
                                *(const Next *)parameters[0]);
    }
};

template <auto Kernel> struct shim_of;
template <class... All, void (*Kernel)(All...)> struct shim_of<Kernel> {
    static void run(void *const *parameters) {
        shim_apply<All...>::to(Kernel, parameters);
    }
    static constexpr shim_kernel describe(unsigned max_threads) {
        return { run, max_threads, sizeof...(All), { (uint32_t)sizeof(All)... } };
    }
};

#define SHIM_KERNEL(name, max_threads)                 \
    SHIM_EXPORT const shim_kernel shim_kernel_##name = \
        shim_of<name>::describe(max_threads);

#endif
