/** Reads whole lists for selections, names and counts. Components of a window that need the same list share one read. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Input, ListRoute, Page, RequestParts, Row } from '../wire/route.ts'
import { callAny, firstAnswer, onWrite } from './api.ts'
import { useChanges, type LiveList } from './live.ts'
import { organization } from './location.ts'
import { failed, useReturn, useTicks, type Listing, type Read } from './query.ts'

/** The largest page of the service. */
const pageSize = 200
const mostRows = 1000
/** The next component that needs an older list reads it again. */
const freshMs = 30_000
/** Pause after a change, so that a series of changes leads to one read. */
const settleMs = 150

interface Whole<T> {
  readonly rows: readonly T[]
  /** False if the list has more than `max` rows. */
  readonly isComplete: boolean
}

export type AllRows<T> = Whole<T> & Listing<T>

interface Limits {
  readonly max?: number
  readonly signal?: AbortSignal
  readonly isShown?: boolean
}

/** Follows the cursors of a list up to `max` rows. */
export async function readAll<R extends ListRoute>(
  route: R,
  input: Input<R>,
  { max = mostRows, signal, isShown = false }: Limits = {},
): Promise<Whole<Row<R>>> {
  const rows: Row<R>[] = []
  let cursor: string | null = null
  do {
    const limit = Math.min(pageSize, max - rows.length)
    const parts: RequestParts = input
    const query = { ...parts.query, limit, ...(cursor !== null && { cursor }) }
    const options = { ...(signal && { signal }), isShown: isShown && rows.length === 0 }
    const page = (await callAny(route, { ...parts, query }, options)) as Page<Row<R>>
    rows.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null && rows.length < max)
  return { rows, isComplete: cursor === null }
}

/** One list of the window, with the components that use it. */
class SharedList {
  read: Read<Whole<unknown>> = { state: 'loading' }
  /** Whether the service is reachable again after an interruption. */
  readonly isBack = { current: false }
  readonly root: string
  readonly #ask: (limits: Limits) => Promise<Whole<unknown>>
  readonly #users = new Set<() => void>()
  #wasUsed = false
  #readAt = -Infinity
  #reading: AbortController | undefined
  #settling: ReturnType<typeof setTimeout> | undefined

  /** `given` is the first page, if it came with the page of the screen. If more rows follow, the first component reads the list. */
  constructor(root: string, ask: (limits: Limits) => Promise<Whole<unknown>>, given: Page<unknown> | undefined) {
    this.root = root
    this.#ask = ask
    if (!given) return
    const isComplete = given.next_cursor === null
    this.read = { state: isComplete ? 'ready' : 'loading', data: { rows: given.data, isComplete } }
    if (isComplete) this.#readAt = performance.now()
  }

  /** Whether no component uses the list any longer, and its rows are old. */
  get isOver(): boolean {
    return this.#wasUsed && this.#users.size === 0 && performance.now() - this.#readAt > freshMs
  }

  /** Adds a component. Reads the list if it is older than 30 seconds, or if the screen shows it as its content. */
  join(user: () => void, isShown: boolean): () => void {
    this.#wasUsed = true
    this.#users.add(user)
    if (isShown || (!this.#reading && performance.now() - this.#readAt > freshMs)) this.load(isShown)
    return () => {
      this.#users.delete(user)
      if (this.#users.size > 0) return
      clearTimeout(this.#settling)
      this.#stop()
    }
  }

  load(isShown = false): void {
    clearTimeout(this.#settling)
    this.#stop()
    const reading = new AbortController()
    this.#reading = reading
    this.#readAt = performance.now()
    const end = (read: () => Read<Whole<unknown>>): void => {
      if (this.#reading !== reading) return
      this.#reading = undefined
      this.#tell(read())
    }
    this.#ask({ signal: reading.signal, isShown }).then(
      (data) => end(() => ({ state: 'ready', data })),
      (error: unknown) => {
        if (this.#reading === reading) this.#readAt = -Infinity
        end(() => failed(this.read, error, this.isBack.current))
      },
    )
  }

  /** Reads again unless a read is in flight. */
  refresh(): void {
    if (!this.#reading) this.load()
  }

  /** Reads again after a change, now if a component uses the list. */
  outdate(isNow: boolean): void {
    this.#readAt = -Infinity
    if (!isNow || this.#users.size === 0) return
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.load(), settleMs)
  }

  change(to: (rows: readonly unknown[]) => readonly unknown[]): void {
    if (this.read.state === 'ready') this.#tell({ state: 'ready', data: { ...this.read.data, rows: to(this.read.data.rows) } })
  }

  #stop(): void {
    this.#reading?.abort()
    if (this.#reading) this.#readAt = -Infinity
    this.#reading = undefined
  }

  #tell(read: Read<Whole<unknown>>): void {
    this.read = read
    for (const user of this.#users) user()
  }
}

const lists = new Map<string, SharedList>()

/** The resource of a path: `/v1/forms` of `/v1/forms/{id}/versions`. */
const rootOf = (path: string): string => /^(?:\/operator)?\/v1\/[^/]+/.exec(path)?.[0] ?? path

// a write may change any list; open screens read lists of the same resource again
onWrite((path) => {
  for (const list of lists.values()) list.outdate(list.root === rootOf(path))
})

function sharedList(key: string, path: string, input: RequestParts, ask: (limits: Limits) => Promise<Whole<unknown>>): SharedList {
  for (const [other, list] of lists) if (list.isOver) lists.delete(other)
  const known = lists.get(key)
  if (known) return known
  const list = new SharedList(rootOf(path), ask, firstAnswer<Page<unknown>>(path, input))
  lists.set(key, list)
  return list
}

/** Lists that the event stream reports, by resource. */
const liveLists: Readonly<Record<string, LiveList>> = {
  '/v1/forms': 'forms',
  '/v1/suppressions': 'suppressions',
  '/v1/inboxes': 'captures',
}

interface Wanted {
  readonly max?: number
  /** Whether the list is the content of the screen. It is then read when the screen opens, and shown in the "API call" panel. */
  readonly isShown?: boolean
  /** Polling interval in milliseconds while the window is visible. */
  readonly every?: number
}

/**
 * Reads all rows of a list, at most `max`. Reads them again after changes by this window, after events of the list, and when `input`
 * changes. Does nothing while `input` is undefined.
 */
export function useAll<R extends ListRoute>(
  route: R,
  input: Input<R> | undefined,
  { max = mostRows, isShown = false, every }: Wanted = {},
): AllRows<Row<R>> {
  const key = input === undefined ? '' : JSON.stringify([organization.value?.id, route, input, max])
  const [, setTurn] = useState(0)
  const list = input && sharedList(key, route, input, (limits) => readAll(route, input, { ...limits, max }))
  useEffect(() => list?.join(() => setTurn((before) => before + 1), isShown), [list])
  useChanges(liveLists[rootOf(route)], () => list?.outdate(true))
  const reload = useCallback(() => list?.load(), [list])
  const refresh = useCallback(() => list?.refresh(), [list])
  useTicks(every, refresh)
  const read = (list?.read ?? { state: 'loading' }) as Read<Whole<Row<R>>>
  useReturn(read, list?.isBack ?? noReturn, refresh)
  return {
    rows: read.data?.rows ?? none,
    isComplete: read.data?.isComplete ?? true,
    read: rowsOf(read),
    more: undefined,
    isLoadingMore: false,
    reload,
    refresh,
    change: (to) => list?.change(to as (rows: readonly unknown[]) => readonly unknown[]),
  }
}

const none: readonly never[] = []
const noReturn = { current: false }

const rowsOf = <T>(read: Read<Whole<T>>): Read<readonly T[]> =>
  read.state === 'ready' ? { state: 'ready', data: read.data.rows } : { ...read, data: read.data?.rows }
