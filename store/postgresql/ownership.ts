/**
 * Who may use a store: one process alone, as tools need it, or any number of daemons together. Each holds a lock of the session that
 * writes, which the server releases when that session ends. The name of who had it alone stands in a row, so that it notices when
 * another one had the store while its connection was gone; daemons find their own rows gone then.
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
/** A daemon that was killed holds the lock until the server has noticed. */
const [takeOverMs, pauseMs] = [10_000, 200]

/** Whether a command has the store alone at the moment, as an expression of SQL. */
export const isHadAlone = `EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND classid = 0
  AND objid = ${ownerLock} AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

/** For a new process. Throws `StoreUnavailable` when another one is in its way. */
export async function takeOver(client: Client, use: StoreUse, writer: string, shown: string): Promise<void> {
  const deadline = Date.now() + takeOverMs
  while (!(await hasLock(client, use))) {
    if (Date.now() > deadline) {
      throw new StoreUnavailable(
        use === 'alone'
          ? `The database at ${shown} is in use by a Postern daemon. Stop all of them, or give POSTERN_STORE another one.`
          : `The database at ${shown} is in use by a command that needs it alone, such as postern restore or migrate. Try again when it has ended.`,
      )
    }
    await wait(pauseMs)
  }
  if (use === 'together') return
  await client.query('DELETE FROM postern_daemons')
  await client.query('DELETE FROM postern_writers') // of daemons that ended, and of those that are only cut off: they notice
  await client.query('INSERT INTO postern_owner (single, writer) VALUES (true, $1) ON CONFLICT (single) DO UPDATE SET writer = $1', [
    writer,
  ])
}

/**
 * On another connection of the same process. Throws `StoreUnavailable` while the server has not noticed the end of the earlier one, and
 * `StoreFailure` when another one had the store alone: what this process knows of the store is outdated.
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
