"""A socket between client and Redis that loses replies on purpose."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SETTLING", "LossyProxy"]

SETTLING = b"BACK = { yielded"  # words of the script that ends a lease
EXEC = b"EXEC\r\n"
EXECUTED = 0.05  # seconds that Redis is given to do what nobody will hear of


@dataclass
class Loss:
    """Replies to requests with `marker` are lost; in a transaction, those to its end."""

    marker: bytes
    ending: bytes
    times: int = 1
    begun: bool = False

    def is_due(self, sent: bytes) -> bool:
        """Whether what was just sent on makes the next reply the one."""
        self.begun = self.begun or self.marker in sent
        if not self.times or not self.begun or self.ending not in sent:
            return False
        self.begun, self.times = False, self.times - 1
        return True


class LossyProxy:
    """Hands everything on, until told to lose a reply: then the connection is cut instead."""

    def __init__(self, path: Path, target: Path) -> None:
        self.url = f"unix://{path}"
        self.lost = 0
        self._target = target
        self._loss: Loss | None = None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.fspath(path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_reply(self, marker: bytes, *, of_transaction: bool = False, times: int = 1) -> None:
        """Lose replies to the next requests that hold `marker`. Redis will have done them."""
        self._loss = Loss(marker, EXEC if of_transaction else marker, times)

    def close(self) -> None:
        """Take no further connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        with client, server, contextlib.suppress(OSError):
            server.connect(os.fspath(self._target))
            while True:
                ready, _, _ = select.select([client, server], [], [])
                for source in ready:
                    passed = source.recv(1 << 20)
                    if not passed:
                        return
                    (server if source is client else client).sendall(passed)
                    if source is client and self._loss and self._loss.is_due(passed):
                        self.lost += 1
                        time.sleep(EXECUTED)
                        return
