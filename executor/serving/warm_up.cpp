// Runs before a model is ready, as its configuration asks for.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <random>

#include "executor/serving/datatype.h"
#include "executor/serving/served_model.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::serving {
namespace {

Tensor random_tensor(DType dtype, Shape shape) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  if (dtype == DType::kString) return tensor;  // zeros of strings are empty ones
  std::minstd_rand engine(1);
  std::uniform_real_distribution<double> uniform(0, 2);
  std::array<double, 512> numbers;
  for (int64_t at = 0; at < tensor.count();) {
    const int64_t now = std::min<int64_t>(tensor.count() - at, numbers.size());
    for (double& number : numbers)
      number = uniform(engine);
    convert_numbers(DType::kDouble, numbers.data(), dtype,
                    static_cast<std::byte*>(tensor.raw()) + bytes_for(dtype, at), now);
    at += now;
  }
  return tensor;
}

Tensor warm_up_tensor(const WarmupConfig::Input& input, Shape shape,
                      const std::filesystem::path& folder) {
  switch (input.data) {
    case WarmupConfig::Input::Data::kRandom:
      return random_tensor(input.dtype, std::move(shape));
    case WarmupConfig::Input::Data::kFile: {
      const std::filesystem::path path = folder / "warmup" / input.file;
      std::ifstream file(path, std::ios::binary);
      if (!file)
        refuse(Status::kInvalidArgument, "warm-up data '", path.string(), "' can't be read");
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      return tensor_from_binary(input.dtype, std::move(shape), std::as_bytes(std::span(bytes)),
                                path.string());
    }
    default:
      return Tensor::zeros(input.dtype, std::move(shape));
  }
}

}  // namespace

void ServedModel::warm_up(const std::filesystem::path& folder, const std::stop_token& cancel) {
  RunOptions options;
  options.cancel = cancel;
  for (const WarmupConfig& warmup : config_.warmup) {
    const std::string where = text("model_warmup '", warmup.name, "'");
    const bool has_batch = config_.max_batch_size > 0;
    if (warmup.batch > std::max<int64_t>(config_.max_batch_size, 1) && !config_.is_derived) {
      refuse(Status::kInvalidArgument, where, ": batch_size ", warmup.batch,
             ", but max_batch_size is ", config_.max_batch_size);
    }
    std::map<std::string, Shape> shapes;
    uint64_t bytes = 0;
    for (const auto& [name, input] : warmup.inputs) {
      Shape& shape = shapes[name] = input.dims;
      if (has_batch) shape.insert(shape.begin(), std::max<int64_t>(warmup.batch, 1));
      bytes += bytes_for(input.dtype, checked_count(shape, text(where, ", input '", name, "'")));
    }
    const MemoryGate::Space space = runner_->space_for(bytes);
    std::vector<Datum> inputs(model_inputs_.size());
    for (const auto& [name, input] : warmup.inputs) {
      const auto found = std::find_if(model_inputs_.begin(), model_inputs_.end(),
                                      [&](const ValueInfo& one) { return one.name == name; });
      if (found == model_inputs_.end())
        refuse(Status::kInvalidArgument, where, ": the model has no input '", name, "'");
      inputs[static_cast<size_t>(found - model_inputs_.begin())] =
          warm_up_tensor(input, std::move(shapes[name]), folder);
    }
    for (int i = 0; i < warmup.count; ++i)
      runner_->run(inputs, options);
  }
}

}  // namespace sardonyx::serving
