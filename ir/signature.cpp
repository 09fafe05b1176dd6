// Reads OpDef::signature: "(X: T, B?: T, rest...0: T*) -> (Y: T)".
#include <limits>
#include <mutex>
#include <unordered_map>

#include "ir/custom_op.h"
#include "ir/op_def.h"

namespace sardonyx {
namespace {

class SignatureReader {
 public:
  explicit SignatureReader(const OpDef& op) : op_(op), rest_(op.signature) {}

  Signature read() {
    Signature signature;
    signature.inputs = read_list();
    take("->", true);
    signature.outputs = read_list();
    if (rest_.find_first_not_of(' ') != rest_.npos) {
      fail(ErrorCode::kInternal, full_name(op_), ": signature \"", op_.signature,
           "\": expected its end before \"", rest_, "\"");
    }
    count(signature.inputs, signature.min_inputs, signature.max_inputs);
    count(signature.outputs, signature.min_outputs, signature.max_outputs);
    return signature;
  }

 private:
  bool take(std::string_view token, bool needed = false) {
    while (!rest_.empty() && rest_.front() == ' ')
      rest_.remove_prefix(1);
    if (rest_.starts_with(token)) {
      rest_.remove_prefix(token.size());
      return true;
    }
    if (needed) {
      fail(ErrorCode::kInternal, full_name(op_), ": signature \"", op_.signature, "\": expected ",
           token, " before \"", rest_, "\"");
    }
    return false;
  }

  std::string word() {
    while (!rest_.empty() && rest_.front() == ' ')
      rest_.remove_prefix(1);
    const size_t length = std::min(rest_.find_first_of(" :,?.*()"), rest_.size());
    std::string found(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return found;
  }

  std::vector<Param> read_list() {
    std::vector<Param> params;
    take("(", true);
    while (!take(")")) {
      if (!params.empty()) take(",", true);
      Param param;
      param.name = word();
      param.optional = take("?");
      param.variadic = take("...");
      if (param.variadic && take("0")) param.min_count = 0;
      take(":", true);
      param.type = word();
      param.homogeneous = !take("*");
      params.push_back(std::move(param));
    }
    return params;
  }

  static void count(const std::vector<Param>& params, size_t& least, size_t& most) {
    most = params.size();
    for (size_t i = 0; i < params.size(); ++i) {
      if (params[i].variadic) {
        least = i + params[i].min_count;  // optional ones before it keep their places
        most = std::numeric_limits<size_t>::max();
      } else if (!params[i].optional) {
        least = i + 1;
      }
    }
  }

  const OpDef& op_;
  std::string_view rest_;
};

const Param& param_at(const std::vector<Param>& params, size_t index) {
  if (index < params.size()) return params[index];
  SARDONYX_CHECK(!params.empty() && params.back().variadic);
  return params.back();
}

}  // namespace

const Param& Signature::input(size_t index) const {
  return param_at(inputs, index);
}
const Param& Signature::output(size_t index) const {
  return param_at(outputs, index);
}

namespace {

// Signatures that were read, by the address of their row.
struct KnownSignatures {
  std::mutex mutex;
  std::unordered_map<const OpDef*, std::unique_ptr<const Signature>> by_row;
};

KnownSignatures& known_signatures() {
  static auto& known = *new KnownSignatures;
  return known;
}

}  // namespace

const Signature& signature_of(const OpDef& op) {
  KnownSignatures& known = known_signatures();
  const std::lock_guard lock(known.mutex);
  std::unique_ptr<const Signature>& signature = known.by_row[&op];
  if (!signature) signature = std::make_unique<const Signature>(SignatureReader(op).read());
  return *signature;
}

void forget_signature(const OpDef& op) {
  KnownSignatures& known = known_signatures();
  const std::lock_guard lock(known.mutex);
  known.by_row.erase(&op);
}

}  // namespace sardonyx
