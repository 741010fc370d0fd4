# SPDX-License-Identifier: Apache-2.0
"""One server behind the line protocol: started pinned, stopped (SIGSTOP) whenever it is not its turn."""

import json
import os
import re
import select
import signal
import subprocess
import time

import numpy as np


TELLING = re.compile(r"rror|nsupported|not support|not exists|not implemented|[Cc]annot|[Ff]ailed")


class ServerFailed(Exception):
    pass


class ServerProcess:
    def __init__(self, command, cpus, threads, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.log_path = folder / "log.txt"
        self.buffer = b""
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, cpus),
            )

    def ready(self, timeout_s):
        line = ""
        while not line.startswith("READY "):  # some peers greet on stdout while they are imported
            line = self._answer(timeout_s)
        self._signal(signal.SIGSTOP)
        return json.loads(line[6:])

    def times_ms(self, count, timeout_s):
        return json.loads(self._ask(str(count), timeout_s))

    def outputs(self, timeout_s):
        path = self.folder / "outputs.npz"
        self._ask(f"OUT {path}", timeout_s)
        with np.load(path) as arrays:
            result = {name: arrays[name] for name in arrays.files}
        path.unlink()
        return result

    def close(self):
        """Ends the server and whatever converter or compiler it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def _ask(self, line, timeout_s):
        self._signal(signal.SIGCONT)
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise ServerFailed(self._reason()) from None
        answer = self._answer(timeout_s)
        self._signal(signal.SIGSTOP)
        return answer

    def _signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def _answer(self, timeout_s):
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise ServerFailed(f"no answer in {timeout_s} s")
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise ServerFailed(self._reason())
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def _reason(self):
        """The exit status and the last lines of the log that look like a reason."""
        status = self.process.wait()
        lines = [line.strip() for line in self.log_path.read_text(errors="replace").splitlines()]
        telling = [line for line in lines if TELLING.search(line) and not line.startswith(("raise ", "File "))] or [line for line in lines if line]
        reasons = list(dict.fromkeys(line[:160] for line in telling))[-2:]
        return f"exit status {status}: {' / '.join(reasons) or 'no message'}"
