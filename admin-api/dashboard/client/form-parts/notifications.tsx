/** Notifications about submissions: recipients by mail with frequency and filter, and a signed webhook. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Condition, Field } from '#core/forms/definition/definition.ts'
import { inReadingOrder } from '#core/forms/definition/layout.ts'
import { call, type ApiFault } from '../app/api.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, showFault, useRead } from '../app/query.ts'
import { titleOf } from '../form-fields/field-kinds.ts'
import { ConditionChips, firstOf, isLookedAt } from '../form-logic/condition.tsx'
import type { PartProps } from '../forms/part-props.ts'
import { ChooseField, TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { FormNotifications } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './parts-texts.ts'

type Recipient = FormNotifications['recipients'][number]
type Wanted = Omit<FormNotifications, 'recipients'> & {
  readonly recipients: readonly (Omit<Recipient, 'status'> & { readonly status?: Recipient['status'] | undefined })[]
}

export default function NotificationsPart({ form, editing }: PartProps): JSX.Element {
  const w = texts()
  const read = useRead('/v1/forms/{id}/notifications', { path: { id: form.id } }, { isShown: true })
  return (
    <div class="form-sheet" tabIndex={mayChange.value ? undefined : 0} role="group" aria-label={w.recipients}>
      <Show read={read} reload={read.reload} failure={w.notificationsFailed}>
        {(first) => <Settings key={form.id} id={form.id} first={first} fields={inReadingOrder(editing.definition.schema)} />}
      </Show>
    </div>
  )
}

interface SettingsProps {
  readonly id: string
  readonly first: FormNotifications
  readonly fields: readonly Field[]
}

/** Saved by a button, because every save may send confirmation requests to recipients. */
function Settings({ id, first, fields }: SettingsProps): JSX.Element {
  const w = texts()
  const [wanted, setWanted] = useState<Wanted>(first)
  const [answered, setAnswered] = useState(first)
  const saved = answered.updated_at > first.updated_at ? answered : first
  const [fault, setFault] = useState<ApiFault>()
  const [secret, setSecret] = useState<string>()
  const [isBusy, start] = useBusy()
  const set = (changes: Partial<Wanted>): void => setWanted((before) => ({ ...before, ...changes }))
  const take = (next: FormNotifications): void => {
    setWanted(next)
    setAnswered(next)
    if (next.webhook_secret !== undefined) setSecret(next.webhook_secret)
  }
  const ask = (work: () => Promise<FormNotifications>, done?: string): void =>
    start(async () => {
      setFault(undefined)
      try {
        take(await work())
        if (done !== undefined) toast(done)
      } catch (error) {
        setFault(asFault(error))
      }
    })
  const save = (): Promise<FormNotifications> => {
    const { recipients, from, reply_to_field, subject_tmpl, include_answers, webhook_url } = wanted
    const list = recipients.map(({ email, digest, when }) => ({ email: email.trim(), digest, when }))
    const body = { recipients: list, from, reply_to_field, subject_tmpl, include_answers, webhook_url }
    return call('PUT /v1/forms/{id}/notifications', { path: { id }, body }, { headers: { 'if-match': `"${saved.revision}"` } })
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        ask(save, w.savedNow)
      }}
    >
      <Problem problem={wanted.problem} />
      <fieldset class="form-parts" disabled={!mayChange.value}>
        <Recipients wanted={wanted} known={saved.recipients} fields={fields} set={set} />
        <Mail wanted={wanted} fields={fields} set={set} fault={fault} />
        <Webhook
          wanted={wanted}
          set={set}
          fault={fault}
          onRotate={
            saved.webhook_url === null
              ? undefined
              : () => ask(() => call('POST /v1/forms/{id}/notifications/rotate-secret', { path: { id } }))
          }
          onTest={saved.webhook_url === null || saved.webhook_url !== wanted.webhook_url ? undefined : () => void sendTest(id)}
        />
      </fieldset>
      <Fault fault={fault} />
      {mayChange.value && (
        <div class="actions">
          <button class="button primary" aria-disabled={isBusy}>
            {w.save}
          </button>
        </div>
      )}
      {secret !== undefined && (
        <SecretDialog
          secret={{ title: w.secretTitle, fields: [['webhook_secret', secret]], note: w.secretNote }}
          onDone={() => setSecret(undefined)}
        />
      )}
    </form>
  )
}

/** Sends a made-up submission to the webhook, to test it before the first real one. */
async function sendTest(id: string): Promise<void> {
  const w = allTexts()
  try {
    const { delivered, status_code: code, error } = await call('POST /v1/forms/{id}/notifications/test', { path: { id } })
    toast(delivered ? w.testArrived({ code: code ?? 0 }) : w.testFailed({ why: error ?? String(code) }))
  } catch (error) {
    showFault(error)
  }
}

interface PartOfSettings {
  readonly wanted: Wanted
  readonly fields: readonly Field[]
  readonly set: (changes: Partial<Wanted>) => void
}

const Problem = ({ problem }: Pick<Wanted, 'problem'>): JSX.Element | null =>
  problem && (
    <div class="note warn">
      <Mark name="warning" />
      <p>
        <b>{texts().lastProblem}</b> <span lang="en">{problem.message}</span> <span class="faint">{longTime(problem.at)}</span>
      </p>
    </div>
  )

interface WebhookProps extends Omit<PartOfSettings, 'fields'> {
  readonly fault: ApiFault | undefined
  readonly onRotate: (() => void) | undefined
  readonly onTest: (() => void) | undefined
}

function Webhook({ wanted, set, fault, onRotate, onTest }: WebhookProps): JSX.Element {
  const w = texts()
  return (
    <section class="form" aria-label={w.webhook}>
      <h2>{w.webhook}</h2>
      <TextField
        label={w.webhookUrl}
        hint={w.webhookHint}
        type="url"
        value={wanted.webhook_url ?? ''}
        onChange={(url) => set({ webhook_url: url === '' ? null : url })}
        fault={fault?.fields.get('webhook_url')}
      />
      {onRotate && mayChange.value && (
        <div class="actions">
          <button type="button" class="button" onClick={onRotate}>
            {w.rotate}
          </button>
          {onTest && (
            <button type="button" class="button" onClick={onTest}>
              {allTexts().sendTestEvent}
            </button>
          )}
        </div>
      )}
    </section>
  )
}

const digests = ['instant', 'hourly', 'daily'] as const

interface RecipientsProps extends PartOfSettings {
  /** Saved recipients. Their state changes when people confirm during an edit. */
  readonly known: readonly Recipient[]
}

function Recipients({ wanted: { recipients }, known, fields, set }: RecipientsProps): JSX.Element {
  const w = texts()
  return (
    <section class="form-recipients" aria-label={w.recipients}>
      <h2>{w.recipients}</h2>
      <p class="faint">{w.recipientsText}</p>
      {recipients.length === 0 && <p>{w.noRecipients}</p>}
      <ol>
        {recipients.map((one, at) => (
          <li key={at}>
            <RecipientRow
              n={at + 1}
              recipient={{ ...one, status: known.find(({ email }) => email === one.email)?.status ?? one.status }}
              fields={fields.filter(isLookedAt)}
              onChange={(changes) => set({ recipients: recipients.with(at, { ...one, ...changes }) })}
              onRemove={() => set({ recipients: recipients.toSpliced(at, 1) })}
            />
          </li>
        ))}
      </ol>
      {mayChange.value && (
        <button
          type="button"
          class="button"
          onClick={() => set({ recipients: [...recipients, { email: '', digest: 'instant', when: null }] })}
        >
          <Icon name="plus" />
          {w.addRecipient}
        </button>
      )}
    </section>
  )
}

interface RowProps {
  readonly n: number
  readonly recipient: Wanted['recipients'][number]
  readonly fields: readonly Field[]
  readonly onChange: (changes: Partial<Recipient>) => void
  readonly onRemove: () => void
}

function RecipientRow({ n, recipient: { email, digest, when, status }, fields, onChange, onRemove }: RowProps): JSX.Element {
  const w = texts()
  const [first] = fields
  return (
    <>
      <input
        class="input"
        type="email"
        aria-label={w.email({ n })}
        placeholder="name@example.org"
        value={email}
        onInput={(event) => onChange({ email: event.currentTarget.value })}
      />
      <select
        class="input"
        aria-label={w.rhythm({ n })}
        value={digest}
        onChange={(event) => onChange({ digest: event.currentTarget.value as Recipient['digest'] })}
      >
        {digests.map((one) => (
          <option key={one} value={one}>
            {w.digests[one]}
          </option>
        ))}
      </select>
      <span class="status">
        <Mark name={status === undefined || status === 'unconfirmed' ? 'pending' : 'ok'} />
        {w.states[status ?? 'fresh']}
      </span>
      <button
        type="button"
        class="button quiet square"
        aria-label={w.removeRecipient({ email: email || w.email({ n }) })}
        onClick={onRemove}
      >
        <Icon name="trash" />
      </button>
      {first && (
        <div class="chips">
          <label class="check">
            <input
              type="checkbox"
              checked={when !== null}
              onChange={(event) => onChange({ when: event.currentTarget.checked ? asWire(firstOf(first)) : null })}
            />
            <span>{when === null ? w.someOnly : w.only}</span>
          </label>
          {when !== null && (
            <ConditionChips
              condition={when as unknown as Condition}
              fields={fields}
              onChange={(next) => onChange({ when: asWire(next) })}
            />
          )}
        </div>
      )}
    </>
  )
}

const asWire = (condition: Condition): Record<string, unknown> => ({ ...condition })

function Mail({ wanted, fields, set, fault }: PartOfSettings & { readonly fault: ApiFault | undefined }): JSX.Element {
  const w = texts()
  const emails = fields.filter(({ type }) => type === 'email')
  return (
    <section class="form" aria-label={w.mail}>
      <h2>{w.mail}</h2>
      <TextField
        label={w.from}
        hint={w.fromHint}
        value={wanted.from ?? ''}
        onChange={(from) => set({ from: from === '' ? null : from })}
        fault={fault?.fields.get('from')}
      />
      <ChooseField
        label={w.replyTo}
        value={wanted.reply_to_field ?? ''}
        onChange={(key) => set({ reply_to_field: key === '' ? null : key })}
        options={[['', w.noReplyTo], ...emails.map((field) => [field.key, plain(titleOf(field))] as const)]}
      />
      <TextField
        label={w.subject}
        hint={w.subjectHint}
        value={wanted.subject_tmpl}
        onChange={(subject) => set({ subject_tmpl: subject })}
        fault={fault?.fields.get('subject_tmpl')}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={wanted.include_answers}
          onChange={(event) => set({ include_answers: event.currentTarget.checked })}
        />
        <span>{w.answers}</span>
      </label>
    </section>
  )
}
