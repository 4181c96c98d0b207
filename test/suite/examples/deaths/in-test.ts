/** Dies in its second test, when it runs for the first time. `FAILS_ONCE_FOLDER` says where it takes a note. */
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
