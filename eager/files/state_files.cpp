#include "eager/files/state_files.h"

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

void save(const nn::StateDict& state, const std::filesystem::path& path) {
  const std::string end = path.extension().string();
  if (end == ".safetensors") return save_safetensors(state, path);
  if (end == ".npz") return save_npz(state, path);
  if (end == ".pt" || end == ".pth" || end == ".bin") return save_torch(state, path);
  fail(ErrorCode::kInvalidArgument, path.string(),
       ": expected a name in .safetensors, .npz, .pt, .pth or .bin");
}

nn::StateDict load(const std::filesystem::path& path) {
  const std::string end = path.extension().string();
  if (end == ".safetensors") return load_safetensors(path);
  if (end == ".npz") return load_npz(path);
  if (end == ".pt" || end == ".pth" || end == ".bin") return load_torch(path);
  fail(ErrorCode::kInvalidArgument, path.string(),
       ": expected a name in .safetensors, .npz, .pt, .pth or .bin");
}

}  // namespace sardonyx::eager
