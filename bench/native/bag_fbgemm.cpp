/* FBGEMM's bags: one generated kernel a table, called table after table.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Declarations are those of fbgemm/FbgemmEmbedding.h and fbgemm/Types.h; the library is
 * the one inside the fbgemm-gpu-cpu package.  Compiled against its C++ ABI by the C++
 * compiler of the machine.
 */
#include <cstdint>
#include <functional>
#include <vector>

namespace fbgemm {
using float16 = std::uint16_t;

template <typename In, typename Index, typename Offset, typename Out>
struct EmbeddingSpMDMKernelSignature {
    using Type = std::function<bool(std::int64_t, std::int64_t, std::int64_t, const In *,
                                    const Index *, const Offset *, const float *, Out *)>;
};

template <typename In, typename Index, typename Offset, typename Out, bool ThreadLocal>
typename EmbeddingSpMDMKernelSignature<In, Index, Offset, Out>::Type
GenerateEmbeddingSpMDM(std::int64_t block_size, bool has_weight, bool by_lengths,
                       int prefetch, bool positional, bool use_offsets, bool is_bf16_out,
                       bool is_bf16_in);

template <typename Index, typename Offset, typename Out, bool ThreadLocal>
typename EmbeddingSpMDMKernelSignature<std::uint8_t, Index, Offset, Out>::Type
GenerateEmbeddingSpMDMNBitWithStrides(int bits, std::int64_t block_size, bool has_weight,
                                      bool by_lengths, int prefetch, bool positional,
                                      bool use_offsets, std::int64_t out_stride,
                                      std::int64_t in_stride, bool scale_bias_last,
                                      bool is_bf16_out, bool no_bag, int out_bits);

bool fbgemmHasAvx2Support();
bool fbgemmHasAvx512Support();
}

namespace {
using Id = std::int64_t;
template <typename In>
using Kernel =
    typename fbgemm::EmbeddingSpMDMKernelSignature<In, Id, Id, float>::Type;

enum Type { F32, F16, ROWWISE8, ROWWISE4, ROWWISE2 };

struct Bags {
    int              type;
    std::int64_t     dim;
    Kernel<float>    f32;
    Kernel<fbgemm::float16> f16;
    Kernel<std::uint8_t>    rowwise;
};

struct Shape {
    std::int64_t dim;
    int          prefetch; /* ids */
    bool         has_weight, is_mean;
};

template <typename In>
Kernel<In> generate(const Shape &s) {
    return fbgemm::GenerateEmbeddingSpMDM<In, Id, Id, float, false>(
        s.dim, s.has_weight, s.is_mean, s.prefetch, false, true, false, false);
}

/* Less than a byte an element, scale and bias in front of a row. */
Kernel<std::uint8_t> generate_narrow(const Shape &s, int bits) {
    return fbgemm::GenerateEmbeddingSpMDMNBitWithStrides<Id, Id, float, false>(
        bits, s.dim, s.has_weight, s.is_mean, s.prefetch, false, true, -1, -1, false, false,
        false, -1);
}
}

extern "C" {

/* One look-up of `bags` bags in a table of `rows` rows; offsets hold bags + 1. */
struct bag_call {
    const void  *table;
    std::int64_t rows, bags;
    const Id    *ids, *offsets;
    const float *weights; /* NULL: none */
    float       *out;
};

void *bag_open(int type, std::int64_t dim, int has_weight, int is_mean) {
    auto *b = new Bags{ type, dim, {}, {}, {} };
    Shape s = { dim, 16, has_weight != 0, is_mean != 0 };
    if (type == F32) {
        b->f32 = generate<float>(s);
    } else if (type == F16) {
        b->f16 = generate<fbgemm::float16>(s);
    } else if (type == ROWWISE4 || type == ROWWISE2) {
        b->rowwise = generate_narrow(s, type == ROWWISE4 ? 4 : 2);
    } else {
        b->rowwise = generate<std::uint8_t>(s);
    }
    return b;
}

/* Returns the calls that the library refused. */
int bag_run(void *opened, const bag_call *calls, int count) {
    auto *b = static_cast<Bags *>(opened);
    int   refused = 0;
    for (int i = 0; i < count; i++) {
        const bag_call &c = calls[i];
        std::int64_t    ids = c.offsets[c.bags];
        bool            good = false;
        if (b->type == F32) {
            good = b->f32(c.bags, ids, c.rows, static_cast<const float *>(c.table), c.ids,
                          c.offsets, c.weights, c.out);
        } else if (b->type == F16) {
            good = b->f16(c.bags, ids, c.rows,
                          static_cast<const fbgemm::float16 *>(c.table), c.ids, c.offsets,
                          c.weights, c.out);
        } else {
            good = b->rowwise(c.bags, ids, c.rows,
                              static_cast<const std::uint8_t *>(c.table), c.ids,
                              c.offsets, c.weights, c.out);
        }
        refused += !good;
    }
    return refused;
}

struct bag_calls {
    void     *opened;
    bag_call *calls; /* the same in every set but for their ids and offsets */
    int       count, has_weights;
};

/* bag_run in the form that loop.c calls; a set: ids, offsets and, when there are some,
 * weights of each call. */
void bag_run_set(const bag_calls *all, const void *const *set, void *) {
    for (int i = 0; i < all->count; i++) {
        all->calls[i].ids = static_cast<const Id *>(*set++);
        all->calls[i].offsets = static_cast<const Id *>(*set++);
        if (all->has_weights) {
            all->calls[i].weights = static_cast<const float *>(*set++);
        }
    }
    (void)bag_run(all->opened, all->calls, all->count);
}

void bag_close(void *opened) {
    delete static_cast<Bags *>(opened);
}

int bag_isa(void) {
    return fbgemm::fbgemmHasAvx512Support()  ? 512
           : fbgemm::fbgemmHasAvx2Support() ? 256
                                            : 0;
}
}
