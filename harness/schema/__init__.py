"""JSON Schemas of the files that a user writes, for editors: what may stand where, and its meaning.

The structs give the shape, `keys.tsv` the words of each key, `settings.tsv` those of each setting
of a fault or a check. Plug-ins that are loaded are in the schemas.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.schema.json_schema import FILES as FILES
    from harness.schema.json_schema import schema_of as schema_of
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
