#include "ir/ops/gemm/einsum.h"

#include <algorithm>
#include <array>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/strides.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {
namespace {

constexpr char kEllipsis = '.';

[[noreturn]] void reject(std::string_view equation, const std::string& why) {
  fail(ErrorCode::kInvalidModel, "Einsum: equation \"", equation, "\": ", why);
}

// Reads one operand's or the output's term of the equation: letters, kEllipsis for "...".
std::string read_term(std::string_view equation, std::string_view term) {
  std::string labels;
  for (size_t at = 0; at < term.size(); ++at) {
    const char c = term[at];
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels += c;
    } else if (term.substr(at, 3) == "...") {
      if (labels.find(kEllipsis) != std::string::npos) reject(equation, "a term has two ellipses");
      labels += kEllipsis;
      at += 2;
    } else {
      reject(equation, text("expected letters, spaces, ',', '->' and '...', got '", c, "'"));
    }
  }
  return labels;
}

std::vector<std::string> read_terms(std::string_view equation, std::string_view left) {
  std::vector<std::string> terms;
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    terms.push_back(read_term(equation, left.substr(begin, end - begin)));
    begin = end + 1;
  }
  return terms;
}

// Gives out label numbers: those of the ellipsis first, then one for each letter seen.
class Labels {
 public:
  explicit Labels(int ellipsis_rank) : ellipsis_rank_(ellipsis_rank), count_(ellipsis_rank) {
    of_letter_.fill(-1);
  }
  int find(char letter) const { return of_letter_[static_cast<size_t>(letter)]; }
  int add(char letter) {
    int& label = of_letter_[static_cast<size_t>(letter)];
    if (label < 0) label = count_++;
    return label;
  }
  int ellipsis_rank() const { return ellipsis_rank_; }
  int count() const { return count_; }

 private:
  std::array<int, 128> of_letter_;
  int ellipsis_rank_;
  int count_;
};

// The number of dims of "..." in every term that has one; -1 if none has.
int ellipsis_rank(std::string_view equation, const std::vector<std::string>& terms,
                  const std::vector<size_t>& ranks) {
  int rank = -1;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find(kEllipsis) != std::string::npos;
    const size_t letters = terms[i].size() - (open ? 1 : 0);
    if (open ? ranks[i] < letters : ranks[i] != letters) {
      reject(equation, text("term ", i, " names ", letters, open ? " dims or more" : " dims",
                            ", operand ", i, " has rank ", ranks[i]));
    }
    if (!open) continue;
    const int own = static_cast<int>(ranks[i] - letters);
    if (rank >= 0 && rank != own) {
      reject(equation, text("the ellipsis stands for ", rank, " dims and for ", own,
                            " dims: all must be the same"));
    }
    rank = own;
  }
  return rank;
}

std::string implicit_output(const std::vector<std::string>& terms) {
  std::array<int, 128> seen{};
  bool has_ellipsis = false;
  for (const std::string& term : terms) {
    for (const char c : term)
      ++seen[static_cast<size_t>(c)];
  }
  has_ellipsis = seen[static_cast<size_t>(kEllipsis)] > 0;
  std::string output = has_ellipsis ? std::string(1, kEllipsis) : "";
  for (size_t c = 'A'; c <= 'z'; ++c) {
    if (seen[c] == 1) output += static_cast<char>(c);
  }
  return output;
}

std::vector<int> resolve_output(std::string_view equation, const std::string& term,
                                const Labels& labels) {
  std::vector<int> output;
  for (const char c : term) {
    if (c == kEllipsis) {
      for (int i = 0; i < labels.ellipsis_rank(); ++i)
        output.push_back(i);
      continue;
    }
    const int label = labels.find(c);
    if (label < 0) reject(equation, text("output index '", c, "' is in no operand"));
    if (std::find(output.begin(), output.end(), label) != output.end()) {
      reject(equation, text("output index '", c, "' stands there twice"));
    }
    output.push_back(label);
  }
  return output;
}

}  // namespace

EinsumLabels parse_einsum(std::string_view equation, const std::vector<size_t>& ranks) {
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = read_terms(equation, equation.substr(0, arrow));
  if (terms.size() != ranks.size()) {
    reject(equation, text("has ", terms.size(), " terms for ", ranks.size(), " operands"));
  }
  const int open = ellipsis_rank(equation, terms, ranks);
  Labels labels(std::max(open, 0));
  EinsumLabels resolved;
  for (const std::string& term : terms) {
    std::vector<int>& operand = resolved.operands.emplace_back();
    for (const char c : term) {
      if (c != kEllipsis) {
        operand.push_back(labels.add(c));
        continue;
      }
      for (int i = 0; i < open; ++i)
        operand.push_back(i);
    }
  }
  const std::string output = arrow == std::string_view::npos
                                 ? implicit_output(terms)
                                 : read_term(equation, equation.substr(arrow + 2));
  resolved.output = resolve_output(equation, output, labels);
  resolved.count = labels.count();
  return resolved;
}

namespace {

// The size of each label. A dim of 1 repeats where another operand has more.
Dims label_dims(InferContext& c, const EinsumLabels& labels) {
  std::vector<std::optional<Dim>> dims(static_cast<size_t>(labels.count));
  for (size_t i = 0; i < labels.operands.size(); ++i) {
    const std::vector<int>& operand = labels.operands[i];
    for (size_t axis = 0; axis < operand.size(); ++axis) {
      std::optional<Dim>& known = dims[static_cast<size_t>(operand[axis])];
      const Dim& dim = (*c.shape(i))[axis];
      const auto first = std::find(operand.begin(), operand.end(), operand[axis]);
      if (const auto at = static_cast<size_t>(first - operand.begin()); at < axis) {
        c.merged((*c.shape(i))[at], dim, text("dims of a repeated index in ", c.input_label(i)));
      }
      if (!known || *known == 1) {
        known = dim;
      } else if (!(dim == 1)) {
        if (known->is_known() && dim.is_known() && !(*known == dim)) {
          c.fail_input(i, "dim ", axis, " is ", dim, " where another operand has ", *known);
        }
        if (!known->is_known()) known = dim.is_known() ? dim : *known == dim ? dim : c.unknown();
      }
    }
  }
  Dims sizes;
  for (const std::optional<Dim>& dim : dims)
    sizes.push_back(dim.value_or(Dim(1)));
  return sizes;
}

void infer_einsum(InferContext& c) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.shape(i)) return c.set(0, c.dtype(0), std::nullopt);
    ranks.push_back(c.shape(i)->size());
  }
  const EinsumLabels labels = parse_einsum(c.attrs<EinsumAttrs>().equation, ranks);
  const Dims sizes = label_dims(c, labels);
  Dims output;
  for (const int label : labels.output)
    output.push_back(sizes[static_cast<size_t>(label)]);
  c.set(0, c.dtype(0), std::move(output));
}

// An operand, or a product of some, while it is being contracted: accumulators, row-major over
// `labels`, of which each occurs once.
struct Factor {
  std::vector<int> labels;
  Tensor values;
};

// The strides with which a walk over `index` (labels) passes a row-major array over `labels`.
Strides strides_along(const std::vector<int>& index, const std::vector<int>& labels,
                      const Shape& own_dims) {
  const Strides own = row_major_strides(own_dims);
  Strides strides(index.size(), 0);
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    if (own_dims[axis] == 1) continue;  // repeats
    const auto at = std::find(index.begin(), index.end(), labels[axis]);
    strides[static_cast<size_t>(at - index.begin())] += own[axis];  // repeated index: the diagonal
  }
  return strides;
}

class Contraction {
 public:
  Contraction(const KernelCall& call, const EinsumLabels& labels) : call_(call), labels_(labels) {
    sizes_.assign(static_cast<size_t>(labels.count), 1);
    for (size_t i = 0; i < labels.operands.size(); ++i) {
      for (size_t axis = 0; axis < labels.operands[i].size(); ++axis) {
        int64_t& size = sizes_[static_cast<size_t>(labels.operands[i][axis])];
        const int64_t dim = call.inputs[i].shape[axis];
        if (dim != 1) size = dim;
      }
    }
  }

  // Multiplies the operands in from left to right and sums each index out as soon as no later
  // operand has it.
  template <typename T>
  void run() const {
    using Acc = Accumulator<T>;
    if (is_rearrangement()) return rearrange<T>();
    Factor product = load<T>(0);
    for (size_t i = 1; i < labels_.operands.size(); ++i) {
      product = multiply<Acc>(product, load<T>(i), wanted_after(i));
    }
    const Factor one{{}, Tensor::scalar(Acc{1})};
    const Tensor result = multiply<Acc>(product, one, labels_.output).values;
    T* out = call_.outputs[0].data<T>();
    for (const Acc value : result.values<Acc>())
      *out++ = narrowed<T>(value);
  }

 private:
  // Whether the elements are those of one operand, none of which is repeated or added to another.
  bool is_rearrangement() const {
    if (labels_.operands.size() != 1) return false;
    const std::vector<int>& labels = labels_.operands[0];
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      if (call_.inputs[0].shape[axis] != sizes_[static_cast<size_t>(labels[axis])]) return false;
      if (!has(labels_.output, labels[axis])) return false;
    }
    return true;
  }

  // The sums of one element each.
  template <typename T>
  void rearrange() const {
    const TensorView& operand = call_.inputs[0];
    const Shape dims = dims_of(labels_.output);
    const Strides strides[] = {row_major_strides(dims),
                               strides_along(labels_.output, labels_.operands[0],
                                             {operand.shape.begin(), operand.shape.end()})};
    const RowWalk walk(dims, strides);
    T* out = call_.outputs[0].data<T>();
    const T* from = operand.data<T>();
    walk.for_each([&](const int64_t* at, int64_t length) {
      for (int64_t j = 0; j < length; ++j)
        out[at[0] + j * walk.step(0)] =
            narrowed<T>(Accumulator<T>{} + widened(from[at[1] + j * walk.step(1)]));
    });
  }

  static bool has(const std::vector<int>& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }

  Shape dims_of(const std::vector<int>& labels) const {
    Shape dims;
    for (const int label : labels)
      dims.push_back(sizes_[static_cast<size_t>(label)]);
    return dims;
  }

  // Whether the output or an operand after `operand` has the index.
  bool is_wanted(int label, size_t operand) const {
    return has(labels_.output, label) ||
           std::any_of(labels_.operands.begin() + static_cast<ptrdiff_t>(operand) + 1,
                       labels_.operands.end(),
                       [label](const std::vector<int>& list) { return has(list, label); });
  }

  // All indices of operands up to `operand` that are wanted later.
  std::vector<int> wanted_after(size_t operand) const {
    std::vector<int> wanted;
    for (size_t i = 0; i <= operand; ++i) {
      for (const int label : labels_.operands[i]) {
        const bool is_new = std::find(wanted.begin(), wanted.end(), label) == wanted.end();
        if (is_new && is_wanted(label, operand)) wanted.push_back(label);
      }
    }
    return wanted;
  }

  // Operand `i` in accumulators: a repeated index becomes the diagonal, a dim of 1 stays one.
  template <typename T>
  Factor load(size_t i) const {
    const TensorView& operand = call_.inputs[i];
    const std::vector<int>& labels = labels_.operands[i];
    Factor factor;
    Shape dims;
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const auto end = labels.begin() + static_cast<ptrdiff_t>(axis);
      if (std::find(labels.begin(), end, labels[axis]) != end) continue;
      factor.labels.push_back(labels[axis]);
      dims.push_back(operand.shape[axis]);
    }
    factor.values = Tensor::allocate(dtype_of<Accumulator<T>>(), dims);
    const Strides strides[] = {
        row_major_strides(dims),
        strides_along(factor.labels, labels, {operand.shape.begin(), operand.shape.end()})};
    const RowWalk walk(dims, strides);
    Accumulator<T>* out = factor.values.mutable_values<Accumulator<T>>().data();
    const T* from = operand.data<T>();
    walk.for_each([&](const int64_t* at, int64_t length) {
      for (int64_t j = 0; j < length; ++j) {
        out[at[0] + j * walk.step(0)] = widened(from[at[1] + j * walk.step(1)]);
      }
    });
    return factor;
  }

  // Sums a * b over all indices that are not in `kept`.
  template <typename Acc>
  Factor multiply(const Factor& a, const Factor& b, const std::vector<int>& kept) const {
    std::vector<int> index = kept;
    for (const std::vector<int>* labels : {&a.labels, &b.labels}) {
      for (const int label : *labels) {
        if (std::find(index.begin(), index.end(), label) == index.end()) index.push_back(label);
      }
    }
    Factor product{kept, Tensor::zeros(dtype_of<Acc>(), dims_of(kept))};
    const Strides strides[] = {strides_along(index, kept, product.values.shape()),
                               strides_along(index, a.labels, a.values.shape()),
                               strides_along(index, b.labels, b.values.shape())};
    const RowWalk walk(dims_of(index), strides);
    Acc* out = product.values.mutable_values<Acc>().data();
    const Acc* x = a.values.values<Acc>().data();
    const Acc* y = b.values.values<Acc>().data();
    walk.for_each([&](const int64_t* at, int64_t length) {
      for (int64_t j = 0; j < length; ++j) {
        out[at[0] + j * walk.step(0)] += x[at[1] + j * walk.step(1)] * y[at[2] + j * walk.step(2)];
      }
    });
    return product;
  }

  const KernelCall& call_;
  const EinsumLabels& labels_;
  Shape sizes_;
};

void run_einsum(const KernelCall& call) {
  std::vector<size_t> ranks;
  for (const TensorView& input : call.inputs)
    ranks.push_back(input.rank());
  const EinsumLabels labels = parse_einsum(call.attrs<EinsumAttrs>().equation, ranks);
  const Contraction contraction(call, labels);
  dispatch_numbers(call.outputs[0].dtype, [&]<typename T>() { contraction.run<T>(); });
}

std::vector<Sample> einsum_samples() {
  const auto sample = [](std::vector<SampleInput> inputs, std::string equation) {
    return Sample{.inputs = std::move(inputs), .attrs = {{"equation", std::move(equation)}}};
  };
  return {
      sample({{.shape = {2, 3}}, {.shape = {3, 4}}}, "ij,jk->ik"),
      sample({{.shape = {2, 3, 4}}, {.shape = {2, 5, 4}}}, "bid, bjd -> bij"),
      sample({{.shape = {3, 3}}}, "ii->i"),
      sample({{.shape = {3, 3}}}, "ii"),
      sample({{.shape = {2, 1, 3}}, {.shape = {1, 3, 2}}}, "...ij,...jk"),
      sample({{.shape = {2, 3}}, {.shape = {3, 4}}, {.shape = {4, 2}}}, "ab,bc,cd->da"),
      sample({{.shape = {2, 3, 4}}}, "a...b->b..."),
      sample({{.shape = {}}, {.shape = {3}}}, ",i->i"),
      sample({{.shape = {0, 3}}, {.shape = {3, 2}}}, "ij,jk->ik"),
      sample({{.shape = {2, 3}}, {.shape = {1}}}, "ij,j->i"),
      sample({{.shape = {2, 3, 3}}, {.shape = {2, 1}}}, "ijj,ik->k"),
  };
}

}  // namespace

std::span<const OpDef> einsum_ops() {
  static const OpDef kOps[] = {
      {.name = "Einsum",
       .doc = "The sum of products that the equation says; letters name axes, \"...\" broadcasts "
              "others.",
       .since = 12,
       .signature = "(Inputs...: T) -> (Output: T)",
       .types = {{"T", kInts | DTypeSet{DType::kFloat16, DType::kFloat, DType::kDouble}}},
       .attrs = attr_schema<EinsumAttrs>(),
       .infer = infer_einsum,
       .reference = run_einsum,
       .grad = einsum_gradient,
       .facts = kSmallInMixed | kFloat32Kernels,
       .samples = einsum_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
