/** What has come into a list since it was read, for the pill over it: rows stay where they are until somebody wants to see the new ones. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Operation } from '../wire/operation.ts'
import { call } from './api.ts'
import { everyMs, useChanges, type LiveList } from './live.ts'
import { useTicks } from './query.ts'

export interface News {
  readonly added: number
  readonly changed: number
}

const none: News = { added: 0, changed: 0 }
const askEveryMs = 15_000

interface Followed<Input, Row> {
  readonly list: LiveList
  readonly operation: Operation<Input, { readonly data: readonly Row[] }>
  /** As the list was read; its first page is read again. */
  readonly input: Input
  /** Undefined while it is read. */
  readonly rows: readonly Row[] | undefined
}

/** Compares the first page as it is now with the rows that are shown. */
export function useNews<Input, Row extends { readonly id: string }>({ list, operation, input, rows }: Followed<Input, Row>): News {
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
    call(operation, input).then(
      ({ data }) => isNewest() && setNews(newsOf(rows, data)),
      () => undefined,
    )
  }, [rows, key])
  useTicks(everyMs(askEveryMs), look)
  useChanges(list, look)
  return news
}

function newsOf<Row extends { readonly id: string }>(rows: readonly Row[], now: readonly Row[]): News {
  const known = new Map(rows.map((row) => [row.id, JSON.stringify(row)]))
  const added = now.filter(({ id }) => !known.has(id)).length
  const changed = now.filter((row) => known.has(row.id) && known.get(row.id) !== JSON.stringify(row)).length
  return { added, changed }
}

interface Newest {
  /** Returns what tells, when the answer comes, whether it counts. */
  readonly ask: () => () => boolean
  /** What is asked already counts no more. */
  readonly forget: () => void
}

/** Of answers to one question, those that come behind the answer to a later one say what was. */
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
