"""A session store under fault: a real store, on a disk or behind a lock that fails it.

What goes wrong is a plan, as on every other seam. A write's plan sends what is to be written and
then answers that it is kept; opening sends what is stored. `faulty_store` asks for the plans and
orders their steps. `faulty_jsonl` carries them out for JSON Lines, `faulty_sqlite` for SQLite, and
`damaged_file` lays what a damaged plan sends where the store will read it. What SQLite says is said
by SQLite, in a real conflict wherever one can be brought about.
"""
