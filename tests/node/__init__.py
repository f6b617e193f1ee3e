"""Packages of npm in the slow tests: the MCP conformance suite, SDKs, a language server."""
