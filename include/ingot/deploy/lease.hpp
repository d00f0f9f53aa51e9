// Ingot, under torch::deploy's names: calls of the C interface, interpreters taken.
// SPDX-License-Identifier: Apache-2.0
#ifndef INGOT_DEPLOY_LEASE_HPP
#define INGOT_DEPLOY_LEASE_HPP

#include <algorithm>

#include <ingot/deploy/ivalue.hpp>

namespace ingot {
namespace detail {

enum { MESSAGE_BYTES = 1 << 14 };

// One call of the C interface: what fails is thrown, with its text.
class Call {
  public:
    explicit Call(std::int64_t deadline_ns = 0) : text_(MESSAGE_BYTES) {
        how_.size = sizeof how_;
        how_.message = text_.data();
        how_.message_size = text_.size();
        how_.deadline_ns = deadline_ns;
    }
    operator const ig_interp_call *() const { return &how_; }
    void check(ig_status status) const {
        if (status != IG_OK) {
            throw c10::Error(text_.data());
        }
    }

  private:
    std::vector<char> text_;
    ig_interp_call how_{};
};

using Manager = std::shared_ptr<ig_interp_manager>;

// An interpreter that this thread has.
struct Lease {
    Manager manager;
    ig_interp *interp = nullptr;
    Lease(Manager of, ig_interp *taken) : manager(std::move(of)), interp(taken) {}
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    ~Lease() { ig_interp_release(interp); }
};

inline std::vector<std::weak_ptr<Lease>> &leases_of_thread() {
    static thread_local std::vector<std::weak_ptr<Lease>> leases;
    return leases;
}

// One that this thread has already; NULL: none.
inline std::shared_ptr<Lease> find_lease(const Manager &manager, std::int64_t index) {
    auto &leases = leases_of_thread();
    leases.erase(std::remove_if(leases.begin(), leases.end(),
                                [](const auto &lease) { return lease.expired(); }),
                 leases.end());
    for (const auto &weak : leases) {
        std::shared_ptr<Lease> lease = weak.lock();
        if (lease && lease->manager == manager &&
            (index < 0 || ig_interp_index(lease->interp) == index)) {
            return lease;
        }
    }
    return nullptr;
}

// A free interpreter; else one that this thread has; else the first to be given back.
inline std::shared_ptr<Lease> take_lease(const Manager &manager, std::int64_t index) {
    ig_interp *interp = nullptr;
    ig_status status = ig_interp_acquire(manager.get(), Call(1), index, &interp);
    if (status != IG_OK) {
        if (auto held = find_lease(manager, index)) {
            return held;
        }
        Call call;
        call.check(ig_interp_acquire(manager.get(), call, index, &interp));
    }
    auto lease = std::make_shared<Lease>(manager, interp);
    leases_of_thread().push_back(lease);
    return lease;
}

inline std::shared_ptr<void> own_result(const Manager &manager,
                                        ig_interp_result *result) {
    return std::shared_ptr<void>(result, [manager](void *ended) {
        ig_interp_result_free(static_cast<ig_interp_result *>(ended));
    });
}

inline c10::IValue take_value(const Manager &manager, ig_interp_result *result) {
    auto owner = own_result(manager, result);
    return read_value(*ig_interp_result_value(result), owner);
}

// Positional and named arguments of one call.
template <typename Value> class Packed {
  public:
    Packed(c10::ArrayRef<Value> values,
           const std::unordered_map<std::string, c10::IValue> &named) {
        for (const Value &value : values) {
            values_.push_back(put(value));
        }
        for (const auto &pair : named) {
            names_.push_back(pair.first.c_str());
            named_.push_back(put(pair.second));
        }
        arguments_ = { values_.data(), values_.size(), names_.data(), named_.data(),
                       named_.size() };
    }
    operator const ig_interp_arguments *() const { return &arguments_; }

  private:
    ig_interp_value put(const c10::IValue &value) { return memory_.convert(value); }
    template <typename Obj> ig_interp_value put(const Obj &obj) {
        return obj.as_argument(memory_);
    }

    Arguments memory_;
    std::vector<ig_interp_value> values_, named_;
    std::vector<const char *> names_;
    ig_interp_arguments arguments_{};
};

} // namespace detail
} // namespace ingot
#endif
