// Names of dims in files, and the symbols that stand for them.
#pragma once

#include <cctype>
#include <string_view>

namespace sardonyx {

// What a file calls the dim of a symbol; "" where it gives it no name. "?3" is a dim that has none,
// "None?3" one that the file calls None, as exporters call dims of several sizes.
inline std::string_view name_in_file(std::string_view symbol) {
  size_t end = symbol.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(symbol[end - 1])))
    --end;
  const bool is_numbered = end > 0 && end < symbol.size() && symbol[end - 1] == '?';
  return is_numbered ? symbol.substr(0, end - 1) : symbol;
}
// Does the symbol stand for nothing but this one dim?
inline bool is_of_one_dim(std::string_view symbol) {
  return name_in_file(symbol).size() < symbol.size();
}

}  // namespace sardonyx
