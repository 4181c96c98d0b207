/** Only the user of the data folder can read the token of a run. */
import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { readOperatorFile, writeOperatorFile } from '../../../daemon/process/operator-file.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

const listening = { http: { host: '127.0.0.1', port: 8080 }, https: [], acme: [], submission: [], submissions: [], mx: [], sites: [] }

test('operator file: only its owner can read the token, also in an existing file', async (t) => {
  await using folder = await temporaryFolder('operator-file')
  for (const name of ['operator.json', 'operator.json.tmp']) {
    const left = join(folder.path, name)
    await writeFile(left, '')
    await chmod(left, 0o666)
  }
  await writeOperatorFile(folder.path, listening, 'secret')
  t.is((await stat(join(folder.path, 'operator.json'))).mode & 0o777, 0o600)
  t.like(await readOperatorFile(folder.path), { token: 'secret', origin: 'http://127.0.0.1:8080' })
})

test('operator file: names every listener of the running daemon, also of websites', async (t) => {
  await using folder = await temporaryFolder('operator-file')
  const endpoint = (port: number) => ({ host: '127.0.0.1', port })
  const [http, https, acme, submission, submissions, mx, sites] = [1, 2, 3, 4, 5, 6, 7].map(endpoint)
  if (!http || !https || !acme || !submission || !submissions || !mx || !sites) return t.fail()
  const all = { http, https: [https], acme: [acme], submission: [submission], submissions: [submissions], mx: [mx], sites: [sites] }
  await writeOperatorFile(folder.path, all, 'secret')
  const { listening: written = [] } = (await readOperatorFile(folder.path)) ?? {}
  t.deepEqual(
    written.toSorted(),
    [1, 2, 3, 4, 5, 6, 7].map((port) => `127.0.0.1:${port}`),
  )
})
