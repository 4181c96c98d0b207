/** Declares a test when AVA knows the tests of the process already. */
import test from '#test'

test('in time', (t) => {
  test('too late', (other) => other.pass())
  t.pass()
})
