"""The tool server of a plugin that is not set up: connects, offers nothing, and so keeps the client from reporting a
failure in every session. install.py puts the real server's command in its place.
"""

import json
import sys


def answer(request):
    """The reply to a request; None for a notification."""
    if not isinstance(request, dict) or "id" not in request or "method" not in request:
        return None
    method, params = request["method"], request.get("params") or {}
    results = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "memory", "version": "0"},
        },
        "tools/list": {"tools": []},
        "tools/call": {"content": []},  # the hooks call tools by name: they get nothing, and nobody is told of an error
        "ping": {},
    }
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if method in results:
        return {**reply, "result": results[method]}
    return {**reply, "error": {"code": -32601, "message": "Hippocampus is not set up: run install.py"}}


def main():
    for line in sys.stdin.buffer:
        try:
            reply = answer(json.loads(line))
        except (ValueError, AttributeError):
            continue
        if reply:
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyboardInterrupt):
        pass
