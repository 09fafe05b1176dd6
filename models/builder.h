// Writes networks as graphs: each call adds ops, and weights drawn from a seeded generator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace sardonyx::models {

// Layers in the habit of torch. Values are Val handles of the graph being built; weights are named
// after the scope they stand in ("layer1.0.conv1.weight"). The same seed gives the same weights.
class NetBuilder {
 public:
  explicit NetBuilder(std::string name, uint64_t seed = 0);

  // A path of module names for what is built until the scope ends.
  class Scope {
   public:
    Scope(NetBuilder& builder, const std::string& name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    NetBuilder& builder_;
    std::string outer_;
  };
  Scope scope(const std::string& name) { return {*this, name}; }

  Val input(const std::string& name, DType dtype, Dims shape);
  void output(const std::string& name, const Val& value);
  Model finish();

  Emitter& ops() { return emitter_; }
  Val op(std::string_view name, std::initializer_list<Val> inputs, const AttrMap& attrs = {});
  Type type(const Val& value) const { return emitter_.type(value); }
  int64_t channels(const Val& value) const;  // the size of dim 1

  struct ConvOptions {
    int64_t kernel = 3, stride = 1, padding = 0, groups = 1;
    bool bias = true;
  };
  // x: [batch, channels, height, width].
  Val conv2d(const Val& x, int64_t out_channels, const ConvOptions& options);
  Val batch_norm(const Val& x);
  // Over the last dim: [..., in] -> [..., out].
  Val linear(const Val& x, int64_t out_features, bool bias = true);
  Val layer_norm(const Val& x, float epsilon = 1e-5f);
  Val embedding(const Val& ids, int64_t count, int64_t width);
  Val relu(const Val& x) { return op("Relu", {x}); }
  Val max_pool(const Val& x, int64_t kernel, int64_t stride, int64_t padding = 0);
  Val global_average_pool(const Val& x);  // [batch, channels]
  Val flatten(const Val& x) { return op("Flatten", {x}); }
  Val add(const Val& a, const Val& b) { return op("Add", {a, b}); }
  // [batch, length, width] -> [batch, heads, length, width / heads] and back.
  Val split_heads(const Val& x, int64_t heads);
  Val merge_heads(const Val& x);

  // A named weight, uniform in [-bound, bound].
  Val weight(const std::string& name, Shape shape, double bound);
  Val constant_weight(const std::string& name, Shape shape, float value);

 private:
  Val named(const std::string& name, Tensor value);

  Model model_;
  GraphEmitter emitter_;
  std::string scope_;
  uint64_t seed_;
  uint64_t weights_ = 0;
};

}  // namespace sardonyx::models
