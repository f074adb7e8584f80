"""The `door` command. Uses every room; heavy imports wait until a command needs them."""
