// Writes eager/op/*: every op of the op table as a C++ function.
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "ir/ops/attention/contrib_linear_attention.h"
#include "ir/ops/contrib/optimized_graphs.h"
#include "ir/ops/moe/mixture_of_experts.h"
#include "ir/ops/op_families.h"
#include "ir/ops/quantization/matmul_fpq4.h"
#include "tools/make-op-functions/text.h"

namespace sardonyx::tool {
namespace {

namespace fs = std::filesystem;

// One header and its sources: rows of these families.
struct HeaderGroup {
  std::string_view name, about;
  std::vector<std::span<const OpDef> (*)()> families;
};

std::vector<HeaderGroup> groups() {
  using namespace ops;
  return {
      {"math",
       "Elementwise ops: arithmetic, functions, activations, logic and types.",
       {arithmetic_ops, math_ops, activation_ops, dropout_ops, logic_ops, cast_ops, quantize_ops}},
      {"generate",
       "Ops that make tensors, and the steps of optimisers.",
       {generator_ops, random_ops, training_ops, signal_ops}},
      {"network",
       "Convolution, pooling, normalisation and images.",
       {convolution_ops, irregular_convolution_ops, pool_ops, region_ops, normalization_ops,
        row_normalization_ops, image_ops, resize_ops, grid_sample_ops}},
      {"product",
       "Products, recurrent layers, attention, reductions and losses.",
       {matmul_ops, einsum_ops, recurrent_ops, attention_ops, linear_attention_ops, reduce_ops,
        order_ops, cumulative_ops, softmax_ops, loss_ops}},
      {"arrange",
       "Ops that move elements, and sequences and optionals of tensors.",
       {shape_ops, join_ops, slice_ops, pad_ops, gather_ops, scatter_ops, select_ops,
        suppression_ops, sequence_ops, optional_ops, control_ops, scan_ops}},
      {"text", "Strings and encoded images.", {text_ops, ngram_ops, image_decoder_ops}},
      {"classic",
       "Classic machine learning: the domain ai.onnx.ml.",
       {tree_ops, linear_model_ops, support_vector_ops, encoder_ops, feature_map_ops}},
      {"contrib",
       "The domain com.microsoft.",
       {contrib_ops, contrib_normalization_ops, contrib_attention_ops, contrib_grouped_ops,
        contrib_decoding_ops, contrib_sparse_attention_ops, contrib_text_ops, contrib_tensor_ops,
        contrib_quantized_ops, contrib_weight_ops, contrib_recurrent_ops, contrib_generation_ops,
        contrib_token_ops, contrib_mixture_ops, contrib_linear_attention_ops, contrib_stream_ops,
        contrib_packed_attention_ops, contrib_optimized_ops, contrib_blob_weight_ops}},
  };
}

// Rows of other domains than these are written by passes alone.
struct Domain {
  std::string_view name, space;
};
constexpr Domain kDomains[] = {{"", ""},
                               {"ai.onnx.ml", "ml"},
                               {"ai.onnx.preview", "preview"},
                               {"ai.onnx.preview.training", "training"},
                               {"com.microsoft", "microsoft"}};

const Domain* domain_of(const OpDef& op) {
  const auto at = std::ranges::find(kDomains, op.domain, &Domain::name);
  return at == std::end(kDomains) ? nullptr : at;
}

// Texts of a group's ops, those of each domain in its namespace.
std::string in_namespaces(const HeaderGroup& group, std::string (*text_of)(const OpDef&)) {
  std::string out;
  for (const Domain& domain : kDomains) {
    std::string texts;
    for (const auto family : group.families) {
      for (const OpDef& op : family()) {
        if (domain_of(op) == &domain && has_function(op)) texts += text_of(op);
      }
    }
    if (texts.empty()) continue;
    const bool is_nested = !domain.space.empty();
    if (is_nested) out += text("namespace ", domain.space, " {\n\n");
    out += texts;
    if (is_nested) out += text("\n}  // namespace ", domain.space, "\n\n");
  }
  return out;
}

// Formatting is off: the files must not depend on a formatter's version.
constexpr std::string_view kMade =
    "// Made by make-op-functions from the op table; not to be edited.\n"
    "// clang-format off\n";

std::string wrapped(std::string_view first, std::string_view includes, const std::string& body) {
  return text(first, kMade, includes, "\nnamespace sardonyx::eager::op {\n\n", body,
              "\n}  // namespace sardonyx::eager::op\n");
}

// An array of the group's calls by name.
std::string callers_of(const HeaderGroup& group) {
  std::string out, lists;
  std::string list = text("k", group.name, "Calls");  // kProductCalls
  list[1] = static_cast<char>(std::toupper(list[1]));
  for (const Domain& domain : kDomains) {
    std::string calls;
    for (const auto family : group.families) {
      for (const OpDef& op : family()) {
        if (domain_of(op) == &domain && has_function(op)) calls += caller_of(op);
      }
    }
    if (calls.empty()) continue;
    const std::string space(domain.space);
    if (!space.empty()) out += "namespace " + space + " {\n";
    out +=
        text("namespace {\n\nconst NamedCall ", list, "[] = {\n", calls, "};\n\n}  // namespace\n");
    if (!space.empty()) out += "}  // namespace " + space + "\n";
    out += "\n";
    lists += text(lists.empty() ? "" : ", ", space, space.empty() ? "" : "::", list);
  }
  return text(out, "std::vector<std::span<const NamedCall>> ", group.name, "_calls() {\n  return {",
              lists, "};\n}\n");
}

struct Written {
  fs::path name;
  std::string text;
};

std::vector<Written> files_of(const HeaderGroup& group) {
  const std::string name(group.name), header = text("#include \"eager/op/", name, ".h\"\n");
  const std::string fields = text("#include \"eager/op/", name, "_fields.h\"\n");
  return {
      {name + ".h",
       wrapped(text("// ", group.about, "\n"), "#pragma once\n\n#include \"eager/op_types.h\"\n",
               in_namespaces(group, declaration_of))},
      {name + "_fields.h", wrapped("// The fields of the attributes, for conversions.\n",
                                   "#pragma once\n\n" + header, in_namespaces(group, fields_of))},
      {name + ".cpp", wrapped("",
                              "#include \"eager/op/" + name + ".h\"\n\n" + fields +
                                  "#include \"eager/dispatch/op_row.h\"\n",
                              in_namespaces(group, definition_of))},
      {name + "_test.cpp",
       wrapped("", "#include \"eager/op_calls_for_test.h\"\n" + fields, callers_of(group))},
  };
}

// Every row must be in a group, or a new family would be forgotten.
void check_complete(const std::vector<HeaderGroup>& all) {
  std::set<const OpDef*> seen;
  for (const HeaderGroup& group : all) {
    for (const auto family : group.families) {
      for (const OpDef& op : family())
        seen.insert(&op);
    }
  }
  for (const OpDef* op : all_ops()) {
    if (domain_of(*op) && !seen.contains(op)) {
      fail(ErrorCode::kInternal, full_name(*op),
           " is of a family that no group of make-op-functions names");
    }
  }
}

int run(const fs::path& folder, bool check) {
  const std::vector<HeaderGroup> all = groups();
  check_complete(all);
  int stale = 0;
  for (const HeaderGroup& group : all) {
    for (const Written& file : files_of(group)) {
      const fs::path path = folder / file.name;
      if (!check) {
        std::ofstream(path) << file.text;
        continue;
      }
      std::ifstream in(path);
      const std::string found{std::istreambuf_iterator<char>(in), {}};
      if (found == file.text) continue;
      std::fprintf(stderr, "make-op-functions: %s is not what the op table says; run %s\n",
                   path.c_str(), "make-op-functions eager/op");
      ++stale;
    }
  }
  return stale == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sardonyx::tool

int main(int argc, char** argv) {
  CLI::App app("make-op-functions: writes every op of the op table as a C++ function");
  std::filesystem::path folder;
  bool check = false;
  app.add_option("FOLDER", folder, "folder to write to: eager/op")->required();
  app.add_flag("--check", check, "write nothing: compare, and exit with 1 where files differ");
  CLI11_PARSE(app, argc, argv);
  try {
    return sardonyx::tool::run(folder, check);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make-op-functions: %s\n", error.what());
    return 4;
  }
}
