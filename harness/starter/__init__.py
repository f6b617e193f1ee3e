"""The starter: finds the agent in the texts of a project, and makes the files of a first test.

Everything here is a function of file texts; nothing of the project is imported or run.
"""
