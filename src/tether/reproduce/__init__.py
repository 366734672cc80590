"""The experiments, tables and theorems of Li & Zhang, run again: what holds here, and what does not.

An experiment declares runs, claims and a picture (`experiment.py`); `runner.py` carries a run out with the
library's own loop, `pool.py` many of them, `store.py` keeps what they leave behind.
"""
