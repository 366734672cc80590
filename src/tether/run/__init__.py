"""What goes on around the loop: taking turns, judging, recording, keeping, reporting, closing."""
