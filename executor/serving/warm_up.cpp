// Runs before a model is ready, as its configuration asks for.
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
  std::vector<double> numbers(static_cast<size_t>(tensor.count()));
  for (double& number : numbers)
    number = uniform(engine);
  convert_numbers(DType::kDouble, numbers.data(), dtype, tensor.raw(), tensor.count());
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
    std::vector<Datum> inputs(model_inputs_.size());
    for (const auto& [name, input] : warmup.inputs) {
      Shape shape = input.dims;
      if (config_.max_batch_size > 0)
        shape.insert(shape.begin(), std::max<int64_t>(warmup.batch, 1));
      bool is_known = false;
      for (size_t i = 0; i < model_inputs_.size(); ++i) {
        if (model_inputs_[i].name != name) continue;
        inputs[i] = warm_up_tensor(input, std::move(shape), folder);
        is_known = true;
        break;
      }
      if (!is_known)
        refuse(Status::kInvalidArgument, "model_warmup '", warmup.name, "': no input '", name, "'");
    }
    for (int i = 0; i < warmup.count; ++i)
      runner_->run(inputs, options);
  }
}

}  // namespace sardonyx::serving
