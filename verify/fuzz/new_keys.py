"""A TLS client that asks for new keys without end, which Python's own cannot (RFC 8446, 4.6.3).

It is OpenSSL's, through the very library that Python's `ssl` is built upon.
"""

from __future__ import annotations

import _ssl
import ctypes
import socket
from typing import Any

_BUFFER = 65_536
_PATIENCE = 60.0  # seconds


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(ctypes.CDLL(_ssl.__file__), name)
    function.restype, function.argtypes = result, arguments
    return function


_pointer, _number, _bytes = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
_client_method = _function("TLS_client_method", _pointer)
_new_context = _function("SSL_CTX_new", _pointer, _pointer)
_free_context = _function("SSL_CTX_free", None, _pointer)
_new = _function("SSL_new", _pointer, _pointer)
_free = _function("SSL_free", None, _pointer)
_set_bio = _function("SSL_set_bio", None, _pointer, _pointer, _pointer)
_connect_state = _function("SSL_set_connect_state", None, _pointer)
_handshake = _function("SSL_do_handshake", _number, _pointer)
_key_update = _function("SSL_key_update", _number, _pointer, _number)
_write = _function("SSL_write", _number, _pointer, _bytes, _number)
_memory = _function("BIO_s_mem", _pointer)
_new_bio = _function("BIO_new", _pointer, _pointer)
_bio_read = _function("BIO_read", _number, _pointer, _bytes, _number)
_bio_write = _function("BIO_write", _number, _pointer, _bytes, _number)


class NewKeys:
    """One connection after the handshake; the board's output is ignored."""

    def __init__(self, port: int) -> None:
        """Connect to this port of 127.0.0.1."""
        self._socket = socket.create_connection(("127.0.0.1", port), _PATIENCE)
        self._context = _new_context(_client_method())
        self._tls = _new(self._context)
        self._incoming, self._outgoing = _new_bio(_memory()), _new_bio(_memory())
        _set_bio(self._tls, self._incoming, self._outgoing)
        _connect_state(self._tls)
        while _handshake(self._tls) != 1:
            self._socket.sendall(self._sealed())
            data = self._socket.recv(_BUFFER)
            assert data, "the board does not shake hands"
            _bio_write(self._incoming, data, len(data))
        self._socket.sendall(self._sealed())

    def updates(self, count: int, *, answered: bool) -> bytes:
        """Return so many sealed messages with new keys; `answered` asks the board for its own."""
        for _ in range(count):
            assert _key_update(self._tls, int(answered)) == 1
            assert _handshake(self._tls) == 1
        return self._sealed()

    def typed(self, keys: bytes) -> bytes:
        """Return keys, sealed."""
        assert _write(self._tls, keys, len(keys)) == len(keys)
        return self._sealed()

    def push(self, sealed: bytes) -> None:
        """Send, as far as the board takes it."""
        try:
            self._socket.sendall(sealed)
        except OSError:
            return

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
        _free(self._tls)  # with its two buffers
        _free_context(self._context)

    def _sealed(self) -> bytes:
        output = b""
        room = ctypes.create_string_buffer(_BUFFER)
        while (count := _bio_read(self._outgoing, room, _BUFFER)) > 0:
            output += room.raw[:count]
        return output
