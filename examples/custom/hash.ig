# The operator acme::Hash, of ids in a list or in rows: (id * 2654435761) mod buckets.
module @operators {
  graph @"acme::Hash"(%id: i64[N], %buckets: i64[]) -> (i64[N]) {
    %0 = const {value = 2654435761} : i64[]
    %1 = mul %id, %0 : i64[N]
    %2 = mod %1, %buckets : i64[N]
    ret %2
  }
  graph @"acme::Hash.rows"(%id: i64[B, N], %buckets: i64[]) -> (i64[B, N]) {
    %0 = const {value = 2654435761} : i64[]
    %1 = mul %id, %0 : i64[B, N]
    %2 = mod %1, %buckets : i64[B, N]
    ret %2
  }
}
