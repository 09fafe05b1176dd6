#include "eager/distributed/recorded_means.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "eager/distributed/collective_ops.h"

namespace sardonyx::eager::distributed {
namespace {

// Buckets of this process by the numbers that graphs have for them.
class BucketsByNumber {
 public:
  int64_t number_of(const std::shared_ptr<GradientBuckets>& buckets) {
    const std::lock_guard lock(mutex_);
    std::erase_if(buckets_, [](const auto& entry) { return entry.second.expired(); });
    for (const auto& [number, known] : buckets_) {
      if (known.lock() == buckets) return number;
    }
    buckets_.emplace(next_, buckets);
    return next_++;
  }
  std::shared_ptr<GradientBuckets> at(int64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = buckets_.find(number);
    auto buckets = found == buckets_.end() ? nullptr : found->second.lock();
    if (buckets) return buckets;
    fail(ErrorCode::kInvalidArgument,
         "the DataParallel that the step was compiled with is gone; keep it as long as the "
         "compiled step, or compile the step anew");
  }

 private:
  std::mutex mutex_;
  int64_t next_ = 0;
  std::map<int64_t, std::weak_ptr<GradientBuckets>> buckets_;
};

BucketsByNumber& buckets_by_number() {
  static auto& all = *new BucketsByNumber;
  return all;
}

struct BucketOfCall {
  explicit BucketOfCall(const EvalCall& call)
      : all(buckets_by_number().at(required_attribute<int64_t>(call, "reducer"))),
        index(static_cast<size_t>(required_attribute<int64_t>(call, "bucket"))) {
    if (index < all->size()) return;
    fail(ErrorCode::kInvalidArgument, "bucket ", index, " of ", all->size());
  }
  std::shared_ptr<GradientBuckets> all;
  size_t index;
};

void start_mean(const EvalCall& call) {
  const BucketOfCall bucket(call);
  bucket.all->open(bucket.index);
  const std::vector<size_t>& parameters = bucket.all->parameters_of(bucket.index);
  if (call.inputs.size() != parameters.size()) {
    fail(ErrorCode::kInvalidArgument, "expected the gradients of ", parameters.size(),
         " parameters, got ", call.inputs.size());
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    bucket.all->put(parameters[i], call.inputs[i].tensor());
  bucket.all->start(bucket.index);
  call.set_scalar(call.outputs[0], static_cast<int64_t>(bucket.index));
}

void finish_mean(const EvalCall& call) {
  const BucketOfCall bucket(call);
  bucket.all->wait(bucket.index);
  const std::vector<size_t>& parameters = bucket.all->parameters_of(bucket.index);
  for (size_t i = 0; i < parameters.size(); ++i)
    call.outputs[i] = Datum(bucket.all->mean(parameters[i]));
}

void find_used(const EvalCall& call) {
  const auto buckets = buckets_by_number().at(required_attribute<int64_t>(call, "reducer"));
  const auto here = required_attribute<std::vector<int64_t>>(call, "used_here");
  const std::vector<bool> used =
      buckets->used_anywhere(std::vector<int32_t>(here.begin(), here.end()));
  const Shape shape{std::ssize(used)};
  sardonyx::Tensor& anywhere = call.tensor(0, DType::kBool, shape);
  std::ranges::copy(used, anywhere.mutable_values<bool>().begin());
}

void register_rows() {
  CustomOp start = collective_op("StartMean", "(gradients...: T) -> (started: int64)");
  start.attributes = {required_int("reducer"), required_int("bucket")};
  start.compute = start_mean;
  start.infer = [](InferContext& context) { context.set(0, DType::kInt64, Dims{}); };
  register_custom_op(std::move(start));
  CustomOp used = collective_op("UsedAnywhere", "(started...0: int64) -> (used: bool)");
  used.attributes = {required_int("reducer"), required_ints("used_here")};
  used.compute = find_used;
  used.infer = [](InferContext& context) {
    const auto here = required_attribute<std::vector<int64_t>>(context, "used_here");
    context.set(0, DType::kBool, Dims{std::ssize(here)});
  };
  register_custom_op(std::move(used));
  CustomOp finish = collective_op("FinishMean", "(started: int64) -> (means...: T)");
  finish.attributes = {required_int("reducer"), required_int("bucket"), required_types()};
  finish.compute = finish_mean;
  finish.infer = infer_given_types;
  register_custom_op(std::move(finish));
}

}  // namespace

RecordedMeans::RecordedMeans(const std::shared_ptr<GradientBuckets>& buckets)
    : buckets_(buckets), number_(buckets_by_number().number_of(buckets)) {
  static std::once_flag is_registered;
  std::call_once(is_registered, register_rows);
}

Tensor RecordedMeans::start(size_t bucket, const std::vector<Tensor>& gradients) const {
  std::vector<Tensor> inputs;
  for (const size_t parameter : buckets_->parameters_of(bucket))
    inputs.push_back(gradients[parameter]);
  return recorded_call(1, "StartMean", inputs,
                       {{"reducer", number_}, {"bucket", static_cast<int64_t>(bucket)}})[0];
}

Tensor RecordedMeans::used_anywhere(const std::vector<Tensor>& started,
                                    const std::vector<bool>& used_here) const {
  const std::vector<int64_t> here(used_here.begin(), used_here.end());
  return recorded_call(1, "UsedAnywhere", started, {{"reducer", number_}, {"used_here", here}})[0];
}

std::vector<Tensor> RecordedMeans::finish(size_t bucket, const Tensor& started,
                                          const nn::NamedTensors& parameters) const {
  std::vector<Type> types;
  for (const size_t parameter : buckets_->parameters_of(bucket))
    types.push_back(parameters[parameter].second.type());
  const size_t outputs = types.size();
  return recorded_call(outputs, "FinishMean", {started},
                       {{"reducer", number_},
                        {"bucket", static_cast<int64_t>(bucket)},
                        {"types", std::move(types)}});
}

}  // namespace sardonyx::eager::distributed
