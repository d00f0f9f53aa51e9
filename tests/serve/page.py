"""The page at /.

SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
import subprocess

from harness import RELU, TMP, Server, check, compile_model, finish, skip


def shows_a_page():
    compile_model(RELU, TMP / "shown/relu/1/model.ingot")
    (TMP / "shown/broken/1").mkdir(parents=True)
    server = Server(TMP / "shown", "--loops", "1", "--poll", "0")
    for _ in range(3):
        server.infer("relu", [[1, 2, 3, 4]])
    status, headers, page = server.call("GET", "/")
    check("a page", status == 200 and headers["Content-Type"].startswith("text/html"), headers)
    check("that fetches nothing from elsewhere", b"http://" not in page.replace(
        b"http://www.w3.org/2000/svg", b"") and b"https://" not in page)
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not browser:
        skip("the page in a browser", "there is no chromium")
    else:
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
             "--dump-dom", f"http://127.0.0.1:{server.http_port}/"],
            capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "HOME": str(TMP)})
        dom = done.stdout
        check("lists what is served", "<td>relu</td>" in dom and "READY" in dom, dom[-1500:])
        check("how often it was asked", "<td>3</td>" in dom, dom[-1500:])
        check("and why something is not", "no model file" in dom, dom[-1500:])
        check("draws its times", "<rect " in dom, dom[-1500:])
    check("a good end", server.stop() == 0)


shows_a_page()
finish()
