"""TLS around a line, and the certificates for it."""
