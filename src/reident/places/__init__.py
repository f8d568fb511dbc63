"""Places and distances: masks, embeddings, the attacks that undo them, and what a release is still good for."""
