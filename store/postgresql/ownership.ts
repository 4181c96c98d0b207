/**
 * One process owns a store: it holds a lock of the session that writes, which the server releases when that session ends, and its name
 * stands in a row, so that it notices when another one had the store while its connection was gone.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { StoreFailure, StoreUnavailable } from '../kv.ts'

const ownerLock = 0x7074_726e
/** A daemon that was killed holds the lock until the server has noticed. */
const [takeOverMs, pauseMs] = [10_000, 200]

/** For a new owner. Throws `StoreUnavailable` when another one is there. */
export async function takeOver(client: Client, writer: string, shown: string): Promise<void> {
  const deadline = Date.now() + takeOverMs
  while (!(await hasLock(client))) {
    if (Date.now() > deadline)
      throw new StoreUnavailable(
        `The database at ${shown} is in use by another Postern daemon. Stop it, or give POSTERN_STORE another one.`,
      )
    await wait(pauseMs)
  }
  await client.query('INSERT INTO postern_owner (single, writer) VALUES (true, $1) ON CONFLICT (single) DO UPDATE SET writer = $1', [
    writer,
  ])
}

/**
 * On another connection of the same owner. Throws `StoreUnavailable` while the server has not noticed the end of the earlier one, and
 * `StoreFailure` when another owner was there: what this process knows of the store is outdated.
 */
export async function keepOwning(client: Client, writer: string, shown: string): Promise<void> {
  if (!(await hasLock(client))) throw new StoreUnavailable(`The database at ${shown} is in use by another session.`)
  const { rows } = await client.query<{ writer: string }>('SELECT writer FROM postern_owner')
  if (rows[0]?.writer !== writer) throw new StoreFailure(`Another Postern daemon took over the database at ${shown}.`)
}

async function hasLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [ownerLock])
  return rows[0]?.locked === true
}
