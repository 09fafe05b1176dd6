#include "eager/tensor_text.h"

#include <complex>
#include <iomanip>
#include <sstream>

namespace sardonyx::eager {
namespace {

constexpr int64_t kWholeUpTo = 1000;  // elements
constexpr int64_t kEdge = 3;          // entries shown at each end of a shortened dim

class Printer {
 public:
  explicit Printer(const sardonyx::Tensor& tensor)
      : tensor_(tensor), shortened_(tensor.count() > kWholeUpTo) {
    out_ << std::setprecision(6);
    if (is_floating(tensor.dtype()))
      numbers_ = tensor.to_doubles();
    else if (is_integer(tensor.dtype()) || tensor.dtype() == DType::kBool)
      integers_ = tensor.to_int64s();
  }

  std::string print() {
    out_ << tensor_.dtype() << to_text(tensor_.shape()) << ' ';
    dim(0, 0);
    return out_.str();
  }

 private:
  void element(int64_t index) {
    const auto at = static_cast<size_t>(index);
    switch (tensor_.dtype()) {
      case DType::kString:
        out_ << std::quoted(static_cast<const std::string*>(tensor_.raw())[at]);
        return;
      case DType::kBool:
        out_ << (integers_[at] ? "true" : "false");
        return;
      case DType::kComplex64:
        out_ << static_cast<const std::complex<float>*>(tensor_.raw())[at];
        return;
      case DType::kComplex128:
        out_ << static_cast<const std::complex<double>*>(tensor_.raw())[at];
        return;
      default:
        if (tensor_.dtype() == DType::kUInt64)
          out_ << static_cast<uint64_t>(integers_[at]);
        else if (numbers_.empty())
          out_ << integers_[at];
        else
          out_ << numbers_[at];
    }
  }

  void dim(size_t axis, int64_t first) {
    if (axis == tensor_.rank()) return element(first);
    int64_t stride = 1;
    for (size_t i = axis + 1; i < tensor_.rank(); ++i)
      stride *= tensor_.shape()[i];
    const int64_t size = tensor_.shape()[axis];
    const bool skips = shortened_ && size > 2 * kEdge;
    out_ << '[';
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out_ << (axis + 1 < tensor_.rank() ? ",\n" + std::string(axis + 1, ' ') : ", ");
      if (skips && i == kEdge) {
        out_ << "...";
        i = size - kEdge - 1;
        continue;
      }
      dim(axis + 1, first + i * stride);
    }
    out_ << ']';
  }

  const sardonyx::Tensor& tensor_;
  const bool shortened_;
  std::vector<double> numbers_;
  std::vector<int64_t> integers_;
  std::ostringstream out_;
};

}  // namespace

std::string tensor_text(const sardonyx::Tensor& tensor) {
  return Printer(tensor).print();
}

}  // namespace sardonyx::eager
