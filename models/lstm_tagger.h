// A bidirectional LSTM that gives each token of a sentence a tag.
#pragma once

#include "eager/nn/linear.h"
#include "eager/nn/recurrent.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// Token ids [batch, length] to scores [batch, length, tags].
struct LstmTagger : nn::Layer<LstmTagger> {
  LstmTagger(int64_t vocabulary, int64_t tags, int64_t embedding = 64, int64_t hidden = 128)
      : words(add("words", nn::Embedding(vocabulary, embedding))),
        lstm(
            add("lstm", nn::LSTM(embedding, hidden, {.batch_first = true, .bidirectional = true}))),
        scores(add("scores", nn::Linear(2 * hidden, tags))) {}
  nn::Embedding words;
  nn::LSTM lstm;
  nn::Linear scores;

  Tensor forward(const Tensor& ids) const { return scores(lstm(words(ids)).output); }
};

}  // namespace sardonyx::models
