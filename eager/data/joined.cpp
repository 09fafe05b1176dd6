#include "eager/data/joined.h"

#include <algorithm>
#include <cstring>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/data/readers.h"
#include "eager/functional/functional.h"
#include "eager/op.h"
#include "eager/placed.h"
#include "ir/core/tensor.h"
#include "ir/ops/image_decoder/image_files.h"
#include "ir/type.h"

namespace sardonyx::eager::data {
namespace {

DatasetPtr given(const char* name, DatasetPtr dataset) {
  if (!dataset) fail(ErrorCode::kInvalidArgument, name, ": expected a dataset");
  return dataset;
}

}  // namespace

ConcatDataset::ConcatDataset(std::vector<DatasetPtr> parts) : parts_(std::move(parts)) {
  if (parts_.empty())
    fail(ErrorCode::kInvalidArgument, "ConcatDataset: expected datasets, got none");
  int64_t end = 0;
  for (const DatasetPtr& part : parts_)
    ends_.push_back(end += given("ConcatDataset", part)->size());
}
Sample ConcatDataset::get(int64_t index) const {
  if (index < 0 || index >= size())
    fail(ErrorCode::kInvalidArgument, "dataset: no sample ", index, ", it has ", size());
  const auto at = static_cast<size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
  return parts_[at]->get(index - (at == 0 ? 0 : ends_[at - 1]));
}

TransformedDataset::TransformedDataset(DatasetPtr whole, Transform input, Transform target)
    : whole_(given("TransformedDataset", std::move(whole))),
      input_(std::move(input)),
      target_(std::move(target)) {}
Sample TransformedDataset::get(int64_t index) const {
  const NoGrad no_grad;
  Sample sample = whole_->get(index);
  if (sample.size() < (target_ ? 2u : 1u)) {
    fail(ErrorCode::kInvalidArgument, "TransformedDataset: sample ", index, " has ", sample.size(),
         " tensors");
  }
  if (input_) sample[0] = input_(sample[0]);
  if (target_) sample[1] = target_(sample[1]);
  return sample;
}

CollatedDataset::CollatedDataset(DatasetPtr whole, Collate collate)
    : whole_(given("CollatedDataset", std::move(whole))), collate_(std::move(collate)) {
  if (!collate_) fail(ErrorCode::kInvalidArgument, "CollatedDataset: expected a function");
}
Sample CollatedDataset::batch(std::span<const int64_t> indices) const {
  return collate_(read_samples(*whole_, indices));
}

namespace {

// Copies of a type and rank, each filled up along its first axis.
Tensor stacked_to_longest(const std::vector<Tensor>& tensors, Number value) {
  int64_t longest = 0;
  for (const Tensor& tensor : tensors) {
    const sardonyx::Tensor &one = tensor.data(), &first = tensors[0].data();
    const bool fits =
        one.dtype() == first.dtype() && one.rank() == first.rank() && one.rank() > 0 &&
        std::equal(one.shape().begin() + 1, one.shape().end(), first.shape().begin() + 1);
    if (!fits) {
      fail(ErrorCode::kInvalidArgument, "pad_to_longest: samples of one batch differ beyond their ",
           "first size: ", tensors[0].type(), " and ", tensor.type());
    }
    longest = std::max(longest, one.shape()[0]);
  }
  std::vector<Tensor> filled;
  for (const Tensor& tensor : tensors) {
    const sardonyx::Tensor& one = tensor.data();
    Shape shape = one.shape();
    shape[0] = longest;
    const Tensor made = full(to_dims(shape), value, {.dtype = one.dtype()});
    sardonyx::Tensor copy = sardonyx::Tensor::allocate(one.dtype(), shape);
    std::memcpy(copy.raw(), made.data().raw(), copy.bytes());
    std::memcpy(copy.raw(), one.raw(), one.bytes());
    filled.emplace_back(copy);
  }
  return stack_samples(filled);
}

}  // namespace

Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first, Number value, Loc loc) {
  int64_t longest = 0;
  for (const Tensor& one : sequences) {
    if (!one.defined() || one.rank() == 0) fail_at(loc, "pad_sequence: expected tensors [L, ...]");
    longest = std::max(longest, one.size(0, loc).value());
  }
  std::vector<Tensor> filled;
  for (const Tensor& one : sequences) {
    std::vector<int64_t> pads(2 * one.rank(), 0);
    pads.back() = longest - one.size(0, loc).value();
    filled.push_back(eager::pad(one, pads, value, loc));
  }
  return stack(filled, batch_first ? 0 : 1, loc);
}
Sample pad_to_longest(std::span<const Sample> samples, Number value) {
  if (samples.empty() || samples[0].empty() || samples[0][0].rank() == 0) {
    fail(ErrorCode::kInvalidArgument,
         "pad_to_longest: expected samples whose first tensor has a length");
  }
  Sample batch;
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < samples[0].size(); ++i) {
    std::vector<Tensor> column;
    bool same = true;
    for (const Sample& sample : samples) {
      if (sample.size() != samples[0].size()) {
        fail(ErrorCode::kInvalidArgument, "dataset: one sample has ", sample.size(),
             " tensors, others have ", samples[0].size());
      }
      column.push_back(sample[i]);
      same = same && sample[i].data().shape() == samples[0][i].data().shape();
    }
    batch.push_back(same ? stack_samples(column) : stacked_to_longest(column, value));
  }
  for (const Sample& sample : samples)
    lengths.push_back(sample[0].size(0).value());
  batch.push_back(tensor(lengths));
  return batch;
}

Tensor read_image(const std::filesystem::path& path) {
  const std::string bytes = read_bytes(path);
  const std::vector<uint8_t> values(bytes.begin(), bytes.end());
  const auto count = static_cast<int64_t>(values.size());
  const NoGrad no_grad;
  const Tensor image = op::ImageDecoder(Tensor::of(values, {count}));
  // The op gives an empty one of what it can't read.
  if (image.data().count() > 0) return image.permute({2, 0, 1});
  fail(ErrorCode::kInvalidArgument, path.string(),
       ": expected a whole PNG, JPEG, BMP, TIFF, WebP, PNM or JPEG 2000 image");
}

ImageFolder::ImageFolder(const std::filesystem::path& root, Transform transform)
    : transform_(std::move(transform)) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
    if (entry.is_directory()) classes_.push_back(entry.path().filename().string());
  }
  if (error || classes_.empty()) {
    fail(ErrorCode::kInvalidArgument, "ImageFolder: ", root.string(),
         error ? ": " + error.message() : ": expected a folder for each class");
  }
  std::ranges::sort(classes_);
  for (size_t label = 0; label < classes_.size(); ++label) {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(root / classes_[label])) {
      if (entry.is_regular_file() && ops::is_image_file(entry.path()))
        found.push_back(entry.path());
    }
    if (found.empty()) {
      fail(ErrorCode::kInvalidArgument, "ImageFolder: ", (root / classes_[label]).string(),
           ": expected images, found none");
    }
    std::ranges::sort(found);
    for (fs::path& path : found)
      files_.push_back({std::move(path), static_cast<int64_t>(label)});
  }
}

const ImageFolder::File& ImageFolder::file_at(int64_t index) const {
  if (index >= 0 && index < size()) return files_[static_cast<size_t>(index)];
  fail(ErrorCode::kInvalidArgument, "dataset: no sample ", index, ", it has ", size());
}
const std::filesystem::path& ImageFolder::path(int64_t index) const {
  return file_at(index).path;
}
int64_t ImageFolder::label(int64_t index) const {
  return file_at(index).label;
}
Sample ImageFolder::get(int64_t index) const {
  const NoGrad no_grad;
  const Tensor image = read_image(path(index));
  return {transform_ ? transform_(image) : image, Tensor::scalar(label(index))};
}

}  // namespace sardonyx::eager::data
