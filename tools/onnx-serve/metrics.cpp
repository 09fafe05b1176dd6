#include "tools/onnx-serve/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>

namespace sardonyx::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using serving::ServedModel;
using serving::StatisticsSnapshot;

struct Counted {
  const ServedModel& model;
  StatisticsSnapshot counts;
  Session::Stats memory;
};

double seconds(uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

class Families {
 public:
  explicit Families(const std::vector<Counted>& models) : models_(models) {}

  template <typename Value>
  void add(const char* name, const char* help, MetricType type, const Value& value) {
    MetricFamily family{name, help, type, {}};
    for (const Counted& one : models_) {
      ClientMetric metric = labelled(one);
      set(metric, type, value(one));
      family.metric.push_back(std::move(metric));
    }
    families_.push_back(std::move(family));
  }

  void add_failures(const char* name, const char* help,
                    const std::array<const char*, serving::kFailureKinds>& reasons) {
    MetricFamily family{name, help, MetricType::Counter, {}};
    for (const Counted& one : models_) {
      for (size_t kind = 0; kind < reasons.size(); ++kind) {
        ClientMetric metric = labelled(one);
        metric.label.insert(metric.label.begin() + 1, {"reason", reasons[kind]});
        metric.counter.value = static_cast<double>(one.counts.failures[kind]);
        family.metric.push_back(std::move(metric));
      }
    }
    families_.push_back(std::move(family));
  }

  void add_histogram(const char* name, const char* help,
                     const serving::Histogram StatisticsSnapshot::*histogram) {
    MetricFamily family{name, help, MetricType::Histogram, {}};
    for (const Counted& one : models_) {
      const serving::Histogram& from = one.counts.*histogram;
      ClientMetric metric = labelled(one);
      uint64_t total = 0;
      for (size_t i = 0; i < from.counts.size(); ++i) {
        total += from.counts[i];
        const double bound = i < serving::kTimeBuckets.size()
                                 ? serving::kTimeBuckets[i]
                                 : std::numeric_limits<double>::infinity();
        metric.histogram.bucket.push_back({total, bound});
      }
      metric.histogram.sample_count = total;
      metric.histogram.sample_sum = from.sum;
      family.metric.push_back(std::move(metric));
    }
    families_.push_back(std::move(family));
  }

  void add_one(const char* name, const char* help, double value) {
    MetricFamily family{name, help, MetricType::Gauge, {}};
    family.metric.emplace_back().gauge.value = value;
    families_.push_back(std::move(family));
  }

  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  static ClientMetric labelled(const Counted& one) {
    ClientMetric metric;
    metric.label = {{"model", one.model.name()}, {"version", std::to_string(one.model.version())}};
    return metric;
  }
  static void set(ClientMetric& metric, MetricType type, double value) {
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }

  const std::vector<Counted>& models_;
  std::vector<MetricFamily> families_;
};

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// A number of a file of /proc that stands behind `name`, in KiB there and in bytes here.
double kibibytes_of(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    double value = 0;
    if (word == name && file >> value) return value * 1024;
  }
  return 0;
}

// How much of the machine's processors has been used since the last call.
double processor_use() {
  static std::mutex mutex;
  static double last_busy = 0, last_all = 0, use = 0;
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  double all = 0, idle = 0, ticks = 0;
  for (int i = 0; i < 8 && file >> ticks; ++i) {
    all += ticks;
    if (i == 3 || i == 4) idle += ticks;
  }
  const std::lock_guard lock(mutex);
  if (all > last_all) use = (all - idle - last_busy) / (all - last_all);
  last_busy = all - idle;
  last_all = all;
  return std::clamp(use, 0.0, 1.0);
}

void add_own(Families& families) {
  const auto counter = MetricType::Counter;
  const auto gauge = MetricType::Gauge;
  families.add("sardonyx_requests_succeeded_total", "Requests that were answered.", counter,
               [](const Counted& one) { return static_cast<double>(one.counts.success.count); });
  families.add_failures("sardonyx_requests_failed_total", "Requests that were refused or failed.",
                        {"rejected", "cancelled", "backend", "other"});
  families.add("sardonyx_items_total", "Items of batches that were computed.", counter,
               [](const Counted& one) { return static_cast<double>(one.counts.inference_count); });
  families.add("sardonyx_runs_total", "Runs of the model, joint ones counted once.", counter,
               [](const Counted& one) { return static_cast<double>(one.counts.execution_count); });
  families.add("sardonyx_requests_pending", "Requests that wait or run.", gauge,
               [](const Counted& one) { return static_cast<double>(one.counts.pending); });
  families.add("sardonyx_input_seconds_total", "Time in which inputs of batches were concatenated.",
               counter, [](const Counted& one) { return seconds(one.counts.compute_input.ns); });
  families.add("sardonyx_output_seconds_total", "Time in which batches were split.", counter,
               [](const Counted& one) { return seconds(one.counts.compute_output.ns); });
  families.add("sardonyx_model_memory_bytes", "Memory of weights, plans and runs.", gauge,
               [](const Counted& one) { return static_cast<double>(one.memory.memory_used); });
  families.add("sardonyx_model_plans", "Plans that are kept, one for each set of shapes.", gauge,
               [](const Counted& one) { return static_cast<double>(one.memory.plans); });
  families.add_histogram("sardonyx_request_duration_seconds",
                         "From a request's arrival to its answer.",
                         &StatisticsSnapshot::request_time);
  families.add_histogram("sardonyx_queue_duration_seconds", "How long requests waited.",
                         &StatisticsSnapshot::queue_time);
  families.add_histogram("sardonyx_run_duration_seconds", "Runs of the model.",
                         &StatisticsSnapshot::run_time);
  families.add_one("process_resident_memory_bytes", "Resident memory size in bytes.",
                   resident_bytes());
}

void add_triton(Families& families) {
  const auto counter = MetricType::Counter;
  const auto add = [&](const char* name, const char* help, auto value) {
    families.add(name, help, counter,
                 [&](const Counted& one) { return static_cast<double>(value(one.counts)); });
  };
  add("nv_inference_request_success", "Number of successful inference requests, all batch sizes",
      [](const StatisticsSnapshot& counts) { return counts.success.count; });
  families.add_failures("nv_inference_request_failure",
                        "Number of failed inference requests, all batch sizes",
                        {"REJECTED", "CANCELED", "BACKEND", "OTHER"});
  add("nv_inference_count", "Number of inferences performed",
      [](const StatisticsSnapshot& counts) { return counts.inference_count; });
  add("nv_inference_exec_count", "Number of model executions performed",
      [](const StatisticsSnapshot& counts) { return counts.execution_count; });
  families.add("nv_inference_pending_request_count", "Instantaneous number of pending requests",
               MetricType::Gauge,
               [](const Counted& one) { return static_cast<double>(one.counts.pending); });
  add("nv_inference_request_duration_us", "Cumulative inference request duration in microseconds",
      [](const StatisticsSnapshot& counts) { return counts.success.ns / 1000; });
  add("nv_inference_queue_duration_us", "Cumulative inference queuing duration in microseconds",
      [](const StatisticsSnapshot& counts) { return counts.queue.ns / 1000; });
  add("nv_inference_compute_input_duration_us", "Cumulative compute input duration in microseconds",
      [](const StatisticsSnapshot& counts) { return counts.compute_input.ns / 1000; });
  add("nv_inference_compute_infer_duration_us",
      "Cumulative compute inference duration in microseconds",
      [](const StatisticsSnapshot& counts) { return counts.compute_infer.ns / 1000; });
  add("nv_inference_compute_output_duration_us",
      "Cumulative inference compute output duration in microseconds",
      [](const StatisticsSnapshot& counts) { return counts.compute_output.ns / 1000; });
  const double total = kibibytes_of("/proc/meminfo", "MemTotal:");
  families.add_one("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", processor_use());
  families.add_one("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", total);
  families.add_one("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes",
                   total - kibibytes_of("/proc/meminfo", "MemAvailable:"));
}

}  // namespace

std::string metrics_text(const serving::ModelRepository& repository, bool with_triton_names) {
  const auto serving = repository.serving();
  std::vector<Counted> models;
  for (const auto& model : serving)
    models.push_back({*model, model->statistics().snapshot(), model->session().stats()});
  Families families(models);
  add_own(families);
  if (with_triton_names) add_triton(families);
  return families.text();
}

}  // namespace sardonyx::serve
