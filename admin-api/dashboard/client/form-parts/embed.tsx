/** Ways to publish a form: the hosted page, and HTML for other websites with their required content security policy. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Field } from '#core/forms/definition/definition.ts'
import { call, type ApiFault } from '../app/api.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useRead } from '../app/query.ts'
import type { PartProps } from '../forms/part-props.ts'
import { wholeOf } from '../forms/use-draft.ts'
import { copy, Segments, TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import type { FormEmbedSnippet } from '../wire/api.d.ts'
import { texts } from './parts-texts.ts'

const modes = ['link', 'iframe', 'script', 'popup'] as const

/** Returns the origin if the text is complete. Incomplete input returns undefined. */
const originIn = (text: string): string | undefined => (URL.canParse(text) && new URL(text).origin === text ? text : undefined)

export default function EmbedPart({ form }: PartProps): JSX.Element {
  const w = texts()
  const mode = modes.find((one) => one === query.value.get('mode')) ?? 'link'
  const typed = query.value.get('origin') ?? ''
  const origin = originIn(typed)
  const read = useRead(
    'POST /v1/forms/{id}/embed-snippet',
    { path: { id: form.id }, body: { mode, ...(origin !== undefined && { origin }) } },
    { isShown: true },
  )
  return (
    <div class="form-sheet" role="group" aria-label={w.way} tabIndex={0}>
      <Segments
        label={w.way}
        value={mode}
        onChoose={(next) => go(linkHere({ mode: next === 'link' ? '' : next }), { replaces: true })}
        choices={modes.map((value) => ({ value, label: w.ways[value] }))}
      />
      {mode !== 'link' && (
        <div class="form">
          <TextField
            label={w.origin}
            hint={w.originHint}
            type="url"
            value={typed}
            onChange={(next) => go(linkHere({ origin: next }), { replaces: true })}
          />
        </div>
      )}
      <Show read={read} reload={read.reload} failure={w.snippetFailed} rows={3}>
        {(snippet) => <Snippet snippet={snippet} text={mode === 'link' ? snippet.url : snippet.html} />}
      </Show>
      {mode === 'link' && mayChange.value && <Prefilled form={form} />}
    </div>
  )
}

/** Link with prefilled answers. The answers are personal data, so they never appear in an address of the dashboard. */
function Prefilled({ form: { id, version } }: Pick<PartProps, 'form'>): JSX.Element {
  const w = texts()
  const live = useRead('/v1/forms/{id}/versions/{version}', version === 0 ? undefined : { path: { id, version } })
  return (
    <section class="form-parts" aria-label={w.prefilled}>
      <h2>{w.prefilled}</h2>
      {version === 0 ? (
        <p class="soft">{w.prefilledUnpublished}</p>
      ) : (
        <Show read={live} reload={live.reload} failure={w.versionsFailed} rows={2}>
          {({ definition }) => <PrefilledForm key={version} id={id} fields={wholeOf(definition).schema.fields.filter(takesFromAddress)} />}
        </Show>
      )}
    </section>
  )
}

const takesFromAddress = ({ type, source, prefill }: Field): boolean => (type === 'hidden' ? source === 'url_param' : prefill === true)

function PrefilledForm({ id, fields }: { readonly id: string; readonly fields: readonly Field[] }): JSX.Element {
  const w = texts()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [made, setMade] = useState<{ readonly url?: string; readonly fault?: ApiFault }>({})
  const [isBusy, start] = useBusy()
  if (fields.length === 0) return <p class="soft">{w.prefilledNoFields}</p>
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  const isReady = Object.keys(given).length > 0
  const make = async (): Promise<void> => {
    try {
      setMade(await call('POST /v1/forms/{id}/prefilled-link', { path: { id }, body: { values: given } }, { isShown: true }))
    } catch (error) {
      setMade({ fault: asFault(error) })
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) start(make)
      }}
    >
      <p class="soft">{w.prefilledText}</p>
      <div class="form">
        {fields.map(({ key, label = '', signed }) => (
          <TextField
            key={key}
            label={plain(label === '' ? key : label)}
            hint={signed === true ? w.prefilledSigned : undefined}
            value={values[key] ?? ''}
            onChange={(value) => {
              setValues({ ...values, [key]: value })
              setMade({}) // the link belongs to the previous answers
            }}
            fault={made.fault?.fields.get(`values.${key}`)}
          />
        ))}
      </div>
      <div class="actions">
        <button class="button" aria-disabled={isBusy || !isReady}>
          {w.makePrefilled}
        </button>
      </div>
      <Fault fault={made.fault} />
      {made.url !== undefined && <Code text={made.url} />}
    </form>
  )
}

function Code({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      <pre class="code wrap" tabIndex={0}>
        {text}
      </pre>
      <div class="actions">
        <button type="button" class="button" onClick={() => void copy(text)}>
          <Icon name="copy" />
          {texts().copySnippet}
        </button>
      </div>
    </>
  )
}

function Snippet({ snippet, text }: { readonly snippet: FormEmbedSnippet; readonly text: string }): JSX.Element {
  const w = texts()
  const { content_security_policy: policy, notes } = snippet
  return (
    <div class="form-parts">
      <Code text={text} />
      {notes.map((note) => (
        <p key={note} class="note warn">
          <Mark name="warning" />
          <span lang="en">{note}</span>
        </p>
      ))}
      {policy.length > 0 && (
        <>
          <h2>{w.policy}</h2>
          <pre class="code wrap" tabIndex={0}>
            {policy.join('\n')}
          </pre>
        </>
      )}
    </div>
  )
}
