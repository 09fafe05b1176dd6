// Any location, offset and length of external data, in a folder with links of every kind: nothing
// outside the folder is ever opened.
#include <unistd.h>

#include <fstream>

#include "onnx_io/export/encode_tensor.h"
#include "onnx_io/file_access.h"
#include "onnx_io/load.h"
#include "onnx_io/onnx.pb.h"
#include "tests/support/fuzz_input.h"

namespace {

using namespace sardonyx;
namespace fs = std::filesystem;

// base/secret, base/model/{data, sub/data, links...}, made once.
class Tree {
 public:
  Tree() {
    std::string name = (fs::temp_directory_path() / "sardonyx_fuzz_XXXXXX").string();
    base_ = fs::canonical(mkdtemp(name.data()));
    fs::create_directories(root() / "sub");
    for (const fs::path& file : {base_ / "secret", root() / "data", root() / "sub" / "data"})
      std::ofstream(file) << std::string(4096, 'x');
    fs::create_symlink("data", root() / "inside");
    fs::create_symlink("../secret", root() / "out");
    fs::create_symlink(base_ / "secret", root() / "absolute");
    fs::create_symlink("loop", root() / "loop");
    fs::create_directory_symlink("..", root() / "up");
    fs::create_directory_symlink("../model/sub", root() / "around");
    fs::create_directory_symlink("sub", root() / "down");
  }
  ~Tree() { fs::remove_all(base_); }
  fs::path root() const { return base_ / "model"; }

 private:
  fs::path base_;
};

const Tree& tree() {
  static const Tree made;
  return made;
}

void open_location(const std::string& location) {
  static const Sandbox sandbox(tree().root(), tree().root());
  const OpenFile file = sandbox.open(location);
  const fs::path opened = fs::read_symlink(text("/proc/self/fd/", file.handle.get()));
  if (!opened.native().starts_with(tree().root().native() + "/"))
    fuzz::finding(text("location ", location, " opened ", opened.native()));
}

std::string model_with(fuzz::Choices& choices, const std::string& location) {
  onnx_schema::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(21);
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  auto& tensor = *graph.add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(static_cast<int>(choices.below(28)));
  for (size_t rank = choices.below(4); rank > 0; --rank)
    tensor.add_dims(choices.integer());
  tensor.set_data_location(onnx_schema::TensorProto::EXTERNAL);
  const auto add = [&](const std::string& key, const std::string& value) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  if (choices.one_in(2)) add("offset", std::to_string(choices.integer()));
  if (choices.one_in(2)) add("length", std::to_string(choices.integer()));
  if (choices.one_in(3)) add(choices.text(), choices.text());
  graph.add_output()->set_name("w");
  return onnx_export::serialized(model);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const std::string location = choices.text();
  fuzz::ends_well([&] { open_location(location); });
  const std::string bytes = model_with(choices, location);
  const bool is_mapped = choices.one_in(2);
  fuzz::ends_well([&] {
    const LoadOptions options{.allowed_root = tree().root(), .map_external_data = is_mapped};
    load_model(std::as_bytes(std::span(bytes)), options);
  });
  return 0;
}
