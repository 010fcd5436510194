"""A support agent of an online shop: refunds, shipments, account recovery, e-mail changes."""
