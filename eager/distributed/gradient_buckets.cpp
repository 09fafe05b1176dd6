#include "eager/distributed/gradient_buckets.h"

#include <cstring>
#include <map>

#include "eager/distributed/collectives.h"
#include "ir/buffer_pool.h"

namespace sardonyx::eager::distributed {

GradientBuckets::GradientBuckets(const nn::NamedTensors& parameters, ProcessGroup group,
                                 const DataParallelOptions& options)
    : parameters_(parameters), group_(std::move(group)), options_(options) {
  std::map<DType, size_t> open;  // the bucket of a type that more may be added to
  places_.resize(parameters.size());
  for (size_t i = parameters.size(); i-- > 0;) {
    const DType dtype = parameters[i].second.dtype();
    const auto found = open.find(dtype);
    const size_t at = found != open.end() ? found->second : buckets_.size();
    if (found == open.end()) {
      buckets_.emplace_back();
      open.emplace(dtype, at);
    }
    Bucket& bucket = buckets_[at];
    constexpr int64_t kAligned = 16;  // gradients are parts of buckets: they begin at cache lines
    const int64_t begin = (bucket.count + kAligned - 1) / kAligned * kAligned;
    places_[i] = {at, bucket.parameters.size()};
    bucket.parameters.push_back(i);
    bucket.begins.push_back(begin);
    bucket.count = begin + parameters[i].second.data().count();
    const size_t limit = at == 0 ? options.first_bucket_bytes : options.bucket_bytes;
    if (bytes_for(dtype, bucket.count) >= limit) open.erase(dtype);
  }
  if (options_.host_memory && !options_.bfloat16_gradients) share_homes();
}

void GradientBuckets::share_homes() {
  size_t bytes = 0;
  for (Bucket& bucket : buckets_) {
    bucket.shared = {parameters_[bucket.parameters[0]].second.dtype(), bucket.count, bytes};
    check_reducible(bucket.shared.dtype, ReduceOp::kMean);
    bytes = bucket.shared.place(HostValue::kCopies);
  }
  host_memory_ = HostMemory::open(group_, bytes);
  if (!host_memory_) return;
  for (Bucket& bucket : buckets_) {
    for (size_t home = 0; home < bucket.homes.size(); ++home) {
      bucket.homes[home] =
          host_memory_->tensor(bucket.shared.dtype, bucket.count, bucket.shared.place(home));
    }
  }
}

void GradientBuckets::open(size_t at) {
  Bucket& bucket = buckets_[at];
  // Of a step that ended with an error; its ranks have made the call all the same.
  if (bucket.done.valid()) wait(at);
  bucket.missing = bucket.parameters.size();
  bucket.values = {};
  for (const sardonyx::Tensor& home : bucket.homes) {
    if (!is_held_alone(home.buffer())) continue;
    bucket.values = home;
    return;
  }
  const DType dtype = parameters_[bucket.parameters[0]].second.dtype();
  bucket.values = sardonyx::Tensor::zeros(dtype, {bucket.count});
  if (host_memory_) return;  // the homes are where the other ranks find them
  std::swap(bucket.homes[0], bucket.homes[1]);
  bucket.homes[0] = bucket.values;
}

void GradientBuckets::put(size_t parameter, const sardonyx::Tensor& gradient) {
  Bucket& bucket = buckets_[bucket_of(parameter)];
  const auto& [name, of] = parameters_[parameter];
  if (gradient.dtype() != bucket.values.dtype() || gradient.count() != of.data().count()) {
    fail(ErrorCode::kInvalidArgument, "DataParallel: the gradient of '", name, "' is ",
         gradient.dtype(), to_text(gradient.shape()),
         ", and its parameter was converted after DataParallel was made; make it anew");
  }
  if (gradient.bytes() > 0) std::memcpy(part_of(parameter).raw(), gradient.raw(), gradient.bytes());
  --bucket.missing;
}

void GradientBuckets::start(size_t at) {
  Bucket& bucket = buckets_[at];
  const std::string what = text("the gradients of bucket ", at);
  if (host_memory_) {
    bucket.done = start_in_host_memory(bucket, what);
    return;
  }
  const bool is_narrowed = options_.bfloat16_gradients && bucket.values.dtype() == DType::kFloat;
  bucket.done = is_narrowed ? group_.start_mean_in_bfloat16(bucket.values, what)
                            : group_.start_all_reduce(bucket.values, ReduceOp::kMean,
                                                      options_.reduction, what);
}

// Where both homes hold gradients that the program still has, a third copy takes part in place of
// the memory that the values are in.
std::future<void> GradientBuckets::start_in_host_memory(Bucket& bucket, const std::string& what) {
  size_t copy = 0;
  while (copy < bucket.homes.size() && bucket.homes[copy].raw() != bucket.values.raw())
    ++copy;
  sardonyx::Tensor elsewhere;
  if (copy == bucket.homes.size()) elsewhere = bucket.values;
  return group_.start(what, [memory = host_memory_, value = bucket.shared, copy,
                             elsewhere](const std::atomic<int>& waiting) {
    std::byte* const shared = memory->piece(memory->rank()) + value.place(copy);
    if (elsewhere) std::memcpy(shared, elsewhere.raw(), elsewhere.bytes());
    mean_in_host_memory(*memory, value, copy, waiting);
    if (elsewhere) std::memcpy(elsewhere.raw(), shared, elsewhere.bytes());
  });
}

void GradientBuckets::wait(size_t at) {
  group_.wait(buckets_[at].done);
}

sardonyx::Tensor GradientBuckets::part_of(size_t parameter) const {
  const auto [at, place] = places_[parameter];
  const int64_t begin = buckets_[at].begins[place];
  return buckets_[at].values.slice(begin, begin + parameters_[parameter].second.data().count());
}

sardonyx::Tensor GradientBuckets::mean(size_t parameter) const {
  return part_of(parameter).reshaped(parameters_[parameter].second.data().shape());
}

std::vector<bool> GradientBuckets::used_anywhere(const std::vector<int32_t>& used_here) const {
  sardonyx::Tensor used = sardonyx::Tensor::vector(used_here);
  auto done = group_.start_all_reduce(used, ReduceOp::kMax, Reduction::kRankOrder,
                                      "which parameters have a gradient");
  group_.wait(done);
  std::vector<bool> is_used;
  for (const int32_t one : used.values<int32_t>())
    is_used.push_back(one != 0);
  return is_used;
}

}  // namespace sardonyx::eager::distributed
