#ifndef CUDALINT_NPPCORE_H
#define CUDALINT_NPPCORE_H
#include "nppdefs.h"
CUDALINT_BEGIN
const NppLibraryVersion *nppGetLibVersion(void);
cudaStream_t nppGetStream(void);
NppStatus nppSetStream(cudaStream_t stream);
NppStatus nppGetStreamContext(NppStreamContext *context);
int nppGetNumSMs(void);
CUDALINT_END
#endif
