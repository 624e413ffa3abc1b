"""A store of objects that takes only requests signed as botocore signs them.

    s3-oracle.py KEY SECRET

Prints `listening on URL`, and serves until it is ended. For each request, botocore computes the
Authorization header again, from the same method, URL, headers, body and time; any difference is answered by 403. So is
a header that can change the meaning of a request and is not signed. Conditions of writes are kept. The bucket is
`bucket`, as the beginning of the path or of the host.
"""

import hashlib
import sys
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock
from xml.sax.saxutils import escape

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

key, secret = sys.argv[1:]
bucket = "bucket"
objects: dict[str, tuple[bytes, dict[str, str]]] = {}
lock = threading.Lock()
unsigned = {"authorization", "accept", "connection", "content-length", "expect", "user-agent"}


def problem(request, body):
    """Why a request is not signed as botocore signs it; None if it is."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    given = headers.get("authorization", "")
    try:
        fields = dict(part.split("=", 1) for part in given.split(" ", 1)[1].split(", "))
        own_key, date, region, service, _ = fields["Credential"].split("/")
        names = fields["SignedHeaders"].split(";")
        time = datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    except (IndexError, KeyError, ValueError) as error:
        return "AuthorizationHeaderMalformed", f"{error!r} in {given!r}"
    if own_key != key:
        return "InvalidAccessKeyId", own_key
    if abs(datetime.now(timezone.utc) - time) > timedelta(minutes=15):
        return "RequestTimeTooSkewed", headers["x-amz-date"]
    missing = set(names) - headers.keys()
    left = headers.keys() - set(names) - unsigned
    if missing or left:
        return "SignatureDoesNotMatch", f"signed and not sent: {sorted(missing)}, sent and not signed: {sorted(left)}"
    if headers.get("x-amz-content-sha256") != hashlib.sha256(body).hexdigest():
        return "XAmzContentSHA256Mismatch", "the hash is not that of the body"
    own = {name: headers[name] for name in names if name not in ("host", "x-amz-date", "x-amz-security-token")}
    again = AWSRequest(request.command, f"http://{headers['host']}{request.path}", own, data=body)
    credentials = Credentials(key, secret, headers.get("x-amz-security-token"))
    with mock.patch.object(botocore.auth, "get_current_datetime", lambda *_, **__: time.replace(tzinfo=None)):
        botocore.auth.S3SigV4Auth(credentials, service, region).add_auth(again)
    if again.headers["Authorization"] != given:
        return "SignatureDoesNotMatch", f"libcurl: {given} botocore: {again.headers['Authorization']}"
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers={}, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status, code, message=""):
        self.answer(status, body=f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>".encode())

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # botocore's clock is replaced for a moment.
        with lock:
            found = problem(self, body)
            if found:
                return self.refuse(403, *found)
            host = self.headers["Host"]
            path = self.path if host.startswith(bucket + ".") else self.path.removeprefix(f"/{bucket}")
            if path == self.path and not host.startswith(bucket + "."):
                return self.refuse(404, "NoSuchBucket", "The specified bucket does not exist")
            stored = objects.get(path)
            tag = f'"{hashlib.md5(stored[0]).hexdigest()}"' if stored else None
            if self.command == "PUT":
                if self.headers.get("If-None-Match") == "*" and stored:
                    return self.refuse(412, "PreconditionFailed")
                if "If-Match" in self.headers and not stored:
                    return self.refuse(404, "NoSuchKey")
                if self.headers.get("If-Match", tag) != tag:
                    return self.refuse(412, "PreconditionFailed")
                kept = {name: self.headers[name] for name in ("Content-Type", "Cache-Control") if self.headers[name]}
                objects[path] = (body, kept)
                return self.answer(200, {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
            if self.command == "DELETE":
                objects.pop(path, None)
                return self.answer(204)
            if not stored:
                return self.refuse(404, "NoSuchKey")
            self.answer(200, {"ETag": tag, **stored[1]}, stored[0])

    do_GET = do_HEAD = do_PUT = do_DELETE = serve


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
