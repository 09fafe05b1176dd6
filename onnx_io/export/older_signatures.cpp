// The signatures of ai.onnx's operators before their newest version, as the specification has them;
// older_forms.h says how a line reads.
#include "onnx_io/export/older_forms.h"

namespace sardonyx::onnx_export {

std::string_view older_signatures() {
  return R"(
Abs-6 (X: T) -> (Y: T) T = ints ieee
Acos-7 (input: T) -> (output: T) T = ieee
Acosh-9 (input: T) -> (output: T) T = ieee
Add-7 (A: T, B: T) -> (C: T) T = ieee int32 int64 uint32 uint64
Add-13 (A: T, B: T) -> (C: T) T = ieee bfloat16 int32 int64 uint32 uint64
ArgMax-1 (data: T) -> (reduced: int64) [axis keepdims] T = ints ieee
ArgMax-11 (data: T) -> (reduced: int64) [axis keepdims] T = ints ieee
ArgMax-12 (data: T) -> (reduced: int64) [axis keepdims select_last_index] T = ints ieee
ArgMin-1 (data: T) -> (reduced: int64) [axis keepdims] T = ints ieee
ArgMin-11 (data: T) -> (reduced: int64) [axis keepdims] T = ints ieee
ArgMin-12 (data: T) -> (reduced: int64) [axis keepdims select_last_index] T = ints ieee
Asin-7 (input: T) -> (output: T) T = ieee
Asinh-9 (input: T) -> (output: T) T = ieee
Atan-7 (input: T) -> (output: T) T = ieee
Atanh-9 (input: T) -> (output: T) T = ieee
Attention-23 (Q: T1, K: T1, V: T2, attn_mask?: U, past_key?: T1, past_value?: T2) -> (Y: T1, present_key?: T1, present_value?: T2, qk_matmul_output?: T1) [is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision] T1 = ieee bfloat16; T2 = ieee bfloat16; U = ints ieee bfloat16 bool
AveragePool-7 (X: T) -> (Y: T) [auto_pad count_include_pad kernel_shape pads strides] T = ieee
AveragePool-10 (X: T) -> (Y: T) [auto_pad ceil_mode count_include_pad kernel_shape pads strides] T = ieee
AveragePool-11 (X: T) -> (Y: T) [auto_pad ceil_mode count_include_pad kernel_shape pads strides] T = ieee
AveragePool-19 (X: T) -> (Y: T) [auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides] T = ieee
BatchNormalization-7 (X: T, scale: T, B: T, mean: T, var: T) -> (Y: T, mean?: T, var?: T, saved_mean?: T, saved_var?: T) [epsilon momentum spatial] T = ieee
BatchNormalization-9 (X: T, scale: T, B: T, mean: T, var: T) -> (Y: T, mean?: T, var?: T, saved_mean?: T, saved_var?: T) [epsilon momentum] T = ieee
BatchNormalization-14 (X: T, scale: T, B: T, input_mean: U, input_var: U) -> (Y: T, running_mean?: U, running_var?: U) [epsilon momentum training_mode] T = ieee bfloat16; U = ieee bfloat16
Bernoulli-15 (input: T1) -> (output: T2) [dtype seed] T1 = ieee; T2 = ints ieee bfloat16 bool
Cast-6 (input: T1) -> (output: T2) [to] T1 = ints ieee bool; T2 = ints ieee bool
Cast-9 (input: T1) -> (output: T2) [to] T1 = ints ieee bool string; T2 = ints ieee bool string
Cast-13 (input: T1) -> (output: T2) [to] T1 = ints ieee bfloat16 bool string; T2 = ints ieee bfloat16 bool string
Cast-19 (input: T1) -> (output: T2) [saturate to] T1 = ints ieee float8 bfloat16 bool string; T2 = ints ieee float8 bfloat16 bool string
Cast-21 (input: T1) -> (output: T2) [saturate to] T1 = ints ieee float8 bfloat16 bool string int4 uint4; T2 = ints ieee float8 bfloat16 bool string int4 uint4
Cast-23 (input: T1) -> (output: T2) [saturate to] T1 = ints ieee float8 bfloat16 bool string float4e2m1 int4 uint4; T2 = ints ieee float8 bfloat16 bool string float4e2m1 int4 uint4
Cast-24 (input: T1) -> (output: T2) [round_mode saturate to] T1 = ints ieee float8 bfloat16 bool string float4e2m1 float8e8m0 int4 uint4; T2 = ints ieee float8 bfloat16 bool string float4e2m1 float8e8m0 int4 uint4
CastLike-15 (input: T1, target_type: T2) -> (output: T2) T1 = ints ieee bfloat16 bool string; T2 = ints ieee bfloat16 bool string
CastLike-19 (input: T1, target_type: T2) -> (output: T2) [saturate] T1 = ints ieee float8 bfloat16 bool string; T2 = ints ieee float8 bfloat16 bool string
CastLike-21 (input: T1, target_type: T2) -> (output: T2) [saturate] T1 = ints ieee float8 bfloat16 bool string int4 uint4; T2 = ints ieee float8 bfloat16 bool string int4 uint4
CastLike-23 (input: T1, target_type: T2) -> (output: T2) [saturate] T1 = ints ieee float8 bfloat16 bool string float4e2m1 int4 uint4; T2 = ints ieee float8 bfloat16 bool string float4e2m1 int4 uint4
CastLike-24 (input: T1, target_type: T2) -> (output: T2) [round_mode saturate] T1 = ints ieee float8 bfloat16 bool string float4e2m1 float8e8m0 int4 uint4; T2 = ints ieee float8 bfloat16 bool string float4e2m1 float8e8m0 int4 uint4
Ceil-6 (X: T) -> (Y: T) T = ieee
Clip-6 (input: T) -> (output: T) [max min] T = ieee
Clip-11 (input: T, min?: T, max?: T) -> (output: T) T = ieee
Clip-12 (input: T, min?: T, max?: T) -> (output: T) T = ints ieee
Compress-9 (input: T, condition: T1) -> (output: T) [axis] T = classic; T1 = bool
Concat-4 (inputs...: T) -> (concat_result: T) [axis] T = classic
Concat-11 (inputs...: T) -> (concat_result: T) [axis] T = classic
Constant-1 () -> (output: T) [value] T = ieee
Constant-9 () -> (output: T) [value] T = classic
Constant-11 () -> (output: T) [sparse_value value] T = classic
Constant-12 () -> (output: T) [sparse_value value value_float value_floats value_int value_ints value_string value_strings] T = classic
Constant-13 () -> (output: T) [sparse_value value value_float value_floats value_int value_ints value_string value_strings] T = classic bfloat16
Constant-19 () -> (output: T) [sparse_value value value_float value_floats value_int value_ints value_string value_strings] T = classic float8 bfloat16
Constant-21 () -> (output: T) [sparse_value value value_float value_floats value_int value_ints value_string value_strings] T = classic float8 bfloat16 int4 uint4
Constant-23 () -> (output: T) [sparse_value value value_float value_floats value_int value_ints value_string value_strings] T = classic float8 bfloat16 float4e2m1 int4 uint4
Constant-24 () -> (output: T) [sparse_value value value_float value_floats value_int value_ints value_string value_strings] T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4
ConstantOfShape-9 (input: T1) -> (output: T2) [value] T1 = int64; T2 = ints ieee bool
ConstantOfShape-20 (input: T1) -> (output: T2) [value] T1 = int64; T2 = ints ieee float8 bfloat16 bool
ConstantOfShape-21 (input: T1) -> (output: T2) [value] T1 = int64; T2 = ints ieee float8 bfloat16 bool int4 uint4
ConstantOfShape-23 (input: T1) -> (output: T2) [value] T1 = int64; T2 = ints ieee float8 bfloat16 bool float4e2m1 int4 uint4
ConstantOfShape-24 (input: T1) -> (output: T2) [value] T1 = int64; T2 = ints ieee float8 bfloat16 bool float4e2m1 float8e8m0 int4 uint4
Conv-1 (X: T, W: T, B?: T) -> (Y: T) [auto_pad dilations group kernel_shape pads strides] T = ieee
Conv-11 (X: T, W: T, B?: T) -> (Y: T) [auto_pad dilations group kernel_shape pads strides] T = ieee
ConvTranspose-1 (X: T, W: T, B?: T) -> (Y: T) [auto_pad dilations group kernel_shape output_padding output_shape pads strides] T = ieee
ConvTranspose-11 (X: T, W: T, B?: T) -> (Y: T) [auto_pad dilations group kernel_shape output_padding output_shape pads strides] T = ieee
Cos-7 (input: T) -> (output: T) T = ieee
Cosh-9 (input: T) -> (output: T) T = ieee
CumSum-11 (x: T, axis: T2) -> (y: T) [exclusive reverse] T = float double int32 int64 uint32 uint64; T2 = int32 int64
DFT-17 (input: T1, dft_length?: T2) -> (output: T1) [axis inverse onesided] T1 = ieee bfloat16; T2 = int32 int64
DeformConv-19 (X: T, W: T, offset: T, B?: T, mask?: T) -> (Y: T) [dilations group kernel_shape offset_group pads strides] T = ieee
DepthToSpace-1 (input: T) -> (output: T) [blocksize] T = classic
DepthToSpace-11 (input: T) -> (output: T) [blocksize mode] T = classic
DequantizeLinear-10 (x: T, x_scale: float, x_zero_point?: T) -> (y: float) T = int8 int32 uint8
DequantizeLinear-13 (x: T, x_scale: float, x_zero_point?: T) -> (y: float) [axis] T = int8 int32 uint8
DequantizeLinear-19 (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T2) [axis] T1 = float8 int8 int32 uint8; T2 = float16 bfloat16 float
DequantizeLinear-21 (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T2) [axis block_size] T1 = float8 int8 int16 int32 uint8 uint16 int4 uint4; T2 = float16 bfloat16 float
DequantizeLinear-23 (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T3) [axis block_size output_dtype] T1 = float8 int8 int16 int32 uint8 uint16 float4e2m1 int4 uint4; T2 = float16 bfloat16 float; T3 = float16 bfloat16 float
DequantizeLinear-24 (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T3) [axis block_size output_dtype] T1 = float8 int8 int16 int32 uint8 uint16 float4e2m1 int4 uint4; T2 = float16 bfloat16 float float8e8m0; T3 = float16 bfloat16 float
Det-11 (X: T) -> (Y: T) T = ieee
Div-7 (A: T, B: T) -> (C: T) T = ieee int32 int64 uint32 uint64
Div-13 (A: T, B: T) -> (C: T) T = ieee bfloat16 int32 int64 uint32 uint64
Dropout-7 (data: T) -> (output: T, mask?: T) [ratio] T = ieee
Dropout-10 (data: T) -> (output: T, mask?: T1) [ratio] T = ieee; T1 = bool
Dropout-12 (data: T, ratio?: T1, training_mode?: T2) -> (output: T, mask?: T2) [seed] T = ieee; T1 = ieee; T2 = bool
Dropout-13 (data: T, ratio?: T1, training_mode?: T2) -> (output: T, mask?: T2) [seed] T = ieee bfloat16; T1 = ieee; T2 = bool
Elu-6 (X: T) -> (Y: T) [alpha] T = ieee
Equal-7 (A: T, B: T) -> (C: T1) T = int32 int64 bool; T1 = bool
Equal-11 (A: T, B: T) -> (C: T1) T = ints ieee bool; T1 = bool
Equal-13 (A: T, B: T) -> (C: T1) T = ints ieee bfloat16 bool; T1 = bool
Erf-9 (input: T) -> (output: T) T = ints ieee
Exp-6 (input: T) -> (output: T) T = ieee
Expand-8 (input: T, shape: int64) -> (output: T) T = classic
EyeLike-9 (input: T1) -> (output: T2) [dtype k] T1 = ints ieee bool; T2 = ints ieee bool
Flatten-1 (input: T) -> (output: T) [axis] T = ieee
Flatten-9 (input: T) -> (output: T) [axis] T = classic
Flatten-11 (input: T) -> (output: T) [axis] T = classic
Flatten-13 (input: T) -> (output: T) [axis] T = classic bfloat16
Flatten-21 (input: T) -> (output: T) [axis] T = classic float8 bfloat16 int4 uint4
Flatten-23 (input: T) -> (output: T) [axis] T = classic float8 bfloat16 float4e2m1 int4 uint4
Flatten-24 (input: T) -> (output: T) [axis] T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4
Floor-6 (X: T) -> (Y: T) T = ieee
GRU-7 (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T) [activation_alpha activation_beta activations clip direction hidden_size linear_before_reset] T = ieee; T1 = int32
GRU-14 (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T) [activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset] T = ieee; T1 = int32
Gather-1 (data: T, indices: Tind) -> (output: T) [axis] T = classic; Tind = int32 int64
Gather-11 (data: T, indices: Tind) -> (output: T) [axis] T = classic; Tind = int32 int64
GatherElements-11 (data: T, indices: Tind) -> (output: T) [axis] T = classic; Tind = int32 int64
GatherND-11 (data: T, indices: int64) -> (output: T) T = classic
GatherND-12 (data: T, indices: int64) -> (output: T) [batch_dims] T = classic
Gemm-7 (A: T, B: T, C: T) -> (Y: T) [alpha beta transA transB] T = ieee
Gemm-9 (A: T, B: T, C: T) -> (Y: T) [alpha beta transA transB] T = ieee int32 int64 uint32 uint64
Gemm-11 (A: T, B: T, C?: T) -> (Y: T) [alpha beta transA transB] T = ieee int32 int64 uint32 uint64
GlobalAveragePool-1 (X: T) -> (Y: T) T = ieee
GlobalLpPool-2 (X: T) -> (Y: T) [p] T = ieee
GlobalMaxPool-1 (X: T) -> (Y: T) T = ieee
Greater-7 (A: T, B: T) -> (C: T1) T = ieee; T1 = bool
Greater-9 (A: T, B: T) -> (C: T1) T = ints ieee; T1 = bool
GreaterOrEqual-12 (A: T, B: T) -> (C: T1) T = ints ieee; T1 = bool
GridSample-16 (X: T1, grid: T2) -> (Y: T1) [align_corners mode padding_mode] T1 = classic; T2 = ieee
GridSample-20 (X: T1, grid: T2) -> (Y: T1) [align_corners mode padding_mode] T1 = classic; T2 = ieee
HardSigmoid-6 (X: T) -> (Y: T) [alpha beta] T = ieee
HardSwish-14 (X: T) -> (Y: T) T = ieee
Hardmax-1 (input: T) -> (output: T) [axis] T = ieee
Hardmax-11 (input: T) -> (output: T) [axis] T = ieee
Identity-1 (input: T) -> (output: T) T = classic
Identity-13 (input: T) -> (output: T) T = classic bfloat16
Identity-14 (input: V) -> (output: V) V = classic bfloat16 seq(classic)
Identity-16 (input: V) -> (output: V) V = classic bfloat16 seq(classic) optional(seq(classic)) optional(classic)
Identity-19 (input: V) -> (output: V) V = classic float8 bfloat16 seq(classic) optional(seq(classic)) optional(classic)
Identity-21 (input: V) -> (output: V) V = classic float8 bfloat16 int4 uint4 seq(classic) optional(seq(classic)) optional(classic)
Identity-23 (input: V) -> (output: V) V = classic float8 bfloat16 float4e2m1 int4 uint4 seq(classic) optional(seq(classic)) optional(classic)
Identity-24 (input: V) -> (output: V) V = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4 seq(classic) optional(seq(classic)) optional(classic)
If-1 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic
If-11 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic
If-13 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic seq(classic)
If-16 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic bfloat16 seq(classic bfloat16) optional(seq(classic bfloat16)) optional(classic bfloat16)
If-19 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic float8 bfloat16 seq(classic float8 bfloat16) optional(seq(classic bfloat16)) optional(classic float8 bfloat16)
If-21 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic float8 bfloat16 int4 uint4 seq(classic float8 bfloat16 int4 uint4) optional(seq(classic bfloat16)) optional(classic float8 bfloat16 int4 uint4)
If-23 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic float8 bfloat16 float4e2m1 int4 uint4 seq(classic float8 bfloat16 float4e2m1 int4 uint4) optional(seq(classic bfloat16)) optional(classic float8 bfloat16 float4e2m1 int4 uint4)
If-24 (cond: B) -> (outputs...: V*) [else_branch then_branch] B = bool; V = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4 seq(classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4) optional(seq(classic bfloat16)) optional(classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4)
InstanceNormalization-6 (input: T, scale: T, B: T) -> (output: T) [epsilon] T = ieee
IsInf-10 (X: T1) -> (Y: T2) [detect_negative detect_positive] T1 = float double; T2 = bool
IsNaN-9 (X: T1) -> (Y: T2) T1 = ieee; T2 = bool
IsNaN-13 (X: T1) -> (Y: T2) T1 = ieee bfloat16; T2 = bool
LRN-1 (X: T) -> (Y: T) [alpha beta bias size] T = ieee
LSTM-7 (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, P?: T) -> (Y?: T, Y_h?: T, Y_c?: T) [activation_alpha activation_beta activations clip direction hidden_size input_forget] T = ieee; T1 = int32
LSTM-14 (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, P?: T) -> (Y?: T, Y_h?: T, Y_c?: T) [activation_alpha activation_beta activations clip direction hidden_size input_forget layout] T = ieee; T1 = int32
LeakyRelu-6 (X: T) -> (Y: T) [alpha] T = ieee
Less-7 (A: T, B: T) -> (C: T1) T = ieee; T1 = bool
Less-9 (A: T, B: T) -> (C: T1) T = ints ieee; T1 = bool
LessOrEqual-12 (A: T, B: T) -> (C: T1) T = ints ieee; T1 = bool
Log-6 (input: T) -> (output: T) T = ieee
LogSoftmax-1 (input: T) -> (output: T) [axis] T = ieee
LogSoftmax-11 (input: T) -> (output: T) [axis] T = ieee
Loop-1 (M?: I, cond?: B, v_initial...: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic
Loop-11 (M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic
Loop-13 (M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic seq(classic)
Loop-16 (M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic bfloat16 seq(classic bfloat16) optional(seq(classic bfloat16)) optional(classic bfloat16)
Loop-19 (M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic float8 bfloat16 seq(classic float8 bfloat16) optional(seq(classic bfloat16)) optional(classic float8 bfloat16)
Loop-21 (M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic float8 bfloat16 int4 uint4 seq(classic float8 bfloat16 int4 uint4) optional(seq(classic bfloat16)) optional(classic float8 bfloat16 int4 uint4)
Loop-23 (M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic float8 bfloat16 float4e2m1 int4 uint4 seq(classic float8 bfloat16 float4e2m1 int4 uint4) optional(seq(classic bfloat16)) optional(classic float8 bfloat16 float4e2m1 int4 uint4)
Loop-24 (M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*) [body] B = bool; I = int64; V = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4 seq(classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4) optional(seq(classic bfloat16)) optional(classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4)
LpNormalization-1 (input: T) -> (output: T) [axis p] T = ieee
LpPool-2 (X: T) -> (Y: T) [auto_pad kernel_shape p pads strides] T = ieee
LpPool-11 (X: T) -> (Y: T) [auto_pad kernel_shape p pads strides] T = ieee
LpPool-18 (X: T) -> (Y: T) [auto_pad ceil_mode dilations kernel_shape p pads strides] T = ieee
MatMul-1 (A: T, B: T) -> (Y: T) T = ieee
MatMul-9 (A: T, B: T) -> (Y: T) T = ieee int32 int64 uint32 uint64
Max-6 (data_0...: T) -> (max: T) T = ieee
Max-8 (data_0...: T) -> (max: T) T = ieee
Max-12 (data_0...: T) -> (max: T) T = ints ieee
MaxPool-1 (X: T) -> (Y: T) [auto_pad kernel_shape pads strides] T = ieee
MaxPool-8 (X: T) -> (Y: T, Indices?: I) [auto_pad kernel_shape pads storage_order strides] I = int64; T = ieee
MaxPool-10 (X: T) -> (Y: T, Indices?: I) [auto_pad ceil_mode dilations kernel_shape pads storage_order strides] I = int64; T = ieee
MaxPool-11 (X: T) -> (Y: T, Indices?: I) [auto_pad ceil_mode dilations kernel_shape pads storage_order strides] I = int64; T = ieee
MaxPool-12 (X: T) -> (Y: T, Indices?: I) [auto_pad ceil_mode dilations kernel_shape pads storage_order strides] I = int64; T = ieee int8 uint8
MaxRoiPool-1 (X: T, rois: T) -> (Y: T) [pooled_shape spatial_scale] T = ieee
MaxUnpool-9 (X: T1, I: T2, output_shape?: T2) -> (output: T1) [kernel_shape pads strides] T1 = ieee; T2 = int64
MaxUnpool-11 (X: T1, I: T2, output_shape?: T2) -> (output: T1) [kernel_shape pads strides] T1 = ieee; T2 = int64
Mean-6 (data_0...: T) -> (mean: T) T = ieee
Mean-8 (data_0...: T) -> (mean: T) T = ieee
MeanVarianceNormalization-9 (X: T) -> (Y: T) [axes] T = ieee
Min-6 (data_0...: T) -> (min: T) T = ieee
Min-8 (data_0...: T) -> (min: T) T = ieee
Min-12 (data_0...: T) -> (min: T) T = ints ieee
Mish-18 (X: T) -> (Y: T) T = ieee
Mod-10 (A: T, B: T) -> (C: T) [fmod] T = ints ieee
Mul-7 (A: T, B: T) -> (C: T) T = ieee int32 int64 uint32 uint64
Mul-13 (A: T, B: T) -> (C: T) T = ieee bfloat16 int32 int64 uint32 uint64
Multinomial-7 (input: T1) -> (output: T2) [dtype sample_size seed] T1 = ieee; T2 = int32 int64
Neg-6 (X: T) -> (Y: T) T = ieee int8 int16 int32 int64
NegativeLogLikelihoodLoss-12 (input: T, target: Tind, weight?: T) -> (loss: T) [ignore_index reduction] T = ieee; Tind = int32 int64
NegativeLogLikelihoodLoss-13 (input: T, target: Tind, weight?: T) -> (loss: T) [ignore_index reduction] T = ieee; Tind = int32 int64
NonMaxSuppression-10 (boxes: float, scores: float, max_output_boxes_per_class?: int64, iou_threshold?: float, score_threshold?: float) -> (selected_indices: int64) [center_point_box]
NonZero-9 (X: T) -> (Y: int64) T = classic
OneHot-9 (indices: T1, depth: T2, values: T3) -> (output: T3) [axis] T1 = ints ieee; T2 = ints ieee; T3 = classic
OptionalGetElement-15 (input: O) -> (output: V) O = optional(seq(classic)) optional(classic); V = classic seq(classic)
OptionalHasElement-15 (input: O) -> (output: B) B = bool; O = optional(seq(classic)) optional(classic)
PRelu-7 (X: T, slope: T) -> (Y: T) T = ieee
PRelu-9 (X: T, slope: T) -> (Y: T) T = ieee int32 int64 uint32 uint64
Pad-2 (data: T) -> (output: T) [mode pads value] T = ieee
Pad-11 (data: T, pads: int64, constant_value?: T) -> (output: T) [mode] T = ints ieee
Pad-13 (data: T, pads: int64, constant_value?: T) -> (output: T) [mode] T = classic bfloat16
Pad-18 (data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T) [mode] T = classic bfloat16; Tind = int32 int64
Pad-19 (data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T) [mode] T = classic bfloat16; Tind = int32 int64
Pad-21 (data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T) [mode] T = classic float8 bfloat16 int4 uint4; Tind = int32 int64
Pad-23 (data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T) [mode] T = classic float8 bfloat16 float4e2m1 int4 uint4; Tind = int32 int64
Pad-24 (data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T) [mode] T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4; Tind = int32 int64
Pow-7 (X: T, Y: T) -> (Z: T) T = ieee
Pow-12 (X: T, Y: T1) -> (Z: T) T = ieee int32 int64; T1 = ints ieee
Pow-13 (X: T, Y: T1) -> (Z: T) T = ieee bfloat16 int32 int64; T1 = ints ieee
QLinearMatMul-10 (a: T1, a_scale: float, a_zero_point: T1, b: T2, b_scale: float, b_zero_point: T2, y_scale: float, y_zero_point: T3) -> (y: T3) T1 = int8 uint8; T2 = int8 uint8; T3 = int8 uint8
QuantizeLinear-10 (x: T1, y_scale: float, y_zero_point?: T2) -> (y: T2) T1 = float int32; T2 = int8 uint8
QuantizeLinear-13 (x: T1, y_scale: float, y_zero_point?: T2) -> (y: T2) [axis] T1 = float int32; T2 = int8 uint8
QuantizeLinear-19 (x: T1, y_scale: T1, y_zero_point?: T2) -> (y: T2) [axis saturate] T1 = float16 bfloat16 float int32; T2 = float8 int8 uint8
QuantizeLinear-21 (x: T1, y_scale: T1, y_zero_point?: T2) -> (y: T2) [axis block_size output_dtype saturate] T1 = float16 bfloat16 float int32; T2 = float8 int8 int16 uint8 uint16 int4 uint4
QuantizeLinear-23 (x: T1, y_scale: T2, y_zero_point?: T3) -> (y: T3) [axis block_size output_dtype precision saturate] T1 = float16 bfloat16 float int32; T2 = float16 bfloat16 float int32; T3 = float8 int8 int16 uint8 uint16 float4e2m1 int4 uint4
QuantizeLinear-24 (x: T1, y_scale: T2, y_zero_point?: T3) -> (y: T3) [axis block_size output_dtype precision saturate] T1 = float16 bfloat16 float int32; T2 = float16 bfloat16 float int32 float8e8m0; T3 = float8 int8 int16 uint8 uint16 float4e2m1 int4 uint4
RNN-7 (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T) [activation_alpha activation_beta activations clip direction hidden_size] T = ieee; T1 = int32
RNN-14 (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T) [activation_alpha activation_beta activations clip direction hidden_size layout] T = ieee; T1 = int32
RandomNormal-1 () -> (output: T) [dtype mean scale seed shape] T = ieee
RandomNormalLike-1 (input: T1) -> (output: T2) [dtype mean scale seed] T1 = classic; T2 = ieee
RandomUniform-1 () -> (output: T) [dtype high low seed shape] T = ieee
RandomUniformLike-1 (input: T1) -> (output: T2) [dtype high low seed] T1 = classic; T2 = ieee
Range-11 (start: T, limit: T, delta: T) -> (output: T) T = float double int16 int32 int64
Reciprocal-6 (X: T) -> (Y: T) T = ieee
ReduceL1-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceL1-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceL1-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int32 int64 uint32 uint64
ReduceL2-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceL2-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceL2-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int32 int64 uint32 uint64
ReduceLogSum-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceLogSum-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceLogSum-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int32 int64 uint32 uint64
ReduceLogSumExp-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceLogSumExp-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceLogSumExp-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int32 int64 uint32 uint64
ReduceMax-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceMax-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceMax-12 (data: T) -> (reduced: T) [axes keepdims] T = ieee int8 int32 int64 uint8 uint32 uint64
ReduceMax-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int8 int32 int64 uint8 uint32 uint64
ReduceMax-18 (data: T, axes?: int64) -> (reduced: T) [keepdims noop_with_empty_axes] T = ieee bfloat16 int8 int32 int64 uint8 uint32 uint64
ReduceMean-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceMean-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceMean-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int32 int64 uint32 uint64
ReduceMin-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceMin-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceMin-12 (data: T) -> (reduced: T) [axes keepdims] T = ieee int8 int32 int64 uint8 uint32 uint64
ReduceMin-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int8 int32 int64 uint8 uint32 uint64
ReduceMin-18 (data: T, axes?: int64) -> (reduced: T) [keepdims noop_with_empty_axes] T = ieee bfloat16 int8 int32 int64 uint8 uint32 uint64
ReduceProd-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceProd-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceProd-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int32 int64 uint32 uint64
ReduceSum-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceSum-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceSumSquare-1 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceSumSquare-11 (data: T) -> (reduced: T) [axes keepdims] T = ieee int32 int64 uint32 uint64
ReduceSumSquare-13 (data: T) -> (reduced: T) [axes keepdims] T = ieee bfloat16 int32 int64 uint32 uint64
Relu-6 (X: T) -> (Y: T) T = ieee
Relu-13 (X: T) -> (Y: T) T = ieee bfloat16
Reshape-5 (data: T, shape: int64) -> (reshaped: T) T = classic
Reshape-13 (data: T, shape: int64) -> (reshaped: T) T = classic bfloat16
Reshape-14 (data: T, shape: int64) -> (reshaped: T) [allowzero] T = classic bfloat16
Reshape-19 (data: T, shape: int64) -> (reshaped: T) [allowzero] T = classic float8 bfloat16
Reshape-21 (data: T, shape: int64) -> (reshaped: T) [allowzero] T = classic float8 bfloat16 int4 uint4
Reshape-23 (data: T, shape: int64) -> (reshaped: T) [allowzero] T = classic float8 bfloat16 float4e2m1 int4 uint4
Reshape-24 (data: T, shape: int64) -> (reshaped: T) [allowzero] T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4
Resize-10 (X: T, scales: float) -> (Y: T) [mode] T = classic
Resize-11 (X: T1, roi: T2, scales: float, sizes?: int64) -> (Y: T1) [coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value mode nearest_mode] T1 = classic; T2 = ieee
Resize-13 (X: T1, roi?: T2, scales?: float, sizes?: int64) -> (Y: T1) [coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value mode nearest_mode] T1 = classic bfloat16; T2 = ieee
Resize-18 (X: T1, roi?: T2, scales?: float, sizes?: int64) -> (Y: T1) [antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value keep_aspect_ratio_policy mode nearest_mode] T1 = classic bfloat16; T2 = ieee
RoiAlign-10 (X: T1, rois: T1, batch_indices: T2) -> (Y: T1) [mode output_height output_width sampling_ratio spatial_scale] T1 = ieee; T2 = int64
RoiAlign-16 (X: T1, rois: T1, batch_indices: T2) -> (Y: T1) [coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale] T1 = ieee; T2 = int64
Round-11 (X: T) -> (Y: T) T = ieee
Scan-8 (sequence_lens?: I, initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body directions num_scan_inputs] I = int64; V = classic
Scan-9 (initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions] V = classic
Scan-11 (initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions] V = classic
Scan-16 (initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions] V = classic bfloat16
Scan-19 (initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions] V = classic float8 bfloat16
Scan-21 (initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions] V = classic float8 bfloat16 int4 uint4
Scan-23 (initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions] V = classic float8 bfloat16 float4e2m1 int4 uint4
Scan-24 (initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*) [body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions] V = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4
Scatter-9 (data: T, indices: Tind, updates: T) -> (output: T) [axis] T = classic; Tind = int32 int64
ScatterElements-11 (data: T, indices: Tind, updates: T) -> (output: T) [axis] T = classic; Tind = int32 int64
ScatterElements-13 (data: T, indices: Tind, updates: T) -> (output: T) [axis] T = classic bfloat16; Tind = int32 int64
ScatterElements-16 (data: T, indices: Tind, updates: T) -> (output: T) [axis reduction] T = classic bfloat16; Tind = int32 int64
ScatterND-11 (data: T, indices: int64, updates: T) -> (output: T) T = classic
ScatterND-13 (data: T, indices: int64, updates: T) -> (output: T) T = classic bfloat16
ScatterND-16 (data: T, indices: int64, updates: T) -> (output: T) [reduction] T = classic bfloat16
Selu-6 (X: T) -> (Y: T) [alpha gamma] T = ieee
Shape-1 (data: T) -> (shape: T1) T = classic; T1 = int64
Shape-13 (data: T) -> (shape: T1) T = classic bfloat16; T1 = int64
Shape-15 (data: T) -> (shape: T1) [end start] T = classic bfloat16; T1 = int64
Shape-19 (data: T) -> (shape: T1) [end start] T = classic float8 bfloat16; T1 = int64
Shape-21 (data: T) -> (shape: T1) [end start] T = classic float8 bfloat16 int4 uint4; T1 = int64
Shape-23 (data: T) -> (shape: T1) [end start] T = classic float8 bfloat16 float4e2m1 int4 uint4; T1 = int64
Shape-24 (data: T) -> (shape: T1) [end start] T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4; T1 = int64
Sigmoid-6 (X: T) -> (Y: T) T = ieee
Sign-9 (input: T) -> (output: T) T = ints ieee
Sin-7 (input: T) -> (output: T) T = ieee
Sinh-9 (input: T) -> (output: T) T = ieee
Size-1 (data: T) -> (size: T1) T = classic; T1 = int64
Size-13 (data: T) -> (size: T1) T = classic bfloat16; T1 = int64
Size-19 (data: T) -> (size: T1) T = classic float8 bfloat16; T1 = int64
Size-21 (data: T) -> (size: T1) T = classic float8 bfloat16 int4 uint4; T1 = int64
Size-23 (data: T) -> (size: T1) T = classic float8 bfloat16 float4e2m1 int4 uint4; T1 = int64
Size-24 (data: T) -> (size: T1) T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4; T1 = int64
Slice-1 (data: T) -> (output: T) [axes ends starts] T = classic
Slice-10 (data: T, starts: Tind, ends: Tind, axes?: Tind, steps?: Tind) -> (output: T) T = classic; Tind = int32 int64
Slice-11 (data: T, starts: Tind, ends: Tind, axes?: Tind, steps?: Tind) -> (output: T) T = classic; Tind = int32 int64
Softmax-1 (input: T) -> (output: T) [axis] T = ieee
Softmax-11 (input: T) -> (output: T) [axis] T = ieee
SoftmaxCrossEntropyLoss-12 (scores: T, labels: Tind, weights?: T) -> (output: T, log_prob?: T) [ignore_index reduction] T = ieee; Tind = int32 int64
Softplus-1 (X: T) -> (Y: T) T = ieee
Softsign-1 (input: T) -> (output: T) T = ieee
SpaceToDepth-1 (input: T) -> (output: T) [blocksize] T = classic
Split-2 (input: T) -> (outputs...: T) [axis split] T = classic
Split-11 (input: T) -> (outputs...: T) [axis split] T = classic
Split-13 (input: T, split?: int64) -> (outputs...: T) [axis] T = classic bfloat16
SplitToSequence-11 (input: T, split?: I) -> (output_sequence: S) [axis keepdims] I = int32 int64; S = seq(classic); T = classic
Sqrt-6 (X: T) -> (Y: T) T = ieee
Squeeze-1 (data: T) -> (squeezed: T) [axes] T = classic
Squeeze-11 (data: T) -> (squeezed: T) [axes] T = classic
Squeeze-13 (data: T, axes?: int64) -> (squeezed: T) T = classic bfloat16
Squeeze-21 (data: T, axes?: int64) -> (squeezed: T) T = classic float8 bfloat16 int4 uint4
Squeeze-23 (data: T, axes?: int64) -> (squeezed: T) T = classic float8 bfloat16 float4e2m1 int4 uint4
Squeeze-24 (data: T, axes?: int64) -> (squeezed: T) T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4
Sub-7 (A: T, B: T) -> (C: T) T = ieee int32 int64 uint32 uint64
Sub-13 (A: T, B: T) -> (C: T) T = ieee bfloat16 int32 int64 uint32 uint64
Sum-6 (data_0...: T) -> (sum: T) T = ieee
Sum-8 (data_0...: T) -> (sum: T) T = ieee
Tan-7 (input: T) -> (output: T) T = ieee
Tanh-6 (input: T) -> (output: T) T = ieee
ThresholdedRelu-10 (X: T) -> (Y: T) [alpha] T = ieee
Tile-6 (input: T, repeats: T1) -> (output: T) T = classic; T1 = int64
TopK-1 (X: T) -> (Values: T, Indices: I) [axis k] I = int64; T = ieee
TopK-10 (X: T, K: int64) -> (Values: T, Indices: I) [axis] I = int64; T = ieee
TopK-11 (X: T, K: int64) -> (Values: T, Indices: I) [axis largest sorted] I = int64; T = ints ieee
Transpose-1 (data: T) -> (transposed: T) [perm] T = classic
Transpose-13 (data: T) -> (transposed: T) [perm] T = classic bfloat16
Transpose-21 (data: T) -> (transposed: T) [perm] T = classic float8 bfloat16 int4 uint4
Transpose-23 (data: T) -> (transposed: T) [perm] T = classic float8 bfloat16 float4e2m1 int4 uint4
Transpose-24 (data: T) -> (transposed: T) [perm] T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4
Unsqueeze-1 (data: T) -> (expanded: T) [axes] T = classic
Unsqueeze-11 (data: T) -> (expanded: T) [axes] T = classic
Unsqueeze-13 (data: T, axes: int64) -> (expanded: T) T = classic bfloat16
Unsqueeze-21 (data: T, axes: int64) -> (expanded: T) T = classic float8 bfloat16 int4 uint4
Unsqueeze-23 (data: T, axes: int64) -> (expanded: T) T = classic float8 bfloat16 float4e2m1 int4 uint4
Unsqueeze-24 (data: T, axes: int64) -> (expanded: T) T = classic float8 bfloat16 float4e2m1 float8e8m0 int4 uint4
Upsample-7 (X: T) -> (Y: T) [mode scales] T = classic
Upsample-9 (X: T, scales: float) -> (Y: T) [mode] T = classic
Where-9 (condition: B, X: T, Y: T) -> (output: T) B = bool; T = classic
)";
}

}  // namespace sardonyx::onnx_export
