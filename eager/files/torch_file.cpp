#include <cstring>
#include <unordered_map>

#include "eager/files/pickle.h"
#include "eager/files/state_files.h"
#include "ir/tensor.h"
#include "onnx_io/zip_reader.h"

namespace sardonyx::eager {
namespace {

using Kind = Pickle::Kind;
using Node = Pickle::Node;

constexpr uint64_t kMostPickleBytes = uint64_t{64} << 20;
constexpr size_t kMostTensors = 100'000, kMostRank = 64;
constexpr int kMostDepth = 64;

struct StorageType {
  std::string_view name;
  DType dtype;
};
constexpr StorageType kStorages[] = {
    {"torch DoubleStorage", DType::kDouble},
    {"torch FloatStorage", DType::kFloat},
    {"torch HalfStorage", DType::kFloat16},
    {"torch BFloat16Storage", DType::kBFloat16},
    {"torch LongStorage", DType::kInt64},
    {"torch IntStorage", DType::kInt32},
    {"torch ShortStorage", DType::kInt16},
    {"torch CharStorage", DType::kInt8},
    {"torch ByteStorage", DType::kUInt8},
    {"torch BoolStorage", DType::kBool},
    {"torch ComplexFloatStorage", DType::kComplex64},
    {"torch ComplexDoubleStorage", DType::kComplex128},
};

class TorchReader {
 public:
  explicit TorchReader(const std::filesystem::path& path)
      : zip_(path, "a file of torch.save (its zip form)"), prefix_(find_prefix()) {
    const std::string order = prefix_ + "byteorder";
    constexpr uint64_t kMostOrderBytes = 16;
    if (zip_.has(order)) {
      if (zip_.size_of(order) > kMostOrderBytes) zip_.refuse("its byteorder is none");
      const auto bytes = zip_.read(order);
      const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      if (text != "little") zip_.refuse("its numbers are not little-endian");
    }
    const std::string pickle = prefix_ + "data.pkl";
    if (zip_.size_of(pickle) > kMostPickleBytes) zip_.refuse("its pickle is too large");
    const auto bytes = zip_.read(pickle);
    pickle_ = read_pickle({bytes->data(), bytes->size()}, zip_.file_name());
  }

  nn::StateDict read() {
    visit(pickle_.root, "", 0);
    return std::move(state_);
  }

 private:
  struct Storage {
    DType dtype = DType::kUndefined;
    std::shared_ptr<Buffer> bytes;
    int64_t count = 0;
  };

  std::string find_prefix() const {
    constexpr std::string_view kPickle = "data.pkl";
    for (const std::string& name : zip_.names()) {
      if (name == kPickle || name.ends_with("/data.pkl"))
        return name.substr(0, name.size() - kPickle.size());
    }
    zip_.refuse("it has no data.pkl");
  }

  // Tensors below a value, under the names that lead to them.
  void visit(uint32_t index, const std::string& name, int depth) {
    if (depth > kMostDepth) zip_.refuse("its values are nested too deep");
    // A value that is held many times over would be walked as often.
    if (++visits_ > 10 * kMostTensors) zip_.refuse("it holds too many values");
    const Node& node = pickle_.at(index);
    const auto below = [&](const std::string& key) {
      return name.empty() ? key : name + "." + key;
    };
    if (node.kind == Kind::kCall) {
      if (is_call(node, "torch Size")) return;
      if (state_.size() >= kMostTensors) zip_.refuse("it holds too many tensors");
      if (!state_.emplace(name, Tensor(tensor_of(node, name))).second)
        zip_.refuse("the name '" + name + "' stands in it twice");
    } else if (node.kind == Kind::kDict) {
      for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
        const Node& key = pickle_.at(node.items[i]);
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

  bool is_call(const Node& node, std::string_view callee) const {
    return node.kind == Kind::kCall && pickle_.at(node.items[0]).text == callee;
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    zip_.refuse("'" + name + "' " + why);
  }
  const Node& argument(const std::vector<uint32_t>& arguments, size_t index, Kind kind,
                       const std::string& name) const {
    if (index >= arguments.size() || pickle_.at(arguments[index]).kind != kind)
      refuse(name, "is no tensor as torch writes it");
    return pickle_.at(arguments[index]);
  }

  std::vector<int64_t> integers(const Node& tuple, const std::string& name) const {
    const std::vector<uint32_t>* items = &tuple.items;
    if (is_call(tuple, "torch Size")) {
      const Node& arguments = pickle_.at(tuple.items[1]);
      items = &argument(arguments.items, 0, Kind::kTuple, name).items;
    }
    std::vector<int64_t> values;
    if (items->size() > kMostRank) refuse(name, "has an impossible rank");
    for (const uint32_t item : *items) {
      const Node& value = pickle_.at(item);
      if (value.kind != Kind::kInteger || value.integer < 0)
        refuse(name, "has an impossible shape or stride");
      values.push_back(value.integer);
    }
    return values;
  }

  // ("storage", type, key, device, count)
  const Storage& storage_of(const Node& persistent, const std::string& name) {
    const Node& identity = pickle_.at(persistent.items[0]);
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
    const std::string member = prefix_ + "data/" + key;
    if (bytes_for(storage.dtype, count) != zip_.size_of(member)) {
      refuse(name, text("says that its storage has ", count, " elements, but it has ",
                        zip_.size_of(member), " bytes"));
    }
    storage.bytes = zip_.read(member);
    return storages_[key] = storage;
  }
  DType type_of(const std::string& type, const std::string& name) const {
    for (const StorageType& known : kStorages) {
      if (known.name == type) return known.dtype;
    }
    refuse(name, "has elements of type " + type);
  }

  sardonyx::Tensor tensor_of(const Node& call, const std::string& name) {
    const std::vector<uint32_t>& arguments = pickle_.at(call.items[1]).items;
    if (is_call(call, "torch._utils _rebuild_parameter")) {
      const Node& inner = argument(arguments, 0, Kind::kCall, name);
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
                            const Shape& strides, const std::string& name) const {
    const int64_t count = element_count(shape);
    if (count > storage.count)
      refuse(name, text("has shape ", to_text(shape), " on a storage of ", storage.count,
                        " elements; save a contiguous copy"));
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
  void check_bools(const sardonyx::Tensor& made, const std::string& name) const {
    if (made.dtype() != DType::kBool) return;
    const auto* bytes = static_cast<const uint8_t*>(made.raw());
    for (int64_t i = 0; i < made.count(); ++i) {
      if (bytes[i] > 1) refuse(name, text("has a bool of value ", int{bytes[i]}));
    }
  }

  ZipReader zip_;
  std::string prefix_;
  Pickle pickle_;
  std::unordered_map<std::string, Storage> storages_;
  nn::StateDict state_;
  size_t visits_ = 0;
};

}  // namespace

nn::StateDict load_torch(const std::filesystem::path& path) {
  return TorchReader(path).read();
}

}  // namespace sardonyx::eager
