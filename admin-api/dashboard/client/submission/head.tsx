/** Head of a submission: sender, origin, spam verdict with reasons, and actions. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { keyFor, pressedFor } from '../app/keys.ts'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { shortcuts } from '../app/settings.ts'
import { CopyButton } from '../parts/controls.tsx'
import { EndDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { exactTime, shortTime, span } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { titleOf } from '../submissions/submission-text.ts'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormSubmission } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import type { Act, ReaderProps } from './reader-props.ts'

interface HeadProps extends Pick<ReaderProps, 'form' | 'back' | 'hasNext' | 'onNext' | 'onDone'> {
  readonly submission: FormSubmission
  readonly acts: Readonly<Record<Act, () => void>>
  readonly onReply: () => void
}

export function Head(props: HeadProps): JSX.Element {
  const { submission, form, back, hasNext, onNext } = props
  const [w, common] = [texts(), allTexts()]
  return (
    <header class="reader-head sub-head">
      <div>
        <a class="button quiet square back-button" aria-label={common.back} href={back}>
          <Icon name="left" />
        </a>
        <h2>
          <SafeText text={titleOf(submission)} />
        </h2>
        {mayChange.value && <Tools {...props} />}
        <button class="button quiet sub-tool wide-only" title={w.print} onClick={() => print()}>
          <Icon name="print" />
          <span class="sub-tool-label">{w.print}</span>
        </button>
        <button
          class="button quiet square"
          aria-label={w.next}
          title={w.next}
          aria-keyshortcuts={keyFor('j')}
          aria-disabled={!hasNext}
          onClick={onNext}
        >
          <Icon name="down" />
        </button>
      </div>
      <About submission={submission} form={form} />
      {submission.status === 'spam' && (
        <div class="note warn">
          <Mark name="warning" />
          <div>
            <p>
              <b>{w.isSpam}</b> {submission.spam_reasons.length > 0 && w.spamQuiet}
            </p>
            <ul>
              {submission.spam_reasons.length === 0 && <li>{w.spamByHand}</li>}
              {submission.spam_reasons.map((reason) => (
                <li key={reason}>
                  {w.spamReasons[reason]} <code>{reason}</code>
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
    </header>
  )
}

/** Origin: form, version, time, fill duration and reference. */
function About({ submission, form }: Pick<HeadProps, 'submission' | 'form'>): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  return (
    <p class="sub-meta">
      <span>
        {form && (
          <a href={link(`/forms/${form.id}`)} title={w.openForm}>
            <SafeText text={form.name} />
          </a>
        )}
        <a href={link(`/forms/${submission.form_id}/versions`, { version: String(submission.version) })}>
          {w.version({ version: submission.version })}
        </a>
      </span>
      <time datetime={submission.created_at} title={exactTime(submission.created_at)}>
        {shortTime(submission.created_at, true)}
      </time>
      {submission.fill_ms !== null && <span>{w.filledIn({ time: span(submission.fill_ms) })}</span>}
      {submission.status !== 'spam' && (
        <span class="good">
          <Mark name="ok" /> {w.noSpam}
        </span>
      )}
      <span class="tag">{w.statuses[submission.status]}</span>
      <span>
        <code>{submission.reference}</code>
        <CopyButton text={submission.id} label={common.copyId} />
      </span>
    </p>
  )
}

function Tools({ submission, acts, onReply, onDone }: HeadProps): JSX.Element {
  const w = texts()
  const [isEnding, setEnding] = useState(false)
  const { status } = submission
  const tools = [
    { icon: 'archive', isNamed: true, label: status === 'archived' ? w.unarchive : w.archive, key: 'e', run: acts.archive },
    { icon: 'suppressions', isNamed: true, label: status === 'spam' ? w.notSpam : w.spam, key: '!', run: acts.spam },
    { icon: 'note', isNamed: true, label: w.note, key: 'n', run: () => document.getElementById('submission-note')?.focus() },
    { icon: 'new', isNamed: false, label: w.markUnread, key: 'u', run: acts.unread },
  ] as const
  return (
    <>
      <button class="button" aria-keyshortcuts={keyFor('r')} onClick={onReply}>
        <Icon name="reply" />
        <span class="sub-reply-label">{w.reply}</span>
      </button>
      {tools.map(({ icon, label, key, run, isNamed }) => (
        <button
          key={key}
          class={`button quiet sub-tool${isNamed ? ' named' : ''}${key === 'n' ? ' wide-only' : ''}`}
          aria-keyshortcuts={keyFor(key)}
          title={shortcuts.value ? `${label} (${pressedFor(key)})` : label}
          onClick={run}
        >
          <Icon name={icon} />
          <span class="sub-tool-label">{label}</span>
        </button>
      ))}
      <button class="button quiet sub-tool" title={w.deleteIt} onClick={() => setEnding(true)}>
        <Icon name="trash" />
        <span class="sub-tool-label">{w.deleteIt}</span>
      </button>
      {isEnding && (
        <EndDialog
          title={w.deleteMany({ n: 1 })}
          effects={[w.deleteEffect]}
          name={submission.reference}
          submit={w.deleteMany({ n: 1 })}
          onClose={() => setEnding(false)}
          onSubmit={async () => {
            await call('DELETE /v1/forms/{id}/submissions/{submission_id}', {
              path: { id: submission.form_id, submission_id: submission.id },
            })
            setEnding(false)
            toast(w.deletedMany({ n: 1 }))
            onDone(submission.id)
          }}
        />
      )}
    </>
  )
}
