"""JSON Schemas of the files that a user writes, for editors: allowed keys, values and meanings.

The structs give the shape. `keys.tsv` has the text of each key, `settings.tsv` that of each setting
of a fault or a check. Loaded plug-ins are in the schemas.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.schema.json_schema import FILES as FILES
    from harness.schema.json_schema import schema_of as schema_of
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__)
