"""Pictures of the studio's pages, for the documentation; `scripts/browser --pictures DIRECTORY` runs this.

    browser-pictures.py DIRECTORY

For each page: a light and a dark one of 1280 × 800, and a light one of 400 × 800, as WebP. The store is made anew:
the sample, some increments, a miss, documents and uploads.
"""

import base64
import gzip
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CATALOGCTL = os.environ["SHELFMARK_CATALOGCTL"]
CATALOGD = os.environ["SHELFMARK_CATALOGD"]

# The name of each picture, and the view that it shows.
VIEWS = {
    "home": "",
    "products": "products?q=jerky",
    "product": "products/700000000000001000",
    "scan": "scan?code=SG5216N01JVSLVEBPT",
    "sets": "sets/HS000092",
    "history": "history?from=2&to=3",
    "documents": "documents/deliveries",
    "queue": "queue",
    "cache": "cache",
    "settings": "settings",
    "misses": "misses",
    "live": "live",
}

DELIVERIES = [
    {"id": f"D-{1040 + number}", "customer": {"name": customer, "address": {"city": city, "zip": code}},
     "lines": [{"barcode": barcode, "quantity": quantity}], "delivered": number % 2 == 0}
    for number, (customer, city, code, barcode, quantity) in enumerate([
        ("Hofer & Söhne", "Linz", "4020", "0078000202403", 24), ("上海家电", "上海", "200001", "SG5216N01", 2),
        ("Corner Shop", "Leeds", "LS1", "00959742", 12), ("Market Hall", "Porto", "4000", "5296849399411", 6)])
]


def tests():
    """The module with the tests of the pages, which knows how to start a studio and a browser."""
    specification = importlib.util.spec_from_file_location("browser_tests", os.path.join(HERE, "browser-tests.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def run(*arguments, text=None):
    subprocess.run([CATALOGCTL, *arguments], input=text, text=True, check=True, stdout=subprocess.DEVNULL)


def make_store(directory):
    """Fills the stores: a catalogue with several commits, and something to show on every page."""
    run("login", "ana")
    rows = os.path.join(directory, "rows.ndjson")
    products = {}
    with open(rows, "w", encoding="utf-8") as file:
        for name, kind in [("products", None), ("relations", "relation")]:
            with gzip.open(os.path.join(HERE, "sample", name + ".ndjson.gz"), "rt", encoding="utf-8") as lines:
                for line in lines:
                    row = json.loads(line)
                    if kind is None:
                        products[row["id"]] = row
                    else:
                        row = {"type": kind} | row
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
    run("import", "--cursor", "2026-01-01 00:00:00", rows)
    identifiers = list(products)
    for day in range(2, 14):
        changed = []
        for number in range(day * 3 % 11 + 1):
            product = products[identifiers[(day * 131 + number * 17) % len(identifiers)]]
            product["updateTime"] = f"2026-01-{day:02} 08:00:00"
            product["name"] = product["name"].removesuffix(" (new label)") + " (new label)"
            if number == 3:
                product["delFlag"] = 1
            changed.append(product)
        payload = {"updateTime": f"2026-01-{day:02} 08:00:00", "appProductVOList": changed, "appProductRelVOList": []}
        run("sync", "--from", "-", text=json.dumps(payload, ensure_ascii=False))
    for delivery in DELIVERIES:
        file = os.path.join(directory, "document.json")
        with open(file, "w", encoding="utf-8") as document:
            json.dump(delivery, document, ensure_ascii=False)
        run("documents", "put", "deliveries", "--from", file)
    run("documents", "index", "add", "deliveries", "customer.address.city")
    run("config", "set", "matching.heads.minimum", "6")
    run("config", "set", "scanner.beep", "false")


def barcodes():
    """Some barcodes of the sample."""
    with gzip.open(os.path.join(HERE, "sample", "products.ndjson.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line)["barcode"] for _, line in zip(range(60), lines)]


class Daemon:
    """A daemon with scans of a belt, until it is stopped."""

    def __init__(self, directory):
        file = os.path.join(directory, "catalogd.json")
        with open(file, "w", encoding="utf-8") as configuration:
            json.dump({"user": "ana", "http": {"address": "127.0.0.1:0"}, "log": {"format": "text"},
                       "inputs": {"names": ["belt", "gate"], "belt": {"kind": "stdin"},
                                  "gate": {"kind": "tcp", "port": 0}}}, configuration)
        self.log = os.path.join(directory, "catalogd.log")
        self.process = subprocess.Popen(
            [CATALOGD, "--config", file], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=open(self.log, "w", encoding="utf-8"), text=True)
        self.port = None
        end = time.monotonic() + 20
        while self.port is None:
            for line in open(self.log, encoding="utf-8"):
                if "listening address=http://127.0.0.1:" in line:
                    self.port = int(line.split("127.0.0.1:")[1].split()[0])
            if time.monotonic() > end:
                sys.exit("the daemon does not start:\n" + open(self.log, encoding="utf-8").read())
            time.sleep(0.05)

    def scan(self, *codes):
        for code in codes:
            self.process.stdin.write(code + "\n")
            self.process.stdin.flush()
            time.sleep(0.05)

    def stop(self):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(30)


def take(browser, page, name, directory, then=lambda: None):
    """The pictures of one page, each after `then` was called on the page."""
    for kind, width, scheme in [("light", 1280, "light"), ("dark", 1280, "dark"), ("narrow", 400, "light")]:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})
        browser.get("about:blank")
        browser.get(page)
        end = time.monotonic() + 20
        while browser.execute_script("return document.documentElement.dataset.ready") != "true":
            if time.monotonic() > end:
                sys.exit(f"{name} is not ready: {browser.execute_script('return document.body.innerText')[:1000]}")
            time.sleep(0.02)
        then()
        time.sleep(1)  # what arrives after the first rows
        picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 70})["data"]
        with open(os.path.join(directory, f"{name}-{kind}.webp"), "wb") as file:
            file.write(base64.b64decode(picture))


def main(directory):
    os.makedirs(directory, exist_ok=True)
    module = tests()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["CATALOG_ROOT"] = os.path.join(temporary, "root")
        make_store(temporary)
        daemon = Daemon(temporary)
        browser = module.chromium()
        try:
            daemon.scan("5296849399411", "0078000202403", "4006381333931", "SG5216N01JVSLVEBPT", "no such label")
            studio = module.Studio()
            for name, view in VIEWS.items():
                if name == "live":
                    take(browser, f"http://127.0.0.1:{daemon.port}/studio/live", name, directory,
                         lambda: daemon.scan(*barcodes(), "4012345678901", "SG7204N134109", "00959742"))
                else:
                    take(browser, studio.page(view), name, directory)
            studio.stop()
        finally:
            browser.quit()
            daemon.stop()


if __name__ == "__main__":
    main(sys.argv[1])
