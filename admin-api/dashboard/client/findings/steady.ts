/**
 * Rows of findings that keep their places while the list is read again: changed rows change in place, ended rows stay and are marked, and
 * new rows are only counted.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import type { News } from '../app/new-entries.ts'
import { asFault } from '../app/query.ts'
import type { Finding } from '../wire/api.d.ts'

interface Steady {
  readonly rows: readonly Finding[]
  /** Rows that are not shown yet, and shown rows that have ended or reopened. */
  readonly news: News
}

type Rows = readonly Finding[]

/** Maximum number of rows that are read one by one after a read of the list. */
const maxReads = 10

/**
 * Returns the placed rows with their current content. `now` is the latest read of the whole list. Rows that it lacks are read one by one.
 * `isNew` decides which rows count as new; by default all that are not placed.
 */
export function useSteady(placed: Rows | undefined, now: Rows | undefined, isNew: (finding: Finding) => boolean = () => true): Steady {
  const fresh = useFresh(placed, now)
  const [gone, setGone] = useState<ReadonlyMap<Finding, Finding>>(new Map())
  useEffect(() => {
    if (!placed || !fresh) return undefined
    let isLeft = false
    const missing = missingOf(placed, fresh).filter((row) => gone.get(row)?.state !== 'over')
    void Promise.all(missing.slice(0, maxReads).map(async (row) => [row, await read(row)] as const)).then((found) => {
      if (!isLeft && found.length > 0) setGone((before) => new Map([...before, ...found]))
    })
    return () => (isLeft = true)
  }, [fresh])
  return steady(placed ?? [], fresh, gone, isNew)
}

/** Returns undefined while `now` is older than the placed rows. */
function useFresh(placed: Rows | undefined, now: Rows | undefined): Rows | undefined {
  const begin = useRef({ placed, now })
  if (begin.current.placed !== placed) begin.current = { placed, now }
  return now === begin.current.now ? undefined : now
}

const missingOf = (placed: Rows, now: Rows): Rows => {
  const ids = new Set(now.map(({ id }) => id))
  return placed.filter(({ id }) => !ids.has(id))
}

async function read(row: Finding): Promise<Finding> {
  try {
    return await call('/v1/findings/{id}', { path: { id: row.id } })
  } catch (error) {
    // deleted with its project
    return asFault(error).code === 'not_found' ? { ...row, state: 'over', over_at: new Date().toISOString() } : row
  }
}

/** Pure part of `useSteady`. `gone` has the rows that were read one by one, by placed row. */
function steady(placed: Rows, fresh: Rows | undefined, gone: ReadonlyMap<Finding, Finding>, isNew: (finding: Finding) => boolean): Steady {
  const current = new Map(fresh?.map((finding) => [finding.id, finding]))
  const rows = placed.map((row) => current.get(row.id) ?? gone.get(row) ?? row)
  return {
    rows,
    news: {
      added: fresh ? missingOf(fresh, placed).filter((finding) => isNew(finding)).length : 0,
      changed: rows.filter(({ state }, at) => state !== placed[at]?.state).length,
    },
  }
}
