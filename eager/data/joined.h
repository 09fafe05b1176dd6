// Datasets made of others: one after the other, changed, batched in another way, or images in
// folders.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "eager/data/dataset.h"

namespace sardonyx::eager::data {

// The samples of each one after the other's.
class ConcatDataset : public Dataset {
 public:
  // Throws kInvalidArgument where there is no part, or a part is null.
  explicit ConcatDataset(std::vector<DatasetPtr> parts);
  int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  Sample get(int64_t index) const override;

 private:
  std::vector<DatasetPtr> parts_;
  std::vector<int64_t> ends_;  // of each part in the whole
};

// A function of one tensor: eager/data/transforms.h has those of images.
using Transform = std::function<Tensor(const Tensor&)>;
// Each sample's first tensor by `input`, the second by `target` (where given).
class TransformedDataset : public Dataset {
 public:
  TransformedDataset(DatasetPtr whole, Transform input, Transform target = {});
  int64_t size() const override { return whole_->size(); }
  Sample get(int64_t index) const override;

 private:
  DatasetPtr whole_;
  Transform input_, target_;
};

// Batches as `collate` makes them of their samples: padded to the longest, say.
using Collate = std::function<Sample(std::span<const Sample>)>;
class CollatedDataset : public Dataset {
 public:
  CollatedDataset(DatasetPtr whole, Collate collate);
  int64_t size() const override { return whole_->size(); }
  Sample get(int64_t index) const override { return whole_->get(index); }
  Sample batch(std::span<const int64_t> indices) const override;

 private:
  DatasetPtr whole_;
  Collate collate_;
};

// For CollatedDataset: tensors whose first sizes differ are filled with `value` to the longest. The
// lengths of each sample's first tensor (int64) come last.
Sample pad_to_longest(std::span<const Sample> samples, Number value = 0);

// Tensors [L_i, ...] as one [longest, N, ...] (or [N, longest, ...]), filled with `value`.
Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first = false,
                    Number value = 0, Loc loc = Loc::current());

// An image as uint8 [3, height, width]: BMP or PNM; PNG, JPEG, JPEG 2000, TIFF and WebP where the
// program links sardonyx::codecs. Throws kUnsupported where it does not, kInvalidArgument for other
// and for damaged files.
Tensor read_image(const std::filesystem::path& path);

// Images in a folder for each class, folders within it included: ROOT/cat/1.png. Classes and
// files are in the order of their names. Samples: uint8 [3, height, width] and the class (int64).
class ImageFolder : public Dataset {
 public:
  explicit ImageFolder(const std::filesystem::path& root, Transform transform = {});
  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  Sample get(int64_t index) const override;
  // Names of the folders; a sample's class is the place of its folder here.
  const std::vector<std::string>& classes() const { return classes_; }
  // The file and the class of a sample, without reading it.
  const std::filesystem::path& path(int64_t index) const;
  int64_t label(int64_t index) const;

 private:
  struct File {
    std::filesystem::path path;
    int64_t label;
  };
  const File& file_at(int64_t index) const;
  std::vector<std::string> classes_;
  std::vector<File> files_;
  Transform transform_;
};

}  // namespace sardonyx::eager::data
