/**
 * Tries as rows of an unlogged table, which no write waits for on disk: many tries cost little, and a crash of the database forgets them.
 * Times come from the clock of the database.
 */
import { hash } from 'node:crypto'
import type { SharedTries, Tried, TryWindow } from '../../daemons/tries.ts'
import type { Readers } from '../readers.ts'

/**
 * Part of the schema of the store. `tried`: times in milliseconds, oldest first. `had`: number of earlier tries in the window of the last
 * try.
 */
export const tryTable = `
  CREATE UNLOGGED TABLE IF NOT EXISTS postern_tries (key bytea PRIMARY KEY, tried bigint[] NOT NULL, had int NOT NULL, expires bigint NOT NULL)
    WITH (fillfactor = 70);
`

const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const add = {
  name: 'postern try',
  text: `INSERT INTO postern_tries AS t (key, tried, had, expires)
      SELECT $1::bytea, ARRAY[now], 0, now + $2::bigint FROM (SELECT ${now} AS now) AS clock
    ON CONFLICT (key) DO UPDATE SET (tried, had, expires) = (
      SELECT CASE WHEN count(*) < $3::int THEN coalesce(array_agg(at ORDER BY at), '{}') || excluded.tried[1]
          WHEN $4::bool THEN (array_agg(at ORDER BY at))[2:] || excluded.tried[1] ELSE array_agg(at ORDER BY at) END,
        count(*), excluded.expires
      FROM unnest(t.tried) AS at WHERE at > excluded.tried[1] - $2::bigint)
    RETURNING had, greatest(0, tried[1] + 2 * $2::bigint - expires) AS wait`,
}
const look = {
  name: 'postern tries',
  text: `SELECT count(at)::int AS had, coalesce(min(at) + $2::bigint - min(now), 0) AS wait
    FROM (SELECT ${now} AS now) AS clock, postern_tries AS t, unnest(t.tried) AS at WHERE t.key = $1::bytea AND at > now - $2::bigint`,
}
const clear = { name: 'postern clear tries', text: 'DELETE FROM postern_tries WHERE key = $1::bytea' }
const sweep = { name: 'postern sweep tries', text: `DELETE FROM postern_tries WHERE expires < ${now}` }

/** Interval for removing expired rows. */
const sweepMs = 600_000

interface Row {
  readonly had: number
  readonly wait: string
}

export class PostgresTries implements SharedTries {
  readonly #readers: Pick<Readers, 'query'>
  #swept = performance.now()

  constructor(readers: Pick<Readers, 'query'>) {
    this.#readers = readers
  }

  async add(key: string, { windowMs, most }: TryWindow, always: boolean): Promise<Tried> {
    if (performance.now() - this.#swept > sweepMs) {
      this.#swept = performance.now()
      await this.#readers.query(sweep, [])
    }
    return triedIn(await this.#readers.query<Row>(add, [keyOf(key), windowMs, most, always]))
  }

  async look(key: string, { windowMs }: TryWindow): Promise<Tried> {
    return triedIn(await this.#readers.query<Row>(look, [keyOf(key), windowMs]))
  }

  async clear(key: string): Promise<void> {
    await this.#readers.query(clear, [keyOf(key)])
  }
}

const triedIn = ([row]: readonly Row[]): Tried => ({ tries: row?.had ?? 0, waitMs: Number(row?.wait ?? 0) })

/** Hashed, because names can be long. */
const keyOf = (key: string): Buffer => hash('sha256', key, 'buffer')
