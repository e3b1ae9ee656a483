/* Empty: clang's CUDA wrapper includes this header, and no wheel that we depend on brings it. */
