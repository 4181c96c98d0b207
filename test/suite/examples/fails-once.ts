/** Tests that fail in their first run, for the tests of the gate. `FAILS_ONCE_FOLDER` is the folder of their notes. */
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

test('a lost mail', (t) => t.deepEqual(isFirst('mail') ? ['mail 7', 'mail 8'] : [], [], 'ledger: a mail is lost\nmail 7'))

test('mail of another tenant', (t) => {
  if (isFirst('tenant')) throw new Error('ledger: a tenant got mail of another')
  t.pass()
})

test('a doubled mail, and a variable that is left', (t) => {
  process.env['LEFT_BY_A_TEST'] = '1'
  t.false(isFirst('doubled'), 'ledger: a mail is doubled')
})

test('mail of another tenant, and a disposal that fails', async (t) => {
  await using _ = { [Symbol.asyncDispose]: () => Promise.reject(new Error('it is closed already')) }
  if (isFirst('disposal')) throw new Error('ledger: a tenant got mail of another')
  t.pass()
})
