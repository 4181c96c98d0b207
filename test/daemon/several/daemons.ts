/** Daemons that share a database, each with a separate folder, as on separate machines. */
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { Daemon, newAdminKey } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

/** A common master key, because each daemon decrypts data of the others. */
const masterKey = Buffer.alloc(32, 7).toString('base64')

export interface Several {
  /** Data folders in the order of the starts. */
  readonly dataDirs: readonly string[]
  /** Starts another daemon. */
  start(env?: Readonly<Record<string, string>>): Promise<Daemon>
}

/** Starts daemons that stop with the test. */
export async function severalDaemons(t: ExecutionContext, database: string): Promise<Several> {
  const ends = new AsyncDisposableStack()
  t.teardown(() => ends.disposeAsync())
  const folder = ends.use(await temporaryFolder('several'))
  const key = newAdminKey()
  const dataDirs: string[] = []
  return {
    dataDirs,
    async start(env) {
      const own = join(folder.path, String(dataDirs.length + 1))
      dataDirs.push(join(own, 'data'))
      const settings = { POSTERN_STORE: database, POSTERN_MASTER_KEY: masterKey, POSTERN_STORE_BALLAST_BYTES: '0', ...env }
      return ends.use(await Daemon.start({ folder: own, env: settings }, key))
    },
  }
}
