// Recurrent layers and their cells.
#include "eager/nn.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {

std::vector<Function> recurrent_layers() {
  const Tensor series = signed_numbers({5, 2, 3}), state = signed_numbers({1, 2, 4}, 2);
  const Tensors x{series}, with_state{series, state, signed_numbers({1, 2, 4}, 3)};
  const Tensors with_lengths{series, tensor<int64_t>({5, 3})};
  const Tensors step{signed_numbers({2, 3}), signed_numbers({2, 4}, 2), signed_numbers({2, 4}, 3)};
  const nn::RNN rnn(3, 4), relu_rnn(3, 4, {}, nn::Nonlinearity::kRelu);
  const nn::GRU gru(3, 4), two_ways(3, 4, {.bidirectional = true});
  const nn::LSTM lstm(3, 4), deep(3, 4, {.layers = 2, .batch_first = true});
  const nn::RNNCell rnn_cell(3, 4);
  const nn::GRUCell gru_cell(3, 4);
  const nn::LSTMCell lstm_cell(3, 4);
  return {
      {"RNN", x, [=](In in) { return rnn(in[0]).tensors(); }},
      {"RNN of relu", x, [=](In in) { return relu_rnn(in[0]).tensors(); }},
      {"GRU", x, [=](In in) { return gru(in[0]).tensors(); }},
      {"GRU in both directions", x, [=](In in) { return two_ways(in[0]).tensors(); }},
      {"GRU of lengths", with_lengths,
       [=](In in) { return gru(in[0], {.lengths = in[1]}).tensors(); }},
      {"LSTM", x, [=](In in) { return lstm(in[0]).tensors(); }},
      {"LSTM with states", with_state,
       [=](In in) { return lstm(in[0], {.hidden = in[1], .cell = in[2]}).tensors(); }},
      {"LSTM of two layers", x, [=](In in) { return deep(in[0]).tensors(); }},
      {"RNNCell", step, [=](In in) { return rnn_cell(in[0], in[1]); }},
      {"GRUCell", step, [=](In in) { return gru_cell(in[0], in[1]); }},
      {"LSTMCell",
       step,
       [=](In in) {
         return lstm_cell(in[0], nn::LSTMState{in[1], in[2]}).tensors();
       },
       {.is_called_by_struct = true}},
  };
}

}  // namespace sardonyx::eager::exports
