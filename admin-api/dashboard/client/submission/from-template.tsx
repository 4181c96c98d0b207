/** Reply from a template: inputs for variables without an answer, and a preview. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useRead, type Read } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Loading } from '../parts/states.tsx'
import { texts } from '../submissions/submissions-texts.ts'
import { Preview } from '../template-editor/preview.tsx'
import type { FormReplyPreview, FormSubmission, Template } from '../wire/api.d.ts'
import { filledIn } from './filled-in.ts'

export type Variables = Readonly<Record<string, unknown>>

interface FromTemplateProps {
  readonly submission: FormSubmission
  readonly templateId: string
  readonly variables: Variables
  readonly onVariables: (variables: Variables) => void
}

export function FromTemplate({ submission, templateId, variables, onVariables }: FromTemplateProps): JSX.Element {
  const template = useRead('/v1/templates/{id}', { path: { id: templateId } })
  if (template.state === 'failed') return <p role="alert">{template.fault.message}</p>
  if (!template.data) return <Loading rows={3} />
  return <Filling {...{ submission, template: template.data, variables, onVariables }} />
}

type FillingProps = Omit<FromTemplateProps, 'templateId'> & { readonly template: Template }

function Filling({ submission, template, variables, onVariables }: FillingProps): JSX.Element {
  const w = texts()
  const { subject_tmpl, text_tmpl, html_tmpl, schema_json } = template
  const check = useRead('POST /v1/templates/check', { body: { subject_tmpl, text_tmpl, html_tmpl, schema_json } })
  const { properties = {}, required } = (schema_json ?? {}) as Schema
  const used = check.data?.variables ?? []
  const isOwn = (name: string): boolean => !ofForms.has(name)
  const names = [...new Set([...(required ?? []), ...used])].filter(isOwn)
  const wanted = useSettled(variables)
  const isFilled =
    check.data !== undefined && (schema_json === null ? used : (required ?? [])).filter(isOwn).every((name) => name in wanted)
  const path = { id: submission.form_id, submission_id: submission.id }
  const read = useRead(
    'POST /v1/forms/{id}/submissions/{submission_id}/reply-preview',
    isFilled ? { path, body: { template_id: template.id, template_vars: wanted } } : undefined,
  )
  const last = useRef<FormReplyPreview>(undefined)
  if (read.state === 'ready') last.current = read.data
  const problems = read.state === 'failed' ? read.fault.fields : new Map<string, string>()
  const others = [...problems].filter(([field]) => !names.some((name) => field === `template_vars.${name}`))
  const set = (name: string, value: unknown): void => {
    const { [name]: _, ...rest } = variables
    onVariables(value === undefined ? rest : { ...rest, [name]: value })
  }
  return (
    <>
      <div>
        {names.map((name) => (
          <Input
            key={name}
            name={name}
            declared={properties[name] ?? {}}
            value={variables[name]}
            fault={problems.get(`template_vars.${name}`)}
            onChange={(value) => set(name, value)}
          />
        ))}
        {others.map(([field, message]) => (
          <p key={field} class="wrong" lang="en">
            <SafeText text={message} />
          </p>
        ))}
      </div>
      <div class="reply-preview">
        {last.current && isFilled ? <Shown preview={last.current} read={read} /> : <p class="faint">{isFilled ? w.rendering : w.fillIn}</p>}
      </div>
    </>
  )
}

interface ShownProps {
  readonly preview: FormReplyPreview
  readonly read: Read<FormReplyPreview>
}

/** Preview: HTML as mail programs show it, or text with marked values. */
const Shown = ({ preview, read }: ShownProps): JSX.Element =>
  preview.html === null ? (
    <div class="as-text">
      <b>
        <Marked rendered={preview.subject} filled={preview.filled.subject} />
      </b>
      <p class="prose">
        <Marked rendered={preview.text ?? ''} filled={preview.filled.text} />
      </p>
    </div>
  ) : (
    <Preview preview={preview} read={read} isStale={read.state === 'failed'} />
  )

interface MarkedProps {
  readonly rendered: string
  readonly filled: FormReplyPreview['filled']['text']
}

const Marked = ({ rendered, filled }: MarkedProps): JSX.Element => (
  <>
    {filledIn(rendered, filled).map(({ text, isFilledIn }, at) =>
      isFilledIn ? (
        <mark key={at} class={text === '' ? 'empty' : undefined} title={text === '' ? texts().emptyValue : undefined}>
          {text === '' ? <span class="hidden">{texts().emptyValue}</span> : <SafeText text={text} />}
        </mark>
      ) : (
        <SafeText key={at} text={text} />
      ),
    )}
  </>
)

const settleMs = 300

/** Returns the value after it has not changed for a moment. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs)
    return () => clearTimeout(timer)
  }, [JSON.stringify(value)])
  return settled
}

interface Declared {
  readonly type?: string | readonly string[]
  readonly description?: string
}

interface Schema {
  readonly properties?: Readonly<Record<string, Declared>>
  readonly required?: readonly string[]
}

/** Variables that answers and form properties fill in. */
const ofForms: ReadonlySet<string> = new Set(['fields', 'form'])

function Input(props: {
  readonly name: string
  readonly declared: Declared
  readonly value: unknown
  readonly fault: string | undefined
  readonly onChange: (value: unknown) => void
}): JSX.Element {
  const { name, declared, value, fault, onChange } = props
  const w = texts()
  const [typed, setTyped] = useState(typeof value === 'string' || typeof value === 'number' ? String(value) : '')
  const types = [declared.type ?? 'string'].flat()
  const isStarted = typed !== ''
  const about = { label: plain(name), hint: declared.description, fault: isStarted ? fault : undefined }
  if (types.includes('boolean'))
    return (
      <ChooseField
        {...about}
        value={typeof value === 'boolean' ? String(value) : ''}
        onChange={(chosen) => onChange(chosen === '' ? undefined : chosen === 'true')}
        options={[
          ['', '–'],
          ['true', w.yes],
          ['false', w.no],
        ]}
      />
    )
  const isNumber = types.includes('number') || types.includes('integer')
  const isData = types.includes('object') || types.includes('array')
  return (
    <TextField
      {...about}
      hint={declared.description ?? (isData ? 'JSON' : undefined)}
      value={typed}
      isMono={isData}
      onChange={(text) => {
        setTyped(text)
        onChange(text === '' ? undefined : isNumber ? numberIn(text) : isData ? dataIn(text) : text)
      }}
    />
  )
}

/** Returns invalid numbers as text, so that the service reports them. */
const numberIn = (text: string): unknown => (Number.isNaN(Number(text)) ? text : Number(text))

function dataIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
