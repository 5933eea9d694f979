"""How Sphinx makes the site."""

import clearway

project = "Clearway"
author = "the authors of Clearway"
project_copyright = author
release = clearway.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns: list[str] = []

# As a Git host makes them, so that a link to a heading works on both.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
# Text is left as it is written.
smartquotes = False
highlight_language = "text"

# Backquotes of a docstring mark code.
default_role = "literal"
autodoc_member_order = "bysource"
maximum_signature_line_length = 80

html_theme = "furo"
html_title = f"Clearway {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}
