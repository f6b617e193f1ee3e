"""An adapter a framework, with its defaults, and the profile of each."""
