"""The site: built offline by Sphinx with MyST-NB, numpydoc and the PyData theme; `make docs` runs it."""

from latex2mathml.converter import convert

import reident

project = "reident"
version = release = reident.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build"]
nb_execution_mode = "off"  # executed notebooks come from results
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_typehints = "none"
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_show_sourcelink = False
html_title = f"reident {version}"
suppress_warnings = ["myst.header", "myst.xref_missing", "mystnb.unknown_mime_type", "toc.not_included", "docutils"]


def setup(app):
    """Write formulas as MathML, which browsers show without a script from elsewhere."""
    from docutils import nodes

    def written(display):
        def visit(self, node):
            tex = (
                node.astext().replace(r"\begin{aligned}", r"\begin{matrix}").replace(r"\end{aligned}", r"\end{matrix}")
            )
            self.body.append(convert(tex, display=display))
            raise nodes.SkipNode

        return visit, None

    app.add_html_math_renderer("mathml", written("inline"), written("block"))


html_math_renderer = "mathml"
