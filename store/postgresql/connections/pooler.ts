/**
 * Whether a pooler gives a client the same session all the time. One that gives it one for each transaction drops its notices, settings
 * and locks, without a word.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { StoreUnavailable } from '../../kv.ts'
import type { Connected } from './session.ts'

/** A notice that was lost is sent again so often, and one that does not arrive for so long never will. */
const [againMs, mostMs] = [250, 5000]

/**
 * A notice that another connection publishes has to arrive while this one asks nothing: it can only come by the session that listens, so
 * that session is kept for a connection that is at rest. `other`: a second connection by the same way, which is ended. Throws
 * `StoreUnavailable`.
 */
export async function requireSession(
  { client, pid }: Connected,
  other: () => Promise<Connected | undefined>,
  shown: string,
): Promise<void> {
  const channel = `postern_session_${randomBytes(12).toString('hex')}`
  const { promise, resolve } = Promise.withResolvers<true>()
  const hear = (notice: { readonly channel: string }): void => void (notice.channel === channel && resolve(true))
  client.on('notification', hear)
  await client.query(`LISTEN ${channel}`)
  const publisher = await other()
  try {
    // two clients that are both there and have one session share it
    const isOwn = publisher !== undefined && publisher.pid !== pid && (await arrives(promise, publisher.client, channel))
    if (!isOwn) throw sharedSession(shown)
  } finally {
    await publisher?.client.end().catch(() => undefined)
    client.off('notification', hear)
  }
  await client.query(`UNLISTEN ${channel}`)
}

async function arrives(arrived: Promise<true>, publisher: Client, channel: string): Promise<boolean> {
  for (const deadline = performance.now() + mostMs; performance.now() < deadline;) {
    await publisher.query(`NOTIFY ${channel}`)
    if (await Promise.race([arrived, wait(againMs, false)])) return true
  }
  return false
}

const sharedSession = (shown: string): StoreUnavailable =>
  new StoreUnavailable(
    `The pooler at ${shown} gives a client another session for each transaction: what daemons tell each other would be lost. ` +
      'Set pool_mode = session for this database and user in PgBouncer, or let POSTERN_STORE lead to PostgreSQL itself.',
  )
