#include "providers/onednn/primitive/single_thread.h"

#include "providers/onednn/primitive/library.h"

namespace sardonyx::onednn {

SingleThread::SingleThread() : previous_(onednn_threads()) {
  if (previous_ != 1) set_onednn_threads(1);
}
SingleThread::~SingleThread() {
  if (previous_ != 1) set_onednn_threads(previous_);
}

}  // namespace sardonyx::onednn
