# The model of the page.  SPDX-License-Identifier: Apache-2.0
cat >mlp.ig <<'MODEL'
module @mlp {
  graph @main(%x: f32[B, 4], %w1: f32[4, 5], %b1: f32[5], %w2: f32[5], %t: f32[B2]) -> (f32[] "loss") {
    %0 = matmul %x, %w1 : f32[B, 5]
    %1 = add %0, %b1 : f32[B, 5]
    %2 = relu %1 : f32[B, 5]
    %3 = matmul %2, %w2 : f32[B]
    %4 = sub %3, %t : f32[bcast(B, B2)]
    %5 = mul %4, %4 : f32[bcast(B, B2)]
    %6 = reduce %5 {op = mean} : f32[]
    ret %6
  }
}
MODEL

# A model with a table, and batches for it.
# lmdb:///var/lib/ => lmdb://
cat >dlrm.pt <<'MODEL'
module @m {
  weight @tables.t : f32[40, 8] = splat(0.01) {parameter}
  weight @w : f32[1, 8] = splat(0.5) {parameter}
  graph @main(%ids: i64[B]) -> (f32[B] "logit") {
    %0 = gather @tables.t, %ids {axis = 0} : f32[B, 8]
    %1 = matmul %0, @w {transpose_b} : f32[B, 1]
    %2 = reshape %1 {to = [B]} : f32[B]
    ret %2
  }
}
MODEL
mkdir batches
"$PYTHON" - <<'PY'
import struct, zipfile
def npy(kind, values):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': (4,), }" % kind
    return b"\x93NUMPY\1\0" + struct.pack("<H118s4" + {"i8": "q", "f4": "f"}[kind], 118,
                                            (head.ljust(117) + "\n").encode(), *values)
for i in range(3):
    with zipfile.ZipFile(f"batches/{i}.npz", "w") as archive:
        archive.writestr("ids.npy", npy("i8", [i, 7, 7, 39 - i]))
        archive.writestr("label.npy", npy("f4", [0, 1, 0, 1]))
PY
