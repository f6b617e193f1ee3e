"""Agents of other policies: constants drawn from the ranges that the checks allow."""
