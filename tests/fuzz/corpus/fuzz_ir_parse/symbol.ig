module @symbols {
  symbol B {min = 1, max = 64, multiple = 8, origin = "dim 0 of input \"x\""}
  symbol d {min = -5, max = 10, defined = 2*B - 6}
  symbol big {defined = (B + (N*N))}
  symbol wide {defined = (A*B * (C*D))}
  symbol unused {max = 7}
  graph @main(%x: f32[N, B, A, C, D], %y: f32[big, wide, d]) -> (i64[13]) {
    %0 = dims {values = [B + N, N + B, 3 - B, B*2*N*B, min(N, 4), max(A, N), floor(N / 4), ceil((N + 3) / 4), exact(N*A / C), bcast(N, A), (B + 1)*(B - 1), -9223372036854775808, floor(min(N, A)*2 / (B + C))]} : i64[13]
    ret %0
  }
}
