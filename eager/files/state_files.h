// Named tensors in files: safetensors, numpy's .npz, and what torch.save writes. Files are written
// so that a reader sees the old or the new one; what is read is checked, and kInvalidArgument names
// the file and what is wrong with it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "eager/nn/module.h"

namespace sardonyx::eager {

// By the name's end: .safetensors or .npz. Writing .pt or .pth throws kUnsupported.
void save(const nn::StateDict& state, const std::filesystem::path& path);
// The same, and .pt, .pth, .bin (torch's).
nn::StateDict load(const std::filesystem::path& path);

// https://github.com/huggingface/safetensors: a JSON header, then the elements. The same tensors
// give the same bytes. Strings, complex128 and types of less than 8 bits cannot be written.
using Metadata = std::map<std::string, std::string>;
void save_safetensors(const nn::StateDict& state, const std::filesystem::path& path,
                      const Metadata& metadata = {});
nn::StateDict load_safetensors(const std::filesystem::path& path, Metadata* metadata = nullptr);

// Types that numpy lacks are widened without loss (bfloat16 to float32).
void save_npz(const nn::StateDict& state, const std::filesystem::path& path);
nn::StateDict load_npz(const std::filesystem::path& path);

// A file of torch.save (its zip form, the default since torch 1.6): a state_dict, or dicts and
// lists that hold one: {"model": {...}} gives "model.fc.weight". Values that are no tensors are
// left out. The pickle inside is interpreted by an allow-list of what a state_dict needs; nothing
// of it is executed, and any other object is refused by its name.
nn::StateDict load_torch(const std::filesystem::path& path);

}  // namespace sardonyx::eager
