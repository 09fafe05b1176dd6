// oneDNN's own threads, which are not used: each of its primitives runs on the thread that calls
// it.
#pragma once

namespace sardonyx::onednn {

// A scope in which oneDNN prepares and runs primitives for the calling thread alone. It is needed
// around each call of oneDNN that may parallelise: a primitive that was made for n threads must run
// with n.
class SingleThread {
 public:
  SingleThread();
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int previous_;
};

}  // namespace sardonyx::onednn
