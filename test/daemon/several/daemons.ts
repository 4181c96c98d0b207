/** Daemons that share a database, each with a folder of its own, as on machines of their own. */
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { Daemon, newAdminKey } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

/** One for all, as each has to open what the others sealed. */
const masterKey = Buffer.alloc(32, 7).toString('base64')

export interface Several {
  /** Starts another one. */
  start(env?: Readonly<Record<string, string>>): Promise<Daemon>
}

/** They end with the test. */
export async function severalDaemons(t: ExecutionContext, database: string): Promise<Several> {
  const ends = new AsyncDisposableStack()
  t.teardown(() => ends.disposeAsync())
  const folder = ends.use(await temporaryFolder('several'))
  const key = newAdminKey()
  let count = 0
  return {
    async start(env) {
      const own = join(folder.path, String(++count))
      const settings = { POSTERN_STORE: database, POSTERN_MASTER_KEY: masterKey, POSTERN_STORE_BALLAST_BYTES: '0', ...env }
      return ends.use(await Daemon.start({ folder: own, env: settings }, key))
    },
  }
}
