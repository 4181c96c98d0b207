/**
 * Prevents a start of daemons on a database in two cases. Its store was moved, and another daemon sends the same mail from the new place.
 * Or an unfinished copy exists and no rows are in use, so that a start would create an empty store.
 */
import { StoreUnavailable } from '../kv.ts'
import { parseStoreAddress } from './address.ts'
import { Servers } from './servers.ts'
import { stagedTable } from './staged-rows.ts'
import type { Client } from 'pg'

/** First words of the comment on the table of rows. A table that replaces it has no such comment. */
const mark = 'Moved to '

/** Resolves when the mark is durable. `to`: the new place, as messages show it. */
export async function markMoved(address: string, to: string): Promise<void> {
  const servers = new Servers(parseStoreAddress(address), 0)
  const client = await servers.connect('postern migrate')
  try {
    await client.query(`COMMENT ON TABLE postern_rows IS ${client.escapeLiteral(mark + to)}`)
  } finally {
    await client.end()
  }
}

/** Returns the new place of a store that was moved; undefined if it was not moved or does not exist. */
export async function movedTo(address: string): Promise<string | undefined> {
  const client = await new Servers(parseStoreAddress(address), 0).connect('postern migrate')
  try {
    const { rows } = await client.query<{ said: string | null }>(`SELECT obj_description(to_regclass('postern_rows'), 'pg_class') AS said`)
    return placeIn(rows[0]?.said)
  } finally {
    await client.end()
  }
}

const placeIn = (said: string | null | undefined): string | undefined =>
  said?.startsWith(mark) === true ? said.slice(mark.length) : undefined

/** For daemons that hold the lock of the store. Throws `StoreUnavailable`. */
export async function requireInUse(client: Client, shown: string): Promise<void> {
  const { rows } = await client.query<{ said: string | null; unfinished: boolean }>(
    `SELECT obj_description('postern_rows'::regclass, 'pg_class') AS said,
      to_regclass('${stagedTable}') IS NOT NULL AND NOT EXISTS (SELECT FROM postern_rows) AS unfinished`,
  )
  const [found] = rows
  if (found?.unfinished === true) {
    throw new StoreUnavailable(
      `The database at ${shown} contains an unfinished copy. Run postern migrate again without --ahead, then start the daemon; or run ` +
        `DROP TABLE ${stagedTable} there to start with an empty store.`,
    )
  }
  const to = placeIn(found?.said)
  if (to === undefined) return
  throw new StoreUnavailable(
    `The store at ${shown} was moved to ${to}. A daemon here would send mail a second time. Start with that store. If no ` +
      'daemon has ever started there, run COMMENT ON TABLE postern_rows IS NULL here to continue.',
  )
}
