"""The wires to an editor: the standard streams, or a socket of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
from typing import Any, BinaryIO

from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async

from cudalint.server.app import Server

LOOPBACK = "127.0.0.1"
_WARM = "cudalint.server.warm"
_LONGEST_HEADER = 1024**2


def serve(port: int | None) -> int:
    """Serve one editor until it leaves; the exit status."""
    # The server has threads, which must not be forked; who is forked instead is warm.
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver")
        multiprocessing.set_forkserver_preload([_WARM])
    # What goes wrong is said in one line by `Server.report_server_error`.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = Server()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: _end(server, 128 + number))
    reading, writing = _own_streams()
    try:
        if port is None:
            reader, writer = StdinAsyncReader(reading), StdoutWriter(writing)
            asyncio.run(_converse(server, reader, writer))
        else:
            asyncio.run(_listen(server, port))
    except SystemExit:
        pass  # how pygls leaves when it is told to
    except BrokenPipeError:
        return 1
    return 0 if server.is_shut else 1


def _end(server: Server, status: int) -> None:
    """Leave at once: the thread that waits for the editor's next word would never end."""
    server.session.close()
    os._exit(status)


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """The standard streams, for the protocol alone: no child inherits them, and what anybody else
    prints goes to the error output."""
    sys.stdout.flush()
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return reading, writing


async def _converse(server: Server, reader: Any, writer: Any) -> None:
    server.protocol.set_writer(writer)
    await run_async(
        stop_event=threading.Event(),
        reader=reader,
        protocol=server.protocol,
        error_handler=server.report_server_error,
    )


async def _listen(server: Server, port: int) -> None:
    """Wait for one editor, and serve it."""
    wires: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    wires = asyncio.get_running_loop().create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if wires.done():
            writer.close()
        else:
            wires.set_result((reader, writer))

    listening = await asyncio.start_server(connected, LOOPBACK, port, limit=_LONGEST_HEADER)
    host, actual = listening.sockets[0].getsockname()[:2]
    print(f"cudalint: listening on {host}:{actual}", file=sys.stderr, flush=True)
    async with listening:
        reader, writer = await wires
        with contextlib.suppress(ConnectionError, ValueError):
            await _converse(server, reader, writer)
        writer.close()
