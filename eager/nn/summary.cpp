#include <iomanip>
#include <sstream>
#include <unordered_map>

#include "eager/autograd/autograd.h"
#include "eager/nn/module.h"
#include "eager/nn/module_state.h"

namespace sardonyx::eager::nn {
namespace {

using detail::ModuleState;

struct SummaryRow {
  std::string path, type, output, parameters, count;
};

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string shapes_of(const ModuleState& state) {
  std::string shapes;
  for (const ModuleState::Entry& entry : state.parameters)
    shapes += (shapes.empty() ? "" : ", ") + entry.name + " " + to_text(entry.tensor.shape());
  return shapes;
}

SummaryRow row_of(const std::string& path, const ModuleState& state, const std::string& output) {
  int64_t own = 0;
  for (const ModuleState::Entry& entry : state.parameters)
    own += entry.tensor.numel().value();
  const std::string description = state.description.empty() ? "" : " (" + state.description + ")";
  return {path.empty() ? "-" : path, state.type_name + description, output, shapes_of(state),
          own == 0 ? "" : grouped(own)};
}

std::string table(const std::vector<SummaryRow>& rows, bool has_outputs) {
  const auto width = [&](std::string SummaryRow::*column) {
    size_t most = 0;
    for (const SummaryRow& row : rows)
      most = std::max(most, (row.*column).size());
    return static_cast<int>(most) + 2;
  };
  const int path = width(&SummaryRow::path), type = width(&SummaryRow::type),
            output = width(&SummaryRow::output);
  const int parameters = width(&SummaryRow::parameters), count = width(&SummaryRow::count);
  std::ostringstream out;
  for (const SummaryRow& row : rows) {
    out << std::left << std::setw(path) << row.path << std::setw(type) << row.type;
    if (has_outputs) out << std::setw(output) << row.output;
    out << std::setw(parameters) << row.parameters << std::right << std::setw(count) << row.count
        << '\n';
  }
  return out.str();
}

std::string totals(const Module& module) {
  int64_t trained = 0, bytes = 0;
  for (const Tensor& tensor : module.parameters()) {
    if (tensor.requires_grad()) trained += tensor.numel().value();
    bytes += static_cast<int64_t>(bytes_for(tensor.dtype(), tensor.numel().value()));
  }
  std::ostringstream out;
  out << grouped(module.parameter_count()) << " parameters (" << grouped(trained) << " trained), "
      << std::fixed << std::setprecision(2) << static_cast<double>(bytes) / 1e6 << " MB\n";
  return out.str();
}

std::string report(const Module& module,
                   const std::unordered_map<const ModuleState*, std::string>* outputs) {
  std::vector<SummaryRow> rows{{"module", "type", "output", "parameters", "count"}};
  for (const auto& [path, part] : module.named_modules()) {
    const ModuleState& state = ModuleState::of(part);
    const auto at = outputs ? outputs->find(&state) : decltype(outputs->find(&state)){};
    const bool was_called = outputs && at != outputs->end();
    rows.push_back(row_of(path, state, was_called ? at->second : ""));
  }
  return table(rows, outputs != nullptr) + totals(module);
}

// Hooks on all modules, and their modes, until the scope ends.
class Watch {
 public:
  explicit Watch(const Module& module) : modules_(module.named_modules()), mode_(module) {
    for (const auto& [path, part] : modules_) {
      hooks_.push_back(part.register_forward_hook(
          [this](const Module& called, const std::vector<Tensor>&, std::vector<Tensor>& outputs) {
            std::string shapes;
            for (const Tensor& output : outputs) {
              if (output.defined())
                shapes += (shapes.empty() ? "" : ", ") + to_text(output.shape());
            }
            seen[&ModuleState::of(called)] = shapes;
          }));
    }
  }
  ~Watch() {
    for (size_t i = 0; i < modules_.size(); ++i)
      hooks_[i].remove();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  std::unordered_map<const ModuleState*, std::string> seen;

 private:
  std::vector<std::pair<std::string, Module>> modules_;
  EvalMode mode_;
  std::vector<RemovableHandle> hooks_;
};

}  // namespace

std::string Module::summary() const {
  return report(*this, nullptr);
}

std::string Module::summary_of(const std::function<void()>& call) const {
  const NoGrad no_grad;
  Watch watch(*this);
  call();
  return report(*this, &watch.seen);
}

}  // namespace sardonyx::eager::nn
