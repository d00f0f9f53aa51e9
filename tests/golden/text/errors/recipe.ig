# A recipe names a result of graph @weights, of the weight's type.
# run:
module @recipe {
  weight @a : f32[1] = recipe(0)
  weight @b : f32[2] = recipe(1)
  weight @c : f32[2] = recipe(2)
  private graph @weights() -> (f32[1], f32[1]) {
    %0 = const {value = [1]} : f32[1]
    ret %0, %0
  }
}
# expect-error: weight @b is of another type than its result of graph @weights
# expect-error: weight @c is a result that graph @weights does not have
