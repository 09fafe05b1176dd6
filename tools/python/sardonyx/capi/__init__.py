"""Where programs written for onnxruntime look for its exceptions."""
