// The number of OpenMP's threads within a scope.
#pragma once

namespace sardonyx {

// Sets OpenMP's number of threads for the calling thread until the scope ends: what kernels split
// their work by, and what oneDNN makes its primitives for (one made for n threads must run with n).
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int previous_;
};

}  // namespace sardonyx
