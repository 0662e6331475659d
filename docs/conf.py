"""How Sphinx makes the site of the documentation: ``sphinx-build -W docs site``."""

from __future__ import annotations

from tapemigrate import __version__

project = "tapemigrate"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme_options = {"description": "Moves TensorFlow 1 gradient code to tf.GradientTape"}
html_show_copyright = False

# Links to headings work as they do on GitHub.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "description"
