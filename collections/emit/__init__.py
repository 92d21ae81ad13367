"""Writes the collections for Bruno and Postman from the OpenAPI document and steps.json."""
