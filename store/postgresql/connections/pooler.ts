/**
 * Checks that a pooler keeps one session for each client. With a session for each transaction, a daemon silently loses its notifications,
 * settings and locks.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { StoreUnavailable } from '../../kv.ts'
import type { Connected } from './session.ts'

/** Interval between notifications, which may get lost, and timeout for the first arrival. */
const [againMs, mostMs] = [250, 5000]

/**
 * Requires that a notification of another connection arrives while this connection is idle. Only the listening session can deliver it, so
 * the pooler keeps that session for an idle connection. `other` opens a second connection through the same pooler, which is closed
 * afterwards. Throws `StoreUnavailable`.
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
    // two open clients with one process share their session
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
    `The pooler at ${shown} gives a client another session for each transaction, so notifications between daemons would be lost. ` +
      'Set pool_mode = session for this database and user in PgBouncer, or set POSTERN_STORE to the address of PostgreSQL itself.',
  )
