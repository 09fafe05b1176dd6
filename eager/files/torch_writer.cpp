// State dicts, and what holds them, as torch.save writes them: a zip of a pickle and of one member
// for each storage.
#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <type_traits>

#include "eager/files/state_files.h"
#include "eager/files/torch_object.h"
#include "eager/files/torch_storage.h"
#include "eager/nn/state_dict.h"
#include "ir/type.h"
#include "onnx_io/zip/zip_writer.h"

namespace sardonyx::eager {
namespace {

// What torch aligns storages to, so that they can be mapped.
constexpr uint64_t kStorageAlignment = 64;

// Pickle's opcodes, protocol 2.
class PickleWriter {
 public:
  PickleWriter() { out_ = "\x80\2"; }
  void global(std::string_view module, std::string_view name) {
    out_ += 'c';
    out_.append(module).append("\n").append(name).append("\n");
  }
  void text(std::string_view value) {
    out_ += 'X';
    put(static_cast<uint32_t>(value.size()));
    out_ += value;
  }
  void integer(int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      out_ += 'J';
      put(static_cast<int32_t>(value));
    } else {
      out_ += "\x8a\x08";
      put(value);
    }
  }
  void tuple(const Shape& values) {
    mark();
    for (const int64_t value : values)
      integer(value);
    end_tuple();
  }
  void real(double value) {
    out_ += 'G';
    put(__builtin_bswap64(std::bit_cast<uint64_t>(value)));
  }
  void none() { out_ += 'N'; }
  void list() { out_ += ']'; }
  void end_list() { out_ += 'e'; }
  void dict() { out_ += '}'; }
  void mark() { out_ += '('; }
  void end_tuple() { out_ += 't'; }
  void call() { out_ += 'R'; }
  void persistent() { out_ += 'Q'; }
  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }
  void ordered_dict() {
    global("collections", "OrderedDict");
    out_ += ')';
    call();
  }
  void end_items() { out_ += 'u'; }
  std::string take() { return std::move(out_ += '.'); }

 private:
  template <typename T>
  void put(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string out_;
};

class TorchWriter {
 public:
  explicit TorchWriter(const std::filesystem::path& path)
      : path_(path), folder_(path.stem().string()) {
    if (folder_.empty()) folder_ = "archive";
  }

  void write(const TorchObject& object) {
    PickleWriter pickle;
    add(pickle, "", object);
    ZipWriter zip(path_);
    const auto add_text = [&](const char* member, const std::string& text) {
      zip.add(folder_ + "/" + member, std::as_bytes(std::span(text)));
    };
    add_text("data.pkl", pickle.take());
    add_text("byteorder", "little");
    for (size_t key = 0; key < storages_.size(); ++key) {
      const sardonyx::Tensor& tensor = storages_[key];
      zip.add(folder_ + "/data/" + std::to_string(key),
              {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()}, kStorageAlignment);
    }
    add_text("version", "3\n");
    zip.close();
  }

 private:
  // `name`: what leads to the value.
  void add(PickleWriter& pickle, const std::string& name, const TorchObject& object) {
    std::visit(
        [&]<typename T>(const T& value) {
          if constexpr (std::is_same_v<T, std::monostate>)
            pickle.none();
          else if constexpr (std::is_same_v<T, bool>)
            pickle.boolean(value);
          else if constexpr (std::is_same_v<T, int64_t>)
            pickle.integer(value);
          else if constexpr (std::is_same_v<T, double>)
            pickle.real(value);
          else if constexpr (std::is_same_v<T, std::string>)
            pickle.text(value);
          else if constexpr (std::is_same_v<T, Tensor>)
            add(pickle, name, value.data());
          else
            add(pickle, name, value);
        },
        object.value);
  }
  void add(PickleWriter& pickle, const std::string& name, const TorchObject::List& list) {
    if (!list.is_tuple) pickle.list();
    pickle.mark();
    for (size_t i = 0; i < list.items.size(); ++i)
      add(pickle, nn::path_below(name, std::to_string(i)), list.items[i]);
    list.is_tuple ? pickle.end_tuple() : pickle.end_list();
  }
  void add(PickleWriter& pickle, const std::string& name, const TorchObject::Dict& dict) {
    dict.is_ordered ? pickle.ordered_dict() : pickle.dict();
    pickle.mark();
    for (size_t i = 0; i < dict.keys.size(); ++i) {
      add(pickle, name, dict.keys[i]);
      const auto* text = std::get_if<std::string>(&dict.keys[i].value);
      const auto* number = std::get_if<int64_t>(&dict.keys[i].value);
      const std::string key = text ? *text : number ? std::to_string(*number) : "?";
      add(pickle, nn::path_below(name, key), dict.values[i]);
    }
    pickle.end_items();
  }
  void add(PickleWriter& pickle, const std::string& name, const sardonyx::Tensor& tensor) {
    const std::string_view type = storage_name(tensor.dtype());
    if (type.empty()) {
      fail(ErrorCode::kUnsupported, path_.string(), ": '", name, "' has elements of type ",
           tensor.dtype(), ", which torch.save has no storage for; save as .safetensors or .npz");
    }
    pickle.global("torch._utils", "_rebuild_tensor_v2");
    pickle.mark();
    pickle.mark();
    pickle.text("storage");
    pickle.global("torch", type);
    pickle.text(std::to_string(key_of(tensor)));
    pickle.text("cpu");
    pickle.integer(tensor.count());
    pickle.end_tuple();
    pickle.persistent();
    pickle.integer(0);  // the offset
    pickle.tuple(tensor.shape());
    pickle.tuple(contiguous_strides(tensor.shape()));
    pickle.boolean(false);
    pickle.ordered_dict();  // hooks
    pickle.end_tuple();
    pickle.call();
  }

  static Shape contiguous_strides(const Shape& shape) {
    Shape strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
    return strides;
  }

  // Tensors of one memory are one storage, so that tied weights stay tied.
  size_t key_of(const sardonyx::Tensor& tensor) {
    const Identity identity{tensor.raw(), tensor.dtype(), tensor.count()};
    const auto [at, is_new] = keys_.try_emplace(identity, storages_.size());
    if (is_new || tensor.count() == 0) {
      at->second = storages_.size();
      storages_.push_back(tensor);
    }
    return at->second;
  }

  using Identity = std::tuple<const void*, DType, int64_t>;
  std::filesystem::path path_;
  std::string folder_;
  std::map<Identity, size_t> keys_;
  std::vector<sardonyx::Tensor> storages_;
};

}  // namespace

void save_torch_object(const TorchObject& object, const std::filesystem::path& path) {
  TorchWriter(path).write(object);
}

void save_torch(const nn::StateDict& state, const std::filesystem::path& path) {
  TorchObject::Dict dict{.is_ordered = true};
  for (const auto& [name, tensor] : state) {
    dict.keys.push_back({name});
    dict.values.push_back({tensor});
  }
  save_torch_object({std::move(dict)}, path);
}

}  // namespace sardonyx::eager
