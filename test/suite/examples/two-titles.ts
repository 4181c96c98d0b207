/** A module that declares two tests with the same title. */
import test from '#test'

test('the  title', (t) => t.pass())
test('the title', (t) => t.pass())
