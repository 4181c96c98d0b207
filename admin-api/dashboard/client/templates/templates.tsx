/** Screen for templates: the list with a search, creation, and the editor. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { firstOf, mostFigures, useList, useRead } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { Icon } from '../parts/icon.tsx'
import { List, SearchBox } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { NothingMatches, State } from '../parts/states.tsx'
import { exactTime, number, shortTime } from '../parts/time.ts'
import { NewLink, TopBar } from '../parts/top-bar.tsx'
import { TemplateScreen } from '../template-editor/editor.tsx'
import { NewTemplate } from './new-template.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './template-texts.ts'

export default function Templates({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <TemplateList /> : <TemplateScreen key={id} id={id} />
}

const movingIn = (): string => link('/settings/import', { what: 'templates' })

function TemplateList(): JSX.Element {
  const w = texts()
  const text = query.value.get('q') ?? ''
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/templates', { query: { ...project, ...(text !== '' && { q: text }) } })
  const uses = useUses(project)
  const isMaking = isMakingNew(mayChange)
  return (
    <>
      <TopBar title={w.title}>
        {mayChange.value && (
          <a class="button" href={movingIn()} title={allTexts().movingIn}>
            <Icon name="download" />
            <span class="shell-label">{w.takeAlong}</span>
          </a>
        )}
        {mayChange.value && <NewLink label={allTexts().newTemplate} />}
      </TopBar>
      <div class="sheet">
        <SearchBox id="template-search" label={w.search} text={text} />
        <List
          label={w.title}
          list={list}
          failure={w.listFailed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/templates/${id}`)}
          empty={<Nothing text={text} />}
          columns={[
            {
              head: w.name,
              class: 'strong',
              cell: ({ id, name }) => (
                <a href={link(`/templates/${id}`)}>
                  <SafeText text={name} />
                </a>
              ),
            },
            { head: w.slug, cell: ({ slug }) => <code>{slug}</code> },
            { head: w.version, class: 'c-time num', cell: ({ current_version: version }) => version },
            { head: w.used30, class: 'c-time num', cell: ({ id }) => usesOf(uses, id) },
            {
              head: w.changed,
              class: 'c-status',
              cell: ({ updated_at: at }) => (
                <time datetime={at} title={exactTime(at)}>
                  {shortTime(at)}
                </time>
              ),
            },
          ]}
          narrow={({ id, name, slug, current_version: version, updated_at: at }) => [
            <Mark name="none" />,
            <SafeText text={name} />,
            `${slug} · ${w.versionNumber({ n: version })}${uses ? ` · ${w.usedTimes({ n: uses.get(id) ?? 0 })}` : ''}`,
            shortTime(at, true),
          ]}
        />
      </div>
      {isMaking && <NewTemplate onClose={() => go(linkHere({ new: '' }), { replaces: true })} />}
    </>
  )
}

const thirtyDaysMs = 30 * 86_400_000

/** Returns the number of sends within 30 days by template id. Undefined while loading. */
function useUses(project: { readonly project?: string }): ReadonlyMap<string, number> | undefined {
  const [now] = useState(() => Date.now())
  const span = { from: new Date(now - thirtyDaysMs).toISOString(), step_seconds: 86_400 }
  const { data } = useRead('/v1/insights/templates', firstOf(mostFigures, { query: { ...project, ...span } }))
  return data && new Map(data.data.map(({ template_id: id, totals }) => [id, Object.values(totals).reduce((sum, one) => sum + one, 0)]))
}

const usesOf = (uses: ReadonlyMap<string, number> | undefined, id: string): string => (uses ? number(uses.get(id) ?? 0) : '–')

function Nothing({ text }: { readonly text: string }): JSX.Element {
  const w = texts()
  if (text !== '') return <NothingMatches title={w.nothingMatches({ text })} all={linkHere({ q: '' })} />
  return (
    <State title={w.none} text={w.noneText}>
      {mayChange.value && (
        <div class="actions">
          <a class="button primary" href={linkHere({ new: '1' })}>
            {allTexts().newTemplate}
          </a>
          <a class="button" href={movingIn()}>
            {allTexts().movingIn}
          </a>
        </div>
      )}
    </State>
  )
}
