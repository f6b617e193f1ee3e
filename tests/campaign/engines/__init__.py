"""Tests of `harness.campaign.engines`."""
