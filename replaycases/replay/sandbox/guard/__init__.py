"""The guard: a trusted process of ours, outside the confinement, that starts a program confined and ends its tree.

`serve` is the keeper, one for each supervising process: it forks a guard for each run. All of it runs in the
supervisor's own interpreter, imports little, and never imports what it confines.
"""
