"""What every figure of rows must keep: the labels at the left name the rows of all its panels."""


def assert_rows_aligned(figure):
    """Fail if a panel without labels counts its rows otherwise than the labelled one at its left."""
    figure.canvas.draw()
    labelled = {}
    for ax in figure.axes:
        spec = ax.get_subplotspec()
        if spec is None:
            continue
        words = [text.get_text() for text in ax.get_yticklabels() if text.get_visible() and text.get_text()]
        if any(not word.strip("−-.").replace(".", "").isdigit() for word in words):
            labelled[spec.rowspan.start] = ax
        elif not words and ax.axison and spec.rowspan.start in labelled:
            first = labelled[spec.rowspan.start]
            assert ax.get_ylim() == first.get_ylim(), (first.get_title(), ax.get_title())
