# ---- bufferise ----
# bufferise: elementwise results and inserts go to the argument behind commit; a result that
# others read, or that is another argument, is computed first and copied there.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4], %b: f32[4], %w: f32[4], %m: f32[4], %g: f32[4], %c: f32[8, 4], %r: f32[2, 4]) -> (f32[4] "a1", f32[4] "b1", f32[4] "w1", f32[4] "m1", f32[8, 4] "c1", f32[4] "old") {
    %0 = mul %m, %g : f32[4]
    %1 = sub %w, %0 : f32[4]
    %2 = insert %c, %r {starts = [2, 0]} : f32[8, 4]
    ret %b, %a, %1, %0, %2, %w {in_place = [0, 1, 2, 3, 5, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %a: f32[4],
      %b: f32[4],
      %w: f32[4],
      %m: f32[4],
      %g: f32[4],
      %c: f32[8, 4],
      %r: f32[2, 4]) -> (f32[4] "a1", f32[4] "b1", f32[4] "w1", f32[4] "m1", f32[8, 4] "c1", &f32[4] "old") {
    %0 = alloc : &f32[4]
    compute %m, %g, %0 {family = "map", outs = 1} (%1: f32[4], %2: f32[4]) {
      %3 = mul %1, %2 : f32[4]
      yield %3
    }
    %4 = view %c {offset = 8, strides = [4, 1]} : &f32[2, 4]
    %5 = alloc : &f32[4]
    compute %w, %5 {family = "copy", outs = 1} (%6: f32[4]) {
      yield %6
    }
    %7 = alloc : &f32[4]
    compute %b, %7 {family = "copy", outs = 1} (%8: f32[4]) {
      yield %8
    }
    %9 = alloc : &f32[4]
    compute %a, %9 {family = "copy", outs = 1} (%10: f32[4]) {
      yield %10
    }
    commit
    compute %w, %0, %w {family = "map", outs = 1} (%11: f32[4], %12: f32[4]) {
      %13 = sub %11, %12 : f32[4]
      yield %13
    }
    compute %r, %4 {family = "copy", outs = 1} (%14: f32[2, 4]) {
      yield %14
    }
    compute %7, %a {family = "copy", outs = 1} (%15: f32[4]) {
      yield %15
    }
    compute %9, %b {family = "copy", outs = 1} (%16: f32[4]) {
      yield %16
    }
    compute %0, %m {family = "copy", outs = 1} (%17: f32[4]) {
      yield %17
    }
    ret %a, %b, %w, %m, %c, %5 {in_place = [0, 1, 2, 3, 5, -1]}
  }
}
# ---- cache ----
# bufferise: what reads a cache after its rows were replaced stands behind commit, with all
# that needs it; indices of a later layer's are checked in front.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%k: f32[B, T, 4], %v: f32[B, T, 4], %p: i64[B], %x: f32[B, 1, 4]) -> (f32[B, T, 4] "k1", f32[B, T, 4] "v1", f32[B, 1, 8] "y") {
    %0 = reshape %p {to = [B, 1, 1]} : i64[B, 1, 1]
    %1 = expand %0 {to = [B, 1, 4]} : i64[B, 1, 4]
    %2 = sin %x : f32[B, 1, 4]
    %3 = scatter_elements %k, %1, %2 {axis = 1} : f32[B, T, 4]
    %4 = matmul %x, %3 {transpose_b} : f32[B, 1, T]
    %5 = softmax %4 {axis = 2} : f32[B, 1, T]
    %6 = matmul %5, %3 : f32[B, 1, 4]
    %7 = scatter_elements %v, %1, %6 {axis = 1} : f32[B, T, 4]
    %8 = transpose %7 {perm = [0, 2, 1]} : f32[B, 4, T]
    %9 = matmul %x, %8 : f32[B, 1, T]
    %10 = matmul %9, %7 : f32[B, 1, 4]
    %11 = concat %10, %2 {axis = 2} : f32[B, 1, 8]
    ret %3, %7, %11 {in_place = [0, 1, -1]}
  }
}
# expect:
module @m {
  plan @main(%k: f32[B, T, 4], %v: f32[B, T, 4], %p: i64[B], %x: f32[B, 1, 4]) -> (f32[B, T, 4] "k1", f32[B, T, 4] "v1", &f32[B, 1, 8] "y") {
    %0 = alloc : &f32[B, 1, 8]
    %1 = view %0 {offset = 4, strides = [8, 8, 1]} : &f32[B, 1, 4]
    compute %x, %1 {family = "map", outs = 1} (%2: f32[B, 1, 4]) {
      %3 = sin %2 : f32[B, 1, 4]
      yield %3
    }
    %4 = view %p {offset = 0, strides = [1, 1, 0]} : &i64[B, 1, 4]
    %5 = view %0 {offset = 4, strides = [8, 8, 1]} : &f32[B, 1, 4]
    %6 = alloc : &i64[B, 1, 4]
    compute %4, %6 {family = "scatter", outs = 1} (%7: i64[B, 1, 4]) {
      %8 = check_index %7 {extents = [T]} : i64[B, 1, 4]
      yield %8
    }
    %9 = alloc : &f32[B, 1, T]
    %10 = alloc : &f32[B, 1, T]
    %11 = alloc : &f32[B, 1, 4]
    %12 = view %p {offset = 0, strides = [1, 1, 0]} : &i64[B, 1, 4]
    %13 = alloc : &i64[B, 1, 4]
    compute %12, %13 {family = "scatter", outs = 1} (%14: i64[B, 1, 4]) {
      %15 = check_index %14 {extents = [T]} : i64[B, 1, 4]
      yield %15
    }
    %16 = alloc : &f32[B, 1, T]
    commit
    compute %k, %6, %5, %k {family = "scatter", outs = 1} (%17: f32[B, T, 4], %18: i64[B, 1, 4], %19: f32[B, 1, 4]) {
      %20 = scatter_elements %17, %18, %19 {axis = 1, in_place, is_checked} : f32[B, T, 4]
      yield %20
    }
    %21 = view %k {offset = 0, strides = [4*T, 4, 1]} : &f32[B, T, 4]
    compute %x, %21, %9 {family = "dot", outs = 1} (%22: f32[B, 1, 4], %23: f32[B, T, 4]) {
      %24 = matmul %22, %23 {transpose_b} : f32[B, 1, T]
      yield %24
    }
    compute %9, %10 {family = "softmax", outs = 1} (%25: f32[B, 1, T]) {
      %26 = softmax %25 {axis = 2} : f32[B, 1, T]
      yield %26
    }
    %27 = view %k {offset = 0, strides = [4*T, 4, 1]} : &f32[B, T, 4]
    compute %10, %27, %11 {family = "dot", outs = 1} (%28: f32[B, 1, T], %29: f32[B, T, 4]) {
      %30 = matmul %28, %29 : f32[B, 1, 4]
      yield %30
    }
    compute %v, %13, %11, %v {family = "scatter", outs = 1} (%31: f32[B, T, 4], %32: i64[B, 1, 4], %33: f32[B, 1, 4]) {
      %34 = scatter_elements %31, %32, %33 {axis = 1, in_place, is_checked} : f32[B, T, 4]
      yield %34
    }
    %35 = view %v {offset = 0, strides = [4*T, 1, 4]} : &f32[B, 4, T]
    compute %x, %35, %16 {family = "dot", outs = 1} (%36: f32[B, 1, 4], %37: f32[B, 4, T]) {
      %38 = matmul %36, %37 : f32[B, 1, T]
      yield %38
    }
    %39 = view %v {offset = 0, strides = [4*T, 4, 1]} : &f32[B, T, 4]
    %40 = view %0 {offset = 0, strides = [8, 8, 1]} : &f32[B, 1, 4]
    compute %16, %39, %40 {family = "dot", outs = 1} (%41: f32[B, 1, T], %42: f32[B, T, 4]) {
      %43 = matmul %41, %42 : f32[B, 1, 4]
      yield %43
    }
    ret %k, %v, %0 {in_place = [0, 1, -1]}
  }
}
# ---- cache_old ----
# bufferise: an old value that is read behind the scatter in the text, or returned, keeps the
# new one in a buffer of its own; so does a view of it that is a result.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", f32[T] "y") {
    %0 = scatter_elements %k, %p, %x {axis = 0} : f32[T]
    %1 = mul %0, %k : f32[T]
    ret %0, %1 {in_place = [0, -1]}
  }
  graph @view(%k: f32[4], %p: i64[1], %x: f32[1]) -> (f32[4] "k1", f32[2, 2] "y") {
    %0 = scatter_elements %k, %p, %x {axis = 0} : f32[4]
    %1 = reshape %0 {to = [2, 2]} : f32[2, 2]
    ret %0, %1 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", &f32[T] "y") {
    %0 = alloc : &f32[T]
    compute %k, %p, %x, %0 {family = "scatter", outs = 1} (%1: f32[T], %2: i64[1], %3: f32[1]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[T]
      yield %4
    }
    %5 = alloc : &f32[T]
    compute %0, %k, %5 {family = "map", outs = 1} (%6: f32[T], %7: f32[T]) {
      %8 = mul %6, %7 : f32[T]
      yield %8
    }
    commit
    compute %0, %k {family = "copy", outs = 1} (%9: f32[T]) {
      yield %9
    }
    ret %k, %5 {in_place = [0, -1]}
  }
  plan @view(%k: f32[4], %p: i64[1], %x: f32[1]) -> (f32[4] "k1", &f32[2, 2] "y") {
    %0 = alloc : &f32[4]
    compute %k, %p, %x, %0 {family = "scatter", outs = 1} (%1: f32[4], %2: i64[1], %3: f32[1]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[4]
      yield %4
    }
    %5 = alloc : &f32[2, 2]
    %6 = view %0 {offset = 0, strides = [2, 1]} : &f32[2, 2]
    compute %6, %5 {family = "copy", outs = 1} (%7: f32[2, 2]) {
      yield %7
    }
    commit
    compute %0, %k {family = "copy", outs = 1} (%8: f32[4]) {
      yield %8
    }
    ret %k, %5 {in_place = [0, -1]}
  }
}
# ---- cache_unsure ----
# bufferise: what reads a cache and reports keeps the cache's new value in front of commit;
# so does a read of the old value that comes later.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", f32[1] "y") {
    %0 = scatter_elements %k, %p, %x {axis = 0} : f32[T]
    %1 = gather %0, %p {axis = 0} : f32[1]
    ret %0, %1 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", &f32[1] "y") {
    %0 = alloc : &f32[T]
    compute %k, %p, %x, %0 {family = "scatter", outs = 1} (%1: f32[T], %2: i64[1], %3: f32[1]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[T]
      yield %4
    }
    %5 = alloc : &f32[1]
    compute %0, %p, %5 {family = "gather", outs = 1} (%6: f32[T], %7: i64[1]) {
      %8 = gather %6, %7 {axis = 0} : f32[1]
      yield %8
    }
    commit
    compute %0, %k {family = "copy", outs = 1} (%9: f32[T]) {
      yield %9
    }
    ret %k, %5 {in_place = [0, -1]}
  }
}
# ---- divides ----
# bufferise: a division of integers may be by 0, which is found before commit.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: i32[4], %b: i32[4], %c: f32[4], %d: f32[4]) -> (i32[4], f32[4]) {
    %0 = div %a, %b : i32[4]
    %1 = div %c, %d : f32[4]
    ret %0, %1 {in_place = [0, 2]}
  }
}
# expect:
module @m {
  plan @main(%a: i32[4], %b: i32[4], %c: f32[4], %d: f32[4]) -> (i32[4], f32[4]) {
    %0 = alloc : &i32[4]
    compute %a, %b, %0 {family = "map", outs = 1} (%1: i32[4], %2: i32[4]) {
      %3 = div %1, %2 : i32[4]
      yield %3
    }
    commit
    compute %c, %d, %c {family = "map", outs = 1} (%4: f32[4], %5: f32[4]) {
      %6 = div %4, %5 : f32[4]
      yield %6
    }
    compute %0, %a {family = "copy", outs = 1} (%7: i32[4]) {
      yield %7
    }
    ret %a, %c {in_place = [0, 2]}
  }
}
# ---- extents ----
# bufferise: a guard makes sure that a result has the extents of the argument it stands in.
# run: fuse,bufferise
# then: lower
# refuses: inputs of other extents
module @m {
  graph @main(%a: f32[A], %b: f32[B]) -> (f32[B] "next") {
    %0 = neg %b : f32[B]
    ret %0 {in_place = [0]}
  }
}
# expect:
module @m {
  plan @main(%a: f32[A], %b: f32[B]) -> (f32[A] "next") {
    %0 = alloc : &f32[B]
    compute %b, %0 {family = "map", outs = 1} (%1: f32[B]) {
      %2 = neg %1 : f32[B]
      yield %2
    }
    guard eq(A, B) "dim 0 of 'next' is that of the input whose memory it shares"
    commit
    %3 = view %a {offset = 0, strides = [1]} : &f32[B]
    compute %0, %3 {family = "copy", outs = 1} (%4: f32[B]) {
      yield %4
    }
    ret %a {in_place = [0]}
  }
}
# ---- nothing ----
# bufferise: a result that is its argument is not written.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4]) -> (f32[4], f32[4]) {
    %0 = neg %a : f32[4]
    ret %a, %0 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(%a: f32[4]) -> (f32[4], &f32[4]) {
    %0 = alloc : &f32[4]
    compute %a, %0 {family = "map", outs = 1} (%1: f32[4]) {
      %2 = neg %1 : f32[4]
      yield %2
    }
    commit
    ret %a, %0 {in_place = [0, -1]}
  }
}
# ---- order ----
# order: launches behind commit stay there, those in front of it are sorted.
# run: fuse,bufferise,order,tile_rows
# then: lower
module @m {
  graph @main(%table: f32[V, 8], %d: f32[V, 8], %x: f32[B]) -> (f32[8], f32[V, 8], f32[B]) {
    %0 = exp %d : f32[V, 8]
    %1 = reduce %0 {op = sum, axes = [0]} : f32[8]
    %2 = reduce %table {op = sum, axes = [0]} : f32[8]
    %3 = add %1, %2 : f32[8]
    %4 = add %table, %d : f32[V, 8]
    %5 = exp %x : f32[B]
    ret %3, %4, %5 {in_place = [-1, 0, -1]}
  }
}
# expect:
module @m {
  plan @main(%table: f32[V, 8], %d: f32[V, 8], %x: f32[B]) -> (&f32[8], f32[V, 8], &f32[B]) {
    %0 = alloc : &f32[V, 8]
    %1 = alloc : &f32[8]
    %2 = alloc : &f32[8]
    %3 = alloc : &f32[8]
    %4 = alloc : &f32[B]
    compute %d, %0 {family = "map", outs = 1} (%5: f32[V, 8]) {
      %6 = exp %5 : f32[V, 8]
      yield %6
    }
    compute %table, %2 {family = "reduce", outs = 1} (%7: f32[V, 8]) {
      %8 = reduce %7 {op = sum, axes = [0]} : f32[8]
      yield %8
    }
    compute %x, %4 {family = "map", outs = 1} (%9: f32[B]) {
      %10 = exp %9 : f32[B]
      yield %10
    }
    compute %0, %1 {family = "reduce", outs = 1} (%11: f32[V, 8]) {
      %12 = reduce %11 {op = sum, axes = [0]} : f32[8]
      yield %12
    }
    compute %1, %2, %3 {family = "map", outs = 1} (%13: f32[8], %14: f32[8]) {
      %15 = add %13, %14 : f32[8]
      yield %15
    }
    commit
    compute %table, %d, %table {family = "map", outs = 1} (%16: f32[V, 8], %17: f32[V, 8]) {
      %18 = add %16, %17 : f32[V, 8]
      yield %18
    }
    ret %3, %table, %4 {in_place = [-1, 0, -1]}
  }
}
# ---- scatter ----
# bufferise: scatters go to the argument behind commit, and change its part alone; their
# indices are made into rows before. Who reads the argument reads it before, too.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%t: f32[V, 4], %i: i32[B, 4], %u: f32[B, 4], %j: i64[C, 2], %z: f32[C]) -> (f32[V, 4] "next", f32[B, 4] "old") {
    %0 = gather_elements %t, %i {axis = 0} : f32[B, 4]
    %1 = mul %0, %u : f32[B, 4]
    %2 = scatter_elements %t, %i, %1 {axis = -2, reduce = add} : f32[V, 4]
    %3 = scatter_nd %2, %j, %z {negative = error} : f32[V, 4]
    ret %3, %0 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %t: f32[V, 4],
      %i: i32[B, 4],
      %u: f32[B, 4],
      %j: i64[C, 2],
      %z: f32[C]) -> (f32[V, 4] "next", &f32[B, 4] "old") {
    %0 = alloc : &f32[B, 4]
    compute %t, %i, %0 {family = "gather", outs = 1} (%1: f32[V, 4], %2: i32[B, 4]) {
      %3 = gather_elements %1, %2 {axis = 0} : f32[B, 4]
      yield %3
    }
    %4 = alloc : &f32[B, 4]
    compute %0, %u, %4 {family = "map", outs = 1} (%5: f32[B, 4], %6: f32[B, 4]) {
      %7 = mul %5, %6 : f32[B, 4]
      yield %7
    }
    %8 = alloc : &i64[B, 4]
    compute %i, %8 {family = "scatter", outs = 1} (%9: i32[B, 4]) {
      %10 = check_index %9 {extents = [V]} : i64[B, 4]
      yield %10
    }
    %11 = alloc : &i64[C, 2]
    compute %j, %11 {family = "scatter", outs = 1} (%12: i64[C, 2]) {
      %13 = check_index %12 {extents = [V, 4], negative = error} : i64[C, 2]
      yield %13
    }
    commit
    compute %t, %8, %4, %t {family = "scatter", outs = 1} (%14: f32[V, 4], %15: i64[B, 4], %16: f32[B, 4]) {
      %17 = scatter_elements %14, %15, %16 {axis = -2, reduce = add, in_place, is_checked} : f32[V, 4]
      yield %17
    }
    compute %t, %11, %z, %t {family = "scatter", outs = 1} (%18: f32[V, 4], %19: i64[C, 2], %20: f32[C]) {
      %21 = scatter_nd %18, %19, %20 {negative = error, in_place, is_checked} : f32[V, 4]
      yield %21
    }
    ret %t, %0 {in_place = [0, -1]}
  }
}
# ---- scatter_dead ----
# bufferise: a scatter stands where its first operand was computed, when who else reads that
# comes before; x that is read later, or is the scatter's own update, is copied.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[4, 2], %i: i64[3, 2], %u: f32[3, 2], %j: i64[4, 2]) -> (f32[4, 2], f32[2], f32[8], f32[4, 2]) {
    %0 = exp %x : f32[4, 2]
    %1 = reduce %0 {op = sum, axes = [0]} : f32[2]
    %2 = scatter_elements %0, %i, %u {axis = 0} : f32[4, 2]
    %3 = scatter_elements %2, %i, %u {axis = 0, reduce = add} : f32[4, 2]
    %4 = sin %x : f32[4, 2]
    %5 = scatter_elements %4, %j, %4 {axis = 0} : f32[4, 2]
    %6 = reshape %5 {to = [8]} : f32[8]
    %7 = cos %x : f32[4, 2]
    %8 = scatter_elements %7, %i, %u {axis = 0} : f32[4, 2]
    %9 = add %7, %8 : f32[4, 2]
    ret %3, %1, %6, %9
  }
}
# expect:
module @m {
  plan @main(%x: f32[4, 2], %i: i64[3, 2], %u: f32[3, 2], %j: i64[4, 2]) -> (&f32[4, 2], &f32[2], &f32[8], &f32[4, 2]) {
    %0 = alloc : &f32[4, 2]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[4, 2]) {
      %2 = exp %1 : f32[4, 2]
      yield %2
    }
    %3 = alloc : &f32[2]
    compute %0, %3 {family = "reduce", outs = 1} (%4: f32[4, 2]) {
      %5 = reduce %4 {op = sum, axes = [0]} : f32[2]
      yield %5
    }
    compute %0, %i, %u, %0 {family = "scatter", outs = 1} (%6: f32[4, 2], %7: i64[3, 2], %8: f32[3, 2]) {
      %9 = scatter_elements %6, %7, %8 {axis = 0, in_place} : f32[4, 2]
      yield %9
    }
    compute %0, %i, %u, %0 {family = "scatter", outs = 1} (%10: f32[4, 2], %11: i64[3, 2], %12: f32[3, 2]) {
      %13 = scatter_elements %10, %11, %12 {axis = 0, reduce = add, in_place} : f32[4, 2]
      yield %13
    }
    %14 = alloc : &f32[4, 2]
    compute %x, %14 {family = "map", outs = 1} (%15: f32[4, 2]) {
      %16 = sin %15 : f32[4, 2]
      yield %16
    }
    %17 = alloc : &f32[8]
    %18 = view %17 {offset = 0, strides = [2, 1]} : &f32[4, 2]
    compute %14, %j, %14, %18 {family = "scatter", outs = 1} (%19: f32[4, 2], %20: i64[4, 2], %21: f32[4, 2]) {
      %22 = scatter_elements %19, %20, %21 {axis = 0} : f32[4, 2]
      yield %22
    }
    %23 = alloc : &f32[4, 2]
    compute %x, %23 {family = "map", outs = 1} (%24: f32[4, 2]) {
      %25 = cos %24 : f32[4, 2]
      yield %25
    }
    %26 = alloc : &f32[4, 2]
    compute %23, %i, %u, %26 {family = "scatter", outs = 1} (%27: f32[4, 2], %28: i64[3, 2], %29: f32[3, 2]) {
      %30 = scatter_elements %27, %28, %29 {axis = 0} : f32[4, 2]
      yield %30
    }
    %31 = alloc : &f32[4, 2]
    compute %23, %26, %31 {family = "map", outs = 1} (%32: f32[4, 2], %33: f32[4, 2]) {
      %34 = add %32, %33 : f32[4, 2]
      yield %34
    }
    ret %0, %3, %17, %31
  }
}
# ---- scatter_moved ----
# bufferise: what writes an argument reads behind commit, so a scatter that the text has
# behind it does not change what it reads.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4], %b: f32[4], %i: i64[2], %u: f32[2], %x: f32[4]) -> (f32[4] "a1", f32[4] "b1", f32[4] "y", f32[4] "z") {
    %0 = exp %x : f32[4]
    %1 = add %a, %0 : f32[4]
    %2 = scatter_elements %0, %i, %u {axis = 0} : f32[4]
    %3 = sin %x : f32[4]
    %4 = slice %3 {starts = [1], sizes = [2]} : f32[2]
    %5 = scatter_elements %b, %i, %4 {axis = 0} : f32[4]
    %6 = scatter_elements %3, %i, %u {axis = 0} : f32[4]
    ret %1, %5, %2, %6 {in_place = [0, 1, -1, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %a: f32[4],
      %b: f32[4],
      %i: i64[2],
      %u: f32[2],
      %x: f32[4]) -> (f32[4] "a1", f32[4] "b1", &f32[4] "y", &f32[4] "z") {
    %0 = alloc : &f32[4]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[4]) {
      %2 = exp %1 : f32[4]
      yield %2
    }
    %3 = alloc : &f32[4]
    compute %0, %i, %u, %3 {family = "scatter", outs = 1} (%4: f32[4], %5: i64[2], %6: f32[2]) {
      %7 = scatter_elements %4, %5, %6 {axis = 0} : f32[4]
      yield %7
    }
    %8 = alloc : &f32[4]
    compute %x, %8 {family = "map", outs = 1} (%9: f32[4]) {
      %10 = sin %9 : f32[4]
      yield %10
    }
    %11 = view %8 {offset = 1, strides = [1]} : &f32[2]
    %12 = alloc : &i64[2]
    compute %i, %12 {family = "scatter", outs = 1} (%13: i64[2]) {
      %14 = check_index %13 {extents = [4]} : i64[2]
      yield %14
    }
    %15 = alloc : &f32[4]
    compute %8, %i, %u, %15 {family = "scatter", outs = 1} (%16: f32[4], %17: i64[2], %18: f32[2]) {
      %19 = scatter_elements %16, %17, %18 {axis = 0} : f32[4]
      yield %19
    }
    commit
    compute %a, %0, %a {family = "map", outs = 1} (%20: f32[4], %21: f32[4]) {
      %22 = add %20, %21 : f32[4]
      yield %22
    }
    compute %b, %12, %11, %b {family = "scatter", outs = 1} (%23: f32[4], %24: i64[2], %25: f32[2]) {
      %26 = scatter_elements %23, %24, %25 {axis = 0, in_place, is_checked} : f32[4]
      yield %26
    }
    ret %a, %b, %3, %15 {in_place = [0, 1, -1, -1]}
  }
}
# ---- scatter_unsure ----
# bufferise: a scatter whose updates are the argument itself is computed into a buffer of its
# own and copied behind commit; who reads another's new value stands there, too.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%t: f32[4], %i: i64[4], %s: f32[4], %u: f32[4]) -> (f32[4] "t1", f32[4] "s1", f32[4] "y") {
    %0 = scatter_elements %t, %i, %t {axis = 0} : f32[4]
    %1 = scatter_elements %s, %i, %u {axis = 0} : f32[4]
    %2 = exp %1 : f32[4]
    ret %0, %1, %2 {in_place = [0, 2, -1]}
  }
}
# expect:
module @m {
  plan @main(%t: f32[4], %i: i64[4], %s: f32[4], %u: f32[4]) -> (f32[4] "t1", f32[4] "s1", &f32[4] "y") {
    %0 = alloc : &f32[4]
    compute %t, %i, %t, %0 {family = "scatter", outs = 1} (%1: f32[4], %2: i64[4], %3: f32[4]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[4]
      yield %4
    }
    %5 = alloc : &i64[4]
    compute %i, %5 {family = "scatter", outs = 1} (%6: i64[4]) {
      %7 = check_index %6 {extents = [4]} : i64[4]
      yield %7
    }
    %8 = alloc : &f32[4]
    commit
    compute %s, %5, %u, %s {family = "scatter", outs = 1} (%9: f32[4], %10: i64[4], %11: f32[4]) {
      %12 = scatter_elements %9, %10, %11 {axis = 0, in_place, is_checked} : f32[4]
      yield %12
    }
    %13 = view %s {offset = 0, strides = [1]} : &f32[4]
    compute %13, %8 {family = "map", outs = 1} (%14: f32[4]) {
      %15 = exp %14 : f32[4]
      yield %15
    }
    compute %0, %t {family = "copy", outs = 1} (%16: f32[4]) {
      yield %16
    }
    ret %t, %s, %8 {in_place = [0, 2, -1]}
  }
}
# ---- unsure ----
# bufferise: what reads the argument otherwise than element by element is computed first.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4, 4], %b: f32[4], %k: f32[4, 4]) -> (f32[4, 4], f32[4], f32[4, 4]) {
    %0 = transpose %a {perm = [1, 0]} : f32[4, 4]
    %1 = add %a, %0 : f32[4, 4]
    %2 = reduce %a {op = sum, axes = [0]} : f32[4]
    %3 = add %2, %b : f32[4]
    %4 = slice %k {starts = [0, 0], sizes = [2, 4]} : f32[2, 4]
    %5 = insert %k, %4 {starts = [1, 0]} : f32[4, 4]
    ret %1, %3, %5 {in_place = [0, 1, 2]}
  }
}
# expect:
module @m {
  plan @main(%a: f32[4, 4], %b: f32[4], %k: f32[4, 4]) -> (f32[4, 4], f32[4], f32[4, 4]) {
    %0 = view %a {offset = 0, strides = [1, 4]} : &f32[4, 4]
    %1 = alloc : &f32[4, 4]
    compute %a, %0, %1 {family = "map", outs = 1} (%2: f32[4, 4], %3: f32[4, 4]) {
      %4 = add %2, %3 : f32[4, 4]
      yield %4
    }
    %5 = alloc : &f32[4]
    compute %a, %5 {family = "reduce", outs = 1} (%6: f32[4, 4]) {
      %7 = reduce %6 {op = sum, axes = [0]} : f32[4]
      yield %7
    }
    %8 = alloc : &f32[4, 4]
    compute %k, %8 {family = "copy", outs = 1} (%9: f32[4, 4]) {
      yield %9
    }
    %10 = view %k {offset = 0, strides = [4, 1]} : &f32[2, 4]
    %11 = view %8 {offset = 4, strides = [4, 1]} : &f32[2, 4]
    compute %10, %11 {family = "copy", outs = 1} (%12: f32[2, 4]) {
      yield %12
    }
    commit
    compute %5, %b, %b {family = "map", outs = 1} (%13: f32[4], %14: f32[4]) {
      %15 = add %13, %14 : f32[4]
      yield %15
    }
    compute %1, %a {family = "copy", outs = 1} (%16: f32[4, 4]) {
      yield %16
    }
    compute %8, %k {family = "copy", outs = 1} (%17: f32[4, 4]) {
      yield %17
    }
    ret %a, %b, %k {in_place = [0, 1, 2]}
  }
}
# ---- update ----
# bufferise: tables go to their arguments behind commit, where they are changed in the rows
# that occur; constants that a body shares with others are its own from fuse on.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%w: f32[9, 4], %s: f32[9, 1], %ids: i64[N], %dy: f32[N, 4], %k: f32[]) -> (f32[9, 4] "w", f32[9, 1] "s", f32[N, 4] "y") {
    %0 = const {value = f32[] 2}
    %1 = mul %dy, %0 : f32[N, 4]
    %2, %3 = bag_group %ids {rows = [9]} : i64[N], i64[N]
    %4, %5 = bag_update %w, %s, %2, %3, %1, %k {tables = 1, states = 1} (%6: f32[1, 4], %7: f32[1, 4], %8: f32[1, 1], %9: f32[]) {
      %10 = mul %7, %0 : f32[1, 4]
      %11 = mul %10, %9 : f32[1, 4]
      %12 = sub %6, %11 : f32[1, 4]
      yield %12, %8
    } : f32[9, 4], f32[9, 1]
    ret %4, %5, %1 {in_place = [0, 1, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %w: f32[9, 4],
      %s: f32[9, 1],
      %ids: i64[N],
      %dy: f32[N, 4],
      %k: f32[]) -> (f32[9, 4] "w", f32[9, 1] "s", &f32[N, 4] "y") {
    %0 = alloc : &f32[N, 4]
    compute %dy, %0 {family = "map", outs = 1} (%1: f32[N, 4]) {
      %2 = const {value = 2} : f32[]
      %3 = mul %1, %2 : f32[N, 4]
      yield %3
    }
    %4 = alloc : &i64[N]
    %5 = alloc : &i64[N]
    compute %ids, %4, %5 {family = "bag_group", outs = 2} (%6: i64[N]) {
      %7, %8 = bag_group %6 {rows = [9]} : i64[N], i64[N]
      yield %7, %8
    }
    commit
    compute %w, %s, %4, %5, %0, %k, %w, %s {family = "bag_update", outs = 2} (%9: f32[9, 4], %10: f32[9, 1], %11: i64[N], %12: i64[N], %13: f32[N, 4], %14: f32[]) {
      %15 = const {value = 2} : f32[]
      %16, %17 = bag_update %9, %10, %11, %12, %13, %14 {tables = 1, states = 1} : f32[9, 4], f32[9, 1] (%18: f32[1, 4], %19: f32[1, 4], %20: f32[1, 1], %21: f32[]) {
        %22 = mul %19, %15 : f32[1, 4]
        %23 = mul %22, %21 : f32[1, 4]
        %24 = sub %18, %23 : f32[1, 4]
        yield %24, %20
      }
      yield %16, %17
    }
    ret %w, %s, %0 {in_place = [0, 1, -1]}
  }
}
# ---- update_copied ----
# bufferise: a table that something else needs too is copied first, and changed in the copy.
# So it is where not all of an op is in place.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%w: f32[9, 4], %s: f32[9, 1], %ids: i64[N], %dy: f32[N, 4], %k: f32[]) -> (f32[9, 4] "w", f32[9, 1] "s", f32[N, 4] "y") {
    %0 = const {value = f32[] 2}
    %1 = mul %dy, %0 : f32[N, 4]
    %2, %3 = bag_group %ids {rows = [9]} : i64[N], i64[N]
    %4, %5 = bag_update %w, %s, %2, %3, %1, %k {tables = 1, states = 1} (%6: f32[1, 4], %7: f32[1, 4], %8: f32[1, 1], %9: f32[]) {
      %10 = mul %7, %0 : f32[1, 4]
      %11 = mul %10, %9 : f32[1, 4]
      %12 = sub %6, %11 : f32[1, 4]
      yield %12, %8
    } : f32[9, 4], f32[9, 1]
    ret %4, %5, %1 {in_place = [0, -1, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %w: f32[9, 4],
      %s: f32[9, 1],
      %ids: i64[N],
      %dy: f32[N, 4],
      %k: f32[]) -> (f32[9, 4] "w", &f32[9, 1] "s", &f32[N, 4] "y") {
    %0 = alloc : &f32[N, 4]
    compute %dy, %0 {family = "map", outs = 1} (%1: f32[N, 4]) {
      %2 = const {value = 2} : f32[]
      %3 = mul %1, %2 : f32[N, 4]
      yield %3
    }
    %4 = alloc : &i64[N]
    %5 = alloc : &i64[N]
    compute %ids, %4, %5 {family = "bag_group", outs = 2} (%6: i64[N]) {
      %7, %8 = bag_group %6 {rows = [9]} : i64[N], i64[N]
      yield %7, %8
    }
    %9 = alloc : &f32[9, 4]
    %10 = alloc : &f32[9, 1]
    compute %w, %9 {family = "copy", outs = 1} (%11: f32[9, 4]) {
      yield %11
    }
    compute %s, %10 {family = "copy", outs = 1} (%12: f32[9, 1]) {
      yield %12
    }
    compute %9, %10, %4, %5, %0, %k, %9, %10 {family = "bag_update", outs = 2} (%13: f32[9, 4], %14: f32[9, 1], %15: i64[N], %16: i64[N], %17: f32[N, 4], %18: f32[]) {
      %19 = const {value = 2} : f32[]
      %20, %21 = bag_update %13, %14, %15, %16, %17, %18 {tables = 1, states = 1} : f32[9, 4], f32[9, 1] (%22: f32[1, 4], %23: f32[1, 4], %24: f32[1, 1], %25: f32[]) {
        %26 = mul %23, %19 : f32[1, 4]
        %27 = mul %26, %25 : f32[1, 4]
        %28 = sub %22, %27 : f32[1, 4]
        yield %28, %24
      }
      yield %20, %21
    }
    commit
    compute %9, %w {family = "copy", outs = 1} (%29: f32[9, 4]) {
      yield %29
    }
    ret %w, %10, %0 {in_place = [0, -1, -1]}
  }
}
