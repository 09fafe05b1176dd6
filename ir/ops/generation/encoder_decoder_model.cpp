// Language models as subgraphs: an encoder and a decoder.
//
// T5's form. Encoder, inputs: encoder_input_ids, encoder_attention_mask (int32 [batch, length])
// and, in the old form, decoder_input_ids. Outputs of the old form: logits, encoder_hidden_states,
// the present keys and values of all self attentions, then of all cross attentions; of the new
// form: keys and values of the cross attentions alone. Decoder, inputs: input_ids (int32, [rows, 1]
// or the whole sequence), encoder_attention_mask, perhaps encoder_hidden_states (of rank 3), past
// keys and values of all self attentions [rows, heads, past, size], those of all cross attentions,
// and perhaps past_sequence_length (int32 [1]), perhaps with beam_width (int32 [1]) and
// cache_indirection (int32 [batch, beams, longest]) behind it. Outputs: logits, the present keys
// and values of all self attentions.
//
// Whisper's form is T5's old form without masks: the encoder's inputs are encoder_input_ids (sound,
// [batch, features, frames]) and decoder_input_ids, and the decoder has no encoder_attention_mask.
#include <algorithm>
#include <cstring>

#include "ir/ops/generation/text_generation.h"

namespace sardonyx::ops {
namespace {

class EncoderDecoderModel : public LanguageModel {
 public:
  explicit EncoderDecoderModel(const ModelSetup& setup) : setup_(setup) {
    read_decoder_form();
    read_encoder_form();
    const Tensor& ids = setup.call.inputs[0].tensor();
    batch_ = ids.shape()[0];
    start_ = start_ids();
    if (setup.hears) return;
    mask_ = setup.attention_mask ? setup.attention_mask : left_padding_mask(ids);
  }

  Sequences prompt() const override {
    return as_rows(select(start_, 0, repeated(batch_, setup_.beams)));
  }

  std::vector<float> first() override {
    const std::vector<Datum> encoded = encode();
    const auto rows = repeated(batch_, setup_.beams);
    if (mask_) expanded_mask_ = select(mask_, 0, rows);
    size_t next = is_old_form_ ? 1 : 0;
    if (is_old_form_) {
      hidden_ = select(encoded[next++].tensor(), 0, rows);
      for (size_t i = 0; i < states_; ++i)
        self_.push_back(with_capacity(select(encoded[next++].tensor(), 0, rows)));
    }
    for (size_t i = 0; i < states_; ++i)
      cross_.push_back(select(encoded[next++].tensor(), 0, rows));
    if (is_old_form_) {
      past_length_ = static_cast<int32_t>(start_.shape()[1]);
      return last_logits(encoded[0].tensor(), batch_ * setup_.beams, setup_.beams);
    }
    make_empty_past();
    return decode(select(start_, 0, rows));
  }

  std::vector<float> next(const Sequences& sequences, std::span<const int64_t> origins) override {
    if (!origins.empty()) {
      for (Tensor& past : self_)
        past = select(past, 0, origins);
    }
    if (takes_sequence_) return decode(as_tensor(sequences));
    Sequences words;
    for (const std::vector<int32_t>& sequence : sequences)
      words.push_back({sequence.back()});
    return decode(as_tensor(words));
  }

 private:
  void read_decoder_form() {
    const std::vector<Value*>& inputs = setup_.decoder->inputs();
    states_ = setup_.decoder->outputs().size() - 1;
    const size_t hidden = setup_.hears ? 1 : 2;  // where its place is
    has_hidden_ = inputs.size() > hidden && inputs[hidden]->type.has_rank() &&
                  inputs[hidden]->type.rank() == 3;
    first_past_ = has_hidden_ ? hidden + 1 : hidden;
    const size_t wanted = first_past_ + 2 * states_;
    const size_t more = inputs.size() - std::min(inputs.size(), wanted);
    if (states_ < 2 || states_ % 2 != 0 || inputs.size() < wanted ||
        (more != 0 && more != 1 && more != kBufferInputs)) {
      fail(ErrorCode::kInvalidModel, "decoder: expected the inputs input_ids, ",
           setup_.hears ? "" : "encoder_attention_mask, ",
           "perhaps encoder_hidden_states, the past of self and of cross ",
           "attentions, and perhaps past_sequence_length, or it with beam_width and ",
           "cache_indirection, and the outputs logits and the present ",
           "of self attentions; it has ", inputs.size(), " inputs and ", states_ + 1, " outputs");
    }
    shares_buffer_ = more > 0;
    takes_beams_ = more == kBufferInputs;
    const Type& ids = inputs[0]->type;
    takes_sequence_ = !(ids.has_rank() && ids.rank() == 2 && (*ids.shape)[1].is_known() &&
                        (*ids.shape)[1].value() == 1);
  }

  void read_encoder_form() {
    const Graph& encoder = *setup_.encoder;
    if (setup_.hears) {
      is_old_form_ = true;
      if (encoder.inputs().size() != 2 || encoder.outputs().size() != 2 + 2 * states_) {
        fail(ErrorCode::kInvalidModel, "encoder: expected 2 inputs and ", 2 + 2 * states_,
             " outputs for the decoder's layers; got ", encoder.inputs().size(), " and ",
             encoder.outputs().size());
      }
      return;
    }
    is_old_form_ = encoder.inputs().size() == 3;
    const size_t wanted = is_old_form_ ? 2 + 2 * states_ : states_;
    if ((encoder.inputs().size() != 2 && !is_old_form_) || encoder.outputs().size() != wanted) {
      fail(ErrorCode::kInvalidModel, "encoder: expected 2 inputs and ", states_,
           " outputs, or 3 inputs and ", 2 + 2 * states_, " outputs, for the decoder's layers; ",
           "got ", encoder.inputs().size(), " and ", encoder.outputs().size());
    }
    if (has_hidden_ && !is_old_form_) {
      fail(ErrorCode::kInvalidModel,
           "decoder: it takes encoder_hidden_states, which an encoder of ",
           "2 inputs does not give");
    }
  }

  Tensor start_ids() const {
    if (setup_.start_ids) return setup_.start_ids;
    if (setup_.start < 0) {
      fail(ErrorCode::kInvalidModel, "attribute decoder_start_token_id: expected a word, got ",
           setup_.start, "; give it, or the input decoder_input_ids");
    }
    return as_tensor(Sequences(static_cast<size_t>(batch_), {static_cast<int32_t>(setup_.start)}));
  }

  // Padding is masked on the left alone: behind the text it may be the mark of its end.
  Tensor left_padding_mask(const Tensor& ids) const {
    Sequences masks = as_rows(ids);
    for (std::vector<int32_t>& row : masks) {
      const auto begin = std::ranges::find_if(
          row, [&](int32_t word) { return word != static_cast<int32_t>(setup_.padding); });
      std::fill(row.begin(), begin, 0);
      std::fill(begin, row.end(), 1);
    }
    return as_tensor(masks);
  }

  std::vector<Datum> encode() const {
    std::vector<Datum> feeds{setup_.call.inputs[0]};
    if (mask_) feeds.emplace_back(mask_);
    if (is_old_form_) feeds.emplace_back(start_);
    std::vector<Datum> outputs = setup_.run(*setup_.encoder, feeds);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& tensor = outputs[i].tensor();
      if (tensor.rank() < 3 || tensor.shape()[0] != batch_) {
        fail(ErrorCode::kInvalidModel, "encoder: output ", setup_.encoder->outputs()[i]->name,
             ": expected a first dim of ", batch_, ", got ", outputs[i].type());
      }
    }
    return outputs;
  }

  // A past [rows, heads, length, size] with zeros behind it up to the longest sequence, where the
  // decoder writes into it.
  Tensor with_capacity(Tensor past) const {
    if (!shares_buffer_) return past;
    Shape shape = past.shape();
    if (shape.size() != 4 || shape[2] > setup_.max_length) {
      fail(ErrorCode::kInvalidModel, "encoder: a present state: expected rank 4 and at most ",
           setup_.max_length, " words, got ", Datum(past).type());
    }
    const size_t old_block = bytes_for(past.dtype(), shape[2] * shape[3]);
    shape[2] = setup_.max_length;
    Tensor wide = Tensor::zeros(past.dtype(), shape);
    const size_t new_block = bytes_for(past.dtype(), shape[2] * shape[3]);
    for (int64_t i = 0; old_block > 0 && i < shape[0] * shape[1]; ++i) {
      std::memcpy(static_cast<std::byte*>(wide.raw()) + static_cast<size_t>(i) * new_block,
                  static_cast<const std::byte*>(past.raw()) + static_cast<size_t>(i) * old_block,
                  old_block);
    }
    return wide;
  }

  void make_empty_past() {
    for (size_t i = 0; i < states_; ++i) {
      const Value& value = *setup_.decoder->inputs()[first_past_ + i];
      const int64_t length = shares_buffer_ ? setup_.max_length : 0;
      self_.push_back(Tensor::zeros(
          value.type.dtype,
          {batch_ * setup_.beams, declared_dim(value, 4, 1), length, declared_dim(value, 4, 3)}));
    }
  }

  // Which beam made each word of a beam's past: itself, since pasts are moved from beam to beam
  // between the steps.
  Tensor own_beams() const {
    Tensor beams = Tensor::allocate(DType::kInt32, {batch_, setup_.beams, setup_.max_length});
    int32_t* out = beams.mutable_values<int32_t>().data();
    for (int64_t row = 0; row < batch_ * setup_.beams; ++row)
      out = std::fill_n(out, setup_.max_length, static_cast<int32_t>(row % setup_.beams));
    return beams;
  }

  std::vector<float> decode(const Tensor& ids) {
    std::vector<Datum> feeds{ids};
    if (mask_) feeds.emplace_back(expanded_mask_);
    if (has_hidden_) feeds.emplace_back(hidden_);
    feeds.insert(feeds.end(), self_.begin(), self_.end());
    feeds.insert(feeds.end(), cross_.begin(), cross_.end());
    if (shares_buffer_) feeds.emplace_back(Tensor::vector<int32_t>({past_length_}));
    if (takes_beams_) {
      feeds.emplace_back(Tensor::vector<int32_t>({static_cast<int32_t>(setup_.beams)}));
      feeds.emplace_back(own_beams());
    }
    past_length_ +=
        static_cast<int32_t>(takes_sequence_ ? ids.shape()[1] - past_length_ : ids.shape()[1]);
    const int64_t rows = batch_ * setup_.beams;
    const std::vector<Datum> outputs = setup_.run(*setup_.decoder, feeds);
    for (size_t i = 0; i < states_; ++i) {
      self_[i] = outputs[1 + i].tensor();
      if (self_[i].rank() < 1 || self_[i].shape()[0] != rows) {
        fail(ErrorCode::kInvalidModel, "decoder: output ", setup_.decoder->outputs()[1 + i]->name,
             ": expected a first dim of ", rows, ", got ", outputs[1 + i].type());
      }
    }
    return last_logits(outputs[0].tensor(), rows, setup_.beams);
  }

  ModelSetup setup_;
  size_t states_ = 0, first_past_ = 0;        // keys and values of all layers
  static constexpr size_t kBufferInputs = 3;  // past_sequence_length, beam_width, cache_indirection
  bool has_hidden_ = false, shares_buffer_ = false, takes_beams_ = false, takes_sequence_ = false,
       is_old_form_ = false;
  int64_t batch_ = 0;
  int32_t past_length_ = 0;
  Tensor start_, mask_, expanded_mask_, hidden_;
  std::vector<Tensor> self_, cross_;
};

}  // namespace

std::unique_ptr<LanguageModel> make_encoder_decoder_model(const ModelSetup& setup) {
  return std::make_unique<EncoderDecoderModel>(setup);
}

}  // namespace sardonyx::ops
