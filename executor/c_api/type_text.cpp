#include "executor/c_api/type_text.h"

#include "ir/core/error.h"

namespace sardonyx::c_api {
namespace {

class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : text_(text), rest_(text) {}

  Type all() {
    Type type = next(0);
    skip_spaces();
    if (!rest_.empty()) refuse();
    return type;
  }

 private:
  Type next(int depth) {
    constexpr int kDeepest = 16;
    if (depth > kDeepest) refuse();
    const std::string_view name = word();
    if (name == "seq") return Type::sequence(inside(depth));
    if (name == "optional") return Type::optional(inside(depth));
    if (name == "sparse") {
      Type type = inside(depth);
      if (!type.is_tensor()) refuse();
      type.kind = Type::Kind::kSparseTensor;
      return type;
    }
    if (name == "map") {
      expect('(');
      const DType key = element_type(word());
      expect(',');
      Type type = Type::map(key, next(depth + 1));
      expect(')');
      return type;
    }
    Type type = Type::tensor(element_type(name));
    skip_sizes();
    return type;
  }

  Type inside(int depth) {
    expect('(');
    Type type = next(depth + 1);
    expect(')');
    return type;
  }

  DType element_type(std::string_view name) const {
    const DType dtype = dtype_named(name);
    if (dtype == DType::kUndefined) refuse();
    return dtype;
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  std::string_view word() {
    skip_spaces();
    const size_t end = std::min(rest_.find_first_of("([,)] "), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }

  void expect(char wanted) {
    skip_spaces();
    if (!rest_.starts_with(wanted)) refuse();
    rest_.remove_prefix(1);
  }

  void skip_sizes() {
    if (!rest_.starts_with('[')) return;
    const size_t end = rest_.find(']');
    if (end == std::string_view::npos) refuse();
    rest_.remove_prefix(end + 1);
  }

  [[noreturn]] void refuse() const {
    fail(ErrorCode::kInvalidArgument, "element_type: expected a type such as \"float\", ",
         "\"seq(int64)\" or \"map(string, float)\", got \"", text_, "\" (at \"", rest_, "\")");
  }

  std::string_view text_, rest_;
};

}  // namespace

Type parse_type(std::string_view text) {
  return TypeReader(text).all();
}

}  // namespace sardonyx::c_api
