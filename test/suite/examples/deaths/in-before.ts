/** A module that ends its process in a hook that runs first. */
import test from '#test'

test.before(() => process.exit(0))
test('one', (t) => t.pass())
test('two', (t) => t.pass())
