/** Skips all its tests. */
import test from '#test'

test.skip('one (needs the package nothing)', (t) => t.pass())
