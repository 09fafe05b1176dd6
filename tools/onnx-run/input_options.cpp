#include "tools/onnx-run/input_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <set>

#include "onnx_io/npz.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/feeds.h"
#include "tools/onnx-run/input_files.h"
#include "tools/onnx-run/repeatable.h"
#include "tools/onnx-run/verbosity.h"

namespace sardonyx::tool {
namespace {

template <typename T>
T number_in(std::string_view text, const std::string& option) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || text.empty())
    fail_usage(option, ": '", text, "' is no number");
  return value;
}

// "1x3x224", "1,3", "[1,3]" or "" for a scalar.
Shape shape_in(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  Shape shape;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("x,"), text.size());
    shape.push_back(number_in<int64_t>(text.substr(0, end), "--shape"));
    if (shape.back() < 0) fail_usage("--shape: ", shape.back(), " is no size");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shape;
}

// Parts of "NAME:1x3".
std::pair<std::string, std::string> named_shape(const std::string& argument) {
  const size_t split = argument.rfind(':');
  if (split == std::string::npos || split == 0)
    fail_usage("--shape: expected NAME:1x3, got '", argument, "'");
  return {argument.substr(0, split), argument.substr(split + 1)};
}

std::pair<double, double> range_in(std::string_view text) {
  const size_t comma = text.find(',');
  if (!text.starts_with('[') || !text.ends_with(']') || comma == text.npos)
    fail_usage("--val-range: expected [LOW,HIGH] or NAME:[LOW,HIGH], got '", text, "'");
  const double low = number_in<double>(text.substr(1, comma - 1), "--val-range");
  const double high =
      number_in<double>(text.substr(comma + 1, text.size() - comma - 2), "--val-range");
  if (!(low <= high)) fail_usage("--val-range: ", low, " is not below ", high);
  return {low, high};
}

const ValueInfo& input_named(const Runner& runner, const std::string& name) {
  std::string known;
  for (const auto& inputs : {runner.inputs(), runner.optional_inputs()}) {
    for (const ValueInfo& input : inputs) {
      if (input.name == name) return input;
      known += (known.empty() ? "'" : ", '") + input.name + "'";
    }
  }
  fail_usage("the model has no input '", name, "'; it has ", known.empty() ? "none" : known);
}

// The shape of an input as far as it is needed to read an image or raw bytes.
Shape expected_shape(const ValueInfo& input, const RandomInputs& how, const std::string& file) {
  const bool tells_itself = file.ends_with(".pb") || file.ends_with(".npy");
  return tells_itself || !input.type.is_tensor() ? Shape() : shape_of(input, how);
}

void set_from_npz(const std::filesystem::path& path, const Runner& runner, NamedData& feeds) {
  const NpzReader archive(path);
  for (const std::string& name : archive.names()) {
    input_named(runner, name);
    feeds.insert_or_assign(name, archive.read(name));
  }
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  repeatable(command.add_option(
      "-i,--input", options.files,
      "NAME=@FILE: an input from .pb, .npy, an image or raw bytes (repeatable)"));
  command.add_option("--inputs", options.npz, "inputs by name from a .npz");
  command.add_option("--input-dir", options.folder,
                     "folder with input_K.pb, each for the input that bears its name");
  command.add_option("--test-data", options.test_data,
                     "folder with input_K.pb and output_K.pb by position: run and compare");
  command.add_option("--seed", options.seed, "seed of random inputs (default: 0)");
  repeatable(
      command.add_option("--val-range", options.ranges,
                         "[LOW,HIGH] or NAME:[LOW,HIGH] of random numbers (default: [0,1], of "
                         "integers [0,2]); bool is drawn from both"));
  repeatable(command.add_option("--shape", options.shapes,
                                "NAME:1x3x224x224 of a random input (repeatable; the same input "
                                "again: another run)"));
  repeatable(
      command.add_option("--dim", options.dims, "SYMBOL=SIZE, such as batch=8 (repeatable)"));
}

std::vector<InputOptions> runs_of(const InputOptions& options) {
  std::map<std::string, std::vector<std::string>> by_input;
  size_t count = 1;
  for (const std::string& argument : options.shapes) {
    std::vector<std::string>& shapes = by_input[named_shape(argument).first];
    shapes.push_back(argument);
    count = std::max(count, shapes.size());
  }
  std::vector<InputOptions> runs(count, options);
  for (size_t i = 0; i < count; ++i) {
    runs[i].shapes.clear();
    for (const auto& [name, shapes] : by_input)
      runs[i].shapes.push_back(shapes[std::min(i, shapes.size() - 1)]);
  }
  return runs;
}

RandomInputs random_inputs(const InputOptions& options) {
  RandomInputs random;
  random.seed = options.seed;
  bool has_range = false;
  for (const std::string& range : options.ranges) {
    const size_t split = range.rfind(":[");
    if (split == std::string::npos) {
      if (std::exchange(has_range, true))
        fail_usage("--val-range: one for all inputs is given twice");
      random.range = range_in(range);
    } else if (!random.ranges
                    .emplace(range.substr(0, split),
                             range_in(std::string_view(range).substr(split + 1)))
                    .second) {
      fail_usage("--val-range: input '", range.substr(0, split), "' is given twice");
    }
  }
  for (const std::string& argument : options.shapes) {
    const auto [name, shape] = named_shape(argument);
    if (!random.shapes.emplace(name, shape_in(shape)).second)
      fail_usage("--shape: input '", name, "' is given twice; run and bench alone take several");
  }
  for (const std::string& dim : options.dims) {
    const size_t split = dim.find('=');
    if (split == std::string::npos || split == 0)
      fail_usage("--dim: expected SYMBOL=SIZE, got '", dim, "'");
    const auto size = number_in<int64_t>(std::string_view(dim).substr(split + 1), "--dim");
    if (size < 0) fail_usage("--dim: ", size, " is no size");
    if (!random.dims.emplace(dim.substr(0, split), size).second)
      fail_usage("--dim: '", dim.substr(0, split), "' is given twice");
  }
  return random;
}

NamedData gather_inputs(const InputOptions& options, const Runner& runner) {
  const RandomInputs random = random_inputs(options);
  for (const auto& named : random.shapes)
    input_named(runner, named.first);
  for (const auto& named : random.ranges)
    input_named(runner, named.first);
  check_symbols(random.dims, runner);
  NamedData feeds;
  if (!options.test_data.empty()) {
    std::vector<Datum> data = read_by_position(options.test_data, "input_", runner.inputs());
    for (size_t i = 0; i < data.size(); ++i)
      feeds.emplace(runner.inputs()[i].name, std::move(data[i]));
  }
  if (!options.folder.empty()) {
    for (auto& [name, datum] : read_by_name(options.folder, runner))
      feeds.insert_or_assign(name, std::move(datum));
  }
  if (!options.npz.empty()) set_from_npz(options.npz, runner, feeds);
  std::set<std::string> given;
  for (const std::string& argument : options.files) {
    const NamedFile named = parse_named_file(argument);
    const ValueInfo& input = input_named(runner, named.name);
    if (!given.insert(named.name).second) fail_usage("-i: input '", named.name, "' is given twice");
    feeds.insert_or_assign(
        named.name,
        read_input_file(named.file, input, expected_shape(input, random, named.file.string())));
  }
  const bool is_complete = !options.folder.empty() || !options.npz.empty();
  for (const ValueInfo& input : runner.inputs()) {
    if (feeds.contains(input.name) || is_complete) continue;  // a run names what is missing
    const Datum datum = random_datum(input, runner.graph(), random);
    remarks() << "input '" << input.name << "': random " << datum.type() << ", seed "
              << options.seed << std::endl;
    feeds.emplace(input.name, datum);
  }
  return feeds;
}

}  // namespace sardonyx::tool
