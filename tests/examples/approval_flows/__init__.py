"""Frameworks' own flows of approval, as their documentation has them."""
