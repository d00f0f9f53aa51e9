// Ingot, values of torch::deploy's programs: tensors made and printed.
// SPDX-License-Identifier: Apache-2.0
//
// Printed as the ATen of torch::deploy did (aten/src/ATen/core/Formatting.cpp, 1.12).
#ifndef INGOT_DEPLOY_FACTORIES_HPP
#define INGOT_DEPLOY_FACTORIES_HPP

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <ostream>

#include <ingot/deploy/tensor.hpp>

namespace at {

constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long, kHalf = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kDouble = ScalarType::Double;
constexpr ScalarType kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;

// ---- making ----

inline Tensor zeros(IntArrayRef sizes, ScalarType type = kFloat) {
    std::int64_t bytes = c10::elementSize(type);
    for (std::int64_t size : sizes) {
        if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) {
            throw c10::Error("a tensor cannot have these sizes");
        }
    }
    std::shared_ptr<void> memory(
        std::calloc(static_cast<std::size_t>(bytes / 64 + 1), 64), std::free);
    if (!memory) {
        throw c10::Error("no memory for a tensor of " + std::to_string(bytes) +
                         " bytes");
    }
    return Tensor(memory, memory.get(), type, sizes);
}

inline Tensor empty(IntArrayRef sizes, ScalarType type = kFloat) {
    return zeros(sizes, type);
}

// Memory that must outlive the tensor.
inline Tensor from_blob(void *data, IntArrayRef sizes, ScalarType type = kFloat) {
    return Tensor(nullptr, data, type, sizes);
}

template <typename T> Tensor tensor(const std::vector<T> &values) {
    Tensor made = zeros({ static_cast<std::int64_t>(values.size()) },
                        c10::ScalarTypeOf<T>::value);
    std::copy(values.begin(), values.end(), made.data_ptr<T>());
    return made;
}

namespace detail {

template <typename T> void fill(const Tensor &tensor, T value) {
    T *data = tensor.data_ptr<T>();
    std::fill(data, data + tensor.numel(), value);
}

// The bits of a half or of a bfloat16 as a number.
inline double widen(std::uint16_t bits, int mantissa, int bias) {
    int exponents = (1 << (15 - mantissa)) - 1;
    int exponent = (bits >> mantissa) & exponents;
    double part = bits & ((1 << mantissa) - 1), sign = bits & 0x8000 ? -1 : 1;
    if (exponent == exponents) {
        return part != 0 ? std::nan("") : sign * HUGE_VAL;
    }
    return sign * (exponent == 0 ? std::ldexp(part, 1 - bias - mantissa)
                                 : std::ldexp(part + (1 << mantissa),
                                              exponent - bias - mantissa));
}

template <typename T> double read(const char *at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
}

inline double number_at(const Tensor &contiguous, std::int64_t index) {
    const char *at = static_cast<const char *>(contiguous.data_ptr()) +
                     index * c10::elementSize(contiguous.scalar_type());
    std::uint16_t bits;
    switch (contiguous.scalar_type()) {
    case ScalarType::Byte:
    case ScalarType::Bool:
        return read<std::uint8_t>(at);
    case ScalarType::Char:
        return read<std::int8_t>(at);
    case ScalarType::Short:
        return read<std::int16_t>(at);
    case ScalarType::Int:
        return read<std::int32_t>(at);
    case ScalarType::Long:
        return read<std::int64_t>(at);
    case ScalarType::Float:
        return read<float>(at);
    case ScalarType::Double:
        return read<double>(at);
    case ScalarType::Half:
        std::memcpy(&bits, at, sizeof bits);
        return widen(bits, 10, 15);
    case ScalarType::BFloat16:
        std::memcpy(&bits, at, sizeof bits);
        return widen(bits, 7, 127);
    }
    return 0;
}

} // namespace detail

inline Tensor ones(IntArrayRef sizes, ScalarType type = kFloat) {
    Tensor made = zeros(sizes, type);
    switch (type) {
    case ScalarType::Byte:
        detail::fill<std::uint8_t>(made, 1);
        break;
    case ScalarType::Char:
        detail::fill<std::int8_t>(made, 1);
        break;
    case ScalarType::Short:
        detail::fill<std::int16_t>(made, 1);
        break;
    case ScalarType::Int:
        detail::fill<std::int32_t>(made, 1);
        break;
    case ScalarType::Long:
        detail::fill<std::int64_t>(made, 1);
        break;
    case ScalarType::Float:
        detail::fill<float>(made, 1);
        break;
    case ScalarType::Double:
        detail::fill<double>(made, 1);
        break;
    case ScalarType::Bool:
        detail::fill<bool>(made, true);
        break;
    case ScalarType::Half:
    case ScalarType::BFloat16:
        std::fill_n(static_cast<std::uint16_t *>(made.data_ptr()), made.numel(),
                    static_cast<std::uint16_t>(type == kHalf ? 0x3c00 : 0x3f80));
        break;
    }
    return made;
}

// ---- printing ----

namespace detail {

struct Format {
    double scale = 1;
    int width = 0;
};

// How many digits stand before the point.
inline double digits(double value) {
    return value != 0 ? std::floor(std::log10(value)) + 1 : 1;
}

// Sets the stream to a form that all of the numbers fit.
inline Format choose_format(std::ostream &out, const std::vector<double> &numbers) {
    bool are_whole = true, has_finite = false;
    double smallest = 1, largest = 1;
    for (double number : numbers) {
        if (!std::isfinite(number)) {
            continue;
        }
        double size = std::fabs(number);
        are_whole = are_whole && number == std::ceil(number);
        smallest = has_finite ? std::min(smallest, size) : size;
        largest = has_finite ? std::max(largest, size) : size;
        has_finite = true;
    }
    smallest = digits(smallest);
    largest = digits(largest);
    if (are_whole && largest <= 9) {
        out << std::defaultfloat;
        return { 1, static_cast<int>(largest) + 1 };
    }
    if (are_whole || largest - smallest > 4) {
        out << std::scientific << std::setprecision(4);
        return { 1, !are_whole && (std::fabs(largest) > 99 || std::fabs(smallest) > 99)
                        ? 12
                        : 11 };
    }
    out << std::fixed << std::setprecision(4);
    if (largest > 5 || largest < 0) {
        return { std::pow(10, largest - 1), 7 };
    }
    return { 1, largest == 0 ? 7 : static_cast<int>(largest) + 6 };
}

inline void print_scale(std::ostream &out, double scale) {
    std::ios before(nullptr);
    before.copyfmt(out);
    out << std::defaultfloat << scale << " *\n";
    out.copyfmt(before);
}

// Columns that fit into 80, then the next; `indent` is 0 or 1.
inline void print_matrix(std::ostream &out, const std::vector<double> &numbers,
                         std::int64_t rows, std::int64_t columns, int indent) {
    Format format = choose_format(out, numbers);
    std::string margin(static_cast<std::size_t>(indent), ' ');
    std::int64_t per_line = (80 - indent) / (format.width + 1);
    out << margin;
    for (std::int64_t first = 0; first < columns; first += per_line) {
        std::int64_t last = std::min(first + per_line, columns) - 1;
        if (per_line < columns) {
            out << (first > 0 ? "\n" : "") << "Columns " << first + 1 << " to "
                << last + 1 << margin;
        }
        if (format.scale != 1) {
            print_scale(out, format.scale);
            out << margin;
        }
        for (std::int64_t row = 0; row < rows; row++) {
            for (std::int64_t column = first; column <= last; column++) {
                double number =
                    numbers[static_cast<std::size_t>(row * columns + column)];
                out << std::setw(format.width) << number / format.scale
                    << (column == last ? "\n" : " ");
            }
            if (row != rows - 1) {
                out << margin << (format.scale != 1 ? " " : "");
            }
        }
    }
}

inline void print_column(std::ostream &out, const std::vector<double> &numbers) {
    Format format = choose_format(out, numbers);
    if (format.scale != 1) {
        print_scale(out, format.scale);
    }
    for (double number : numbers) {
        out << std::setw(format.width) << number / format.scale << '\n';
    }
}

// Each matrix of the last two dimensions, under its place among the others.
inline void print_matrices(std::ostream &out, const Tensor &tensor,
                           const std::vector<double> &numbers) {
    std::int64_t rows = tensor.size(-2), columns = tensor.size(-1);
    std::int64_t each = rows * columns;
    for (std::int64_t at = 0; at < tensor.numel(); at += each) {
        std::string position = ".,.) = \n";
        std::int64_t rest = at / each;
        for (std::int64_t dim = tensor.dim() - 3; dim >= 0; dim--) {
            position = std::to_string(rest % tensor.size(dim) + 1) + "," + position;
            rest /= tensor.size(dim);
        }
        out << (at > 0 ? "\n" : "") << "(" << position;
        print_matrix(out, { numbers.begin() + at, numbers.begin() + at + each }, rows,
                     columns, 1);
    }
}

} // namespace detail

inline std::ostream &operator<<(std::ostream &out, const Tensor &given) {
    if (!given.defined()) {
        return out << "[ Tensor (undefined) ]";
    }
    std::ios before(nullptr);
    before.copyfmt(out);
    Tensor tensor = given.contiguous();
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < tensor.numel(); i++) {
        numbers.push_back(detail::number_at(tensor, i));
    }
    if (tensor.dim() == 0) {
        out << std::defaultfloat << numbers[0] << '\n';
    } else if (tensor.dim() == 1 && !numbers.empty()) {
        detail::print_column(out, numbers);
    } else if (tensor.dim() == 2 && !numbers.empty()) {
        detail::print_matrix(out, numbers, tensor.size(0), tensor.size(1), 0);
    } else if (!numbers.empty()) {
        detail::print_matrices(out, tensor, numbers);
    }
    out.copyfmt(before);
    out << "[ " << tensor.toString() << "{";
    for (std::size_t i = 0; i < tensor.sizes().size(); i++) {
        out << (i > 0 ? "," : "") << tensor.sizes()[i];
    }
    return out << "} ]";
}

} // namespace at
#endif
