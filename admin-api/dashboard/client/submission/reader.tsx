/** Reader of a submission: answers, triage, replies, history and actions. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { useKeys } from '../app/keys.ts'
import { mayChange } from '../app/permissions.ts'
import { useRead, useTicks } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { Loading, Show } from '../parts/states.tsx'
import { attempt, change, isUnseen, setStatus } from '../submissions/changes.ts'
import type { Status } from '../submissions/filter.ts'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormReply, FormSubmission } from '../wire/api.d.ts'
import { Answers } from './answers.tsx'
import { Composer } from './composer.tsx'
import { Head } from './head.tsx'
import { History } from './history.tsx'
import type { Act, ReaderProps } from './reader-props.ts'
import { Replies } from './replies.tsx'
import { Triage } from './triage.tsx'

/** Polling interval in milliseconds while a virus scan is pending. */
const scanMs = 3000

export function Reader(props: ReaderProps): JSX.Element {
  const { formId, submissionId } = props
  const read = useRead(
    '/v1/forms/{id}/submissions/{submission_id}',
    { path: { id: formId, submission_id: submissionId } },
    { isShown: true },
  )
  return (
    <Show read={read} reload={read.reload} failure={texts().submissionFailed}>
      {(submission) => <Submission key={submission.id} first={submission} {...props} />}
    </Show>
  )
}

function Submission({ first, ...props }: ReaderProps & { readonly first: FormSubmission }): JSX.Element {
  const [submission, setSubmission] = useState(first)
  const [draft, setDraft] = useState<FormReply | 'new'>()
  const [, start] = useBusy()
  const keep = (changed: FormSubmission): void => {
    setSubmission(changed)
    props.onChange(changed)
  }
  useMarkedRead(submission, keep)
  const path = { id: submission.form_id, submission_id: submission.id }
  const replies = useRead('/v1/forms/{id}/submissions/{submission_id}/replies', { path })
  const version = useRead('/v1/forms/{id}/versions/{version}', { path: { id: submission.form_id, version: submission.version } })
  const lookAgain = (): void => void attempt(async () => keep(await call('/v1/forms/{id}/submissions/{submission_id}', { path })))
  useTicks(submission.files.some(({ status }) => status === 'pending') ? scanMs : undefined, lookAgain)
  const mark = (status: Status, isDone: boolean): void =>
    start(async () => {
      const changed = await setStatus(submission, status, () => props.onUndone())
      if (!changed) return
      if (isDone) props.onDone(changed)
      else keep(changed)
    })
  const acts: Readonly<Record<Act, () => void>> = {
    archive: () => mark(submission.status === 'archived' ? 'read' : 'archived', true),
    spam: () => mark(submission.status === 'spam' ? 'read' : 'spam', true),
    unread: () => mark('new', false),
  }
  /** Shows a sent reply with its status and updates the list. */
  const settle = (): void => {
    setDraft(undefined)
    replies.reload()
    keep({ ...submission, status: 'replied' })
  }
  useActKeys(acts, () => setDraft('new'), submission)
  return (
    <>
      <Head submission={submission} acts={acts} onReply={() => setDraft('new')} {...props} />
      <div class="sub-body">
        {version.state === 'loading' ? (
          <Loading rows={4} />
        ) : (
          <Answers
            submission={submission}
            definition={version.data?.definition}
            publishedAt={version.data?.created_at}
            onRefused={lookAgain}
          />
        )}
        <Triage submission={submission} members={props.members} onChange={keep} />
        <Replies submission={submission} read={replies} onEdit={setDraft} onSent={settle} />
        <History submission={submission} />
      </div>
      {draft !== undefined && mayChange.value && (
        <Composer
          key={draft === 'new' ? 'new' : draft.id}
          submission={submission}
          form={props.form}
          draft={draft === 'new' ? undefined : draft}
          replies={replies.data?.data ?? []}
          onClose={() => {
            setDraft(undefined)
            replies.reload()
          }}
          onSent={settle}
        />
      )}
    </>
  )
}

/** Marks a submission as read when a user with change permission opens it. */
function useMarkedRead(submission: FormSubmission, onRead: (changed: FormSubmission) => void): void {
  const isSeen = useRef(false)
  useEffect(() => {
    if (isSeen.current) return
    isSeen.current = true
    if (!isUnseen(submission) || !mayChange.value) return
    void attempt(() => change(submission, { status: 'read' })).then((changed) => changed && onRead(changed))
  }, [])
}

function useActKeys(acts: Readonly<Record<Act, () => void>>, onReply: () => void, { id, status }: FormSubmission): void {
  const note = (): void => document.getElementById('submission-note')?.focus()
  const keys = { e: acts.archive, '!': acts.spam, u: acts.unread, r: onReply, n: note }
  useKeys(mayChange.value ? keys : {}, [id, status])
}
