/** A module that ends its process between two tests. */
import test from '#test'
import { afterEntry } from './after-entry.ts'

test('one', (t) => t.pass())
test('two', (t) => t.pass())

afterEntry('"title":"one","event":"passed"', () => process.exit(0))
