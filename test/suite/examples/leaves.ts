/** Tests that each leave something open, for the tests of the guards; the last test leaves nothing. */
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import test from '#test'
import { dataFolder, openDaemon } from '../../support/daemon/start-daemon.ts'

test('a listener', async (t) => {
  await once(createServer().listen(0, '127.0.0.1'), 'listening')
  t.pass()
})

test('a daemon', async (t) => {
  const dataDir = await dataFolder(t)
  const daemon = await openDaemon({ teardown: () => {} }, dataDir)
  t.is(daemon.dataDir, dataDir)
})

test('a variable', (t) => {
  process.env['LEFT_BY_A_TEST'] = '1'
  t.pass()
})

test('a replaced clock', (t) => {
  const now = Date.now()
  Date.now = () => now
  t.pass()
})

test('a folder', async (t) => {
  await mkdtemp(join(tmpdir(), 'postern-left-'))
  t.pass()
})

test('a rejection', async (t) => {
  void Promise.reject(new Error('no test reads it'))
  t.pass()
})

test('nothing', (t) => t.pass())
