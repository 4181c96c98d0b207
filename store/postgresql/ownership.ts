/**
 * Ownership of a store: one process alone, as tools require, or any number of daemons together. Each owner holds a lock of its writing
 * session, which the server releases at the end of the session. After a lost connection, a process must notice if another process owned the
 * store alone in the meantime. A tool compares its id with the row of the last sole owner. A daemon finds its rows deleted.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { StoreFailure, StoreUnavailable } from '../kv.ts'

export type StoreUse = 'alone' | 'together'

const ownerLock = 0x7074_726e
const tryLock = {
  alone: 'SELECT pg_try_advisory_lock($1) AS locked',
  together: 'SELECT pg_try_advisory_lock_shared($1) AS locked',
}
/** A killed daemon holds the lock until the server notices the lost connection. */
const [takeOverMs, pauseMs] = [10_000, 200]

/** SQL expression: a command uses the store alone at the moment. */
export const isHadAlone = `EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND classid = 0
  AND objid = ${ownerLock} AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

/** Takes the store for a new process. Throws `StoreUnavailable` if another process prevents it. */
export async function takeOver(client: Client, use: StoreUse, writer: string, shown: string): Promise<void> {
  const deadline = Date.now() + takeOverMs
  while (!(await hasLock(client, use))) {
    if (Date.now() > deadline) {
      throw new StoreUnavailable(
        use === 'alone'
          ? `The database at ${shown} is in use by a Postern daemon. Stop all daemons, or set POSTERN_STORE to another database.`
          : `The database at ${shown} is in use by a command that needs it exclusively, such as postern restore or migrate. Try again after it has ended.`,
      )
    }
    await wait(pauseMs)
  }
  if (use === 'together') return
  await client.query('DELETE FROM postern_daemons')
  await client.query('DELETE FROM postern_writers') // of daemons that ended or are disconnected; such a daemon notices this
  await client.query('INSERT INTO postern_owner (single, writer) VALUES (true, $1) ON CONFLICT (single) DO UPDATE SET writer = $1', [
    writer,
  ])
}

/**
 * Takes the store again on another connection of the same process. Throws `StoreUnavailable` until the server notices the end of the
 * earlier connection. Throws `StoreFailure` if another process had the store alone, because cached data is outdated.
 */
export async function keepOwning(client: Client, use: StoreUse, writer: string, shown: string): Promise<void> {
  if (!(await hasLock(client, use))) throw new StoreUnavailable(`The database at ${shown} is in use by another session.`)
  if (use === 'together') return
  const { rows } = await client.query<{ writer: string }>('SELECT writer FROM postern_owner')
  if (rows[0]?.writer !== writer) throw new StoreFailure(`Another Postern daemon took over the database at ${shown}.`)
}

async function hasLock(client: Client, use: StoreUse): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(tryLock[use], [ownerLock])
  return rows[0]?.locked === true
}
