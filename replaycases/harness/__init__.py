"""The client side of the replay protocol, for Python workflows. Standard library only, Python 3.9 and newer.

Mounted into the sandbox as the package `replaycases_harness`, apart from the workflow. It runs in the process of the
code under test and can be changed by it; nothing that it says is believed beyond what the supervisor observes.
"""
