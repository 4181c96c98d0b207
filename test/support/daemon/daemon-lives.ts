/** A daemon that a test starts and ends repeatedly on one folder, and everything that must end with the test. */
import type { ExecutionContext } from 'ava'
import { Daemon, newAdminKey, runCommand, type DaemonOptions } from './daemon.ts'
import { temporaryFolder } from './workspace.ts'

export interface Lives {
  readonly folder: string
  /** Starts the next process on the same data with the same key. */
  start(): Promise<Daemon>
  /** Runs `postern verify` while no daemon runs. */
  verify(): ReturnType<typeof runCommand>
}

/** Prepares the folder; `name` is part of its path. `others` end after the daemon. */
export async function livesOf(
  t: ExecutionContext,
  name: string,
  env: DaemonOptions['env'] & {},
  ...others: readonly AsyncDisposable[]
): Promise<Lives> {
  const ends = new AsyncDisposableStack()
  t.teardown(() => ends.disposeAsync())
  const folder = ends.use(await temporaryFolder(name))
  for (const other of others) ends.use(other)
  const options = { folder: folder.path, env }
  const key = newAdminKey()
  return {
    folder: folder.path,
    start: async () => ends.use(await Daemon.start(options, key)),
    verify: () => runCommand(options, 'verify'),
  }
}
