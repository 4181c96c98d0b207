/** A module whose tests are all skipped. */
import test from '#test'

test.skip('one (needs the package nothing)', (t) => t.pass())
