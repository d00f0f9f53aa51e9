# fold_flow: the number of the run is another one in each run.
# run: fold_flow,dce
module @m {
  graph @main() -> (f32[4]) {
    %0 = run_number : i64[]
    %1 = random %0 {dtype = f32, shape = [4], kind = uniform, number = 3} : f32[4]
    ret %1
  }
}
# expect:
module @m {
  graph @main() -> (f32[4]) {
    %0 = run_number : i64[]
    %1 = random %0 {dtype = f32, shape = [4], kind = uniform, number = 3} : f32[4]
    ret %1
  }
}
