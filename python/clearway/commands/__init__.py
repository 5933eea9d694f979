"""The commands of `clearway`, a file each, which is imported when its command is called.

Each has `app`, a typer application. `clearway.cli` lists them, and says what their errors become.
"""
