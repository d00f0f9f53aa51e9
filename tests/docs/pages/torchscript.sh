# An archive of one layer, a case, a package.  SPDX-License-Identifier: Apache-2.0
# CASE… => Acts
# run     model.pt --input … => run model.pt --input 'x=f32[3,16]=random'
# --input … => --input 'x=f32[B, 16]'
# x=f32[B, 8] => x=f32[B, 4]
cp "$ROOT/tests/docs/models/linear.pt" model.pt
tar -xf "$ROOT/tests/models/plain.tar.xz" --strip-components=2 plain/all/Acts
cp Acts/package.pt .
