/** Replies to a submission: drafts to send, and sent replies with their status. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { mayChange } from '../app/permissions.ts'
import { useChanges } from '../app/live.ts'
import type { Reading } from '../app/query.ts'
import { FormDialog } from '../parts/forms.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { attempt } from '../submissions/changes.ts'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormReply, FormSubmission } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Outcome } from './outcome.tsx'

interface RepliesProps {
  readonly submission: FormSubmission
  readonly read: Reading<{ readonly data: readonly FormReply[] }>
  readonly onEdit: (draft: FormReply) => void
  readonly onSent: () => void
}

export function Replies({ read, onEdit, onSent }: RepliesProps): JSX.Element | null {
  const w = texts()
  useChanges('traces', read.reload)
  const replies = read.data?.data ?? []
  if (read.state === 'failed') return <p class="faint">{read.fault.message}</p>
  if (replies.length === 0) return null
  return (
    <section class="sub-section">
      <h3>{w.replies}</h3>
      <ul class="replies">
        {replies.map((reply) => (
          <li key={reply.id}>
            <p class="reply-head">
              {reply.by_agent && <span class="tag held">{w.byAgent}</span>}
              {reply.status === 'awaiting_approval' && <span class="tag warn">{w.awaitsApproval}</span>}
              {reply.status === 'draft' && <span class="tag">{w.draft}</span>}
              {reply.trace_id !== null && <Outcome traceId={reply.trace_id} status={reply.trace_status} />}
              <b>
                <SafeText text={reply.subject} />
              </b>
              <span class="faint">{longTime(reply.sent_at ?? reply.updated_at)}</span>
            </p>
            <Body reply={reply} />
            {reply.status === 'draft' && mayChange.value && (
              <DraftActs reply={reply} onEdit={onEdit} onSent={onSent} onGone={read.reload} />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

const Body = ({ reply }: { readonly reply: FormReply }): JSX.Element => (
  <p class="prose">{reply.text === null ? <span class="faint">{texts().htmlOnly}</span> : <SafeText text={reply.text} />}</p>
)

interface DraftActsProps extends Pick<RepliesProps, 'onEdit' | 'onSent'> {
  readonly reply: FormReply
  readonly onGone: () => void
}

function DraftActs({ reply, onEdit, onSent, onGone }: DraftActsProps): JSX.Element {
  const w = texts()
  const [isSending, setSending] = useState(false)
  const path = { id: reply.form_id, draft_id: reply.id }
  const discard = async (): Promise<void> => {
    if (!(await attempt(async () => (await call('DELETE /v1/forms/{id}/reply-drafts/{draft_id}', { path }), true)))) return
    onGone()
    const body = {
      subject: reply.subject,
      ...(reply.from !== null && { from: reply.from }),
      ...(reply.text !== null && { text: reply.text }),
      ...(reply.html !== null && { html: reply.html }),
    }
    const again = { path: { id: reply.form_id, submission_id: reply.submission_id }, body }
    toast(
      w.draftDiscarded,
      () => void attempt(() => call('POST /v1/forms/{id}/submissions/{submission_id}/reply-drafts', again)).then(onGone),
    )
  }
  return (
    <div class="actions">
      <button class="button small" onClick={() => setSending(true)}>
        {w.sendReply}…
      </button>
      {reply.html === null && (
        <button class="button small" onClick={() => onEdit(reply)}>
          {w.editDraft}
        </button>
      )}
      <button class="button small quiet" onClick={() => void discard()}>
        {w.discard}
      </button>
      {isSending && (
        <FormDialog
          title={w.sendReplyTo({ to: plain(reply.to) })}
          submit={w.sendReply}
          onClose={() => setSending(false)}
          onSubmit={async () => {
            await call('POST /v1/forms/{id}/reply-drafts/{draft_id}/send', { path })
            setSending(false)
            toast(w.sentTo({ to: plain(reply.to) }))
            onSent()
          }}
        >
          {() => (
            <>
              <dl class="facts">
                <dt>{allTexts().from}</dt>
                <dd>{reply.from === null ? w.fromDestination : <SafeText text={reply.from} />}</dd>
                <dt>{allTexts().subject}</dt>
                <dd>
                  <SafeText text={reply.subject} />
                </dd>
              </dl>
              <Body reply={reply} />
              <p class="faint">{w.sentOnce}</p>
            </>
          )}
        </FormDialog>
      )}
    </div>
  )
}
