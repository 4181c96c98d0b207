/** Reading for a screen: what was asked for, until something else is; a list page by page; and what is new in it. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Operation } from '../wire/operation.ts'
import { ApiFault, awaySince, call } from './api.ts'
import { toast } from '../parts/toast.tsx'

/** What was read before stays while the service is away. */
export type Read<T> =
  | { readonly state: 'loading'; readonly data?: T | undefined }
  | { readonly state: 'ready'; readonly data: T }
  | { readonly state: 'failed'; readonly fault: ApiFault; readonly data?: T | undefined }

export type Reading<T> = Read<T> & {
  readonly reload: () => void
  /** Reads again as the clock says: not while it is being read, as an answer that takes longer than the clock would never come. */
  readonly refresh: () => void
}

interface Wanted {
  /** The screen shows what this call gives. */
  readonly isShown?: boolean
  /** Asks again so often, in milliseconds, while the window is seen. */
  readonly every?: number | undefined
  /** Entries of further pages of a list, where they are to be larger than the first one. */
  readonly moreLimit?: number
}

/** Asks for what `input` names, and again when it changes; nothing while it is undefined. */
export function useRead<I, O>(operation: Operation<I, O>, input: I | undefined, { isShown = false, every }: Wanted = {}): Reading<O> {
  const key = input === undefined ? '' : `${operation.id} ${JSON.stringify(input)}`
  const [read, setRead] = useState<{ key: string; read: Read<O> }>({ key: '', read: { state: 'loading' } })
  const [turn, setTurn] = useState(0)
  const isBack = useRef(false)
  const { begin, isUnderWay } = useUnderWay()
  useEffect(() => {
    if (input === undefined) return undefined
    const aborter = new AbortController()
    const ended = begin()
    const keep = (next: (before: Read<O>) => Read<O>): void => {
      if (!aborter.signal.aborted) setRead((before) => ({ key, read: next(before.key === key ? before.read : { state: 'loading' }) }))
    }
    call(operation, input, { signal: aborter.signal, isShown })
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
  const current: Read<O> = read.key === key ? read.read : { state: 'loading' }
  useReturn(current, isBack, reload)
  return { ...current, reload, refresh }
}

/** Longer than the service takes for an answer: what takes longer is lost. */
const lostMs = 45_000

/** Whether what was begun last has not ended yet. */
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

/** What is shown goes on being shown while the service is away, which the shell says over it. */
function failed<T>({ data }: Read<T>, error: unknown, isBack: boolean): Read<T> {
  const fault = asFault(error)
  return { state: 'failed', fault, ...(fault.isAway && !isBack && { data }) }
}

/** Reads again what failed while the service was away, as soon as it answers; what fails then is not what is away. */
function useReturn(read: Read<unknown>, isBack: { current: boolean }, reload: () => void): void {
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

/** Calls `tick` again and again while the window is seen. */
export function useTicks(every: number | undefined, tick: () => void): void {
  useEffect(() => {
    if (every === undefined) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') tick()
    }, every)
    return () => clearInterval(timer)
  }, [every, tick])
}

interface Page<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

export interface Listing<T> {
  readonly read: Read<readonly T[]>
  readonly more: (() => void) | undefined
  readonly isLoadingMore: boolean
  readonly reload: () => void
  readonly refresh: () => void
  /** Changes entries in place, before the service is asked again. */
  readonly change: (to: (rows: readonly T[]) => readonly T[]) => void
}

/** A list with cursors: its first page, and further ones on demand. */
export function useList<Q, T>(
  operation: Operation<{ path?: Readonly<Record<string, string>>; query?: Q }, Page<T>>,
  input: { readonly path?: Readonly<Record<string, string>>; readonly query?: Q } | undefined,
  { isShown = true, moreLimit }: Wanted = {},
): Listing<T> {
  const key = JSON.stringify(input ?? null)
  const [page, setPage] = useState<{ key: string; read: Read<readonly T[]>; cursor: string | null }>(empty)
  const [isLoadingMore, setLoadingMore] = useState(false)
  const [turn, setTurn] = useState(0)
  /** A page could not be read: others are asked for once the service is back. */
  const [isCut, setCut] = useState(false)
  const isBack = useRef(false)
  const latest = useRef(key)
  latest.current = key
  const { begin, isUnderWay } = useUnderWay()
  useEffect(() => {
    if (!input) return undefined
    const aborter = new AbortController()
    const ended = begin()
    call(operation, input, { signal: aborter.signal, isShown })
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
      const next = await call(operation, {
        ...input,
        query: { ...input.query, cursor, ...(moreLimit !== undefined && { limit: String(moreLimit) }) } as Q,
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
  const read: Read<readonly T[]> = isCurrent ? page.read : { state: 'loading' }
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  const refresh = useCallback(() => isUnderWay() || reload(), [])
  useReturn(read, isBack, reload)
  const isAway = awaySince.value !== undefined
  useEffect(() => {
    if (!isAway) setCut(false)
  }, [isAway])
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
