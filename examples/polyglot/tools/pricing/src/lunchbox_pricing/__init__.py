"""Prices of the lunch box: from what a dish costs to what it sells for."""
