/**
 * Subscribes to changes of lists. All screens of a window share one event stream, which is open while the window is visible. A changed list
 * notifies its listeners, which read it again. Without a stream, screens poll.
 */
import { effect, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { addressOf } from '../wire/route.ts'
import { awaySince, noteAnswer } from './api.ts'
import { organization, projectId } from './location.ts'
import { mayRead } from './permissions.ts'

export type LiveList = 'traces' | 'captures' | 'webhook_deliveries' | 'suppressions' | 'forms' | 'form_submissions'

/** Whether the event stream is open. */
export const isStreaming = signal(false)

/** Returns the polling interval in milliseconds: 60 s with an open stream, else the given one. */
export const everyMs = (withoutStream: number): number => (isStreaming.value ? 60_000 : withoutStream)

const listeners = new Map<LiveList, Set<() => void>>()

/** Calls `onChange` after changes of a list. Does nothing while `list` is undefined. */
export function useChanges(list: LiveList | undefined, onChange: () => void): void {
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    if (list === undefined) return undefined
    const listener = (): void => latest.current()
    listeners.set(list, (listeners.get(list) ?? new Set<() => void>()).add(listener))
    return () => void listeners.get(list)?.delete(listener)
  }, [list])
}

const retryMs = 5000
/** Delay until the next attempt after an error response, for example from a service without streams. */
const refusedMs = 60_000

/** Opens the event stream. Opens it again for another project, after an interruption, and when the window becomes visible again. */
export function followChanges(): void {
  const isSeen = signal(document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', () => (isSeen.value = document.visibilityState === 'visible'))
  // requests failed while the browser was offline; the next ones show whether the service is reachable
  addEventListener('online', notifyAll)
  let wasAway = false
  effect(() => {
    const isAway = awaySince.value !== undefined
    if (wasAway && !isAway) notifyAll()
    wasAway = isAway
  })
  effect(() => {
    const id = organization.value?.id
    const project = projectId.value
    if (id === undefined || !mayRead.value || !isSeen.value) return undefined
    const aborter = new AbortController()
    void follow(id, project, aborter.signal)
    return () => aborter.abort()
  })
}

async function follow(organizationId: string, project: string | undefined, aborts: AbortSignal): Promise<void> {
  const address = addressOf('/v1/events', { query: { project } })
  let lastId: string | undefined
  let wasOpen = false
  while (!aborts.aborted) {
    let pauseMs = retryMs
    try {
      const headers = {
        accept: 'text/event-stream',
        'x-organization-id': organizationId,
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      }
      const response = await fetch(address, { headers, credentials: 'same-origin', cache: 'no-store', signal: aborts })
      if (response.ok && response.body) {
        isStreaming.value = true
        noteAnswer(false)
        if (wasOpen) notifyAll()
        wasOpen = true
        lastId = await read(response.body, lastId)
      } else pauseMs = refusedMs
    } catch {
      // the stream was interrupted, or the window is hidden
    }
    isStreaming.value = false
    if (!aborts.aborted) await pause(pauseMs, aborts)
  }
}

const pause = (ms: number, aborts: AbortSignal): Promise<void> =>
  new Promise((done) => {
    const timer = setTimeout(done, ms)
    aborts.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true })
  })

/** Reads events until the stream ends. Returns the id of the last event. */
async function read(body: ReadableStream<Uint8Array>, before: string | undefined): Promise<string | undefined> {
  let lastId = before
  let text = ''
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }) as const)
    if (done || value === undefined) return lastId
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      lastId = /^id: (.*)$/m.exec(block)?.[1] ?? lastId
      tell(/^event: (.*)$/m.exec(block)?.[1], /^data: (.*)$/m.exec(block)?.[1])
    }
  }
}

/** Lists whose listeners were called within the last two seconds. True if the list has changed again since. */
const resting = new Map<LiveList, boolean>()
const restMs = 2000

/** Notifies the listeners of a list at most every two seconds. */
function notify(list: LiveList): void {
  if (resting.has(list)) return void resting.set(list, true)
  resting.set(list, false)
  for (const listener of listeners.get(list) ?? []) listener()
  setTimeout(() => {
    const isAgain = resting.get(list) === true
    resting.delete(list)
    if (isAgain) notify(list)
  }, restMs)
}

/** Notifies the listeners of all lists, because events may have been missed. */
function notifyAll(): void {
  for (const list of listeners.keys()) notify(list)
}

function tell(event: string | undefined, data = '{}'): void {
  if (event === 'reset') notifyAll()
  if (event !== 'change') return
  notify((JSON.parse(data) as { readonly list: LiveList }).list)
}
