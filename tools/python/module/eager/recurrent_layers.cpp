// Layers with states and masks: recurrent ones, attention, transformers.
#include "eager/nn.h"
#include "tools/python/module/eager/function_rows.h"
#include "tools/python/module/eager/layers.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace nn = eager::nn;

void take_recurrent(CallArguments& a, nn::RecurrentOptions& o) {
  a.take("num_layers", o.layers).take("bias", o.bias).take("batch_first", o.batch_first);
  a.take("dropout", o.dropout).take("bidirectional", o.bidirectional);
}

// lengths [batch]: how many steps of each sequence count.
template <typename L>
void bind_call(py::class_<L, nn::Module>& layer) {
  layer.def(
      "forward",
      [](const L& self, const py::object& x, const py::object& state, const py::object& lengths) {
        nn::RecurrentInputs inputs{.lengths = tensor_or_undefined(lengths, "lengths")};
        const bool has_cell = std::is_same_v<L, nn::LSTM>;
        if (has_cell && !state.is_none()) {
          const std::vector<Tensor> both = tensors_from(state, "state");
          if (both.size() != 2) throw py::type_error("state: expected (hidden, cell)");
          inputs.hidden = both[0], inputs.cell = both[1];
        } else {
          inputs.hidden = tensor_or_undefined(state, "state");
        }
        const Tensor given = tensor_from(x, "input");
        const nn::RecurrentResult result = forwarded([&] { return self.forward(given, inputs); });
        if (has_cell)
          return py::make_tuple(result.output, py::make_tuple(result.hidden, result.cell));
        return py::make_tuple(result.output, result.hidden);
      },
      py::arg("input"), py::arg("hx") = py::none(), py::arg("lengths") = py::none());
}

nn::Nonlinearity nonlinearity_from(const std::string& word) {
  if (word == "tanh") return nn::Nonlinearity::kTanh;
  if (word == "relu") return nn::Nonlinearity::kRelu;
  throw py::type_error("nonlinearity: expected 'tanh' or 'relu', got '" + word + "'");
}

void bind_recurrent(py::module_& m) {
  constexpr const char* kDoc =
      "x [time, batch, in] (or batch first) to (output, state); lengths [batch] are how many steps "
      "of each sequence count.";
  auto lstm = define_class<nn::LSTM>(m, "LSTM", kDoc, [](CallArguments& a) {
    const auto in = a.need<int64_t>("input_size"), hidden = a.need<int64_t>("hidden_size");
    nn::RecurrentOptions o;
    take_recurrent(a, o);
    a.finish();
    return nn::LSTM(in, hidden, o, python_line());
  });
  bind_call(lstm);
  auto gru = define_class<nn::GRU>(m, "GRU", kDoc, [](CallArguments& a) {
    const auto in = a.need<int64_t>("input_size"), hidden = a.need<int64_t>("hidden_size");
    nn::RecurrentOptions o;
    take_recurrent(a, o);
    a.finish();
    return nn::GRU(in, hidden, o, python_line());
  });
  bind_call(gru);
  auto rnn = define_class<nn::RNN>(m, "RNN", kDoc, [](CallArguments& a) {
    const auto in = a.need<int64_t>("input_size"), hidden = a.need<int64_t>("hidden_size");
    nn::RecurrentOptions o;
    std::string nonlinearity = "tanh";
    int64_t layers = 1;
    a.take("num_layers", layers).take("nonlinearity", nonlinearity).take("bias", o.bias);
    a.take("batch_first", o.batch_first).take("dropout", o.dropout);
    a.take("bidirectional", o.bidirectional).finish();
    o.layers = layers;
    return nn::RNN(in, hidden, o, nonlinearity_from(nonlinearity), python_line());
  });
  bind_call(rnn);
}

void bind_cells(py::module_& m) {
  auto lstm =
      define_class<nn::LSTMCell>(m, "LSTMCell", "One step: (hidden, cell).", [](CallArguments& a) {
        const auto in = a.need<int64_t>("input_size");
        const auto hidden = a.need<int64_t>("hidden_size");
        nn::CellOptions o;
        a.take("bias", o.bias).finish();
        return nn::LSTMCell(in, hidden, o, python_line());
      });
  lstm.def(
      "forward",
      [](const nn::LSTMCell& self, const py::object& input, const py::object& state) {
        const Tensor x = tensor_from(input, "LSTMCell: input");
        nn::LSTMState given;
        if (!state.is_none()) {
          const std::vector<Tensor> both = tensors_from(state, "state");
          if (both.size() != 2) throw py::type_error("state: expected (hidden, cell)");
          given = {both[0], both[1]};
        }
        const nn::LSTMState next = forwarded([&] { return self.forward(x, given); });
        return py::make_tuple(next.hidden, next.cell);
      },
      py::arg("input"), py::arg("hx") = py::none());
  const auto bind_hidden = [](auto& cell) {
    using L = typename std::remove_reference_t<decltype(cell)>::type;
    cell.def(
        "forward",
        [](const L& self, const py::object& input, const py::object& state) {
          const Tensor x = tensor_from(input, "cell: input");
          const Tensor hidden = tensor_or_undefined(state, "state");
          return forwarded([&] { return self.forward(x, hidden); });
        },
        py::arg("input"), py::arg("hx") = py::none());
  };
  auto gru = define_class<nn::GRUCell>(m, "GRUCell", "One step: hidden.", [](CallArguments& a) {
    const auto in = a.need<int64_t>("input_size"), hidden = a.need<int64_t>("hidden_size");
    nn::CellOptions o;
    a.take("bias", o.bias).finish();
    return nn::GRUCell(in, hidden, o, python_line());
  });
  bind_hidden(gru);
  auto rnn = define_class<nn::RNNCell>(m, "RNNCell", "One step: hidden.", [](CallArguments& a) {
    const auto in = a.need<int64_t>("input_size"), hidden = a.need<int64_t>("hidden_size");
    nn::CellOptions o;
    std::string nonlinearity = "tanh";
    a.take("bias", o.bias).take("nonlinearity", nonlinearity).finish();
    return nn::RNNCell(in, hidden, o, nonlinearity_from(nonlinearity), python_line());
  });
  bind_hidden(rnn);
}

// Masks by keyword: attn_mask, key_padding_mask, is_causal.
nn::AttentionMasks masks_from(const py::object& attention, const py::object& key_padding,
                              bool is_causal) {
  return {tensor_or_undefined(attention, "attn_mask"),
          tensor_or_undefined(key_padding, "key_padding_mask"), is_causal};
}

void bind_attention(py::module_& m) {
  auto layer = define_class<nn::MultiheadAttention>(
      m, "MultiheadAttention", "Called with query, key and value: (output, weights or None).",
      [](CallArguments& a) {
        const auto embed = a.need<int64_t>("embed_dim"), heads = a.need<int64_t>("num_heads");
        nn::AttentionOptions o;
        a.take("dropout", o.dropout).take("bias", o.bias).take("batch_first", o.batch_first);
        a.take("kdim", o.key_size).take("vdim", o.value_size).finish();
        return nn::MultiheadAttention(embed, heads, o, python_line());
      });
  layer.def(
      "forward",
      [](const nn::MultiheadAttention& self, const py::object& query, const py::object& key,
         const py::object& value, const py::object& key_padding, bool needs_weights,
         const py::object& mask, bool is_causal) {
        const nn::AttentionMasks masks = masks_from(mask, key_padding, is_causal);
        const Tensor q = tensor_from(query, "MultiheadAttention: query"),
                     k = tensor_from(key, "MultiheadAttention: key"),
                     v = tensor_from(value, "MultiheadAttention: value");
        const nn::AttentionResult result =
            forwarded([&] { return self.forward(q, k, v, masks, needs_weights); });
        return py::make_tuple(result.output, needs_weights ? py::cast(result.weights) : py::none());
      },
      py::arg("query"), py::arg("key"), py::arg("value"), py::arg("key_padding_mask") = py::none(),
      py::arg("need_weights") = true, py::arg("attn_mask") = py::none(),
      py::arg("is_causal") = false);
  RowDefiner(m).function(
      "scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, "
      "is_causal=False, scale=None)",
      [](const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
         double dropout, bool is_causal, const std::optional<double>& scale, Loc loc) {
        return nn::scaled_dot_product_attention(query, key, value,
                                                {mask, dropout, is_causal, scale}, loc);
      });
}

void take_transformer(CallArguments& a, nn::TransformerOptions& o) {
  a.take("dim_feedforward", o.feedforward).take("dropout", o.dropout);
  a.take("activation", o.activation).take("layer_norm_eps", o.layer_norm_eps);
  a.take("batch_first", o.batch_first).take("norm_first", o.norm_first).take("bias", o.bias);
}

template <typename L>
void bind_encoder_call(py::class_<L, nn::Module>& layer) {
  layer.def(
      "forward",
      [](const L& self, const py::object& source, const py::object& mask,
         const py::object& key_padding, bool is_causal) {
        const Tensor x = tensor_from(source, "TransformerEncoderLayer: src");
        const nn::AttentionMasks masks = masks_from(mask, key_padding, is_causal);
        return forwarded([&] { return self.forward(x, masks); });
      },
      py::arg("src"), py::arg("src_mask") = py::none(),
      py::arg("src_key_padding_mask") = py::none(), py::arg("is_causal") = false);
}
template <typename L>
void bind_decoder_call(py::class_<L, nn::Module>& layer) {
  layer.def(
      "forward",
      [](const L& self, const py::object& target, const py::object& encoded, const py::object& mask,
         const py::object& memory_mask, const py::object& padding, const py::object& memory_padding,
         bool is_causal, bool is_memory_causal) {
        const Tensor x = tensor_from(target, "TransformerDecoderLayer: tgt"),
                     memory = tensor_from(encoded, "TransformerDecoderLayer: memory");
        const nn::AttentionMasks own = masks_from(mask, padding, is_causal);
        const nn::AttentionMasks other = masks_from(memory_mask, memory_padding, is_memory_causal);
        return forwarded([&] { return self.forward(x, memory, own, other); });
      },
      py::arg("tgt"), py::arg("memory"), py::arg("tgt_mask") = py::none(),
      py::arg("memory_mask") = py::none(), py::arg("tgt_key_padding_mask") = py::none(),
      py::arg("memory_key_padding_mask") = py::none(), py::arg("tgt_is_causal") = false,
      py::arg("memory_is_causal") = false);
}

template <typename L>
auto transformer_layer(py::module_& m, const char* name, const char* doc) {
  return define_class<L>(m, name, doc, [](CallArguments& a) {
    const auto embed = a.need<int64_t>("d_model"), heads = a.need<int64_t>("nhead");
    nn::TransformerOptions o;
    take_transformer(a, o);
    a.finish();
    return L(embed, heads, o, python_line());
  });
}
}  // namespace

void bind_recurrent_layers(py::module_& m) {
  bind_recurrent(m);
  bind_cells(m);
  bind_attention(m);
  auto encoder_layer = transformer_layer<nn::TransformerEncoderLayer>(
      m, "TransformerEncoderLayer", "Self-attention and a feed-forward part.");
  bind_encoder_call(encoder_layer);
  auto decoder_layer = transformer_layer<nn::TransformerDecoderLayer>(
      m, "TransformerDecoderLayer",
      "Self-attention, attention to a memory, and a feed-forward part.");
  bind_decoder_call(decoder_layer);
}

}  // namespace sardonyx::python::eager_layer
