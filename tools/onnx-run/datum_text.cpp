#include "tools/onnx-run/datum_text.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>

#include "ir/core/run_control.h"

namespace sardonyx::tool {
namespace {

constexpr int64_t kShownWhole = 64;  // elements; of more, the ends
constexpr int64_t kShownEnd = 16;

std::string element_text(const Tensor& tensor, int64_t index) {
  std::ostringstream out;
  out.precision(7);
  const auto i = static_cast<size_t>(index);
  if (tensor.dtype() == DType::kString)
    out << '"' << tensor.values<std::string>()[i] << '"';
  else if (tensor.dtype() == DType::kComplex64)
    out << tensor.values<std::complex<float>>()[i];
  else if (tensor.dtype() == DType::kComplex128)
    out << tensor.values<std::complex<double>>()[i];
  else if (is_floating(tensor.dtype()) || is_packed(tensor.dtype()))
    out << tensor.to_doubles()[i];
  else if (tensor.dtype() == DType::kUInt64)
    out << tensor.values<uint64_t>()[i];
  else
    out << tensor.to_int64s()[i];
  return out.str();
}

std::string elements_text(const Tensor& tensor, int64_t begin, int64_t end) {
  // The elements in question alone, for converting them all would be wasteful.
  std::string out;
  for (int64_t i = begin; i < end; ++i)
    out += (out.empty() ? "" : ", ") + element_text(tensor, i);
  return out;
}

std::string tensor_text(const Tensor& tensor) {
  const int64_t count = tensor.count();
  if (count <= kShownWhole) return "{" + elements_text(tensor, 0, count) + "}";
  const Tensor flat = tensor.reshaped({count});
  if (is_packed(tensor.dtype())) return "{" + elements_text(flat, 0, kShownEnd) + " ...}";
  return "{" + elements_text(flat.slice(0, kShownEnd), 0, kShownEnd) + " ... " +
         elements_text(flat.slice(count - kShownEnd, count), 0, kShownEnd) + "}";
}

// Piece by piece: an output may be as large as the limits let it be, and the deadline holds here,
// too.
std::string range_text(const Tensor& tensor) {
  constexpr int64_t kPiece = 1 << 16;
  const Tensor flat = tensor.reshaped({tensor.count()});
  double low = std::numeric_limits<double>::infinity(), high = -low, total = 0;
  int64_t nans = 0;
  for (int64_t begin = 0; begin < flat.count(); begin += kPiece) {
    if (is_interrupted()) return ", not summed up in the time that was given";
    const Tensor piece = flat.slice(begin, std::min(begin + kPiece, flat.count()));
    for (const double value : piece.to_doubles()) {
      if (std::isnan(value)) {
        ++nans;
        continue;
      }
      low = std::min(low, value);
      high = std::max(high, value);
      total += value;
    }
  }
  const int64_t numbers = flat.count() - nans;
  std::ostringstream out;
  out.precision(6);
  if (numbers > 0)
    out << ", " << low << " to " << high << ", mean " << total / static_cast<double>(numbers);
  if (nans > 0) out << ", " << nans << " NaN";
  return out.str();
}

}  // namespace

std::string summary_of(const Datum& datum) {
  std::string out = datum.defined() ? datum.type().text() : "nothing";
  if (datum.is_tensor()) {
    const Tensor& tensor = datum.tensor();
    const bool has_range = tensor.dtype() != DType::kString && !is_complex(tensor.dtype());
    return has_range && tensor.count() > 0 ? out + range_text(tensor) : out;
  }
  if (datum.is_sequence()) out += text(" of ", datum.sequence().items.size(), " items");
  if (datum.is_map()) out += text(" of ", datum.map().keys.count(), " entries");
  if (datum.is_optional() && !datum.optional().value()) out += ", empty";
  return out;
}

std::string contents_of(const Datum& datum) {
  if (datum.is_tensor()) return tensor_text(datum.tensor());
  if (datum.is_sequence()) {
    std::string out = "[";
    for (const Datum& item : datum.sequence().items)
      out += (out.size() > 1 ? ", " : "") + contents_of(item);
    return out + "]";
  }
  if (datum.is_map())
    return tensor_text(datum.map().keys) + " -> " + tensor_text(datum.map().values);
  if (datum.is_optional() && datum.optional().value())
    return contents_of(*datum.optional().value());
  if (datum.is_sparse()) return tensor_text(datum.sparse().values);
  return "nothing";
}

NonFinite non_finite_in(const Datum& datum) {
  NonFinite found;
  if (datum.is_sequence()) {
    for (const Datum& item : datum.sequence().items) {
      const NonFinite inner = non_finite_in(item);
      found.has_nan |= inner.has_nan;
      found.has_infinity |= inner.has_infinity;
    }
  }
  if (datum.is_optional() && datum.optional().value())
    return non_finite_in(*datum.optional().value());
  if (!datum.is_tensor() || !is_floating(datum.tensor().dtype())) return found;
  for (const double value : datum.tensor().to_doubles()) {
    found.has_nan |= std::isnan(value);
    found.has_infinity |= std::isinf(value);
  }
  return found;
}

}  // namespace sardonyx::tool
