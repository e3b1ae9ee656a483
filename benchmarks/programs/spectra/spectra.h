/* Spectra of many channels: a session with a workspace that grows. */
#ifndef SPECTRA_H
#define SPECTRA_H

#include <cuda_runtime_api.h>

typedef struct channel {
    float *samples;
    float *power;
    int length;
} channel_t;

typedef struct session {
    channel_t *channels;
    int count;
    void *workspace;
    size_t workspace_bytes;
    float *window;
    float *pinned;
    cudaStream_t stream;
    cudaEvent_t done;
} session_t;

session_t *session_open(int channels, int length);
void session_close(session_t *session);
int session_reserve(session_t *session, size_t bytes);
int session_feed(session_t *session, int channel, const float *samples);
int session_collect(session_t *session, int channel, float *power);

#endif
