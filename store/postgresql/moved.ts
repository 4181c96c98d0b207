/**
 * What keeps daemons from a database: its store was moved elsewhere, where another daemon sends the same mail; or nothing is in use yet
 * while a copy lies there that was not finished, so that a start would begin an empty store beside it.
 */
import { StoreUnavailable } from '../kv.ts'
import { parseStoreAddress } from './address.ts'
import { Servers } from './servers.ts'
import { stagedTable } from './staged-rows.ts'
import type { Client } from 'pg'

/** Begins the comment on the rows in use; what is put in their place has none. */
const mark = 'Moved to '

/** Durable when it resolves. `to`: the place, as messages show it. */
export async function markMoved(address: string, to: string): Promise<void> {
  const servers = new Servers(parseStoreAddress(address), 0)
  const client = await servers.connect('postern migrate')
  try {
    await client.query(`COMMENT ON TABLE postern_rows IS ${client.escapeLiteral(mark + to)}`)
  } finally {
    await client.end()
  }
}

/** Where the store was moved to; undefined for one that was not, and when there is none. */
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

/** For daemons, once they hold the store. Throws `StoreUnavailable`. */
export async function requireInUse(client: Client, shown: string): Promise<void> {
  const { rows } = await client.query<{ said: string | null; unfinished: boolean }>(
    `SELECT obj_description('postern_rows'::regclass, 'pg_class') AS said,
      to_regclass('${stagedTable}') IS NOT NULL AND NOT EXISTS (SELECT FROM postern_rows) AS unfinished`,
  )
  const [found] = rows
  if (found?.unfinished === true) {
    throw new StoreUnavailable(
      `The database at ${shown} holds a copy that was not finished. Run postern migrate again, without --ahead, and start then; or run ` +
        `DROP TABLE ${stagedTable} there to begin with an empty store.`,
    )
  }
  const to = placeIn(found?.said)
  if (to === undefined) return
  throw new StoreUnavailable(
    `The store at ${shown} was moved to ${to}: a daemon here would send again what one there sends. Start with that store, or, when no ` +
      'daemon has ever started there, run COMMENT ON TABLE postern_rows IS NULL here to go on.',
  )
}
