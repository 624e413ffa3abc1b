"""Reads element strings with biip, for scripts/biip.

Standard input has one string per line, with GS as it is. Each is answered with a line of JSON: `error`, or `elements` with
identifier, value, date, date and time, decimal, and whether a key is sound (null if biip does not check it).
"""

import json
import sys

import biip


def sound(element):
    for value, error in (
        (element.gtin, element.gtin_error),
        (element.sscc, element.sscc_error),
        (element.gln, element.gln_error),
    ):
        if value is not None or error is not None:
            return error is None
    return None


def decimal(element):
    if element.decimal is None:
        return None
    text = format(element.decimal, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text or "0"


def moment(element):
    return None if element.datetime is None else element.datetime.isoformat()


def day(element):
    return None if element.date is None else element.date.isoformat()


def read(text):
    try:
        result = biip.parse(text)
    except Exception as error:  # biip documents that only errors of its own are thrown.
        return {"error": f"{type(error).__name__}: {error}", "elements": []}
    if result.gs1_message is None:
        return {"error": result.gs1_message_error, "elements": []}
    return {
        "error": None,
        "elements": [
            {
                "ai": element.ai.ai,
                "value": element.value,
                "date": day(element),
                "moment": moment(element),
                "decimal": decimal(element),
                "sound": sound(element),
            }
            for element in result.gs1_message.element_strings
        ],
    }


for line in sys.stdin.buffer:
    print(json.dumps(read(line.rstrip(b"\n").decode("ascii"))))
