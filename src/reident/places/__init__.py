"""Places and distances: masks, embeddings, attacks on them, and utility of a release."""
