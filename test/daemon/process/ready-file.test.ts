/** The ready file as scripts read it. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from '#test'
import { clearReadyFile, writeReadyFile } from '../../../daemon/process/ready-file.ts'

const listening = {
  http: { host: '127.0.0.1', port: 8080 },
  https: [{ host: '127.0.0.1', port: 8443 }],
  acme: [],
  submission: [
    { host: '127.0.0.1', port: 2525 },
    { host: '::1', port: 2587 },
  ],
  submissions: [],
  mx: [{ host: '127.0.0.1', port: 2526 }],
  sites: [],
}

test('writeReadyFile(): replaces the file; clearReadyFile() removes it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-ready-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const path = join(folder, 'ready.json')
  await writeFile(path, 'left behind')
  await writeReadyFile(path, listening)
  t.deepEqual(JSON.parse(await readFile(path, 'utf8')), {
    http: '127.0.0.1:8080',
    https: ['127.0.0.1:8443'],
    acme: [],
    submission: ['127.0.0.1:2525', '[::1]:2587'],
    submissions: [],
    mx: ['127.0.0.1:2526'],
    sites: [],
    pid: process.pid,
  })
  t.deepEqual(await readdir(folder), ['ready.json'])
  await clearReadyFile(path)
  await clearReadyFile(path)
  t.deepEqual(await readdir(folder), [])
})

test('writeReadyFile() never shows half a file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-ready-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const path = join(folder, 'ready.json')
  await writeReadyFile(path, listening)
  const many = { ...listening, mx: Array.from({ length: 20_000 }, (_, port) => ({ host: '127.0.0.1', port })) }
  let done = false
  const writing = writeReadyFile(path, many).finally(() => (done = true))
  let reads = 0
  do {
    const seen = JSON.parse(await readFile(path, 'utf8')) as { mx: string[] }
    t.true(seen.mx.length === 1 || seen.mx.length === many.mx.length)
    reads += 1
  } while (!done)
  await writing
  t.true(reads > 0)
})
