"""The prox of sets and penalties of all kinds."""
