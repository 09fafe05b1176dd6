#include "eager/distributed/data_parallel.h"

#include <optional>
#include <sstream>

#include "eager/autograd/post_accumulate.h"
#include "eager/create.h"
#include "eager/distributed/collective_ops.h"
#include "eager/distributed/recorded_means.h"
#include "eager/nn/normalization.h"
#include "eager/tensor_impl.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::distributed {
namespace {

// One line for each tensor: what must be the same on all ranks.
std::vector<std::string> registration_lines(const nn::Module& module) {
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : module.named_parameters()) {
    lines.push_back(text("parameter '", name, "' ", tensor.type(),
                         tensor.requires_grad() ? "" : ", not trained"));
  }
  for (const auto& [name, tensor] : module.named_buffers())
    lines.push_back(text("buffer '", name, "' ", tensor.type()));
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

void check_registration(const nn::Module& module, const ProcessGroup& group) {
  std::string all;
  for (const std::string& line : registration_lines(module))
    all += line + '\n';
  const std::vector<std::string> by_rank = group.all_gather(all);
  const std::vector<std::string> wanted = lines_of(by_rank[0]);
  for (size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (by_rank[rank] == by_rank[0]) continue;
    const std::vector<std::string> there = lines_of(by_rank[rank]);
    size_t at = 0;
    while (at < wanted.size() && at < there.size() && wanted[at] == there[at])
      ++at;
    const auto line_at = [&](const std::vector<std::string>& lines) {
      return at < lines.size() ? lines[at] : std::string("nothing more");
    };
    fail(ErrorCode::kInvalidArgument, "DataParallel: ranks have different modules: tensor ", at,
         " is ", line_at(wanted), " on rank 0, but ", line_at(there), " on rank ", rank,
         "; every rank registers the same parameters and buffers in the same order");
  }
}

}  // namespace

// The gradients that a backward() within a trace has computed so far.
struct TracedBackward {
  const TraceContext* frame = nullptr;
  std::vector<Tensor> gradients;  // by parameter
  std::vector<size_t> missing;    // by bucket
  std::vector<Tensor> started;    // buckets, in order
};

struct GradientReducer::State {
  State(const nn::Module& the_module, ProcessGroup the_group,
        const DataParallelOptions& the_options)
      : module(the_module), group(std::move(the_group)), options(the_options) {}
  ~State() {
    for (const auto& [parameter, number] : hooks)
      remove_post_accumulate_hook(parameter, number);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void begin_backward(const std::shared_ptr<State>& self) {
    call_after_backward([self] { self->finish_backward(); });
    is_in_backward = true;
    expect_all();
  }

  void expect_all() {
    next = 0;
    has_come.assign(parameters.size(), false);
    for (size_t at = 0; at < buckets->size(); ++at)
      buckets->open(at);
  }

  void gradient_came(const std::shared_ptr<State>& self, size_t index) {
    note_syncing(self);
    if (!is_syncing) return;
    const Tensor gradient = parameters[index].second.grad();
    if (gradient.is_symbolic()) return traced_gradient_came(self, index, gradient);
    if (!is_in_backward) begin_backward(self);
    if (has_come[index]) refuse_twice(index);
    has_come[index] = true;
    buckets->put(index, gradient.data());
    start_full_buckets();
  }

  [[noreturn]] void refuse_twice(size_t index) const {
    fail(ErrorCode::kInvalidArgument, "DataParallel: the gradient of '", parameters[index].first,
         "' came twice; an earlier backward() of this rank ended with an error, and the ranks "
         "are no longer at the same point");
  }

  // In the order of the buckets on all ranks, whatever the order in which they fill up.
  void start_full_buckets() {
    for (; next < buckets->size() && buckets->is_full(next); ++next)
      buckets->start(next);
  }

  void finish_backward() {
    is_in_backward = false;
    if (options.find_unused_parameters) {
      take_means(buckets->used_anywhere(fill_missing()));
    } else {
      check_all_came(has_come, "set find_unused_parameters");
      take_means(std::vector<bool>(parameters.size(), true));
    }
  }

  void step_without_batch() {
    expect_all();
    const std::vector<int32_t> came = fill_missing();
    take_means(options.find_unused_parameters ? buckets->used_anywhere(came)
                                              : std::vector<bool>(parameters.size(), true));
  }

  void take_means(const std::vector<bool>& is_used) {
    for (size_t at = 0; at < buckets->size(); ++at) {
      buckets->wait(at);
      for (const size_t index : buckets->parameters_of(at)) {
        if (is_used[index]) parameters[index].second.set_grad(Tensor(buckets->mean(index)));
      }
    }
  }

  void check_all_came(const std::vector<bool>& came, const char* remedy) const {
    std::string names;
    size_t missing = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
      constexpr size_t kMostNames = 5;
      if (came[i] || ++missing > kMostNames) continue;
      names += (names.empty() ? "'" : ", '") + parameters[i].first + "'";
    }
    if (missing == 0) return;
    fail(ErrorCode::kInvalidArgument, "DataParallel: rank ", group.rank(),
         ": backward() brought no "
         "gradient for ",
         missing, " of ", parameters.size(), " parameters: ", names, missing > 5 ? ", ..." : "",
         "; ", remedy, ", or leave them out of training by set_requires_grad(false)");
  }

  // Zeros, or what earlier local backward() calls left, where nothing came; tells which parameters
  // this rank has a gradient for.
  std::vector<int32_t> fill_missing() {
    std::vector<int32_t> came;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& parameter = parameters[i].second;
      const Tensor gradient = parameter.grad();
      came.push_back(has_come[i] || gradient.defined());
      if (has_come[i]) continue;
      buckets->put(i, gradient.defined()
                          ? gradient.data()
                          : sardonyx::Tensor::zeros(parameter.dtype(), parameter.data().shape()));
    }
    start_full_buckets();
    return came;
  }

  // A compiled step holds for the state that no_sync() is in outside of it.
  void note_syncing(const std::shared_ptr<State>& self) const {
    TraceContext* frame = TraceContext::active();
    if (!frame || traced_no_syncs > 0) return;
    frame->root().guards.note(
        {self.get(), 's'}, [weak = std::weak_ptr(self), was = is_syncing]() -> std::string {
          const auto state = weak.lock();
          if (!state || state->is_syncing == was) return "";
          return text("no_sync() of DataParallel is ", was ? "" : "not ", "in effect now");
        });
  }

  void traced_gradient_came(const std::shared_ptr<State>& self, size_t index,
                            const Tensor& gradient) {
    if (collective_place("DataParallel: backward()") == CollectivePlace::kLeftOut) return;
    if (!traced || traced->frame != TraceContext::active()) {
      begin_traced();
      call_after_backward([self] { self->finish_traced_backward(); });
    }
    if (traced->gradients[index].defined()) refuse_twice(index);
    put_traced(index, gradient);
  }

  // What a trace that ended with an error has left is forgotten.
  void begin_traced() {
    traced.emplace();
    traced->frame = TraceContext::active();
    traced->gradients.resize(parameters.size());
    for (size_t at = 0; at < buckets->size(); ++at)
      traced->missing.push_back(buckets->parameters_of(at).size());
  }

  void put_traced(size_t index, const Tensor& gradient) {
    traced->gradients[index] = gradient;
    --traced->missing[buckets->bucket_of(index)];
    std::vector<Tensor>& started = traced->started;
    while (started.size() < buckets->size() && traced->missing[started.size()] == 0)
      started.push_back(RecordedMeans(buckets).start(started.size(), traced->gradients));
  }

  void finish_traced_backward() {
    std::vector<bool> came;
    for (const Tensor& gradient : traced->gradients)
      came.push_back(gradient.defined());
    if (!options.find_unused_parameters) {
      try {
        check_all_came(came, "set find_unused_parameters");
      } catch (...) {
        traced.reset();
        throw;
      }
    }
    take_traced_means(fill_missing_in_trace());
  }

  // As fill_missing().
  std::vector<bool> fill_missing_in_trace() {
    std::vector<bool> came;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (traced->gradients[i].defined()) {
        came.push_back(true);
        continue;
      }
      const Tensor& parameter = parameters[i].second;
      const Tensor gradient = parameter.grad();
      came.push_back(gradient.defined());
      put_traced(i, gradient.defined() ? gradient
                                       : zeros(parameter.shape(), {.dtype = parameter.dtype()}));
    }
    return came;
  }

  // Of a parameter that this rank has no gradient for, whether others have is known in the run.
  void take_traced_means(const std::vector<bool>& came) {
    const TracedBackward done = *std::exchange(traced, std::nullopt);
    const RecordedMeans means(buckets);
    Tensor used;
    if (options.find_unused_parameters) used = means.used_anywhere(done.started, came);
    for (size_t at = 0; at < buckets->size(); ++at) {
      const std::vector<Tensor> of_bucket = means.finish(at, done.started[at], parameters);
      for (size_t i = 0; i < of_bucket.size(); ++i) {
        const size_t index = buckets->parameters_of(at)[i];
        const Tensor& parameter = parameters[index].second;
        parameter.set_grad(of_bucket[i]);
        if (came[index] || !used.defined()) continue;
        eager::detail::keep_gradient_where(
            *parameter.impl(), used.select(0, static_cast<int64_t>(index)), of_bucket[i]);
      }
    }
  }

  void trace_step_without_batch() {
    begin_traced();
    take_traced_means(fill_missing_in_trace());
  }

  nn::Module module;
  ProcessGroup group;
  DataParallelOptions options;
  nn::NamedTensors parameters;
  std::vector<std::pair<Tensor, size_t>> hooks;
  std::shared_ptr<GradientBuckets> buckets;  // null: one rank
  std::vector<bool> has_come;
  size_t next = 0;  // the first bucket that is not sent yet
  bool is_syncing = true, is_in_backward = false;
  std::optional<TracedBackward> traced;
  int traced_no_syncs = 0;  // that stand in the function that is being traced
};

GradientReducer::GradientReducer(const nn::Module& module, ProcessGroup group,
                                 const DataParallelOptions& options)
    : state_(std::make_shared<State>(module, std::move(group), options)) {
  State& state = *state_;
  if (state.group.size() == 1) return;  // nothing to do, and nothing to pay for
  check_registration(module, state.group);
  std::vector<Tensor> all = module.parameters();
  const std::vector<Tensor> buffers = module.buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  state.group.broadcast(all);
  for (const auto& [name, parameter] : module.named_parameters()) {
    if (parameter.requires_grad()) state.parameters.emplace_back(name, parameter);
  }
  state.buckets = std::make_shared<GradientBuckets>(state.parameters, state.group, state.options);
  const std::weak_ptr<State> weak = state_;
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    const Tensor& parameter = state.parameters[i].second;
    state.hooks.emplace_back(parameter,
                             register_post_accumulate_hook(parameter, [weak, i](const Tensor&) {
                               if (const auto self = weak.lock()) self->gradient_came(self, i);
                             }));
  }
}

size_t GradientReducer::bucket_count() const {
  return state_->buckets ? state_->buckets->size() : 0;
}

bool GradientReducer::uses_host_memory() const {
  return state_->buckets && state_->buckets->uses_host_memory();
}

void GradientReducer::before_call() const {
  const State& state = *state_;
  if (state.group.size() == 1 || !state.options.broadcast_buffers) return;
  state.note_syncing(state_);
  if (!state.is_syncing || !state.module.is_training()) return;
  const std::vector<Tensor> buffers = state.module.buffers();
  if (!buffers.empty()) state.group.broadcast(buffers);
}

bool GradientReducer::any_has_batch(bool has_batch) const {
  refuse_in_compiled_step("DataParallel: any_has_batch()");
  const Tensor own = Tensor::scalar<int32_t>(has_batch);
  return state_->group.all_reduce(own, ReduceOp::kMax).item<int32_t>() != 0;
}

void GradientReducer::step_without_batch() const {
  if (state_->group.size() == 1) return;
  for (const auto& [path, module] : state_->module.named_modules()) {
    if (!nn::has_batch_computation(module)) continue;
    fail(ErrorCode::kUnsupported,
         "DataParallel: step_without_batch() of a model whose batch norm '", path,
         "' takes statistics of all ranks; call the model with a batch of no rows, and "
         "backward() on what it gives");
  }
  before_call();
  switch (collective_place("DataParallel: step_without_batch()")) {
    case CollectivePlace::kNow:
      return state_->step_without_batch();
    case CollectivePlace::kInGraph:
      return state_->trace_step_without_batch();
    case CollectivePlace::kLeftOut:
      return;
  }
}

GradientReducer::NoSync GradientReducer::no_sync() const {
  return NoSync(state_);
}

GradientReducer::NoSync::NoSync(std::shared_ptr<State> state)
    : state_(std::move(state)),
      before_(state_->is_syncing),
      is_traced_(TraceContext::active() != nullptr) {
  state_->is_syncing = false;
  state_->traced_no_syncs += is_traced_;
}
GradientReducer::NoSync::~NoSync() {
  state_->is_syncing = before_;
  state_->traced_no_syncs -= is_traced_;
}

}  // namespace sardonyx::eager::distributed
