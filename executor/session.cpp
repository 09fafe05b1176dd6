#include "executor/session.h"

#include <algorithm>
#include <ranges>

#include "executor/session/session_impl.h"
#include "executor/weights/weight_sharing.h"
#include "ir/core/bad_alloc.h"
#include "onnx_io/lazy_load.h"

namespace sardonyx {

std::vector<Datum> Session::Impl::fetch(DatumRefs given, std::span<const std::string> names,
                                        const RunOptions& run_options) {
  const std::optional<std::vector<size_t>> indices = outputs_named(names);
  if (names.empty()) return {};
  if (!indices) {
    std::vector<Datum> found(names.size());
    run([&](std::span<const size_t>) { return fetcher(names); }, given, found, run_options);
    return found;
  }
  std::vector<size_t> chosen = *indices;
  std::ranges::sort(chosen);
  const auto repeated = std::ranges::unique(chosen);
  chosen.erase(repeated.begin(), repeated.end());
  std::vector<Datum> computed(chosen.size());
  run(outputs_at(chosen), given, computed, run_options);
  std::vector<Datum> found;
  for (const size_t index : *indices)
    found.push_back(computed[std::ranges::find(chosen, index) - chosen.begin()]);
  return found;
}

void Session::Impl::prepare_for(DatumRefs given, const RunOptions& run_options) {
  serve(outputs_at(run_options.outputs), given, run_options,
        [&](Executable& target, DatumRefs placed) { target.prepare(placed); });
}

Session::Session(const std::filesystem::path& path, SessionOptions options)
    : impl_(Impl::made(std::move(options))) {
  impl_->owns_weights = true;
  impl_->load([&] { return load_model_lazily(path, impl_->options.load); });
}

Session::Session(std::span<const std::byte> bytes, SessionOptions options)
    : impl_(Impl::made(std::move(options))) {
  impl_->owns_weights = true;
  impl_->load([&] {
    Model model = load_model(bytes, impl_->options.load);
    share_contents(*model.graph);
    return model;
  });
}

Session::Session(Model model, SessionOptions options) : impl_(Impl::made(std::move(options))) {
  impl_->load([&] { return std::move(model); });
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::span<const ValueInfo> Session::inputs() const& {
  return impl_->inputs.required();
}
std::span<const ValueInfo> Session::optional_inputs() const& {
  return impl_->inputs.optional();
}
std::span<const ValueInfo> Session::outputs() const& {
  return impl_->outputs;
}
std::vector<ValueInfo> Session::inputs() && {
  return {impl_->inputs.required().begin(), impl_->inputs.required().end()};
}
std::vector<ValueInfo> Session::optional_inputs() && {
  return {impl_->inputs.optional().begin(), impl_->inputs.optional().end()};
}
std::vector<ValueInfo> Session::outputs() && {
  return std::move(impl_->outputs);
}
const Model& Session::model() const {
  const RunControl control = impl_->load_control();
  const ControlScope scope(control);
  impl_->session_state.weight_residency.restore(*impl_->model.graph);
  return impl_->model;
}

const Graph& Session::graph() const {
  return *impl_->model.graph;
}

const ModelMetadata& Session::metadata() const {
  return impl_->metadata;
}

std::vector<Datum> Session::run(const NamedData& inputs, const RunOptions& options) const {
  return reporting_out_of_memory([&] { return run(impl_->inputs.in_order(inputs), options); });
}

std::vector<Datum> Session::run(std::span<const Datum> inputs, const RunOptions& options) const {
  return reporting_out_of_memory([&] {
    std::vector<Datum> outputs(impl_->outputs.size());
    impl_->run(impl_->outputs_at({}), DatumPointers(inputs), outputs, options);
    return outputs;
  });
}

void Session::run_into(std::span<const Datum> inputs, std::span<OutputSlot> outputs,
                       const RunOptions& options) const {
  run_into(DatumPointers(inputs), outputs, options);
}

void Session::run_into(DatumRefs inputs, std::span<OutputSlot> outputs,
                       const RunOptions& options) const {
  if (outputs.size() != impl_->outputs.size()) {
    fail(ErrorCode::kInvalidArgument, "expected ", impl_->outputs.size(), " outputs, got ",
         outputs.size());
  }
  try {
    reporting_out_of_memory([&] {
      const auto chosen = impl_->outputs_at(options.outputs);
      if (options.outputs.empty()) return impl_->run(chosen, inputs, outputs, options);
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (std::ranges::find(options.outputs, i) == options.outputs.end()) outputs[i].take();
      }
      const auto slot_at = [&](size_t index) -> OutputSlot& { return outputs[index]; };
      impl_->run(chosen, inputs, options.outputs | std::views::transform(slot_at), options);
    });
  } catch (...) {
    for (OutputSlot& slot : outputs)
      slot.take();  // whatever it shows by now is no result
    throw;
  }
}

std::vector<Datum> Session::fetch(const NamedData& inputs, std::span<const std::string> names,
                                  const RunOptions& options) const {
  return reporting_out_of_memory(
      [&] { return fetch(impl_->inputs.in_order(inputs), names, options); });
}

std::vector<Datum> Session::fetch(std::span<const Datum> inputs, std::span<const std::string> names,
                                  const RunOptions& options) const {
  return reporting_out_of_memory(
      [&] { return impl_->fetch(DatumPointers(inputs), names, options); });
}

void Session::prepare(std::span<const Datum> inputs, const RunOptions& options) const {
  reporting_out_of_memory([&] { impl_->prepare_for(DatumPointers(inputs), options); });
}

void Session::prepare(std::span<const std::optional<Shape>> shapes,
                      const RunOptions& options) const {
  reporting_out_of_memory([&] {
    const std::vector<Datum> inputs =
        tensors_of_shapes(impl_->inputs.all(), impl_->inputs.defaults(), shapes);
    impl_->prepare_for(DatumPointers(inputs), options);
  });
}

void Session::trim() {
  impl_->session_state.trim();
}

}  // namespace sardonyx
