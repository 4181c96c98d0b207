/** Ends its process when the journal has the outcome of its first test. */
import test from '#test'
import { afterEntry } from './after-entry.ts'

test('one', (t) => t.pass())
test('two', (t) => t.pass())

afterEntry('"title":"one","event":"passed"', () => process.exit(0))
