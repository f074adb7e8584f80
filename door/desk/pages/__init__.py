"""The books as pages for the sysop, shown by a process of its own. It needs the extra `pages`."""
