"""The `timebank` command. Uses every room."""
