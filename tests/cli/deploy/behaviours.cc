// What torch::deploy's own tests ask of it, through ingot/deploy.hpp.
// SPDX-License-Identifier: Apache-2.0
//
//     behaviours ENGINE PACKAGE RESULT FOLDER     the seed's package, where what it
//                                                 gives is written, and where the
//                                                 module that extension.cc makes is
#include <ingot/deploy.hpp>

#include <fstream>
#include <sstream>
#include <thread>

namespace td = torch::deploy;

static int failed;

#define CHECK(claim)                                           \
    do {                                                       \
        if (!(claim)) {                                        \
            std::cout << __LINE__ << ": not so: " #claim "\n"; \
            failed++;                                          \
        }                                                      \
    } while (0)

// What it throws; empty: nothing.
template <typename F> static std::string thrown_by(F f) {
    try {
        f();
    } catch (const std::runtime_error &e) {
        return e.what();
    }
    return "";
}

static bool has(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

static const char *engine, *package_path, *result_path, *extension_folder;

class AppendToPath : public td::Environment {
    void configureInterpreter(td::Interpreter *interpreter) override {
        auto session = interpreter->acquireSession();
        session.global("sys", "path").attr("append")({ td::IValue("/of/the/test") });
    }
};

static void test_interpreters_are_apart() {
    td::InterpreterManager manager(2, std::make_shared<AppendToPath>(), engine);
    CHECK(manager.allInstances().size() == 2);
    auto first = manager.acquireOne(), second = manager.acquireOne();
    CHECK(first.index() != second.index());
    td::ArrayRef<td::Obj> none;
    auto path = first.global("sys", "path");
    CHECK(path.attr("count")({ td::IValue("/of/the/test") }).toIValue().toInt() == 1);
    auto pid = first.global("os", "getpid");
    CHECK(pid(none).toIValue().isInt());
    CHECK(!pid.hasattr("none_such") && pid.hasattr("__name__"));
    CHECK(has(thrown_by([&] { pid.attr("none_such"); }), "no attribute 'none_such'"));
    CHECK(first.isOwner(pid) && !second.isOwner(pid));
    auto print = second.global("builtins", "print");
    CHECK(has(thrown_by([&] { print({ pid }); }), "belongs to interpreter"));
    CHECK(has(thrown_by([&] { first.global("sys", "exit")(none); }), "SystemExit"));
    // No other is free: this thread goes on in one that it has.
    auto third = manager.acquireOne();
    CHECK(third.index() == first.index() || third.index() == second.index());
}

static std::int64_t address_of_none(td::InterpreterSession &session) {
    return session.global("builtins", "id")({ td::IValue() }).toIValue().toInt();
}

static td::ReplicatedObj make_root(td::InterpreterManager &first,
                                   td::InterpreterManager &second) {
    auto one = first.acquireOne(), two = first.acquireOne();
    auto other = second.acquireOne();
    if (std::string(engine) == "cpython") { // processes may have the same addresses
        CHECK(address_of_none(one) != address_of_none(two));
        CHECK(address_of_none(one) != address_of_none(other));
    }
    auto movable = first.createMovable(one.global("math", "sqrt"), &one);
    CHECK(has(thrown_by([&] { other.fromMovable(movable); }), "another manager"));
    return movable;
}

static void test_managers() {
    td::InterpreterManager first(2, nullptr, engine), second(1, nullptr, engine);
    // An object outlives its session, and keeps the interpreter of it.
    {
        auto pi = second.acquireOne().global("math", "pi");
        CHECK(pi.toIValue().toDouble() > 3.14);
    }
    auto root = make_root(first, second);
    std::thread([root] { CHECK(root({ td::IValue(4.0) }).toDouble() == 2); }).join();
}

static void test_values() {
    td::InterpreterManager manager(1, nullptr, engine);
    manager.registerModuleSource("mine", "def f(*a, **k): return (list(a), k)\n"
                                         "def same(x): return x\n"
                                         "def change(x): x.numpy()[0] = 7\n"
                                         "kept = []\n"
                                         "def keep(x): kept.append(x)\n"
                                         "class Box:\n"
                                         "  def __init__(self, by): self.by = by\n"
                                         "  def __call__(self, x, plus=0):\n"
                                         "    return x * self.by + plus\n");
    CHECK(manager.countRegisteredModuleSources() == 1);
    auto session = manager.acquireOne();
    auto f = session.global("mine", "f");
    auto given = f.callKwargs({ 1, 2.5, true, "text", td::IValue() }, { { "k", 3 } })
                     .toIValue()
                     .toTuple();
    auto list = given->elements()[0].toListRef();
    CHECK(list[0].toInt() == 1 && list[1].toDouble() == 2.5 && list[2].toBool());
    CHECK(list[3].toStringRef() == "text" && list[4].isNone());
    CHECK(given->elements()[1].isGenericDict());
    CHECK(given->elements()[1].items()[1].toInt() == 3);
    CHECK(has(thrown_by([&] { list[0].toTensor(); }), "not a Tensor"));
    at::Tensor x = torch::tensor<float>({ 1, 2, 3, 4 });
    CHECK(session.fromIValue(x).toIValue().toTensor().data_ptr() == x.data_ptr());
    auto box = session.global("mine", "Box")({ td::IValue(3) });
    auto y = box({ session.fromIValue(x) }).toIValue().toTensor();
    CHECK(y.same_bits(torch::tensor<float>({ 3, 6, 9, 12 })));
    CHECK(has(thrown_by([&] { session.global("mine", "keep")({ td::IValue(x) }); }),
              "keeps a tensor of its arguments"));
    auto movable = manager.createMovable(box, &session);
    CHECK(movable.callKwargs({ 5 }, { { "plus", 1 } }).toInt() == 16);
    CHECK(movable.hasattr("by") && !movable.hasattr("none_such"));
    CHECK(session.fromMovable(movable).attr("by").toIValue().toInt() == 3);
    movable.unload();
    CHECK(movable({ td::IValue(5) }).toInt() == 15);
}

static void test_packages() {
    at::Tensor kept; // outlives its manager
    {
        td::InterpreterManager manager(2, nullptr, engine);
        td::Package package = manager.loadPackage(package_path);
        td::ReplicatedObj model = package.loadPickle("model", "model.pkl");
        std::vector<td::IValue> inputs{ torch::ones({ 1, 1, 10, 10 }) };
        at::Tensor first = model(inputs).toTensor();
        std::vector<std::thread> threads;
        std::vector<int> same(4);
        for (std::size_t i = 0; i < same.size(); i++) {
            threads.emplace_back([&, i] {
                for (int k = 0; k < 20; k++) {
                    same[i] += model(inputs).toTensor().same_bits(first);
                }
            });
        }
        for (auto &thread : threads) {
            thread.join();
        }
        CHECK(same == std::vector<int>(4, 20));
        auto again = package.loadPickle("model", "model.pkl");
        auto &one = manager.allInstances()[1];
        CHECK(again.acquireSession(&one)
                  .self({ td::IValue(inputs[0]) })
                  .toIValue()
                  .toTensor()
                  .same_bits(first));
        CHECK(!package.acquireSession().self.hasattr("none_such"));
        model.unload(&one);
        CHECK(!thrown_by([&] { model({ td::IValue("no tensor") }); }).empty());
        CHECK(
            !thrown_by([&] { package.loadPickle("model", "no.pkl")(inputs); }).empty());
        CHECK(
            has(thrown_by([&] { manager.loadPackage("/no/such.pt"); }), "/no/such.pt"));
        kept = first;
    }
    std::ofstream file(result_path, std::ios::binary);
    file.write(static_cast<const char *>(kept.data_ptr()), 4 * kept.numel());
}

// Every interpreter has a copy of an extension module, with what its constructors made,
// with a counter for each thread, and with exceptions that are caught inside of it.
static void test_extension() {
    constexpr std::size_t count = 3;
    auto environment = std::make_shared<td::PathEnvironment>(extension_folder);
    td::InterpreterManager manager(count, environment, engine);
    manager.registerModuleSource("threads",
                                 "import threading, apart\n"
                                 "def count_in_thread():\n"
                                 "  seen = []\n"
                                 "  t = threading.Thread(target=lambda: seen.extend(\n"
                                 "    [apart.count_in_thread() for _ in range(3)]))\n"
                                 "  t.start(); t.join()\n"
                                 "  return seen[-1]\n");
    std::vector<int> good(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; i++) {
        threads.emplace_back([&, i] {
            auto session = manager.allInstances()[i].acquireSession();
            td::ArrayRef<td::Obj> none;
            auto number = [&](const char *module, const char *name) {
                return session.global(module, name)(none).toIValue().toInt();
            };
            auto made = session.global("apart", "made_by_constructor")(none).toIValue();
            good[i] += made.toStringRef() == "made before anybody asked";
            for (std::size_t k = 0; k <= i; k++) {
                number("apart", "count_calls");
                number("apart", "count_in_thread");
            }
            // One more of each: nobody else counts here.
            std::int64_t own = static_cast<std::int64_t>(i) + 2;
            good[i] += number("apart", "count_calls") == own;
            good[i] += number("apart", "count_in_thread") == own;
            good[i] += number("threads", "count_in_thread") == 3;
            good[i] += number("apart", "catch_inside") == 42;
            auto raise = session.global("apart", "raise_error");
            good[i] += has(thrown_by([&] { raise(none); }), "thrown in C++");
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    CHECK(good == std::vector<int>(count, 6));
}

// What packages ask for as they are imported.
static void test_versions() {
    td::InterpreterManager manager(2, nullptr, engine);
    for (auto &one : manager.allInstances()) {
        auto session = one.acquireSession();
        auto version = session.global("importlib.metadata", "version");
        auto given = version({ td::IValue("torch") }).toIValue().toStringRef();
        CHECK(given == session.global("torch", "__version__").toIValue().toStringRef());
        CHECK(!version({ td::IValue("ingot") }).toIValue().toStringRef().empty());
        CHECK(has(thrown_by([&] { version({ td::IValue("no-such-package") }); }),
                  "PackageNotFoundError"));
    }
}

static void test_tensors() {
    std::vector<float> values{ 0.5f, -1.25f, 3, 1e-3f, 12345.5f, 0 };
    at::Tensor x = at::from_blob(values.data(), { 2, 3 });
    std::ostringstream out;
    out << x.slice(1, 0, 2) << '\n' << x[1].slice(0, -1) << '\n' << x.slice(0, 1, 9, 2);
    CHECK(out.str() == " 5.0000e-01 -1.2500e+00\n 1.0000e-03  1.2346e+04\n"
                       "[ CPUFloatType{2,2} ]\n 0\n[ CPUFloatType{1} ]\n"
                       "     0.0010  12345.5000      0.0000\n[ CPUFloatType{1,3} ]");
    at::Tensor column = x.slice(1, 1, 2).select(1, 0), same = column.clone();
    CHECK(!column.is_contiguous() && same.is_contiguous() && column.same_bits(same));
    CHECK(same.data_ptr<float>()[1] == 12345.5f && column[0].item<float>() == -1.25f);
    CHECK(has(thrown_by([&] { x.slice(2); }), "no dimension 2"));
    CHECK(has(thrown_by([&] { x.data_ptr<double>(); }), "CPUFloatType"));
    CHECK(!thrown_by([] { torch::ones({ INT64_MAX, 4 }); }).empty());
    CHECK(
        !thrown_by([] { td::PathEnvironment(static_cast<char *>(nullptr)); }).empty());
}

int main(int count, char **arguments) {
    if (count != 5) {
        return 2;
    }
    engine = arguments[1];
    package_path = arguments[2];
    result_path = arguments[3];
    extension_folder = arguments[4];
    test_interpreters_are_apart();
    test_managers();
    test_values();
    test_packages();
    test_extension();
    test_versions();
    test_tensors();
    std::cout << (failed ? "failed\n" : "all hold\n");
    return failed;
}
