// Ingot, values of torch::deploy's programs: Error, ArrayRef, Tensor.
// SPDX-License-Identifier: Apache-2.0
//
// What programs over torch::deploy use of at::, c10:: and torch::, under those names,
// over ig_view; deploy.hpp includes it.  Not to be included beside libtorch's headers.
// A Tensor is a view that keeps its memory alive; copies of it share that memory.
// Errors are c10::Error.
#ifndef INGOT_DEPLOY_TENSOR_HPP
#define INGOT_DEPLOY_TENSOR_HPP

#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ingot/runtime.h>

namespace c10 {

class Error : public std::runtime_error {
  public:
    explicit Error(const std::string &text) : std::runtime_error(text), text_(text) {
    }
    const std::string &msg() const {
        return text_;
    }

  private:
    std::string text_;
};

// Elements that somebody else owns.
template <typename T> class ArrayRef {
  public:
    ArrayRef() = default;
    ArrayRef(const T *data, std::size_t size) : data_(data), size_(size) {
    }
    ArrayRef(const std::vector<T> &items) : data_(items.data()), size_(items.size()) {
    }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
    // Of a call's argument, which lives as long as the call.
    ArrayRef(const std::initializer_list<T> &items)
        : data_(items.begin()), size_(items.size()) {
    }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
    const T *data() const {
        return data_;
    }
    const T *begin() const {
        return data_;
    }
    const T *end() const {
        return data_ + size_;
    }
    std::size_t size() const {
        return size_;
    }
    bool empty() const {
        return size_ == 0;
    }
    const T &operator[](std::size_t at) const {
        return data_[at];
    }
    std::vector<T> vec() const {
        return std::vector<T>(begin(), end());
    }

  private:
    const T *data_ = nullptr;
    std::size_t size_ = 0;
};
using IntArrayRef = ArrayRef<std::int64_t>;

enum class ScalarType : std::int32_t {
    Byte = IG_U8,
    Char = IG_I8,
    Short = IG_I16,
    Int = IG_I32,
    Long = IG_I64,
    Half = IG_F16,
    Float = IG_F32,
    Double = IG_F64,
    Bool = IG_BOOL8,
    BFloat16 = IG_BF16,
};

inline const char *toString(ScalarType type) {
    switch (type) {
    case ScalarType::Byte:
        return "Byte";
    case ScalarType::Char:
        return "Char";
    case ScalarType::Short:
        return "Short";
    case ScalarType::Int:
        return "Int";
    case ScalarType::Long:
        return "Long";
    case ScalarType::Half:
        return "Half";
    case ScalarType::Float:
        return "Float";
    case ScalarType::Double:
        return "Double";
    case ScalarType::Bool:
        return "Bool";
    case ScalarType::BFloat16:
        return "BFloat16";
    }
    return "Undefined";
}

inline std::int64_t elementSize(ScalarType type) {
    switch (type) {
    case ScalarType::Long:
    case ScalarType::Double:
        return 8;
    case ScalarType::Int:
    case ScalarType::Float:
        return 4;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
        return 2;
    default:
        return 1;
    }
}

template <typename T> struct ScalarTypeOf;
template <> struct ScalarTypeOf<std::uint8_t> {
    static constexpr ScalarType value = ScalarType::Byte;
};
template <> struct ScalarTypeOf<std::int8_t> {
    static constexpr ScalarType value = ScalarType::Char;
};
template <> struct ScalarTypeOf<std::int16_t> {
    static constexpr ScalarType value = ScalarType::Short;
};
template <> struct ScalarTypeOf<std::int32_t> {
    static constexpr ScalarType value = ScalarType::Int;
};
template <> struct ScalarTypeOf<std::int64_t> {
    static constexpr ScalarType value = ScalarType::Long;
};
template <> struct ScalarTypeOf<float> {
    static constexpr ScalarType value = ScalarType::Float;
};
template <> struct ScalarTypeOf<double> {
    static constexpr ScalarType value = ScalarType::Double;
};
template <> struct ScalarTypeOf<bool> {
    static constexpr ScalarType value = ScalarType::Bool;
};

} // namespace c10

namespace at {

using c10::ArrayRef;
using c10::IntArrayRef;
using c10::ScalarType;

class Tensor {
  public:
    Tensor() = default;
    // Row-major memory at `data`, which `owner` keeps alive.
    Tensor(std::shared_ptr<void> owner, void *data, ScalarType type, IntArrayRef sizes)
        : owner_(std::move(owner)), data_(static_cast<char *>(data)), type_(type),
          sizes_(sizes.vec()), strides_(sizes.size()) {
        std::int64_t step = 1;
        for (std::size_t i = sizes.size(); i-- > 0; step *= sizes[i]) {
            strides_[i] = step;
        }
    }

    bool defined() const {
        return data_ || owner_;
    }
    std::int64_t dim() const {
        return static_cast<std::int64_t>(sizes_.size());
    }
    IntArrayRef sizes() const {
        return sizes_;
    }
    IntArrayRef strides() const {
        return strides_;
    }
    std::int64_t size(std::int64_t dim) const {
        return sizes_[wrap(dim)];
    }
    ScalarType scalar_type() const {
        return type_;
    }
    std::string toString() const {
        return std::string("CPU") + c10::toString(type_) + "Type";
    }
    std::int64_t numel() const {
        std::int64_t count = 1;
        for (std::int64_t size : sizes_) {
            count *= size;
        }
        return count;
    }
    bool is_contiguous() const {
        std::int64_t step = 1;
        for (std::size_t i = sizes_.size(); i-- > 0; step *= sizes_[i]) {
            if (sizes_[i] != 1 && strides_[i] != step && numel() > 0) {
                return false;
            }
        }
        return true;
    }

    void *data_ptr() const {
        return data_;
    }
    template <typename T> T *data_ptr() const {
        if (c10::ScalarTypeOf<T>::value != type_) {
            throw c10::Error("data_ptr: the tensor is a " + toString());
        }
        return reinterpret_cast<T *>(data_);
    }
    template <typename T> T item() const {
        if (numel() != 1) {
            throw c10::Error("item: the tensor has more or less than one element");
        }
        return *data_ptr<T>();
    }

    // Views.  Places from the end are negative, as in torch; step is at least 1.
    Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = {},
                 std::optional<std::int64_t> end = {}, std::int64_t step = 1) const {
        std::size_t d = wrap(dim);
        std::int64_t from = clamp(start.value_or(0), sizes_[d]);
        std::int64_t to = clamp(end.value_or(sizes_[d]), sizes_[d]);
        if (step < 1) {
            throw c10::Error("slice: the step must be at least 1");
        }
        Tensor view = *this;
        view.data_ += from * strides_[d] * c10::elementSize(type_);
        view.sizes_[d] = to > from ? (to - from + step - 1) / step : 0;
        view.strides_[d] *= step;
        return view;
    }
    Tensor select(std::int64_t dim, std::int64_t index) const {
        std::size_t d = wrap(dim);
        std::int64_t at = index < 0 ? index + sizes_[d] : index;
        if (at < 0 || at >= sizes_[d]) {
            throw c10::Error("select: there is no element " + std::to_string(index));
        }
        Tensor view = *this;
        auto position = static_cast<std::ptrdiff_t>(d);
        view.data_ += at * strides_[d] * c10::elementSize(type_);
        view.sizes_.erase(view.sizes_.begin() + position);
        view.strides_.erase(view.strides_.begin() + position);
        return view;
    }
    Tensor operator[](std::int64_t index) const {
        return select(0, index);
    }
    Tensor alias() const {
        return *this;
    }
    Tensor detach() const {
        return *this;
    }

    Tensor clone() const {
        auto bytes = static_cast<std::size_t>(numel() * c10::elementSize(type_));
        std::shared_ptr<char> memory(new char[bytes + 1], [](char *m) { delete[] m; });
        char *to = memory.get();
        copy(data_, 0, to);
        return Tensor(memory, memory.get(), type_, sizes_);
    }
    Tensor contiguous() const {
        return is_contiguous() ? *this : clone();
    }
    // The same type, sizes and bits: 0 is not -0, a NaN is itself.
    bool same_bits(const Tensor &other) const {
        Tensor a = contiguous(), b = other.contiguous();
        auto bytes = static_cast<std::size_t>(numel() * c10::elementSize(type_));
        return type_ == other.type_ && sizes_ == other.sizes_ &&
               (bytes == 0 || std::memcmp(a.data_, b.data_, bytes) == 0);
    }

  private:
    std::size_t wrap(std::int64_t dim) const {
        std::int64_t rank = static_cast<std::int64_t>(sizes_.size());
        if (dim < -rank || dim >= rank) {
            throw c10::Error("a tensor of rank " + std::to_string(rank) +
                             " has no dimension " + std::to_string(dim));
        }
        return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
    }
    static std::int64_t clamp(std::int64_t at, std::int64_t size) {
        at = at < 0 ? at + size : at;
        return at < 0 ? 0 : at > size ? size : at;
    }
    void copy(const char *from, std::size_t dim, char *&to) const {
        auto size = static_cast<std::size_t>(c10::elementSize(type_));
        if (dim == sizes_.size()) {
            std::memcpy(to, from, size);
            to += size;
            return;
        }
        for (std::int64_t i = 0; i < sizes_[dim]; i++) {
            copy(from + i * strides_[dim] * c10::elementSize(type_), dim + 1, to);
        }
    }

    std::shared_ptr<void> owner_;
    char *data_ = nullptr;
    ScalarType type_ = ScalarType::Float;
    std::vector<std::int64_t> sizes_, strides_; // strides in elements
};

} // namespace at
#endif
