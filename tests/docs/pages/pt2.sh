# An exported program of one layer.  SPDX-License-Identifier: Apache-2.0
cp "$ROOT/tests/docs/models/linear.pt2" model.pt2
