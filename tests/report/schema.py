# SPDX-License-Identifier: MIT
"""The part of JSON Schema that docs/tables.schema.json uses, and no NaN."""
import json
import os
import re

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/tables.schema.json")
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties",
         "items", "minItems", "maxItems", "enum", "const", "minimum", "pattern"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        return not isinstance(value, bool) and isinstance(value, int if name == "integer" else (int, float))
    return isinstance(value, TYPES[name])


def faults(value, schema, root, at="$"):
    assert set(schema) <= KNOWN, f"the test knows no {set(schema) - KNOWN}"
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        yield f"{at} is no {types}: {value!r}"
        return
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        yield f"{at} is {value!r}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{at} is {value!r}"
    if isinstance(value, int) and value < schema.get("minimum", value):
        yield f"{at} is {value}"
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{at} has no {name}"
        for name, inner in value.items():
            if name in properties:
                yield from faults(inner, properties[name], root, f"{at}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{at} has {name}, which is in no schema"
    if isinstance(value, list) and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{at} has {len(value)} items"
    if isinstance(value, list) and "items" in schema:
        for i, inner in enumerate(value):
            yield from faults(inner, schema["items"], root, f"{at}[{i}]")


def no_number(text):
    raise AssertionError(f"{text} is no JSON")


def load(text):
    """Parses and validates."""
    with open(PATH) as file:
        root = json.load(file)
    value = json.loads(text, parse_constant=no_number)
    found = list(faults(value, root, root))
    assert not found, found[:5]
    return value
