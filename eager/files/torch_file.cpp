#include <cstring>
#include <unordered_map>

#include "eager/files/state_files.h"
#include "eager/files/torch_numbers.h"
#include "eager/files/torch_object.h"
#include "eager/files/torch_storage.h"
#include "eager/nn/state_dict.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager {
namespace {

using Kind = Pickle::Kind;
using PickleNode = Pickle::PickleNode;

constexpr size_t kMaxTensors = 100'000, kMaxTensorRank = 64;
constexpr int kMaxDepth = 64;
// What tensors that repeat elements (strides of 0) may take in all.
constexpr int64_t kMaxExpandedBytes = int64_t{1} << 30;

class TorchReader {
 public:
  // With numbers (as tensors of rank 0) besides tensors, or without.
  TorchReader(const std::filesystem::path& path, bool wants_numbers)
      : archive_(TorchArchive::open(path)),
        pickle_(archive_->pickle()),
        wants_numbers_(wants_numbers) {}

  nn::StateDict read() {
    visit(pickle_.root, "", 0);
    return std::move(state_);
  }
  TorchObject read_object() { return object_at(pickle_.root, "", 0); }

 private:
  struct Storage {
    DType dtype = DType::kUndefined;
    std::shared_ptr<Buffer> bytes;
    int64_t count = 0;
  };

  const PickleNode& visited(uint32_t index, int depth) {
    if (depth > kMaxDepth) archive_->refuse("its values are nested too deep");
    // A value that is held many times over would be walked as often.
    if (++visits_ > 10 * kMaxTensors) archive_->refuse("it holds too many values");
    return pickle_.at(index);
  }

  // Tensors below a value, under the names that lead to them.
  void visit(uint32_t index, const std::string& name, int depth) {
    const PickleNode& node = visited(index, depth);
    const auto below = [&](const std::string& key) { return nn::path_below(name, key); };
    if (node.kind == Kind::kCall) {
      if (is_call(node, "torch Size")) return;
      add(name, Tensor(tensor_of(node, name)));
    } else if (node.kind == Kind::kInteger || node.kind == Kind::kBool) {
      if (wants_numbers_) add(name, Tensor::scalar(node.integer));
    } else if (node.kind == Kind::kReal) {
      if (wants_numbers_) add(name, Tensor::scalar(node.real));
    } else if (node.kind == Kind::kDict) {
      for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
        const PickleNode& key = pickle_.at(node.items[i]);
        if (key.kind == Kind::kText)
          visit(node.items[i + 1], below(key.text), depth + 1);
        else if (key.kind == Kind::kInteger)
          visit(node.items[i + 1], below(std::to_string(key.integer)), depth + 1);
      }
    } else if (node.kind == Kind::kList || node.kind == Kind::kTuple) {
      for (size_t i = 0; i < node.items.size(); ++i)
        visit(node.items[i], below(std::to_string(i)), depth + 1);
    }
  }

  // `name`: what leads to the value.
  TorchObject object_at(uint32_t index, const std::string& name, int depth) {
    const PickleNode& node = visited(index, depth);
    switch (node.kind) {
      case Kind::kNone:
        return {};
      case Kind::kBool:
        return {node.integer != 0};
      case Kind::kInteger:
        return {node.integer};
      case Kind::kReal:
        return {node.real};
      case Kind::kText:
        return {node.text};
      case Kind::kDict:
        return {dict_at(node, name, depth)};
      case Kind::kList:
      case Kind::kTuple:
        return {list_at(node, name, depth)};
      case Kind::kCall:
        break;
      case Kind::kGlobal:
      case Kind::kPersistent:
        refuse(name, "is " + node.text + ", which is no value");
    }
    if (is_call(node, "torch Size")) {
      TorchObject::List sizes{.is_tuple = true};
      for (const int64_t size : integers(node, name))
        sizes.items.push_back({size});
      return {std::move(sizes)};
    }
    if (++tensors_ > kMaxTensors) archive_->refuse("it holds too many tensors");
    return {Tensor(tensor_of(node, name))};
  }
  TorchObject::List list_at(const PickleNode& node, const std::string& name, int depth) {
    TorchObject::List list{.is_tuple = node.kind == Kind::kTuple};
    for (const uint32_t item : node.items)
      list.items.push_back(
          object_at(item, nn::path_below(name, std::to_string(list.items.size())), depth + 1));
    return list;
  }
  TorchObject::Dict dict_at(const PickleNode& node, const std::string& name, int depth) {
    TorchObject::Dict dict;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const PickleNode& key = pickle_.at(node.items[i]);
      const std::string text = key.kind == Kind::kText ? key.text : std::to_string(key.integer);
      dict.keys.push_back(object_at(node.items[i], name, depth + 1));
      dict.values.push_back(object_at(node.items[i + 1], nn::path_below(name, text), depth + 1));
    }
    return dict;
  }

  void add(const std::string& name, const Tensor& tensor) {
    if (state_.size() >= kMaxTensors) archive_->refuse("it holds too many tensors");
    if (!state_.emplace(name, tensor).second)
      archive_->refuse("the name '" + name + "' stands in it twice");
  }

  bool is_call(const PickleNode& node, std::string_view callee) const {
    return node.kind == Kind::kCall && pickle_.at(node.items[0]).text == callee;
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    archive_->refuse("'" + name + "' " + why);
  }
  const PickleNode& argument(const std::vector<uint32_t>& arguments, size_t index, Kind kind,
                             const std::string& name) const {
    if (index >= arguments.size() || pickle_.at(arguments[index]).kind != kind)
      refuse(name, "is no tensor as torch writes it");
    return pickle_.at(arguments[index]);
  }

  std::vector<int64_t> integers(const PickleNode& tuple, const std::string& name) const {
    const std::vector<uint32_t>* items = &tuple.items;
    if (is_call(tuple, "torch Size")) {
      const PickleNode& arguments = pickle_.at(tuple.items[1]);
      items = &argument(arguments.items, 0, Kind::kTuple, name).items;
    }
    std::vector<int64_t> values;
    if (items->size() > kMaxTensorRank) refuse(name, "has an impossible rank");
    for (const uint32_t item : *items) {
      const PickleNode& value = pickle_.at(item);
      if (value.kind != Kind::kInteger || value.integer < 0)
        refuse(name, "has an impossible shape or stride");
      values.push_back(value.integer);
    }
    return values;
  }

  // ("storage", type, key, device, count)
  const Storage& storage_of(const PickleNode& persistent, const std::string& name) {
    const PickleNode& identity = pickle_.at(persistent.items[0]);
    if (identity.kind != Kind::kTuple) refuse(name, "is no tensor as torch writes it");
    if (argument(identity.items, 0, Kind::kText, name).text != "storage")
      refuse(name, "is no tensor as torch writes it");
    const std::string& type = argument(identity.items, 1, Kind::kGlobal, name).text;
    const std::string& key = argument(identity.items, 2, Kind::kText, name).text;
    const int64_t count = argument(identity.items, 4, Kind::kInteger, name).integer;
    const auto known = storages_.find(key);
    if (known != storages_.end()) {
      if (type_of(type, name) != known->second.dtype) refuse(name, "shares memory of another type");
      return known->second;
    }
    Storage storage{type_of(type, name), nullptr, count};
    if (count < 0) refuse(name, "has a storage of negative size");
    if (bytes_for(storage.dtype, count) != archive_->bytes_of(key)) {
      refuse(name, text("says that its storage has ", count, " elements, but it has ",
                        archive_->bytes_of(key), " bytes"));
    }
    storage.bytes = archive_->read(key);
    return storages_[key] = storage;
  }
  DType type_of(const std::string& type, const std::string& name) const {
    constexpr std::string_view kModule = "torch ";
    const DType dtype = type.starts_with(kModule)
                            ? storage_dtype(std::string_view(type).substr(kModule.size()))
                            : DType::kUndefined;
    if (dtype != DType::kUndefined) return dtype;
    refuse(name, "has elements of type " + type);
  }

  sardonyx::Tensor tensor_of(const PickleNode& call, const std::string& name) {
    const std::vector<uint32_t>& arguments = pickle_.at(call.items[1]).items;
    if (is_call(call, "torch._utils _rebuild_parameter")) {
      const PickleNode& inner = argument(arguments, 0, Kind::kCall, name);
      if (is_call(inner, "torch._utils _rebuild_parameter"))
        refuse(name, "is a parameter of a parameter");
      return tensor_of(inner, name);
    }
    if (!is_call(call, "torch._utils _rebuild_tensor_v2"))
      refuse(name, "is no tensor as torch writes it");
    const Storage& storage = storage_of(argument(arguments, 0, Kind::kPersistent, name), name);
    const int64_t offset = argument(arguments, 1, Kind::kInteger, name).integer;
    if (arguments.size() < 4) refuse(name, "is no tensor as torch writes it");
    const Shape shape = integers(pickle_.at(arguments[2]), name);
    Shape strides = integers(pickle_.at(arguments[3]), name);
    if (shape.size() != strides.size() || offset < 0)
      refuse(name, "has an impossible shape or stride");
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) strides[i] = 0;  // it means nothing then
    }
    return elements(storage, offset, shape, strides, name);
  }

  sardonyx::Tensor elements(const Storage& storage, int64_t offset, const Shape& shape,
                            const Shape& strides, const std::string& name) {
    const int64_t count = element_count(shape);
    if (count > storage.count) check_expanded(storage, shape, count, name);
    int64_t last = offset;
    for (size_t i = 0; count > 0 && i < shape.size(); ++i) {
      int64_t reach = 0;
      if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
          __builtin_add_overflow(last, reach, &last)) {
        refuse(name, "reaches out of its storage");
      }
    }
    if (count > 0 && last >= storage.count) refuse(name, "reaches out of its storage");
    sardonyx::Tensor made = sardonyx::Tensor::allocate(storage.dtype, shape);
    const size_t width = static_cast<size_t>(bits_of(storage.dtype)) / 8;
    auto* to = static_cast<std::byte*>(made.raw());
    Shape index(shape.size());
    int64_t from = offset;
    for (int64_t done = 0; done < count; ++done) {
      std::memcpy(to + static_cast<size_t>(done) * width,
                  storage.bytes->data() + static_cast<size_t>(from) * width, width);
      for (size_t axis = shape.size(); axis-- > 0;) {
        from += strides[axis];
        if (++index[axis] < shape[axis]) break;
        from -= strides[axis] * shape[axis];
        index[axis] = 0;
      }
    }
    check_bools(made, name);
    return made;
  }
  void check_expanded(const Storage& storage, const Shape& shape, int64_t count,
                      const std::string& name) {
    const int64_t width = bits_of(storage.dtype) / 8;
    if (count <= (kMaxExpandedBytes - expanded_bytes_) / width) {
      expanded_bytes_ += count * width;
      return;
    }
    refuse(name, text("has shape ", to_text(shape), " on a storage of ", storage.count,
                      " elements, more than can be repeated; save a contiguous copy"));
  }
  void check_bools(const sardonyx::Tensor& made, const std::string& name) const {
    if (made.dtype() != DType::kBool) return;
    const auto* bytes = static_cast<const uint8_t*>(made.raw());
    for (int64_t i = 0; i < made.count(); ++i) {
      if (bytes[i] > 1) refuse(name, text("has a bool of value ", int{bytes[i]}));
    }
  }

  std::unique_ptr<TorchArchive> archive_;
  const Pickle& pickle_;
  bool wants_numbers_;
  int64_t expanded_bytes_ = 0;
  std::unordered_map<std::string, Storage> storages_;
  nn::StateDict state_;
  size_t visits_ = 0, tensors_ = 0;
};

}  // namespace

TorchObject load_torch_object(const std::filesystem::path& path) {
  return TorchReader(path, true).read_object();
}

nn::StateDict load_torch(const std::filesystem::path& path) {
  return TorchReader(path, false).read();
}

nn::StateDict detail::load_torch_numbers(const std::filesystem::path& path) {
  return TorchReader(path, true).read();
}

}  // namespace sardonyx::eager
