"""Ways around the loop: a linear system instead of a run, or a run on less data; each with its way back."""
