/** A module whose test passes, for the tests of the runner. */
import test from '#test'

test('it passes', (t) => t.pass())
