#include "executor/ort_abi/ep/ep_selection.h"

#include <array>

#include "executor/ort_abi/devices.h"
#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

OrtKeyValuePairs pairs_of(const ModelMetadata& metadata) {
  return OrtKeyValuePairs({{"producer_name", metadata.producer_name},
                           {"producer_version", metadata.producer_version},
                           {"domain", metadata.domain},
                           {"model_version", std::to_string(metadata.model_version)},
                           {"doc_string", metadata.description},
                           {"graph_name", metadata.graph_name},
                           {"graph_description", metadata.graph_description}});
}

}  // namespace

void select_devices(const EpSelection& selection, const ModelMetadata& metadata) {
  constexpr size_t kMost = 8;
  const OrtEpDevice* devices[] = {&cpu_device()};
  std::array<const OrtEpDevice*, kMost> selected{};
  size_t count = 0;
  const OrtKeyValuePairs of_model = pairs_of(metadata), of_runtime;
  OrtStatus* status = selection.delegate(devices, std::size(devices), &of_model, &of_runtime,
                                         selected.data(), kMost, &count, selection.state);
  if (status) {
    const std::string message = status->message;
    Functions::ReleaseStatus(status);
    refuse(ORT_FAIL, "EP selection delegate failed: ", message);
  }
  if (count == 0) refuse(ORT_FAIL, "EP selection delegate did not select anything.");
  if (count > kMost) {
    refuse(ORT_FAIL, "EP selection delegate selected too many EP devices (", count,
           "). The limit is ", kMost, " EP devices.");
  }
}

}  // namespace sardonyx::ort_abi
