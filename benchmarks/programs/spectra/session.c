#include "spectra.h"

#include <stdlib.h>
#include <string.h>

static int channel_init(channel_t *channel, int length)
{
    channel->length = length;
    if (cudaMalloc((void **)&channel->samples, length * sizeof(float)) != cudaSuccess)
        return -1;
    if (cudaMalloc((void **)&channel->power, length * sizeof(float)) != cudaSuccess) {
        cudaFree(channel->samples);
        channel->samples = NULL;
        return -1;
    }
    return 0;
}

static void channel_free(channel_t *channel)
{
    if (channel->samples)
        cudaFree(channel->samples);
    if (channel->power)
        cudaFree(channel->power);
    channel->samples = channel->power = NULL;
}

static int make_window(session_t *session, int length)
{
    float *window = malloc(length * sizeof *window);
    int i, status = -1;

    if (window == NULL)
        return -1;
    for (i = 0; i < length; ++i)
        window[i] = 1.0f - (2.0f * i / length - 1.0f) * (2.0f * i / length - 1.0f);
    if (cudaMalloc((void **)&session->window, length * sizeof(float)) != cudaSuccess)
        goto done;
    if (cudaMemcpy(session->window, window, length * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess)
        goto done;
    status = 0;
done:
    free(window);
    return status;
}

session_t *session_open(int channels, int length)
{
    session_t *session = calloc(1, sizeof *session);

    if (session == NULL)
        return NULL;
    session->channels = calloc(channels, sizeof *session->channels);
    if (session->channels == NULL)
        goto fail;
    if (cudaStreamCreate(&session->stream) != cudaSuccess)
        goto fail;
    if (cudaEventCreate(&session->done) != cudaSuccess)
        goto fail;
    if (cudaMallocHost((void **)&session->pinned, length * sizeof(float)) != cudaSuccess)
        goto fail;
    if (make_window(session, length) != 0)
        goto fail;
    for (; session->count < channels; ++session->count) {
        if (channel_init(&session->channels[session->count], length) != 0)
            goto fail;
    }
    return session;

fail:
    session_close(session);
    return NULL;
}

void session_close(session_t *session)
{
    int i;

    if (session == NULL)
        return;
    for (i = 0; i < session->count; ++i)
        channel_free(&session->channels[i]);
    free(session->channels);
    if (session->workspace)
        cudaFree(session->workspace);
    if (session->window)
        cudaFree(session->window);
    if (session->pinned)
        cudaFreeHost(session->pinned);
    if (session->done)
        cudaEventDestroy(session->done);
    if (session->stream)
        cudaStreamDestroy(session->stream);
    free(session);
}

int session_reserve(session_t *session, size_t bytes)
{
    void *larger = NULL;

    if (bytes <= session->workspace_bytes)
        return 0;
    if (cudaMalloc(&larger, bytes) != cudaSuccess)
        return -1;
    if (session->workspace)
        cudaFree(session->workspace);
    session->workspace = larger;
    session->workspace_bytes = bytes;
    return 0;
}

int session_feed(session_t *session, int channel, const float *samples)
{
    channel_t *one = &session->channels[channel];
    size_t bytes = one->length * sizeof(float);

    if (session_reserve(session, 2 * bytes) != 0)
        return -1;
    memcpy(session->pinned, samples, bytes);
    if (cudaMemcpyAsync(one->samples, session->pinned, bytes, cudaMemcpyHostToDevice, session->stream) != cudaSuccess)
        return -1;
    if (cudaMemcpyAsync(session->workspace, one->samples, bytes, cudaMemcpyDeviceToDevice, session->stream) != cudaSuccess)
        return -1;
    if (cudaMemcpyAsync(one->power, session->workspace, bytes, cudaMemcpyDeviceToDevice, session->stream) != cudaSuccess)
        return -1;
    if (cudaEventRecord(session->done, session->stream) != cudaSuccess)
        return -1;
    return cudaEventSynchronize(session->done) == cudaSuccess ? 0 : -1;
}

int session_collect(session_t *session, int channel, float *power)
{
    const channel_t *one = &session->channels[channel];

    if (cudaStreamSynchronize(session->stream) != cudaSuccess)
        return -1;
    return cudaMemcpy(power, one->power, one->length * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess ? 0 : -1;
}
