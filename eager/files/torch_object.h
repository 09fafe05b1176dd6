// Dicts, lists, numbers, texts and tensors that hold each other, in files of torch.save:
// checkpoints of a model with its optimiser and the epoch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager {

struct TorchObject {
  struct List {
    std::vector<TorchObject> items;
    bool is_tuple = false;
  };
  struct Dict {
    std::vector<TorchObject> keys, values;  // as many of one as of the other, in their order
    bool is_ordered = false;                // written as a collections.OrderedDict
  };
  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, List, Dict> value;
};

// What torch.save wrote, in its zip form or the one before torch 1.6. Parameters are tensors,
// torch.Size a tuple, an OrderedDict a dict. As load_torch() otherwise: nothing is executed, and
// objects of other kinds are refused by their names.
TorchObject load_torch_object(const std::filesystem::path& path);

// The file of torch.save(object, path), for torch.load(path), with weights_only too (torch 1.13
// takes no floats then). Tensors that share memory share a storage there. Throws kUnsupported for
// element types that torch.save has no storage for, naming the place: "model.fc.weight".
void save_torch_object(const TorchObject& object, const std::filesystem::path& path);

}  // namespace sardonyx::eager
