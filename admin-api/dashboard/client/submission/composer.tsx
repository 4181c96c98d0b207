/**
 * Composer for a reply, written or based on a template with the answers filled in. The reply goes only to the address of the submission.
 * Sending uses a stored draft, so that a repeated request does not send it twice.
 */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call, type ApiFault } from '../app/api.ts'
import { asFault, useRead } from '../app/query.ts'
import { ChooseField, TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { FaultText, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormReply, FormSubmission, ListedForm } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { FromTemplate, type Variables } from './from-template.tsx'
import { storeDraft, type Kept, type Written } from './store-draft.ts'
import { Through } from './through.tsx'

interface ComposerProps {
  readonly submission: FormSubmission
  readonly form: ListedForm | undefined
  /** Draft to change. Undefined for a new reply. */
  readonly draft: FormReply | undefined
  readonly replies: readonly FormReply[]
  readonly onClose: () => void
  readonly onSent: () => void
}

export function Composer(props: ComposerProps): JSX.Element {
  const { submission, onClose } = props
  const w = texts()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const path = { id: submission.form_id, submission_id: submission.id }
  const opened = useRead('POST /v1/forms/{id}/submissions/{submission_id}/reply-preview', { path, body: {} })
  return (
    <section
      class="composer"
      aria-label={w.reply}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        onClose()
      }}
    >
      <header>
        <h3 ref={heading} tabIndex={-1}>
          {w.reply}
        </h3>
        <button class="button quiet square" aria-label={allTexts().close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {opened.state === 'failed' && <State title={w.noReply} text={<FaultText fault={opened.fault} />} />}
      {opened.data && <Writing to={opened.data.to} {...props} />}
    </section>
  )
}

/** Unsaved input by the id of the submission or draft. It lasts until the page closes. */
const typedBefore = new Map<string, Typed>()

interface Typed {
  readonly from: string
  readonly subject: string
  readonly text: string
  readonly templateId: string
  readonly variables: Variables
}

const begin = ({ draft, replies, form }: ComposerProps): Typed => ({
  from: (draft ?? replies[0])?.from ?? '',
  subject: draft?.subject ?? texts().replySubject({ form: form?.name ?? '' }),
  text: draft?.text ?? '',
  ...{ templateId: '', variables: {} },
})

/** State of the composer: input, errors, sending and saving. */
function useWriting(props: ComposerProps, to: string) {
  const { submission, draft, onClose, onSent } = props
  const w = texts()
  const place = draft?.id ?? submission.id
  const [typed, setTyped] = useState(() => typedBefore.get(place) ?? begin(props))
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const kept = useRef<Kept | undefined>(draft && { draft, written: undefined })
  const isReady = typed.templateId !== '' || (typed.subject.trim() !== '' && typed.text.trim() !== '')
  const run = (work: (stored: FormReply) => Promise<void>): void => {
    if (!isReady) return
    start(async () => {
      setFault(undefined)
      try {
        kept.current = await storeDraft(submission, writtenOf(typed), kept.current)
        typedBefore.delete(place)
        await work(kept.current.draft)
      } catch (error) {
        setFault(asFault(error))
      }
    })
  }
  return {
    ...{ typed, fault, isReady: isReady && !isBusy },
    set: (changes: Partial<Typed>): void => {
      const next = { ...typed, ...changes }
      typedBefore.set(place, next)
      setTyped(next)
    },
    send: () =>
      run(async ({ id, form_id: formId }) => {
        await call('POST /v1/forms/{id}/reply-drafts/{draft_id}/send', { path: { id: formId, draft_id: id } })
        toast(w.sentTo({ to: plain(to) }))
        onSent()
      }),
    keep: () =>
      run(() => {
        toast(w.draftSaved)
        onClose()
        return Promise.resolve()
      }),
  }
}

type WritingState = ReturnType<typeof useWriting>

function Writing({ to, ...props }: ComposerProps & { readonly to: string }): JSX.Element {
  const { submission, form } = props
  const w = texts()
  const writing = useWriting(props, to)
  const { typed, fault, isReady, set } = writing
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        writing.send()
      }}
    >
      <p class="reply-facts">
        <span>
          <span class="faint">{allTexts().to}</span>{' '}
          <b>
            <SafeText text={to} />
          </b>
        </span>
        <Through from={typed.from.trim()} to={to} projectId={form?.project_id} />
      </p>
      <div class="reply-parts">
        <Choices {...props} {...writing} />
        {typed.templateId === '' ? (
          <TextField label={w.yourReply} value={typed.text} onChange={(text) => set({ text })} fault={fault?.fields.get('text')} isLong />
        ) : (
          <FromTemplate
            key={typed.templateId}
            submission={submission}
            templateId={typed.templateId}
            variables={typed.variables}
            onVariables={(variables) => set({ variables })}
          />
        )}
      </div>
      <Fault fault={fault} />
      <footer>
        <button class="button primary" aria-disabled={!isReady}>
          {w.sendReply}
        </button>
        <button class="button" type="button" aria-disabled={!isReady} onClick={writing.keep}>
          {w.saveDraft}
        </button>
        <span class="faint">{w.sentOnce}</span>
      </footer>
    </form>
  )
}

/** Sender, template and, for a written reply, the subject. */
function Choices({ form, draft, typed, fault, set }: ComposerProps & WritingState): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const templates = useAll('/v1/templates', form && { query: { project: form.project_id } })
  return (
    <div>
      <TextField
        label={common.from}
        hint={w.fromHint}
        value={typed.from}
        onChange={(from) => set({ from })}
        fault={fault?.fields.get('from')}
      />
      {!draft && templates.rows.length > 0 && (
        <ChooseField
          label={w.template}
          value={typed.templateId}
          onChange={(templateId) => set({ templateId, variables: {} })}
          of={templates}
          options={[['', w.ownTexts], ...templates.rows.map(({ id, name, slug }) => [id, plain(name || slug)] as const)]}
        />
      )}
      {typed.templateId === '' && (
        <TextField
          label={common.subject}
          value={typed.subject}
          onChange={(subject) => set({ subject })}
          fault={fault?.fields.get('subject')}
        />
      )}
    </div>
  )
}

const writtenOf = ({ from, subject, text, templateId, variables }: Typed): Written => ({
  ...(from.trim() !== '' && { from: from.trim() }),
  ...(templateId === '' ? { subject, text } : { template_id: templateId, template_vars: variables }),
})
