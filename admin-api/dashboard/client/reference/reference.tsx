/** Public API reference with all operations of the OpenAPI document. Signed-in users can call them with their session. */
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { showCall } from '../app/api.ts'
import { boot } from '../app/boot.ts'
import { link, query } from '../app/location.ts'
import { useRead, type Reading } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { CopyButton } from '../parts/controls.tsx'
import { Show, State } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { subjectsOf, subjectTitle, type OpenApi, type Subject } from './document.ts'
import { MarkedText } from './marked-text.tsx'
import { OperationList } from './operation-list.tsx'
import { OperationPage } from './operation-page.tsx'
import { texts } from './reference-texts.ts'

export default function Reference({ rest: [name] }: ScreenProps): JSX.Element {
  const w = texts()
  const read = useRead('/openapi.json', {}) as Reading<OpenApi>
  const subjects = useMemo(() => (read.data ? subjectsOf(read.data) : []), [read.data])
  const entry = subjects.flatMap(({ entries }) => entries).find(({ operationId }) => operationId === name)
  const heading = (
    <>
      <a href={name === undefined ? '/docs' : link('/docs/api')}>{name === undefined ? w.docs : w.title}</a>
      {name === undefined ? <span>{w.title}</span> : <span lang="en">{entry?.summary ?? name}</span>}
    </>
  )
  return (
    <>
      <TopBar title={entry?.summary ?? w.title} heading={heading}>
        {boot.email === '' && (
          <a class="button" href="/sign-in?next=/docs/api">
            {allTexts().signIn}
          </a>
        )}
      </TopBar>
      <div class={name === undefined ? 'reference' : 'reference reading'}>
        <Show read={read} reload={read.reload} failure={w.failed}>
          {(document) => (
            <>
              <OperationList subjects={subjects} chosen={name} text={query.value.get('q') ?? ''} />
              <div class="sheet">
                {name === undefined && <Beginning document={document} subjects={subjects} />}
                {entry && <OperationPage key={entry.operationId} entry={entry} schemas={document.components.schemas} />}
                {name !== undefined && !entry && (
                  <State title={w.noOperation} text={w.noOperationText({ name })}>
                    <div class="actions">
                      <a class="button primary" href={link('/docs/api')}>
                        {w.allOperations}
                      </a>
                    </div>
                  </State>
                )}
              </div>
            </>
          )}
        </Show>
      </div>
    </>
  )
}

function Beginning({ document, subjects }: { readonly document: OpenApi; readonly subjects: readonly Subject[] }): JSX.Element {
  const w = texts()
  const url = document.servers[0]?.url ?? ''
  useEffect(() => showCall('/openapi.json', {}), [])
  return (
    <>
      <section class="block">
        <h2 class="reference-title">{w.begin}</h2>
        <dl class="facts">
          <dt>{w.base}</dt>
          <dd>
            <code>{url}</code> <CopyButton text={url} label={allTexts().copy} />
          </dd>
          <dt>{w.version}</dt>
          <dd>{document.info.version}</dd>
          <dt>{w.asDocument}</dt>
          <dd>
            <a href="/openapi.json">/openapi.json</a>
          </dd>
        </dl>
        <MarkedText text={document.info.description} />
      </section>
      <section class="block">
        <h2>{w.subjects}</h2>
        <ul class="subjects">
          {subjects.map(({ name, description, entries: [first, ...others] }) => (
            <li key={name}>
              <a href={link(`/docs/api/${first?.operationId ?? ''}`)} lang="en">
                {subjectTitle(name)}
              </a>
              <span class="faint">{w.operations({ count: others.length + 1 })}</span>
              <p lang="en">{description}</p>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
