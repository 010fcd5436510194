"""A small tool-calling loop: ask the model, run the tools that it asks for, talk to the person, until it is over."""
