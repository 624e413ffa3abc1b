"""Tests of the studio's pages in Chromium; scripts/browser runs them.

With --hostile-products N, prints products with hostile names, and N ordinary ones, as lines of JSON instead.
"""

import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HOSTILE = [
    ("90001", "<img src=x onerror=\"document.title='broken'\">"),
    ("90002", "<script>document.title='broken'</script>"),
    ("90003", "\u202egnirts desrever\u2066 mixed"),
    ("90004", "n" * 10_000),
    ("90005", "👩‍👩‍👧‍👦🏳️‍🌈 emoji e\u0301"),
    ("..", "dots"),
    ("~", "abc\u202egnp.exe"),
    ("90006", "javascript:alert(1)\"'><svg onload=alert(1)>"),
]
PAGES = ["Home", "Products", "Scan", "Sets", "History", "Documents", "Queue", "Cache", "Settings", "Misses"]


def print_products(count):
    def line(identifier, barcode, name, brand="Ordinary"):
        print(json.dumps({"id": identifier, "barcode": barcode, "name": name, "delFlag": 0, "groupNum": 1,
                          "brand": brand, "updateTime": "2026-01-01 00:00:00"}, ensure_ascii=False))

    for identifier, name in HOSTILE:
        line(identifier, "H" + identifier, name, brand="Ordinary" if identifier != "~" else "B" * 500)
    for number in range(count):
        line(f"5{number:09}", f"{2_000_000_000_000 + number}", f"generated product {number} of shelf {number % 997}")


class Studio:
    """A studio that runs, and what it printed."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [os.environ["SHELFMARK_CATALOGCTL"], "studio", "--port", "0", *arguments],
            stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        address, self.token = self.url.split("#t=")
        self.port = int(address.split(":")[2].split("/")[0])

    def page(self, path):
        return f"http://127.0.0.1:{self.port}/studio/{path}#t={self.token}"

    def request(self, method, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def data(self, path):
        answer, body = self.request("GET", "/studio/api/" + path, Authorization="Bearer " + self.token)
        assert answer.status == 200, (path, answer.status, body)
        return json.loads(body)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(30)
        self.process.stdout.close()
        return status


class Daemon(Studio):
    """A daemon that runs on the same stores, with its own token or with none."""

    def __init__(self, *arguments, token=""):
        self.token = token
        arguments = ["--http-address", "127.0.0.1:0", "--log-format", "json", "--inputs-names=", *arguments]
        self.process = subprocess.Popen(
            [os.environ["SHELFMARK_CATALOGD"], *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "CATALOGD_HTTP_TOKEN": token} if token else None)
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            if '"studio"' in line:
                break
        else:
            raise AssertionError("".join(self.lines))
        self.port = int(json.loads(self.lines[-1])["metadata"]["studio"].split(":")[2].split("/")[0])
        # A log that nobody reads would hold up the daemon in the end.
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()

    def page(self, path):
        return f"http://127.0.0.1:{self.port}/studio/{path}" + (f"#t={self.token}" if self.token else "")

    def scan(self, code):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        connection.request("POST", "/v1/scans", body=json.dumps({"code": code}), headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status == 200, (answer.status, body)
        return json.loads(body)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def chromium():
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    for option in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en-US", "--window-size=1280,900",
                   "--enable-precise-memory-info"]:
        options.add_argument(option)
    options.add_experimental_option("prefs", {"intl.accept_languages": "en-US"})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


class PageTests(unittest.TestCase):
    """What tests of pages share: one studio and one browser for each class."""

    arguments = ()
    program = Studio

    @classmethod
    def setUpClass(cls):
        cls.studio = cls.program(*cls.arguments)
        cls.browser = chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        assert cls.studio.stop() == 0

    def open(self, path):
        self.browser.get("about:blank")
        self.browser.get(self.studio.page(path))
        self.ready()

    def ready(self):
        self.until(lambda: self.script("return document.documentElement.dataset.ready") == "true", "the page is not ready")

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def until(self, condition, message, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.01)
        self.fail(f"{message}: {self.browser.current_url}: {self.script('return document.body.innerText')[:2000]}")

    def find(self, selector):
        from selenium.webdriver.common.by import By
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        """What an element shows. An element that is drawn anew in the meantime is no error."""
        return self.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def search_field(self, name):
        return next(field for field in self.script("return [...document.querySelectorAll('input[type=search]')]")
                    if field.accessible_name == name)

    def assertAccessible(self):
        """Expects that axe finds nothing on the page that is shown."""
        from axe_selenium_python import Axe
        axe = Axe(self.browser)
        axe.inject()
        violations = axe.run()["violations"]
        self.assertEqual([f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in violations], [])

    def faults(self):
        """The errors of the browser's console since the last call."""
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]

    def keys(self, *keys):
        from selenium.webdriver import ActionChains
        ActionChains(self.browser).send_keys(*keys).perform()


class Access(unittest.TestCase):
    """Who may ask, without a browser."""

    @classmethod
    def setUpClass(cls):
        cls.studio = Studio()

    @classmethod
    def tearDownClass(cls):
        assert cls.studio.stop() == 0

    def test_data_needs_the_token(self):
        for path in ["store", "products", "events", "products.ndjson", "history"]:
            for headers in [{}, {"Authorization": "Bearer " + "x" * 22}, {"Authorization": self.studio.token}]:
                answer, _ = self.studio.request("GET", "/studio/api/" + path, **headers)
                self.assertEqual(answer.status, 401, (path, headers))
        self.assertGreaterEqual(len(self.studio.token), 22)

    def test_foreign_names_are_refused(self):
        bearer = "Bearer " + self.studio.token
        for headers in [{"Host": "studio.example.org"}, {"Host": f"localhost.example.org:{self.studio.port}"},
                        {"Origin": "https://example.org"}, {"Origin": "null"}]:
            for path in ["/studio/", "/studio/api/store"]:
                answer, _ = self.studio.request("GET", path, Authorization=bearer, **headers)
                self.assertEqual(answer.status, 403, (path, headers))

    def test_pages_have_no_data_and_may_do_little(self):
        answer, body = self.studio.request("GET", "/studio/products/700000000000001000")
        self.assertEqual(answer.status, 200)
        self.assertNotIn(b"Turkey", body)
        self.assertIsNone(answer.headers["Set-Cookie"])
        policy = answer.headers["Content-Security-Policy"]
        for part in ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                     "require-trusted-types-for 'script'"]:
            self.assertIn(part, policy)
        self.assertNotIn("unsafe", policy)
        for name, text in [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                           ("Cross-Origin-Opener-Policy", "same-origin"),
                           ("Cross-Origin-Resource-Policy", "same-origin")]:
            self.assertEqual(answer.headers[name], text)


class Pages(PageTests):
    def test_every_page_opens_and_is_accessible(self):
        for name in PAGES:
            with self.subTest(name):
                self.open("" if name == "Home" else name.lower())
                # In one call, as the page may draw its navigation again at any time.
                links = self.script("return Object.fromEntries([...document.querySelectorAll('nav a')].map("
                                    "link => [link.innerText.trim(), link.getAttribute('aria-current')]))")
                self.assertEqual([page for page in PAGES if page not in links], [])
                self.assertEqual(links[name], "page")
                self.assertTrue(self.find("main").is_displayed())
                self.assertNotIn(self.studio.token, self.browser.current_url)
                self.assertEqual(self.faults(), [])
                self.assertAccessible()

    def test_a_reload_stays_signed_in(self):
        self.open("history")
        self.browser.refresh()
        self.ready()
        self.assertIn("/studio/history", self.browser.current_url)

    def test_without_a_token_there_is_no_data(self):
        other = chromium()
        try:
            other.get(self.studio.page("products").split("#")[0])
            time.sleep(1)
            self.assertNotIn("Turkey", other.execute_script("return document.body.innerText"))
        finally:
            other.quit()

    def test_chinese(self):
        self.browser.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": "zh-CN"})
        self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "Object.defineProperty(navigator, 'languages', {get: () => ['zh-CN']})"})
        try:
            self.open("")
            self.assertTrue(self.script("return document.documentElement.lang").startswith("zh"))
        finally:
            # A new browser, as the script stays.
            self.browser.quit()
            type(self).browser = chromium()

    def test_narrow_windows_do_not_scroll_sideways(self):
        self.browser.set_window_size(500, 800)
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 320, "height": 256, "deviceScaleFactor": 1, "mobile": False})
        try:
            for name in PAGES:
                with self.subTest(name):
                    self.open("" if name == "Home" else name.lower())
                    width = self.script("return document.scrollingElement.scrollWidth")
                    self.assertLessEqual(width, 320)
                    # A window of 1280 × 1024 at 400 % shows where a link led.
                    top = self.script("return document.querySelector('main').getBoundingClientRect().top")
                    self.assertLessEqual(top, 128)
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            self.browser.set_window_size(1280, 900)


class Products(PageTests):
    def rows(self):
        return self.script("""return [...document.querySelectorAll('[role=grid] [role=row][aria-rowindex]')]
            .filter(row => row.querySelector('[data-field]'))
            .map(row => ({index: +row.ariaRowIndex,
              barcode: row.querySelector('[data-field=barcode]')?.textContent,
              name: row.querySelector('[data-field=name]')?.textContent}))
            .sort((a, b) => a.index - b.index)""")

    def test_the_table_has_all_rows_in_the_order_of_ids(self):
        self.open("products")
        count = int(self.find("[role=grid]").get_attribute("aria-rowcount"))
        self.assertIn(count - self.studio.data("store")["products"], (0, 1))
        shown = [row["barcode"] for row in self.rows()[:10]]
        expected = [row["barcode"] for row in self.studio.data("products?limit=10")["rows"]]
        self.assertEqual(shown, expected)
        self.assertEqual(self.faults(), [])

    def test_the_first_rows_are_asked_for_ahead(self):
        self.open("products")
        # first.js and the page ask for the same, so that one answer is enough.
        first = self.script("""return performance.getEntriesByType('resource')
            .filter(entry => /\\/api\\/products\\?.*offset=0/.test(entry.name)).map(entry => entry.name)""")
        self.assertEqual(len(set(first)), 1, first)
        self.assertTrue(self.script("return globalThis.shelfmarkFirst === null"))
        # Other views ask for what they show only.
        self.open("products?sort=brand")
        first = self.script("""return performance.getEntriesByType('resource')
            .filter(entry => /\\/api\\/products\\?.*offset=0/.test(entry.name)).map(entry => entry.name)""")
        self.assertEqual([name for name in first if "sort=brand" not in name], [])

    def test_hostile_names_are_text(self):
        for identifier, name in HOSTILE:
            with self.subTest(identifier):
                escape = "~" if identifier.startswith(("~", "..")) else ""
                self.open("products/" + escape + identifier)
                # What turns the direction of text is written out.
                for mark in "\u202e\u2066":
                    name = name.replace(mark, f"[U+{ord(mark):X}]")
                self.until(lambda: name in self.script("return document.body.textContent"), "the name is not there")
                self.assertFalse(self.script("return /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)"))
                self.assertNotEqual(self.browser.title, "broken")
                self.assertEqual(self.faults(), [])

    def test_search_as_typed_and_the_panel_by_keyboard(self):
        from selenium.webdriver.common.keys import Keys
        self.open("products")
        field = self.search_field("Search products")
        field.send_keys("jerky teriyaki tur")
        self.until(lambda: any("Turkey Jerky Teriyaki" == row["name"] for row in self.rows()), "it is not found")
        # The row may have been there before its words were found.
        self.until(lambda: self.script("return document.querySelectorAll('[role=grid] mark').length > 0"), "nothing is marked")
        field.send_keys(Keys.ARROW_DOWN)
        self.assertTrue(self.script("return document.querySelector('[role=grid]').contains(document.activeElement)"))
        self.keys(Keys.ENTER)
        self.until(lambda: "700000000000001000" in self.script("return document.body.innerText"), "there is no panel")
        self.assertIn("/studio/products/700000000000001000", self.browser.current_url)
        self.keys(Keys.ESCAPE)
        self.until(lambda: "/studio/products/7" not in self.browser.current_url, "the panel stays")
        self.assertEqual(self.faults(), [])

    def test_a_condition_stays_while_counts_arrive(self):
        self.open("products")
        self.until(lambda: self.script("return document.querySelectorAll('button.facet').length") > 0, "no facets")
        self.find("#filter-where").send_keys("weight > ")
        self.script("document.querySelector('button.facet').click()")
        self.until(lambda: self.text(".chips") != "" and self.text(".facets button[aria-pressed=true]") != "", "no filter")
        self.assertEqual(self.find("#filter-where").get_property("value"), "weight > ")
        self.assertEqual(self.faults(), [])

    def test_a_filter_that_nothing_meets(self):
        self.open("products?where=name+%3D+'nothing+has+this+name'")
        self.until(lambda: self.text(".count") == "0 products", "the count is not known")
        self.assertEqual(self.text(".blank"), "There are no products here.")

    def test_a_link_leads_to_a_product_whatever_its_id_is(self):
        for identifier, name in HOSTILE:
            self.open("products/" + ("~" if identifier.startswith(("~", "..")) else "") + identifier)
            self.until(lambda: self.script("return document.querySelector('.panel dd[data-field=id]')?.textContent")
                       == identifier, identifier)

    def test_words_are_in_the_order_of_a_chinese_dictionary(self):
        self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "Object.defineProperty(navigator, 'languages', {get: () => ['zh-CN']})"})
        try:
            self.open("products?sort=name")
            asked = self.script("""return performance.getEntriesByType('resource')
                .filter(entry => /\\/api\\/products\\?/.test(entry.name)).map(entry => entry.name)""")
            self.assertTrue(asked)
            self.assertTrue(all("collation=pinyin" in name for name in asked), asked)
        finally:
            self.browser.quit()
            type(self).browser = chromium()

    def test_long_words_are_cut_where_they_stand(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False})
        try:
            self.open("sets")
            widths = self.script("return [...document.querySelectorAll('td.words')].map(cell => cell.clientWidth)")
            self.assertTrue(widths)
            self.assertGreaterEqual(min(widths), 120)
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.open("products")
        self.until(lambda: self.script("return document.querySelectorAll('button.facet').length") > 0, "no facets")
        for selector in [".facets", ".chips"]:
            wide = self.script("const e = document.querySelector(arguments[0]); return e.scrollWidth > e.clientWidth", selector)
            self.assertFalse(wide, selector)

    def test_sorting_is_in_the_url(self):
        self.open("products?sort=barcode")
        barcodes = [row["barcode"] for row in self.rows()]
        self.assertEqual(barcodes, sorted(barcodes, key=lambda text: text.encode()))

    def test_exports_are_what_is_shown(self):
        self.open("products?brand=Ordinary")
        links = [link.get_attribute("href") for link in self.script("return [...document.querySelectorAll('main a')]")]
        exports = [link for link in links if link and link.split("?")[0].split("#")[0].endswith((".ndjson", ".csv"))]
        self.assertEqual(len(exports), 2)
        for link in exports:
            path = "/" + link.split("/", 3)[3]
            answer, body = self.studio.request("GET", path, Authorization="Bearer " + self.studio.token)
            self.assertEqual(answer.status, 200)
            self.assertIn(b"onerror", body)
            self.assertNotIn(b"Turkey", body)
            self.assertEqual(self.studio.request("GET", path)[0].status, 401)


class Commits(PageTests):
    def test_new_commits_are_told_and_followed(self):
        self.open("products")
        before = self.studio.data("store")["sequence"]
        product = {"id": "90007", "barcode": "H90007", "name": "came later", "delFlag": 0, "groupNum": 1,
                   "updateTime": "2026-01-02 00:00:00"}
        payload = {"updateTime": "2026-01-02 00:00:00", "appProductVOList": [product],
                   "appProductRelVOList": []}
        subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "sync", "--from", "-"], check=True,
                       input=json.dumps(payload), text=True, stdout=subprocess.DEVNULL)
        self.until(lambda: "new commit" in self.script("return document.body.innerText"), "there is no notice")
        self.assertEqual(self.studio.data("store")["sequence"], before + 1)


class Scans(PageTests):
    def test_a_scan_is_answered(self):
        from selenium.webdriver.common.keys import Keys
        self.open("scan")
        field = self.search_field("Scan a code")
        self.assertEqual(self.script("return document.activeElement"), field)
        field.send_keys("00959742", Keys.ENTER)
        self.until(lambda: "Turkey Jerky Teriyaki" in self.text("main") and "exact" in self.text("main"),
                   "there is no answer")
        field = self.search_field("Scan a code")
        field.send_keys("no such code", Keys.ENTER)
        self.until(lambda: "none" in self.text("main"), "there is no second answer")
        self.assertEqual(self.faults(), [])


class Live(PageTests):
    """The studio of a daemon without a token."""

    program = Daemon
    arguments = ("--webhooks-names", "stock", "--webhooks-stock-url", "http://127.0.0.1:9/")

    def test_scans_appear_as_they_happen(self):
        self.open("live")
        self.until(lambda: self.script("return !!document.querySelector('main .badge.good')"), "it is not connected")
        # A mark of the page's own clock, which is that of this machine, for each code that appears.
        self.script("""
            window.seen = {};
            new MutationObserver(() => {
              for (const row of document.querySelectorAll('.scans tbody tr')) {
                const text = row.textContent;
                for (const code of ['00959742', 'nothing-1', 'nothing-2'])
                  if (text.includes(code)) window.seen[code] ??= Date.now();
              }
            }).observe(document.querySelector('main'), {childList: true, subtree: true, characterData: true});""")
        for code in ["00959742", "nothing-1", "nothing-2"]:
            begin = time.time() * 1000
            self.studio.scan(code)
            self.until(lambda: self.script("return window.seen[arguments[0]]", code), f"{code} is not there")
            took = self.script("return window.seen[arguments[0]]", code) - begin
            print(f"a scan is visible after {took:.0f} ms")
        text = self.text("main")
        for word in ["Turkey Jerky Teriyaki", "exact", "none", "stock"]:
            self.assertIn(word, text)
        rows = self.script("return [...document.querySelectorAll('.scans tbody tr')].map(row => row.innerText)")
        self.assertRegex(next(row for row in rows if "00959742" in row), r"\d (µs|ms)")
        self.assertEqual(self.faults(), [])

    def test_no_page_violates_a_rule_of_accessibility(self):
        for page in ["live", "", "queue", "misses"]:
            for theme in ["light", "dark"]:
                with self.subTest(page, theme=theme):
                    self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                        "features": [{"name": "prefers-color-scheme", "value": theme}]})
                    self.open(page)
                    self.studio.scan("00959742")
                    time.sleep(0.5)
                    self.assertAccessible()

    def test_a_table_stays_usable_while_a_hundred_commits_happen(self):
        self.open("products")
        before = self.studio.data("store")["sequence"]
        # The first rows of the table, wherever their elements are. Elements that wait for a row are empty.
        rows = """return [...document.querySelectorAll('[role=grid] [role=row] [data-field=barcode]')]
            .filter(cell => cell.textContent).sort((a, b) => a.parentElement.ariaRowIndex - b.parentElement.ariaRowIndex)
            .map(cell => cell.textContent).slice(0, 12)"""
        first = self.script(rows)
        self.assertEqual(len(first), 12)

        def commit():
            for number in range(100):
                product = {"id": "90100", "barcode": "H90100", "name": f"version {number}", "delFlag": 0, "groupNum": 1,
                           "updateTime": f"2026-01-03 00:{number // 60:02}:{number % 60:02}"}
                payload = {"updateTime": product["updateTime"], "appProductVOList": [product], "appProductRelVOList": []}
                subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "sync", "--from", "-"], check=True,
                               input=json.dumps(payload), text=True, stdout=subprocess.DEVNULL)

        writer = threading.Thread(target=commit)
        writer.start()
        try:
            while writer.is_alive():
                for place in [0.5, 0.9, 0]:
                    self.script("""let scroller = document.querySelector('[role=grid]');
                        while (scroller.scrollHeight <= scroller.clientHeight + 1) scroller = scroller.parentElement ?? document.scrollingElement;
                        scroller.scrollTop = scroller.scrollHeight * arguments[0];""", place)
                    self.until(lambda: len([text for text in self.script(rows) if text]) > 5, "there are no rows")
        finally:
            writer.join()
        # The rows are those of the commit on which the table was opened.
        self.until(lambda: self.script(rows) == first, "the rows have changed")
        self.until(lambda: "100 new commits" in self.script("return document.body.innerText"), "there is no notice")
        self.assertEqual(self.studio.data("store")["sequence"], before + 100)
        self.assertEqual(self.faults(), [])


class Editing(PageTests):
    """A studio that may change something."""

    arguments = ("--edit",)

    def button(self, text):
        found = []

        def is_there():
            found[:] = [button for button in self.script("return [...document.querySelectorAll('main button')]")
                        if button.text == text]
            return bool(found)

        self.until(is_there, f"there is no button {text}")
        return found[0]

    def document(self, collection):
        """Opens the first document of a collection."""
        self.open(f"documents/{collection}")
        self.find(".documents summary").click()
        self.until(lambda: self.text(".documents textarea, .documents button") != "", "the document is not open")

    def test_changes_of_two_collections_are_one_commit(self):
        for collection in ["left", "right"]:
            subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "documents", "put", collection, "--from", "-"], check=True,
                           input=json.dumps({"id": "1", "text": "old"}), text=True, stdout=subprocess.DEVNULL)
        self.document("left")
        self.button("Edit").click()
        self.script("document.querySelector('textarea').value = arguments[0]", json.dumps({"id": "1", "text": "new"}))
        self.button("Add to pending changes").click()
        self.assertIn("1 pending change", self.text(".pending"))
        # The list stays while another page is visited.
        self.script("history.pushState(null, '', '/studio/documents/right'); dispatchEvent(new PopStateEvent('popstate'))")
        self.until(lambda: self.text("h1") == "right", "the other collection is not shown")
        self.ready()
        self.assertIn("left: 1", self.text(".pending"))
        self.find(".documents summary").click()
        self.button("Remove").click()
        self.until(lambda: "2 pending changes" in self.text(".pending"), "there is one change")
        self.assertAccessible()
        self.button("Save 2 changes").click()
        self.until(lambda: self.text(".pending") == "", "the changes are not saved")
        self.assertEqual(self.studio.data("collections/left")["documents"][0]["document"]["text"], "new")
        self.assertEqual(self.studio.data("collections/right")["documents"], [])
        self.assertEqual(self.faults(), [])


    def put(self, collection, document):
        subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "documents", "put", collection, "--from", "-"], check=True,
                       input=document, text=True, stdout=subprocess.DEVNULL)

    def stored(self, collection):
        return subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "documents", "query", collection, "--json"], check=True,
                              text=True, stdout=subprocess.PIPE).stdout

    def test_numbers_keep_their_digits(self):
        self.put("digits", '{"id":9007199254740993,"order":9007199254740995,"note":"old","z":-0.5}\n'
                           '{"id":9007199254740992,"note":"another"}')
        self.document("digits")
        row = next(row for row in self.script("return [...document.querySelectorAll('.documents li')]")
                   if "740993" in row.text)
        if not self.script("return !!arguments[0].querySelector('details[open]')", row):
            self.script("arguments[0].querySelector('summary').click()", row)
        self.until(lambda: self.script("return arguments[0].querySelector('button') !== null", row), "it is not open")
        self.script("arguments[0].querySelector('button').click()", row)
        self.until(lambda: self.script("return !!document.querySelector('textarea')"), "there is no editor")
        self.script("const area = document.querySelector('textarea'); area.value = area.value.replace('old', 'new')")
        self.button("Add to pending changes").click()
        self.button("Save 1 change").click()
        self.until(lambda: self.text(".pending") == "", "the change is not saved")
        stored = self.stored("digits")
        for part in ['"id":9007199254740993', '"order":9007199254740995', '"note":"new"', '"note":"another"']:
            self.assertIn(part, stored)

    def test_a_change_meanwhile_is_not_overwritten(self):
        self.put("stock", '{"id":"s","stock":10,"note":"old"}')
        self.document("stock")
        self.button("Edit").click()
        self.script("const area = document.querySelector('textarea'); area.value = area.value.replace('old', 'new')")
        self.button("Add to pending changes").click()
        self.put("stock", '{"id":"s","stock":7,"note":"old"}')
        self.button("Save 1 change").click()
        self.until(lambda: "nothing was changed" in self.text(".pending"), "the change is not refused")
        self.assertIn('"stock":7', self.stored("stock"))
        self.button("Discard all").click()
        # The browser logs the refusal.
        self.assertTrue(all("409" in fault for fault in self.faults()))


class OwnProducts(PageTests):
    """A studio that may change the products of a catalogue that comes from this machine."""

    arguments = ("--edit",)

    @classmethod
    def setUpClass(cls):
        cls.former = os.environ.get("CATALOG_ROOT")
        cls.folder = tempfile.TemporaryDirectory()
        os.environ["CATALOG_ROOT"] = cls.folder.name
        rows = ('{"id":"1","barcode":"4006381333931","name":"Bolt","categoryId":9007199254740993,"weight":1.5,'
                '"extra":{"price":1.10}}\n{"id":"2","name":"Nut"}\n')
        for words in [["login", "own"], ["import", "-"]]:
            subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], *words], check=True, input=rows, text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if cls.former is None:
            del os.environ["CATALOG_ROOT"]
        else:
            os.environ["CATALOG_ROOT"] = cls.former
        cls.folder.cleanup()

    def press(self, text):
        find = """return [...document.querySelectorAll('main button')].find(button => button.textContent === arguments[0])"""
        self.until(lambda: self.script(find, text) is not None, f"there is no button {text}")
        self.script("arguments[0].click()", self.script(find, text))

    def write(self, field, text):
        self.until(lambda: self.script("return !!document.querySelector('#edit-name')"), "there is no form")
        self.script("document.querySelector('#edit-' + arguments[0]).value = arguments[1]", field, text)

    def product(self, identifier):
        return subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "get", "--id", identifier, "--json"], text=True,
                              stdout=subprocess.PIPE).stdout

    def test_products_are_changed_in_one_commit(self):
        before = self.studio.data("store")["sequence"]
        self.open("products/1")
        self.press("Edit")
        self.write("name", "Bolt, long")
        self.assertAccessible()
        self.press("Add to pending changes")
        self.until(lambda: "Bolt, long" in self.text(".pending"), "the change is not shown")
        self.press("New product")
        self.write("id", "3")
        self.write("weight", "heavy")
        self.press("Add to pending changes")
        self.until(lambda: "write digits" in self.text("form .bad"), "the number is not refused")
        self.write("weight", "2.50")
        self.press("Add to pending changes")
        self.until(lambda: "2 pending changes" in self.text(".pending"), "there is one change")
        self.press("Save 2 changes")
        self.until(lambda: self.text(".pending") == "", "the changes are not saved")
        self.assertEqual(self.studio.data("store")["sequence"], before + 1)
        changed = self.product("1")
        for part in ['"name":"Bolt, long"', '"categoryId":9007199254740993', '"price":1.10', '"weight":1.5']:
            self.assertIn(part, changed)
        self.assertIn('"weight":2.5', self.product("3"))
        self.ready()
        self.open("products/3")
        self.press("Remove")
        self.press("Save 1 change")
        self.until(lambda: self.text(".pending") == "", "the change is not saved")
        self.assertEqual(self.product("3"), "")
        self.assertEqual(self.faults(), [])

    def codes(self, identifier):
        printed = subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "codes", identifier, "--json"], text=True,
                                 stdout=subprocess.PIPE).stdout
        return json.loads(printed)["codes"] if printed else None

    def write_code(self, row, *texts):
        """Writes the code, the quantity, the unit and the kind of a row."""
        self.script("""const inputs = document.querySelectorAll(".coderow")[arguments[0]].querySelectorAll("input");
            arguments[1].forEach((text, i) => { inputs[i].value = text; });""", row, list(texts))

    def test_codes_are_added_changed_and_removed(self):
        self.open("products/2")
        self.press("Edit")
        self.until(lambda: self.script("return !!document.querySelector('#edit-name')"), "there is no form")
        self.press("Add a code")
        self.write_code(0, "14006381333938", "0", "case", "GTIN-14")
        self.press("Add to pending changes")
        self.until(lambda: "a number above 0" in self.text("form .bad"), "the quantity is not refused")
        self.write_code(0, "14006381333938", "24", "case", "GTIN-14")
        self.press("Add a code")
        self.press("Add to pending changes")
        self.until(lambda: "A code is missing" in self.text("form .bad"), "the empty code is not refused")
        self.write_code(1, "HALF-1", "0.5", "", "")
        self.assertAccessible()
        self.press("Add to pending changes")
        self.press("Save 1 change")
        self.until(lambda: self.text(".pending") == "", "the change is not saved")
        self.assertEqual([(one["code"], one["quantity"], one["unit"], one["kind"]) for one in self.codes("2")],
                         [("14006381333938", 24, "case", "GTIN-14"), ("HALF-1", 0.5, "", "")])
        # A change of another field leaves the codes as they are.
        self.open("products/2?columns=id,codes")
        self.until(lambda: "14006381333938" in self.text(".panel"), "the panel has no codes")
        self.assertAccessible()
        self.assertIn("Codes", self.text(".grid, [role=grid], [role=table], .table"))
        self.until(lambda: "With codes" in self.text("#facets"), "there is no filter of codes")
        self.press("Edit")
        self.write("unit", "piece")
        self.press("Add to pending changes")
        self.press("Save 1 change")
        self.until(lambda: self.text(".pending") == "", "the change is not saved")
        self.assertEqual(len(self.codes("2")), 2)
        # A scan says what it is.
        self.open("scan?code=14006381333938")
        self.until(lambda: "24 pieces, case" in self.text("main"), "the package is not shown")
        self.assertAccessible()
        # Home counts codes, and the history has their changes.
        self.open("")
        self.until(lambda: "CODES" in self.text("main").upper(), "Home does not count codes")
        sequence = self.studio.data("store")["sequence"]
        self.open(f"history?from={sequence - 2}&to={sequence - 1}")
        self.until(lambda: "14006381333938" in self.text("main"), "the history has no codes")
        self.assertAccessible()
        for width in [390, 1280]:
            self.browser.set_window_size(width, 900)
            self.open("products/2")
            self.until(lambda: "14006381333938" in self.text(".panel"), "the panel has no codes")
            self.press("Edit")
            self.until(lambda: self.script("return document.querySelectorAll('.coderow').length") == 2,
                       "the form has no codes")
            self.assertLessEqual(
                self.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
            self.assertLessEqual(
                self.script("""const form = document.querySelector('.panel form');
                    return form.scrollWidth - form.clientWidth"""), 0)
        self.script("document.querySelectorAll('.coderow button')[1].click()")
        self.press("Add to pending changes")
        self.press("Save 1 change")
        self.until(lambda: self.text(".pending") == "", "the change is not saved")
        self.assertEqual([one["code"] for one in self.codes("2")], ["14006381333938"])
        self.assertEqual(self.faults(), [])

    def test_a_product_that_another_program_has_changed_is_not_overwritten(self):
        self.open("products/2")
        self.press("Edit")
        self.write("name", "Nut, long")
        self.press("Add to pending changes")
        subprocess.run([os.environ["SHELFMARK_CATALOGCTL"], "import", "--upsert", "-"], check=True, text=True,
                       input='{"id":"2","name":"Nut, short"}', stdout=subprocess.DEVNULL)
        self.press("Save 1 change")
        self.until(lambda: "nothing was changed" in self.text(".pending"), "the change is not refused")
        self.assertIn("Nut, short", self.product("2"))
        self.press("Discard all")
        # The browser logs the refusal.
        self.assertTrue(all("409" in fault for fault in self.faults()))


class LiveWithToken(PageTests):
    """The studio of a daemon with a token."""

    program = Daemon

    @classmethod
    def setUpClass(cls):
        cls.studio = Daemon(token="the-token-of-the-daemon")
        cls.browser = chromium()

    def test_the_token_is_that_of_the_daemon(self):
        self.browser.get(self.studio.page("live").split("#")[0])
        self.until(lambda: self.script("return !!document.querySelector('#token')"), "no token is asked for")
        self.open("live")
        self.assertNotIn("the-token", self.browser.current_url)
        self.until(lambda: self.script("return !!document.querySelector('main .badge.good')"), "it is not connected")
        self.studio.scan("00959742")
        self.until(lambda: "Turkey Jerky Teriyaki" in self.text("main"), "the scan is not there")


@unittest.skipUnless(int(os.environ.get("SHELFMARK_GENERATED", "0")) >= 100_000, "only with --products 100000 or more")
class Speed(PageTests):
    """Prints times; they are read, not judged."""

    # The time from the start of the navigation until the rows are there, as the page sees it.
    NOTES_READY = """
        new MutationObserver(() => {
          if (document.documentElement?.dataset.ready === "true") window.readyAfter ??= performance.now();
        }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"] });"""

    def test_times(self):
        self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": self.NOTES_READY})
        times = []
        for _ in range(10):
            self.open("products")
            times.append(self.script("return window.readyAfter"))
        print(f"first rows: {times[0]:.0f} ms in a new browser, then "
              f"{statistics.median(times[1:]):.0f} ms (median of {len(times) - 1}) after the address was told")
        grid = "document.querySelector('[role=grid]')"
        jump = f"""
            const done = arguments[arguments.length - 1], begin = performance.now();
            let scroller = {grid};
            while (scroller.scrollHeight <= scroller.clientHeight + 1) scroller = scroller.parentElement ?? document.scrollingElement;
            scroller.scrollTop = scroller.scrollHeight * arguments[0];
            const look = () => {{
              const rows = [...document.querySelectorAll('[role=grid] [role=row][aria-rowindex] [data-field=barcode]')];
              const far = rows.filter(cell => Math.abs(+cell.closest('[role=row]').ariaRowIndex
                - {grid}.ariaRowCount * arguments[0]) < {grid}.ariaRowCount * 0.02 && cell.textContent.length > 3);
              if (far.length > 5) done(performance.now() - begin); else requestAnimationFrame(look);
            }};
            look();"""
        times = [self.browser.execute_async_script(jump, place) for place in [0.5, 0.1, 0.9, 0.33, 0.77]]
        print("jumps:", ", ".join(f"{each:.0f}" for each in times), "ms")
        scroll = f"""
            const done = arguments[arguments.length - 1];
            let scroller = {grid}, longest = 0;
            while (scroller.scrollHeight <= scroller.clientHeight + 1) scroller = scroller.parentElement ?? document.scrollingElement;
            const note = list => list.getEntries().forEach(entry => {{ longest = Math.max(longest, entry.duration); }});
            const observer = new PerformanceObserver(note);
            observer.observe({{ type: "longtask" }});
            const steps = 400;
            let step = 0;
            const next = () => {{
              scroller.scrollTop = scroller.scrollHeight * step / steps;
              if (++step <= steps) requestAnimationFrame(next);
              else setTimeout(() => {{ note({{ getEntries: () => observer.takeRecords() }}); done(longest); }}, 300);
            }};
            next();"""
        longest = self.browser.execute_async_script(scroll)
        print(f"longest task while scrolling from end to end: {longest:.0f} ms (0: none over 50 ms)")
        # From a key until only products that have what was typed are shown, marked.
        search = """
            const done = arguments[arguments.length - 1], text = arguments[0], field = document.querySelector("input[type=search]");
            const begin = performance.now();
            field.value = text;
            field.dispatchEvent(new InputEvent("input", { bubbles: true, data: text.at(-1), inputType: "insertText" }));
            const look = () => {
              const rows = [...document.querySelectorAll("[role=grid] [role=row][aria-rowindex] [data-field=name]")].filter(
                cell => cell.textContent && cell.offsetParent);
              if (rows.length && rows.every(cell => cell.textContent.includes(text) && cell.querySelector("mark")))
                done(performance.now() - begin);
              else requestAnimationFrame(look);
            };
            look();"""
        times = [self.browser.execute_async_script(search, word) for word in ["12345", "7", "77", "777", "shelf", "42424"]]
        print("from a key to the results:", ", ".join(f"{each:.0f}" for each in times), "ms")
        memory = self.script("return performance.memory.usedJSHeapSize")
        print(f"memory: {memory / 1e6:.0f} MB of objects, {self.tab_memory() / 1e6:.0f} MB of the tab's process")

    def tab_memory(self):
        """The bytes of the largest of the browser's processes that show pages, with its share of what processes share."""
        parents, largest = {self.browser.service.process.pid}, 0
        processes = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat") as file:
                    processes[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
        grown = True
        while grown:
            more = {process for process, parent in processes.items() if parent in parents} - parents
            grown = bool(more)
            parents |= more
        for process in parents & set(processes):
            with open(f"/proc/{process}/cmdline") as file:
                if "--type=renderer" not in file.read():
                    continue
            with open(f"/proc/{process}/smaps_rollup") as file:
                pss = next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
            largest = max(largest, pss * 1024)
        return largest


if __name__ == "__main__":
    if sys.argv[1:2] == ["--hostile-products"]:
        print_products(int(sys.argv[2]))
    else:
        unittest.main(verbosity=1)
