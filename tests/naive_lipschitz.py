import itertools
import math


def haversine_km(lat_p, lon_p, lat_q, lon_q):
    lat_p, lon_p, lat_q, lon_q = map(math.radians, (lat_p, lon_p, lat_q, lon_q))
    h = math.sin((lat_q - lat_p) / 2) ** 2 + math.cos(lat_p) * math.cos(lat_q) * math.sin((lon_q - lon_p) / 2) ** 2
    return 2 * 6371.0 * math.asin(min(1.0, math.sqrt(h)))


def released_km(places, sets):
    """`places` and the members of each of `sets` are (lat, lon) in degrees."""
    coordinates = [[min(haversine_km(*p, *r) for r in references) for references in sets] for p in places]
    return [[max(abs(a - b) for a, b in zip(f, g, strict=True)) for g in coordinates] for f in coordinates]


def shortest_interval(values, alpha):
    """Among all intervals between two values that hold at least the share alpha: the shortest, then the lowest."""
    fitting = [
        (hi - lo, lo, hi)
        for lo, hi in itertools.product(values, repeat=2)
        if sum(lo <= value <= hi for value in values) >= alpha * len(values) - 1e-9
    ]
    return min(fitting)[1:]
