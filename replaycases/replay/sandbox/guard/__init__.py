"""The guard: a trusted process of ours, outside the confinement, that starts a program confined and ends its tree.

Runs in the supervisor's own interpreter (`guarded.py` starts it), imports little, and never imports what it confines.
"""
