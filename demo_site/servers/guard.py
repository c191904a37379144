"""Run a server that must not outlive the process that asked for it.

Started as a script of its own: `python guard.py OPTIONS COMMAND...`, with OPTIONS as JSON:
`signal` (how the server is asked to stop), `grace` (seconds until SIGKILL), `user` (or null),
`lock` (a file descriptor for the server to inherit, or null).

It stops the server when its standard input closes, which the kernel does for a parent that dies
in any way. Should the guard itself be killed, Linux signals the server (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1


def die_with_parent(signum: int) -> None:
    """Ask Linux to send `signum` to this process when its parent ends; elsewhere do nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signum)


def _start(options: dict[str, object], command: list[str]) -> subprocess.Popen[bytes]:
    lock, user = options["lock"], options["user"]
    signum = int(str(options["signal"]))
    child = subprocess.Popen(  # noqa: S603  (the command is composed by our own server classes)
        command,
        stdin=subprocess.DEVNULL,
        user=str(user) if user else None,
        group=_group_of(str(user)) if user else None,
        extra_groups=[] if user else None,
        pass_fds=[int(str(lock))] if lock is not None else [],
        preexec_fn=lambda: die_with_parent(signum),  # safe: one thread so far
    )
    if lock is not None:
        os.close(int(str(lock)))  # from here on the lock lives exactly as long as the server
    return child


def _group_of(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid


def _stop_at_end_of_input(child: subprocess.Popen[bytes], options: dict[str, object]) -> None:
    while os.read(0, 1):
        pass
    child.send_signal(int(str(options["signal"])))
    try:
        child.wait(timeout=float(str(options["grace"])))
    except subprocess.TimeoutExpired:
        child.kill()


def main() -> None:
    """Start the command, wait for it, and pass its exit code on."""
    options, command = json.loads(sys.argv[1]), sys.argv[2:]
    die_with_parent(signal.SIGTERM)
    child = _start(options, command)
    # Asked to end, the guard first sees its server off, so that nothing is left to reap.
    signal.signal(signal.SIGTERM, lambda *_: child.send_signal(int(options["signal"])))
    threading.Thread(target=_stop_at_end_of_input, args=(child, options), daemon=True).start()
    code = child.wait()
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
