/** Page of an operation: description, parameters, responses, examples and a form that calls it. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { shownCall } from '../app/api.ts'
import { curlOf, nodeOf } from '../app/call-examples.ts'
import { copy, CopyButton, Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import type { RequestParts } from '../wire/route.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { bodyExample, exampleOf, jsonOf, routeOf, type Entry, type Response, type Schemas } from './document.ts'
import { MarkedText } from './marked-text.tsx'
import { methodClass } from './operation-list.tsx'
import { texts } from './reference-texts.ts'
import { FieldRow, Fields } from './schema-fields.tsx'
import { TryOut } from './try-out.tsx'

interface PageProps {
  readonly entry: Entry
  readonly schemas: Schemas
}

/** Returns the input of the example. Path parameters are uppercase placeholders. */
function sample(entry: Entry, schemas: Schemas): RequestParts {
  const { parameters = [] } = entry
  const path = Object.fromEntries(parameters.filter((one) => one.in === 'path').map(({ name }) => [name, name.toUpperCase()]))
  const query = Object.fromEntries(
    parameters
      .filter((one) => one.in === 'query' && one.required)
      .map(({ name, schema }) => [name, String(exampleOf(schema, schemas, false))]),
  )
  const body = bodyExample(entry, schemas)
  return { path, query, ...(body !== undefined && { body }) }
}

export function OperationPage({ entry, schemas }: PageProps): JSX.Element {
  const w = texts()
  const { operationId, summary, description, method, path, scope, parameters = [] } = entry
  useEffect(() => {
    shownCall.value = { route: routeOf(entry), input: sample(entry, schemas) }
  }, [operationId])
  return (
    <div class="columns reference-page" key={operationId}>
      <section>
        <header class="block">
          <h2 class="reference-title" lang="en">
            {summary}
          </h2>
          <p class="address-line">
            <span class={methodClass(method)}>{method}</span> <code>{path}</code> <CopyButton text={path} label={allTexts().copy} />
          </p>
          <p class="soft">
            {scope === '' || scope === 'session' ? (
              w[scope === '' ? 'forEverybody' : 'forPeople']
            ) : (
              <>
                {w.needs} <code class="tag">{scope}</code>
              </>
            )}
          </p>
          {description !== undefined && <MarkedText text={description} />}
        </header>
        {(['path', 'query'] as const).map((where) => {
          const own = parameters.filter((one) => one.in === where)
          return (
            own.length > 0 && (
              <Part title={where === 'path' ? w.inPath : w.inQuery} key={where}>
                <ul class="fields">
                  {own.map(({ name, schema, required, description: meaning }) => (
                    <FieldRow
                      key={name}
                      name={name}
                      schema={meaning === undefined ? schema : { ...schema, description: meaning }}
                      schemas={schemas}
                      isRequired={required}
                    />
                  ))}
                </ul>
              </Part>
            )
          )
        })}
        <Body entry={entry} schemas={schemas} />
        <Answers entry={entry} schemas={schemas} />
      </section>
      <aside>
        <Examples entry={entry} schemas={schemas} />
        <TryOut entry={entry} schemas={schemas} />
        <ExampleAnswer entry={entry} schemas={schemas} />
      </aside>
    </div>
  )
}

const Part = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }): JSX.Element => (
  <section class="block">
    <h3>{title}</h3>
    {children}
  </section>
)

function Body({ entry: { requestBody }, schemas }: PageProps): JSX.Element | null {
  const w = texts()
  if (!requestBody) return null
  const json = jsonOf(requestBody.content)
  return (
    <Part title={w.body}>
      {Object.entries(requestBody.content).map(([type]) => (
        <p key={type} class="soft">
          <code>{type}</code>
        </p>
      ))}
      {json && <Fields schema={json.schema} schemas={schemas} />}
    </Part>
  )
}

function Answers({ entry: { responses }, schemas }: PageProps): JSX.Element {
  const w = texts()
  const all = Object.entries(responses)
  const good = all.filter(([status]) => Number(status) < 300)
  const bad = all.filter(([status]) => Number(status) >= 300)
  return (
    <>
      <Part title={w.answers}>
        {good.map(([status, response], i) => (
          <Good
            key={status}
            status={status}
            response={response}
            schemas={schemas}
            isRepeated={i > 0 && isSame(response, good[i - 1]?.[1])}
          />
        ))}
      </Part>
      <Part title={w.refusals}>
        <ul class="refusals">
          {bad.map(([status, response]) => (
            <li key={status}>
              <span class="tag warn">{status}</span>
              <span>
                {codesOf(response).map(([code, next]) => (
                  <span key={code}>
                    <code>{code}</code>
                    {next !== '' && <span class="faint"> → {next}</span>}
                  </span>
                ))}
                {codesOf(response).length === 0 && <span lang="en">{response.description}</span>}
              </span>
            </li>
          ))}
        </ul>
      </Part>
    </>
  )
}

/** Returns error codes with their next actions. */
function codesOf(response: Response): readonly (readonly [string, string])[] {
  const { examples = {} } = jsonOf(response.content) ?? {}
  return Object.entries(examples).map(([code, { value }]) => [
    code,
    (value as { error?: { next_action?: string } }).error?.next_action ?? '',
  ])
}

const isSame = ({ content }: Response, other: Response | undefined): boolean =>
  JSON.stringify(jsonOf(content)?.schema) === JSON.stringify(jsonOf(other?.content)?.schema)

interface GoodProps {
  readonly status: string
  readonly response: Response
  readonly schemas: Schemas
  /** Whether the fields are the same as those of the previous response. */
  readonly isRepeated: boolean
}

function Good({ status, response, schemas, isRepeated }: GoodProps): JSX.Element {
  const w = texts()
  const json = jsonOf(response.content)
  const [other] = Object.keys(response.content ?? {})
  const headers = Object.entries(response.headers ?? {}).filter(([, { description }]) => description !== undefined)
  return (
    <>
      <p class="field-head">
        <span class="tag good">{status}</span>
        {response.description !== 'Done.' && <span lang="en">{response.description}</span>}
      </p>
      {isRepeated && <p class="soft">{w.sameFields}</p>}
      {!isRepeated && json && <Fields schema={json.schema} schemas={schemas} isAnswer />}
      {!isRepeated && !json && <p class="soft">{other === undefined ? w.noFields : w.notJson({ type: other })}</p>}
      {headers.length > 0 && (
        <>
          <h4>{w.headers}</h4>
          <dl class="facts">
            {headers.map(([name, { description = '' }]) => (
              <>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd lang="en">{description}</dd>
              </>
            ))}
          </dl>
        </>
      )}
    </>
  )
}

function Examples({ entry, schemas }: PageProps): JSX.Element {
  const w = texts()
  const [language, setLanguage] = useState<'curl' | 'node'>('curl')
  const shown = { route: routeOf(entry), input: sample(entry, schemas), isOpen: entry.scope === '' }
  const text = language === 'curl' ? curlOf(shown) : nodeOf(shown)
  return (
    <section class="block">
      <h3>{w.request}</h3>
      <div class="actions">
        <Segments
          label={w.request}
          choices={[
            { value: 'curl', label: 'curl' },
            { value: 'node', label: 'Node' },
          ]}
          value={language}
          onChoose={setLanguage}
        />
        <button class="button small" onClick={() => void copy(text)}>
          <Icon name="copy" />
          {allTexts().copy}
        </button>
      </div>
      <pre class="code" tabIndex={0} aria-label={w.request}>
        {text}
      </pre>
    </section>
  )
}

function ExampleAnswer({ entry, schemas }: PageProps): JSX.Element | null {
  const [, good] = Object.entries(entry.responses).find(([status]) => Number(status) < 300) ?? []
  const json = jsonOf(good?.content)
  if (!json) return null
  return (
    <section class="block">
      <h3>{texts().exampleAnswer}</h3>
      <pre class="code" tabIndex={0} aria-label={texts().exampleAnswer}>
        {JSON.stringify(json.example ?? exampleOf(json.schema, schemas, true), undefined, 2)}
      </pre>
    </section>
  )
}
