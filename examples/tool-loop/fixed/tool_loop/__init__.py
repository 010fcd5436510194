"""A small tool-calling loop: ask the model, run the tools that it asks for, talk to the person, until it is over.

Before a tool runs, the rules in rules.json are asked (see guards.py).
"""
