/** Details of an inbox: notified addresses, retention, and an example of a test that waits for the next message. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { CopyButton } from '../parts/controls.tsx'
import { curlOf } from '../app/call-examples.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { longTime } from '../parts/time.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './captures-texts.ts'
import { EditInbox, EndInbox } from './edit-inbox.tsx'

export function AboutInbox({ inboxId }: { readonly inboxId: string }): JSX.Element | null {
  const w = texts()
  const { data: inbox, reload } = useRead('/v1/inboxes/{id}', { path: { id: inboxId } })
  const [open, setOpen] = useState<'edit' | 'end'>()
  if (!inbox) return null
  const wait = curlOf({ route: 'POST /v1/inboxes/{id}/wait', input: { path: { id: inboxId }, query: { timeout: 60 } } })
  const { last_notify: last, retention_days: days } = inbox
  return (
    <details class="about-inbox">
      <summary>{w.aboutInbox}</summary>
      <dl class="facts">
        <dt>{w.notifies}</dt>
        <dd>{inbox.notify_webhook_url === null ? w.notifiesNone : <SafeText text={inbox.notify_webhook_url} />}</dd>
        <dt>{w.lastNotified}</dt>
        <dd>{last ? `${longTime(last.at)}, ${String(last.status_code ?? last.error ?? '')}` : w.never}</dd>
        <dt>{w.keptFor}</dt>
        <dd>{days === null ? w.asPlan : w.days({ n: days })}</dd>
      </dl>
      <p>
        {w.waitFor} <CopyButton text={wait} label={allTexts().copy} />
      </p>
      <pre class="code" tabIndex={0}>
        {wait}
      </pre>
      <button class="button small" type="button" aria-disabled aria-describedby="clear-inbox">
        {w.clear}
      </button>
      <p class="faint" id="clear-inbox">
        {w.clearText}
      </p>
      {mayChange.value && (
        <div class="actions">
          <button class="button small" type="button" onClick={() => setOpen('edit')}>
            {w.editInbox}
          </button>
          {inbox.address_pattern !== '*' && (
            <button class="button small danger" type="button" onClick={() => setOpen('end')}>
              {w.endInbox}
            </button>
          )}
        </div>
      )}
      {open === 'edit' && <EditInbox inbox={inbox} onClose={() => setOpen(undefined)} onDone={reload} />}
      {open === 'end' && <EndInbox inbox={inbox} onClose={() => setOpen(undefined)} />}
    </details>
  )
}
