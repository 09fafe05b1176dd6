// Named tensors in files: safetensors, numpy's .npz, and what torch.save writes. Files are written
// so that a reader sees the old or the new one; what is read is checked, and kInvalidArgument names
// the file and what is wrong with it.
#pragma once

#include <concepts>
#include <filesystem>
#include <map>
#include <string>

#include "eager/nn/module.h"

namespace sardonyx::eager {

namespace optim {
class Optimizer;
}

// By the name's end: .safetensors, .npz, or .pt, .pth, .bin, .ckpt, .tar (torch's).
void save(const nn::StateDict& state, const std::filesystem::path& path);
nn::StateDict load(const std::filesystem::path& path);
// Of state_dict() and load_state_dict(): parameters and buffers of a module, the steps and means of
// an optimiser.
template <typename Stateful>
concept HasStateDict =
    std::derived_from<Stateful, nn::Module> || std::derived_from<Stateful, optim::Optimizer>;
template <HasStateDict Stateful>
void save(const Stateful& from, const std::filesystem::path& path) {
  save(from.state_dict(), path);
}
template <HasStateDict Stateful>
void load(Stateful& to, const std::filesystem::path& path) {
  to.load_state_dict(load(path));
}
// Whether the name's end is one of torch's.
bool is_torch_file(const std::filesystem::path& path);

// https://github.com/huggingface/safetensors: a JSON header, then the elements. The same tensors
// give the same bytes. Strings, complex128 and types of less than 8 bits cannot be written.
using Metadata = std::map<std::string, std::string>;
void save_safetensors(const nn::StateDict& state, const std::filesystem::path& path,
                      const Metadata& metadata = {});
nn::StateDict load_safetensors(const std::filesystem::path& path, Metadata* metadata = nullptr);

// Types that numpy lacks are widened without loss (bfloat16 to float32).
void save_npz(const nn::StateDict& state, const std::filesystem::path& path);
nn::StateDict load_npz(const std::filesystem::path& path);

// A file of torch.save, in its zip form or the one before torch 1.6: a state_dict, or dicts and
// lists that hold one: {"model": {...}} gives "model.fc.weight". Values that are no tensors are
// left out. Tensors that repeat elements (expand) are read in full, up to 1 GiB of them. The pickle
// inside is interpreted by an allow-list of what a state_dict needs; nothing of it is executed, and
// any other object is refused by its name.
nn::StateDict load_torch(const std::filesystem::path& path);
// A state_dict as torch.save writes it, for torch.load(path), with weights_only too. Values that
// share memory share a storage there. Throws kUnsupported for element types that torch.save has no
// storage for.
void save_torch(const nn::StateDict& state, const std::filesystem::path& path);

// The state of a torch optimiser of the same kind (torch.save(optimizer.state_dict(), path)) for
// `like`.load_state_dict(): parameters by their place, numbers in the types that `like` has. What
// torch has no state of (a parameter without a gradient so far) is as in `like`. `key`: where it
// stands in a checkpoint ("optimizer"). Throws kInvalidArgument where the file has no such state.
nn::StateDict load_torch_optimizer(const std::filesystem::path& path, const optim::Optimizer& like,
                                   const std::string& key = "");

}  // namespace sardonyx::eager
