"""Writes TorchScript archives made to hurt: each is to be refused with words.

    hostile_files.py FOLDER

Nothing but Python's own library is needed.

SPDX-License-Identifier: Apache-2.0
"""
import io
import pathlib
import struct
import sys
import zipfile
import zlib

# ---- pickles ----


def glob(module, name):
    return b"c" + module.encode() + b"\n" + name.encode() + b"\n"


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value):
    if 0 <= value < 256:
        return b"K" + bytes([value])
    size = value.bit_length() // 8 + 1
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)


def tuple_of(*items):
    return b"(" + b"".join(items) + b"t"


def storage(key="0", kind="FloatStorage", count=4):
    parts = [text("storage"), glob("torch", kind), text(key), text("cpu"), number(count)]
    return tuple_of(*parts) + b"Q"


def numbers(values):
    return tuple_of(*map(number, values))


def tensor(held=None, offset=0, size=(2, 2), stride=(2, 1)):
    parts = [held or storage(), number(offset), numbers(size), numbers(stride), b"\x89"]
    parts.append(glob("collections", "OrderedDict") + b")R")
    return glob("torch._utils", "_rebuild_tensor_v2") + tuple_of(*parts) + b"R"


def instance(module, name, fields):
    body = b"".join(text(key) + value for key, value in fields.items())
    return glob(module, name) + b")\x81}(" + body + b"ub"


def pickled(value):
    return b"\x80\x02" + value + b"."


def model_pickle(**fields):
    return pickled(instance("__torch__", "M", {"w": tensor(), **fields}))


# ---- archives ----

CLASS = """class M(Module):
  __parameters__ = []
  __buffers__ = []
  w : Tensor
"""


def source(body, fields="", before="", result="Tensor"):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return (
        f"{before}{CLASS}{fields}  def forward(self: __torch__.M,\n"
        f"    x: Tensor) -> {result}:\n{lines}"
    )


def entries(code=None, data=None, constants=b"\x80\x02).", weights=b"\0" * 16):
    return {
        "m/data.pkl": data or model_pickle(),
        "m/code/__torch__.py": code or source("return torch.add(x, self.w)"),
        "m/constants.pkl": constants,
        "m/data/0": weights,
        "m/version": "3\n",
    }


def zipped(content, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, value in content.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), value, method)
    return out.getvalue()


def program(body, **more):
    return zipped(entries(source(body, **more)))


def pickle_of(data):
    return zipped(entries(data=data))


def with_weight(**facts):
    return pickle_of(model_pickle(w=tensor(**facts)))


# ---- what is wrong with the container ----


def directory(data):
    at = data.rindex(b"PK\5\6")
    return struct.unpack("<I", data[at + 16 : at + 20])[0]


def record(data, name):
    at = directory(data)
    while data[at : at + 4] == b"PK\1\2":
        size, extra, comment = struct.unpack("<HHH", data[at + 28 : at + 34])
        if data[at + 46 : at + 46 + size] == name.encode():
            return at
        at += 46 + size + extra + comment
    raise KeyError(name)


def patched(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def field(name, offset, new):
    """The directory's record of an entry, changed."""
    data = zipped(entries())
    return patched(data, record(data, name) + offset, new)


def zip64_end(**facts):
    """With a zip64 end record that says what `facts` do."""
    data = zipped(entries())
    at = data.rindex(b"PK\5\6")
    count = struct.unpack("<H", data[at + 10 : at + 12])[0]
    size, offset = struct.unpack("<II", data[at + 12 : at + 20])
    said = {"count": count, "size": size, "offset": offset, "where": at, **facts}
    end = struct.pack(
        "<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0,
        said["count"], said["count"], said["size"], said["offset"])
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, said["where"], 1)
    tail = data[at : at + 8] + b"\xff\xff\xff\xff" + b"\xff" * 8 + b"\0\0"
    return data[:at] + end + locator + tail


def zip64_extra(values):
    """data/0 with sizes in a zip64 field."""
    data = zipped(entries())
    at = record(data, "m/data/0")
    name = struct.unpack("<H", data[at + 28 : at + 30])[0]
    extra = struct.pack("<HH", 1, 8 * len(values)) + struct.pack(f"<{len(values)}Q", *values)
    head = patched(data[at : at + 46 + name], 20, b"\xff" * 8)
    head = patched(head, 30, struct.pack("<H", len(extra)))
    data = data[:at] + head + extra + data[at + 46 + name :]
    end = data.rindex(b"PK\5\6")
    size = struct.unpack("<I", data[end + 12 : end + 16])[0] + len(extra)
    return patched(data, end + 12, struct.pack("<I", size))


def overlapping():
    """Two entries over the same bytes."""
    data = zipped(entries())
    first, second = record(data, "m/data/0"), record(data, "m/version")
    return patched(data, second + 42, data[first + 42 : first + 46])


def shared_bomb():
    """Many entries that inflate the same packed bytes."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packed.compress(b"\n" * 20_000_000) + packed.flush()
    crc = zlib.crc32(b"\n" * 20_000_000)
    return deflated([(f"m/code/__torch__/m{i}.py", body, 20_000_000, crc) for i in range(90)],
                    imports=90)


def deflated(made, imports=0):
    head = "".join(f"import __torch__.m{i}\n" for i in range(imports))
    data = zipped(entries(source("return x", before=head)))
    at, end = directory(data), data.rindex(b"PK\5\6")
    local, central, offset = b"", data[at:end], at
    for name, body, size, crc in made:
        facts = struct.pack("<HHHHHIII", 20, 0, 8, 0, 33, crc, len(body), size)
        local += b"PK\3\4" + facts + struct.pack("<HH", len(name), 0) + name.encode() + body
        central += b"PK\1\2\x14\0" + facts + struct.pack(
            "<HHHHHII", len(name), 0, 0, 0, 0, 0, offset) + name.encode()
        offset = at + len(local)
    count = struct.unpack("<H", data[end + 10 : end + 12])[0] + len(made)
    tail = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(central), offset, 0)
    return data[:at] + local + central + tail


def weights_bomb(size):
    """Weights of zeros, packed a thousandfold."""
    data = model_pickle(w=tensor(storage(count=size // 4), 0, (size // 4,), (1,)))
    made = entries(source("return torch.add(x, self.w)"), data)
    del made["m/data/0"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in made.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), value)
        info = zipfile.ZipInfo("m/data/0", (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w", force_zip64=True) as entry:
            block = bytes(1 << 24)
            for _ in range(size >> 24):
                entry.write(block)
    return out.getvalue()


def named(*names):
    made = entries()
    for name in names:
        made[name] = b"x"
    return zipped(made)


def raw_name(name):
    data = zipped(entries() | {"m/extra/" + "z" * (len(name) - 8): b"x"})
    return data.replace(b"m/extra/" + b"z" * (len(name) - 8), name)


def containers():
    good = zipped(entries())
    yield "zip64_count", zip64_end(count=2**63)
    yield "zip64_offset", zip64_end(offset=2**64 - 8)
    yield "zip64_size", zip64_end(size=2**64 - 1, offset=2**63)
    yield "zip64_where", zip64_end(where=2**64 - 20)
    yield "zip64_sizes", zip64_extra([2**63, 2**63])
    yield "zip64_sizes_huge", zip64_extra([2**64 - 1, 2**64 - 1])
    yield "zip64_short", zip64_extra([4])
    yield "zip64_none", field("m/data/0", 20, b"\xff" * 8)
    yield "overlapping", overlapping()
    yield "offset_in_directory", field("m/data/0", 42, struct.pack("<I", directory(good)))
    yield "method_unknown", field("m/data/0", 10, struct.pack("<H", 14))
    yield "encrypted", field("m/data/0", 8, struct.pack("<H", 1))
    yield "name_past_end", field("m/data/0", 28, b"\xff\xff")
    yield "extra_past_end", field("m/data/0", 30, b"\xff\xff")
    yield "directory_cut", good[: directory(good) + 60] + good[good.rindex(b"PK\5\6") :]
    yield "two_ends", good + good[good.rindex(b"PK\5\6") :]
    yield "end_in_comment", patched(good, len(good) - 2, b"\x16\0") + good[-22:]
    yield "shared_bomb", shared_bomb()
    yield "weights_bomb", weights_bomb(1 << 30)
    yield "deflate_garbage", deflated([("m/code/__torch__/m0.py", b"\xff" * 99, 9999, 0)], 1)
    yield "deflate_short", deflated([("m/code/__torch__/m0.py", b"\3\0", 9999, 0)], 1)
    yield "many_entries", named(*[f"m/extra/{i}" for i in range(65000)])
    yield "two_roots", named("n/data.pkl", "n/version")
    yield "no_root", zipped({k[2:]: v for k, v in entries().items()})
    yield "long_entry_name", named("m/extra/" + "n" * 65000)
    yield "name_nul", raw_name(b"m/extra/a\0b\x1b[2J\n")
    yield "name_not_utf8", raw_name(b"m/extra/\xff\xfe\x1b[31m")
    yield "name_dots", named("m/../../etc/passwd", "/m/x", "m//x", "m/./x", "..")
    yield "name_of_key", raw_name(b"m/data/\xc3\x28")


# ---- pickles made to hurt ----


def laughs(levels=40):
    """A tuple of ten of a tuple of ten …"""
    out = b"K\1q\0"
    for level in range(levels):
        out += b"(" + (b"h" + bytes([level])) * 10 + b"tq" + bytes([level + 1])
    return out


def laughing_lists(levels=40):
    out = b"]q\0"
    for level in range(levels):
        out += b"](" + (b"h" + bytes([level])) * 10 + b"eq" + bytes([level + 1])
    return out


def in_package(data):
    made = {
        "p/.data/version": "6\n",
        "p/.data/extern_modules": "collections\n",
        "p/model/model.pkl": data,
    }
    return zipped(made)


def cycle(kind):
    inner = instance("__torch__", "M", {})
    self_held = glob("__torch__", "M") + b")\x81q\5}(" + text("w") + kind + b"ub"
    return pickled(self_held if kind else inner)


def pickles():
    yield "tuples_1m", pickle_of(pickled(b")" + b"\x85" * 1_000_000))
    yield "lists_1m", pickle_of(pickled(b"]" * 1_000_000 + b"a" * 999_999))
    yield "dicts_deep", pickle_of(pickled(b"}" + b"K\1}" * 500_000 + b"s" * 500_000))
    yield "marks_1m", pickle_of(pickled(b"(" * 1_000_000))
    yield "dups", pickle_of(pickled(b"K\1" + b"2" * 5_000_000 + b"t"))
    yield "laughs", pickle_of(model_pickle(a=laughs()))
    yield "laughing_lists", pickle_of(model_pickle(a=laughing_lists()))
    yield "package_laughs", in_package(pickled(laughs()))
    yield "package_laughing_lists", in_package(pickled(laughing_lists()))
    yield "package_deep", in_package(pickled(b")" + b"\x85" * 1_000_000))
    yield "package_escape", in_package(pickled(text("\x1b]0;x\x07\n") + b"q\0"))
    yield "memo_far", pickle_of(pickled(b"K\1r\xff\xff\xff\xff"))
    yield "memo_far_get", pickle_of(pickled(b"j\xff\xff\xff\xff"))
    yield "memo_bomb", pickle_of(
        pickled(b"K\1" + b"".join(b"r" + struct.pack("<I", i * 977) for i in range(10**6))))
    yield "memo_text", pickle_of(pickled(b"K\1p99999999999999999999\n"))
    yield "long_4gb", pickle_of(pickled(b"\x8b\xff\xff\xff\x7f"))
    yield "long_negative", pickle_of(pickled(b"\x8b\xff\xff\xff\xff"))
    yield "long_1m", pickle_of(pickled(b"\x8b\x40\x42\x0f\0" + b"\xff" * 1_000_000))
    yield "unicode8", pickle_of(b"\x80\4\x8d" + b"\xff" * 8 + b"abc.")
    yield "bytes8", pickle_of(b"\x80\4\x8e" + struct.pack("<Q", 2**63) + b"abc.")
    yield "frame", pickle_of(b"\x80\4\x95" + struct.pack("<Q", 2**64 - 1) + b"N.")
    yield "string_50mb", pickle_of(model_pickle(a=text("a" * 20_000_000)))
    yield "text_not_utf8", pickle_of(model_pickle(a=text(b"\xff\xfe\x1b[31m")))
    yield "key_not_utf8", pickle_of(
        pickled(glob("__torch__", "M") + b")\x81}(" + text(b"\xff\x1b\n") + b"K\1ub"))
    yield "global_not_utf8", pickle_of(pickled(b"c\xff\xfe\n\x1b[31m\x07\n)R"))
    yield "class_absent", pickle_of(pickled(instance("__torch__.not.there", "\x1b[2J", {})))
    yield "protocol_9", pickle_of(b"\x80\x09N.")
    yield "no_module", pickle_of(pickled(b"N"))
    yield "module_is_tensor", pickle_of(pickled(tensor()))
    yield "self_held", pickle_of(cycle(b"h\5"))
    yield "self_in_list", pickle_of(cycle(b"](h\5e"))
    yield "build_number", pickle_of(pickled(b"K\1K\2b"))
    yield "setitems_odd", pickle_of(pickled(b"}(K\1K\2K\3u"))
    yield "dict_key_list", pickle_of(pickled(b"}](K\1eK\1s"))
    yield "keys_200k", pickle_of(
        pickled(b"}(" + b"".join(text(f"k{i}") + b"N" for i in range(200_000)) + b"u"))
    yield "reduce_deep", pickle_of(
        pickled(glob("collections", "OrderedDict") + b")R" + b"\x85" * 9 + b"R"))
    yield "persistent_number", pickle_of(pickled(b"K\1Q"))
    yield "persistent_text", pickle_of(pickled(b"Pabc\n"))
    yield "storage_short_tuple", pickle_of(pickled(tuple_of(text("storage")) + b"Q"))
    yield "storage_key_number", pickle_of(
        pickled(tuple_of(text("storage"), glob("torch", "FloatStorage"), number(0),
                         text("cpu"), number(4)) + b"Q"))
    yield "storage_key_escape", with_weight(held=storage(key="\x1b[2J\n"))
    yield "storage_count_2_62", with_weight(held=storage(count=2**62))
    yield "storage_count_2_70", with_weight(held=storage(count=2**70))
    yield "storage_negative", with_weight(held=storage(count=-1))
    yield "offset_negative", with_weight(offset=-1)
    yield "offset_past", with_weight(offset=2)
    yield "offset_2_62", with_weight(offset=2**62)
    yield "offset_2_64", with_weight(offset=2**64 + 1)
    yield "stride_overflow", with_weight(size=(2, 3), stride=(2**62, 2**62))
    yield "size_overflow", with_weight(size=(2**32, 2**32), stride=(0, 0))
    yield "size_zero_huge", with_weight(size=(0, 2**62, 2**62), stride=(1, 1, 1))
    yield "size_2_40", with_weight(size=(2**40,), stride=(0,))
    yield "size_negative", with_weight(size=(-2, -2), stride=(2, 1))
    yield "size_float", pickle_of(model_pickle(w=tensor().replace(b"K\2K\2t", b"G?\xf0" + b"\0" * 6 + b"K\2t", 1)))
    yield "rank_1000", with_weight(size=(1,) * 1000, stride=(1,) * 1000)
    yield "rank_64", with_weight(size=(1,) * 64, stride=(1,) * 64)
    yield "tensors_100k", pickle_of(
        model_pickle(a=b"](" + tensor() * 30_000 + b"e"))
    yield "constants_huge", zipped(
        entries(source("return torch.add(x, CONSTANTS.c0)"),
                constants=pickled(tuple_of(tensor(storage("9"))))))
    yield "constants_not_tuple", zipped(
        entries(source("return torch.add(x, CONSTANTS.c0)"), constants=pickled(b"K\1")))
    yield "quantised_bad", pickle_of(model_pickle(
        w=glob("torch._utils", "_rebuild_qtensor") + tuple_of(
            storage(kind="QInt8Storage"), number(0), numbers((2, 2)), numbers((2, 1)),
            tuple_of(glob("torch", "per_channel_affine"), tensor(), tensor(), number(99)),
            b"\x89", glob("collections", "OrderedDict") + b")R") + b"R"))
    yield "sparse_bad", pickle_of(model_pickle(
        w=glob("torch._utils", "_rebuild_sparse_tensor") + tuple_of(
            glob("torch", "sparse_coo"),
            tuple_of(tensor(), tensor(), numbers((-5, 2**62)))) + b"R"))


# ---- programs made to hurt ----


def nested_calls(levels=40):
    """f0 calls f1 twice, which calls f2 twice …"""
    out = "".join(
        f"def f{i}(x: Tensor) -> Tensor:\n"
        f"  return torch.add(__torch__.f{i + 1}(x, ), __torch__.f{i + 1}(x, ))\n"
        for i in range(levels))
    return out + f"def f{levels}(x: Tensor) -> Tensor:\n  return x\n"


def deep_recursion(depth):
    """A call inside of many brackets calls itself."""
    call = "__torch__.f(x, n, )"
    for _ in range(depth):
        call = f"torch.neg({call})"
    return f"def f(x: Tensor, n: int) -> Tensor:\n  return {call}\n"


def deep_blocks(depth, head, body):
    lines = [("  " * i) + head for i in range(depth)]
    return "\n".join(lines + ["  " * depth + body, "return x"])


def run_time_loops(depth):
    lines = ["n = int(torch.sum(x))"]
    lines += [("  " * i) + f"for i{i} in range(n):" for i in range(depth)]
    lines += ["  " * depth + "x = torch.add(x, 1)", "return x"]
    return "\n".join(lines)


LOOPS = {
    "while_true": "i = 0\nwhile True:\n  i = torch.add(i, 1)\nreturn x",
    "loop_2_62": "i = 0\nfor j in range(4611686018427387904):\n  i = j\nreturn x",
    "loop_nested": "i = 0\nfor a in range(100000):\n  for b in range(100000):\n"
                   "    i = b\nreturn x",
    "loop_of_ops": "for a in range(100000000):\n  x = torch.add(x, 1)\nreturn x",
    "loop_empty": "for a in range(4611686018427387904):\n  pass\nreturn x",
    "while_append": "l = annotate(List[int], [])\nwhile True:\n"
                    "  _0 = torch.append(l, 1)\nreturn x",
    "list_doubles": "l = [1]\nfor a in range(60):\n  l = torch.add(l, l)\nreturn x",
    "list_extends": "l = [1]\nfor a in range(60):\n  torch.extend(l, l)\nreturn x",
    "list_of_self": "l = annotate(List[List[int]], [])\nfor a in range(60):\n"
                    "  l = [l, l, l]\nreturn x",
    "list_times": "l = torch.mul([0], 1099511627776)\nreturn x",
    "range_list": "l = torch.list(torch.range(1099511627776))\nreturn x",
    "comprehension": "l = [i for i in range(1099511627776)]\nreturn x",
    "string_doubles": 's = "ab"\nfor a in range(60):\n  s = torch.add(s, s)\nreturn x',
    "string_times": 's = torch.mul("ab", 1099511627776)\nreturn x',
    "string_wide": 's = torch.ljust("ab", 1099511627776, " ")\nreturn x',
    "string_format": 's = torch.format("{:>999999999999}", 1)\nreturn x',
    "string_percent": 's = torch.percentFormat("%999999999999d", 1)\nreturn x',
    "string_replace": 's = "aaaaaaaaaaaaaaaa"\nfor a in range(12):\n'
                      "  s = torch.replace(s, \"a\", s)\nreturn x",
    "string_join": 's = "aaaaaaaaaa"\nfor a in range(20):\n'
                   "  s = torch.join(s, [s, s, s])\nreturn x",
    "dict_grows": "d = annotate(Dict[int, int], {})\nfor a in range(100000000):\n"
                  "  torch._set_item(d, a, a)\nreturn x",
    "cat_doubles": "for a in range(80):\n  x = torch.cat([x, x], 0)\nreturn x",
    "cat_wide": "l = annotate(List[Tensor], [])\nfor a in range(1000000):\n"
                "  _0 = torch.append(l, x)\nreturn torch.cat(l, 0)",
    "stack_rank": "for a in range(100):\n  x = torch.unsqueeze(x, 0)\nreturn x",
    "zeros_2_40": "return torch.add(x, torch.zeros([1099511627776]))",
    "zeros_overflow": "return torch.zeros([4294967296, 4294967296, 4294967296])",
    "arange_2_40": "return torch.arange(1099511627776)",
    "eye_2_20": "return torch.eye(1048576)",
    "chunk_2_40": "return torch.cat(torch.chunk(torch.zeros([1099511627776]), 1099511627776))",
    "unbind_many": "return torch.stack(torch.unbind(torch.zeros([100000000])))",
    "split_many": "return torch.cat(torch.split(torch.zeros([100000000]), 1))",
    "tolist": "l = annotate(List[int], torch.tolist(torch.arange(100000000)))\nreturn x",
    "item_loop": "for a in range(torch.len(torch.arange(100000000))):\n"
                 "  x = torch.add(x, a)\nreturn x",
    "repeat_huge": "return torch.repeat(x, [4294967296, 4294967296, 4294967296])",
    "expand_huge": "return torch.expand(torch.zeros([1]), [9223372036854775807])",
    "pad_huge": "return torch.constant_pad_nd(x, [9223372036854775807, 9223372036854775807], 0)",
    "one_hot_huge": "return torch.one_hot(torch.arange(10), 1099511627776)",
    "sort_huge": "l = torch.sorted([1])\nwhile torch.lt(torch.len(l), 1000000000):\n"
                 "  l = torch.add(l, l)\nreturn x",
    "ifs_2_30": "".join(
        f"if bool(torch.gt(torch.sum(x), {i})):\n  y{i} = x\nelse:\n  y{i} = torch.neg(x)\n"
        for i in range(3000)) + "return x",
    "loops_of_the_run": run_time_loops(60),
    "shapes_explode": "for a in range(60):\n  x = torch.reshape(x, [torch.add("
                      "torch.mul(torch.size(x, 0), torch.size(x, 1)), 1), -1])\nreturn x",
    "dims_explode": "n = torch.size(x, 0)\nfor a in range(200):\n"
                    "  n = torch.add(torch.mul(n, n), torch.size(x, 1))\n"
                    "return torch.zeros([n])",
}

CHAINS = {
    "unary_not": "b = " + "not " * 100_000 + "True\nreturn x",
    "unary_minus": "b = " + "-" * 100_000 + "1\nreturn x",
    "attributes": "b = self" + ".w" * 100_000 + "\nreturn x",
    "subscripts": "b = x" + "[0]" * 100_000 + "\nreturn x",
    "calls": "b = self" + "()" * 100_000 + "\nreturn x",
    "sums": "b = 1" + " + 1" * 1_000_000 + "\nreturn x",
    "ands": "b = True" + " and True" * 300_000 + "\nreturn x",
    "comparisons": "b = 1" + " < 2" * 300_000 + "\nreturn x",
    "ternaries": "b = 1" + " if True else 1" * 100_000 + "\nreturn x",
    "powers": "b = 1" + " ** 1" * 100_000 + "\nreturn x",
    "list_3m": "b = [" + "1, " * 3_000_000 + "]\nreturn x",
    "list_of_lists": "b = [" + "[1], " * 1_000_000 + "]\nreturn x",
    "list_of_texts": "b = [" + '"a", ' * 1_000_000 + "]\nreturn x",
    "dict_big": "b = {" + "".join(f"{i}: {i}, " for i in range(300_000)) + "}\nreturn x",
    "arguments_1m": "b = torch.add(" + "1, " * 1_000_000 + ")\nreturn x",
    "keywords_100k": "b = torch.add(x, " + "".join(f"a{i}=1, " for i in range(100_000)) + ")\nreturn x",
    "targets_100k": "a, " * 100_000 + "= [1]\nreturn x",
    "assigns_100k": "a = " * 100_000 + "1\nreturn x",
    "statements_1m": "a = 1\n" * 1_000_000 + "return x",
    "blocks_2k": deep_blocks(2_000, "if True:", "a = 1"),
    "loops_2k": deep_blocks(2_000, "for i in range(1):", "a = 1"),
    "string_10mb": 'a = "' + "a" * 10_000_000 + '"\nreturn x',
    "string_open": 'a = "abc\nreturn x',
    "string_escapes": 'a = "\\x' + "zz" * 10 + '"\nreturn x',
    "comment_10mb": "a = 1 # " + "c" * 10_000_000 + "\nreturn x",
    "float_digits": "a = 0." + "1" * 1_000_000 + "\nreturn x",
    "exponent": "a = 1e" + "9" * 1_000_000 + "\nreturn x",
    "blanks_10mb": "a = " + " " * 10_000_000 + "1\nreturn x",
    "not_utf8": "a = \udcff\udcfe\x1b[31m\nreturn x",
    "control": "a = \x1b[31m\x07\nreturn x",
    "name_control": "return torch.fro\x1b[31mb(x)",
    "name_1mb": "return torch." + "f" * 1_000_000 + "(x)",
    "text_as_name": 'return getattr(self, "\\x1b[2J\\n' + "f" * 100_000 + '")',
    "raises": 'ops.prim.RaiseException("\\x1b[2J\\n\\xff' + "f" * 100_000 + '")\nreturn x',
    "carriage": "a = 1\rb = 2\r\nreturn x\r",
    "backslashes": "a = \\\n" * 100_000 + "1\nreturn x",
    "dedent": "  a = 1\n b = 2\nreturn x",
    "annotate_deep": "a = annotate(" + "List[" * 100_000 + "int" + "]" * 100_000 + ", [])\nreturn x",
    "annotate_wide": "a = annotate(Tuple[" + "int, " * 1_000_000 + "], [])\nreturn x",
    "union_deep": "a = annotate(" + "Union[int, " * 1_000 + "str" + "]" * 1_000 + ", 1)\nreturn x",
    "lambda": "a = lambda: 1\nreturn x",
    "truth_of_many": "if bool(x):\n  pass\nreturn x",
    "truth_in_all": "return torch.all(x, 0, 0)",
    "number_of_many": "return torch.add(x, x, alpha=x)",
    "walrus": "a = (b := 1)\nreturn x",
    "import_in": "import os\nreturn x",
    "import_used": "import os.path as p\nreturn p.join(x)",
    "import_from": "from torch.nn import functional as F\nreturn F.relu(x)",
    "class_in": "class A(torch.nn.Linear):\n  a = 1\nreturn A(1, 2)(x)",
    "def_in": "def f(a, *b, **c):\n  return f(a)\nreturn f(x)",
    "super_in": "return super().forward(x)",
    "super_base": "return torch.nn.Module.forward(self, x)",
    "dict_of_self": "return self.__dict__",
    "set_self": "self.w = self\nself.y = x\nreturn self.y",
    "with_in": "with torch.no_grad():\n  a = x\nreturn a",
    "comprehended": "return [i for i in range(10 ** 9)]",
    "starred": "a, *b = [x, x]\nreturn [*b, *self][0]",
    "methods": "return x.relu.__call__.__self__",
    "exec": 'exec("import os")\nreturn x',
    "dunder": "return x.__class__.__bases__[0].__subclasses__()",
    "decorator": "@property\nreturn x",
    "global": "global a\nreturn x",
    "try": "try:\n  a = 1\nexcept:\n  a = 2\nreturn x",
}

ARITHMETIC = {
    "min_div": "a = torch.floordiv(-9223372036854775808, -1)\nreturn torch.add(x, a)",
    "min_mod": "a = torch.remainder(-9223372036854775808, -1)\nreturn torch.add(x, a)",
    "min_abs": "a = torch.abs(-9223372036854775808)\nreturn torch.add(x, a)",
    "min_neg": "a = torch.neg(-9223372036854775808)\nreturn torch.add(x, a)",
    "div_zero": "a = torch.floordiv(1, 0)\nreturn torch.add(x, a)",
    "mod_zero": "a = torch.remainder(1, 0)\nreturn torch.add(x, a)",
    "true_div_zero": "a = torch.div(1, 0)\nreturn torch.add(x, a)",
    "shift_far": "a = torch.__lshift__(1, 1000)\nreturn torch.add(x, a)",
    "shift_negative": "a = torch.__rshift__(1, -1)\nreturn torch.add(x, a)",
    "pow_huge": "a = torch.pow(10, 1000000000)\nreturn torch.add(x, a)",
    "mul_overflow": "a = torch.mul(9223372036854775807, 9223372036854775807)\nreturn torch.add(x, a)",
    "add_overflow": "a = torch.add(9223372036854775807, 1)\nreturn torch.add(x, a)",
    "float_to_int": "a = torch.Int(1e300)\nreturn torch.add(x, a)",
    "inf_to_int": 'a = torch.Int(torch.Float("inf"))\nreturn torch.add(x, a)',
    "nan_to_int": 'a = int(torch.Float("nan"))\nreturn torch.add(x, a)',
    "factorial": "a = torch.factorial(1000000000)\nreturn torch.add(x, a)",
    "range_zero": "for i in range(0, 10, 0):\n  x = torch.add(x, 1)\nreturn x",
    "range_overflow": "a = 0\nfor i in torch.range(-9223372036854775808, 9223372036854775807, 9223372036854775807):\n  a = i\nreturn x",
    "index_far": "a = [1][9223372036854775807]\nreturn x",
    "index_low": "a = [1][-9223372036854775808]\nreturn x",
    "slice_zero": "a = torch.slice([1, 2], 0, 2, 0)\nreturn x",
    "slice_far": "a = torch.slice([1, 2], -9223372036854775808, 9223372036854775807, 9223372036854775807)\nreturn x",
    "insert_far": "a = [1]\ntorch.insert(a, 9223372036854775807, 2)\nreturn x",
    "pop_empty": "a = annotate(List[int], [])\nb = torch.pop(a)\nreturn x",
    "tuple_far": "a = (1, 2)[9223372036854775807]\nreturn x",
    "text_far": 'a = "ab"[9223372036854775807]\nreturn x',
    "chr_far": "a = torch.chr(9223372036854775807)\nreturn x",
    "dict_of_lists": "a = {[1]: 2}\nreturn x",
    "dict_missing": 'a = {"a": 1}["b"]\nreturn x',
    "int_of_text": 'a = int("\x1b[31mx")\nreturn x',
}

SHAPES = {
    "view_two": "torch.view(x, [-1, -1])",
    "view_zero": "torch.view(x, [0, -1])",
    "view_low": "torch.view(x, [-9223372036854775808])",
    "view_overflow": "torch.view(x, [4294967296, 4294967296, 4294967296])",
    "transpose_far": "torch.transpose(x, 9223372036854775807, -9223372036854775808)",
    "permute_twice": "torch.permute(x, [0, 0])",
    "select_far": "torch.select(x, 0, 9223372036854775807)",
    "select_low": "torch.select(x, 0, -9223372036854775808)",
    "narrow_far": "torch.narrow(x, 0, 9223372036854775807, 9223372036854775807)",
    "slice_negative": "torch.slice(x, 0, 0, 2, -1)",
    "slice_step": "torch.slice(x, 0, 0, 2, 0)",
    "strided_low": "torch.as_strided(x, [2, 2], [-1, -1], 0)",
    "strided_far": "torch.as_strided(x, [9223372036854775807], [9223372036854775807], 9223372036854775807)",
    "strided_offset": "torch.as_strided(x, [2], [1], -100)",
    "unfold_far": "torch.unfold(x, 0, 9223372036854775807, 1)",
    "unfold_step": "torch.unfold(x, 0, 1, 0)",
    "conv_stride": "torch.conv1d(torch.zeros([1, 1, 9]), torch.zeros([1, 1, 3]), None, [0], [0], [1], 1)",
    "conv_pad": "torch.conv1d(torch.zeros([1, 1, 9]), torch.zeros([1, 1, 3]), None, [1], [9223372036854775807], [1], 1)",
    "conv_dilation": "torch.conv1d(torch.zeros([1, 1, 9]), torch.zeros([1, 1, 3]), None, [1], [0], [9223372036854775807], 1)",
    "conv_groups": "torch.conv1d(torch.zeros([1, 1, 9]), torch.zeros([1, 1, 3]), None, [1], [0], [1], 0)",
    "pool_zero": "torch.max_pool2d(torch.zeros([1, 1, 9, 9]), [0, 0], [0, 0], [0, 0], [1, 1], False)",
    "pool_far": "torch.avg_pool2d(torch.zeros([1, 1, 9, 9]), [9223372036854775807, 1], [1, 1], [0, 0], False, True, None)",
    "adaptive_low": "torch.adaptive_avg_pool2d(torch.zeros([1, 1, 9, 9]), [-1, 0])",
    "shuffle_zero": "torch.pixel_shuffle(torch.zeros([1, 4, 2, 2]), 0)",
    "upsample_nan": 'torch.upsample_nearest1d(torch.zeros([1, 1, 4]), None, [torch.Float("nan")])',
    "upsample_far": "torch.upsample_nearest1d(torch.zeros([1, 1, 4]), None, [1e300])",
    "arange_zero": "torch.arange(0, 10, 0)",
    "arange_nan": 'torch.arange(0, torch.Float("inf"), 1)',
    "linspace_low": "torch.linspace(0, 1, -1)",
    "full_low": "torch.full([-1], 1)",
    "repeat_low": "torch.repeat(x, [-1, 1])",
    "roll_far": "torch.roll(x, [9223372036854775807], [0])",
    "flip_twice": "torch.flip(x, [0, 0])",
    "cat_empty": "torch.cat(annotate(List[Tensor], []), 0)",
    "stack_empty": "torch.stack(annotate(List[Tensor], []), 0)",
    "einsum_far": 'torch.einsum("ij,jk->ik", '
                  '[torch.zeros([4294967296, 4]), torch.zeros([4, 4294967296])])',
    "einsum_junk": 'torch.einsum("\x1b[31m->", [x, x])',
    "pad_odd": "torch.pad(x, [1])",
    "pad_low": "torch.constant_pad_nd(x, [-9223372036854775808, -9223372036854775808], 0)",
    "topk_low": "(torch.topk(x, -1))[0]",
    "one_hot_low": "torch.one_hot(torch.arange(3), -5)",
    "tril_far": "torch.tril(x, 9223372036854775807)",
    "diag_far": "torch.diagonal(x, -9223372036854775808, 0, 1)",
    "tri_indices": "torch.tril_indices(4294967296, 4294967296, 0)",
    "softmax_dim": "torch.softmax(x, 9223372036854775807)",
    "sum_dims": "torch.sum(x, [0, 0, 0])",
    "norm_zero": "torch.layer_norm(x, annotate(List[int], []), None, None, 0.)",
    "norm_groups": "torch.group_norm(torch.zeros([1, 4, 2]), 0, None, None, 0.)",
    "embedding_rank": "torch.embedding(torch.zeros([4]), torch.arange(3))",
    "bag_offsets": "(torch.embedding_bag(torch.zeros([4, 4]), torch.arange(3), torch.arange(9)))[0]",
    "scatter_far": "torch.scatter(x, 0, torch.zeros([9, 9], dtype=4), 1.)",
    "quantize_zero": "torch.dequantize(torch.quantize_per_tensor(x, 0., 0, 13))",
    "quantize_nan": 'torch.dequantize(torch.quantize_per_tensor(x, torch.Float("nan"), 999999, 13))',
    "dtype_junk": "torch.to(x, 999)",
    "lstm_none": "(torch.lstm(x, annotate(List[Tensor], []), annotate(List[Tensor], []), True, 1000000000, 0., False, False, False))[0]",
    "meshgrid_many": "(torch.meshgrid([x, x, x]))[0]",
    "tensor_deep": "torch.tensor(" + "[" * 200 + "]" * 200 + ")",
    "index_many": "x[" + "0, " * 1000 + "]",
    "index_none": "x[" + "None, " * 1000 + "]",
}

TYPES = {
    "class_of_itself": ("  a : __torch__.M\n", ""),
    "classes_cross": ("  a : __torch__.N\n", "class N(Module):\n  a : __torch__.M\n  w : Tensor\n"),
    "tuple_of_itself": ("  a : __torch__.T\n", "class T(NamedTuple):\n  a : __torch__.T\n  b : int\n"),
    "bases_cross": ("", "class A(__torch__.B):\n  pass\nclass B(__torch__.A):\n  pass\n"),
    "class_twice": ("", "class N(Module):\n  pass\nclass N(Module):\n  pass\n"),
    "import_itself": ("", "import __torch__\nimport __torch__\n"),
    "attributes_100k": ("".join(f"  a{i} : int\n" for i in range(100_000)), ""),
    "functions_100k": ("", "".join(f"def f{i}(a: int) -> int:\n  return a\n" for i in range(100_000))),
    "classes_30k": ("", "".join(f"class C{i}(Module):\n  a : int\n" for i in range(30_000))),
    "type_deep": ("  a : " + "List[" * 100_000 + "int" + "]" * 100_000 + "\n", ""),
    "type_unknown": ("  a : \x1b[31mFrob\n", ""),
    "enum_of_itself": ("  a : __torch__.E\n", "class E(Enum):\n  A = __torch__.E.A\n"),
}


def in_code(code):
    made = entries()
    made["m/code/__torch__.py"] = code.encode("utf-8", "surrogateescape")
    return zipped(made)


def programs():
    for group in (LOOPS, CHAINS, ARITHMETIC):
        for name, body in group.items():
            yield name, in_code(source(body))
    for name, call in SHAPES.items():
        yield "shape_" + name, in_code(source(f"return {call}"))
    for name, (fields, before) in TYPES.items():
        yield "type_" + name, in_code(source("return x", fields, before))
    yield "calls_2_40", in_code(
        source("return __torch__.f0(x, )", before=nested_calls()))
    for depth in (1, 30, 240):
        yield f"recursion_{depth}", in_code(
            source("return __torch__.f(x, 1, )", before=deep_recursion(depth)))
    state = "  def __setstate__(self: __torch__.M, a: Tensor) -> None:\n" \
            "    while True:\n      self.w = torch.add(a, 1)\n    return None\n"
    yield "setstate_loop", zipped(entries(
        source("return x", state),
        pickled(glob("__torch__", "M") + b")\x81" + tensor() + b"b")))
    yield "empty_code", in_code("")
    yield "only_blanks", in_code(" \t\f\n" * 1000)
    yield "no_forward", in_code(CLASS)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for group in (containers, pickles, programs):
        for name, data in group():
            path = folder / f"{name}.pt"
            assert not path.exists(), name
            path.write_bytes(data)


main()
