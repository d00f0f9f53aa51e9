// Ingot, interpreters under the names of torch::deploy: its programs compile with only
// their includes changed.  SPDX-License-Identifier: Apache-2.0
//
//     torch::deploy::InterpreterManager manager(4);
//     torch::deploy::Package package = manager.loadPackage("my_package.pt");
//     torch::deploy::ReplicatedObj model = package.loadPickle("model", "model.pkl");
//     std::vector<torch::jit::IValue> inputs{ torch::ones({ 1, 1, 10, 10 }) };
//     std::cout << model(inputs).toTensor() << '\n';
//
// C++17 over ingot/interp.h, and no library but that one: -lingot-interp.  What differs
// from torch::deploy:
// - A session has its interpreter to itself, without holding Python's lock.  A thread
//   that finds none free and has a session already goes on in that one's.
// - Everything keeps its manager alive: results may outlive InterpreterManager.
// - Tensors of a call must not be kept by what is called; the call throws when they are.
// - Every error is a c10::Error, which is a std::runtime_error, SystemExit too.
#ifndef INGOT_DEPLOY_HPP
#define INGOT_DEPLOY_HPP

#include <cstdlib>
#include <iostream>

#include <ingot/deploy/session.hpp>

namespace torch {
namespace deploy {

// An object that each interpreter makes for itself; used in any that is free.
class ReplicatedObj {
  public:
    ReplicatedObj() = default;
    IValue operator()(ArrayRef<IValue> arguments) const { return call(arguments, {}); }
    IValue callKwargs(std::vector<IValue> arguments, const Kwargs &named) const {
        return call(arguments, named);
    }
    IValue callKwargs(const Kwargs &named) const { return call({}, named); }
    bool hasattr(const char *name) const { return acquireSession().self.hasattr(name); }
    InterpreterSession acquireSession(const Interpreter *on = nullptr) const {
        std::int64_t index = on ? static_cast<std::int64_t>(on->index_) : -1;
        InterpreterSession session(::ingot::detail::take_lease(manager_, index));
        session.self = toObj(&session);
        return session;
    }
    Obj toObj(InterpreterSession *session) const {
        ::ingot::detail::Call call;
        ig_interp_object *made = nullptr;
        call.check(ig_interp_replica_in(replica_.get(), call, session->lease_->interp,
                                        &made));
        return Obj(session->lease_, made);
    }
    // One interpreter's, or all: the next use makes it anew.
    void unload(const Interpreter *on = nullptr) const {
        ig_interp_unload(replica_.get(),
                         on ? static_cast<std::int64_t>(on->index_) : -1);
    }

  protected:
    friend class InterpreterSession;
    friend class InterpreterManager;
    friend class Package;
    ReplicatedObj(const ::ingot::detail::Manager &manager, ig_interp_replica *replica)
        : manager_(manager), replica_(replica, [manager](ig_interp_replica *ended) {
              ig_interp_replica_free(ended);
          }) {}
    IValue call(ArrayRef<IValue> arguments, const Kwargs &named) const {
        InterpreterSession session = acquireSession();
        ::ingot::detail::Call call;
        ::ingot::detail::Packed<IValue> packed(arguments, named);
        ig_interp_result *result = nullptr;
        call.check(ig_interp_invoke(session.lease_->interp, call,
                                    session.self.object_.get(), packed, &result));
        return ::ingot::detail::take_value(manager_, result);
    }

    ::ingot::detail::Manager manager_;
    std::shared_ptr<ig_interp_replica> replica_;
};

inline Obj InterpreterSession::fromMovable(const ReplicatedObj &obj) {
    return obj.toObj(this);
}

inline ReplicatedObj InterpreterSession::createMovable(const Obj &obj) {
    ::ingot::detail::Call call;
    ig_interp_replica *made = nullptr;
    call.check(ig_interp_replicate(lease_->interp, call, obj.need(), &made));
    return ReplicatedObj(lease_->manager, made);
}

// A torch.package archive; the self of its sessions is the PackageImporter.
class Package {
  public:
    ReplicatedObj loadPickle(const std::string &module, const std::string &file) const {
        ::ingot::detail::Call call;
        ig_interp_replica *made = nullptr;
        call.check(ig_interp_load_pickle(importer_.replica_.get(), call, module.c_str(),
                                         file.c_str(), &made));
        return ReplicatedObj(importer_.manager_, made);
    }
    std::string loadText(const std::string &module, const std::string &file) const {
        return load(ig_interp_load_text, module, file);
    }
    std::string loadBinary(const std::string &module, const std::string &file) const {
        return load(ig_interp_load_binary, module, file);
    }
    InterpreterSession acquireSession() const { return importer_.acquireSession(); }

  private:
    friend class InterpreterManager;
    explicit Package(ReplicatedObj importer) : importer_(std::move(importer)) {}
    std::string load(decltype(ig_interp_load_text) *read, const std::string &module,
                     const std::string &file) const {
        ::ingot::detail::Call call;
        ig_interp_result *result = nullptr;
        call.check(read(importer_.replica_.get(), call, module.c_str(), file.c_str(),
                        &result));
        return ::ingot::detail::take_value(importer_.manager_, result).toStringRef();
    }
    ReplicatedObj importer_;
};

class InterpreterManager {
  public:
    // `engine`: of ig_interp_options; nullptr is "cpython".
    explicit InterpreterManager(std::size_t count = 2,
                                std::shared_ptr<Environment> environment = nullptr,
                                const char *engine = nullptr) {
        std::vector<std::string> paths;
        std::vector<const char *> texts;
        if (environment) {
            paths = environment->getExtraPythonPaths();
        }
        for (const std::string &path : paths) {
            texts.push_back(path.c_str());
        }
        ig_interp_options options{};
        options.size = sizeof options;
        options.engine = engine;
        options.count = static_cast<std::uint32_t>(count);
        options.paths = texts.data();
        options.path_count = texts.size();
        options.use_torch = 1;
        ::ingot::detail::Call call;
        ig_interp_manager *made = nullptr;
        call.check(ig_interp_create(&options, call, &made));
        manager_ = ::ingot::detail::Manager(made, ig_interp_destroy);
        for (Interpreter &interpreter : instances_ = list()) {
            if (environment) {
                environment->configureInterpreter(&interpreter);
            }
        }
    }
    InterpreterManager(const InterpreterManager &) = delete;
    InterpreterManager &operator=(const InterpreterManager &) = delete;

    InterpreterSession acquireOne() {
        return InterpreterSession(::ingot::detail::take_lease(manager_, -1));
    }
    ArrayRef<Interpreter> allInstances() const { return instances_; }
    Package loadPackage(const std::string &path) {
        ::ingot::detail::Call call;
        ig_interp_replica *made = nullptr;
        call.check(ig_interp_load_package(manager_.get(), call, path.c_str(), &made));
        return Package(ReplicatedObj(manager_, made));
    }
    void registerModuleSource(const std::string &name, const std::string &source) {
        ::ingot::detail::Call call;
        call.check(ig_interp_register_source(manager_.get(), call, name.c_str(),
                                             source.c_str()));
        sources_++;
    }
    std::size_t countRegisteredModuleSources() const { return sources_; }
    ReplicatedObj createMovable(const Obj &obj, InterpreterSession *session) {
        return session->createMovable(obj);
    }

  private:
    std::vector<Interpreter> list() const {
        std::vector<Interpreter> all;
        for (std::size_t i = 0; i < ig_interp_count(manager_.get()); i++) {
            all.push_back(Interpreter(manager_, i));
        }
        return all;
    }
    ::ingot::detail::Manager manager_;
    std::vector<Interpreter> instances_;
    std::size_t sources_ = 0;
};

} // namespace deploy
} // namespace torch

namespace multipy {
namespace runtime = torch::deploy;
}
#endif
