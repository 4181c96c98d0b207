/** Leases as rows with one holder each. A lease ends when its daemon is removed. */
import type { Client } from 'pg'

export async function holders(client: Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ unit: string; holder: string }>({
    name: 'postern leases',
    text: 'SELECT unit, holder FROM postern_leases',
  })
  return new Map(rows.map(({ unit, holder }) => [unit, holder]))
}

export async function doOthersHold(client: Client, id: string): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM postern_leases WHERE holder <> $1 LIMIT 1', [id])
  return rows.length > 0
}

/** Takes free leases and returns their names. */
export async function takeLeases(client: Client, id: string, names: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ unit: string }>({
    name: 'postern take',
    text: `INSERT INTO postern_leases (unit, holder) SELECT unit, $1 FROM unnest($2::text[]) AS wanted(unit)
      ORDER BY unit ON CONFLICT (unit) DO NOTHING RETURNING unit`,
    values: [id, names],
  })
  return rows.map(({ unit }) => unit)
}

export const giveBackLease = (client: Client, id: string, name: string): Promise<unknown> =>
  client.query('DELETE FROM postern_leases WHERE unit = $1 AND holder = $2', [name, id])
