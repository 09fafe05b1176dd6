// The constant matrices of quantized recurrent ops, packed, and products of quantized rows with
// them. The sums are exact; results are sum * scale + addend in float.
#pragma once

#include <memory>
#include <vector>

#include "providers/cpu/quantization/qlinear_elementwise_kernel.h"
#include "providers/cpu/recurrent/rnn_time_loop.h"

namespace sardonyx::cpu {

// The inputs of an op that make up a matrix [directions, depth, gates * hidden] of bytes.
struct GateMatrixInputs {
  size_t bytes, scale, zero_point;
};

// W or R of one direction. Its columns are in the order [panels][gates][lanes], as lstm_step() has
// them, padded with zeros to RecurrentSizes::row().
class GateMatrix {
 public:
  virtual ~GateMatrix() = default;
  // Bytes of a row as multiply() reads it.
  virtual size_t row_bytes() const = 0;
  // Writes `depth` bytes with this zero point as such a row.
  virtual void write_row(const uint8_t* bytes, int32_t zero, std::byte* row) const = 0;

  // What products with rows of one range have in common, [columns] each.
  struct ColumnEpilogue {
    float* scales;
    int32_t* initial_sums;
  };
  virtual void set_epilogue(ByteScale of_rows, const ColumnEpilogue& epilogue) const = 0;

  struct Product {
    const std::byte* rows;  // row_bytes() apart
    size_t count;
    size_t first_column;  // of kPanelColumns
    ColumnEpilogue epilogue;
    InputPart addend;  // of each row, from the first column on
    float* out;        // from the first column on; rows are RecurrentSizes::row() apart
  };
  virtual void multiply(const Product& product) const = 0;
};

// With VNNI dot products of bytes where this CPU has them and weights without their zero points fit
// into int8, else with int16.
std::unique_ptr<GateMatrix> make_gate_matrix(const KernelRequest& request,
                                             const RecurrentSizes& sizes, size_t direction,
                                             const GateMatrixInputs& inputs, size_t depth);

}  // namespace sardonyx::cpu
