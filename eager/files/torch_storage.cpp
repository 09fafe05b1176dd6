#include "eager/files/torch_storage.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "onnx_io/file_access.h"
#include "onnx_io/zip/zip_reader.h"

namespace sardonyx::eager {
namespace {

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;

struct StorageType {
  std::string_view name;
  DType dtype;
};
constexpr StorageType kStorages[] = {
    {"DoubleStorage", DType::kDouble},
    {"FloatStorage", DType::kFloat},
    {"HalfStorage", DType::kFloat16},
    {"BFloat16Storage", DType::kBFloat16},
    {"LongStorage", DType::kInt64},
    {"IntStorage", DType::kInt32},
    {"ShortStorage", DType::kInt16},
    {"CharStorage", DType::kInt8},
    {"ByteStorage", DType::kUInt8},
    {"BoolStorage", DType::kBool},
    {"ComplexFloatStorage", DType::kComplex64},
    {"ComplexDoubleStorage", DType::kComplex128},
};

class ZipArchive : public TorchArchive {
 public:
  explicit ZipArchive(const std::filesystem::path& path)
      : TorchArchive(path.string()), zip_(path, "a file of torch.save"), prefix_(find_prefix()) {
    const std::string order = prefix_ + "byteorder";
    constexpr uint64_t kMaxOrderBytes = 16;
    if (zip_.has(order)) {
      if (zip_.size_of(order) > kMaxOrderBytes) refuse("its byteorder is none");
      const auto bytes = zip_.read(order);
      const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      if (text != "little") refuse("its numbers are not little-endian");
    }
    const std::string pickle = prefix_ + "data.pkl";
    if (zip_.size_of(pickle) > kMaxPickleBytes) refuse("its pickle is too large");
    const auto bytes = zip_.read(pickle);
    pickle_ = read_pickle({bytes->data(), bytes->size()}, zip_.file_name());
  }
  uint64_t bytes_of(const std::string& key) const override {
    return zip_.size_of(prefix_ + "data/" + key);
  }
  std::shared_ptr<Buffer> read(const std::string& key) const override {
    return zip_.read(prefix_ + "data/" + key);
  }

 private:
  std::string find_prefix() const {
    constexpr std::string_view kPickle = "data.pkl";
    for (const std::string& name : zip_.names()) {
      if (name == kPickle || name.ends_with("/data.pkl"))
        return name.substr(0, name.size() - kPickle.size());
    }
    refuse("it has no data.pkl");
  }

  ZipReader zip_;
  std::string prefix_;
};

// A magic number, a version and facts about the machine, each a pickle; then the value's, a list of
// keys, and for each of these a count and the elements.
constexpr std::string_view kMagic("\x80\2\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);
constexpr int64_t kLegacyVersion = 1001;

class LegacyArchive : public TorchArchive {
 public:
  explicit LegacyArchive(const std::filesystem::path& path, const OpenFile& file)
      : TorchArchive(path.string()), map_(map_file(file)) {
    at_ = kMagic.size();
    const Pickle version = next();
    if (version.at(version.root).integer != kLegacyVersion) refuse("its version is unknown");
    check_order(next());
    pickle_ = next();
    const Pickle keys = next();
    find_storages(keys);
  }
  uint64_t bytes_of(const std::string& key) const override { return place_of(key).bytes; }
  std::shared_ptr<Buffer> read(const std::string& key) const override {
    const RecordRange& place = place_of(key);
    auto made = Buffer::allocate(place.bytes);
    std::memcpy(made->data(), map_->data() + place.offset, place.bytes);
    return made;
  }

 private:
  struct RecordRange {
    size_t offset = 0, bytes = 0;
  };
  using Kind = Pickle::Kind;

  Pickle next() {
    size_t end = 0;
    const size_t left = std::min<size_t>(map_->size() - at_, kMaxPickleBytes);
    Pickle made = read_pickle(std::span(map_->data() + at_, left), file_, &end);
    at_ += end;
    return made;
  }

  void check_order(const Pickle& facts) const {
    const std::vector<uint32_t>& items = facts.at(facts.root).items;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (facts.at(items[i]).text == "little_endian" && facts.at(items[i + 1]).integer == 0)
        refuse("its numbers are not little-endian");
    }
  }

  // The type of a storage stands where a tensor uses it: ("storage", type, key, device, count,
  // view).
  std::unordered_map<std::string, DType> types() const {
    std::unordered_map<std::string, DType> found;
    for (const Pickle::PickleNode& node : pickle_.nodes) {
      if (node.kind != Kind::kPersistent) continue;
      const std::vector<uint32_t>& items = pickle_.at(node.items[0]).items;
      if (items.size() < 3) continue;
      if (items.size() > 5 && pickle_.at(items[5]).kind != Kind::kNone)
        refuse("it has views of storages, as torch wrote them before 0.4");
      const std::string& type = pickle_.at(items[1]).text;
      constexpr std::string_view kModule = "torch ";
      if (type.starts_with(kModule))
        found[pickle_.at(items[2]).text] = storage_dtype(type.substr(kModule.size()));
    }
    return found;
  }

  void find_storages(const Pickle& keys) {
    const auto known = types();
    for (const uint32_t item : keys.at(keys.root).items) {
      const std::string& key = keys.at(item).text;
      const auto type = known.find(key);
      int64_t count = 0;
      if (type == known.end() || type->second == DType::kUndefined || left() < sizeof count)
        refuse("the storage '" + key + "' is used by no tensor, or missing");
      std::memcpy(&count, map_->data() + at_, sizeof count);
      at_ += sizeof count;
      const auto width = static_cast<uint64_t>(bits_of(type->second)) / 8;
      if (count < 0 || static_cast<uint64_t>(count) > left() / width)
        refuse("the storage '" + key + "' reaches out of the file");
      const size_t bytes = static_cast<size_t>(count) * width;
      places_[key] = {at_, bytes};
      at_ += bytes;
    }
  }
  size_t left() const { return map_->size() - at_; }

  const RecordRange& place_of(const std::string& key) const {
    const auto at = places_.find(key);
    if (at == places_.end()) refuse("it has no storage '" + key + "'");
    return at->second;
  }

  std::shared_ptr<Buffer> map_;
  size_t at_ = 0;
  std::unordered_map<std::string, RecordRange> places_;
};

bool is_legacy(const OpenFile& file) {
  std::string start(kMagic.size(), '\0');
  if (file.size < start.size()) return false;
  read_exactly(file, 0, start.data(), start.size());
  return start == kMagic;
}

}  // namespace

DType storage_dtype(std::string_view name) {
  for (const StorageType& known : kStorages) {
    if (known.name == name) return known.dtype;
  }
  return DType::kUndefined;
}

std::string_view storage_name(DType dtype) {
  for (const StorageType& known : kStorages) {
    if (known.dtype == dtype) return known.name;
  }
  return "";
}

void TorchArchive::refuse(const std::string& why) const {
  fail(ErrorCode::kInvalidArgument, file_, ": not a file of torch.save: ", why);
}

std::unique_ptr<TorchArchive> TorchArchive::open(const std::filesystem::path& path) {
  const OpenFile file = open_regular(path);
  if (is_legacy(file)) return std::make_unique<LegacyArchive>(path, file);
  return std::make_unique<ZipArchive>(path);
}

}  // namespace sardonyx::eager
