"""Requests that no client should send, over HTTP and HTTP/2, and what may be answered to each."""
import gzip
import json
import struct
from collections import namedtuple

# Statuses of the answers in their order; `is_cut`: the client ends in the middle, and nobody is there to be answered.
Broken = namedtuple("Broken", "name request statuses is_cut", defaults=(False,))


def infer_body(columns=16):
    return json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, columns],
                                   "data": list(range(columns))}]}).encode()


def request(path, body, *fields, version="1.1", method="POST", host="Host: x", length=None):
    lines = [f"{method} {path} HTTP/{version}", host, *fields]
    if length is None:
        length = len(body) if body else None
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join(line for line in lines if line).encode() + b"\r\n\r\n" + body


def chunked(*chunks, fields=()):
    head = request("/v2/models/tiny/infer", b"", "Transfer-Encoding: chunked", *fields)
    return head + b"".join(chunks)


def chunk(data, extension=b""):
    return b"%x%s\r\n%s\r\n" % (len(data), extension, data)


def http_requests():
    """For a server with the model `tiny`: x, y FP32[batch, 16]."""
    path, body, last = "/v2/models/tiny/infer", infer_body(), b"0\r\n\r\n"
    good, ends = request(path, body), "Connection: close"
    packed = gzip.compress(body)
    fields = lambda *some: request(path, body, *some)
    return [
        Broken("good", good, [200]),
        Broken("truncated JSON", request(path, body[:-20]), [400]),
        Broken("JSON with something behind it", request(path, body + b"{}"), [400]),
        Broken("no UTF-8", request(path, body.replace(b'"x"', b'"\xff\xfe"')), [400]),
        Broken("deep JSON", request(path, b"[" * 50000), [400]),
        Broken("other columns", request(path, infer_body(17)), [400]),
        Broken("announces more than it sends", request(path, body, length=len(body) + 100), [], True),
        Broken("announces less than it sends", request(path, body, length=len(body) - 9), [400, 400]),
        Broken("a negative length", request(path, body, length=-1), [400]),
        Broken("a length that is no number", request(path, body, length="ten"), [400]),
        Broken("a length beyond 64 bits", request(path, body, length="9" * 30), [400]),
        Broken("a length beyond the limit", request(path, body, length=1 << 40), [413]),
        Broken("two lengths", fields("Content-Length: 3"), [400]),
        Broken("length and chunks", fields("Transfer-Encoding: chunked"), [400]),
        Broken("a binary part beyond the body", fields("Inference-Header-Content-Length: 100000"), [400]),
        Broken("a binary part of negative size", fields("Inference-Header-Content-Length: -1"), [400]),
        Broken("chunks", chunked(chunk(body[:9]), chunk(body[9:]), last), [200]),
        Broken("chunks with extensions and trailers",
               chunked(chunk(body, b";a=b"), b"0\r\nX-Sum: 1\r\n\r\n"), [200]),
        Broken("a chunk without size", chunked(b"\r\n" + body), [400]),
        Broken("a chunk of a size that is no number", chunked(b"xyz\r\n" + body), [400]),
        Broken("a chunk of a size beyond 64 bits", chunked(b"f" * 17 + b"\r\n" + body), [400]),
        Broken("a chunk of a size beyond the limit", chunked(b"7fffffffffffffff\r\n" + body), [413]),
        Broken("a chunk that is longer than it says", chunked(b"4\r\n" + body), [400]),
        Broken("a chunk that is cut short", chunked(b"ffff\r\n" + body), [], True),
        Broken("endless extensions", chunked(b"4;" + b"a" * 100000), [431]),
        Broken("endless trailers", chunked(chunk(body), b"0\r\n", b"A: b\r\n" * 20000), [431]),
        Broken("HTTP/1.0", request(path, body, version="1.0", host=""), [200]),
        Broken("chunks of HTTP/1.0", request(path, chunk(body) + last, "Transfer-Encoding: chunked", version="1.0"), [400]),
        Broken("HTTP/2.0", request(path, body, version="2.0"), [400]),
        Broken("no version", b"GET /v2\r\n\r\n", [400]),
        Broken("no host", request(path, body, host=""), [400]),
        Broken("two hosts", fields("Host: y"), [400]),
        Broken("white space before the colon", fields("A : b"), [400]),
        Broken("NUL in a field", fields("A: b\0c"), [400]),
        Broken("a bare CR in a field", fields("A: b\rc"), [400]),
        Broken("a field of 100 KB", fields("A: " + "b" * 100000), [431]),
        Broken("10,000 fields", fields(*[f"A{i}: b" for i in range(10000)]), [431]),
        Broken("a target of 100 KB", request("/" + "a" * 100000, b""), [431]),
        Broken("an unknown encoding", fields("Content-Encoding: br"), [415]),
        Broken("gzip", request(path, packed, "Content-Encoding: gzip"), [200]),
        Broken("truncated gzip", request(path, packed[:-12], "Content-Encoding: gzip"), [400]),
        Broken("gzip that is none", fields("Content-Encoding: gzip"), [400]),
        Broken("gzip that becomes too much", request(path, gzip.compress(bytes(20 << 20)), "Content-Encoding: gzip"), [413]),
        Broken("a body for a GET", request("/v2", body, method="GET"), [413]),
        Broken("another method", request(path, b"", method="GET"), [405]),
        Broken("an unknown method", request(path, b"", method="BREW"), [405]),
        Broken("a broken escape", request("/v2/models/%zz/infer", b"", method="GET"), [400]),
        Broken("a path out of the repository", request("/v2/models/..%2f..%2fetc/config", b"", method="GET"), [404]),
        Broken("pipelined", good * 5, [200] * 5),
        Broken("pipelined with errors", good + request(path, b"{}") + request("/x", b"", method="GET") + good,
               [200, 400, 404, 200]),
        Broken("pipelined behind the end", request(path, body, ends) + good, [200]),
        Broken("a request within a body", request(path, request(path, body)), [400]),
        Broken("empty lines before it", b"\r\n\r\n" + good, [200]),
        Broken("TLS where there is none", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(64)) * 8, [400]),
        Broken("HTTP/2 where there is none", PREFACE + settings(), [400]),
    ]


def statuses(answers):
    """Those of the answers in `answers`, one after the other, the last of which may be cut off; or None where it is no HTTP."""
    found = []
    while answers:
        head, separator, rest = answers.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 "):
            return None
        if not separator:
            break
        at = head.lower().index(b"content-length:")
        size = int(head[at + 15:].split(b"\r\n")[0])
        status = int(head[9:12])
        if status != 100:
            found.append(status)
        if status >= 400 and len(rest) >= size and "error" not in json.loads(rest[:size]):
            return None
        answers = rest[size:]
    return found


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings():
    return frame(4)


def headers(*pairs, flags=4, stream=1):
    block = b"".join(b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in pairs)
    return frame(1, flags, stream, block)


def http2_connections():
    """What clients of gRPC send that do not keep to HTTP/2 or to gRPC's framing."""
    def call_of(stream):
        return headers((b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/inference.GRPCInferenceService/ModelInfer"),
                       (b":authority", b"x"), (b"te", b"trailers"), (b"content-type", b"application/grpc"), stream=stream)
    begin, call = PREFACE + settings(), call_of(1)
    return {
        "no HTTP/2": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "a preface that is cut short": PREFACE[:10],
        "a frame of 16 MB": begin + frame(0, 0, 1, length=0xFFFFFF),
        "settings of odd length": begin + frame(4, payload=b"\0" * 5),
        "a window that overflows": begin + frame(8, 0, 0, b"\x7f\xff\xff\xff") * 3,
        "a header that is no HPACK": begin + frame(1, 4, 1, b"\xff" * 100),
        "headers that go on for ever": begin + headers((b":method", b"POST"), flags=0) + frame(9, 0, 1, b"\0\x7fa" * 99) * 50,
        "data without a call": begin + frame(0, 1, 5, b"\0" * 50),
        "a call of an even stream": begin + headers((b":method", b"POST"), stream=2),
        "a call without path": begin + headers((b":method", b"POST"), (b":scheme", b"http")),
        "a message of 4 GB": begin + call + frame(0, 0, 1, b"\0\xff\xff\xff\xff" + b"a" * 100),
        "a compressed message without encoding": begin + call + frame(0, 1, 1, b"\1\0\0\0\4abcd"),
        "a frame with unknown flags": begin + call + frame(0, 1, 1, b"\7\0\0\0\4abcd"),
        "a message that is cut short": begin + call + frame(0, 1, 1, b"\0\0\0\1\0abc"),
        "a call without message": begin + call + frame(0, 1, 1),
        "two messages for one call": begin + call + frame(0, 1, 1, b"\0\0\0\0\0" * 2),
        "calls that are reset": begin + b"".join(call_of(i) + frame(3, 0, i, b"\0\0\0\x08") for i in range(1, 400, 2)),
        "pings": begin + frame(6, payload=b"12345678") * 1000,
    }
