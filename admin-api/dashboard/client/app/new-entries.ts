/** Counts new entries of a list for the "new" pill above it. The rows do not move until the user shows the new ones. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Input, ListRoute, Row } from '../wire/route.ts'
import { call } from './api.ts'
import { everyMs, useChanges, type LiveList } from './live.ts'
import { useTicks } from './query.ts'

export interface News {
  readonly added: number
  readonly changed: number
}

const none: News = { added: 0, changed: 0 }
const askEveryMs = 15_000

interface Identified {
  readonly id: string
}

/** Routes of lists whose rows have an id. */
type FollowedRoute = { [R in ListRoute]: Row<R> extends Identified ? R : never }[ListRoute]

interface Followed<R extends FollowedRoute> {
  readonly list: LiveList
  readonly route: R
  /** Input of the call that read the list. Its first page is read again. */
  readonly input: Input<R>
  /** Undefined while the list is loading. */
  readonly rows: readonly Row<R>[] | undefined
}

/** Compares the current first page with the displayed rows. */
export function useNews<R extends FollowedRoute>({ list, route, input, rows }: Followed<R>): News {
  const [news, setNews] = useState(none)
  const key = JSON.stringify(input)
  const { ask, forget } = useNewest()
  useEffect(() => {
    forget()
    setNews(none)
  }, [rows, key])
  const look = useCallback(() => {
    if (rows === undefined) return
    const isNewest = ask()
    call(route, input).then(
      ({ data }) => isNewest() && setNews(newsOf(rows as readonly Identified[], data as readonly Identified[])),
      () => undefined,
    )
  }, [rows, key])
  useTicks(everyMs(askEveryMs), look)
  useChanges(list, look)
  return news
}

function newsOf(rows: readonly Identified[], now: readonly Identified[]): News {
  const known = new Map(rows.map((row) => [row.id, JSON.stringify(row)]))
  const added = now.filter(({ id }) => !known.has(id)).length
  const changed = now.filter((row) => known.has(row.id) && known.get(row.id) !== JSON.stringify(row)).length
  return { added, changed }
}

interface Newest {
  /** Starts a request. The returned function reports whether its response is still current. */
  readonly ask: () => () => boolean
  /** Makes all requests in flight obsolete. */
  readonly forget: () => void
}

/** Orders responses to repeated requests. A response is obsolete if a later request was answered first. */
export function useNewest(): Newest {
  const [asked, answered] = [useRef(0), useRef(0)]
  const ask = (): (() => boolean) => {
    const turn = ++asked.current
    return () => {
      if (turn <= answered.current) return false
      answered.current = turn
      return true
    }
  }
  return { ask, forget: () => void (answered.current = asked.current) }
}
