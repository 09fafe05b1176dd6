#include "tools/onnx-run/score/row_source.h"

#include <algorithm>
#include <cstring>

#include "ir/core/run_control.h"
#include "ir/reference_evaluator.h"
#include "onnx_io/arrays/npy_rows.h"
#include "onnx_io/npz.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/input_files.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

// numpy has no such types: they are stored wider (see npy.h).
bool is_widened(DType wanted, DType stored) {
  return stored == DType::kFloat &&
         (wanted == DType::kBFloat16 || wanted == DType::kFloat8E8M0 || kFloat8s.has(wanted));
}

Tensor converted(const Tensor& tensor, DType dtype) {
  const OpDef& cast = op_named("Cast");
  const AttrMap attrs = {{"to", static_cast<int64_t>(dtype)}};
  return evaluate(cast, Attrs::parse(*cast.attrs, attrs), std::vector<Datum>{tensor}, 1)
      .at(0)
      .tensor();
}

void check_has_rows(const ValueInfo& input) {
  if (!input.type.is_tensor()) {
    fail_usage("input '", input.name, "' is ", input.type,
               ", which is not scored row by row; only tensors are");
  }
  if (is_packed(input.type.dtype)) {
    fail_usage("input '", input.name, "' is ", input.type,
               ", whose rows do not begin at whole bytes; have the model cast from int8 or uint8");
  }
  if (input.type.has_rank() && input.type.rank() == 0) {
    fail_usage("input '", input.name, "' is ", input.type,
               ", which has no dimension for rows; give it by --constant NAME=@FILE");
  }
}

void check_array(const std::string& where, const ValueInfo& input, DType dtype,
                 const Shape& shape) {
  check_has_rows(input);
  const Type& type = input.type;
  bool fits = type.dtype == dtype || is_widened(type.dtype, dtype);
  if (!fits) {
    fail_usage(where, ": expected elements of type ", type.dtype, " for input '", input.name,
               "', got ", dtype, "; convert the array");
  }
  if (!type.has_rank()) return;
  fits = type.rank() == shape.size();
  for (size_t axis = 1; fits && axis < shape.size(); ++axis) {
    const Dim& dim = (*type.shape)[axis];
    fits = !dim.is_known() || dim == Dim(shape[axis]);
  }
  if (!fits) {
    fail_usage(where, ": expected rows for input '", input.name, "' of type ", type,
               ", got an array ", to_text(shape));
  }
}

class NpySource : public RowSource {
 public:
  NpySource(NpyRows rows, const std::string& where, const ValueInfo& input)
      : rows_(std::move(rows)), name_(input.name), dtype_(input.type.dtype) {
    check_array(where, input, rows_.dtype(), rows_.shape());
  }
  int64_t rows() const override { return rows_.rows(); }
  NamedData read(int64_t begin, int64_t end) override {
    const Tensor tensor = rows_.read(begin, end);
    NamedData data;
    data.emplace(name_, tensor.dtype() == dtype_ ? tensor : converted(tensor, dtype_));
    return data;
  }

 private:
  NpyRows rows_;
  std::string name_;
  DType dtype_;
};

class RawSource : public RowSource {
 public:
  RawSource(const fs::path& file, const ValueInfo& input, const DimSizes& sizes)
      : bytes_(file_source(file)),
        name_(input.name),
        dtype_(input.type.dtype),
        row_(row_shape_of(input, sizes)) {
    if (dtype_ == DType::kString || is_packed(dtype_)) {
      fail_usage(file.string(), ": input '", input.name, "' is ", input.type,
                 ", which can't be read from raw bytes; use .npy, .npz or .csv");
    }
    row_bytes_ = bytes_for(dtype_, element_count(row_));
    if (row_bytes_ == 0 || bytes_->size() % row_bytes_ != 0) {
      fail_usage(file.string(), ": ", bytes_->size(), " bytes are no whole number of rows ",
                 to_text(row_), " of ", dtype_, ", which take ", row_bytes_);
    }
  }
  int64_t rows() const override { return static_cast<int64_t>(bytes_->size() / row_bytes_); }
  NamedData read(int64_t begin, int64_t end) override {
    Shape shape = row_;
    shape.insert(shape.begin(), end - begin);
    Tensor tensor = Tensor::allocate(dtype_, shape);
    bytes_->read(static_cast<uint64_t>(begin) * row_bytes_, tensor.raw(), tensor.bytes());
    NamedData data;
    data.emplace(name_, std::move(tensor));
    return data;
  }

 private:
  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  DType dtype_;
  Shape row_;
  size_t row_bytes_ = 0;
};

class ImageSource : public RowSource {
 public:
  ImageSource(std::vector<fs::path> files, const ValueInfo& input, const DimSizes& sizes)
      : files_(std::move(files)), input_(input), row_(row_shape_of(input, sizes)) {}
  int64_t rows() const override { return static_cast<int64_t>(files_.size()); }
  std::string row_name(int64_t row) const override {
    return files_.at(static_cast<size_t>(row)).string();
  }
  NamedData read(int64_t begin, int64_t end) override {
    Shape shape = row_, one = row_;
    shape.insert(shape.begin(), end - begin);
    one.insert(one.begin(), 1);
    Tensor whole = Tensor::allocate(input_.type.dtype, shape);
    for (int64_t row = begin; row < end; ++row) {
      check_interrupted();
      const Datum image = read_input_file(files_.at(static_cast<size_t>(row)), input_, one);
      copy_rows(whole, row - begin, image.tensor());
    }
    NamedData data;
    data.emplace(input_.name, std::move(whole));
    return data;
  }

 private:
  std::vector<fs::path> files_;
  ValueInfo input_;
  Shape row_;
};

class JoinedSource : public RowSource {
 public:
  JoinedSource(std::vector<std::unique_ptr<RowSource>> sources, const std::string& label)
      : sources_(std::move(sources)) {
    for (const auto& source : sources_) {
      if (source->rows() == sources_[0]->rows()) continue;
      fail_usage(label, ": inputs have different numbers of rows: ", sources_[0]->rows(), " and ",
                 source->rows());
    }
  }
  int64_t rows() const override { return sources_.at(0)->rows(); }
  NamedData read(int64_t begin, int64_t end) override {
    NamedData data;
    for (const auto& source : sources_)
      data.merge(source->read(begin, end));
    return data;
  }
  std::string row_name(int64_t row) const override {
    for (const auto& source : sources_) {
      if (std::string name = source->row_name(row); !name.empty()) return name;
    }
    return {};
  }

 private:
  std::vector<std::unique_ptr<RowSource>> sources_;
};

}  // namespace

Shape row_shape_of(const ValueInfo& input, const DimSizes& sizes) {
  check_has_rows(input);
  if (!input.type.has_rank())
    fail_usage("input '", input.name, "' has no known rank; use .npy or .npz, which tell theirs");
  Shape row;
  for (size_t axis = 1; axis < input.type.rank(); ++axis) {
    const Dim& dim = (*input.type.shape)[axis];
    const auto given = sizes.find(dim.text());
    if (dim.is_known()) {
      row.push_back(dim.value());
    } else if (given != sizes.end()) {
      row.push_back(given->second);
    } else {
      fail_usage("input '", input.name, "' of type ", input.type, ": axis ", axis,
                 " has no size; say --dim ", dim, "=SIZE");
    }
  }
  return row;
}

std::unique_ptr<RowSource> npy_source(const fs::path& file, const ValueInfo& input) {
  return std::make_unique<NpySource>(NpyRows(file), file.string(), input);
}

std::unique_ptr<RowSource> npz_source(const fs::path& file, const Runner& runner) {
  std::vector<std::unique_ptr<RowSource>> sources;
  for (const std::string& name : NpzReader(file).names()) {
    const ValueInfo& input = row_input_named(runner, name, file.string());
    sources.push_back(std::make_unique<NpySource>(NpyRows(file, name),
                                                  file.string() + ": '" + name + "'", input));
  }
  if (sources.empty()) fail_usage(file.string(), ": the archive has no arrays");
  return joined_source(std::move(sources), file.string());
}

std::unique_ptr<RowSource> raw_source(const fs::path& file, const ValueInfo& input,
                                      const DimSizes& sizes) {
  return std::make_unique<RawSource>(file, input, sizes);
}

std::unique_ptr<RowSource> image_source(std::vector<fs::path> files, const ValueInfo& input,
                                        const DimSizes& sizes) {
  return std::make_unique<ImageSource>(std::move(files), input, sizes);
}

std::unique_ptr<RowSource> joined_source(std::vector<std::unique_ptr<RowSource>> sources,
                                         const std::string& label) {
  if (sources.size() == 1) return std::move(sources[0]);
  return std::make_unique<JoinedSource>(std::move(sources), label);
}

const ValueInfo& row_input_named(const Runner& runner, const std::string& name,
                                 const std::string& where) {
  std::string known;
  for (const auto& inputs : {runner.inputs(), runner.optional_inputs()}) {
    for (const ValueInfo& input : inputs) {
      if (input.name == name) return input;
      known += (known.empty() ? "'" : ", '") + input.name + "'";
    }
  }
  fail_usage(where, ": the model has no input '", name, "'; it has ",
             known.empty() ? "none" : known);
}

void copy_rows(Tensor& whole, int64_t at, const Tensor& rows) {
  SARDONYX_CHECK(whole.dtype() == rows.dtype() && !is_packed(rows.dtype()));
  if (rows.count() == 0) return;
  const auto begin = static_cast<size_t>(at * (rows.count() / rows.shape()[0]));
  if (rows.dtype() == DType::kString) {
    std::ranges::copy(rows.values<std::string>(),
                      whole.mutable_values<std::string>().begin() + static_cast<ptrdiff_t>(begin));
    return;
  }
  const size_t width = static_cast<size_t>(bits_of(rows.dtype())) / 8;
  std::memcpy(static_cast<std::byte*>(whole.raw()) + begin * width, rows.raw(), rows.bytes());
}

}  // namespace sardonyx::tool
