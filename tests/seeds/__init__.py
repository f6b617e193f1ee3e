"""The 178 statements of the seeds as tests that carry their numbers.

A test says with `@pytest.mark.seed(N, ...)` which statements it holds, and with `kind` how:

- `behaves` (default): the reference agent behaves as stated;
- `mutant`: upstream is wrong; the reference agent behaves rightly, and a mutant that behaves as
  upstream is caught;
- `differs`: the product does otherwise on purpose; the test's docstring gives the reason, and its
  body holds what the product does instead;
- `not ours`: the statement is about something that this project has not got; the test's docstring
  gives the reason, and its body asserts what makes it so.

`python -m tests.seeds` prints the table of all numbers, with the tests and their results.
`python -m tests.seeds.audit` breaks the product against each statement (`audit.tsv`), and sees its
own tests fail.
"""

from __future__ import annotations

STATEMENTS = 178
KINDS = ("behaves", "mutant", "differs", "not ours")
