// Language models as subgraphs: the decoder alone.
//
// GPT-2's form. Inputs: input_ids, position_ids, attention_mask (all int32 [rows, length], the mask
// over past and new words), past_0 ... [2, rows, heads, past, size], and perhaps
// past_sequence_length (int32 [1]): then past and present have the length of the longest sequence,
// and the decoder writes behind what is there. Outputs: logits [rows, length, vocabulary],
// present_0 ...
#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/core/dtype_convert.h"
#include "ir/core/memory/memory_reservation.h"
#include "ir/ops/generation/text_generation.h"

namespace sardonyx::ops {

Tensor as_tensor(const Sequences& rows) {
  const size_t length = rows.empty() ? 0 : rows[0].size();
  Tensor tensor = Tensor::allocate(
      DType::kInt32, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(length)});
  int32_t* out = tensor.mutable_values<int32_t>().data();
  for (const std::vector<int32_t>& row : rows)
    out = std::ranges::copy(row, out).out;
  return tensor;
}

Sequences as_rows(const Tensor& tensor) {
  const auto length = static_cast<size_t>(tensor.shape()[1]);
  const auto values = tensor.values<int32_t>();
  Sequences rows;
  rows.reserve(static_cast<size_t>(tensor.shape()[0]));
  for (int64_t i = 0; i < tensor.shape()[0]; ++i) {
    const auto row = values.subspan(static_cast<size_t>(i) * length, length);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

Tensor select(const Tensor& tensor, size_t axis, std::span<const int64_t> indices) {
  Shape shape = tensor.shape();
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != axis) (i < axis ? outer : inner) *= shape[i];
  }
  const int64_t size = shape[axis];
  shape[axis] = static_cast<int64_t>(indices.size());
  Tensor result = Tensor::allocate(tensor.dtype(), shape);
  const size_t block = bytes_for(tensor.dtype(), inner);
  const auto* from = static_cast<const std::byte*>(tensor.raw());
  auto* to = static_cast<std::byte*>(result.raw());
  for (int64_t o = 0; block > 0 && o < outer; ++o) {
    for (const int64_t index : indices) {
      std::memcpy(to, from + static_cast<size_t>(o * size + index) * block, block);
      to += block;
    }
  }
  return result;
}

std::vector<int64_t> repeated(int64_t entries, int64_t times) {
  std::vector<int64_t> indices;
  indices.reserve(static_cast<size_t>(entries * times));
  for (int64_t entry = 0; entry < entries; ++entry)
    indices.insert(indices.end(), static_cast<size_t>(times), entry);
  return indices;
}

int64_t declared_dim(const Value& value, size_t rank, size_t axis) {
  const Type& type = value.type;
  if (!type.is_tensor() || !type.has_rank() || type.rank() != rank ||
      !(*type.shape)[axis].is_known()) {
    fail(ErrorCode::kInvalidModel, "input ", value.name, " of the decoder: expected rank ", rank,
         " and a known size of dim ", axis, ", got ", type);
  }
  return (*type.shape)[axis].value();
}

std::vector<float> LanguageModel::last_logits(const Tensor& logits, int64_t rows, int64_t beams) {
  const Shape& shape = logits.shape();
  if (shape.size() != 3 || shape[1] < 1 || shape[2] < 1 ||
      (shape[0] != rows && shape[0] * beams != rows)) {
    fail(ErrorCode::kInvalidModel, "the decoder's logits: expected [", rows,
         ", length, vocabulary], got ", Datum(logits).type());
  }
  // Logits of later words are counted by the search.
  std::optional<BudgetShare> counted;
  if (vocabulary_ == 0) counted.emplace(static_cast<size_t>(rows * shape[2]) * sizeof(float));
  vocabulary_ = shape[2];
  std::vector<float> last(static_cast<size_t>(rows * vocabulary_));
  const int64_t share = rows / std::max<int64_t>(shape[0], 1);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t from = (row / share * shape[1] + shape[1] - 1) * vocabulary_;
    load_numbers<float>(logits.dtype(), logits.raw(), from, 1, vocabulary_,
                        last.data() + row * vocabulary_);
  }
  return last;
}

namespace {

// int32 [rows, length + 1].
Tensor with_ones_behind(const Tensor& mask) {
  const int64_t rows = mask.shape()[0], length = mask.shape()[1];
  Tensor longer = Tensor::allocate(DType::kInt32, {rows, length + 1});
  const int32_t* from = mask.values<int32_t>().data();
  int32_t* to = longer.mutable_values<int32_t>().data();
  for (int64_t row = 0; row < rows; ++row, from += length) {
    to = std::copy_n(from, length, to);
    *to++ = 1;
  }
  return longer;
}

struct DecoderInput {
  enum : size_t { kIds, kPositions, kMask, kFirstPast };
};

class DecoderModel : public LanguageModel {
 public:
  explicit DecoderModel(const ModelSetup& setup) : setup_(setup) {
    const std::vector<Value*>& inputs = setup.decoder->inputs();
    layers_ = setup.decoder->outputs().size() - 1;
    if (inputs.size() < DecoderInput::kFirstPast + 1 || layers_ < 1 ||
        inputs.size() < DecoderInput::kFirstPast + layers_ ||
        inputs.size() > DecoderInput::kFirstPast + layers_ + 1) {
      fail(ErrorCode::kInvalidModel, "decoder: expected the inputs input_ids, position_ids, ",
           "attention_mask and a past for each present among the outputs, and perhaps ",
           "past_sequence_length; it has ", inputs.size(), " inputs and ", layers_ + 1, " outputs");
    }
    shares_buffer_ = inputs.size() > DecoderInput::kFirstPast + layers_;
    fill_prompt();
    make_empty_past();
  }

  Sequences prompt() const override { return as_rows(ids_); }

  std::vector<float> first() override {
    return run(setup_.init_decoder ? *setup_.init_decoder : *setup_.decoder);
  }

  std::vector<float> next(const Sequences& sequences, std::span<const int64_t> origins) override {
    past_length_ = static_cast<int32_t>(sequences[0].size()) - 1;
    const auto count = static_cast<int64_t>(sequences.size());
    ids_ = Tensor::allocate(DType::kInt32, {count, 1});
    positions_ = Tensor::allocate(DType::kInt32, {count, 1});
    for (size_t i = 0; i < sequences.size(); ++i) {
      ids_.mutable_values<int32_t>()[i] = sequences[i].back();
      positions_.mutable_values<int32_t>()[i] = next_positions_[i]++;
    }
    mask_ = with_ones_behind(mask_);
    if (!origins.empty()) {
      for (Tensor& past : past_)
        past = select(past, 1, origins);
    }
    return run(*setup_.decoder);
  }

 private:
  int64_t rows() const { return ids_.shape()[0]; }

  // 0 where a word is padding, else 1.
  Tensor kept_words(const Tensor& words) const {
    Tensor mask = Tensor::allocate(DType::kInt32, words.shape());
    std::ranges::transform(words.values<int32_t>(), mask.mutable_values<int32_t>().begin(),
                           [&](int32_t word) { return word == setup_.padding ? 0 : 1; });
    return mask;
  }

  // Padding is masked and has position 0; the others are counted.
  void fill_prompt() {
    const Tensor& words = setup_.call.inputs[0].tensor();
    const int64_t length = words.shape()[1];
    const Tensor masks = setup_.attention_mask ? setup_.attention_mask : kept_words(words);
    Tensor places = Tensor::allocate(DType::kInt32, words.shape());
    next_positions_.reserve(static_cast<size_t>(words.shape()[0] * setup_.beams));
    const auto kept = masks.values<int32_t>();
    const auto place = places.mutable_values<int32_t>();
    for (int64_t row = 0; row < words.shape()[0]; ++row) {
      int32_t count = 0;
      for (auto i = static_cast<size_t>(row * length); i < static_cast<size_t>((row + 1) * length);
           ++i)
        place[i] = kept[i] == 0 ? 0 : count++;
      next_positions_.insert(next_positions_.end(), static_cast<size_t>(setup_.beams), count);
    }
    const auto rows = repeated(words.shape()[0], setup_.beams);
    ids_ = select(words, 0, rows);
    positions_ = select(places, 0, rows);
    mask_ = select(masks, 0, rows);
  }

  void make_empty_past() {
    for (size_t i = 0; i < layers_; ++i) {
      const Value& value = *setup_.decoder->inputs()[DecoderInput::kFirstPast + i];
      const int64_t length = shares_buffer_ ? setup_.max_length : 0;
      past_.push_back(Tensor::zeros(value.type.dtype, {2, rows(), declared_dim(value, 5, 2), length,
                                                       declared_dim(value, 5, 4)}));
    }
  }

  std::vector<float> run(const Graph& graph) {
    std::vector<Datum> feeds{ids_, positions_, mask_};
    feeds.insert(feeds.end(), past_.begin(), past_.end());
    if (shares_buffer_) feeds.emplace_back(Tensor::vector<int32_t>({past_length_}));
    const std::vector<Datum> outputs = setup_.run(graph, feeds);
    for (size_t i = 0; i < layers_; ++i) {
      past_[i] = outputs[1 + i].tensor();
      if (past_[i].rank() != 5 || past_[i].shape()[1] != rows()) {
        fail(ErrorCode::kInvalidModel, "decoder: output ", graph.outputs()[1 + i]->name,
             ": expected [2, ", rows(), ", heads, length, size], got ", outputs[1 + i].type());
      }
    }
    return last_logits(outputs[0].tensor(), rows(), setup_.beams);
  }

  ModelSetup setup_;
  size_t layers_ = 0;
  bool shares_buffer_ = false;
  int32_t past_length_ = 0;
  Tensor ids_, positions_, mask_;
  std::vector<Tensor> past_;
  std::vector<int32_t> next_positions_;
};

}  // namespace

std::vector<Datum> ModelSetup::run(const Graph& graph, std::span<const Datum> feeds) const {
  std::vector<Datum> outputs(graph.outputs().size());
  call.run_subgraph(graph, DatumPointers(feeds), call.captures, outputs);
  return outputs;
}

std::unique_ptr<LanguageModel> make_decoder_model(const ModelSetup& setup) {
  return std::make_unique<DecoderModel>(setup);
}

}  // namespace sardonyx::ops
