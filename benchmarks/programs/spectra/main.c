#include "spectra.h"

#include <stdio.h>
#include <stdlib.h>

static int measure(int channels, int length)
{
    session_t *session = NULL;
    float *samples = malloc(length * sizeof *samples);
    float *power = malloc(length * sizeof *power);
    int channel, i, status = -1;

    if (samples == NULL || power == NULL)
        goto done;
    session = session_open(channels, length);
    if (session == NULL)
        goto done;
    for (channel = 0; channel < channels; ++channel) {
        for (i = 0; i < length; ++i)
            samples[i] = (float)((i * (channel + 3)) % 101);
        if (session_feed(session, channel, samples) != 0)
            goto done;
        if (session_collect(session, channel, power) != 0)
            goto done;
        printf("%d: %f\n", channel, power[1]);
    }
    status = 0;
done:
    session_close(session);
    free(power);
    free(samples);
    return status;
}

int main(void) { return measure(4, 1024) == 0 ? 0 : 1; }
