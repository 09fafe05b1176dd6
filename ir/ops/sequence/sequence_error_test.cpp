// Sequences, shapes, slices, scatters, scans and signals: calls that do not fit.
#include <cmath>

#include "ir/graph.h"
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

const Datum x = zeros({2, 3}), scalar = zeros({}), row = zeros({3});

Datum places(const Shape& shape) {
  return zeros(shape, DType::kInt64);
}

TEST(SequenceRefusals, Sequences) {
  const Type type = Type::tensor(DType::kFloat);
  const Datum two = Sequence{type, {row.tensor(), row.tensor()}}, empty = Sequence{type, {}};
  const Datum mixed = Sequence{type, {row.tensor(), x.tensor()}};
  // Nothing, many times over.
  const Tensor rows = Tensor::zeros(DType::kFloat, {int64_t{1} << 62, 0});
  const Datum huge = Sequence{type, {rows, rows}};
  const auto at = [](int64_t index) -> Datum { return Tensor::scalar(index); };
  expect_refused(std::vector<Refused>{
      {"SequenceAt", {two, ints({0, 1})}, {}, "input position (int64[2]): expected a scalar"},
      {"SequenceAt",
       {two, at(2)},
       {},
       "position 2 is out of range for a sequence of 2, expected -2 to 1",
       kBadArgument},
      {"SequenceAt", {two, at(-3)}, {}, "position -3 is out of range", kBadArgument},
      {"SequenceErase", {two, ints({0, 1})}, {}, "input position (int64[2]): expected a scalar"},
      {"SequenceErase", {two, at(2)}, {}, "position 2 is out of range", kBadArgument},
      {"SequenceErase", {empty}, {}, "there is nothing to erase", kBadArgument},
      {"SequenceInsert",
       {two, row, ints({0, 1})},
       {},
       "input position (int64[2]): expected a scalar"},
      {"SequenceInsert", {two, row, at(3)}, {}, "position 3 is out of range", kBadArgument},
      {"SequenceInsert", {two, row, at(-3)}, {}, "position -3 is out of range", kBadArgument},
      {"SequenceInsert", {two, ints({1})}, {}, "the sequence holds float"},
      {"SequenceEmpty", {}, {{"dtype", 16}}, "sequences do not hold elements of type bfloat16"},
      {"ConcatFromSequence",
       {mixed},
       {{"axis", 0}},
       "do not concatenate along axis 0",
       kBadArgument},
      {"ConcatFromSequence",
       {two},
       {{"axis", 1}},
       "axis 1 is out of range for rank 1",
       kBadArgument},
      {"ConcatFromSequence",
       {huge},
       {{"axis", 0}},
       "the size of axis 0 overflows",
       ErrorCode::kResourceExhausted},
      {"ConcatFromSequence",
       {empty},
       {{"axis", 0}},
       "there is nothing to concatenate",
       kBadArgument},
      {"SplitToSequence", {x, places({1, 1})}, {}, "expected one dimension or a scalar, got 2"},
      {"SplitToSequence", {x, at(0)}, {}, "split: expected at least 1, got 0", kBadArgument},
      {"SplitToSequence",
       {x, ints({3})},
       {},
       "a part of 3 elements, expected 0 to 2",
       kBadArgument},
      {"SplitToSequence", {x, ints({1})}, {}, "the sizes leave 1 of 2 elements", kBadArgument},
      {"SplitToSequence",
       {zeros({(1 << 24) + 1, 0})},
       {},
       "a sequence of 16777217 items is longer",
       ErrorCode::kResourceExhausted},
      {"SplitToSequence",
       {zeros({(1 << 25) + 1, 0}), at(1)},
       {},
       "a sequence of 33554433 items is longer",
       ErrorCode::kResourceExhausted},
  });
}

TEST(SequenceRefusals, Shapes) {
  const auto reshape = [](const Datum& from, Ints to, const char* mention, int64_t allow = 0) {
    return Refused{"Reshape", {from, ints(std::move(to))}, {{"allowzero", allow}}, mention};
  };
  expect_refused(std::vector<Refused>{
      reshape(x, {2, -2}, "shape: expected sizes of at least -1, got -2"),
      reshape(x, {-1, -1}, "shape: -1 is given twice"),
      reshape(x, {1, 6, 0}, "0 at 2 copies a dim that the input of rank 2 does not have"),
      reshape(x, {0, -1}, "with allowzero, 0 and -1 together leave the size open", 1),
      reshape(x, {5}, "cannot reshape [2, 3] to [5]: they differ in elements"),
      reshape(x, {4, -1}, "cannot reshape [2, 3] to [4, -1]: -1 stands for no size"),
      {"Reshape", {x, places({1, 2})}, {}, "input shape (int64[1, 2]): expected one dimension"},
      {"Squeeze", {x, places({1, 1})}, {}, "expected one dimension or a scalar, got 2"},
      {"Squeeze", {x, ints({0})}, {}, "axis 0 has size 2, expected 1"},
      {"Squeeze", {x, ints({2})}, {}, "axes 2 is out of range [-2, 1] for rank 2"},
      {"Unsqueeze", {x, places({1, 1})}, {}, "expected one dimension or a scalar, got 2"},
      {"Unsqueeze", {x, ints({3})}, {}, "axes 3 is out of range [-3, 2] for rank 3"},
      {"Unsqueeze", {x, ints({0, 0})}, {}, "axes: axis 0 is given twice"},
      {"Transpose", {x}, {{"perm", Ints{0}}}, "perm has 1 axes, the input 2"},
      {"Transpose", {x}, {{"perm", Ints{0, 2}}}, "perm: axis 2 is out of range for rank 2"},
      {"Transpose", {x}, {{"perm", Ints{0, -1}}}, "perm: axis -1 is out of range for rank 2"},
      {"Transpose", {x}, {{"perm", Ints{0, 0}}}, "perm: axis 0 is given twice"},
      {"Expand", {x, places({1, 2})}, {}, "input shape (int64[1, 2]): expected one dimension"},
      {"Flatten", {x}, {{"axis", 3}}, "axis 3 is out of range [-2, 2]"},
      {"Flatten", {x}, {{"axis", -3}}, "axis -3 is out of range [-2, 2]"},
      {"Expand", {x, ints({2, 2})}, {}, "does not broadcast with the shape [2, 2]"},
      {"Expand",
       {x, ints({-1, 3})},
       {},
       "input shape (int64[2]): expected sizes of at least 0, got -1"},
  });
  const Type many = Type::tensor(DType::kInt64, Dims{int64_t{1} << 40});
  expect_refused(std::vector<RefusedTypes>{
      {"Reshape", {Type::tensor(DType::kFloat, Dims{2}), many}, {}, "dims is not sensible"},
      {"Expand", {Type::tensor(DType::kFloat, Dims{2}), many}, {}, "dims is not sensible"},
      {"ConstantOfShape", {many}, {}, "dims is not sensible"},
  });
}

TEST(SequenceRefusals, Slices) {
  const Datum zero = ints({0}), one = ints({1});
  expect_refused(std::vector<Refused>{
      {"Slice", {x, places({1, 1}), one}, {}, "input starts (int64[1, 1]): expected one dimension"},
      {"Slice", {x, zero, places({1, 1})}, {}, "input ends (int64[1, 1]): expected one dimension"},
      {"Slice",
       {x, zero, one, places({1, 1})},
       {},
       "input axes (int64[1, 1]): expected one dimension"},
      {"Slice",
       {x, zero, one, zero, places({1, 1})},
       {},
       "input steps (int64[1, 1]): expected one"},
      {"Slice",
       {x, ints({0, 0}), ints({1, 1}), ints({0, -2})},
       {},
       "axis -2 is given twice",
       kBadArgument},
      {"Slice", {x, zero, ints({1, 1})}, {}, "ends has 2 elements, starts has 1", kBadArgument},
      {"Slice",
       {x, zero, one, ints({0, 1})},
       {},
       "axes has 2 elements, starts has 1",
       kBadArgument},
      {"Slice",
       {x, zero, one, zero, ints({1, 1})},
       {},
       "steps has 2 elements, starts",
       kBadArgument},
      {"Slice",
       {x, zero, one, zero, zero},
       {},
       "steps: expected a step other than 0",
       kBadArgument},
      {"Slice", {x, ints({0, 0, 0}), ints({1, 1, 1})}, {}, "3 elements for an input of rank 2"},
      {"Slice", {x, zero, one, ints({2})}, {}, "axis 2 is out of range for rank 2", kBadArgument},
  });
}

TEST(SequenceRefusals, Scatters) {
  const Datum zero = places({1, 3}), update = zeros({1, 3});
  const AttrMap add{{"reduction", string("add")}};
  const Datum words = zeros({2, 3}, DType::kString), word = zeros({1, 3}, DType::kString);
  const Datum waves = zeros({2, 3}, DType::kComplex64), wave = zeros({1, 3}, DType::kComplex64);
  const Datum cache = zeros({2, 4, 3}), steps = zeros({2, 2, 3});
  const auto mode = [](const char* name) { return AttrMap{{"reduction", string(name)}}; };
  expect_refused(std::vector<Refused>{
      {"ScatterElements",
       {x, zero, update},
       mode("odd"),
       "reduction: expected none, add, mul, max"},
      {"ScatterElements",
       {words, zero, word},
       add,
       "elements of type string have no such reduction"},
      {"ScatterElements",
       {waves, zero, wave},
       mode("max"),
       "elements of type complex64 have no such"},
      {"ScatterElements",
       {waves, zero, wave},
       mode("min"),
       "elements of type complex64 have no such"},
      {"ScatterElements", {scalar, places({}), scalar}, {}, "expected rank 1 or more"},
      {"ScatterElements", {x, places({3}), row}, {}, "input indices (int64[3]): expected rank 2"},
      {"ScatterElements",
       {x, places({1, 4}), zeros({1, 4})},
       {},
       "dim 1 exceeds that of the data, 3"},
      {"ScatterElements", {x, zero, row}, {}, "input updates (float[3]): expected rank 2, got 1"},
      {"ScatterElements", {x, zero, zeros({1, 2})}, {}, "dim 1 of indices and updates: 3 and 2"},
      {"ScatterElements",
       {x, Tensor::of<int64_t>({2, 0, 0}, {1, 3}), update},
       {},
       "index 2 is out of range for axis 0",
       kBadArgument},
      {"ScatterND", {words, places({1, 1}), word}, add, "elements of type string have no such"},
      {"ScatterND", {scalar, places({1, 0}), scalar}, {}, "input data (float[]): expected rank 1"},
      {"ScatterND", {x, places({}), x}, {}, "input indices (int64[]): expected rank 1 or more"},
      {"ScatterND", {x, places({1, 3}), row}, {}, "tuples have 3 elements, expected at most 2"},
      {"ScatterND",
       {x, places({1, 1}), row},
       {},
       "input updates (float[3]): expected rank 2, got 1"},
      {"ScatterND", {x, places({1, 1}), zeros({1, 2})}, {}, "dim 1 of updates: 3 and 2 differ"},
      {"TensorScatter",
       {cache, steps},
       {{"mode", string("odd")}},
       "mode: expected linear or circular"},
      {"TensorScatter", {row, row}, {}, "expected rank 2 or more"},
      {"TensorScatter",
       {cache, steps},
       {{"axis", 0}},
       "axis: expected another than that of the batch"},
      {"TensorScatter", {cache, x}, {}, "input update (float[2, 3]): expected rank 3, got 2"},
      {"TensorScatter", {cache, zeros({2, 2, 4})}, {}, "dim 2 of past_cache and update: 3 and 4"},
      {"TensorScatter", {cache, zeros({2, 5, 3})}, {}, "update has 5 steps, the cache 4"},
      {"TensorScatter",
       {cache, steps, places({1, 2})},
       {},
       "input write_indices (int64[1, 2]): exp"},
      {"TensorScatter", {cache, steps, ints({0})}, {}, "write_indices: 2 and 1 differ"},
      {"TensorScatter",
       {cache, steps, ints({0, 3})},
       {},
       "element 1 is 3, expected 0 to 2 for a cache of 4 and an update of 2",
       kBadArgument},
      {"TensorScatter",
       {cache, steps, ints({0, -1})},
       {},
       "element 1 is -1, expected 0 to 2 for a cache of 4 and an update of 2",
       kBadArgument},
  });
}

// A graph of `inputs` without types that gives back those of `outputs`.
GraphPtr passing_body(size_t inputs, const std::vector<size_t>& outputs) {
  auto graph = std::make_shared<Graph>();
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs; ++i)
    values.push_back(graph->add_input("i" + std::to_string(i), Type::none()));
  for (const size_t output : outputs)
    graph->add_output(values[output]);
  return graph;
}

TEST(SequenceRefusals, Scans) {
  const auto scan = [](const AttrMap& more, std::vector<Datum> inputs, const char* mention,
                       ErrorCode code = kBadModel) {
    AttrMap attrs{{"body", passing_body(2, {0, 1})}, {"num_scan_inputs", 1}};
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return Refused{"Scan", std::move(inputs), attrs, mention, code, 2};
  };
  expect_refused(std::vector<Refused>{
      scan({{"num_scan_inputs", 0}}, {row, x}, "num_scan_inputs: expected 1 to 2, got 0"),
      scan({{"num_scan_inputs", 3}}, {row, x}, "num_scan_inputs: expected 1 to 2, got 3"),
      scan({{"body", passing_body(3, {0, 1})}}, {row, x}, "body has 3 inputs, expected 2"),
      scan({{"body", passing_body(2, {0})}}, {row, x}, "body has 1 outputs, expected at least 2"),
      scan({{"scan_input_axes", Ints{0, 0}}}, {row, x},
           "scan_input_axes has 2 elements, expected 1"),
      scan({{"scan_output_axes", Ints{0, 0}}}, {row, x},
           "scan_output_axes has 2 elements, expected"),
      scan({{"scan_input_directions", Ints{0, 0}}}, {row, x},
           "scan_input_directions has 2 elements"),
      scan({{"scan_output_directions", Ints{}}}, {row, x}, "scan_output_directions has 0 elements"),
      scan({{"scan_input_directions", Ints{2}}}, {row, x},
           "scan_input_directions: expected 0 or 1"),
      scan({{"scan_output_directions", Ints{-1}}}, {row, x},
           "scan_output_directions: expected 0 or"),
      scan({{"scan_input_axes", Ints{2}}}, {row, x},
           "scan_input_axes 2 is out of range [-2, 1] for rank 2"),
      scan({{"num_scan_inputs", 2}}, {row, x}, "the lengths of the scan inputs: 3 and 2 differ"),
  });
  const Type type = Type::tensor(DType::kFloat);
  const Datum two = Sequence{type, {row.tensor(), row.tensor()}},
              one = Sequence{type, {row.tensor()}};
  const auto map = [](GraphPtr body, std::vector<Datum> inputs, const char* mention,
                      ErrorCode code = kBadModel) {
    return Refused{"SequenceMap", std::move(inputs), {{"body", std::move(body)}}, mention, code};
  };
  auto nested = std::make_shared<Graph>();
  nested->add_output(nested
                         ->append(op_named("SequenceConstruct"), {},
                                  {nested->add_input("item", Type::none())}, {"sequence"})
                         ->outputs[0]);
  expect_refused(std::vector<Refused>{
      map(passing_body(2, {0}), {two}, "body has 2 inputs, expected 1"),
      map(passing_body(1, {}), {two}, "body has 0 outputs, expected at least 1"),
      map(passing_body(2, {0}), {two, one}, "the sequences have 2 and 1 items", kBadArgument),
      map(nested, {two}, "body: output 0 must be a tensor, got seq("),
  });
}

TEST(SequenceRefusals, Signals) {
  const Datum wave = zeros({1, 8, 1}), complex = zeros({1, 8, 2}),
              four = Tensor::scalar(int64_t{4});
  const Datum zero = Tensor::scalar(int64_t{0}), two = ints({1, 2}), window = zeros({4}),
              o = none();
  const Datum rate = Tensor::scalar(int64_t{8000}), low = Tensor::scalar(0.f);
  const Datum high = Tensor::scalar(4000.f), bins = Tensor::scalar(int64_t{2});
  const Datum length = Tensor::scalar(int64_t{16});
  const char* mel = "MelWeightMatrix";
  const auto mels = [&](size_t at, Datum other, const char* mention, ErrorCode code = kBadModel) {
    std::vector<Datum> inputs{bins, length, rate, low, high};
    inputs[at] = std::move(other);
    return Refused{mel, std::move(inputs), {}, mention, code};
  };
  const AttrMap onesided{{"onesided", 1}};
  expect_refused(std::vector<Refused>{
      {"DFT", {wave, two}, {}, "input dft_length (int64[2]): expected a scalar or one element"},
      {"DFT", {wave, o, two}, {}, "input axis (int64[2]): expected a scalar or one element"},
      {"DFT", {row}, {}, "expected rank 2 or more, got 1"},
      {"DFT", {zeros({1, 8, 3})}, {}, "input input (float[1, 8, 3])"},
      {"DFT", {complex}, onesided, "a one-sided transform takes real input"},
      {"DFT",
       {wave},
       {{"onesided", 1}, {"inverse", 1}},
       "the inverse of a one-sided transform takes"},
      {"DFT", {wave, zero}, {}, "expected a positive number, got 0"},
      {"DFT",
       {wave, o, Tensor::scalar(int64_t{-1})},
       {},
       "axis 2 is that of the real and imaginary parts"},
      {"DFT", {zeros({1, 0, 1})}, {}, "the transform would have the length 0"},
      {"DFT",
       {wave, o, Tensor::scalar(int64_t{5})},
       {},
       "axis 5 is out of range [-3, 2] for rank 3"},
      {"STFT", {x, four, window}, {}, "input signal (float[2, 3]): expected rank 3"},
      {"STFT", {wave, four, zeros({2, 2})}, {}, "input window (float[2, 2]): expected rank 1"},
      {"STFT", {zeros({1, 8, 3}), four, window}, {}, "input signal (float[1, 8, 3])"},
      {"STFT", {complex, four, window}, onesided, "takes real input; set onesided = 0"},
      {"STFT", {wave, zero, window}, {}, "expected a positive number, got 0"},
      {"STFT", {wave, two, window}, {}, "input frame_step (int64[2]): expected a scalar"},
      {"STFT", {wave, four, o, zero}, {}, "expected a positive number, got 0"},
      {"STFT",
       {wave, four, window, Tensor::scalar(int64_t{5})},
       {},
       "frame_length and the length of"},
      {"STFT", {wave, four, zeros({9})}, {}, "frames of 9 samples do not fit a signal of 8"},
      {"STFT", {zeros({1, 0, 1}), four}, {}, "the transform would have the length 0"},
      {mel,
       {bins, length, rate, low, high},
       {{"output_datatype", 8}},
       "output_datatype: expected a ty"},
      mels(0, two, "input num_mel_bins (int64[2]): expected a scalar"),
      mels(1, two, "input dft_length (int64[2]): expected a scalar"),
      mels(2, two, "input sample_rate (int64[2]): expected a scalar"),
      mels(3, row, "input lower_edge_hertz (float[3]): expected a scalar"),
      mels(4, row, "input upper_edge_hertz (float[3]): expected a scalar"),
      mels(0, Tensor::scalar(int64_t{-1}),
           "num_mel_bins and dft_length: expected 0 or more, got -1"),
      mels(1, Tensor::scalar(int64_t{-2}),
           "num_mel_bins and dft_length: expected 0 or more, got -2"),
      mels(2, zero, "sample_rate: expected a positive number, got 0", kBadArgument),
      mels(3, Tensor::scalar(-1.f), "expected 0 <= lower_edge_hertz <= upper_edge", kBadArgument),
      mels(3, Tensor::scalar(5000.f), "expected 0 <= lower_edge_hertz <= upper_edge", kBadArgument),
      mels(4, Tensor::scalar(INFINITY), "expected 0 <= lower_edge_hertz <= upper_edge",
           kBadArgument),
      mels(4, Tensor::scalar(40000.f), "Hz lies beyond the spectrogram of 9 bins", kBadArgument),
  });
}

}  // namespace
}  // namespace sardonyx
