/** A module whose second test aborts its process at its first run. `FAILS_ONCE_FOLDER` is the folder of its note. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from '#test'

const note = join(process.env['FAILS_ONCE_FOLDER'] ?? '', 'death')

test('one', (t) => t.pass())
test('two', (t) => {
  if (!existsSync(note)) {
    writeFileSync(note, '')
    process.abort()
  }
  t.pass()
})
test('three', (t) => t.pass())
