// The gated activation of experts.
#pragma once

namespace sardonyx::ops {

// G * sigmoid(alpha * G) * (L + beta) of a gate G, at most `limit`, and its partner L, within
// [-limit, limit]; infinity where nothing is clipped.
struct SwiGlu {
  float alpha, beta, limit;
};

}  // namespace sardonyx::ops
