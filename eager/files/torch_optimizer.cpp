// States of torch's optimisers under the names and in the types of ours.

#include "eager/files/state_files.h"
#include "eager/files/torch_numbers.h"
#include "eager/optim/optimizer.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

class TorchStates {
 public:
  TorchStates(const std::filesystem::path& path, const std::string& key)
      : path_(path), values_(detail::load_torch_numbers(path)) {
    prefix_ = key.empty() ? "" : key + ".";
    number_parameters();
  }

  // What `name` ("group.0.lr", "state.3.exp_avg") is in the file; `own` where the file has no state
  // of that parameter at all.
  Tensor value_of(const std::string& name, const Tensor& own) const {
    const Tensor found = lookup(name);
    if (found.defined()) return fitting(name, found, own);
    const std::string parameter = name.substr(0, name.rfind('.') + 1);
    if (name.starts_with("state.") && !has_any(in_file(parameter))) return own;
    // SGD has no count there; what has a state has made a step.
    if (name.ends_with(".step")) return Tensor::scalar(int64_t{1});
    if (optim::Optimizer::may_be_missing(name)) {
      // The first beta of what has betas.
      std::string first_beta = in_file(name);
      first_beta.replace(first_beta.rfind('.'), std::string::npos, ".betas.0");
      const auto beta = values_.find(first_beta);
      return beta == values_.end() ? own : fitting(name, beta->second, own);
    }
    // Parameters of small types have no masters there.
    if (name.ends_with(".master")) return own;
    fail(ErrorCode::kInvalidArgument, path_.string(), ": expected '", in_file(name),
         "' in the state of a torch optimiser");
  }

 private:
  // Parameters have numbers in torch too, which are those of the groups' lists, in any order.
  void number_parameters() {
    for (size_t group = 0;; ++group) {
      const std::string list = text(prefix_, "param_groups.", group, ".params.");
      if (!has_any(text(prefix_, "param_groups.", group, "."))) break;
      for (size_t i = 0;; ++i) {
        const auto at = values_.find(list + std::to_string(i));
        if (at == values_.end()) break;
        numbers_.push_back(at->second.item<int64_t>());
      }
    }
    if (numbers_.empty()) {
      fail(ErrorCode::kInvalidArgument, path_.string(),
           ": expected the state of a torch optimiser (", prefix_, "state, ", prefix_,
           "param_groups)");
    }
  }

  bool has_any(const std::string& prefix) const {
    const auto at = values_.lower_bound(prefix);
    return at != values_.end() && at->first.starts_with(prefix);
  }

  // "group.1.lr" and "state.3.step" as the file calls them.
  std::string in_file(const std::string& name) const {
    const size_t first = name.find('.'), second = name.find('.', first + 1);
    const std::string rest = name.substr(second);
    const std::string number = name.substr(first + 1, second - first - 1);
    if (name.starts_with("group.")) return prefix_ + "param_groups." + number + rest;
    const auto index = static_cast<size_t>(std::stoull(number));
    if (index >= numbers_.size()) {
      fail(ErrorCode::kInvalidArgument, path_.string(), ": the torch optimiser has ",
           numbers_.size(), " parameters, this one has more");
    }
    return text(prefix_, "state.", numbers_[index], rest);
  }

  Tensor lookup(const std::string& name) const {
    const auto at = values_.find(in_file(name));
    return at == values_.end() ? Tensor() : at->second;
  }

  Tensor fitting(const std::string& name, const Tensor& found, const Tensor& own) const {
    if (!(found.numel() == own.numel())) {
      fail(ErrorCode::kInvalidArgument, path_.string(), ": ", in_file(name), ": expected ",
           own.type(), ", got ", found.type());
    }
    return found.to(own.dtype()).reshape(own.shape());
  }

  std::filesystem::path path_;
  nn::StateDict values_;
  std::string prefix_;
  std::vector<int64_t> numbers_;
};

}  // namespace

nn::StateDict load_torch_optimizer(const std::filesystem::path& path, const optim::Optimizer& like,
                                   const std::string& key) {
  const TorchStates states(path, key);
  nn::StateDict found;
  for (const auto& [name, own] : like.named_states())
    found[name] = states.value_of(name, own);
  return found;
}

}  // namespace sardonyx::eager
