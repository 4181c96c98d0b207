/** Hooks that read data for a screen: a single resource or a list by pages. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Answer, Input, ListRoute, Page, RequestParts, Route, Row } from '../wire/route.ts'
import { ApiFault, awaySince, call, callAny, firstAnswer } from './api.ts'
import { toast } from '../parts/toast.tsx'

/** `data` keeps the previous response while the service is unreachable. */
export type Read<T> =
  | { readonly state: 'loading'; readonly data?: T | undefined }
  | { readonly state: 'ready'; readonly data: T }
  | { readonly state: 'failed'; readonly fault: ApiFault; readonly data?: T | undefined }

export type Reading<T> = Read<T> & {
  readonly reload: () => void
  /** Reads again unless a read is in flight. A response slower than the polling interval would otherwise never arrive. */
  readonly refresh: () => void
}

interface Wanted {
  /** Whether the "API call" panel shows this call. */
  readonly isShown?: boolean
  /** Polling interval in milliseconds while the window is visible. */
  readonly every?: number | undefined
  /** Number of rows of the first page of a list. Defaults to the page size of the service. */
  readonly first?: number
  /** Number of rows of further pages, if they are to be larger than the first page. */
  readonly moreLimit?: number
}

/** Reads `input`, and again when it changes. Does nothing while `input` is undefined. */
export function useRead<R extends Route>(
  route: R,
  input: Input<R> | undefined,
  { isShown = false, every }: Wanted = {},
): Reading<Answer<R>> {
  const key = input === undefined ? '' : `${route} ${JSON.stringify(input)}`
  const [read, setRead] = useState((): { key: string; read: Read<Answer<R>> } => {
    const data = input && firstAnswer<Answer<R>>(route, input)
    return data === undefined ? { key: '', read: { state: 'loading' } } : { key, read: { state: 'ready', data } }
  })
  const [turn, setTurn] = useState(0)
  /** The input whose answer came with the page. Empty after its first use. */
  const given = useRef(read.key)
  const isBack = useRef(false)
  const { begin, isUnderWay } = useUnderWay()
  useEffect(() => {
    const isGiven = given.current === key
    given.current = ''
    if (input === undefined || isGiven) return undefined
    const aborter = new AbortController()
    const ended = begin()
    const keep = (next: (before: Read<Answer<R>>) => Read<Answer<R>>): void => {
      if (!aborter.signal.aborted) setRead((before) => ({ key, read: next(before.key === key ? before.read : { state: 'loading' }) }))
    }
    call(route, input, { signal: aborter.signal, isShown })
      .then(
        (data) => keep(() => ({ state: 'ready', data })),
        (error: unknown) => keep((before) => failed(before, error, isBack.current)),
      )
      .finally(ended)
    return () => aborter.abort()
  }, [key, turn])
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  const refresh = useCallback(() => isUnderWay() || reload(), [])
  useTicks(every, refresh)
  const current: Read<Answer<R>> = read.key === key ? read.read : { state: 'loading' }
  useReturn(current, isBack, reload)
  return { ...current, reload, refresh }
}

/** The largest answer with figures of single entries, the most active first. */
export const mostFigures = 200

/** Returns `input` limited to the first `count` rows: the newest, or the most active. */
export const firstOf = <I extends { readonly query?: unknown }>(count: number, input: I): I => ({
  ...input,
  query: { ...(input.query as object | undefined), limit: count },
})

/** Longer than any response takes. Slower requests count as lost. */
const lostMs = 45_000

/** Tracks whether the latest request is in flight. */
function useUnderWay(): { readonly begin: () => () => void; readonly isUnderWay: () => boolean } {
  const current = useRef<{ readonly since: number } | undefined>(undefined)
  const begin = (): (() => void) => {
    const own = { since: performance.now() }
    current.current = own
    return () => {
      if (current.current === own) current.current = undefined
    }
  }
  return { begin, isUnderWay: () => current.current !== undefined && performance.now() - current.current.since < lostMs }
}

/** Returns the failed state. Keeps the displayed data while the service is unreachable; the shell shows a notice. */
export function failed<T>({ data }: Read<T>, error: unknown, isBack: boolean): Read<T> {
  const fault = asFault(error)
  return { state: 'failed', fault, ...(fault.isAway && !isBack && { data }) }
}

/** Reads again when the service is reachable again. If this read fails too, the screen shows the error. */
export function useReturn(read: Read<unknown>, isBack: { current: boolean }, reload: () => void): void {
  const isAway = awaySince.value !== undefined
  const isLeft = read.state === 'failed' && read.fault.isAway
  useEffect(() => {
    if (isAway || !isLeft) isBack.current = false
    else if (!isBack.current) {
      isBack.current = true
      reload()
    }
  }, [isAway, isLeft])
}

/** Calls `tick` at an interval while the window is visible. */
export function useTicks(every: number | undefined, tick: () => void): void {
  useEffect(() => {
    if (every === undefined) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') tick()
    }, every)
    return () => clearInterval(timer)
  }, [every, tick])
}

export interface Listing<T> {
  readonly read: Read<readonly T[]>
  readonly more: (() => void) | undefined
  readonly isLoadingMore: boolean
  /** False if the list has more rows than one read returns and `more` cannot load them. */
  readonly isComplete?: boolean
  readonly reload: () => void
  readonly refresh: () => void
  /** Changes rows in place before the list is read again. */
  readonly change: (to: (rows: readonly T[]) => readonly T[]) => void
}

/** Reads the first page of a list, and further pages on demand. */
export function useList<R extends ListRoute>(
  route: R,
  given: Input<R> | undefined,
  { isShown = true, first, moreLimit = first }: Wanted = {},
): Listing<Row<R>> {
  const input: RequestParts | undefined = given && first !== undefined ? firstOf<RequestParts>(first, given) : given
  const readPage = async (parts: RequestParts, options = {}) => (await callAny(route, parts, options)) as Page<Row<R>>
  const key = JSON.stringify(input ?? null)
  const [page, setPage] = useState<{ key: string; read: Read<readonly Row<R>[]>; cursor: string | null }>(empty)
  const [isLoadingMore, setLoadingMore] = useState(false)
  const [turn, setTurn] = useState(0)
  /** A page could not be read. No further page is requested until the service is reachable. */
  const [isCut, setCut] = useState(false)
  const isBack = useRef(false)
  const latest = useRef(key)
  latest.current = key
  const { begin, isUnderWay } = useUnderWay()
  useEffect(() => {
    if (!input) return undefined
    const aborter = new AbortController()
    const ended = begin()
    readPage(input, { signal: aborter.signal, isShown })
      .then(
        ({ data, next_cursor: cursor }) => setPage({ key, read: { state: 'ready', data }, cursor }),
        (error: unknown) => {
          if (aborter.signal.aborted) return
          setPage((before) => ({ key, read: failed(before.key === key ? before.read : empty.read, error, isBack.current), cursor: null }))
        },
      )
      .finally(ended)
    return () => aborter.abort()
  }, [key, turn])
  const { cursor } = page
  const more = async (): Promise<void> => {
    if (!input || cursor === null || isLoadingMore || page.read.state !== 'ready') return
    setLoadingMore(true)
    const rows = page.read.data
    try {
      const next = await readPage({
        ...input,
        query: { ...input.query, cursor, ...(moreLimit !== undefined && { limit: moreLimit }) },
      })
      if (latest.current === key) setPage({ key, read: { state: 'ready', data: [...rows, ...next.data] }, cursor: next.next_cursor })
    } catch (error) {
      if (latest.current !== key) return
      const fault = asFault(error)
      if (!fault.isAway) return setPage({ key, read: { state: 'failed', fault }, cursor: null })
      setCut(true)
      toast(fault.message)
    } finally {
      setLoadingMore(false)
    }
  }
  const isCurrent = page.key === key
  const read: Read<readonly Row<R>[]> = isCurrent ? page.read : { state: 'loading' }
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  const refresh = useCallback(() => isUnderWay() || reload(), [])
  useReturn(read, isBack, reload)
  const isAway = awaySince.value !== undefined
  useEffect(() => void (isAway || setCut(false)), [isAway])
  return {
    read,
    more: isCurrent && cursor !== null && !isCut ? () => void more() : undefined,
    isLoadingMore,
    reload,
    refresh,
    change: (to) =>
      setPage((before) => (before.read.state === 'ready' ? { ...before, read: { state: 'ready', data: to(before.read.data) } } : before)),
  }
}

const empty = { key: '', read: { state: 'loading' } as const, cursor: null }

export const asFault = (error: unknown): ApiFault =>
  error instanceof ApiFault
    ? error
    : new ApiFault({ code: 'internal_error', message: error instanceof Error ? error.message : String(error) })

/** Shows the error of an action as a toast. */
export const showFault = (error: unknown): void => toast(asFault(error).message)
