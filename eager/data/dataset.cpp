#include "eager/data/dataset.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "ir/core/random.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager::data {
namespace {

void check_index(int64_t index, int64_t size) {
  if (index >= 0 && index < size) return;
  fail(ErrorCode::kInvalidArgument, "dataset: no sample ", index, ", it has ", size);
}

void check_copied_by_bytes(DType dtype) {
  if (is_packed(dtype))
    fail(ErrorCode::kUnsupported, "dataset: elements of type ", dtype, " are not batched");
}

// `count` elements from `source` on to `target` on.
void copy_elements(const sardonyx::Tensor& from, int64_t source, sardonyx::Tensor& to,
                   int64_t target, int64_t count) {
  if (from.dtype() == DType::kString) {
    const auto* strings = static_cast<const std::string*>(from.raw());
    std::copy_n(strings + source, count, static_cast<std::string*>(to.raw()) + target);
    return;
  }
  const int64_t width = bits_of(from.dtype()) / 8;
  if (count > 0) {
    std::memcpy(static_cast<std::byte*>(to.raw()) + target * width,
                static_cast<const std::byte*>(from.raw()) + source * width,
                static_cast<size_t>(count * width));
  }
}

Tensor rows_of(const sardonyx::Tensor& all, std::span<const int64_t> indices) {
  check_copied_by_bytes(all.dtype());
  Shape shape = all.shape();
  const int64_t row = shape[0] == 0 ? 0 : all.count() / shape[0];
  shape[0] = static_cast<int64_t>(indices.size());
  sardonyx::Tensor made = sardonyx::Tensor::allocate(all.dtype(), shape);
  for (size_t i = 0; i < indices.size(); ++i)
    copy_elements(all, indices[i] * row, made, static_cast<int64_t>(i) * row, row);
  return Tensor(made);
}

}  // namespace

Tensor stack_samples(std::span<const Tensor> tensors) {
  if (tensors.empty()) fail(ErrorCode::kInvalidArgument, "dataset: a batch without samples");
  const sardonyx::Tensor& first = tensors[0].data();
  check_copied_by_bytes(first.dtype());
  Shape shape = first.shape();
  shape.insert(shape.begin(), static_cast<int64_t>(tensors.size()));
  sardonyx::Tensor made = sardonyx::Tensor::allocate(first.dtype(), shape);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const sardonyx::Tensor& one = tensors[i].data();
    if (one.dtype() != first.dtype() || one.shape() != first.shape()) {
      fail(ErrorCode::kInvalidArgument, "dataset: samples of one batch differ: ", tensors[0].type(),
           " and ", tensors[i].type(), "; pad or resize them in get()");
    }
    copy_elements(one, 0, made, static_cast<int64_t>(i) * first.count(), first.count());
  }
  return Tensor(made);
}

namespace {

thread_local const Reading* t_reading = nullptr;

// One seed for each place of each epoch. Shuffling draws from the stream of the seed itself.
Generator generator_of(const Reading& reading) {
  const auto words = [](const RandomStream& stream, int64_t at) {
    const std::array<uint32_t, 4> block = stream.block(static_cast<uint64_t>(at));
    return uint64_t{block[0]} << 32 | block[1];
  };
  const uint64_t of_epoch = words(RandomStream(~reading.seed), reading.epoch);
  return Generator(words(RandomStream(of_epoch), reading.place));
}

}  // namespace

std::optional<Reading> current_reading() {
  return t_reading ? std::optional(*t_reading) : std::nullopt;
}
ReadingScope::ReadingScope(const Reading& reading)
    : reading_(reading), previous_(t_reading), generator_(generator_of(reading)) {
  t_reading = &reading_;
}
ReadingScope::~ReadingScope() {
  t_reading = previous_;
}

std::vector<Sample> read_samples(const Dataset& dataset, std::span<const int64_t> indices) {
  const std::optional<Reading> reading = current_reading();
  std::vector<Sample> samples;
  for (size_t at = 0; at < indices.size(); ++at) {
    std::optional<ReadingScope> scope;
    if (reading)
      scope.emplace(
          Reading{reading->seed, reading->epoch, reading->place + static_cast<int64_t>(at)});
    samples.push_back(dataset.get(indices[at]));
  }
  return samples;
}

namespace {

// `numbers`: what messages call the samples, where it is not their place.
Sample stack_columns(std::span<const Sample> samples, std::span<const int64_t> numbers) {
  Sample batch;
  const size_t columns = samples.empty() ? 0 : samples[0].size();
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].size() == columns) continue;
    fail(ErrorCode::kInvalidArgument, "dataset: sample ",
         numbers.empty() ? static_cast<int64_t>(i) : numbers[i], " has ", samples[i].size(),
         " tensors, others have ", columns);
  }
  std::vector<Tensor> column;
  for (size_t c = 0; c < columns; ++c) {
    column.clear();
    for (const Sample& sample : samples)
      column.push_back(sample[c]);
    batch.push_back(stack_samples(column));
  }
  return batch;
}

}  // namespace

Sample default_collate(std::span<const Sample> samples) {
  return stack_columns(samples, {});
}

Sample Dataset::batch(std::span<const int64_t> indices) const {
  return stack_columns(read_samples(*this, indices), indices);
}

TensorDataset::TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
  if (tensors_.empty()) fail(ErrorCode::kInvalidArgument, "TensorDataset: expected tensors");
  for (Tensor& tensor : tensors_) {
    if (!tensor.defined() || tensor.rank() == 0)
      fail(ErrorCode::kInvalidArgument, "TensorDataset: expected tensors of rank 1 or more");
    tensor = tensor.detach();
    if (tensor.data().shape()[0] == tensors_[0].data().shape()[0]) continue;
    fail(ErrorCode::kInvalidArgument, "TensorDataset: expected tensors of as many rows, got ",
         tensors_[0].type(), " and ", tensor.type());
  }
  size_ = tensors_[0].data().shape()[0];
}
Sample TensorDataset::get(int64_t index) const {
  check_index(index, size_);
  Sample sample;
  for (const Tensor& tensor : tensors_) {
    const sardonyx::Tensor& all = tensor.data();
    check_copied_by_bytes(all.dtype());
    const Shape shape(all.shape().begin() + 1, all.shape().end());
    sample.emplace_back(all.slice(index, index + 1).reshaped(shape));
  }
  return sample;
}
Sample TensorDataset::batch(std::span<const int64_t> indices) const {
  for (const int64_t index : indices)
    check_index(index, size_);
  Sample batch;
  for (const Tensor& tensor : tensors_)
    batch.push_back(rows_of(tensor.data(), indices));
  return batch;
}

Subset::Subset(DatasetPtr whole, std::vector<int64_t> indices)
    : whole_(std::move(whole)), indices_(std::move(indices)) {
  if (!whole_) fail(ErrorCode::kInvalidArgument, "Subset: expected a dataset");
  for (const int64_t index : indices_)
    check_index(index, whole_->size());
}
Sample Subset::get(int64_t index) const {
  check_index(index, size());
  return whole_->get(indices_[static_cast<size_t>(index)]);
}
Sample Subset::batch(std::span<const int64_t> indices) const {
  std::vector<int64_t> inner;
  for (const int64_t index : indices) {
    check_index(index, size());
    inner.push_back(indices_[static_cast<size_t>(index)]);
  }
  return whole_->batch(inner);
}

std::vector<int64_t> shuffled(int64_t count, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::iota(order.begin(), order.end(), 0);
  // Blocks of one stream for each epoch, far apart.
  constexpr int kEpochShift = 40;
  const RandomStream stream(seed);
  const uint64_t base = static_cast<uint64_t>(epoch) << kEpochShift;
  for (size_t i = order.size(); i > 1; --i) {
    const double share = stream.uniform(base + i);
    std::swap(order[i - 1], order[static_cast<size_t>(share * static_cast<double>(i))]);
  }
  return order;
}

std::vector<DatasetPtr> random_split(DatasetPtr whole, const std::vector<int64_t>& sizes,
                                     uint64_t seed) {
  if (!whole) fail(ErrorCode::kInvalidArgument, "random_split: expected a dataset");
  int64_t left = whole->size();
  for (const int64_t size : sizes) {
    if (size < 0 || size > left) left = -1;
    if (left >= 0) left -= size;
  }
  if (left != 0) {
    fail(ErrorCode::kInvalidArgument, "random_split: expected sizes that add up to ",
         whole->size());
  }
  const std::vector<int64_t> order = shuffled(whole->size(), seed);
  std::vector<DatasetPtr> parts;
  auto at = order.begin();
  for (const int64_t size : sizes) {
    parts.push_back(std::make_shared<Subset>(whole, std::vector<int64_t>(at, at + size)));
    at += size;
  }
  return parts;
}

}  // namespace sardonyx::eager::data
