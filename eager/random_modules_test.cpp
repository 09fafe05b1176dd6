// Steps of random programs that call modules and draw random numbers.
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/random_programs_for_test.h"

namespace sardonyx::eager::programs {
namespace {

int64_t width(T a) {
  return a.size(-1).value();
}
int64_t heads_of(T a) {
  return width(a) % 2 == 0 ? 2 : 1;
}
Tensor call_own(W w, S s, T a, T) {
  return w.functions[s.own](a);
}
// x [n, w] as a series [n, 1, w] of one sample.
template <typename M>
Tensor of_series(const M& module, T x) {
  return module(x.unsqueeze(1)).output;
}

// A step that calls a module made of the operand at hand.
Op calling(const char* name, std::function<size_t(World&, Step&, T)> make, unsigned flags = 0) {
  return {name, call_own, flags,
          [make = std::move(make)](World& w, Step& s, T a) { s.own = make(w, s, a); }};
}

}  // namespace

std::vector<Op> module_steps() {
  return {
      calling("Linear",
              [](World& w, Step& s, T a) {
                return w.keep(nn::Linear(width(a), 3, {.bias = s.k % 2 == 0}));
              }),
      calling("Bilinear",
              [](World& w, Step&, T a) {
                return w.keep<nn::Bilinear>(nn::Bilinear(width(a), width(a), 3),
                                            [](const auto& own, T x) { return own(x, tanh(x)); });
              }),
      calling("Sequential",
              [](World& w, Step&, T a) {
                return w.keep(nn::Sequential(nn::Linear(width(a), 4), nn::BatchNorm1d(4),
                                             nn::ReLU(), nn::Dropout(0.5), nn::Linear(4, 2)));
              }),
      calling("LayerNorm", [](World& w, Step&, T a) { return w.keep(nn::LayerNorm(width(a))); }),
      calling("RMSNorm", [](World& w, Step&, T a) { return w.keep(nn::RMSNorm(width(a))); }),
      calling("BatchNorm1d",
              [](World& w, Step& s, T a) {
                const auto momentum = s.k == 0 ? std::nullopt : std::optional(0.1);
                return w.keep(nn::BatchNorm1d(a.size(1).value(), {.momentum = momentum}));
              }),
      calling("BatchNorm1d in evaluation mode",
              [](World& w, Step&, T a) {
                return w.keep<nn::BatchNorm1d>(nn::BatchNorm1d(a.size(1).value()),
                                               [](const auto& own, T x) {
                                                 own.eval();
                                                 return own(x);
                                               });
              }),
      calling("GroupNorm",
              [](World& w, Step&, T a) { return w.keep(nn::GroupNorm(1, a.size(1).value())); }),
      calling("InstanceNorm",
              [](World& w, Step& s, T a) {
                return w.keep<nn::InstanceNorm>(
                    nn::InstanceNorm(a.size(1).value(),
                                     {.affine = true, .track_running_stats = s.k % 2 == 0}),
                    [](const auto& own, T x) {
                      // Their sum would be rounding alone, and the largest of it anyone's.
                      return own(stack({x, x * 2, x * x}, -1)).select(-1, 2);
                    });
              }),
      calling("Conv1d",
              [](World& w, Step& s, T) {
                constexpr const char* kModes[] = {"zeros", "reflect", "circular"};
                return w.keep<nn::Conv1d>(
                    nn::Conv1d(1, 2, 2, {.padding = 1, .padding_mode = kModes[s.k % 3]}),
                    [](const auto& own, T x) { return own(x.unsqueeze(1)).flatten(1); });
              }),
      calling("ConvTranspose1d",
              [](World& w, Step&, T) {
                return w.keep<nn::ConvTranspose1d>(
                    nn::ConvTranspose1d(1, 2, 2, {.stride = 2}),
                    [](const auto& own, T x) { return own(x.unsqueeze(1)).flatten(1); });
              }),
      calling("pools",
              [](World& w, Step& s, T) {
                w.functions.emplace_back([k = s.k](T x) {
                  const Tensor rows = x.unsqueeze(1);
                  return (k % 2 ? nn::max_pool1d(rows, 2, {.padding = 1}) : nn::avg_pool1d(rows, 2))
                      .flatten(1);
                });
                return w.functions.size() - 1;
              }),
      calling("adaptive pools",
              [](World& w, Step& s, T) {
                w.functions.emplace_back([k = s.k](T x) {
                  const Tensor rows = x.unsqueeze(1);
                  return (k % 2 ? nn::adaptive_max_pool1d(rows, 2)
                                : nn::adaptive_avg_pool1d(rows, 3))
                      .flatten(1);
                });
                return w.functions.size() - 1;
              }),
      calling("RNN",
              [](World& w, Step& s, T a) {
                const auto kind = s.k % 2 ? nn::Nonlinearity::kTanh : nn::Nonlinearity::kRelu;
                return w.keep<nn::RNN>(nn::RNN(width(a), 2, {}, kind), of_series<nn::RNN>);
              }),
      calling("GRU", [](World& w, Step&,
                        T a) { return w.keep<nn::GRU>(nn::GRU(width(a), 2), of_series<nn::GRU>); }),
      calling("GRU in both directions",
              [](World& w, Step&, T a) {
                return w.keep<nn::GRU>(
                    nn::GRU(width(a), 2, {.layers = 2, .dropout = 0.5, .bidirectional = true}),
                    of_series<nn::GRU>);
              }),
      calling("LSTM",
              [](World& w, Step&, T a) {
                return w.keep<nn::LSTM>(nn::LSTM(width(a), 2), of_series<nn::LSTM>);
              }),
      calling("LSTM with a state",
              [](World& w, Step&, T a) {
                return w.keep<nn::LSTM>(nn::LSTM(width(a), 2), [](const auto& own, T x) {
                  const Tensor state = tanh(x.sum()).expand({1, x.size(0), 2});
                  const auto found = own(x.unsqueeze(0), {.hidden = state, .cell = state});
                  return found.hidden[0] + found.cell[0];
                });
              }),
      calling("LSTM of lengths",
              [](World& w, Step&, T a) {
                return w.keep<nn::LSTM>(nn::LSTM(width(a), 2), [](const auto& own, T x) {
                  const Tensor lengths = dims_tensor({x.size(0), 1});
                  return own(stack({x, x * 2}, 1), {.lengths = lengths}).output.flatten(1);
                });
              }),
      calling("LSTMCell",
              [](World& w, Step&, T a) {
                return w.keep<nn::LSTMCell>(nn::LSTMCell(width(a), 2), [](const auto& own, T x) {
                  const auto first = own(x);
                  return own(x * 0.5, first).hidden;
                });
              }),
      calling("GRUCell", [](World& w, Step&, T a) { return w.keep(nn::GRUCell(width(a), 2)); }),
      calling("MultiheadAttention",
              [](World& w, Step& s, T a) {
                return w.keep<nn::MultiheadAttention>(
                    nn::MultiheadAttention(width(a), heads_of(a)),
                    [causal = s.k % 2 == 0](const auto& own, T x) {
                      const Tensor row = x.unsqueeze(1);
                      return own(row, row, row, {.is_causal = causal}).squeeze({1});
                    });
              }),
      calling("TransformerEncoderLayer",
              [](World& w, Step&, T a) {
                return w.keep<nn::TransformerEncoderLayer>(
                    nn::TransformerEncoderLayer(width(a), heads_of(a),
                                                {.feedforward = 4, .dropout = 0.1}),
                    [](const auto& own, T x) { return own(x.unsqueeze(1)).squeeze({1}); });
              }),
      calling(
          "Embedding",
          [](World& w, Step& s, T) {
            const auto padding = s.k % 2 == 0 ? std::optional<int64_t>(1) : std::nullopt;
            return w.keep<nn::Embedding>(nn::Embedding(4, 3, {.padding_idx = padding}),
                                         [](const auto& own, T x) {
                                           return own(clamp(as_float(x), 0, 3).to(DType::kInt64));
                                         });
          },
          kJumps),
      calling(
          "EmbeddingBag",
          [](World& w, Step& s, T) {
            constexpr const char* kModes[] = {"sum", "mean", "max"};
            return w.keep<nn::EmbeddingBag>(
                nn::EmbeddingBag(4, 3, {.mode = kModes[s.k % 3]}), [](const auto& own, T x) {
                  return own(clamp(as_float(x), 0, 3).to(DType::kInt64));
                });
          },
          kJumps),
      calling("PReLU", [](World& w, Step&, T) { return w.keep(nn::PReLU()); }),
      {"parameter", [](W w, S s, T a, T) { return a * w.tensors[s.own]; }, 0,
       [](World& w, Step& s, T a) { s.own = w.keep_parameter(randn({a.size(-1)}) * 0.5); }},
      {"running mean",
       [](W w, S s, T a, T) {
         const Tensor& mean = w.tensors[s.own];
         const Tensor x = as_float(a).to(DType::kFloat);
         if (w.is_training()) mean.assign(mean * 0.9 + x.detach().mean() * 0.1);
         return x - mean;
       },
       0, [](World& w, Step& s, T) { s.own = w.keep_buffer(zeros({})); }},
      // random numbers
      {"Dropout", [](W w, S, T a, T) { return w.dropout(as_float(a)); }},
      {"dropout", [](W w, S, T a, T) { return nn::dropout(as_float(a), 0.3, w.is_training()); }},
      {"dropout of all",
       [](W w, S, T a, T) { return nn::dropout(as_float(a), 1, w.is_training()); }},
      {"dropout by a generator",
       [](W w, S s, T a, T) {
         const Generator own(static_cast<uint64_t>(s.k));
         return nn::dropout(as_float(a), 0.5, w.is_training(), own);
       }},
      {"noise",
       [](W w, S, T a, T) { return w.is_training() ? as_float(a) + randn_like(as_float(a)) : a; }},
      {"AlphaDropout",
       [](W w, S, T a, T) { return nn::alpha_dropout(as_float(a), 0.2, w.is_training()); }},
  };
}

}  // namespace sardonyx::eager::programs
