/** A module that kills its process after the outcome of its last test. */
import test from '#test'
import { afterEntry } from './after-entry.ts'

test('one', (t) => t.pass())

afterEntry('"title":"one","event":"passed"', () => process.kill(process.pid, 'SIGKILL'))
