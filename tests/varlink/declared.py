# SPDX-License-Identifier: GPL-2.0-only
"""Whether a reply is what the interface declares; needs the varlink package from PyPI."""

from varlink import scanner


def type_errors(interface, declared, value, where):
    """What in value is not as the interface declares it; strict, unlike the package itself."""
    if isinstance(declared, scanner._Maybe):
        return [] if value is None else type_errors(interface, declared.element_type, value, where)
    if isinstance(declared, scanner._CustomType):
        return type_errors(interface, interface.members[declared.name].type, value, where)
    if isinstance(declared, scanner._Array):
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [error for i, element in enumerate(value)
                for error in type_errors(interface, declared.element_type, element, f"{where}[{i}]")]
    if isinstance(declared, scanner._Dict):
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        return [error for name, element in value.items()
                for error in type_errors(interface, declared.element_type, element, f"{where}.{name}")]
    if isinstance(declared, scanner._Struct):
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        errors = [f"{where}.{name}: not declared" for name in value if name not in declared.fields]
        for name, field in declared.fields.items():
            # The server sends null fields, rather than leaving them out.
            if name not in value:
                errors.append(f"{where}.{name}: missing")
            else:
                errors += type_errors(interface, field, value[name], f"{where}.{name}")
        return errors
    if type(value) is not type(declared):
        return [f"{where}: {value!r} instead of a {type(declared).__name__}"]
    return []


def reply_errors(interface, method, reply):
    """What in a reply, or in an error of the interface, is not as declared."""
    if "error" not in reply:
        return type_errors(interface, interface.get_method(method).out_type, reply["parameters"],
                           method)
    owner, _, name = reply["error"].rpartition(".")
    if owner != interface.name or name not in interface.members:
        return [f"{method}: {reply['error']} is not declared"]
    return type_errors(interface, interface.members[name].type, reply["parameters"], name)
