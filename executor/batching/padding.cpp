#include "executor/batching/padding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>
#include <set>

#include "executor/batching/batch.h"
#include "executor/batching/serving_error.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::serving {
namespace {

// Lengths of a dynamic batch are multiples of this, so that fewer plans serve all.
constexpr int64_t kLengthStep = 8;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::map<std::string, double, std::less<>> padded_inputs(std::string_view setting) {
  std::map<std::string, double, std::less<>> values;
  while (!setting.empty()) {
    const size_t comma = std::min(setting.find(','), setting.size());
    const std::string_view one = trimmed(setting.substr(0, comma));
    setting.remove_prefix(std::min(comma + 1, setting.size()));
    const size_t equals = one.rfind('=');
    double value = 0;
    const std::string_view number =
        equals == std::string_view::npos ? "" : trimmed(one.substr(equals + 1));
    const auto end = std::from_chars(number.data(), number.data() + number.size(), value);
    if (number.empty() || end.ec != std::errc() || end.ptr != number.data() + number.size())
      refuse(Status::kInvalidArgument, "parameter pad: expected INPUT=NUMBER, got '", one, "'");
    values.emplace(trimmed(one.substr(0, equals)), value);
  }
  return values;
}

// Copies all rows of `from` to those of `to` from `to_first` on. The other axes differ in size
// alone; what does not fit into `to` is left out.
void copy_block(const Tensor& from, Tensor& to, int64_t to_first, int64_t rows) {
  const size_t rank = from.rank();
  const size_t element = bytes_for(from.dtype(), 1);
  Shape common(rank);
  common[0] = rows;
  for (size_t axis = 1; axis < rank; ++axis)
    common[axis] = std::min(from.shape()[axis], to.shape()[axis]);
  // What is contiguous in both is copied at once.
  size_t run_axis = rank - 1;
  while (run_axis > 0 && common[run_axis] == from.shape()[run_axis] &&
         common[run_axis] == to.shape()[run_axis])
    --run_axis;
  const auto strides_of = [rank](const Shape& shape) {
    std::vector<int64_t> strides(rank, 1);
    for (size_t axis = rank - 1; axis > 0; --axis)
      strides[axis - 1] = strides[axis] * shape[axis];
    return strides;
  };
  const auto from_strides = strides_of(from.shape()), to_strides = strides_of(to.shape());
  const int64_t run = common[run_axis] * from_strides[run_axis];
  int64_t count = 1;
  for (size_t axis = 0; axis < run_axis; ++axis)
    count *= common[axis];
  if (run == 0) return;
  for (int64_t block = 0; block < count; ++block) {
    int64_t left = block, source = 0, target = to_first * to_strides[0];
    for (size_t axis = run_axis; axis-- > 0;) {
      const int64_t at = left % common[axis];
      left /= common[axis];
      source += at * from_strides[axis];
      target += at * to_strides[axis];
    }
    if (from.dtype() == DType::kString) {
      const auto values = from.values<std::string>();
      std::copy_n(values.begin() + source, run, to.mutable_values<std::string>().begin() + target);
    } else {
      std::memcpy(static_cast<std::byte*>(to.raw()) + static_cast<size_t>(target) * element,
                  static_cast<const std::byte*>(from.raw()) + static_cast<size_t>(source) * element,
                  static_cast<size_t>(run) * element);
    }
  }
}

Tensor filled(DType dtype, Shape shape, double value) {
  if (value == 0 || dtype == DType::kString) return Tensor::zeros(dtype, std::move(shape));
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  const size_t element = bytes_for(dtype, 1);
  std::array<std::byte, 16> one;
  convert_numbers(DType::kDouble, &value, dtype, one.data(), 1);
  auto* to = static_cast<std::byte*>(tensor.raw());
  for (int64_t i = 0; i < tensor.count(); ++i, to += element)
    std::memcpy(to, one.data(), element);
  return tensor;
}

}  // namespace

Padding::Padding(std::string_view setting, std::span<const ValueInfo> inputs,
                 std::span<const ValueInfo> outputs)
    : inputs_(inputs.size()) {
  const auto wrong = [](const auto&... parts) {
    refuse(Status::kInvalidArgument, "parameter pad: ", parts...);
  };
  auto values = padded_inputs(setting);
  std::set<std::string> lengths, fixed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& info = inputs[i];
    const auto found = values.find(info.name);
    if (!info.type.has_rank()) wrong("input '", info.name, "' has no known rank");
    inputs_[i].is_padded = found != values.end();
    if (inputs_[i].is_padded) inputs_[i].value = found->second;
    for (size_t axis = 1; axis < info.type.rank(); ++axis) {
      const Dim& dim = (*info.type.shape)[axis];
      if (dim.is_known()) continue;
      const auto symbols = dim.symbols();
      if (!inputs_[i].is_padded) {
        fixed.insert(symbols.begin(), symbols.end());
        continue;
      }
      if (symbols.size() != 1 || !(dim == Dim::symbol(*symbols.begin())))
        wrong("dim ", axis, " of input '", info.name, "' is ", dim.text(), ", which is no length");
      inputs_[i].axes.push_back(axis);
      inputs_[i].symbols.push_back(*symbols.begin());
      lengths.insert(*symbols.begin());
    }
    if (inputs_[i].is_padded && inputs_[i].axes.empty())
      wrong("input '", info.name, "' (", info.type.text(), ") has no open dim but the batch");
    if (found != values.end()) values.erase(found);
  }
  if (!values.empty()) wrong("the model has no input '", values.begin()->first, "'");
  for (const std::string& symbol : lengths) {
    if (fixed.contains(symbol))
      wrong("length ", symbol, " is that of an input, too, that is not to be padded");
  }
  for (const ValueInfo& output : outputs) {
    output_names_.push_back(output.name);
    auto& follows = outputs_.emplace_back();
    if (!output.type.has_rank()) wrong("output '", output.name, "' has no known rank");
    for (size_t axis = 1; axis < output.type.rank(); ++axis) {
      const Dim& dim = (*output.type.shape)[axis];
      const auto symbols = dim.symbols();
      const auto is_fixed = [&](const std::string& one) { return fixed.contains(one); };
      if (std::all_of(symbols.begin(), symbols.end(), is_fixed)) continue;
      // Of 2*n, say, nobody knows which part belongs to the padding.
      const bool is_length = symbols.size() == 1 && lengths.contains(*symbols.begin()) &&
                             dim == Dim::symbol(*symbols.begin());
      if (!is_length)
        wrong("dim ", axis, " of output '", output.name, "' is ", dim.text(),
              ", which is no length of an input");
      follows.push_back({axis, dim});
    }
  }
}

std::string Padding::key(std::span<const Datum> inputs) const {
  std::string key;
  const auto append = [&](int64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) {
      append(-1);
      continue;
    }
    const Tensor& tensor = inputs[i].tensor();
    append(static_cast<int64_t>(tensor.rank()));
    for (size_t axis = 1; axis < tensor.rank(); ++axis) {
      const auto& axes = inputs_[i].axes;
      const bool is_length = std::find(axes.begin(), axes.end(), axis) != axes.end();
      const int64_t size = tensor.shape()[axis];
      append(is_length ? std::bit_width(static_cast<uint64_t>(std::max<int64_t>(size - 1, 0)))
                       : size);
    }
  }
  return key;
}

int64_t Padding::elements(std::span<const Datum> inputs) const {
  int64_t count = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs_[i].is_padded && inputs[i].defined()) count += inputs[i].tensor().count();
  }
  return count;
}

std::vector<Datum> Padding::join(std::span<const std::span<const Datum>> requests) const {
  if (requests.size() == 1) return {requests[0].begin(), requests[0].end()};
  std::vector<Datum> joined(requests[0].size());
  for (size_t i = 0; i < joined.size(); ++i) {
    if (!requests[0][i].defined()) continue;
    Shape shape = requests[0][i].tensor().shape();
    shape[0] = 0;
    for (const auto& request : requests)
      shape[0] += request[i].tensor().shape()[0];
    for (const size_t axis : inputs_[i].axes) {
      bool differs = false;
      for (const auto& request : requests) {
        const int64_t own = request[i].tensor().shape()[axis];
        differs |= own != requests[0][i].tensor().shape()[axis];
        shape[axis] = std::max(shape[axis], own);
      }
      if (differs) shape[axis] = (shape[axis] + kLengthStep - 1) / kLengthStep * kLengthStep;
    }
    Tensor whole = filled(requests[0][i].tensor().dtype(), shape, inputs_[i].value);
    int64_t row = 0;
    for (const auto& request : requests) {
      const Tensor& own = request[i].tensor();
      copy_block(own, whole, row, own.shape()[0]);
      row += own.shape()[0];
    }
    joined[i] = std::move(whole);
  }
  return joined;
}

// `dim` with the lengths of these inputs.
Dim Padding::size_for(const Dim& dim, std::span<const Datum> inputs) const {
  return dim.substitute([&](std::string_view symbol) -> std::optional<Dim> {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (size_t a = 0; a < inputs_[i].axes.size() && inputs[i].defined(); ++a) {
        if (inputs_[i].symbols[a] == symbol)
          return Dim(inputs[i].tensor().shape()[inputs_[i].axes[a]]);
      }
    }
    return std::nullopt;
  });
}

Datum Padding::cut(size_t index, const Tensor& rows, std::span<const Datum> inputs) const {
  Shape shape = rows.shape();
  for (const auto& [axis, size] : outputs_[index]) {
    const Dim own = size_for(size, inputs);
    if (!own.is_known() || axis >= shape.size() || own.value() < 0 || own.value() > shape[axis]) {
      refuse(Status::kInternal, "output '", output_names_[index], "' of padded requests has shape ",
             to_text(rows.shape()), ", where dim ", axis, " was to be at least ", own.text());
    }
    shape[axis] = own.value();
  }
  if (shape == rows.shape()) return rows;
  Tensor cut = Tensor::allocate(rows.dtype(), std::move(shape));
  copy_block(rows, cut, 0, rows.shape()[0]);
  return cut;
}

}  // namespace sardonyx::serving
