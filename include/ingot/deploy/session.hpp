// Ingot, under torch::deploy's names: environments, sessions and their objects.
// SPDX-License-Identifier: Apache-2.0
#ifndef INGOT_DEPLOY_SESSION_HPP
#define INGOT_DEPLOY_SESSION_HPP

#include <optional>

#include <ingot/deploy/factories.hpp>
#include <ingot/deploy/lease.hpp>

namespace torch {

using at::empty, at::from_blob, at::ones, at::tensor, at::zeros, at::Tensor;
using at::kBFloat16, at::kBool, at::kByte, at::kChar, at::kDouble, at::kFloat;
using at::kHalf, at::kInt, at::kLong, at::kShort;
using at::IntArrayRef, at::ScalarType;

namespace jit {
using c10::IValue;
}

namespace deploy {

using at::Tensor;
using c10::ArrayRef, c10::IValue;
using Kwargs = std::unordered_map<std::string, IValue>;
class Interpreter;
class InterpreterManager;
class ReplicatedObj;

// What each interpreter is given before it is used.
class Environment {
  public:
    virtual ~Environment() = default;
    // Appended to sys.path, before the library's own folder.
    virtual std::vector<std::string> getExtraPythonPaths() { return {}; }
    virtual void configureInterpreter(Interpreter *interpreter) { (void)interpreter; }
};
class NoopEnvironment : public Environment {};
class PathEnvironment : public Environment {
  public:
    // One folder, taken as it stands; NULL throws.
    explicit PathEnvironment(const char *path) {
        if (!path) {
            throw c10::Error("PathEnvironment: there is no path (is the variable of "
                             "the environment set?)");
        }
        path_ = path;
    }
    explicit PathEnvironment(const std::string &path) : path_(path) {}
    std::vector<std::string> getExtraPythonPaths() override { return { path_ }; }

  private:
    std::string path_;
};

// An object of one interpreter, which it keeps taken; or a value on its way there.
class Obj {
  public:
    Obj() = default;
    IValue toIValue() const {
        if (!object_) {
            return value_;
        }
        ::ingot::detail::Call call;
        ig_interp_result *result = nullptr;
        call.check(ig_interp_read(lease_->interp, call, object_.get(), &result));
        return ::ingot::detail::take_value(lease_->manager, result);
    }
    Obj operator()(ArrayRef<Obj> arguments) const { return make(arguments, {}); }
    Obj operator()(ArrayRef<IValue> arguments) const { return make(arguments, {}); }
    Obj callKwargs(std::vector<IValue> arguments, const Kwargs &named) const {
        return make(ArrayRef<IValue>(arguments), named);
    }
    Obj callKwargs(const Kwargs &named) const { return callKwargs({}, named); }
    bool hasattr(const char *name) const { return find(name).has_value(); }
    Obj attr(const char *name) const {
        std::optional<Obj> found = find(name);
        if (!found) {
            throw c10::Error(std::string("the object has no attribute '") + name + "'");
        }
        return *found;
    }
    ig_interp_value as_argument(::ingot::detail::Arguments &memory) const {
        if (!object_) {
            return memory.convert(value_);
        }
        ig_interp_value made{};
        made.kind = IG_INTERP_OBJECT;
        made.as.object = object_.get();
        return made;
    }

  private:
    friend class InterpreterSession;
    friend class ReplicatedObj;
    using Lease = std::shared_ptr<::ingot::detail::Lease>;

    Obj(Lease lease, ig_interp_object *object)
        : lease_(std::move(lease)), object_(object, ig_interp_object_free) {}
    Obj(Lease lease, const IValue &value) : lease_(std::move(lease)), value_(value) {}
    const ig_interp_object *need() const {
        if (!object_) {
            throw c10::Error("this is a value, not an object of an interpreter");
        }
        return object_.get();
    }
    template <typename Value>
    Obj make(ArrayRef<Value> arguments, const Kwargs &named) const {
        ::ingot::detail::Call call;
        ::ingot::detail::Packed<Value> packed(arguments, named);
        ig_interp_object *made = nullptr;
        const ig_interp_object *object = need();
        call.check(ig_interp_make(lease_->interp, call, object, packed, &made));
        return Obj(lease_, made);
    }
    std::optional<Obj> find(const char *name) const {
        ::ingot::detail::Call call;
        ig_interp_object *found = nullptr;
        const ig_interp_object *object = need();
        ig_status status = ig_interp_attribute(lease_->interp, call, object, name,
                                               &found);
        if (status == IG_UNSUPPORTED) {
            return std::nullopt;
        }
        call.check(status);
        return Obj(lease_, found);
    }

    Lease lease_; // ends after the object
    std::shared_ptr<ig_interp_object> object_;
    IValue value_;
};

// An interpreter, from here to the end of the scope and of every Obj of it.
class InterpreterSession {
  public:
    Obj self; // of a session that a ReplicatedObj or Package gave
    Obj global(const char *module, const char *name) {
        ::ingot::detail::Call call;
        ig_interp_object *found = nullptr;
        call.check(ig_interp_global(lease_->interp, call, module, name, &found));
        return Obj(lease_, found);
    }
    Obj fromIValue(const IValue &value) { return Obj(lease_, value); }
    Obj fromMovable(const ReplicatedObj &obj);
    ReplicatedObj createMovable(const Obj &obj);
    bool isOwner(const Obj &obj) const { return obj.lease_ == lease_; }
    std::size_t index() const { return ig_interp_index(lease_->interp); }

  private:
    friend class Interpreter;
    friend class InterpreterManager;
    friend class ReplicatedObj;
    explicit InterpreterSession(std::shared_ptr<::ingot::detail::Lease> lease)
        : lease_(std::move(lease)) {}
    std::shared_ptr<::ingot::detail::Lease> lease_;
};

class Interpreter {
  public:
    InterpreterSession acquireSession() const {
        return InterpreterSession(
            ::ingot::detail::take_lease(manager_, static_cast<std::int64_t>(index_)));
    }

  private:
    friend class InterpreterManager;
    friend class ReplicatedObj;
    Interpreter(::ingot::detail::Manager manager, std::size_t index)
        : manager_(std::move(manager)), index_(index) {}
    ::ingot::detail::Manager manager_;
    std::size_t index_;
};

} // namespace deploy
} // namespace torch
#endif
