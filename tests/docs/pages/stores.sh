# A model with a table.  SPDX-License-Identifier: Apache-2.0
# lmdb:///tmp/ => lmdb://rows_of/
# lmdb:///var/lib/ => lmdb://served/
mkdir rows_of served
cat >dlrm.pt <<'IG'
module @m {
  weight @ebc.users.weight : f32[3, 2] = [1, 2, 3, 4, 5, 6]
  graph @main(%i: i64[N]) {
    %a = gather @ebc.users.weight, %i {axis = 0} : f32[N, 2]
    ret %a
  }
}
IG
"$PYTHON" - <<'PY'
import struct, zipfile
head = "{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }".ljust(117) + "\n"
with zipfile.ZipFile("batch.npz", "w") as archive:
    archive.writestr("i.npy", b"\x93NUMPY\1\0" + struct.pack("<H118s4q", 118, head.encode(),
                                                           0, 1, 2, 0))
PY
