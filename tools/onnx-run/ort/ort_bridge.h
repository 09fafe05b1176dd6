// Runs a model in another runtime: any library with ONNX Runtime's C interface, loaded at run time.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/session.h"

namespace sardonyx::tool {

struct OtherOptions {
  int threads = 0;       // 0: the library's own choice
  bool optimize = true;  // all of its graph optimizations, or none
  // Without VNNI its products of uint8 and int8 saturate at 16 bits. With this they are exact, and
  // slower.
  bool exact_int8 = false;
};

// Throws UsageError where `library` is given and can't be used. Loads it in a process of its own,
// so that this one stays as small as it is, and must have one thread.
void require_other_library(const std::filesystem::path& library);

// One model loaded by such a library. Errors of the library become Error: kUnsupported where it
// can't load the model, kInvalidArgument where a run fails.
class OtherSession {
 public:
  OtherSession(const std::filesystem::path& library, const std::filesystem::path& model,
               const OtherOptions& options);
  ~OtherSession();
  OtherSession(OtherSession&&) noexcept;

  std::string version() const;  // of the library
  std::span<const std::string> input_names() const;
  std::span<const std::string> output_names() const;

  // Tensors of all types that the library knows, sequences and maps; the outputs are copies.
  std::vector<Datum> run(const NamedData& feeds) const;

  // For measuring: the inputs are handed over once, then run as often as wanted, with outputs
  // dropped at once.
  class Bound {
   public:
    ~Bound();
    Bound(Bound&&) noexcept;
    void run() const;

   private:
    friend class OtherSession;
    struct Impl;
    explicit Bound(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  Bound bind(const NamedData& feeds) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx::tool
