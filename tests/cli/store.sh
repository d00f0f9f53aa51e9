# Stores from the command line.  SPDX-License-Identifier: Apache-2.0

url=lmdb://$tmp/rows.mdb
if attempt "$ingot" store put "lmdb://$tmp/probe.mdb" users 1 1; then
    # What only reads makes no store: a path that is spelt otherwise is an error.
    check "no store, no answer" 6 "No such file" "$ingot" store ping "$url"
    check "no store, no cells" 6 "No such file" "$ingot" store get "$url" users 7
    check "no store, no tables" 6 "No such file" "$ingot" store scan "$url"
    check "no store, nothing to remove" 6 "No such file" "$ingot" store erase "$url" users 7
    check "no store, nothing to copy" 6 "No such file" \
        "$ingot" store copy "$url" "lmdb://$tmp/probe.mdb"
    check "below others too" 6 "No such file" "$ingot" store scan "tiered://9/$url"
    holds "and none of them made it" absent "$tmp/rows.mdb"
    : >"$tmp/empty.mdb"
    check "an empty file is none either" 3 "not a store that Ingot made" \
        "$ingot" store scan "lmdb://$tmp/empty.mdb"
    check "a cell is written" 0 "" "$ingot" store put "$url" users 7 0.5,-1,3e9
    check "a store answers" 0 "the store answers" "$ingot" store ping "$url"
    check "an absent cell is told" 1 "users 8: absent" "$ingot" store get "$url" users 8
    check "and read" 0 "users 7: f32[3] 0.5, -1, 3e+09" "$ingot" store get "$url" users 7
    printf 'abcde' >"$tmp/five"
    check "bytes of a file too" 0 "" \
        "$ingot" store put "$url" users --state 2 --column 3 -- -9 "@$tmp/five"
    check "by state and column" 0 "users -9 column 3 state 2: 5 bytes" \
        "$ingot" store get "$url" users --state 2 --column 3 -- -9
    check "a table of tables" 0 "users: 2 cells, 17 bytes, ids -9 … 7" \
        "$ingot" store scan "$url"
    check "a table whose name begins with another's" 0 "" \
        "$ingot" store put "lmdb://$tmp/names.mdb" userss 1 1
    check "beside it" 0 "" "$ingot" store put "lmdb://$tmp/names.mdb" users 1 1
    "$ingot" store scan "lmdb://$tmp/names.mdb" users >"$tmp/a"
    holds "is not of it" test "$(grep -c users "$tmp/a") $(grep -c userss "$tmp/a")" = "1 0"
    check "a copy" 0 "2 cells, 17 bytes" "$ingot" store copy "$url" "lmdb://$tmp/copy.mdb"
    "$ingot" store scan "$url" users --json >"$tmp/a"
    "$ingot" store scan "lmdb://$tmp/copy.mdb" users --json >"$tmp/b"
    holds "holds the same" cmp "$tmp/a" "$tmp/b"
    holds "as JSON" "$python" -m json.tool "$tmp/a"
    check "a cell is removed" 0 "" "$ingot" store erase "$url" users 7
    check "and gone" 1 "absent" "$ingot" store get "$url" users 7
    check "a store is timed" 0 "rows/s" "$ingot" store bench "$url?sync=no"
    "$ingot" store bench "$url?sync=no" --json >"$tmp/a"
    holds "as JSON too" "$python" -m json.tool "$tmp/a"
    cat >"$tmp/users.ig" <<'TEXT'
module @m {
weight @ebc.users.weight : f32[3, 2] = [1, 2, 3, 4, 5, 6]
weight @ebc.items.weight : f32[2, 2] = [7, 8, 9, 10]
weight @bias : f32[2] = [1, 2]
graph @main(%i: i64[N]) {
%a = gather @ebc.users.weight, %i {axis = 0} : f32[N, 2]
%b = gather @ebc.items.weight, %i {axis = 0} : f32[N, 2]
%c = add %a, %b : f32[N, 2]
%d = add %c, @bias : f32[N, 2]
ret %d
}
}
TEXT
    check "a table of a model" 0 "ebc.users.weight: 3 rows of 8 bytes" \
        "$ingot" store load "$url" "$tmp/users.ig" users
    check "row by row" 0 "ebc.users.weight 2: f32[2] 5, 6" \
        "$ingot" store get "$url" ebc.users.weight 0 1 2
    check "as JSON" 0 '"rows": 2, "row_bytes": 8' \
        "$ingot" store load --json "$url" "$tmp/users.ig" ebc.items.weight
    check "no such table" 3 "no weight of the model is 'clicks'; it has 'ebc.users" \
        "$ingot" store load "$url" "$tmp/users.ig" clicks
    check "a table that is not clear" 3 "more than one weight of the model is 'ebc'" \
        "$ingot" store load "$url" "$tmp/users.ig" ebc
    check "no table" 4 "weight 'bias' is not a table" \
        "$ingot" store load "$url" "$tmp/users.ig" bias
    printf '%s\n' 'module @m {' 'weight @ebc.users.weight : f32[3, 2] = [1, 2, 3, 4, 5, 6]' \
        'weight @ebc.items.weight : f32[2, 2] = [7, 8, 9, 10]' 'graph @main(%i: i64[N]) {' \
        '%a = gather @ebc.users.weight, %i {axis = 0} : f32[N, 2]' \
        '%b = bag @ebc.items.weight, %i {operands = [0], pool = [none], padding = [0]}' \
        '%c = add %a, %b : f32[N, 2]' 'ret %c' '}' '}' >"$tmp/two.ig"
    check "a model's tables stay in a store" 0 "2 launches" "$ingot" compile "$tmp/two.ig" \
        -o "$tmp/two.ingot" --store "ebc.items.weight=$url" --store "*=$url"
    "$ingot" run "$tmp/two.ig" --input i='i64[4]=0,1,-1,0' >"$tmp/a"
    "$ingot" run "$tmp/two.ingot" --input i='i64[4]=0,1,-1,0' >"$tmp/b"
    holds "and it answers as before" cmp "$tmp/a" "$tmp/b"
    "$ingot" run "$tmp/two.ig" --input i='i64[4]=0,1,-1,0' --outputs "$tmp/two"
    mkdir "$tmp/two_in"
    "$python" - "$tmp/two_in/i.npy" <<'PY'
import struct, sys
head = "{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }".ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\1\0" + struct.pack("<H118s4q", 118, head.encode(), 0, 1, -1, 0))
PY
    check "as verify says" 0 "1 passed" "$ingot" verify "$tmp/two.ingot" \
        --inputs "$tmp/two_in" --expected "$tmp/two"
    check "an id out of range is named" 3 "id 2 is out of range: table 'ebc.items.weight'" \
        "$ingot" run "$tmp/two.ingot" --input i='i64[1]=2'
    check "another store, with a row for what it lacks" 0 "1 1" "$ingot" run \
        "$tmp/two.ingot" --store '*=memory://' --missing '*=0.5' --input i='i64[1]=1'
    check "a store that is not there" 6 "No such file" "$ingot" run "$tmp/two.ingot" \
        --store "*=lmdb://$tmp/typo.mdb" --input i='i64[1]=1'
    holds "is not made" absent "$tmp/typo.mdb"
    for how in "run" "bench --seconds 0.01"; do
        # shellcheck disable=SC2086
        check "a store without the table: ${how%% *}" 3 \
            "its store has no row of a table of that name" "$ingot" $how "$tmp/two.ingot" \
            --store "*=lmdb://$tmp/copy.mdb" --input i='i64[1]=1'
    done
    check "nor does one in memory have it" 3 "table 'ebc" "$ingot" run "$tmp/two.ingot" \
        --store '*=memory://' --input i='i64[1]=1'
    check "unless a row is named for what it lacks" 0 "1 1" "$ingot" run "$tmp/two.ingot" \
        --store "*=lmdb://$tmp/copy.mdb" --missing '*=0.5' --input i='i64[1]=1'
    attempt "$ingot" store copy "$url" "lmdb://$tmp/part.mdb"
    attempt "$ingot" store erase "lmdb://$tmp/part.mdb" ebc.users.weight 1
    check "an id that a table of the store lacks is a row of zeros" 0 "9 10" "$ingot" run \
        "$tmp/two.ingot" --store "*=lmdb://$tmp/part.mdb" --input i='i64[2]=0,1'
    check "a row of another size" 3 "" "$ingot" run "$tmp/two.ingot" \
        --missing '*=1,2,3' --input i='i64[1]=1'
    check "a pattern that fits nothing" 3 "no table 'clicks'" "$ingot" run \
        "$tmp/two.ingot" --store 'clicks=memory://' --input i='i64[1]=1'
    check "calls are timed, with batches ahead" 0 "calls/s" "$ingot" bench "$tmp/two.ingot" \
        --input i='i64[4]=0,1,1,0' --seconds 0.1 --ahead 3 --trace "$tmp/trace"
    holds "and traced" sh -c "'$python' -m json.tool '$tmp/trace' >/dev/null"
    check "steps are not profiled" 4 "ingot bench --trace" \
        "$ingot" profile "$tmp/two.ingot" --input i='i64[1]=1'
    check "no table is named so" 3 "looks up no weight that fits" "$ingot" compile \
        "$tmp/two.ig" -o "$tmp/none.ingot" --store "clicks*=$url"
    check "a store needs a URL" 2 "takes TABLE=URL" "$ingot" compile "$tmp/two.ig" \
        -o "$tmp/none.ingot" --store users
    check "of some type" 3 "TYPE://" "$ingot" compile "$tmp/two.ig" \
        -o "$tmp/none.ingot" --store users=rows.mdb
    check "a store that is away" 6 "table 'ebc" "$ingot" run "$tmp/two.ingot" \
        --store "*=lmdb://$tmp" --input i='i64[1]=1'
    check "no copy to itself" 2 "to itself" "$ingot" store copy "$url" "$url"
    check "a deadline" 5 "deadline has passed" "$ingot" store ping "$url" --timeout 0
    check "a folder is no store" 6 "this is a folder" "$ingot" store ping "lmdb://$tmp"
else
    skip "stores in LMDB" "$(head -1 "$tmp/out")"
fi
attempt "$ingot" store ping "redis://$tmp/nobody" || true
if grep -q 'no stores of type' "$tmp/out"; then
    skip "stores in Redis" "$(head -1 "$tmp/out")"
else
    check "nobody listens" 6 "nobody: No such file" "$ingot" store ping "redis://$tmp/nobody"
    check "an option of Redis" 3 "unknown option" "$ingot" store ping "redis://h/?x=1"
    check "no Redis in words" 3 "names no server" "$ingot" store ping "redis://u:hunter2@"
    holds "without its password" sh -c "! grep -q hunter2 '$tmp/out'"
fi
plugin=$build/unit/libtest_store_v1.so
if [ -e "$plugin" ]; then
    check "a plug-in's type" 0 "the store answers" \
        "$ingot" store ping toy1:// --plugin "$plugin"
    check "what it cannot do" 4 "cannot list their cells" \
        "$ingot" store scan toy1:// --plugin "$plugin"
fi
check "an unknown type" 4 "there are no stores of type 'foo'" "$ingot" store ping foo://x
check "no URL" 3 "is not the URL of a store" "$ingot" store ping x
check "no command" 2 "takes ping, get" "$ingot" store frob memory://
check "too few arguments" 2 "takes other arguments" "$ingot" store get memory:// t
check "an id is a number" 2 "not 'x7'" "$ingot" store get memory:// t x7
check "values are numbers" 2 "is not a number" "$ingot" store put memory:// t 7 1,,2
check "a failure as JSON" 4 '"exit_status": 4' "$ingot" store ping foo://x --json
check "passwords are hidden" 4 "" "$ingot" store ping foo://user:hunter2@host
holds "in every message" sh -c "! grep -q hunter2 '$tmp/out'"
