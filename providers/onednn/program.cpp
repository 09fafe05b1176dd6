#include "providers/onednn/program.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "ir/reloadable_buffer.h"
#include "ir/run_control.h"
#include "providers/cpu/packed_once.h"
#include "providers/onednn/openmp_scope.h"
#include "providers/onednn/packing.h"

namespace sardonyx::onednn {
namespace {

using Place = ProgramBuilder::Place;

enum class Source { kInput, kOutput, kConstant, kScratch };

struct PlaceInfo {
  Source source;
  size_t index;  // of the input, output or constant; the offset in scratch memory
  Desc desc;
  size_t offset = 0;  // bytes behind the beginning of the input or output
};

struct Step {
  Primitive description;
  ProgramBuilder::Args args;
};

struct Plan {
  std::vector<PlaceInfo> places;
  std::vector<Step> steps;
  std::vector<std::shared_ptr<const Buffer>> constants;
  std::vector<std::pair<size_t, size_t>> aliases;
  size_t scratch_bytes = 0;
  int threads = 1;
};

void check_status(dnnl_status_t status, const char* what) {
  if (status != dnnl_success) {
    fail(ErrorCode::kInternal, "oneDNN: ", what, " ended with status ", static_cast<int>(status));
  }
}

// oneDNN's memory objects for one run at a time. Setting an address costs a pass over the padding
// of a blocked layout, so it is done only where the address is another than the time before.
class Bindings {
 public:
  explicit Bindings(const Plan& plan) : addresses_(plan.places.size(), nullptr) {
    for (const PlaceInfo& place : plan.places) {
      const bool is_constant = place.source == Source::kConstant;
      void* address = is_constant ? plan.constants[place.index]->data() : DNNL_MEMORY_NONE;
      memories_.emplace_back(place.desc, cpu_engine(), address);
    }
    for (const Step& step : plan.steps) {
      std::vector<dnnl_exec_arg_t>& args = args_.emplace_back();
      for (const auto& [arg, place] : step.args)
        args.push_back({arg, memories_[place].get()});
    }
  }

  void bind(const Plan& plan, const KernelArgs& args) {
    for (size_t i = 0; i < addresses_.size(); ++i) {
      const PlaceInfo& place = plan.places[i];
      void* address = nullptr;
      switch (place.source) {
        case Source::kInput:
          address =
              const_cast<std::byte*>(static_cast<const std::byte*>(args.inputs[place.index])) +
              place.offset;
          break;
        case Source::kOutput:
          address = static_cast<std::byte*>(args.outputs[place.index]) + place.offset;
          break;
        case Source::kScratch:
          address = args.scratch + place.index;
          break;
        case Source::kConstant:
          continue;
      }
      if (address == addresses_[i]) continue;
      addresses_[i] = address;
      check_status(dnnl::dnnl_memory_set_data_handle(memories_[i].get(), address),
                   "setting an address");
    }
  }

  void execute(std::span<const dnnl::primitive> primitives) const {
    const dnnl_stream_t stream = thread_stream().get();
    for (size_t i = 0; i < primitives.size(); ++i) {
      if (i > 0) check_interrupted();
      const auto& args = args_[i];
      check_status(dnnl::dnnl_primitive_execute(primitives[i].get(), stream,
                                                static_cast<int>(args.size()), args.data()),
                   "a primitive");
    }
  }

 private:
  std::vector<memory> memories_;
  std::vector<void*> addresses_;
  std::vector<std::vector<dnnl_exec_arg_t>> args_;
};

// Hands out bindings to runs. A set is made whenever more runs than ever before go on at the same
// time.
class BindingsPool {
 public:
  ~BindingsPool() { delete first_.load(); }

  std::unique_ptr<Bindings> take(const Plan& plan) {
    if (Bindings* first = first_.exchange(nullptr, std::memory_order_acquire)) {
      return std::unique_ptr<Bindings>(first);
    }
    const std::lock_guard lock(mutex_);
    if (others_.empty()) return std::make_unique<Bindings>(plan);
    auto last = std::move(others_.back());
    others_.pop_back();
    return last;
  }
  void give_back(std::unique_ptr<Bindings> bindings) {
    Bindings* none = nullptr;
    if (first_.compare_exchange_strong(none, bindings.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
      (void)bindings.release();
      return;
    }
    const std::lock_guard lock(mutex_);
    others_.push_back(std::move(bindings));
  }

 private:
  std::atomic<Bindings*> first_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Bindings>> others_;
};

// The code of the primitives is generated in the first run: of two programs that do the same in
// different ways, often one never runs.
class ProgramKernel : public Kernel {
 public:
  explicit ProgramKernel(Plan plan) : plan_(std::move(plan)) {}

  void run(const KernelArgs& args) const override {
    const OpenMpScope threads(plan_.threads);
    std::call_once(is_generated_, [this] { generate(); });
    auto bindings = pool_.take(plan_);
    bindings->bind(plan_, args);
    bindings->execute(primitives_);
    pool_.give_back(std::move(bindings));
  }
  size_t scratch_bytes() const override { return plan_.scratch_bytes; }
  bool may_alias(size_t output, size_t input) const override {
    return std::find(plan_.aliases.begin(), plan_.aliases.end(), std::pair(output, input)) !=
           plan_.aliases.end();
  }

 private:
  void generate() const {
    std::vector<dnnl::primitive> made;
    try {
      for (const Step& step : plan_.steps)
        made.push_back(step.description.make());
    } catch (const dnnl::error& error) {
      const bool is_memory = error.status == dnnl_out_of_memory;
      fail(is_memory ? ErrorCode::kResourceExhausted : ErrorCode::kInternal,
           "oneDNN: while code is generated: ", error.message);
    }
    primitives_ = std::move(made);
  }

  const Plan plan_;
  mutable std::once_flag is_generated_;
  mutable std::vector<dnnl::primitive> primitives_;
  mutable BindingsPool pool_;
};

}  // namespace

struct ProgramBuilder::Parts : Plan {};

ProgramBuilder::ProgramBuilder(const KernelRequest& request)
    : request_(&request),
      layouts_(request.layouts),
      parts_(std::make_unique<Parts>()),
      input_layouts_(request.inputs.size()),
      output_layouts_(request.outputs.size()) {
  parts_->threads = request.threads;
}

ProgramBuilder::ProgramBuilder(int threads)
    : parts_(std::make_unique<Parts>()), input_layouts_(1), output_layouts_(1) {
  parts_->threads = threads;
}

ProgramBuilder::~ProgramBuilder() = default;

Place ProgramBuilder::input_as(size_t index, const Desc& stored) {
  return input_from(index, stored, 0);
}

Place ProgramBuilder::input_from(size_t index, const Desc& stored, size_t offset) {
  parts_->places.push_back({Source::kInput, index, stored, offset});
  return parts_->places.size() - 1;
}

std::optional<Desc> ProgramBuilder::name_of(const Desc& desc) const {
  if (layouts_) return name_(desc);
  return is_row_major(desc) ? std::optional(desc) : std::nullopt;
}

Place ProgramBuilder::input(size_t index, const Desc& wanted) {
  if (const auto name = name_of(wanted)) {
    input_layouts_[index] = layout_of(*name);
    return input_as(index, wanted);
  }
  const Desc stored = plain_desc(wanted.data_type(), wanted.dims());
  const Place reordered = scratch(wanted);
  copy(input_as(index, stored), reordered);
  return reordered;
}

void ProgramBuilder::require_layout(size_t index, const Desc& wanted) {
  const auto name = name_of(wanted);
  SARDONYX_CHECK(name);
  input_layouts_[index] = layout_of(*name);
}

Place ProgramBuilder::weights(size_t index, const Desc& stored, const Desc& wanted) {
  const Tensor* value = request_->inputs[index].constant;
  if (!value) {
    if (is_row_major(stored)) return input(index, wanted);
    if (stored == wanted) return input_as(index, stored);
    const Place reordered = scratch(wanted);
    copy(input_as(index, stored), reordered);
    return reordered;
  }
  if (stored == wanted || (is_row_major(stored) && is_row_major(wanted))) {
    return input_as(index, wanted);
  }
  return packed(index, wanted, fingerprint(stored) + ">" + fingerprint(wanted),
                [&](std::byte* to) { reorder(*value, stored, wanted, to); });
}

Place ProgramBuilder::packed(size_t index, const Desc& desc, const std::string& form,
                             const FillPack& fill) {
  SARDONYX_CHECK(request_->inputs[index].constant);
  if (index < std::numeric_limits<uint32_t>::digits) unread_ |= 1u << index;
  return constant(desc,
                  cpu::packed_once(*request_, index, "onednn:" + form, desc.get_size(), fill));
}

Place ProgramBuilder::constant(const Desc& desc, std::shared_ptr<const Buffer> values) {
  parts_->constants.push_back(std::move(values));
  parts_->places.push_back({Source::kConstant, parts_->constants.size() - 1, desc});
  return parts_->places.size() - 1;
}

Place ProgramBuilder::scratch(const Desc& desc) {
  constexpr size_t kLine = 64;
  parts_->places.push_back({Source::kScratch, parts_->scratch_bytes, desc});
  parts_->scratch_bytes += (desc.get_size() + kLine - 1) / kLine * kLine;
  return parts_->places.size() - 1;
}

Place ProgramBuilder::scratch_as(Place place, const Desc& desc) {
  const PlaceInfo& info = parts_->places[place];
  SARDONYX_CHECK(info.source == Source::kScratch && desc.get_size() <= info.desc.get_size());
  parts_->places.push_back({Source::kScratch, info.index, desc});
  return parts_->places.size() - 1;
}

Place ProgramBuilder::output(size_t index, const Desc& given) {
  if (const auto name = name_of(given)) {
    output_layouts_[index] = layout_of(*name);
    parts_->places.push_back({Source::kOutput, index, given});
    return parts_->places.size() - 1;
  }
  const Desc stored = plain_desc(given.data_type(), given.dims());
  parts_->places.push_back({Source::kOutput, index, stored});
  const Place plain = parts_->places.size() - 1;
  const Place reordered = scratch(given);
  pending_outputs_.push_back({reordered, plain});
  return reordered;
}

Place ProgramBuilder::output_as(size_t index, const Desc& stored) {
  return output_from(index, stored, 0);
}

Place ProgramBuilder::output_from(size_t index, const Desc& stored, size_t offset) {
  parts_->places.push_back({Source::kOutput, index, stored, offset});
  return parts_->places.size() - 1;
}

void ProgramBuilder::copy(Place from, Place to) {
  const MaybePrimitive made =
      reorder(parts_->places[from].desc, parts_->places[to].desc, attributes());
  if (!made) fail(ErrorCode::kInternal, "oneDNN has no reorder between two of its own layouts");
  const bool had_reference = has_reference_;
  step(*made, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  has_reference_ = had_reference;
}

void ProgramBuilder::step(const Primitive& primitive, Args args) {
  const auto is_given = [](const auto& arg) { return arg.first == DNNL_ARG_SCRATCHPAD; };
  if (primitive.scratchpad().get_size() > 0 && std::ranges::none_of(args, is_given)) {
    args.emplace_back(DNNL_ARG_SCRATCHPAD, scratch(primitive.scratchpad()));
  }
  parts_->steps.push_back({primitive, std::move(args)});
  implementation_ = primitive.implementation();
  if (primitive.is_reference()) has_reference_ = true;
}

Prepared ProgramBuilder::finish(std::string implementation) {
  if (has_reference_) return Prepared::refuse("no fast form in oneDNN");
  if (implementation.empty()) implementation = implementation_;
  for (const Pending& pending : pending_outputs_) {
    copy(pending.from, pending.to);
  }
  parts_->aliases = std::move(aliases_);
  Prepared prepared = Prepared::accept(
      std::make_unique<ProgramKernel>(std::move(static_cast<Plan&>(*parts_))), implementation);
  prepared.input_layouts = std::move(input_layouts_);
  prepared.output_layouts = std::move(output_layouts_);
  prepared.unread_inputs = unread_;
  return prepared;
}

namespace {

void reorder_by_onednn(const void* values, const Desc& from, const Desc& to, std::byte* out) {
  memory source(from, cpu_engine(), const_cast<void*>(values));
  memory target(to, cpu_engine(), out);
  dnnl::reorder(source, target).execute(thread_stream(), source, target);
}

// Where oneDNN 2.6 turns squares of 8 x 8 elements it forgets to add up what it turns. Elements
// that have their places already are not turned.
void reorder_with_sums(const void* values, const Desc& from, const Desc& to, std::byte* out) {
  const auto places = without_sums(to);
  if (!places || *places == from) return reorder_by_onednn(values, from, to, out);
  const auto placed = Buffer::allocate(places->get_size());
  reorder_by_onednn(values, from, *places, placed->data());
  reorder_by_onednn(placed->data(), *places, to, out);
}

}  // namespace

void reorder(const void* values, const Desc& from, const Desc& to, std::byte* out) {
  if (pack_weights(values, from, to, out, current_threads())) return;
  reorder_with_sums(values, from, to, out);
}

// Our own packing reads from any address.
void reorder(const Tensor& values, const Desc& from, const Desc& to, std::byte* out) {
  if (pack_weights(peek(values), from, to, out, current_threads())) return;
  bring(values);
  reorder_with_sums(values.raw(), from, to, out);
}

}  // namespace sardonyx::onednn
