#include "eager/files/state_files.h"

#include <algorithm>
#include <string_view>

#include "ir/core/tensor.h"
#include "onnx_io/npz.h"

namespace sardonyx::eager {

void save_npz(const nn::StateDict& state, const std::filesystem::path& path) {
  NpzWriter writer(path);
  for (const auto& [name, tensor] : state)
    writer.add(name, tensor.data());
  writer.close();
}

nn::StateDict load_npz(const std::filesystem::path& path) {
  const NpzReader reader(path);
  nn::StateDict state;
  for (const std::string& name : reader.names()) {
    if (!state.emplace(name, Tensor(reader.read(name))).second) {
      fail(ErrorCode::kInvalidArgument, path.string(), ": the name '", name,
           "' stands in it twice");
    }
  }
  return state;
}

namespace {

[[noreturn]] void refuse_end(const std::filesystem::path& path) {
  fail(ErrorCode::kInvalidArgument, path.string(),
       ": expected a name in .safetensors, .npz, .pt, .pth, .bin, .ckpt or .tar");
}

}  // namespace

bool is_torch_file(const std::filesystem::path& path) {
  constexpr std::string_view kEnds[] = {".pt", ".pth", ".bin", ".ckpt", ".tar"};
  return std::ranges::find(kEnds, path.extension().string()) != std::end(kEnds);
}

void save(const nn::StateDict& state, const std::filesystem::path& path) {
  if (is_torch_file(path)) return save_torch(state, path);
  const std::string end = path.extension().string();
  if (end == ".safetensors") return save_safetensors(state, path);
  if (end == ".npz") return save_npz(state, path);
  refuse_end(path);
}

nn::StateDict load(const std::filesystem::path& path) {
  if (is_torch_file(path)) return load_torch(path);
  const std::string end = path.extension().string();
  if (end == ".safetensors") return load_safetensors(path);
  if (end == ".npz") return load_npz(path);
  refuse_end(path);
}

}  // namespace sardonyx::eager
