#include "tools/python/module/python_words.h"

#include <cctype>
#include <string_view>

namespace sardonyx::python {
namespace {

struct Spelling {
  std::string_view in_cpp, in_python;
};
// Longer ones before those that they begin with.
constexpr Spelling kSpellings[] = {
    {"DType::kFloat)", "eager.float32)"},
    {"DType::kDouble)", "eager.float64)"},
    {"set_requires_grad(false)", "requires_grad_(False)"},
    {"set_requires_grad()", "requires_grad_()"},
    {"set_requires_grad", "requires_grad"},
    {"set_grad: ", "grad: "},
    {"under NoGrad", "under no_grad()"},
    {"under UseGenerator", "under use_generator()"},
    {"retain_graph = true", "retain_graph=True"},
    {"; pass allow_unused", "; pass allow_unused=True"},
    {"layers are add()ed to their module, tensors are its parameter()s",
     "layers and Parameters are assigned to attributes of their module"},
};

void replace_all(std::string& text, const Spelling& spelling) {
  for (size_t at = text.find(spelling.in_cpp); at != std::string::npos;
       at = text.find(spelling.in_cpp, at + spelling.in_python.size())) {
    text.replace(at, spelling.in_cpp.size(), spelling.in_python);
  }
}

}  // namespace

std::string in_python_words(std::string message) {
  for (const Spelling& spelling : kSpellings)
    replace_all(message, spelling);
  // DType::kInt64 and all others: eager.int64.
  constexpr std::string_view kTypes = "DType::k";
  for (size_t at = message.find(kTypes); at != std::string::npos; at = message.find(kTypes, at)) {
    message.replace(at, kTypes.size(), "eager.");
    for (at += 6; at < message.size() && std::isalnum(static_cast<unsigned char>(message[at]));
         ++at) {
      message[at] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[at])));
    }
  }
  return message;
}

}  // namespace sardonyx::python
