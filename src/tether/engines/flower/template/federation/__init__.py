"""One model from data that stays where it is."""
