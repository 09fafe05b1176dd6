#include "eager/autograd/gradcheck.h"

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

using TensorsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// fn's floating results as rows of numbers.
std::vector<std::vector<double>> numbers_of(const TensorsFunction& fn,
                                            const std::vector<Tensor>& inputs) {
  const NoGrad no_grad;
  std::vector<std::vector<double>> numbers;
  for (const Tensor& result : fn(inputs)) {
    if (is_floating(result.dtype())) numbers.push_back(result.data().to_doubles());
  }
  return numbers;
}

class GradientComparison {
 public:
  GradientComparison(const TensorsFunction& fn, const std::vector<Tensor>& inputs,
                     const GradcheckOptions& options, const Loc& loc)
      : fn_(fn), inputs_(inputs), options_(options), loc_(loc) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      require_defined(inputs[i], "gradcheck", "an input", loc);
      if (!inputs[i].requires_grad()) continue;
      if (inputs[i].dtype() != DType::kDouble)
        fail_at(loc, "gradcheck: input ", i, ": expected float64, got ", inputs[i].type(),
                "; convert with to(DType::kDouble)");
      checked_.push_back(i);
      leaves_.push_back(inputs[i].detach().set_requires_grad(true));
    }
    if (checked_.empty())
      fail_at(loc, "gradcheck: expected an input that requires gradients; set_requires_grad(true)");
  }

  bool run() {
    find_slopes();
    for (size_t k = 0; k < checked_.size(); ++k) {
      if (!compare_input(k)) return false;
    }
    return true;
  }

 private:
  std::vector<Tensor> with_leaves(const std::vector<Tensor>& leaves) const {
    std::vector<Tensor> given = inputs_;
    for (size_t k = 0; k < checked_.size(); ++k)
      given[checked_[k]] = leaves[k];
    return given;
  }

  // slopes_[result][element][input] = that element's gradient.
  void find_slopes() {
    for (const Tensor& result : fn_(with_leaves(leaves_))) {
      if (!is_floating(result.dtype())) continue;
      std::vector<std::vector<std::vector<double>>> rows;
      const int64_t count = result.numel(loc_).value();
      for (int64_t element = 0; element < count; ++element)
        rows.push_back(slopes_of(result, element, count));
      slopes_.push_back(std::move(rows));
    }
  }
  std::vector<std::vector<double>> slopes_of(const Tensor& result, int64_t element,
                                             int64_t count) const {
    std::vector<std::vector<double>> rows(leaves_.size());
    std::vector<Tensor> found(leaves_.size());
    if (result.requires_grad()) {
      const Tensor chosen =
          (Operand(arange(count, {.dtype = DType::kInt64}, loc_), loc_) == element)
              .to(result.dtype(), loc_)
              .reshape(result.shape(loc_), loc_);
      found = grad({result}, leaves_,
                   {.grad_outputs = {chosen}, .retain_graph = true, .allow_unused = true}, loc_);
    }
    for (size_t k = 0; k < rows.size(); ++k) {
      if (found[k].defined())
        rows[k] = found[k].data().to_doubles();
      else
        rows[k].resize(static_cast<size_t>(leaves_[k].numel(loc_).value()));
    }
    return rows;
  }

  bool compare_input(size_t k) const {
    const sardonyx::Tensor& value = leaves_[k].data();
    std::vector<double> numbers = value.to_doubles();
    for (size_t place = 0; place < numbers.size(); ++place) {
      const double middle = numbers[place];
      const auto moved = [&](double to) {
        numbers[place] = to;
        std::vector<Tensor> leaves = leaves_;
        leaves[k] = Tensor(sardonyx::Tensor::of<double>(numbers, value.shape()));
        return numbers_of(fn_, with_leaves(leaves));
      };
      const auto above = moved(middle + options_.eps), below = moved(middle - options_.eps);
      numbers[place] = middle;
      if (!compare_place(k, place, above, below)) return false;
    }
    return true;
  }

  bool compare_place(size_t k, size_t place, const std::vector<std::vector<double>>& above,
                     const std::vector<std::vector<double>>& below) const {
    for (size_t result = 0; result < slopes_.size(); ++result) {
      if (above.size() != slopes_.size() || above[result].size() != slopes_[result].size() ||
          below[result].size() != slopes_[result].size())
        fail_at(loc_, "gradcheck: expected results of the same number and sizes in each call");
      for (size_t element = 0; element < slopes_[result].size(); ++element) {
        const double wanted =
            (above[result][element] - below[result][element]) / (2 * options_.eps);
        const double got = slopes_[result][element][k][place];
        // A NaN on either side fits nothing.
        if (std::abs(got - wanted) <= options_.atol + options_.rtol * std::abs(wanted)) continue;
        if (!options_.throws) return false;
        fail_at(loc_, "gradcheck: the gradient of element ", element, " of result ", result,
                " by element ", place, " of input ", checked_[k], ": differences give ", wanted,
                ", backward() gives ", got);
      }
    }
    return true;
  }

  const TensorsFunction& fn_;
  const std::vector<Tensor>& inputs_;
  const GradcheckOptions& options_;
  const Loc& loc_;
  std::vector<size_t> checked_;  // inputs that require gradients
  std::vector<Tensor> leaves_;   // in their place
  std::vector<std::vector<std::vector<std::vector<double>>>> slopes_;
};

}  // namespace

bool gradcheck(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& fn,
               const std::vector<Tensor>& inputs, GradcheckOptions options, Loc loc) {
  return GradientComparison(fn, inputs, options, loc).run();
}

}  // namespace sardonyx::eager
