/**
 * Daemons at the store. Each one increments a beat in its own row. If the row stays unchanged for too long, another daemon removes the row
 * and its leases. It measures the time with its own clock and regular queries. The removed daemon can write nothing from then on.
 */
import type { Client } from 'pg'
import { requireSameSession } from '../connections/session.ts'

/** Part of the schema of the store. */
export const daemonTables = `
  CREATE TABLE IF NOT EXISTS postern_daemons (id uuid PRIMARY KEY, beat bigint NOT NULL, began timestamptz NOT NULL DEFAULT now());
  CREATE TABLE IF NOT EXISTS postern_leases (unit text PRIMARY KEY,
    holder uuid NOT NULL REFERENCES postern_daemons (id) ON DELETE CASCADE);
`

/** A daemon is removed if its row is unchanged for this time. */
const deadMs = 6000
/** Observation of the beats starts again after a longer pause between two looks. */
const regularMs = 2500

interface Seen {
  readonly beat: string
  readonly since: number
}

export const join = (client: Client, id: string): Promise<unknown> =>
  client.query('INSERT INTO postern_daemons (id, beat) VALUES ($1, 0)', [id])

export const depart = (client: Client, id: string): Promise<unknown> => client.query('DELETE FROM postern_daemons WHERE id = $1', [id])

/**
 * Increments the beat of this daemon. Returns the time of the server, in milliseconds; undefined if another daemon removed this one. Throws
 * `StoreFailure` in a session other than the listening one.
 */
export async function beat(client: Client, id: string): Promise<number | undefined> {
  const { rows } = await client.query<{ now: string; pid: number }>({
    name: 'postern beat',
    text: `UPDATE postern_daemons SET beat = beat + 1 WHERE id = $1
      RETURNING extract(epoch FROM clock_timestamp()) * 1000 AS now, pg_backend_pid() AS pid`,
    values: [id],
  })
  const [row] = rows
  if (row) requireSameSession(client, row.pid)
  return row && Number(row.now)
}

export class Fellows {
  readonly #self: string
  #seen = new Map<string, Seen>()
  /** Unknown ids that a caller has asked for. They may have joined after the last look. */
  #unknown = new Set<string>()
  /** Ids that a look has proved to be gone. An id is not used again. */
  readonly #gone = new Set<string>()
  #lastLook = -Infinity

  constructor(self: string) {
    this.#self = self
  }

  /** Returns false only after a look has proved that the daemon is gone; a silent daemon counts until it is removed. */
  has(id: string): boolean {
    if (id === this.#self || this.#seen.has(id)) return true
    if (this.#gone.has(id)) return false
    this.#unknown.add(id)
    return true
  }

  /** Returns the living daemons, and the silent daemons with their last beats. */
  async look(client: Client, now: number): Promise<{ readonly living: string[]; readonly silent: ReadonlyMap<string, string> }> {
    const unknown = this.#unknown
    this.#unknown = new Set()
    const { rows } = await client.query<{ id: string; beat: string }>({
      name: 'postern daemons',
      text: 'SELECT id, beat FROM postern_daemons',
    })
    const isRegular = now - this.#lastLook < regularMs
    this.#lastLook = now
    const before = this.#seen
    this.#seen = new Map(
      rows.map(({ id, beat }) => {
        const known = before.get(id)
        return [id, isRegular && known?.beat === beat ? known : { beat, since: now }]
      }),
    )
    for (const id of [...before.keys(), ...unknown]) if (!this.#seen.has(id)) this.#gone.add(id)
    const silent = new Map<string, string>()
    for (const [id, { beat, since }] of this.#seen) if (id !== this.#self && now - since > deadMs) silent.set(id, beat)
    return { living: [...this.#seen.keys()].filter((id) => !silent.has(id)).toSorted(), silent }
  }
}

/** Removes a daemon and its leases, unless its beat has changed. Waits for a write of the daemon that is in progress. */
export async function bury(client: Client, id: string, beat: string): Promise<void> {
  await client.query(
    `WITH gone AS (DELETE FROM postern_daemons WHERE id = $1 AND beat = $2 RETURNING id)
      DELETE FROM postern_writers WHERE id IN (SELECT id FROM gone)`,
    [id, beat],
  )
}
