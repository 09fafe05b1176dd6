// Advice in messages, as a program of Python writes it.
#pragma once

#include <string>

namespace sardonyx::python {

// "convert with to(DType::kFloat)" becomes "convert with to(eager.float32)".
std::string in_python_words(std::string message);

}  // namespace sardonyx::python
