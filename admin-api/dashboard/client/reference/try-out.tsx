/** Form that calls an operation with the browser session and shows the response. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ApiFault, callAny, save, shownCall } from '../app/api.ts'
import { boot, isConfirmed } from '../app/boot.ts'
import { address, organization, projectId } from '../app/location.ts'
import { mayChange, mayRead } from '../app/permissions.ts'
import { asFault } from '../app/query.ts'
import { ChooseField, TextField, useBusy } from '../parts/controls.tsx'
import { bytes } from '../parts/time.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { bodyExample, jsonOf, resolved, routeOf, type Entry, type Parameter, type Schemas } from './document.ts'
import { texts } from './reference-texts.ts'

interface TryProps {
  readonly entry: Entry
  readonly schemas: Schemas
}

export function TryOut({ entry, schemas }: TryProps): JSX.Element {
  const w = texts()
  const why = whyNot(entry)
  return (
    <section class="block try">
      <h3>{w.tryOut}</h3>
      {why === undefined ? (
        <TryForm entry={entry} schemas={schemas} />
      ) : (
        <>
          <p class="soft">{why}</p>
          {boot.email === '' && entry.isOpenToSessions && (
            <div class="actions">
              <a class="button primary" href={`/sign-in?${new URLSearchParams({ next: address.value.pathname }).toString()}`}>
                {allTexts().signIn}
              </a>
            </div>
          )}
        </>
      )}
    </section>
  )
}

function whyNot({ isOpenToSessions, requestBody, scope }: Entry): string | undefined {
  const w = texts()
  if (!isOpenToSessions) return w.tryNot
  if (requestBody && !jsonOf(requestBody.content)) return w.tryNotJson
  if (scope === '') return undefined
  if (boot.email === '') return w.trySignIn
  if (scope === 'session') return undefined
  return (scope === 'api:read' ? mayRead.value : mayChange.value) ? undefined : w.tryRole
}

type Outcome =
  | { readonly status: number; readonly milliseconds: number; readonly answer: unknown }
  | { readonly fault: ApiFault; readonly milliseconds: number }

function TryForm({ entry, schemas }: TryProps): JSX.Element {
  const w = texts()
  const { method, parameters = [], scope } = entry
  const example = bodyExample(entry, schemas)
  const [values, setValues] = useState<Readonly<Record<string, string>>>(projectId.value === undefined ? {} : { project: projectId.value })
  const [body, setBody] = useState(example === undefined ? '' : JSON.stringify(example, undefined, 2))
  const [fault, setFault] = useState<string>()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isBusy, start] = useBusy()
  const of = (where: Parameter['in']): Record<string, string> =>
    Object.fromEntries(parameters.filter((one) => one.in === where).map(({ name }) => [name, values[name] ?? '']))
  const send = async (): Promise<void> => {
    const parsed = parse(body)
    setFault(parsed.isJson ? undefined : w.notJsonText)
    if (!parsed.isJson) return
    const began = performance.now()
    const spent = (): number => Math.round(performance.now() - began)
    const input = { path: of('path'), query: of('query'), ...(parsed.value !== undefined && { body: parsed.value }) }
    try {
      const answer = await callAny(routeOf(entry), input, { isShown: true })
      setOutcome({ status: shownCall.value?.status ?? 200, milliseconds: spent(), answer })
    } catch (error) {
      setOutcome({ fault: asFault(error), milliseconds: spent() })
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        start(send)
      }}
    >
      {scope !== '' && scope !== 'session' && (
        <p class="soft">
          {w.tryText({ name: organization.value?.name ?? '' })} {method !== 'GET' && <b class="ink">{w.tryChanges}</b>}
        </p>
      )}
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          schemas={schemas}
          value={values[parameter.name] ?? ''}
          onChange={(value) => setValues({ ...values, [parameter.name]: value })}
        />
      ))}
      {example !== undefined && <TextField label={w.body} value={body} onChange={setBody} fault={fault} isLong isMono />}
      <div class="actions">
        <button class={method === 'DELETE' ? 'button danger' : 'button primary'} aria-disabled={isBusy}>
          {w.send({ method })}
        </button>
      </div>
      {outcome && <Result outcome={outcome} name={entry.operationId} />}
    </form>
  )
}

function parse(text: string): { readonly isJson: boolean; readonly value?: unknown } {
  if (text.trim() === '') return { isJson: true }
  try {
    return { isJson: true, value: JSON.parse(text) as unknown }
  } catch {
    return { isJson: false }
  }
}

interface ParameterFieldProps {
  readonly parameter: Parameter
  readonly schemas: Schemas
  readonly value: string
  readonly onChange: (value: string) => void
}

function ParameterField({ parameter: { name, required, schema }, schemas, value, onChange }: ParameterFieldProps): JSX.Element {
  const { type, enum: choices = type === 'boolean' ? [true, false] : undefined } = resolved(schema, schemas)
  const label = required ? `${name} *` : name
  if (!choices) return <TextField label={label} value={value} onChange={onChange} isMono />
  const options = [['', '–'], ...choices.map((one) => [String(one), String(one)])] as [string, string][]
  return <ChooseField label={label} value={value} onChange={onChange} options={options} />
}

const maxShown = 20_000

function Result({ outcome, name }: { readonly outcome: Outcome; readonly name: string }): JSX.Element {
  const w = texts()
  const { milliseconds } = outcome
  if ('fault' in outcome) {
    const { status, code, message, nextAction, requestId, details } = outcome.fault
    const isAgain = nextAction === 'sign_in_again' || (status === 403 && !isConfirmed() && nextAction.startsWith('sign_in'))
    return (
      <div role="status" class="result">
        <p>
          <span class="tag bad">{status === 0 ? '–' : status}</span> <code>{code}</code> <span class="faint">{milliseconds} ms</span>
        </p>
        <p lang="en">{message}</p>
        <pre class="code tall" tabIndex={0} aria-label={w.answered}>
          {JSON.stringify({ error: { code, message, next_action: nextAction, details } }, undefined, 2)}
        </pre>
        <p class="faint">
          {w.request} <code>{requestId || '–'}</code>
        </p>
        {isAgain && (
          <a
            class="button"
            href={`/sign-in?${new URLSearchParams({ again: '1', next: address.value.pathname + address.value.search }).toString()}`}
          >
            {allTexts().confirm}
          </a>
        )}
      </div>
    )
  }
  const { answer, status } = outcome
  return (
    <div role="status" class="result">
      <p>
        <span class="tag good">{status}</span> <span class="faint">{milliseconds} ms</span>
      </p>
      {answer === undefined && <p class="soft">{w.noContent}</p>}
      {answer instanceof Blob && (
        <div class="actions">
          <span>{w.aFile({ size: bytes(answer.size) })}</span>
          <button class="button small" type="button" onClick={() => void save(answer, name)}>
            {w.save}
          </button>
        </div>
      )}
      {answer !== undefined && !(answer instanceof Blob) && (
        <pre class="code tall" tabIndex={0} aria-label={w.answered}>
          {JSON.stringify(answer, undefined, 2).slice(0, maxShown)}
        </pre>
      )}
    </div>
  )
}
