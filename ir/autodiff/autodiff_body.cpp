#include "ir/autodiff/autodiff_body.h"

#include "ir/autodiff/autodiff.h"

namespace sardonyx {

Vals autodiff_body(Emitter& e, const GradCall& call, Vals (*body)(Emitter&, const BodyCall&)) {
  RecordingEmitter recorder(e);
  const Vals outputs = body(recorder, {call.op, call.raw_attrs, call.inputs, call.outputs.size()});
  Vals ys, d_ys, xs;
  for (size_t i = 0; i < outputs.size() && i < call.d_outputs.size(); ++i) {
    if (!outputs[i] || !call.d_outputs[i]) continue;
    ys.push_back(outputs[i]);
    d_ys.push_back(call.d_outputs[i]);
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.wants(i)) xs.push_back(call.inputs[i]);
  }
  const Vals found = recorder.gradients(ys, d_ys, xs);
  Vals gradients(call.inputs.size());
  for (size_t i = 0, next = 0; i < call.inputs.size(); ++i) {
    if (call.wants(i)) gradients[i] = found[next++];
  }
  return gradients;
}

}  // namespace sardonyx
