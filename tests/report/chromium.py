"""Drives a headless Chromium over a pipe, with nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "about:blank",
)
# The browser reads at descriptor 3 and writes at 4.
START = (
    "import fcntl, os, sys\n"
    "fds = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 20) for n in sys.argv[1:3]]\n"
    "[os.dup2(fd, at) for fd, at in zip(fds, (3, 4))]\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)


def chromium():
    """Where the browser is; None if there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def complaints(page):
    """What a page logged, and what went wrong in it."""
    return page.seen("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")


class Browser:
    """One browser; its pages are opened and closed."""

    def __init__(self, profile):
        theirs_in, self.out = os.pipe()
        self.come, theirs_out = os.pipe()
        command = [sys.executable, "-c", START, str(theirs_in), str(theirs_out), chromium()]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", *FLAGS],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.last, self.events = b"", 0, []

    def close(self):
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.come)

    def send(self, method, session=None, **params):
        """Give a command, and wait for its answer."""
        self.last += 1
        number = self.last
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self, limit=20):
        end = time.monotonic() + limit
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.come], [], [], max(0, end - time.monotonic()))
            part = os.read(self.come, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser does not answer")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def open(self, path, **how):
        return Page(self, path, **how)


class Page:
    """A page in a tab of its own, with all that it logs and all that it asks for."""

    def __init__(self, browser, path, *, width=1280, height=900, scheme="light", scripts=True):
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        attached = browser.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.size(width, height)
        self.scheme(scheme)
        if not scripts:
            self.send("Emulation.setScriptExecutionDisabled", value=True)
        self.send("Page.navigate", url=path.as_uri())
        self.wait("Page.loadEventFired")

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)

    def wait(self, name):
        while not self.seen(name):
            self.browser.events.append(self.browser.receive())

    def seen(self, *names):
        """What happened under these names."""
        return [
            event["params"]
            for event in self.browser.events
            if event.get("method") in names and event.get("sessionId") == self.session
        ]

    def size(self, width, height):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def scheme(self, name):
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def run(self, script):
        """The value of an expression; what it throws is an error here."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def press(self, *keys):
        """Press keys; a single character is typed."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowRight": 39}
        for key in keys:
            words = {"Enter": "\r", "Tab": "", "Escape": "", "ArrowRight": ""}.get(key, key)
            more = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
            kind = "keyDown" if words else "rawKeyDown"
            self.send("Input.dispatchKeyEvent", type=kind, key=key, text=words, **more)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def picture(self, path=None, *, whole=False):
        found = self.send(
            "Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole)
        )
        data = base64.b64decode(found["data"])
        if path:
            path.write_bytes(data)
        return data

    def _clip(self, whole):
        if not whole:
            return {}
        box = self.send("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {**box, "scale": 1}}

    def print(self):
        found = self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(found["data"])
