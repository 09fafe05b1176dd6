#include "onnx_io/npz.h"

#include <span>

#include "onnx_io/npy.h"

namespace sardonyx {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const std::string& name : zip_.names()) {
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  return names;
}

Tensor NpzReader::read(const std::string& name) const {
  const std::shared_ptr<Buffer> bytes = zip_.read(name + std::string(kSuffix));
  return parse_npy({bytes->data(), bytes->size()}, zip_.file_name() + ": '" + name + "'");
}

void NpzWriter::add(const std::string& name, const Tensor& tensor) {
  const std::string data = npy_bytes(tensor);
  zip_.add(name + std::string(kSuffix), std::as_bytes(std::span(data)));
}

void NpzWriter::close() {
  zip_.close();
}

}  // namespace sardonyx
