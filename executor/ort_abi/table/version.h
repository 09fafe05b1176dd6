// Which ONNX Runtime the library stands in for.
#pragma once

namespace sardonyx::ort_abi {

// A dotted number, whose second part is the newest API version: some clients read it.
inline constexpr const char* kVersion = "1.30.0";

}  // namespace sardonyx::ort_abi
