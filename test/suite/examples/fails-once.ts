/** Tests that fail when they run for the first time, for the tests of the gate. `FAILS_ONCE_FOLDER` says where they take notes. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from '#test'

function isFirst(name: string): boolean {
  const note = join(process.env['FAILS_ONCE_FOLDER'] ?? '', name)
  if (existsSync(note)) return false
  writeFileSync(note, '')
  return true
}

test('a wait that was too short', (t) => t.false(isFirst('wait'), 'the wait was too short'))

test('a lost mail', (t) => t.false(isFirst('mail'), 'ledger: a mail is lost'))
