/** The parts of a captured message besides how it looks. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call, save } from '../app/api.ts'
import { link } from '../app/location.ts'
import { asFault, useRead, type Read } from '../app/query.ts'
import { CopyButton } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { bytes, span } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { getDestination, getInboxAttachment, getRawInboxMessage, type CapturedMessage } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import type { FoundLink } from './message-links.ts'

const maxSourceShown = 256 * 1024

export function SourceTab({ inboxId, messageId }: { readonly inboxId: string; readonly messageId: string }): JSX.Element {
  const w = words()
  const [read, setRead] = useState<Read<{ readonly text: string; readonly size: number }>>({ state: 'loading' })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const aborter = new AbortController()
    call(getRawInboxMessage, { path: { id: inboxId, message_id: messageId } }, { signal: aborter.signal })
      .then(async (file) => setRead({ state: 'ready', data: { text: await file.slice(0, maxSourceShown).text(), size: file.size } }))
      .catch((error: unknown) => !aborter.signal.aborted && setRead({ state: 'failed', fault: asFault(error) }))
    return () => aborter.abort()
  }, [inboxId, messageId, turn])
  return (
    <Show read={read} reload={() => setTurn(turn + 1)} failure={w.messageFailed}>
      {({ text, size }) => (
        <>
          {size > maxSourceShown && <p class="faint">{w.firstPart(bytes(maxSourceShown))}</p>}
          <pre class="code wrap" tabIndex={0}>
            <SafeText text={text.replaceAll('\r\n', '\n')} />
          </pre>
        </>
      )}
    </Show>
  )
}

type Headers = CapturedMessage['headers']

export function HeadersTab({ headers }: { readonly headers: Headers }): JSX.Element {
  const hops = hopsOf(headers)
  return (
    <>
      {hops.length > 0 && (
        <ol class="hops" aria-label={words().hops}>
          {hops.map(({ by, at, delay }, i) => (
            <li key={i}>
              <code>{by}</code>
              <time datetime={at}>{at}</time>
              <span class="num">{delay === undefined ? '' : `+${span(delay)}`}</span>
            </li>
          ))}
        </ol>
      )}
      <dl class="headers">
        {headers.map(({ name, value }, i) => (
          <div key={i}>
            <dt>
              <SafeText text={name} />
            </dt>
            <dd>
              <SafeText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** The servers that the message passed, from the first, by what they wrote; clocks may differ. */
function hopsOf(headers: Headers): readonly { readonly by: string; readonly at: string; readonly delay: number | undefined }[] {
  const received = headers.filter(({ name }) => name.toLowerCase() === 'received').reverse()
  let before: number | undefined
  return received.map(({ value }) => {
    const time = Date.parse(value.slice(value.lastIndexOf(';') + 1).trim())
    const delay = before === undefined || Number.isNaN(time) ? undefined : Math.max(0, time - before)
    if (!Number.isNaN(time)) before = time
    return { by: /\bby\s+(\S{1,200})/.exec(value)?.[1] ?? '–', at: Number.isNaN(time) ? '–' : new Date(time).toISOString(), delay }
  })
}

/** As text, so that looking at them is safe; each can be copied. */
export const LinksTab = ({ links }: { readonly links: readonly FoundLink[] }): JSX.Element =>
  links.length === 0 ? (
    <State title={words().noLinks} />
  ) : (
    <ul class="links">
      {links.map(({ address, where }) => (
        <li key={address}>
          <span class="tag">{where}</span>
          <code>
            <SafeText text={address} />
          </code>
          <CopyButton text={address} label={words().copy} />
        </li>
      ))}
    </ul>
  )

export function FilesTab({ message, inboxId }: { readonly message: CapturedMessage; readonly inboxId: string }): JSX.Element {
  const w = words()
  const download = async (index: number, name: string): Promise<void> => {
    try {
      await save(await call(getInboxAttachment, { path: { id: inboxId, message_id: message.id, index: String(index) } }), name)
    } catch (error) {
      toast(asFault(error).message)
    }
  }
  if (message.attachments.length === 0) return <State title={w.noAttachments} />
  return (
    <ul class="links">
      {message.attachments.map(({ filename, content_type: type, size, inline }, index) => (
        <li key={index}>
          <Icon name="clip" />
          <span>
            <b>
              <SafeText text={filename} />
            </b>{' '}
            <span class="faint">
              <SafeText text={type} />, {bytes(size)}
              {inline && `, ${w.inline}`}
            </span>
          </span>
          <button class="button small" onClick={() => void download(index, filename)}>
            <Icon name="download" />
            {w.download}
          </button>
        </li>
      ))}
    </ul>
  )
}

export function WhyTab({ message }: { readonly message: CapturedMessage }): JSX.Element {
  const w = words()
  const id = message.destination_id
  const destination = useRead(getDestination, id === null ? undefined : { path: { id } })
  const reasons = {
    'captured.anonymous_project': w.whyAnonymous,
    'captured.sandbox_destination': w.whySandbox(destination.data?.name ?? id ?? ''),
    'captured.no_route': w.whyNoRoute,
  }
  return (
    <div class="why">
      <h3>{reasons[message.capture_reason]}</h3>
      <p>
        <a href={link(`/traces/${message.trace_id}`)}>{w.everyDecision}</a>
      </p>
      <h3>{w.addressesSeen}</h3>
      <ul>
        {message.addresses_seen.map((address) => (
          <li key={address}>
            <code>
              <SafeText text={address} />
            </code>{' '}
            {message.intended_to.some((to) => to.toLowerCase() === address.toLowerCase()) && <span class="tag">{w.recipient}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
