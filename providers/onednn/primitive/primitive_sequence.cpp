#include "providers/onednn/primitive/primitive_sequence.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/packed_weights.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/single_thread.h"
#include "providers/onednn/weight_reorder.h"

namespace sardonyx::onednn {
namespace {

using Place = SequenceBuilder::Place;

enum class BufferKind { kInput, kOutput, kConstant, kScratch };

struct PlaceInfo {
  BufferKind source;
  size_t index;  // of the input, output or constant; the offset in scratch memory
  Desc desc;
  size_t offset = 0;  // bytes behind the beginning of the input, output or constant
  bool is_used = false;
};

using PrimitiveCall = SequenceBuilder::PrimitiveCall;
using Step = std::vector<PrimitiveCall>;  // that run in parallel

struct SequencePlan {
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
  explicit Bindings(const SequencePlan& plan) : addresses_(plan.places.size(), nullptr) {
    const SingleThread scope;
    for (const PlaceInfo& place : plan.places) {
      const bool is_constant = place.source == BufferKind::kConstant;
      void* address =
          is_constant ? plan.constants[place.index]->data() + place.offset : DNNL_MEMORY_NONE;
      memories_.push_back(place.is_used ? memory(place.desc, cpu_engine(), address) : memory());
    }
    for (const Step& step : plan.steps) {
      std::vector<Arguments>& calls = steps_.emplace_back();
      for (const PrimitiveCall& call : step) {
        Arguments& args = calls.emplace_back();
        for (const auto& [arg, place] : call.args)
          args.push_back({arg, memories_[place].get()});
      }
    }
  }

  void bind(const SequencePlan& plan, const KernelArgs& args) {
    const SingleThread scope;
    for (size_t i = 0; i < addresses_.size(); ++i) {
      const PlaceInfo& place = plan.places[i];
      if (!place.is_used) continue;
      void* address = nullptr;
      switch (place.source) {
        case BufferKind::kInput:
          address =
              const_cast<std::byte*>(static_cast<const std::byte*>(args.inputs[place.index])) +
              place.offset;
          break;
        case BufferKind::kOutput:
          address = static_cast<std::byte*>(args.outputs[place.index]) + place.offset;
          break;
        case BufferKind::kScratch:
          address = args.scratch + place.index;
          break;
        case BufferKind::kConstant:
          continue;
      }
      if (address == addresses_[i]) continue;
      addresses_[i] = address;
      check_status(dnnl::dnnl_memory_set_data_handle(memories_[i].get(), address),
                   "setting an address");
    }
  }

  void execute(const std::vector<std::vector<dnnl::primitive>>& primitives, int threads) const {
    for (size_t step = 0; step < primitives.size(); ++step) {
      if (step > 0) check_interrupted();
      const auto count = static_cast<int64_t>(primitives[step].size());
      std::atomic<dnnl_status_t> status = dnnl_success;
      cpu::for_each_task(count, static_cast<int>(std::min<int64_t>(threads, count)),
                         cpu::kWorkPerPoll, [&](int64_t call) {
                           const auto at = static_cast<size_t>(call);
                           const dnnl_status_t own =
                               execute(primitives[step][at], steps_[step][at]);
                           if (own != dnnl_success) status.store(own, std::memory_order_relaxed);
                         });
      check_status(status, "a primitive");
    }
  }

 private:
  using Arguments = std::vector<dnnl_exec_arg_t>;

  static dnnl_status_t execute(const dnnl::primitive& primitive, const Arguments& args) {
    const SingleThread scope;
    return dnnl::dnnl_primitive_execute(primitive.get(), thread_stream().get(),
                                        static_cast<int>(args.size()), args.data());
  }

  std::vector<memory> memories_;
  std::vector<void*> addresses_;
  std::vector<std::vector<Arguments>> steps_;
};

// Hands out bindings to runs. A set is made whenever more runs than ever before go on at the same
// time.
class BindingsPool {
 public:
  ~BindingsPool() { delete first_.load(); }

  std::unique_ptr<Bindings> take(const SequencePlan& plan) {
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

// The code of the primitives is generated in the first run: of two sequences with the same result,
// often one never runs.
class SequenceKernel : public Kernel {
 public:
  explicit SequenceKernel(SequencePlan plan) : plan_(std::move(plan)) {}

  void run(const KernelArgs& args) const override {
    std::call_once(is_generated_, [this] { generate(); });
    auto bindings = pool_.take(plan_);
    bindings->bind(plan_, args);
    bindings->execute(primitives_, plan_.threads);
    pool_.give_back(std::move(bindings));
  }
  size_t scratch_bytes() const override { return plan_.scratch_bytes; }
  bool may_alias(size_t output, size_t input) const override {
    return std::find(plan_.aliases.begin(), plan_.aliases.end(), std::pair(output, input)) !=
           plan_.aliases.end();
  }

 private:
  void generate() const {
    std::vector<std::vector<dnnl::primitive>> made;
    try {
      for (const Step& step : plan_.steps) {
        std::vector<dnnl::primitive>& calls = made.emplace_back();
        for (const PrimitiveCall& call : step)
          calls.push_back(call.primitive.make());
      }
    } catch (const dnnl::error& error) {
      const bool is_memory = error.status == dnnl_out_of_memory;
      fail(is_memory ? ErrorCode::kResourceExhausted : ErrorCode::kInternal,
           "oneDNN: while code is generated: ", error.message);
    }
    primitives_ = std::move(made);
  }

  const SequencePlan plan_;
  mutable std::once_flag is_generated_;
  mutable std::vector<std::vector<dnnl::primitive>> primitives_;
  mutable BindingsPool pool_;
};

}  // namespace

struct SequenceBuilder::Parts : SequencePlan {};

SequenceBuilder::SequenceBuilder(const KernelRequest& request)
    : request_(&request),
      layouts_(request.layouts),
      parts_(std::make_unique<Parts>()),
      input_layouts_(request.inputs.size()),
      output_layouts_(request.outputs.size()) {
  parts_->threads = request.threads;
}

SequenceBuilder::SequenceBuilder(int threads)
    : parts_(std::make_unique<Parts>()), input_layouts_(1), output_layouts_(1) {
  parts_->threads = threads;
}

SequenceBuilder::~SequenceBuilder() = default;

Place SequenceBuilder::input_as(size_t index, const Desc& stored) {
  return input_from(index, stored, 0);
}

Place SequenceBuilder::input_from(size_t index, const Desc& stored, size_t offset) {
  parts_->places.push_back({BufferKind::kInput, index, stored, offset});
  return parts_->places.size() - 1;
}

std::optional<Desc> SequenceBuilder::name_of(const Desc& desc) const {
  if (layouts_) return name_(desc);
  return is_row_major(desc) ? std::optional(desc) : std::nullopt;
}

Place SequenceBuilder::input(size_t index, const Desc& wanted) {
  if (const auto name = name_of(wanted)) {
    input_layouts_[index] = layout_of(*name);
    return input_as(index, wanted);
  }
  const Desc stored = plain_desc(wanted.data_type(), wanted.dims());
  const Place reordered = scratch(wanted);
  copy(input_as(index, stored), reordered);
  return reordered;
}

void SequenceBuilder::require_layout(size_t index, const Desc& wanted) {
  const auto name = name_of(wanted);
  SARDONYX_CHECK(name);
  input_layouts_[index] = layout_of(*name);
}

Place SequenceBuilder::weights(size_t index, const Desc& stored, const Desc& wanted) {
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
                [&](std::byte* to) { reorder(*value, stored, wanted, to, request_->threads); });
}

Place SequenceBuilder::packed(size_t index, const Desc& desc, const std::string& form,
                              const FillPack& fill) {
  SARDONYX_CHECK(request_->inputs[index].constant);
  if (index < std::numeric_limits<uint32_t>::digits) unread_ |= 1u << index;
  return constant(desc,
                  cpu::packed_once(*request_, index, "onednn:" + form, desc.get_size(), fill));
}

Place SequenceBuilder::constant(const Desc& desc, std::shared_ptr<const Buffer> values) {
  parts_->constants.push_back(std::move(values));
  parts_->places.push_back({BufferKind::kConstant, parts_->constants.size() - 1, desc});
  return parts_->places.size() - 1;
}

Place SequenceBuilder::scratch(const Desc& desc) {
  constexpr size_t kLine = 64;
  parts_->places.push_back({BufferKind::kScratch, parts_->scratch_bytes, desc});
  parts_->scratch_bytes += (desc.get_size() + kLine - 1) / kLine * kLine;
  return parts_->places.size() - 1;
}

Place SequenceBuilder::scratch_as(Place place, const Desc& desc) {
  const PlaceInfo& info = parts_->places[place];
  SARDONYX_CHECK(info.source == BufferKind::kScratch && desc.get_size() <= info.desc.get_size());
  parts_->places.push_back({BufferKind::kScratch, info.index, desc});
  return parts_->places.size() - 1;
}

Place SequenceBuilder::output(size_t index, const Desc& given) {
  if (const auto name = name_of(given)) {
    output_layouts_[index] = layout_of(*name);
    parts_->places.push_back({BufferKind::kOutput, index, given});
    return parts_->places.size() - 1;
  }
  const Desc stored = plain_desc(given.data_type(), given.dims());
  parts_->places.push_back({BufferKind::kOutput, index, stored});
  const Place plain = parts_->places.size() - 1;
  const Place reordered = scratch(given);
  pending_outputs_.push_back({reordered, plain});
  return reordered;
}

Place SequenceBuilder::output_as(size_t index, const Desc& stored) {
  return output_from(index, stored, 0);
}

Place SequenceBuilder::output_from(size_t index, const Desc& stored, size_t offset) {
  parts_->places.push_back({BufferKind::kOutput, index, stored, offset});
  return parts_->places.size() - 1;
}

int SequenceBuilder::threads() const {
  return parts_->threads;
}

Place SequenceBuilder::part_of(Place place, const DescSlice& slice) {
  PlaceInfo part = parts_->places[place];
  part.desc = slice.desc;
  (part.source == BufferKind::kScratch ? part.index : part.offset) += slice.offset;
  parts_->places.push_back(std::move(part));
  return parts_->places.size() - 1;
}

SequenceBuilder::PrimitiveCall SequenceBuilder::copy_call(const Copy& copy) const {
  const MaybePrimitive made =
      reorder(parts_->places[copy.from].desc, parts_->places[copy.to].desc, attributes());
  if (!made) fail(ErrorCode::kInternal, "oneDNN has no reorder between two of its own layouts");
  return {*made, {{DNNL_ARG_FROM, copy.from}, {DNNL_ARG_TO, copy.to}}};
}

// Copies are reorders, which may be reference implementations.
void SequenceBuilder::copy(const std::vector<Copy>& copies) {
  std::vector<PrimitiveCall> calls;
  for (const Copy& copy : copies)
    calls.push_back(copy_call(copy));
  const bool had_reference = has_reference_;
  step(std::move(calls));
  has_reference_ = had_reference;
}

void SequenceBuilder::copy(Place from, Place to) {
  const PrimitiveCall whole = copy_call({from, to});
  const bool had_reference = has_reference_;
  step(whole.primitive, whole.args,
       work_of_copy(parts_->places[from].desc, parts_->places[to].desc));
  has_reference_ = had_reference;
}

void SequenceBuilder::step(const Primitive& primitive, Args args, const Work& work) {
  step(primitive, std::move(args), parts_of(work, primitive, parts_->threads));
}

void SequenceBuilder::step(const Primitive& primitive, Args args,
                           const std::vector<PrimitivePart>& parts) {
  if (parts.empty()) return step(std::vector<PrimitiveCall>{{primitive, std::move(args)}});
  step(parts, std::vector<Args>(parts.size(), args));
}

void SequenceBuilder::step(const std::vector<PrimitivePart>& parts, const std::vector<Args>& args) {
  std::vector<PrimitiveCall> calls;
  for (size_t part = 0; part < parts.size(); ++part) {
    PrimitiveCall& call = calls.emplace_back(PrimitiveCall{parts[part].primitive, args[part]});
    for (auto& [arg, place] : call.args) {
      const auto& slices = parts[part].slices;
      const auto own = std::ranges::find(slices, arg, &std::pair<int, DescSlice>::first);
      if (own != slices.end()) place = part_of(place, own->second);
    }
  }
  step(std::move(calls));
}

void SequenceBuilder::step(std::vector<PrimitiveCall> calls) {
  const auto is_given = [](const auto& arg) { return arg.first == DNNL_ARG_SCRATCHPAD; };
  for (auto& [primitive, args] : calls) {
    if (primitive.scratchpad().get_size() > 0 && std::ranges::none_of(args, is_given))
      args.emplace_back(DNNL_ARG_SCRATCHPAD, scratch(primitive.scratchpad()));
    for (const auto& [arg, place] : args)
      parts_->places[place].is_used = true;
    if (primitive.is_reference()) has_reference_ = true;
  }
  implementation_ = calls.front().primitive.implementation();
  parts_->steps.push_back(std::move(calls));
}

Prepared SequenceBuilder::finish(std::string implementation) {
  if (has_reference_) return Prepared::refuse("no fast form in oneDNN");
  if (implementation.empty()) implementation = implementation_;
  for (const Copy& pending : pending_outputs_) {
    copy(pending.from, pending.to);
  }
  parts_->aliases = std::move(aliases_);
  Prepared prepared = Prepared::accept(
      std::make_unique<SequenceKernel>(std::move(static_cast<SequencePlan&>(*parts_))),
      implementation);
  prepared.input_layouts = std::move(input_layouts_);
  prepared.output_layouts = std::move(output_layouts_);
  prepared.unread_inputs = unread_;
  return prepared;
}

namespace {

// The address of a part's elements within the memory of the whole.
std::byte* part_address(std::byte* whole, const PrimitivePart& part, int argument) {
  const auto own = std::ranges::find(part.slices, argument, &std::pair<int, DescSlice>::first);
  return own == part.slices.end() ? whole : whole + own->second.offset;
}

void execute_reorder(const PrimitivePart& part, std::byte* from, std::byte* to) {
  const SingleThread scope;
  const auto pad = Buffer::allocate(part.primitive.scratchpad().get_size());
  const auto place = [&](const Desc& desc, std::byte* address) {
    return memory(desc, cpu_engine(), address);
  };
  part.primitive.make().execute(
      thread_stream(),
      {{DNNL_ARG_FROM, place(part.primitive.src(), part_address(from, part, DNNL_ARG_FROM))},
       {DNNL_ARG_TO, place(part.primitive.dst(), part_address(to, part, DNNL_ARG_TO))},
       {DNNL_ARG_SCRATCHPAD, place(part.primitive.scratchpad(), pad->data())}});
}

void reorder_by_onednn(const void* values, const Desc& from, const Desc& to, std::byte* out,
                       int threads) {
  const MaybePrimitive whole = reorder(from, to, attributes());
  if (!whole) fail(ErrorCode::kInternal, "oneDNN has no reorder between two of its own layouts");
  std::vector<PrimitivePart> parts = parts_of(work_of_copy(from, to), *whole, threads);
  if (parts.empty()) parts.push_back({*whole, {}});
  auto* source = const_cast<std::byte*>(static_cast<const std::byte*>(values));
  std::vector<std::exception_ptr> errors(parts.size());
  // Packing ignores the deadline, since an abandoned one would be lost.
  cpu::parallel_run(threads, [&](int64_t share, int64_t shares, const cpu::CancelFlag&) {
    for (auto at = static_cast<size_t>(share); at < parts.size();
         at += static_cast<size_t>(shares)) {
      try {
        execute_reorder(parts[at], source, out);
      } catch (...) {
        errors[at] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

// A reorder of oneDNN 2.6 that transposes blocks of 8 x 8 elements omits them from the compensation
// sums. Elements that are in order already are not transposed.
void reorder_with_sums(const void* values, const Desc& from, const Desc& to, std::byte* out,
                       int threads) {
  const auto places = without_sums(to);
  if (!places || *places == from) return reorder_by_onednn(values, from, to, out, threads);
  const auto placed = Buffer::allocate(places->get_size());
  reorder_by_onednn(values, from, *places, placed->data(), threads);
  reorder_by_onednn(placed->data(), *places, to, out, threads);
}

}  // namespace

void reorder(const void* values, const Desc& from, const Desc& to, std::byte* out, int threads) {
  if (pack_weights(values, from, to, out, threads)) return;
  reorder_with_sums(values, from, to, out, threads);
}

// Our own packing reads from any address.
void reorder(const Tensor& values, const Desc& from, const Desc& to, std::byte* out, int threads) {
  if (pack_weights(peek(values), from, to, out, threads)) return;
  load_weight(values);
  reorder_with_sums(values.raw(), from, to, out, threads);
}

}  // namespace sardonyx::onednn
