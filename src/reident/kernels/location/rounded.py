"""Hidden coordinates in a matrix of largest differences that were rounded: equalities hold to about one step only.

The released distance of x and y is the largest of |f_i(x) - f_i(y)|, rounded. Known values of one coordinate f bound
all others, f(y) - D_xy <= f(x) <= f(y) + D_xy, and where x is active with several y in this coordinate, as many
of these bounds coincide at the extreme. NaN stands for a value or a distance that is not known.
"""

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit


@jit
def crowded_windows(distances, open_, pairs, widths, heights):
    """Find, for each width and pair of rows, the window of their differences that holds most above its surroundings.

    Only entries that are `open_` in both rows count. Writes the middles of the windows to `heights` (widths, pairs) and
    returns by how many standard deviations they exceed their surroundings, 0 where there are fewer than six
    differences.
    """
    n = distances.shape[0]
    scores = np.zeros(heights.shape)
    differences = np.empty(n)
    for q in range(pairs.shape[0]):
        a, b = pairs[q]
        m = 0
        for y in range(n):
            difference = distances[a, y] - distances[b, y]
            if open_[a, y] and open_[b, y] and y != a and y != b and not np.isnan(difference):
                differences[m] = difference
                m += 1
        if m < 6:
            continue
        ordered = differences[argsort(differences[:m])]
        for w in range(widths.shape[0]):
            width = widths[w]
            end = low = high = 0
            for i in range(m):
                while end < m and ordered[end] <= ordered[i] + 1.0001 * width:
                    end += 1
                while ordered[low] < ordered[i] - 4 * width:
                    low += 1
                while high < m and ordered[high] <= ordered[i] + 5 * width:
                    high += 1
                expected = (high - low - (end - i)) / 8
                score = (end - i - expected) / np.sqrt(expected + 1)
                if score > scores[w, q]:
                    scores[w, q], heights[w, q] = score, (ordered[i] + ordered[end - 1]) / 2
    return scores
