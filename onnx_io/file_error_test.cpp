// Files that are not what they should be.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <fstream>

#include "ir/core/memory/evictable_buffer.h"
#include "onnx_io/file_write.h"
#include "onnx_io/lazy_load.h"
#include "onnx_io/npy.h"
#include "onnx_io/npz.h"
#include "onnx_io/save.h"
#include "onnx_io/test_model.h"
#include "onnx_io/zip/zip_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

using namespace std::string_literals;
using namespace test;

constexpr ErrorCode kArgument = ErrorCode::kInvalidArgument, kModel = ErrorCode::kInvalidModel,
                    kExhausted = ErrorCode::kResourceExhausted;

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
// ---- names and kinds of files ----

TEST(FileRefusals, NamesAndKinds) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe", empty = folder.path() / "empty";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  write(empty, "");
  expect_refusal(kArgument, "is not a regular file", [&] { load_model(pipe); });
  expect_refusal(kArgument, "holds a NUL byte", [] { open_regular("a\0b"s); });
  expect_refusal(kArgument, "holds a NUL byte", [] { AtomicFile file("a\0b"s); });
  expect_refusal(kModel, "the file is empty", [&] { load_model(empty); });
  write(folder.path() / "model", "12345");
  LoadOptions small;
  small.limits.file_bytes = 4;
  expect_refusal(kExhausted, "has 5 bytes, more than the limit of 4",
                 [&] { load_model(folder.path() / "model", small); });
  expect_refusal(kArgument, "has 5 bytes, more than the limit of 4",
                 [&] { read_tensor_file(folder.path() / "model", std::nullopt, small.limits); });
  std::filesystem::create_directory(folder.path() / "taken");
  expect_refusal(kArgument, "can't be renamed to",
                 [&] { write_atomically(folder.path() / "taken", "x"); });
  expect_refusal(kArgument, "no value to write",
                 [&] { write_tensor_file(folder.path() / "x.pb", "x", Datum()); });
}

TEST(FileRefusals, PlacesThatAreNotThere) {
  const TemporaryFolder folder;
  expect_refusal(kArgument, "none: can't be opened: No such file or directory",
                 [&] { open_regular(folder.path() / "none"); });
  expect_refusal(kArgument, "can't be created: No such file or directory",
                 [&] { AtomicFile file(folder.path() / "none" / "file"); });
  // All names that a writer tries are taken.
  for (int i = 0; i < 100; ++i)
    write(folder.path() / text("file.", getpid(), ".", i, ".tmp"), "");
  expect_refusal(kArgument, "can't be created: File exists",
                 [&] { AtomicFile file(folder.path() / "file"); });
}

TEST(FileRefusals, TooManyOpenFiles) {
  const TemporaryFolder folder;
  write(folder.path() / "data", "1");
  const Sandbox sandbox(folder.path(), folder.path());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = open("/dev/null", O_RDONLY);
  close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  expect_refusal(kModel, "external data location \"data\": Too many open files",
                 [&] { sandbox.open("data"); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(FileRefusals, FilesThatShrink) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "data";
  write(path, "12345678");
  const OpenFile file = open_regular(path);
  std::filesystem::resize_file(path, 4);
  char bytes[8];
  expect_refusal(kArgument, "ends early at byte 4", [&] { read_exactly(file, 0, bytes, 8); });
}

TEST(FileRefusals, Locations) {
  const TemporaryFolder folder;
  expect_refusal(kArgument, "can't be opened as a folder",
                 [&] { Sandbox(folder.path() / "none", folder.path()); });
  const Sandbox sandbox(folder.path(), folder.path());
  expect_refusal(kModel, "is empty", [&] { sandbox.open(""); });
  expect_refusal(kModel, "the path holds a NUL byte", [&] { sandbox.open("a\0b"s); });
  expect_refusal(kModel, "the path is too long", [&] { sandbox.open(std::string(5000, 'a')); });
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  expect_refusal(kModel, "is not a regular file", [&] { sandbox.open("pipe"); });
  std::filesystem::create_directory(folder / "inner");
  for (const char* place : {".", "inner/.."}) {
    expect_refusal(kModel, "is a directory, expected a regular file", [&] { sandbox.open(place); });
  }
}

// ---- models ----

// One large initializer, so that the file is read piece by piece.
ModelBuilder large_model() {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{1, 150}});
  model.graph().initializer("w", Tensor::zeros(DType::kFloat, {150, 150}));
  model.graph().node("MatMul", {"x", "w"}, {"y"});
  model.graph().output("y");
  return model;
}

std::string field(int number, const std::string& message) {
  std::string out{static_cast<char>(number << 3 | 2)};
  size_t size = message.size();
  for (; size >= 0x80; size >>= 7)
    out += static_cast<char>(size | 0x80);
  return out + static_cast<char>(size) + message;
}

TEST(ModelFileRefusals, BrokenMessages) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  const std::string good = large_model().bytes();
  const auto expect_broken = [&](const char* what, const std::string& bytes) {
    SCOPED_TRACE(what);
    write(path, bytes);
    expect_refusal(kModel, "is no valid protobuf of ONNX", [&] { load_model(path); });
  };
  expect_broken("ends within a field", good.substr(0, good.size() - 1));
  expect_broken("a tag at the end", good + "\x08");
  expect_broken("a length beyond the end", good + "\x3a\x7f");
  expect_broken("a number of eleven bytes", good + "\x08" + std::string(10, '\x81') + "\1");
  expect_broken("a wire type of none", good + "\x0f");
  // The number begins within the graph and ends behind it.
  expect_broken("a number over the end", good + field(7, "\x08") + "\1");
  expect_broken("a fixed number over the end", good + field(7, "\x0d\1\1") + "\1\1");
  expect_broken("a length over the end", good + field(7, "\x0a\x04") + "\1\1\1\1");
}

// What a group holds is no part of the model, also where it looks like a graph.
TEST(ModelFileRefusals, GroupsHoldNoGraphs) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  const std::string good = large_model().bytes();
  const std::string tensor = field(9, std::string(90000, '\7'));
  write(path, "\xa3\x06"s + field(7, field(5, tensor)) + "\xa4\x06"s + good);
  const Model model = load_model(path);
  const Node& product = *model.graph->nodes().front();
  EXPECT_EQ(*product.inputs[1]->constant, Tensor::zeros(DType::kFloat, {150, 150}));
}

TEST(ModelFileRefusals, FilesThatChangeAfterLoading) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  for (const bool maps : {false, true}) {
    write(path, large_model().bytes());
    LoadOptions options;
    options.map_external_data = maps;
    const Model model = load_model_lazily(path, options);
    std::ofstream(path, std::ios::app) << "more";
    const Tensor& weights = *model.graph->nodes().front()->inputs[1]->constant;
    const auto buffer = std::dynamic_pointer_cast<EvictableBuffer>(weights.buffer());
    ASSERT_TRUE(buffer);
    expect_refusal(kArgument, "was changed since the model was loaded", [&] { buffer->peek(); });
    expect_refusal(kArgument, "was changed since the model was loaded", [&] { buffer->reload(); });
  }
}

TEST(SaveRefusals, Options) {
  const TemporaryFolder folder;
  const Model model = large_model().load();
  const auto save = [&](const ExternalDataOptions& external) {
    SaveOptions options;
    options.external_data = external;
    save_model(model, folder.path() / "m.onnx", options);
  };
  expect_refusal(kArgument, "external_data.alignment is 0", [&] { save({.alignment = 0}); });
  for (const char* name : {"..", ".", "a/b", "/a"}) {
    expect_refusal(kArgument, "must be a plain file name", [&] { save({.file = name}); });
  }
  expect_refusal(kArgument, "is the name of the model itself", [&] { save({.file = "m.onnx"}); });
  SaveOptions external;
  external.external_data.emplace();
  expect_refusal(kArgument, "needs a file to lie beside", [&] { model_bytes(model, external); });
  ModelBuilder huge;
  huge.graph().output("w");
  huge.graph().initializer("w", Tensor::vector<float>({1}));
  const Model loaded = huge.load();
  loaded.graph->outputs()[0]->constant =
      std::make_shared<const Tensor>(Tensor::allocate(DType::kUInt8, {int64_t{1} << 31}));
  expect_refusal(kExhausted, "more than the 2 GiB of its format",
                 [&] { save_model(loaded, folder.path() / "huge.onnx"); });
}

// ---- arrays ----

std::string npy(const std::string& dict, const std::string& data, char version = 1) {
  const std::string header = dict + "\n";
  std::string out = "\x93NUMPY"s + version + '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  if (version > 1) out += "\0\0"s;
  return out + header + data;
}

TEST(ArrayRefusals, Headers) {
  std::string dims = "(";
  for (int i = 0; i < 65; ++i)
    dims += "1,";
  const std::string rest = ", 'fortran_order': False, 'shape': (1,)}";
  const std::pair<std::string, const char*> headers[] = {
      {"('descr': '<f4'" + rest, "no '{' where one belongs"},
      {"{'descr', '<f4'" + rest, "no ':' where one belongs"},
      {"{'descr': '<f4' 'shape': ()}", "no '}' where one belongs"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", "no '(' where one belongs"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "no ')' where one belongs"},
      {"{'descr': '<f4', 'odd': 1" + rest, "header entry 'odd'"},
      {"{'descr': '<f4', 'descr': '<f4'" + rest, "header entry 'descr'"},
      {"{'descr': '<f4'" + rest.substr(0, rest.size() - 1) + ", 'shape': ()}",
       "header entry 'shape'"},
      {"{'fortran_order': True" + rest, "header entry 'fortran_order'"},
      {"{'descr': '<f4', 'shape': (1,)}", "the header lacks an entry"},
      {"{descr: '<f4'" + rest, "no string where one belongs"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", "a bad dimension"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
       "a bad dimension"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': " + dims + ")}", "more than 64 dim"},
      {"{'descr': '<'" + rest, "an empty type"},
      {"{'descr': '<fx'" + rest, "type '<fx'"},
      {"{'descr': '<f4z'" + rest, "type '<f4z'"},
      {"{'descr': '<f3'" + rest, "elements of type 'f3'"},
      {"{'descr': '<U0'" + rest, "strings of no characters"},
      {"{'descr': '<f8'" + rest, "shape [1] needs more than the 4 bytes"},
  };
  for (const auto& [header, mention] : headers) {
    SCOPED_TRACE(header);
    const std::string bytes = npy(header, "1234");
    expect_refusal(kArgument, mention, [&] { parse_npy(std::as_bytes(std::span(bytes)), "t"); });
  }
  const std::string good = "{'descr': '<f4'" + rest;
  for (const char version : {'\0', '\4'}) {
    const std::string bytes = npy(good, "1234", version);
    expect_refusal(kArgument, "format version ",
                   [&] { parse_npy(std::as_bytes(std::span(bytes)), "t"); });
  }
  const std::string bytes = npy(good, "1234", 3).substr(0, 30);
  expect_refusal(kArgument, "the header is longer than the file",
                 [&] { parse_npy(std::as_bytes(std::span(bytes)), "t"); });
}

TEST(ArrayRefusals, Strings) {
  expect_refusal(kArgument, "it is not UTF-8", [] {
    npy_bytes(Tensor::vector<std::string>({"a", "\xff"}));
  });
  expect_refusal(kArgument, "it ends in NUL",
                 [] { npy_bytes(Tensor::vector<std::string>({"a\0"s})); });
  const TemporaryFolder folder;
  NpzWriter writer(folder.path() / "x.npz");
  expect_refusal(kArgument, "is too long for an archive",
                 [&] { writer.add(std::string(70000, 'n'), Tensor::scalar(1.f)); });
}

// ---- archives ----

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// One member with all numbers as they are set; lengths of parts are those that the format asks for
// unless set.
struct Archive {
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0, packed = 0, plain = 0, offset = 0;
  std::string name = "m", extra, data, local_extra;
  std::optional<uint16_t> entry_comment, members;
  std::optional<uint32_t> directory_bytes, directory_offset;
  std::string locator;  // before the end record

  explicit Archive(const std::string& content) : data(content) {
    packed = plain = static_cast<uint32_t>(content.size());
    checksum = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  }

  std::string bytes() const {
    std::string out = "PK\3\4";
    out.append(22, '\0');
    put(out, static_cast<uint16_t>(name.size()));
    put(out, static_cast<uint16_t>(local_extra.size()));
    out += name + local_extra + data;
    const auto begin = static_cast<uint32_t>(out.size());
    std::string entry = "PK\1\2";
    entry.append(4, '\0');
    put(entry, flags);
    put(entry, method);
    entry.append(4, '\0');
    put(entry, checksum);
    put(entry, packed);
    put(entry, plain);
    put(entry, static_cast<uint16_t>(name.size()));
    put(entry, static_cast<uint16_t>(extra.size()));
    put(entry, entry_comment.value_or(0));
    entry.append(8, '\0');
    put(entry, offset);
    out += entry + name + extra;
    const auto all = static_cast<uint32_t>(out.size()) - begin;
    out += locator + "PK\5\6";
    out.append(4, '\0');
    put(out, members.value_or(1));
    put(out, members.value_or(1));
    put(out, directory_bytes.value_or(all));
    put(out, directory_offset.value_or(begin));
    out.append(2, '\0');
    return out;
  }
};

std::string zip64_locator(uint64_t place) {
  std::string out = "PK\6\7";
  put<uint32_t>(out, 0);
  put(out, place);
  put<uint32_t>(out, 1);
  return out;
}

std::string zip64_end(uint64_t members) {
  std::string out = "PK\6\6";
  out.append(28, '\0');
  put(out, members);
  put<uint64_t>(out, 0);
  put<uint64_t>(out, 0);
  return out;
}

std::string extra_field(uint16_t id, uint16_t length, const std::string& bytes) {
  std::string out;
  put(out, id);
  put(out, length);
  return out + bytes;
}

TEST(ArchiveRefusals, WhatIsDamaged) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a.zip";
  const auto read = [&](const std::string& bytes) {
    write(path, bytes);
    return ZipReader(path, "an archive").read("m");
  };
  EXPECT_EQ(read(Archive("data").bytes())->size(), 4u);
  using Change = void (*)(Archive&);
  const std::pair<Change, const char*> changes[] = {
      {[](Archive& a) { a.locator = zip64_locator(1 << 20); }, "its end record is outside"},
      {[](Archive& a) { a.locator = zip64_locator(100); }, "its end record is outside"},
      {[](Archive& a) { a.locator = zip64_locator(0); }, "its end record is broken"},
      {[](Archive& a) {
         a.data = zip64_end(uint64_t{1} << 21);
         a.locator = zip64_locator(31);
       },
       "2097152 members"},
      {[](Archive& a) { a.directory_offset = 9999; }, "its directory is outside"},
      {[](Archive& a) { a.directory_bytes = 9999; }, "its directory is outside"},
      {[](Archive& a) { a.members = 2; }, "its directory ends early"},
      {[](Archive& a) { a.entry_comment = 5; }, "its directory ends early"},
      {[](Archive& a) { a.directory_offset = 0; }, "its directory is broken"},
      {[](Archive& a) { a.flags = 1; }, "'m' is encrypted"},
      {[](Archive& a) { a.extra = extra_field(9, 5, "1234"); }, "'m' has a broken entry"},
      {[](Archive& a) {
         a.plain = 0xffffffff;
         a.extra = extra_field(1, 4, "1234");
       },
       "'m' has a broken entry"},
      {[](Archive& a) { a.packed = 9999; }, "'m' is outside of the file"},
      {[](Archive& a) { a.offset = 9999; }, "'m' is outside of the file"},
      {[](Archive& a) { a.name = "other"; }, "it has no 'm'"},
      {[](Archive& a) {
         a.offset = 85;
         a.packed = 0;
       },
       "'m' ends early"},
      {[](Archive& a) { a.offset = 1; }, "'m' has no header"},
      {[](Archive& a) { a.packed = a.plain = 95; }, "'m' ends early"},
      {[](Archive& a) { a.method = 12; }, "'m' is packed by method 12"},
      {[](Archive& a) { a.plain = 3; }, "'m' claims 3 bytes"},
      {[](Archive& a) {
         a.method = 8;
         a.plain = 6000;
       },
       "'m' claims 6000 bytes"},
      {[](Archive& a) { a.method = 8; }, "'m' does not unpack to its size"},
      {[](Archive& a) { a.checksum ^= 1; }, "another checksum"},
  };
  for (const auto& [change, mention] : changes) {
    Archive archive("data");
    change(archive);
    expect_refusal(kArgument, mention, [&] { read(archive.bytes()); });
  }
  expect_refusal(kArgument, "it has no end record", [&] { read("no archive at all"); });
}

// ---- values ----

TEST(TensorFileRefusals, Values) {
  using onnx_schema::MapProto;
  using onnx_schema::SequenceProto;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "value.pb";
  const auto expect_refused = [&](const auto& proto, const Type& type, const char* mention,
                                  ErrorCode code = kArgument) {
    write(path, onnx_export::serialized(proto));
    expect_refusal(code, mention, [&] { read_tensor_file(path, type); });
  };
  const Type floats = Type::tensor(DType::kFloat);
  const auto one = onnx_export::encode(Tensor::scalar(1.f), "");
  SequenceProto mixed;
  *mixed.add_tensor_values() = one;
  *mixed.add_tensor_values() = onnx_export::encode(Tensor::scalar(int64_t{1}), "");
  expect_refused(mixed, Type::sequence(floats), "a sequence of float[*] holds a int64[]");

  const Type type = Type::map(DType::kInt64, floats);
  const auto map = [&](DType key, int keys) {
    MapProto proto;
    proto.set_key_type(static_cast<int>(key));
    for (int i = 0; i < keys; ++i)
      proto.add_keys(i);
    proto.mutable_values()->set_elem_type(SequenceProto::TENSOR);
    *proto.mutable_values()->add_tensor_values() = one;
    return proto;
  };
  expect_refused(map(DType::kInt64, 2), type, "a map has 2 keys and 1 values");
  expect_refused(map(DType::kFloat, 1), type, "a map has float keys");
  MapProto of_maps = map(DType::kInt64, 1);
  of_maps.mutable_values()->set_elem_type(SequenceProto::MAP);
  expect_refused(of_maps, type, "a map of values that are no tensors");
  MapProto of_many = map(DType::kInt64, 2);
  *of_many.mutable_values()->add_tensor_values() =
      onnx_export::encode(Tensor::vector<float>({1, 2}), "");
  expect_refused(of_many, type, "value 1 of a map is float[2], expected one float");
}

}  // namespace
}  // namespace sardonyx
