// The op table: all family tables joined, and look-ups in it.
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/custom_op.h"
#include "ir/op_def.h"
#include "ir/ops/attention/contrib_linear_attention.h"
#include "ir/ops/contrib/optimized_graphs.h"
#include "ir/ops/conv/conv_gradient.h"
#include "ir/ops/moe/mixture_of_experts.h"
#include "ir/ops/normalization/normalization_gradient.h"
#include "ir/ops/op_families.h"
#include "ir/ops/pooling/pool_gradient.h"
#include "ir/ops/quantization/matmul_fpq4.h"
#include "ir/ops/recurrent/rnn_decomposition.h"

namespace sardonyx {
namespace {

using Family = std::span<const OpDef> (*)();
constexpr Family kFamilies[] = {
    ops::arithmetic_ops,
    ops::math_ops,
    ops::activation_ops,
    ops::dropout_ops,
    ops::logic_ops,
    ops::cast_ops,
    ops::quantize_ops,
    ops::generator_ops,
    ops::random_ops,
    ops::training_ops,
    ops::optimizer_ops,
    ops::linear_algebra_ops,
    ops::lu_ops,
    ops::convolution_ops,
    ops::convolution_gradient_ops,
    ops::irregular_convolution_ops,
    ops::pool_ops,
    ops::pool_gradient_ops,
    ops::region_ops,
    ops::normalization_ops,
    ops::row_normalization_ops,
    ops::normalization_gradient_ops,
    ops::image_ops,
    ops::resize_ops,
    ops::grid_sample_ops,
    ops::matmul_ops,
    ops::einsum_ops,
    ops::recurrent_ops,
    ops::recurrent_gradient_ops,
    ops::attention_ops,
    ops::linear_attention_ops,
    ops::reduce_ops,
    ops::order_ops,
    ops::cumulative_ops,
    ops::softmax_ops,
    ops::loss_ops,
    ops::signal_ops,
    ops::shape_ops,
    ops::join_ops,
    ops::slice_ops,
    ops::pad_ops,
    ops::gather_ops,
    ops::scatter_ops,
    ops::select_ops,
    ops::suppression_ops,
    ops::sequence_ops,
    ops::optional_ops,
    ops::control_ops,
    ops::scan_ops,
    ops::text_ops,
    ops::ngram_ops,
    ops::image_decoder_ops,
    ops::tree_ops,
    ops::linear_model_ops,
    ops::support_vector_ops,
    ops::encoder_ops,
    ops::feature_map_ops,
    ops::contrib_ops,
    ops::contrib_normalization_ops,
    ops::contrib_attention_ops,
    ops::contrib_grouped_ops,
    ops::contrib_decoding_ops,
    ops::contrib_sparse_attention_ops,
    ops::contrib_mixture_ops,
    ops::contrib_linear_attention_ops,
    ops::contrib_stream_ops,
    ops::contrib_packed_attention_ops,
    ops::contrib_optimized_ops,
    ops::contrib_blob_weight_ops,
    ops::contrib_text_ops,
    ops::contrib_tensor_ops,
    ops::contrib_quantized_ops,
    ops::contrib_weight_ops,
    ops::contrib_recurrent_ops,
    ops::contrib_generation_ops,
    ops::contrib_token_ops,
    ops::fused_ops,
    ops::group_ops,
};

struct OpTable {
  std::vector<const OpDef*> rows;
  std::unordered_map<std::string, const OpDef*> by_name;

  OpTable() {
    for (const Family family : kFamilies) {
      for (const OpDef& row : family()) {
        rows.push_back(&row);
        const bool is_new = by_name.emplace(full_name(row), &row).second;
        if (!is_new)
          fail(ErrorCode::kInternal, "two rows of the op table are named ", full_name(row));
      }
    }
  }
};

const OpTable& table() {
  static const auto& built = *new const OpTable;
  return built;
}

}  // namespace

std::span<const OpDef* const> all_ops() {
  return table().rows;
}

std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::string full_name(const OpDef& op) {
  return op.domain.empty() ? std::string(op.name)
                           : std::string(op.domain) + "::" + std::string(op.name);
}

const OpDef* find_op(std::string_view name, std::string_view domain) {
  domain = canonical_domain(domain);
  const auto at = table().by_name.find(
      domain.empty() ? std::string(name) : std::string(domain) + "::" + std::string(name));
  if (at != table().by_name.end()) return at->second;
  return domain.empty() ? nullptr : find_custom_op(name, domain);
}

const OpDef& op_named(std::string_view qualified) {
  const size_t colons = qualified.find("::");
  const OpDef* op = colons == std::string_view::npos
                        ? find_op(qualified)
                        : find_op(qualified.substr(colons + 2), qualified.substr(0, colons));
  if (!op) fail(ErrorCode::kUnsupported, "no operator is named ", qualified);
  return *op;
}

}  // namespace sardonyx
