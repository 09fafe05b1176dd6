#include "eager/distributed/data_parallel.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>

#include "eager/autograd/post_accumulate.h"
#include "eager/nn/normalization.h"

namespace sardonyx::eager::distributed {
namespace {

// Parameters whose gradients are reduced in one call.
struct Bucket {
  std::vector<size_t> parameters;
  std::vector<int64_t> begins;  // elements of each in `values`
  sardonyx::Tensor values;
  size_t missing = 0;  // gradients that have not come yet
  bool is_started = false;
  std::future<void> done;
};

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

  // From the last parameter to the first, which is about the order in which gradients come. A
  // bucket has one element type.
  void make_buckets() {
    std::map<DType, size_t> open;  // the bucket of a type that more may be added to
    bucket_of.resize(parameters.size());
    for (size_t i = parameters.size(); i-- > 0;) {
      const DType dtype = parameters[i].second.dtype();
      const auto found = open.find(dtype);
      const size_t at = found != open.end() ? found->second : buckets.size();
      if (found == open.end()) {
        buckets.emplace_back();
        open.emplace(dtype, at);
      }
      Bucket& bucket = buckets[at];
      constexpr int64_t kAligned = 16;  // gradients are parts of buckets: they begin at cache lines
      counts.resize(buckets.size());
      const int64_t begin = (counts[at] + kAligned - 1) / kAligned * kAligned;
      bucket_of[i] = {at, bucket.parameters.size()};
      bucket.parameters.push_back(i);
      bucket.begins.push_back(begin);
      counts[at] = begin + parameters[i].second.data().count();
      const size_t limit = at == 0 ? options.first_bucket_bytes : options.bucket_bytes;
      if (bytes_for(dtype, counts[at]) >= limit) open.erase(dtype);
    }
  }

  // Means of the step before may still be held as gradients; else the memory serves again.
  void make_buffer(size_t at) {
    sardonyx::Tensor& values = buckets[at].values;
    if (values.defined() && values.buffer().use_count() == 1) return;
    const DType dtype = parameters[buckets[at].parameters[0]].second.dtype();
    values = sardonyx::Tensor::zeros(dtype, {counts[at]});
  }

  void begin_backward(const std::shared_ptr<State>& self) {
    call_after_backward([self] { self->finish_backward(); });
    is_in_backward = true;
    expect_all();
  }

  void expect_all() {
    next = 0;
    has_come.assign(parameters.size(), false);
    for (size_t at = 0; at < buckets.size(); ++at) {
      make_buffer(at);
      buckets[at].missing = buckets[at].parameters.size();
      buckets[at].is_started = false;
    }
  }

  void gradient_came(const std::shared_ptr<State>& self, size_t index) {
    if (!is_syncing) return;
    if (!is_in_backward) begin_backward(self);
    if (has_come[index]) {
      fail(ErrorCode::kInvalidArgument, "DataParallel: the gradient of '", parameters[index].first,
           "' came twice; an earlier backward() of this rank ended with an error, and the ranks "
           "are no longer at the same point");
    }
    const Tensor gradient = parameters[index].second.grad();
    if (gradient.is_symbolic()) {
      fail(ErrorCode::kUnsupported, "DataParallel: the gradient of '", parameters[index].first,
           "' is part of a trace; compiled steps can't average gradients, run the step eagerly");
    }
    has_come[index] = true;
    put(index, gradient.data());
    start_full_buckets();
  }

  void put(size_t index, const sardonyx::Tensor& gradient) {
    const auto [at, place] = bucket_of[index];
    Bucket& bucket = buckets[at];
    if (gradient.dtype() != bucket.values.dtype() ||
        gradient.count() != parameters[index].second.data().count()) {
      fail(ErrorCode::kInvalidArgument, "DataParallel: the gradient of '", parameters[index].first,
           "' is ", gradient.dtype(), to_text(gradient.shape()),
           ", and its parameter was converted after DataParallel was made; make it anew");
    }
    sardonyx::Tensor part =
        bucket.values.slice(bucket.begins[place], bucket.begins[place] + gradient.count());
    if (gradient.bytes() > 0) std::memcpy(part.raw(), gradient.raw(), gradient.bytes());
    --bucket.missing;
  }

  // In the order of the buckets on all ranks, whatever the order in which they fill up.
  void start_full_buckets() {
    for (; next < buckets.size() && buckets[next].missing == 0; ++next) {
      Bucket& bucket = buckets[next];
      const std::string what = text("the gradients of bucket ", next);
      const bool is_narrowed = options.bfloat16_gradients && bucket.values.dtype() == DType::kFloat;
      bucket.done = is_narrowed ? group.start_mean_in_bfloat16(bucket.values, what)
                                : group.start_all_reduce(bucket.values, ReduceOp::kMean,
                                                         options.reduction, what);
      bucket.is_started = true;
    }
  }

  void finish_backward() {
    is_in_backward = false;
    if (options.find_unused_parameters) {
      take_means(used_anywhere(fill_missing()));
    } else {
      check_all_came();
      take_means(std::vector<bool>(parameters.size(), true));
    }
  }

  void step_without_batch() {
    expect_all();
    const std::vector<int32_t> came = fill_missing();
    take_means(options.find_unused_parameters ? used_anywhere(came)
                                              : std::vector<bool>(parameters.size(), true));
  }

  void take_means(const std::vector<bool>& is_used) {
    for (size_t at = 0; at < buckets.size(); ++at) {
      group.wait(buckets[at].done);
      take_back(buckets[at], is_used);
    }
  }

  void check_all_came() const {
    std::string names;
    size_t missing = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
      constexpr size_t kMostNames = 5;
      if (has_come[i] || ++missing > kMostNames) continue;
      names += (names.empty() ? "'" : ", '") + parameters[i].first + "'";
    }
    if (missing == 0) return;
    fail(ErrorCode::kInvalidArgument, "DataParallel: rank ", group.rank(),
         ": backward() brought no "
         "gradient for ",
         missing, " of ", parameters.size(), " parameters: ", names, missing > 5 ? ", ..." : "",
         "; set find_unused_parameters, or leave them out of training by set_requires_grad(false)");
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
      put(i, gradient.defined()
                 ? gradient.data()
                 : sardonyx::Tensor::zeros(parameter.dtype(), parameter.data().shape()));
    }
    start_full_buckets();
    return came;
  }
  // Which of them some rank has a gradient for.
  std::vector<bool> used_anywhere(const std::vector<int32_t>& came) const {
    const auto count = static_cast<int64_t>(came.size());
    const Tensor anywhere = group.all_reduce(Tensor::of(came, {count}), ReduceOp::kMax);
    std::vector<bool> is_used;
    for (const int32_t one : anywhere.to_vector<int32_t>())
      is_used.push_back(one != 0);
    return is_used;
  }

  void take_back(const Bucket& bucket, const std::vector<bool>& is_used) {
    for (size_t place = 0; place < bucket.parameters.size(); ++place) {
      const size_t index = bucket.parameters[place];
      if (!is_used[index]) continue;
      const Tensor& parameter = parameters[index].second;
      const int64_t begin = bucket.begins[place];
      const sardonyx::Tensor mean = bucket.values.slice(begin, begin + parameter.data().count());
      parameter.set_grad(Tensor(mean.reshaped(parameter.data().shape())));
    }
  }

  nn::Module module;
  ProcessGroup group;
  DataParallelOptions options;
  nn::NamedTensors parameters;
  std::vector<std::pair<Tensor, size_t>> hooks;
  std::vector<Bucket> buckets;
  std::vector<int64_t> counts;                       // elements of each bucket
  std::vector<std::pair<size_t, size_t>> bucket_of;  // of each parameter: bucket, place in it
  std::vector<bool> has_come;
  size_t next = 0;  // the first bucket that is not sent yet
  bool is_syncing = true, is_in_backward = false;
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
  state.make_buckets();
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
  return state_->buckets.size();
}

void GradientReducer::before_call() const {
  const State& state = *state_;
  if (state.group.size() == 1 || !state.options.broadcast_buffers || !state.is_syncing ||
      !state.module.is_training())
    return;
  const std::vector<Tensor> buffers = state.module.buffers();
  if (!buffers.empty()) state.group.broadcast(buffers);
}

bool GradientReducer::any_has_batch(bool has_batch) const {
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
  state_->step_without_batch();
}

GradientReducer::NoSync GradientReducer::no_sync() const {
  return NoSync(state_);
}

GradientReducer::NoSync::NoSync(std::shared_ptr<State> state)
    : state_(std::move(state)), before_(state_->is_syncing) {
  state_->is_syncing = false;
}
GradientReducer::NoSync::~NoSync() {
  state_->is_syncing = before_;
}

}  // namespace sardonyx::eager::distributed
