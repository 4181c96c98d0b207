/** Declares two tests of one title. */
import test from '#test'

test('the  title', (t) => t.pass())
test('the title', (t) => t.pass())
