/** A module that declares a test after its import. */
import test from '#test'

test('in time', (t) => {
  test('too late', (other) => other.pass())
  t.pass()
})
