# ---- bufferise ----
# bufferise: computed straight into the concat's buffer; an input and a second use are copied.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 4], %y: f32[B, 3]) -> (f32[B, 11] "o", f32[B, 4] "p") {
    %0 = relu %x : f32[B, 4]
    %1 = concat %0, %y, %0 {axis = 1} : f32[B, 11]
    ret %1, %x
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4], %y: f32[B, 3]) -> (&f32[B, 11] "o", &f32[B, 4] "p") {
    %0 = alloc : &f32[B, 11]
    %1 = view %0 {offset = 0, strides = [11, 1]} : &f32[B, 4]
    compute %x, %1 {family = "map", outs = 1} (%2: f32[B, 4]) {
      %3 = relu %2 : f32[B, 4]
      yield %3
    }
    %4 = view %0 {offset = 4, strides = [11, 1]} : &f32[B, 3]
    compute %y, %4 {family = "copy", outs = 1} (%5: f32[B, 3]) {
      yield %5
    }
    %6 = view %0 {offset = 0, strides = [11, 1]} : &f32[B, 4]
    %7 = view %0 {offset = 7, strides = [11, 1]} : &f32[B, 4]
    compute %6, %7 {family = "copy", outs = 1} (%8: f32[B, 4]) {
      yield %8
    }
    %9 = alloc : &f32[B, 4]
    compute %x, %9 {family = "copy", outs = 1} (%10: f32[B, 4]) {
      yield %10
    }
    ret %0, %9
  }
}
# ---- bufferise_if ----
# bufferise: branches write where the result lies, and set the extents it has.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%c: bool[], %x: f32[A], %y: f32[B]) -> (f32[n] "o") {
    %0 = if %c : f32[n] {
      %1 = relu %x : f32[A]
      yield %1
    } else {
      yield %y
    }
    ret %0
  }
}
# expect:
module @m {
  plan @main(%c: bool[], %x: f32[A], %y: f32[B]) -> (&f32[n] "o") {
    %0 = alloc : &f32[n]
    if %c {
      %1 = alloc : &f32[A]
      compute %x, %1 {family = "map", outs = 1} (%2: f32[A]) {
        %3 = relu %2 : f32[A]
        yield %3
      }
      let {symbol = n, value = A}
      %4 = view %0 {offset = 0, strides = [1]} : &f32[A]
      compute %1, %4 {family = "copy", outs = 1} (%5: f32[A]) {
        yield %5
      }
      yield
    } else {
      let {symbol = n, value = B}
      %6 = view %0 {offset = 0, strides = [1]} : &f32[B]
      compute %y, %6 {family = "copy", outs = 1} (%7: f32[B]) {
        yield %7
      }
      yield
    }
    ret %0
  }
}
# ---- bufferise_if_guard ----
# bufferise: a branch that only guards something has no results, and becomes one step.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[3, B], %c: bool[]) -> (f32[3, B] "y") {
    if %c {
      yield
    } else {
      guard le(2, B) "x must be wide"
      yield
    }
    %0 = exp %x : f32[3, B]
    ret %0
  }
}
# expect:
module @m {
  plan @main(%x: f32[3, B], %c: bool[]) -> (&f32[3, B] "y") {
    if %c {
      yield
    } else {
      guard le(2, B) "x must be wide"
      yield
    }
    %0 = alloc : &f32[3, B]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[3, B]) {
      %2 = exp %1 : f32[3, B]
      yield %2
    }
    ret %0
  }
}
# ---- bufferise_inserts ----
# bufferise: a chain of inserts changes one buffer in place.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 3], %c: f32[B, 1]) -> (f32[B, 3] "y") {
    %0 = insert %x, %c {starts = [0, 0]} : f32[B, 3]
    %1 = insert %0, %c {starts = [0, 1]} : f32[B, 3]
    %2 = insert %1, %c {starts = [0, 2]} : f32[B, 3]
    ret %2
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 3], %c: f32[B, 1]) -> (&f32[B, 3] "y") {
    %0 = alloc : &f32[B, 3]
    compute %x, %0 {family = "copy", outs = 1} (%1: f32[B, 3]) {
      yield %1
    }
    %2 = view %0 {offset = 0, strides = [3, 1]} : &f32[B, 1]
    compute %c, %2 {family = "copy", outs = 1} (%3: f32[B, 1]) {
      yield %3
    }
    %4 = view %0 {offset = 1, strides = [3, 1]} : &f32[B, 1]
    compute %c, %4 {family = "copy", outs = 1} (%5: f32[B, 1]) {
      yield %5
    }
    %6 = view %0 {offset = 2, strides = [3, 1]} : &f32[B, 1]
    compute %c, %6 {family = "copy", outs = 1} (%7: f32[B, 1]) {
      yield %7
    }
    ret %0
  }
}
# ---- bufferise_late ----
# bufferise: what is computed before an extent is known is not written into its buffer.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 2], %count: i64[1], %y: f32[3]) -> (f32[n, 5]) {
    %0 = relu %x : f32[B, 2]
    bind %count {symbols = [n]}
    guard eq(B, n) "as many rows as the count says"
    %1 = expand %y {to = [n, 3]} : f32[n, 3]
    %2 = relu %1 : f32[n, 3]
    %3 = concat %0, %2 {axis = 1} : f32[n, 5]
    ret %3
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 2], %count: i64[1], %y: f32[3]) -> (&f32[n, 5]) {
    %0 = alloc : &f32[B, 2]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[B, 2]) {
      %2 = relu %1 : f32[B, 2]
      yield %2
    }
    bind %count {symbols = [n]}
    guard eq(B, n) "as many rows as the count says"
    %3 = view %y {offset = 0, strides = [0, 1]} : &f32[n, 3]
    %4 = alloc : &f32[n, 5]
    %5 = view %4 {offset = 2, strides = [5, 1]} : &f32[n, 3]
    compute %3, %5 {family = "map", outs = 1} (%6: f32[n, 3]) {
      %7 = relu %6 : f32[n, 3]
      yield %7
    }
    %8 = view %4 {offset = 0, strides = [5, 1]} : &f32[B, 2]
    compute %0, %8 {family = "copy", outs = 1} (%9: f32[B, 2]) {
      yield %9
    }
    ret %4
  }
}
# ---- bufferise_loop ----
# bufferise: carried values that change places, one that grows, and rows of a result.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%n: i64[], %c: bool[], %x: f32[4], %y: f32[4], %z: f32[1]) -> (f32[4] "a", f32[4] "b", f32[m] "c", f32[t, 4] "d") {
    %0, %1, %2, %3 = loop %n, %c, %x, %y, %z {scans = 1} : f32[4], f32[4], f32[m], f32[t, 4] (%i: i64[], %go: bool[], %p: f32[4], %q: f32[4], %r: f32[k]) {
      %4 = add %p, %q : f32[4]
      %5 = concat %r, %z {axis = 0} : f32[k + 1]
      yield %go, %q, %p, %5, %4
    }
    ret %0, %1, %2, %3
  }
}
# expect:
module @m {
  symbol trip {origin = "a number of trips or elements of a loop"}
  symbol rows {origin = "a number of trips or elements of a loop"}
  symbol next {origin = "a number of trips or elements of a loop"}
  plan @main(
      %n: i64[],
      %c: bool[],
      %x: f32[4],
      %y: f32[4],
      %z: f32[1]) -> (&f32[4] "a", &f32[4] "b", &f32[m] "c", &f32[t, 4] "d") {
    %0 = alloc : &bool
    compute %c, %0 {family = "copy", outs = 1} (%1: bool[]) {
      yield %1
    }
    %2 = alloc : &f32[4]
    compute %x, %2 {family = "copy", outs = 1} (%3: f32[4]) {
      yield %3
    }
    %4 = alloc : &f32[4]
    compute %y, %4 {family = "copy", outs = 1} (%5: f32[4]) {
      yield %5
    }
    let {symbol = k, value = 1}
    %6 = alloc : &f32[k]
    %7 = view %6 {offset = 0, strides = [1]} : &f32[1]
    compute %z, %7 {family = "copy", outs = 1} (%8: f32[1]) {
      yield %8
    }
    let {symbol = rows, value = 0}
    %9 = alloc : &f32[rows, 4]
    %10 = alloc : &i64
    store_dims %10 {values = [0]}
    loop %n, %0 {trip = trip} (%11: i64[], %12: bool[]) {
      %13 = alloc : &i64
      store_dims %13 {values = [trip]}
      %14 = alloc : &f32[4]
      compute %2, %4, %14 {family = "map", outs = 1} (%15: f32[4], %16: f32[4]) {
        %17 = add %15, %16 : f32[4]
        yield %17
      }
      %18 = alloc : &f32[k + 1]
      %19 = view %18 {offset = 0, strides = [1]} : &f32[k]
      compute %6, %19 {family = "copy", outs = 1} (%20: f32[k]) {
        yield %20
      }
      %21 = view %18 {offset = k, strides = [1]} : &f32[1]
      compute %z, %21 {family = "copy", outs = 1} (%22: f32[1]) {
        yield %22
      }
      let {symbol = rows, value = trip + 1}
      %23 = view %9 {offset = 4*trip, strides = [1]} : &f32[4]
      compute %14, %23 {family = "copy", outs = 1} (%24: f32[4]) {
        yield %24
      }
      %25 = alloc : &f32[4]
      compute %4, %25 {family = "copy", outs = 1} (%26: f32[4]) {
        yield %26
      }
      %27 = alloc : &f32[4]
      compute %2, %27 {family = "copy", outs = 1} (%28: f32[4]) {
        yield %28
      }
      let {symbol = next, value = k + 1}
      %29 = alloc : &f32[next]
      compute %18, %29 {family = "copy", outs = 1} (%30: f32[k + 1]) {
        yield %30
      }
      let {symbol = k, value = next}
      compute %25, %2 {family = "copy", outs = 1} (%31: f32[4]) {
        yield %31
      }
      compute %27, %4 {family = "copy", outs = 1} (%32: f32[4]) {
        yield %32
      }
      %33 = view %6 {offset = 0, strides = [1]} : &f32[next]
      compute %29, %33 {family = "copy", outs = 1} (%34: f32[next]) {
        yield %34
      }
      store_dims %10 {values = [trip + 1]}
      yield %0
    }
    let {symbol = m, value = k}
    %35 = view %10 {offset = 0, strides = [1]} : &i64[1]
    bind %35 {symbols = [t]}
    %36 = alloc : &f32[m]
    %37 = view %6 {offset = 0, strides = [1]} : &f32[m]
    compute %37, %36 {family = "copy", outs = 1} (%38: f32[m]) {
      yield %38
    }
    %39 = alloc : &f32[t, 4]
    %40 = view %9 {offset = 0, strides = [4, 1]} : &f32[t, 4]
    compute %40, %39 {family = "copy", outs = 1} (%41: f32[t, 4]) {
      yield %41
    }
    ret %2, %4, %36, %39
  }
}
# ---- bufferise_parts ----
# bufferise: parts whose extents only the run finds to agree are copied into a concat, not computed there.
# run: resolve_shapes,fuse,bufferise
# then: lower
# values: from below 3
# values: to below 6
module @m {
  graph @main(%x: f32[A, 2], %y: f32[A, 3], %from: i64[1], %to: i64[1]) -> (f32[n, 5] "o") {
    %0 = slice %x, %from, %to : f32[n, 2]
    %1 = slice %y, %from, %to : f32[m, 3]
    %2 = exp %0 : f32[n, 2]
    %3 = exp %1 : f32[m, 3]
    guard eq(n, m)
    %4 = concat %2, %3 {axis = 1} : f32[n, 5]
    ret %4
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  symbol m {origin = "an extent that the model computes"}
  symbol start {origin = "a number that the model computes"}
  symbol start2 {origin = "a number that the model computes"}
  symbol extent {origin = "a number that the model computes"}
  symbol start3 {origin = "a number that the model computes"}
  symbol start4 {origin = "a number that the model computes"}
  symbol extent2 {origin = "a number that the model computes"}
  weight @shape : i64[1] = [0]
  weight @shape_2 : i64[1] = [1]
  weight @shape_3 : i64[1] = [0]
  weight @shape_4 : i64[1] = [1]
  plan @main(%x: f32[A, 2], %y: f32[A, 3], %from: i64[1], %to: i64[1]) -> (&f32[n, 5] "o") {
    %0 = alloc : &i64[2]
    store_dims %0 {values = [A, 2]}
    %1 = alloc : &i64[6]
    host %0, %from, %to, @shape, @shape_2, %1 {function = "slice_bounds", outs = 1, params = [2, 1]}
    bind %1 {symbols = [start, start2, n, extent]}
    %2 = alloc : &i64[2]
    store_dims %2 {values = [A, 3]}
    %3 = alloc : &i64[6]
    host %2, %from, %to, @shape_3, @shape_4, %3 {function = "slice_bounds", outs = 1, params = [2, 1]}
    bind %3 {symbols = [start3, start4, m, extent2]}
    %4 = view %x {offset = 2*start + start2, strides = [2, 1]} : &f32[n, 2]
    %5 = alloc : &f32[n, 5]
    %6 = view %5 {offset = 0, strides = [5, 1]} : &f32[n, 2]
    compute %4, %6 {family = "map", outs = 1} (%7: f32[n, 2]) {
      %8 = exp %7 : f32[n, 2]
      yield %8
    }
    %9 = view %y {offset = 3*start3 + start4, strides = [3, 1]} : &f32[m, 3]
    %10 = alloc : &f32[m, 3]
    compute %9, %10 {family = "map", outs = 1} (%11: f32[m, 3]) {
      %12 = exp %11 : f32[m, 3]
      yield %12
    }
    guard eq(n, m)
    %13 = view %5 {offset = 2, strides = [5, 1]} : &f32[m, 3]
    compute %10, %13 {family = "copy", outs = 1} (%14: f32[m, 3]) {
      yield %14
    }
    ret %5
  }
}
# ---- bufferise_reads ----
# bufferise: what another op reads is not changed in place by an insert, nor what it is another shape of.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 4], %c: f32[B, 1], %d: f32[B, 1, 2]) -> (f32[B, 4] "a", f32[B, 4] "b", f32[B, 2, 2] "c", f32[B, 4] "d") {
    %0 = exp %x : f32[B, 4]
    %1 = insert %0, %c {starts = [0, 1]} : f32[B, 4]
    %2 = matmul %1, %1 {transpose_b} : f32[B, B]
    %3 = matmul %2, %0 : f32[B, 4]
    %4 = sqrt %x : f32[B, 4]
    %5 = reshape %4 {to = [B, 2, 2]} : f32[B, 2, 2]
    %6 = insert %5, %d {starts = [0, 1, 0]} : f32[B, 2, 2]
    %7 = softmax %4 {axis = 1} : f32[B, 4]
    ret %1, %3, %6, %7
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4], %c: f32[B, 1], %d: f32[B, 1, 2]) -> (&f32[B, 4] "a", &f32[B, 4] "b", &f32[B, 2, 2] "c", &f32[B, 4] "d") {
    %0 = alloc : &f32[B, 4]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[B, 4]) {
      %2 = exp %1 : f32[B, 4]
      yield %2
    }
    %3 = alloc : &f32[B, 4]
    compute %0, %3 {family = "copy", outs = 1} (%4: f32[B, 4]) {
      yield %4
    }
    %5 = view %3 {offset = 1, strides = [4, 1]} : &f32[B, 1]
    compute %c, %5 {family = "copy", outs = 1} (%6: f32[B, 1]) {
      yield %6
    }
    %7 = alloc : &f32[B, B]
    compute %3, %3, %7 {family = "dot", outs = 1} (%8: f32[B, 4], %9: f32[B, 4]) {
      %10 = matmul %8, %9 {transpose_b} : f32[B, B]
      yield %10
    }
    %11 = alloc : &f32[B, 4]
    compute %7, %0, %11 {family = "dot", outs = 1} (%12: f32[B, B], %13: f32[B, 4]) {
      %14 = matmul %12, %13 : f32[B, 4]
      yield %14
    }
    %15 = alloc : &f32[B, 4]
    compute %x, %15 {family = "map", outs = 1} (%16: f32[B, 4]) {
      %17 = sqrt %16 : f32[B, 4]
      yield %17
    }
    %18 = alloc : &f32[B, 2, 2]
    %19 = view %15 {offset = 0, strides = [4, 2, 1]} : &f32[B, 2, 2]
    compute %19, %18 {family = "copy", outs = 1} (%20: f32[B, 2, 2]) {
      yield %20
    }
    %21 = view %18 {offset = 2, strides = [4, 2, 1]} : &f32[B, 1, 2]
    compute %d, %21 {family = "copy", outs = 1} (%22: f32[B, 1, 2]) {
      yield %22
    }
    %23 = alloc : &f32[B, 4]
    compute %15, %23 {family = "softmax", outs = 1} (%24: f32[B, 4]) {
      %25 = softmax %24 {axis = 1} : f32[B, 4]
      yield %25
    }
    ret %3, %11, %18, %23
  }
}
# ---- bufferise_reshape ----
# bufferise: axes of extent 1 say nothing about strides; a reshape over them is copied.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 64]) -> (f32[B, 24, 1], f32[B, 3, 1]) {
    %0 = reshape %x {to = [B, 8, 1, 8]} : f32[B, 8, 1, 8]
    %1 = slice %0 {starts = [0, 0, 0, 1], sizes = [B, 8, 1, 3], steps = [1, 1, 1, 1]} : f32[B, 8, 1, 3]
    %2 = reshape %1 {to = [B, 24, 1]} : f32[B, 24, 1]
    %3 = slice %0 {starts = [0, 0, 0, 1], sizes = [B, 3, 1, 1], steps = [1, 2, 1, 1]} : f32[B, 3, 1, 1]
    %4 = reshape %3 {to = [B, 3, 1]} : f32[B, 3, 1]
    ret %2, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 64]) -> (&f32[B, 24, 1], &f32[B, 3, 1]) {
    %0 = alloc : &f32[B, 24, 1]
    %1 = view %x {offset = 1, strides = [64, 8, 8, 1]} : &f32[B, 8, 1, 3]
    %2 = view %0 {offset = 0, strides = [24, 3, 3, 1]} : &f32[B, 8, 1, 3]
    compute %1, %2 {family = "copy", outs = 1} (%3: f32[B, 8, 1, 3]) {
      yield %3
    }
    %4 = alloc : &f32[B, 3, 1]
    %5 = view %x {offset = 1, strides = [64, 16, 1]} : &f32[B, 3, 1]
    compute %5, %4 {family = "copy", outs = 1} (%6: f32[B, 3, 1]) {
      yield %6
    }
    ret %0, %4
  }
}
# ---- bufferise_results ----
# bufferise: what is computed, or copied for a reshape, is a result's buffer, whoever else
# reads it in another shape; a second result of it is a copy.
# run: bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 6], %y: f32[2, 3]) -> (f32[B, 2, 3], f32[B, 2, 3], f32[3, 2], f32[6], f32[3*B, 2]) {
    %0 = fused %x {family = "map"} (%a: f32[B, 6]) {
      %1 = relu %a : f32[B, 6]
      yield %1
    } : f32[B, 6]
    %2 = reshape %0 {to = [B, 2, 3]} : f32[B, 2, 3]
    %3 = reshape %2 {to = [3*B, 2]} : f32[3*B, 2]
    %4 = fused %3 {family = "map"} (%b: f32[3*B, 2]) {
      %8 = neg %b : f32[3*B, 2]
      yield %8
    } : f32[3*B, 2]
    %5 = transpose %y {perm = [1, 0]} : f32[3, 2]
    %6 = reshape %5 {to = [6]} : f32[6]
    %7 = fused %6 {family = "map"} (%c: f32[6]) {
      %9 = abs %c : f32[6]
      yield %9
    } : f32[6]
    ret %2, %2, %5, %7, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 6], %y: f32[2, 3]) -> (&f32[B, 2, 3], &f32[B, 2, 3], &f32[3, 2], &f32[6], &f32[3*B, 2]) {
    %0 = alloc : &f32[B, 2, 3]
    %1 = view %0 {offset = 0, strides = [6, 1]} : &f32[B, 6]
    compute %x, %1 {family = "map", outs = 1} (%2: f32[B, 6]) {
      %3 = relu %2 : f32[B, 6]
      yield %3
    }
    %4 = view %0 {offset = 0, strides = [2, 1]} : &f32[3*B, 2]
    %5 = alloc : &f32[3*B, 2]
    compute %4, %5 {family = "map", outs = 1} (%6: f32[3*B, 2]) {
      %7 = neg %6 : f32[3*B, 2]
      yield %7
    }
    %8 = alloc : &f32[3, 2]
    %9 = view %y {offset = 0, strides = [1, 3]} : &f32[3, 2]
    compute %9, %8 {family = "copy", outs = 1} (%10: f32[3, 2]) {
      yield %10
    }
    %11 = view %8 {offset = 0, strides = [1]} : &f32[6]
    %12 = alloc : &f32[6]
    compute %11, %12 {family = "map", outs = 1} (%13: f32[6]) {
      %14 = abs %13 : f32[6]
      yield %14
    }
    %15 = alloc : &f32[B, 2, 3]
    compute %0, %15 {family = "copy", outs = 1} (%16: f32[B, 2, 3]) {
      yield %16
    }
    ret %0, %15, %8, %12, %5
  }
}
# ---- bufferise_shapes ----
# bufferise: a shape that is read is stored; host functions get destinations.
# run: resolve_shapes,fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[A, B], %r: i64[2]) -> (i64[2] "s", f32[n, n2] "o") {
    %0 = dims {values = [A, B]} : i64[2]
    %1 = expand %x, %r : f32[n, n2]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  symbol n2 {origin = "an extent that the model computes"}
  plan @main(%x: f32[A, B], %r: i64[2]) -> (&i64[2] "s", &f32[n, n2] "o") {
    %0 = alloc : &i64[2]
    store_dims %0 {values = [A, B]}
    %1 = alloc : &i64[2]
    store_dims %1 {values = [A, B]}
    %2 = alloc : &i64[2]
    host %1, %r, %2 {function = "expand_bounds", outs = 1, params = [2, 2]}
    bind %2 {symbols = [n, n2]}
    %3 = alloc : &f32[n, n2]
    %4 = view %x {offset = 0, strides = [B*max(0, min(A - 1, 1)), max(0, min(B - 1, 1))]} : &f32[n, n2]
    compute %4, %3 {family = "copy", outs = 1} (%5: f32[n, n2]) {
      yield %5
    }
    ret %0, %3
  }
}
# ---- bufferise_state ----
# bufferise: what a state is behind a call lies in a buffer, whose extent may be another.
# run: fuse,bufferise
# then: lower
module @m {
  weight @seen : f32[2] = [1, 2]
  graph @main(%x: f32[N], %seen: f32[S] = @seen) -> (f32[N] "y", f32[S + N]) {
    %0 = relu %x : f32[N]
    %1 = concat %seen, %x {axis = 0} : f32[S + N]
    ret %0, %1
  }
}
# expect:
module @m {
  weight @seen : f32[2] = [1, 2]
  plan @main(%x: f32[N], %seen: f32[S] = @seen) -> (&f32[N] "y", &f32[N + S]) {
    %0 = alloc : &f32[N]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[N]) {
      %2 = relu %1 : f32[N]
      yield %2
    }
    %3 = alloc : &f32[N + S]
    %4 = view %3 {offset = 0, strides = [1]} : &f32[S]
    compute %seen, %4 {family = "copy", outs = 1} (%5: f32[S]) {
      yield %5
    }
    %6 = view %3 {offset = S, strides = [1]} : &f32[N]
    compute %x, %6 {family = "copy", outs = 1} (%7: f32[N]) {
      yield %7
    }
    ret %0, %3
  }
}
# ---- bufferise_strides ----
# bufferise: what a reshape cannot say by strides of the concat is computed apart and copied.
# run: pack,fuse,bufferise
# then: lower
# values: x plain
module @m {
  weight @w : f32[5, 6] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: f32[B, 2, 3]) -> (f32[B, 2, 6] "o") {
    %0 = matmul %x, @w : f32[B, 6]
    %1 = reshape %0 {to = [B, 2, 3]} : f32[B, 2, 3]
    %2 = concat %y, %1 {axis = 2} : f32[B, 2, 6]
    ret %2
  }
}
# expect:
module @m {
  weight @w : f32[5, 6] = splat(0.5)
  plan @main(%x: f32[B, 5], %y: f32[B, 2, 3]) -> (&f32[B, 2, 6] "o") {
    %0 = alloc : &f32[B, 6]
    compute %x, @w, %0 {family = "dot", outs = 1} (%1: f32[B, 5], %2: f32[5, 6]) {
      %3 = matmul %1, %2 : f32[B, 6]
      yield %3
    }
    %4 = alloc : &f32[B, 2, 6]
    %5 = view %4 {offset = 0, strides = [12, 6, 1]} : &f32[B, 2, 3]
    compute %y, %5 {family = "copy", outs = 1} (%6: f32[B, 2, 3]) {
      yield %6
    }
    %7 = view %0 {offset = 0, strides = [6, 3, 1]} : &f32[B, 2, 3]
    %8 = view %4 {offset = 3, strides = [12, 6, 1]} : &f32[B, 2, 3]
    compute %7, %8 {family = "copy", outs = 1} (%9: f32[B, 2, 3]) {
      yield %9
    }
    ret %4
  }
}
# ---- bufferise_swap ----
# bufferise: states that change places are each what the other was before the call.
# run: fuse,bufferise
# then: lower
module @m {
  weight @a : f32[2] = [1, 2]
  weight @b : f32[2] = [3, 4]
  weight @c : f32[2] = [5, 6]
  graph @main(%x: f32[2], %a: f32[2] = @a, %b: f32[2] = @b, %c: f32[2] = @c) -> (f32[2] "y", f32[2], f32[2], f32[2]) {
    %0 = add %x, %a : f32[2]
    %1 = mul %c, %x : f32[2]
    ret %0, %b, %1, %a
  }
}
# expect:
module @m {
  weight @a : f32[2] = [1, 2]
  weight @b : f32[2] = [3, 4]
  weight @c : f32[2] = [5, 6]
  plan @main(%x: f32[2], %a: f32[2] = @a, %b: f32[2] = @b, %c: f32[2] = @c) -> (&f32[2] "y", &f32[2], &f32[2], &f32[2]) {
    %0 = alloc : &f32[2]
    compute %x, %a, %0 {family = "map", outs = 1} (%1: f32[2], %2: f32[2]) {
      %3 = add %1, %2 : f32[2]
      yield %3
    }
    %4 = alloc : &f32[2]
    compute %c, %x, %4 {family = "map", outs = 1} (%5: f32[2], %6: f32[2]) {
      %7 = mul %5, %6 : f32[2]
      yield %7
    }
    %8 = alloc : &f32[2]
    compute %b, %8 {family = "copy", outs = 1} (%9: f32[2]) {
      yield %9
    }
    %10 = alloc : &f32[2]
    compute %a, %10 {family = "copy", outs = 1} (%11: f32[2]) {
      yield %11
    }
    ret %0, %8, %4, %10
  }
}
# ---- bufferise_views ----
# bufferise: views are strides of their buffer; a reshape that strides cannot say is a copy.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 4, 6]) -> (f32[6, B] "o", f32[4*B, 6] "p", f32[24*B] "q") {
    %0 = slice %x {starts = [0, 1, 0], sizes = [B, 1, 6], steps = [1, 1, 1]} : f32[B, 1, 6]
    %1 = reshape %0 {to = [B, 6]} : f32[B, 6]
    %2 = transpose %1 {perm = [1, 0]} : f32[6, B]
    %3 = relu %2 : f32[6, B]
    %4 = reshape %x {to = [4*B, 6]} : f32[4*B, 6]
    %5 = neg %4 : f32[4*B, 6]
    %6 = transpose %x {perm = [2, 0, 1]} : f32[6, B, 4]
    %7 = reshape %6 {to = [24*B]} : f32[24*B]
    %8 = abs %7 : f32[24*B]
    ret %3, %5, %8
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4, 6]) -> (&f32[6, B] "o", &f32[4*B, 6] "p", &f32[24*B] "q") {
    %0 = view %x {offset = 6, strides = [1, 24]} : &f32[6, B]
    %1 = alloc : &f32[6, B]
    compute %0, %1 {family = "map", outs = 1} (%2: f32[6, B]) {
      %3 = relu %2 : f32[6, B]
      yield %3
    }
    %4 = view %x {offset = 0, strides = [6, 1]} : &f32[4*B, 6]
    %5 = alloc : &f32[4*B, 6]
    compute %4, %5 {family = "map", outs = 1} (%6: f32[4*B, 6]) {
      %7 = neg %6 : f32[4*B, 6]
      yield %7
    }
    %8 = alloc : &f32[24*B]
    %9 = view %x {offset = 0, strides = [1, 24, 6]} : &f32[6, B, 4]
    %10 = view %8 {offset = 0, strides = [4*B, 4, 1]} : &f32[6, B, 4]
    compute %9, %10 {family = "copy", outs = 1} (%11: f32[6, B, 4]) {
      yield %11
    }
    %12 = alloc : &f32[24*B]
    compute %8, %12 {family = "map", outs = 1} (%13: f32[24*B]) {
      %14 = abs %13 : f32[24*B]
      yield %14
    }
    ret %1, %5, %12
  }
}
# ---- joined_heads ----
# bufferise: turned axes that become one are written in that order; not where rows do not stay rows.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 2, 6, 4]) -> (f32[B, 6, 8], f32[B, 24, 2]) {
    %0 = neg %x : f32[B, 2, 6, 4]
    %1 = transpose %0 {perm = [0, 2, 1, 3]} : f32[B, 6, 2, 4]
    %2 = reshape %1 {to = [B, 6, 8]} : f32[B, 6, 8]
    %3 = softmax %2 {axis = 2} : f32[B, 6, 8]
    %4 = abs %x : f32[B, 2, 6, 4]
    %5 = transpose %4 {perm = [0, 2, 3, 1]} : f32[B, 6, 4, 2]
    %6 = reshape %5 {to = [B, 24, 2]} : f32[B, 24, 2]
    %7 = softmax %6 {axis = 2} : f32[B, 24, 2]
    ret %3, %7
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 2, 6, 4]) -> (&f32[B, 6, 8], &f32[B, 24, 2]) {
    %0 = alloc : &f32[B, 6, 8]
    %1 = view %0 {offset = 0, strides = [48, 4, 8, 1]} : &f32[B, 2, 6, 4]
    compute %x, %1 {family = "map", outs = 1} (%2: f32[B, 2, 6, 4]) {
      %3 = neg %2 : f32[B, 2, 6, 4]
      yield %3
    }
    %4 = alloc : &f32[B, 6, 8]
    compute %0, %4 {family = "softmax", outs = 1} (%5: f32[B, 6, 8]) {
      %6 = softmax %5 {axis = 2} : f32[B, 6, 8]
      yield %6
    }
    %7 = alloc : &f32[B, 2, 6, 4]
    compute %x, %7 {family = "map", outs = 1} (%8: f32[B, 2, 6, 4]) {
      %9 = abs %8 : f32[B, 2, 6, 4]
      yield %9
    }
    %10 = view %7 {offset = 0, strides = [48, 1, 24]} : &f32[B, 24, 2]
    %11 = alloc : &f32[B, 24, 2]
    compute %10, %11 {family = "softmax", outs = 1} (%12: f32[B, 24, 2]) {
      %13 = softmax %12 {axis = 2} : f32[B, 24, 2]
      yield %13
    }
    ret %4, %11
  }
}
