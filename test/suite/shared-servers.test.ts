/** Tests of the services of a run: start on request, reuse of databases, and end. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from '#test'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { SharedDatabases } from '../support/peers/databases.ts'
import { testWith } from '../support/peers/peers.ts'
import { serviceOfRun, servicesVariable, type RunServices } from '../support/peers/servers-of-run.ts'
import { waitFor } from '../support/waits.ts'
import { startServices } from './run/shared-servers.ts'

const test = testWith('postgresql')
const root = join(fileURLToPath(import.meta.url), '../../..')

test('services: start once on request and end with the run', async (t) => {
  let port: number
  let cluster: string
  {
    await using services = await startServices()
    const path = services.env[servicesVariable]
    const [one, other] = await Promise.all([serviceOfRun('postgresql', path), serviceOfRun('postgresql', path)])
    t.deepEqual(one, other)
    port = one?.port ?? 0
    cluster = (await serviceOfRun('cluster', path))?.folder ?? ''
    t.true(existsSync(cluster))
    await emptied(t, port)
    await t.throwsAsync(serviceOfRun('nothing' as keyof RunServices, path), { message: /no such service/ })
  }
  const socket = connect(port, '127.0.0.1')
  await t.throwsAsync(once(socket, 'connect'), { code: 'ECONNREFUSED' })
  t.false(existsSync(cluster))
})

test('services: a server ends when the process that started it dies', async (t) => {
  await using folder = await temporaryFolder('orphan')
  const args = ['--import=./daemon/packaging/own-modules.js', 'test/suite/examples/starts-postgresql.ts']
  const parent = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, TMPDIR: folder.path },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(parent, 'close')
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer]
  const server = `/proc/${printed.toString().trim()}`
  t.true(existsSync(server))
  parent.kill('SIGKILL')
  await ended
  await waitFor('the server ends', () => !existsSync(server))
})

/** Other modules receive a database only after its module has ended, and emptied. */
async function emptied(t: ExecutionContext, port: number): Promise<void> {
  const tables = "SELECT relname FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname ~ '^(public|says)')"
  const nameOf = (address: string): string => new URL(address).pathname.slice(1)
  let first: string
  {
    await using databases = new SharedDatabases(port)
    first = nameOf(await databases.database())
    await databases.query('CREATE SCHEMA says; CREATE TABLE says.one (); CREATE TABLE two ()', first)
    await databases.query(`ALTER DATABASE ${first} SET search_path = says`)
    t.is((await databases.query(tables, first)).length, 2)
    await using others = new SharedDatabases(port)
    t.not(nameOf(await others.database()), first, 'the first module still has it')
  }
  await using databases = new SharedDatabases(port)
  const names = [nameOf(await databases.database()), nameOf(await databases.database())]
  t.true(names.includes(first))
  t.deepEqual(await databases.query(tables, first), [])
  t.deepEqual(await databases.query('SHOW search_path', first), [{ search_path: '"$user", public' }])
  t.deepEqual(await databases.query('CREATE TABLE two ()', first), [])
}
