/** The message of a trace as it looks, where it was captured; what was relayed is not given out by any operation. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { link } from '../app/location.ts'
import { asFault, type Read } from '../app/query.ts'
import { MessageFrame, pathOfView } from '../captures/message-frame.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Loading } from '../parts/states.tsx'
import { bytes } from '../parts/time.ts'
import { getInboxMessage, listInboxes, listInboxMessages, type CapturedMessage, type Trace } from '../wire/operations.ts'
import { words } from '../words/words.ts'

export interface FoundCapture {
  readonly inboxId: string
  readonly message: CapturedMessage
}

/** The captured message of the trace, from the catch-all inbox of its project; undefined where it was not captured. */
export function useCapture(trace: Trace): Read<FoundCapture | undefined> {
  const [read, setRead] = useState<Read<FoundCapture | undefined>>({ state: 'loading' })
  const isCaptured = trace.status === 'captured'
  useEffect(() => {
    if (!isCaptured) return setRead({ state: 'ready', data: undefined })
    const aborter = new AbortController()
    find(trace, aborter.signal).then(
      (data) => setRead({ state: 'ready', data }),
      (error: unknown) => !aborter.signal.aborted && setRead({ state: 'failed', fault: asFault(error) }),
    )
    return () => aborter.abort()
  }, [trace.trace_id, isCaptured])
  return read
}

async function find(trace: Trace, signal: AbortSignal): Promise<FoundCapture | undefined> {
  const { data: inboxes } = await call(listInboxes, { query: { project: trace.project_id, limit: '200' } }, { signal })
  const inbox = inboxes.find(({ address_pattern: pattern }) => pattern === '*')
  if (!inbox) return undefined
  const since = new Date(Date.parse(trace.created_at) - 1).toISOString()
  const query = { since, limit: '200', ...(trace.to[0] !== undefined && { address: trace.to[0] }) }
  const { data } = await call(listInboxMessages, { path: { id: inbox.id }, query }, { signal })
  const found = data.find(({ trace_id: id }) => id === trace.trace_id)
  if (!found) return undefined
  return { inboxId: inbox.id, message: await call(getInboxMessage, { path: { id: inbox.id, message_id: found.id } }, { signal }) }
}

export function MessageTab({ trace, capture }: { readonly trace: Trace; readonly capture: Read<FoundCapture | undefined> }): JSX.Element {
  const w = words()
  const found = capture.data
  return (
    <div class="block">
      <dl class="facts">
        <dt>From</dt>
        <dd>
          <SafeText text={trace.from || trace.mail_from} />
        </dd>
        <dt>To</dt>
        <dd>
          <SafeText text={trace.to.join(', ')} />
        </dd>
        <dt>Message-ID</dt>
        <dd class="mono">
          <SafeText text={trace.message_id} />
        </dd>
        <dt>{w.size}</dt>
        <dd>{bytes(trace.size)}</dd>
      </dl>
      {capture.state === 'loading' && <Loading rows={3} />}
      {capture.state === 'ready' && !found && (
        <div class="note">
          <p>{trace.status === 'captured' ? w.captureGone : w.relayedContent}</p>
        </div>
      )}
      {found && (
        <>
          {found.message.html === '' ? (
            <pre class="paper text" tabIndex={0}>
              {found.message.text}
            </pre>
          ) : (
            <MessageFrame view={pathOfView(found.message)} width="full" withImages={false} />
          )}
          <p>
            <a href={link(`/captures/${found.inboxId}/${found.message.id}`)}>{w.openInReader}</a>
          </p>
        </>
      )}
    </div>
  )
}
