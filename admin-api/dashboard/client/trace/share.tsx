/** Public link of a trace, with a preview of the shared content before the link is copied. */
import type { JSX } from 'preact'
import { useRead } from '../app/query.ts'
import { boot } from '../app/boot.ts'
import { Dialog, copy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark, StatusTag } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import type { SharedTrace } from '../wire/api.d.ts'
import { addressOf } from '../wire/route.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './trace-texts.ts'

export function Share({ id, onClose }: { readonly id: string; readonly onClose: () => void }): JSX.Element {
  const [w, own] = [allTexts(), texts()]
  const input = { path: { trace_id: id } }
  const read = useRead('/share/traces/{trace_id}', input)
  const address = boot.baseUrl + addressOf('/share/traces/{trace_id}', input)
  return (
    <Dialog title={own.shareTitle} onClose={onClose}>
      <div>
        <h2>{own.shareTitle}</h2>
        <p class="lead">{own.shareText}</p>
        <Show read={read} reload={read.reload} failure={own.shareFailed} rows={4}>
          {(shared) => <Preview shared={shared} />}
        </Show>
        <p class="faint">
          {own.leftOut}: {own.leftOutText}.
        </p>
        <p class="share-link">
          <code>{address}</code>
        </p>
        <footer>
          <button class="button quiet" onClick={onClose}>
            {w.close}
          </button>
          <a class="button" href={address} target="_blank" rel="noopener noreferrer">
            {own.openLink}
          </a>
          <button class="button primary" onClick={() => void copy(address)}>
            <Icon name="copy" />
            {own.copyLink}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

/** Replies of an attempt, or with null those that bounces quote. */
const repliesOf = ({ replies }: SharedTrace, attempt: number | null): JSX.Element[] =>
  replies
    .filter((reply) => reply.attempt === attempt)
    .map(({ code, text }, i) => (
      <div key={i}>
        <code>
          {code} <SafeText text={text} />
        </code>
      </div>
    ))

function Preview({ shared }: { readonly shared: SharedTrace }): JSX.Element {
  const w = allTexts()
  const attempts = shared.timeline.filter(({ event }) => event === 'attempt')
  const lastBounce = shared.timeline.findLast(({ event }) => event === 'bounced')
  const title = (entry: SharedTrace['timeline'][number]): string => {
    const { event } = entry
    if (event === 'routed') return shared.outcome === 'relayed' ? w.routedRelayed : w.routedCaptured
    if (event === 'attempt') return w.attemptNumber({ n: attempts.indexOf(entry) + 1 })
    return Object.hasOwn(w.events, event) ? w.events[event as keyof typeof w.events] : event.replaceAll('_', ' ')
  }
  return (
    <div class="share-preview" tabIndex={0} role="group" aria-label={texts().shareTitle}>
      <p>
        <StatusTag name={shared.status} /> <code>{shared.outcome}</code>
      </p>
      <dl class="facts">
        {shared.provider !== null && (
          <>
            <dt>{texts().provider}</dt>
            <dd>{shared.provider}</dd>
          </>
        )}
        <dt>{w.recipients}</dt>
        <dd>
          {shared.recipients.map(({ address, status }, i) => (
            <span class="status" key={i}>
              <Mark name={status} />
              <SafeText text={address} />
            </span>
          ))}
        </dd>
      </dl>
      <ol>
        {shared.timeline.map((entry, i) => (
          <li key={i}>
            <time datetime={entry.at}>{longTime(entry.at)}</time> {title(entry)}
            {entry.event === 'attempt' && repliesOf(shared, attempts.indexOf(entry) + 1)}
            {entry === lastBounce && repliesOf(shared, null)}
          </li>
        ))}
      </ol>
    </div>
  )
}
