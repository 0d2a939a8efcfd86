"""A recipe with a table ``[study]``: what is measured for it, and which published claims it decides.

Its modules are imported one by one: a recipe's schema needs theirs, and they need the recipe's.
"""

__all__: list[str] = []
