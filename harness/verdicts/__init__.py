"""What a command comes to, as values: one result for each thing that was judged.

`report` renders these values, one file a medium. Nothing here knows a medium. The folder has this
name because `harness.results` is a public function: Python binds a folder to its name in the
package as soon as it is imported.
"""
