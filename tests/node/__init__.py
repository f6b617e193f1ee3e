"""Packages of npm in the slow tests: the official MCP conformance suite, and SDKs in JavaScript."""
