"""Clients that load a server from one thread: closed loops, where each asks again once it is answered, and arrivals at times
that do not wait for answers."""
import json
import selectors
import socket
import struct
import time
from collections import deque


def http_request(path, body, headers=()):
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in dict(headers).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def binary_body(inputs):
    """JSON and bytes of {name: (datatype, array)}, and the fields they need."""
    parts = [(name, datatype, list(array.shape), array.tobytes()) for name, (datatype, array) in inputs.items()]
    head = json.dumps({"inputs": [{"name": name, "datatype": datatype, "shape": shape,
                                   "parameters": {"binary_data_size": len(data)}} for name, datatype, shape, data in parts],
                       "parameters": {"binary_data_output": True}}).encode()
    return head + b"".join(part[3] for part in parts), {"Inference-Header-Content-Length": str(len(head))}


class Connection:
    def __init__(self, port, selector):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.selector, self.unsent, self.got, self.wanted = selector, memoryview(b""), bytearray(), None
        selector.register(self.socket, selectors.EVENT_READ, self)

    def ask(self, request, began):
        self.began, self.unsent = began, memoryview(request)
        self.got.clear()
        self.wanted = None
        self.send()

    def send(self):
        try:
            while self.unsent:
                self.unsent = self.unsent[self.socket.send(self.unsent):]
        except BlockingIOError:
            pass
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.unsent else 0)
        self.selector.modify(self.socket, events, self)

    def take(self, mask):
        """The status of an answer that is whole, or None."""
        if mask & selectors.EVENT_WRITE:
            self.send()
        if not mask & selectors.EVENT_READ:
            return None
        try:
            more = self.socket.recv(1 << 18)
        except BlockingIOError:
            return None
        if not more:
            raise ConnectionError("the server has closed the connection")
        self.got += more
        if self.wanted is None:
            end = self.got.find(b"\r\n\r\n")
            if end < 0:
                return None
            at = self.got.lower().find(b"content-length:", 0, end)
            self.wanted = end + 4 + int(self.got[at + 15:self.got.find(b"\r\n", at)])
        return int(self.got[9:12]) if len(self.got) >= self.wanted else None

    def close(self):
        self.selector.unregister(self.socket)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def closed_loop(port, requests, connections, seconds):
    """Answers per second of clients that ask for `requests`, one after the other, again and again."""
    selector = selectors.DefaultSelector()
    begin, answered, at = time.perf_counter(), 0, 0
    clients = [Connection(port, selector) for _ in range(connections)]
    for client in clients:
        client.ask(requests[at % len(requests)], begin)
        at += 1
    while time.perf_counter() - begin < seconds:
        for key, mask in selector.select(0.1):
            status = key.data.take(mask)
            if status is None:
                continue
            assert status == 200, key.data.got[:500]
            answered += 1
            key.data.ask(requests[at % len(requests)], begin)
            at += 1
    took = time.perf_counter() - begin
    for client in clients:
        client.close()
    return answered / took


def at_times(port, request, times, connections=64):
    """For each of `times` (since the start), in the order of the answers: that time, when it was asked and when it was answered,
    as time.perf_counter() has them. What finds no free connection waits here."""
    selector = selectors.DefaultSelector()
    idle = deque(Connection(port, selector) for _ in range(connections))
    everyone, due, done = list(idle), deque(), []
    begin, at = time.perf_counter() + 0.1, 0
    while len(done) < len(times):
        now = time.perf_counter()
        while at < len(times) and begin + times[at] <= now:
            due.append(begin + times[at])
            at += 1
        while due and idle:
            client, client_due = idle.popleft(), due.popleft()
            client.asked = time.perf_counter()
            client.ask(request, client_due)
        # The last stretch is waited for without sleeping, which would come late.
        left = begin + times[at] - time.perf_counter() if at < len(times) else 0.1
        for key, mask in selector.select(max(0, left - 0.0005)):
            status = key.data.take(mask)
            if status is None:
                continue
            assert status == 200, key.data.got[:500]
            done.append((key.data.began, key.data.asked, time.perf_counter()))
            idle.append(key.data)
    for client in everyone:
        client.close()
    return done
