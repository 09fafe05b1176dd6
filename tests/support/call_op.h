// For tests of op rows: one call by name, and its results as numbers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/reference_evaluator.h"

namespace sardonyx {

inline Datum floats(const std::vector<float>& values, Shape shape) {
  return Tensor::of<float>(values, std::move(shape));
}

// Runs one op by its reference meaning.
inline std::vector<Datum> run_op(std::string_view name, const std::vector<Datum>& inputs,
                                 const AttrMap& attrs = {}, size_t outputs = 1) {
  const OpDef& op = op_named(name);
  return evaluate(op, Attrs::parse(*op.attrs, attrs), inputs, outputs);
}

// The message of the error that a call ends with; empty where there is none.
inline std::string error_of(std::string_view name, const std::vector<Datum>& inputs,
                            const AttrMap& attrs = {}, size_t outputs = 1) {
  try {
    run_op(name, inputs, attrs, outputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void expect_near(const Datum& got, const std::vector<double>& wanted, double tolerance) {
  const std::vector<double> values = got.tensor().to_doubles();
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], wanted[i], tolerance) << "element " << i;
}

template <typename T>
std::vector<T> elements(const Datum& datum) {
  const std::span<const T> values = datum.tensor().values<T>();
  return {values.begin(), values.end()};
}

}  // namespace sardonyx
