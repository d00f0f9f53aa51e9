// Ingot, values of torch::deploy's programs: IValue, and how it reaches interpreters.
// SPDX-License-Identifier: Apache-2.0
#ifndef INGOT_DEPLOY_IVALUE_HPP
#define INGOT_DEPLOY_IVALUE_HPP

#include <deque>
#include <unordered_map>

#include <ingot/deploy/tensor.hpp>
#include <ingot/interp.h>

namespace c10 {

// None, a number, text, a tensor, or a list, tuple or dict of values.
class IValue {
  public:
    struct Tuple {
        std::vector<IValue> items;
        const std::vector<IValue> &elements() const { return items; }
    };

    IValue() = default;
    IValue(const at::Tensor &tensor) : kind_(IG_INTERP_TENSOR), tensor_(tensor) {}
    IValue(std::int64_t number) : kind_(IG_INTERP_INTEGER) { plain_.integer = number; }
    IValue(int number) : IValue(static_cast<std::int64_t>(number)) {}
    IValue(double number) : kind_(IG_INTERP_REAL) { plain_.real = number; }
    IValue(bool truth) : kind_(IG_INTERP_TRUTH) { plain_.truth = truth; }
    IValue(const std::string &text) : kind_(IG_INTERP_TEXT), text_(text) {}
    IValue(const char *text) : IValue(std::string(text)) {}
    IValue(std::vector<IValue> items)
        : kind_(IG_INTERP_LIST), items_(make(std::move(items))) {}
    IValue(Tuple tuple)
        : kind_(IG_INTERP_TUPLE), items_(make(std::move(tuple.items))) {}
    // Keys and values in turn.
    static IValue dict(std::vector<IValue> items) {
        IValue made(std::move(items));
        made.kind_ = IG_INTERP_DICT;
        return made;
    }
    static IValue bytes(const std::string &text) {
        IValue made(text);
        made.kind_ = IG_INTERP_BYTES;
        return made;
    }

    bool isNone() const { return kind_ == IG_INTERP_NONE; }
    bool isTensor() const { return kind_ == IG_INTERP_TENSOR; }
    bool isInt() const { return kind_ == IG_INTERP_INTEGER; }
    bool isDouble() const { return kind_ == IG_INTERP_REAL; }
    bool isBool() const { return kind_ == IG_INTERP_TRUTH; }
    bool isString() const { return kind_ == IG_INTERP_TEXT; }
    bool isList() const { return kind_ == IG_INTERP_LIST; }
    bool isTuple() const { return kind_ == IG_INTERP_TUPLE; }
    bool isGenericDict() const { return kind_ == IG_INTERP_DICT; }
    ig_interp_kind kind() const { return kind_; }

    const at::Tensor &toTensor() const { return need(IG_INTERP_TENSOR)->tensor_; }
    std::int64_t toInt() const { return need(IG_INTERP_INTEGER)->plain_.integer; }
    double toDouble() const { return need(IG_INTERP_REAL)->plain_.real; }
    bool toBool() const { return need(IG_INTERP_TRUTH)->plain_.truth != 0; }
    const std::string &toStringRef() const {
        return kind_ == IG_INTERP_BYTES ? text_ : need(IG_INTERP_TEXT)->text_;
    }
    const std::vector<IValue> &toListRef() const {
        return *need(IG_INTERP_LIST)->items_;
    }
    std::shared_ptr<Tuple> toTuple() const {
        return std::make_shared<Tuple>(Tuple{ *need(IG_INTERP_TUPLE)->items_ });
    }
    // Of a list, tuple or dict.
    const std::vector<IValue> &items() const {
        return *(items_ ? this : need(IG_INTERP_LIST))->items_;
    }

  private:
    static std::shared_ptr<std::vector<IValue>> make(std::vector<IValue> items) {
        return std::make_shared<std::vector<IValue>>(std::move(items));
    }
    const IValue *need(ig_interp_kind kind) const {
        static const char *const names[] = { "None", "bool", "int",  "float",
                                             "str",  "bytes", "list", "tuple",
                                             "dict", "Tensor", "object" };
        if (kind_ != kind) {
            throw Error(std::string("a value is a ") + names[kind_] + ", not a " +
                        names[kind]);
        }
        return this;
    }

    ig_interp_kind kind_ = IG_INTERP_NONE;
    union {
        int truth;
        std::int64_t integer;
        double real;
    } plain_{};
    at::Tensor tensor_;
    std::string text_;
    std::shared_ptr<std::vector<IValue>> items_;
};

} // namespace c10

namespace ingot {
namespace detail {

// Values as ig_interp_value; lives while they are used.
class Arguments {
  public:
    ig_interp_value convert(const c10::IValue &value) {
        ig_interp_value made{};
        made.kind = value.kind();
        switch (value.kind()) {
        case IG_INTERP_TRUTH:
            made.as.truth = value.toBool();
            break;
        case IG_INTERP_INTEGER:
            made.as.integer = value.toInt();
            break;
        case IG_INTERP_REAL:
            made.as.real = value.toDouble();
            break;
        case IG_INTERP_TEXT:
        case IG_INTERP_BYTES:
            made.as.text.data = value.toStringRef().data();
            made.as.text.size = value.toStringRef().size();
            break;
        case IG_INTERP_LIST:
        case IG_INTERP_TUPLE:
        case IG_INTERP_DICT:
            put_list(value.items(), made);
            break;
        case IG_INTERP_TENSOR:
            put_tensor(value.toTensor(), made.as.tensor);
            break;
        default:
            break;
        }
        return made;
    }

  private:
    void put_list(const std::vector<c10::IValue> &items, ig_interp_value &made) {
        std::vector<ig_interp_value> converted;
        for (const c10::IValue &item : items) {
            converted.push_back(convert(item));
        }
        lists_.push_back(std::move(converted));
        made.as.list.items = lists_.back().data();
        made.as.list.count = lists_.back().size();
    }
    // One that is not contiguous is passed as a copy.
    void put_tensor(const at::Tensor &tensor, ig_view &view) {
        if (!tensor.defined() || tensor.dim() > IG_MAX_RANK) {
            throw c10::Error("a tensor that is undefined, or of more than 8 dimensions");
        }
        tensors_.push_back(tensor.contiguous());
        view.data = tensors_.back().data_ptr();
        view.dtype = static_cast<std::int32_t>(tensor.scalar_type());
        view.rank = static_cast<std::uint32_t>(tensor.dim());
        for (std::uint32_t i = 0; i < view.rank; i++) {
            view.dims[i] = tensor.size(i);
        }
    }

    std::deque<std::vector<ig_interp_value>> lists_;
    std::deque<at::Tensor> tensors_;
};

inline c10::IValue read_value(const ig_interp_value &value,
                              const std::shared_ptr<void> &owner);

inline std::vector<c10::IValue> read_list(const ig_interp_value &value,
                                          const std::shared_ptr<void> &owner) {
    std::vector<c10::IValue> items;
    for (std::size_t i = 0; i < value.as.list.count; i++) {
        items.push_back(read_value(value.as.list.items[i], owner));
    }
    return items;
}

inline at::Tensor read_tensor(const ig_view &view, const std::shared_ptr<void> &owner) {
    auto type = static_cast<at::ScalarType>(view.dtype);
    if (std::strcmp(c10::toString(type), "Undefined") == 0) {
        throw c10::Error("the result is a tensor of a type that C++ has no name for");
    }
    return at::Tensor(owner, view.data, type, { view.dims, view.rank });
}

// Tensors share the memory of the result, which they keep.
inline c10::IValue read_value(const ig_interp_value &value,
                              const std::shared_ptr<void> &owner) {
    switch (value.kind) {
    case IG_INTERP_NONE:
        return c10::IValue();
    case IG_INTERP_TRUTH:
        return c10::IValue(value.as.truth != 0);
    case IG_INTERP_INTEGER:
        return c10::IValue(value.as.integer);
    case IG_INTERP_REAL:
        return c10::IValue(value.as.real);
    case IG_INTERP_TEXT:
        return c10::IValue(std::string(value.as.text.data, value.as.text.size));
    case IG_INTERP_BYTES:
        return c10::IValue::bytes(std::string(value.as.text.data, value.as.text.size));
    case IG_INTERP_LIST:
        return c10::IValue(read_list(value, owner));
    case IG_INTERP_TUPLE:
        return c10::IValue(c10::IValue::Tuple{ read_list(value, owner) });
    case IG_INTERP_DICT:
        return c10::IValue::dict(read_list(value, owner));
    case IG_INTERP_TENSOR:
        return c10::IValue(read_tensor(value.as.tensor, owner));
    case IG_INTERP_OBJECT:
        break;
    }
    throw c10::Error("the result holds an object that is no value");
}

} // namespace detail
} // namespace ingot
#endif
