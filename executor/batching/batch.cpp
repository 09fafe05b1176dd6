#include "executor/batching/batch.h"

#include <algorithm>
#include <cstring>

#include "executor/batching/serving_error.h"

namespace sardonyx::serving {
namespace {

void append_key_part(std::string& key, int64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

Tensor concatenate_rows(std::span<const std::span<const Datum>> requests, size_t input) {
  const Tensor& first = requests[0][input].tensor();
  Shape shape = first.shape();
  shape[0] = 0;
  for (const auto& request : requests)
    shape[0] += request[input].tensor().shape()[0];
  Tensor joined = Tensor::allocate(first.dtype(), std::move(shape));
  if (first.dtype() == DType::kString) {
    std::string* to = joined.mutable_values<std::string>().data();
    for (const auto& request : requests) {
      const auto from = request[input].tensor().values<std::string>();
      to = std::copy(from.begin(), from.end(), to);
    }
    return joined;
  }
  auto* to = static_cast<std::byte*>(joined.raw());
  for (const auto& request : requests) {
    const Tensor& from = request[input].tensor();
    if (from.bytes() > 0) std::memcpy(to, from.raw(), from.bytes());
    to += from.bytes();
  }
  return joined;
}

}  // namespace

std::string batch_key(std::span<const Datum> inputs) {
  std::string key;
  for (const Datum& input : inputs) {
    if (!input.defined()) {
      append_key_part(key, -1);
      continue;
    }
    const Tensor& tensor = input.tensor();
    append_key_part(key, static_cast<int64_t>(tensor.dtype()));
    append_key_part(key, static_cast<int64_t>(tensor.rank()));
    for (size_t axis = 1; axis < tensor.rank(); ++axis)
      append_key_part(key, tensor.shape()[axis]);
  }
  return key;
}

int64_t batch_items(std::span<const Datum> inputs, std::span<const std::string> names) {
  int64_t items = -1;
  std::string_view first;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    const Tensor& tensor = inputs[i].tensor();
    if (tensor.rank() == 0)
      refuse(Status::kInvalidArgument, "input '", names[i],
             "': expected a batch dim, got a scalar");
    if (items < 0) {
      items = tensor.shape()[0];
      first = names[i];
    } else if (tensor.shape()[0] != items) {
      refuse(Status::kInvalidArgument, "input '", names[i],
             "' batch size does not match other inputs: it has ", tensor.shape()[0],
             ", but input '", first, "' has ", items);
    }
  }
  return items < 0 ? 1 : items;
}

std::vector<Datum> concatenate_requests(std::span<const std::span<const Datum>> requests) {
  const std::span<const Datum> first = requests[0];
  if (requests.size() == 1) return {first.begin(), first.end()};
  std::vector<Datum> joined(first.size());
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].defined()) joined[i] = concatenate_rows(requests, i);
  }
  return joined;
}

std::vector<std::vector<Datum>> split_outputs(std::span<const Datum> outputs,
                                              std::span<const int64_t> items,
                                              std::span<const std::string> names) {
  std::vector<std::vector<Datum>> parts(items.size());
  if (items.size() == 1) {
    parts[0].assign(outputs.begin(), outputs.end());
    return parts;
  }
  int64_t total = 0;
  for (const int64_t count : items)
    total += count;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) {
      for (auto& part : parts)
        part.emplace_back();
      continue;
    }
    const Tensor& whole = outputs[i].tensor();
    if (whole.rank() == 0 || whole.shape()[0] != total) {
      refuse(Status::kInternal, "output '", names[i], "' of a batch of ", total, " has shape ",
             to_text(whole.shape()),
             ": its first dim is not the batch; set max_batch_size: 0 in config.pbtxt");
    }
    int64_t begin = 0;
    for (size_t r = 0; r < items.size(); ++r) {
      parts[r].emplace_back(whole.slice(begin, begin + items[r]));
      begin += items[r];
    }
  }
  return parts;
}

}  // namespace sardonyx::serving
