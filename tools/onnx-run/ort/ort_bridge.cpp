#include "tools/onnx-run/ort/ort_bridge.h"

#include <algorithm>

#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/ort/ort_api.h"
#include "tools/onnx-run/ort/ort_values.h"
#include "tools/onnx-run/process_pool.h"

namespace sardonyx::tool {

using ort::Api;

struct OtherSession::Impl {
  explicit Impl(const std::filesystem::path& library) : api(library), env(api), session(api) {}

  std::vector<std::string> names(ort::OrtApiSlot count_entry, ort::OrtApiSlot name_entry) const {
    ort::Allocator* allocator = nullptr;
    api.call(ort::kGetAllocatorWithDefaultOptions, &allocator);
    const ort::Session* known = session.get();
    size_t count = 0;
    api.call(count_entry, known, &count);
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      api.call(name_entry, known, i, allocator, &name);
      names.emplace_back(name);
      api.call(ort::kAllocatorFree, allocator, static_cast<void*>(name));
    }
    return names;
  }

  Api api;
  ort::OwnedEnv env;
  ort::OwnedSession session;
  std::vector<std::string> inputs, outputs;
};

struct OtherSession::Bound::Impl {
  std::vector<ort::OwnedValue> run() const {
    std::vector<ort::Value*> made(output_names.size(), nullptr);
    const void* no_options = nullptr;
    owner->api.call(ort::kRun, owner->session.get(), no_options,
                    static_cast<const char* const*>(input_names.data()),
                    static_cast<const ort::Value* const*>(inputs.data()), inputs.size(),
                    static_cast<const char* const*>(output_names.data()), output_names.size(),
                    made.data());
    std::vector<ort::OwnedValue> outputs;
    for (ort::Value* value : made) {
      outputs.emplace_back(owner->api);
      *outputs.back().out() = value;
    }
    return outputs;
  }

  const OtherSession::Impl* owner = nullptr;
  NamedData feeds;  // owns the elements that the values refer to
  std::vector<ort::OwnedValue> values;
  std::vector<const char*> input_names, output_names;
  std::vector<const ort::Value*> inputs;
};

OtherSession::Bound::Bound(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OtherSession::Bound::~Bound() = default;
OtherSession::Bound::Bound(Bound&&) noexcept = default;

void OtherSession::Bound::run() const {
  impl_->run();
}

void require_other_library(const std::filesystem::path& library) {
  if (library.empty()) return;
  const auto load = [&](size_t) -> std::string {
    try {
      const ort::Api api(library);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  std::string problem;
  const ProcessPool pool{.jobs = 1};
  pool.run(1, load, [&](size_t, const TaskOutcome& outcome) {
    problem = outcome.failure.empty() ? outcome.answer : "loading it: " + outcome.failure;
  });
  if (!problem.empty()) fail_usage("--against: ", problem);
}

OtherSession::OtherSession(const std::filesystem::path& library, const std::filesystem::path& model,
                           const OtherOptions& options)
    : impl_(std::make_unique<Impl>(library)) {
  const Api& api = impl_->api;
  ort::OwnedOptions settings(api);
  try {
    api.call(ort::kCreateEnv, ort::kLogFatal, "onnx-run", impl_->env.out());
    api.call(ort::kCreateSessionOptions, settings.out());
    api.call(ort::kSetSessionGraphOptimizationLevel, settings.get(),
             static_cast<int>(options.optimize ? ort::kEnableAll : ort::kDisableAll));
    if (options.threads > 0) {
      api.call(ort::kSetIntraOpNumThreads, settings.get(), options.threads);
      api.call(ort::kSetInterOpNumThreads, settings.get(), 1);
    }
    if (options.exact_int8)
      api.call(ort::kAddSessionConfigEntry, settings.get(), "session.x64quantprecision", "1");
    api.call(ort::kCreateSession, static_cast<const ort::Env*>(impl_->env.get()), model.c_str(),
             static_cast<const ort::SessionOptions*>(settings.get()), impl_->session.out());
  } catch (const Error& error) {
    fail(ErrorCode::kUnsupported, error.what());
  }
  impl_->inputs = impl_->names(ort::kSessionGetInputCount, ort::kSessionGetInputName);
  impl_->outputs = impl_->names(ort::kSessionGetOutputCount, ort::kSessionGetOutputName);
}

OtherSession::~OtherSession() = default;
OtherSession::OtherSession(OtherSession&&) noexcept = default;

std::string OtherSession::version() const {
  return impl_->api.version();
}
std::span<const std::string> OtherSession::input_names() const {
  return impl_->inputs;
}
std::span<const std::string> OtherSession::output_names() const {
  return impl_->outputs;
}

OtherSession::Bound OtherSession::bind(const NamedData& feeds) const {
  auto bound = std::make_unique<Bound::Impl>();
  bound->owner = impl_.get();
  bound->feeds = feeds;
  for (const auto& [name, datum] : bound->feeds) {
    bound->values.push_back(ort::to_value(impl_->api, datum));
    bound->inputs.push_back(bound->values.back().get());
    bound->input_names.push_back(name.c_str());
  }
  for (const std::string& name : impl_->outputs)
    bound->output_names.push_back(name.c_str());
  return Bound(std::move(bound));
}

std::vector<Datum> OtherSession::run(const NamedData& feeds) const {
  const Bound bound = bind(feeds);
  std::vector<Datum> outputs;
  for (const ort::OwnedValue& value : bound.impl_->run())
    outputs.push_back(ort::to_datum(impl_->api, value.get()));
  return outputs;
}

}  // namespace sardonyx::tool
